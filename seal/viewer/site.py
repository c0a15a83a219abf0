"""A static site of runs, to publish: a leaderboard, and a page for each run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from seal.core import UsageError
from seal.core.files import AtomicFile, remove
from seal.core.values import digest
from seal.report.pages import FILES, asset, linked
from seal.report.retrieval import experiment_page
from seal.report.run_facts import RunFacts
from seal.report.run_pages import RunPages
from seal.viewer.shelf import Shelf, list_page

HOME = "index.html"
_MARK = "seal-site"
"""File by which a folder is known to hold a site of ours."""
_RUNS, _EXPERIMENTS = "runs", "retrieval"
"""Folders of a site."""
_LONGEST = 80


def write_site(shelf: Shelf, out: Path, title: str) -> Path:
    """Write the site of all scored runs, and return its first page.

    The same runs give the same bytes. Of a site that is there already the folders of runs and of
    experiments are removed first; what else lies beside its first page stays.

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
    _write(out / _MARK, "`seal site` wrote this site, and replaces it.\n")
    for folder in (_RUNS, _EXPERIMENTS):
        remove(out / folder)
    for name in FILES:
        _write(out / name, asset(name))
    for run in ranked:
        _write_run(RunPages([run.run]), out / _RUNS / _folder(run.name))
    experiments = shelf.experiments()
    for name in experiments:
        how = {**linked("../../"), "home": "../../" + HOME}
        page = experiment_page(name, shelf.experiment(name), **how)
        _write(out / _EXPERIMENTS / _folder(name) / HOME, page)
    page = list_page(
        title,
        ranked,
        lambda facts: quote(f"{_RUNS}/{_folder(facts.name)}/{HOME}"),
        {name: quote(f"{_EXPERIMENTS}/{_folder(name)}/{HOME}") for name in experiments},
        choose=False,
        **linked("./"),
    )
    _write(out / HOME, page)
    return out / HOME


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with AtomicFile(path) as file:
        file.write(text.encode())


def _score(run: RunFacts) -> float:
    return -1.0 if run.headline.mean is None else float(run.headline)


def _write_run(pages: RunPages, folder: Path) -> None:
    """Write the page of a run, and its blocks beside it."""
    how: Mapping[str, object] = {**linked("../../"), "home": "../../" + HOME}
    late = [place for place, body in enumerate(pages.early()) if body is None]
    bodies = [pages.section(place) for place in range(len(pages.sections))]
    shown = [None if place in late and body else body for place, body in enumerate(bodies)]
    _write(folder / HOME, "".join(pages.page(shown, **how, source="{key}", blocks=())))
    keys = ["index/0.json", *(f"section/{place}.html" for place in late)]
    keys += [f"rows/{number}.json" for number in pages.portions]
    keys += ["/".join([kind, *map(str, places)]) + ".html" for kind, places in pages.parts()]
    for key in keys:
        _write(folder / key, pages.block(key) or "")


def _folder(name: str) -> str:
    """Return a name that any file system and address takes; different names differ in any case."""
    plain = re.sub(r"[^a-z0-9_-]+", "-", name.lower())[:_LONGEST].strip("-")
    return plain if plain == name else f"{plain}-{digest(name)[:8]}"
