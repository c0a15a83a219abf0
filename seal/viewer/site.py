"""A static site of runs, to publish: a leaderboard, and a page for each run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import quote

from seal.core import UsageError
from seal.core.canonical import digest
from seal.core.records import AtomicFile
from seal.report.pages import FILES, asset, linked
from seal.report.run_facts import RunFacts
from seal.report.run_pages import RunPages
from seal.viewer.retrieval_page import experiment_page
from seal.viewer.run_list import list_page
from seal.viewer.shelf import Shelf

HOME = "index.html"
_MARK = "seal-site"
"""File by which a folder is known to hold a site of ours; it lists the files of the site."""
_LONGEST = 80


def write_site(shelf: Shelf, out: Path, title: str) -> Path:
    """Write the site of all scored runs, and return its first page.

    The same runs give the same bytes. A site that is there already is replaced file by file, and
    what only the older one has is removed; files that are not of `seal site` stay.

    Args:
        shelf: The runs and experiments.
        out: Folder of the site.
        title: Of its first page.

    Raises:
        UsageError: No scored run lies there, or the folder holds something else.
        DataError: A file of a run is damaged.
    """
    runs = [facts for facts in shelf.facts() if facts.state == "scored"]
    if not runs:
        raise UsageError("no scored run lies there; `seal run` and `seal score` make one")
    if out.exists() and (not out.is_dir() or (any(out.iterdir()) and not (out / _MARK).is_file())):
        raise UsageError(f"{out} holds something else than a site; give --out a new folder")
    ranked = sorted(runs, key=lambda run: (run.benchmark, -_score(run), run.name))
    site = _Site(out)
    for name in FILES:
        site.write(name, asset(name))
    for run in ranked:
        _write_run(RunPages([run.run]), site, f"runs/{_folder(run.name)}")
    experiments = shelf.experiments()
    for name in experiments:
        how = {**linked("../../"), "home": "../../" + HOME}
        page = experiment_page(name, shelf.experiment(name), **how)
        site.write(f"retrieval/{_folder(name)}/{HOME}", page)
    page = list_page(
        title,
        ranked,
        lambda facts: quote(f"runs/{_folder(facts.name)}/{HOME}"),
        {name: quote(f"retrieval/{_folder(name)}/{HOME}") for name in experiments},
        choose=False,
        **linked("./"),
    )
    site.write(HOME, page)
    site.finish()
    return out / HOME


class _Site:
    """The files of a site, which replace those of the older one in the same folder."""

    def __init__(self, out: Path) -> None:
        self._out = out
        mark = out / _MARK
        self._older = mark.read_text("utf-8").splitlines()[1:] if mark.is_file() else []
        self._written: set[str] = set()
        self._write_mark(self._older)

    def write(self, name: str, text: str) -> None:
        """Write a file; `/` stands between folders."""
        path = self._out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with AtomicFile(path) as file:
            file.write(text.encode())
        self._written.add(name)

    def finish(self) -> None:
        """Remove what only the older site has."""
        root = self._out.resolve()
        for name in {*self._older} - self._written:
            path = (root / name).resolve()
            if path.is_relative_to(root) and path.is_file():
                path.unlink()
                folder = path.parent
                while folder != root and not any(folder.iterdir()):
                    folder.rmdir()
                    folder = folder.parent
        self._write_mark(self._written - {_MARK})

    def _write_mark(self, names: Iterable[str]) -> None:
        told = "A site that `seal site` wrote, which replaces these files of it:"
        self.write(_MARK, "\n".join([told, *sorted(names), ""]))


def _score(run: RunFacts) -> float:
    return -1.0 if run.headline.mean is None else float(run.headline)


def _write_run(pages: RunPages, site: _Site, folder: str) -> None:
    """Write the page of a run, and its blocks beside it."""
    how: Mapping[str, object] = {**linked("../../"), "home": "../../" + HOME}
    late = [place for place, body in enumerate(pages.early()) if body is None]
    bodies = [pages.section(place) for place in range(len(pages.sections))]
    shown = [None if place in late and body else body for place, body in enumerate(bodies)]
    site.write(f"{folder}/{HOME}", "".join(pages.page(shown, **how, source="{key}", blocks=())))
    keys = ["index/0.json", *(f"section/{place}.html" for place in late)]
    keys += [f"rows/{number}.json" for number in pages.portions]
    keys += ["/".join([kind, *map(str, places)]) + ".html" for kind, places in pages.parts()]
    for key in keys:
        site.write(f"{folder}/{key}", pages.block(key) or "")


def _folder(name: str) -> str:
    """Return a name that any file system and address takes; different names differ in any case."""
    plain = re.sub(r"[^a-z0-9_-]+", "-", name.lower())[:_LONGEST].strip("-")
    return plain if plain == name else f"{plain}-{digest(name)[:8]}"
