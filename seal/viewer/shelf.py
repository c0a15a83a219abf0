"""Runs and experiments below the folders that are shown: their list, and a static site of them."""

from __future__ import annotations

import math
import os
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, starmap
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from seal.core import DataError, UsageError
from seal.core.files import AtomicFile, remove
from seal.core.text import one_line
from seal.core.values import digest, json_text
from seal.experiments.comparison import shortest_names
from seal.experiments.retrieval import RETRIEVAL
from seal.report.comparison import cost_chart, labels_of
from seal.report.grids import grouped
from seal.report.lanes import RunFacts, facts_of
from seal.report.leaderboard import leaderboard_page, ranked_runs
from seal.report.live import live_parts
from seal.report.pages import (
    FILES,
    Bar,
    BarGroup,
    asset,
    forest,
    linked,
    paragraphs,
    parts_page,
    render,
)
from seal.report.retrieval import experiment_page
from seal.report.run_pages import RunPages, data_block, data_blocks
from seal.runs.run import BASELINES, MANIFEST, RunFolder, check_whole, varied_settings
from seal.runs.running import SO_FAR, RunningRun, as_it_is

# -- What lies below the folders that are shown: runs and experiments in retrieval, by name.

_OPEN = 4
"""Pages that are kept open at a time."""
_FILES = (
    *("run.json", "summary.json", "tasks.jsonl", "trajectories.jsonl", "scores.jsonl"),
    SO_FAR,
)
_LISTED = ("run.json", "summary.json", "timings.jsonl")
"""Files of which a list tells."""
_Stamp = tuple[tuple[str, int, int], ...]
"""Path, time and size of files."""


@dataclass(slots=True)
class _Opened:
    """Pages of runs as their files were when they were opened."""

    stamp: _Stamp
    pages: RunPages
    lock: threading.Lock = field(default_factory=threading.Lock)
    section_lock: threading.Lock = field(default_factory=threading.Lock)
    """A section looks at all chats, which takes seconds; a task is opened meanwhile."""


class NotThereError(UsageError):
    """Nothing that is shown has this name."""

    def __init__(self) -> None:
        super().__init__("there is no such run or experiment here; it may have moved")


class Shelf:
    """The runs and experiments below some folders; nothing else can be named, nor lead out.

    Args:
        folders: Where they lie, or run folders.

    Raises:
        UsageError: One is no folder.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        for folder in folders:
            if not folder.is_dir():
                raise UsageError(f"there is no folder {folder}; give the one that runs lie in")
        places = list(dict.fromkeys(folder.resolve() for folder in folders))
        labels = map(_as_text, shortest_names(places))
        self._folders = dict(zip(labels, places, strict=True))
        self._opened: OrderedDict[tuple[str, ...], _Opened] = OrderedDict()
        self._listed: dict[str, tuple[_Stamp, RunFacts]] = {}
        self._running: dict[str, RunFolder] = {}
        self._lock = threading.Lock()

    def runs(self) -> dict[str, RunFolder]:
        """Return the runs by name, those begun last first."""
        found = (
            (self._name(label, folder, run.path), run)
            for label, folder in self._folders.items()
            for run in runs_below(folder)
        )
        return dict(reversed(dict(found).items()))

    def run(self, name: str) -> RunFolder:
        """Return the run of a name, as it is: a `RunningRun` while a process plays it.

        Raises:
            NotThereError: There is none.
            DataError: A link in it leads out of the folder that is shown.
        """
        path = self._path(name, MANIFEST)
        if path.name in PARTS:
            raise NotThereError
        now = as_it_is(self._running.get(name) or RunFolder(path))
        if isinstance(now, RunningRun):
            self._running[name] = now  # what it has read is read once
        else:
            self._running.pop(name, None)
        return now

    def live(self, names: Sequence[str]) -> Markup | None:
        """Return what a run does now as HTML; None: it is one of several, or no process plays it.

        Raises:
            NotThereError: There is no such run.
            DataError: A file of it is damaged.
        """
        run = self.run(names[0]) if len(names) == 1 else None
        if not isinstance(run, RunningRun):
            return None
        shown = Markup('<div data-done="{}">{}</div>')
        return shown.format(run.state().done, paragraphs(live_parts(run, linked=True)))

    def experiments(self) -> dict[str, Path]:
        """Return the folders of experiments in retrieval by name."""
        return {
            self._name(label, folder, path): path
            for label, folder in self._folders.items()
            for path in experiments_below(folder)
        }

    def experiment(self, name: str) -> Path:
        """Return the folder of the experiment in retrieval of a name.

        Raises:
            NotThereError: There is none.
            DataError: A link in it leads out of the folder that is shown.
        """
        return self._path(name, RETRIEVAL.name)

    def facts(self) -> list[RunFacts]:
        """Return each run in short, those played last first.

        A run with links that lead out is told to be damaged.
        """
        facts = starmap(self._facts, self.runs().items())
        return sorted(facts, key=lambda run: run.played, reverse=True)

    def _facts(self, name: str, run: RunFolder) -> RunFacts:
        try:
            now = self.run(name)
            if isinstance(now, RunningRun):
                now.state()
                return facts_of(now, name)
            stamp = _stamp_of([now], _LISTED)
            kept = self._listed.get(name)
            if kept is None or kept[0] != stamp:
                kept = self._listed[name] = stamp, facts_of(run, name)
            return kept[1]
        except (DataError, NotThereError) as error:
            return RunFacts(name, run, state="damaged", damage=str(error))

    def block(self, names: Sequence[str], key: str) -> str:
        """Return a block of the pages of some runs (`RunPages.block`).

        Raises:
            NotThereError: There is no such run or block.
            DataError: A run is damaged, or not scored.
        """
        opened = self._open(names)
        of_section = key.startswith(("section/", "holds/"))
        with opened.section_lock if of_section else opened.lock:
            text = opened.pages.block(key)
        if text is None:
            raise NotThereError
        return text

    def page(self, names: Sequence[str], **how: object) -> Iterator[str]:
        """Yield the page of some runs, with the first rows of its table; the rest are blocks.

        Args:
            names: Of the runs.
            **how: As of `RunPages.page`.

        Raises:
            NotThereError: There is no such run.
            UsageError: No run is named.
            DataError: A run is damaged, or not scored.
        """
        opened = self._open(names)
        with opened.lock:
            rows = json_text(opened.pages.start()).replace("<", "\\u003c")
            start = data_block("start", "0", rows)
            told = {"blocks": (start,), "unsure": opened.pages.unsure}
            yield from opened.pages.page(opened.pages.early(), **told, **how)

    def _open(self, names: Sequence[str]) -> _Opened:
        runs = list(map(self.run, names))
        stamp = _stamp_of(runs, _FILES)
        with self._lock:
            opened = self._opened.get(tuple(names))
            if opened is None or opened.stamp != stamp:
                opened = _Opened(stamp, RunPages(runs))
                self._opened[tuple(names)] = opened
            self._opened.move_to_end(tuple(names))
            while len(self._opened) > _OPEN:
                self._opened.popitem(last=False)
            return opened

    def _name(self, label: str, folder: Path, path: Path) -> str:
        if path == folder:
            return label
        inner = _as_text(path.relative_to(folder).as_posix())
        return inner if len(self._folders) == 1 else f"{label}/{inner}"

    def _path(self, name: str, file: str) -> Path:
        """Return the folder that `_name` calls so and that holds a file."""
        alone = len(self._folders) == 1
        for label, folder in self._folders.items():
            inner = name if alone else name.removeprefix(f"{label}/")
            tried = [""] * (name == label) + [inner, _as_path(inner)] * (alone or inner != name)
            for path in (folder_at(folder, each, file) for each in tried):
                if path is not None:
                    self._check_links(path)
                    return path
        raise NotThereError

    def _check_links(self, inner: Path) -> None:
        """Raise DataError where something in a folder lies outside those that are shown."""
        paths = (Path(place, name) for place, *names in os.walk(inner) for name in chain(*names))
        for path in filter(Path.is_symlink, paths):
            target = Path(os.path.realpath(path))  # never fails, whatever a link leads to
            if not any(map(target.is_relative_to, self._folders.values())):
                raise DataError(
                    f"{path} is a link that leads out of the folders that are shown; put in its "
                    "place what it leads to, or show the folder of that too"
                )


_BYTE = re.compile(r"\\x([89a-f][0-9a-f])")
"""A byte of a path that is no text, as `_as_text` writes it."""


def _as_text(path: str) -> str:
    r"""Return a path as an address and a page can hold it: a byte that is no text as `\xff`."""
    return os.fsencode(path).decode(errors="backslashreplace")


def _as_path(text: str) -> str:
    """Return the path that `_as_text` writes so."""
    return _BYTE.sub(lambda found: os.fsdecode(bytes.fromhex(found[1])), text)


def _stamp_of(runs: Sequence[RunFolder], names: Sequence[str]) -> _Stamp:
    """Return how files of runs and of their baselines are now."""
    parts = (part for run in runs for part in (run, *run.baselines().values()))
    paths = (part.path / name for part in parts for name in names)
    told = ((str(path), path.stat()) for path in paths if path.is_file())
    return tuple((path, each.st_mtime_ns, each.st_size) for path, each in told)


# -- The page that lists runs: of a server, and the leaderboard of a site.


def list_page(
    title: str,
    runs: Sequence[RunFacts],
    address: Callable[[RunFacts], str],
    experiments: Mapping[str, str],
    boards: Mapping[str, str] = MappingProxyType({}),
    *,
    newest: bool = True,
    **how: Any,
) -> str:
    """Return a page with a table of runs and charts of each benchmark.

    Args:
        title: Of the page.
        runs: In the order of the table.
        address: Of a run's page.
        experiments: Name of an experiment in retrieval to the address of its page.
        boards: Title of a leaderboard to the address of its page.
        newest: Whether those played last stand first; else it is the best of each benchmark.
        **how: Style and script (`pages.inline`, `pages.linked`); `choose` says whether runs can be
            chosen to stand side by side.
    """
    scored = [run for run in runs if run.state == "scored" and run.headline.mean is not None]
    benchmarks = dict.fromkeys(run.benchmark for run in scored)
    charts = [
        chart
        for benchmark in benchmarks
        for chart in _charts(benchmark, [run for run in scored if run.benchmark == benchmark])
    ]
    return render(
        "runs.html",
        title=title,
        runs=[(run, address(run)) for run in runs],
        chosen={name: sorted({getattr(run, name) for run in runs}) for name in _FILTERS},
        columns=_COLUMNS,
        settings=settings_apart(runs),
        charts=charts,
        experiments=experiments,
        boards=boards,
        newest=newest,
        **how,
    )


_FILTERS = ("benchmark", "model", "state")
_COLUMNS = (
    ("run", False),
    ("benchmark", False),
    ("model", False),
    ("headline", True),
    ("floor to ceiling", True),
    ("tasks", True),
    ("errors", True),
    ("cost", True),
    ("played", False),
)
"""Heading, and whether the largest stands first when a reader sorts by it."""
_MOST = 20
"""Runs of one chart."""
_APART = ("model", "pool", "pool_digest", "first", "limit", "select", "shard")
"""Settings that a column of its own tells."""
_SETTINGS = 160
"""Characters of the settings of a run."""
_ONE_FILE = 16_000_000
"""Bytes of chats and scores of a run whose page of a site is one file."""


def settings_apart(runs: Sequence[RunFacts]) -> dict[str, str]:
    """Return run to the settings, beside the model, in which the runs differ.

    These are settings in which those of its benchmark differ, of what was measured, too, and those
    that all runs have. A setting that a run does not have is left out, as is a role that is the
    usual one.
    """
    shown = {run.name: run for run in runs if run.is_shown}
    folders = {name: run.run for name, run in shown.items()}
    every = varied_settings(folders).items()
    found = [(setting, values) for setting, values in every if "none" not in values.values()]
    alike = grouped((run.benchmark, (name, run.run)) for name, run in shown.items())
    for those in map(dict, alike.values()):
        found += [*varied_settings(those).items(), *varied_settings(those, "measure").items()]
    told: dict[str, dict[str, str]] = {name: {} for name in shown}
    for setting, values in found:
        named = setting.removeprefix("roles.")
        usual = {"none", *([named] if named != setting else [])}
        for name, value in values.items() if setting.partition(".")[0] not in _APART else ():
            if value not in usual | {shown[name].model} and not value.startswith(("{", "[")):
                told[name].setdefault(named, value)
    lines = {name: ", ".join(map(" ".join, parts.items())) for name, parts in told.items()}
    return {name: one_line(line, _SETTINGS) for name, line in lines.items() if line}


def _charts(benchmark: str, runs: Sequence[RunFacts]) -> list[Any]:
    """Return the runs of a benchmark by score, and what they cost; nothing of one run alone."""
    if len(runs) < 2 or len({run.metric for run in runs}) > 1:
        return []
    if not runs[0].scale.bounded:
        return []
    ranked = sorted(runs, key=lambda run: (run.subset, _place(run)))[:_MOST]
    named = zip(labels_of(ranked), ranked, strict=True)
    labels = [f"{name} ({run.subset})" if run.subset else name for name, run in named]
    groups = [BarGroup(name, (_bar(run),)) for name, run in zip(labels, ranked, strict=True)]
    title = (
        f"{benchmark}: {ranked[0].metric}, mean with 95 % interval; behind it from floor to ceiling"
    )
    title += "; lower is better" * _is_low(ranked[0])
    costs = cost_chart(ranked)
    return [forest(title, groups), *([] if costs is None else [costs])]


def _is_low(run: RunFacts) -> bool:
    return run.scale.higher_is_better is False


def _place(run: RunFacts) -> float:
    """Return where a run stands among those of its metric: the best first, those without last."""
    mean = run.headline.mean
    return math.inf if mean is None else mean if _is_low(run) else -mean


def _bar(run: RunFacts) -> Bar:
    ends = (run.floor, run.ceiling)
    band = None if ends[0] is None or ends[1] is None else (ends[0], ends[1])
    return Bar(run.name, "run-0", run.headline.mean, run.headline.low, run.headline.high, band)


# -- Where runs and experiments lie below a folder.

DEPTH = 4
"""Folders below the one that is looked through, at most, in which a run may lie."""


PARTS = (*BASELINES, "corrected")
"""Names of run folders that are part of another run; earlier versions wrote `corrected`."""


def runs_below(folder: Path) -> Iterator[RunFolder]:
    """Yield the run in a folder, or those below it, by when they were begun.

    Floors, ceilings and corrected runs belong to another run, and links to folders may lead out:
    all are left out. Links within a run are not looked at.
    """
    found = [path for path in _holding(folder, MANIFEST) if path.name not in PARTS]
    for path in sorted(found, key=lambda path: ((path / MANIFEST).stat().st_mtime, path)):
        yield RunFolder(path)


def experiments_below(folder: Path) -> Iterator[Path]:
    """Yield the folders of experiments in retrieval, in the order of their paths."""
    for path in _holding(folder, RETRIEVAL.name):
        with suppress(DataError):  # results of something else
            if RETRIEVAL.read(path / RETRIEVAL.name)["results"]:
                yield path


def _holding(folder: Path, name: str, depth: int = DEPTH) -> Iterator[Path]:
    """Yield the folders that hold a file, without what lies below them or nobody may read."""
    try:
        if (folder / name).is_file():
            yield folder
            return
        below = sorted(folder.iterdir()) if depth else []
        inner = [it for it in below if it.is_dir() and not it.is_symlink() and it.name[0] != "."]
    except PermissionError:
        return
    for path in inner:
        yield from _holding(path, name, depth - 1)


def folder_at(folder: Path, inner: str, name: str) -> Path | None:
    """Return the folder of a run or an experiment, without reading others; None: there is none.

    Args:
        folder: The one that is looked through.
        inner: Path of the other below it; `/` stands between folders, empty is the first itself.
        name: Of the file that it holds: `run.json`, or that of an experiment.
    """
    path, parts = folder, inner.split("/") if inner else []
    try:
        for part in parts:
            if not part or part[0] == "." or (path / name).is_file() or (path / part).is_symlink():
                return None
            path /= part
        return path if len(parts) <= DEPTH and (path / name).is_file() else None
    except OSError:  # no name of a folder, or none that may be read
        return None


# -- A static site of runs, to publish: lists, ranks, and a page for each run.


HOME = "index.html"
_MARK = "seal-site"
"""File by which a folder is known to hold a site of ours."""
_RUNS, _EXPERIMENTS, _BOARDS = "runs", "retrieval", "leaderboards"
"""Folders of a site."""
_UNNAMED = "unnamed"
_LONGEST = 80


def write_site(
    shelf: Shelf, out: Path, title: str, tell: Callable[[str], object] = lambda damage: None
) -> Path:
    """Write the site of all scored runs, and return its first page.

    A damaged run has no page; the first page names it and its damage, below the others.

    The same runs give the same bytes. Of a site that is there already the folders of runs,
    experiments and leaderboards are removed first; what else lies beside its first page stays.

    Args:
        shelf: The runs and experiments.
        out: Folder of the site.
        title: Of its first page.
        tell: Takes the damage of each damaged run.

    Raises:
        UsageError: No scored run lies there, or the folder holds something else.
        DataError: A file of an experiment is damaged.
    """
    runs = [facts for facts in shelf.facts() if facts.state in ("scored", "damaged")]
    if not any(run.is_shown for run in runs):
        for run in runs:
            tell(run.damage)
        raise UsageError("no scored run lies there; `seal run` and `seal score` make one")
    if out.exists() and (not out.is_dir() or (any(out.iterdir()) and not (out / _MARK).is_file())):
        raise UsageError(f"{out} holds something else than a site; give --out a new folder")
    ranked = sorted(runs, key=lambda run: (run.benchmark, run.subset, _place(run), run.name))
    _write(out / _MARK, "`seal site` wrote this site, and replaces it.\n")
    for folder in (_RUNS, _EXPERIMENTS, _BOARDS):
        remove(out / folder)
    for name in FILES:
        _write(out / name, asset(name))
    paged = [_with_page(run, out) if run.is_shown else run for run in ranked]
    ranked = sorted(paged, key=lambda run: not run.is_shown)
    for run in ranked:
        if run.damage:
            tell(run.damage)
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
        _write_boards([run for run in ranked if run.is_shown], out),
        newest=False,
        choose=False,
        **linked("./"),
    )
    _write(out / HOME, page)
    return out / HOME


def _write_boards(runs: Sequence[RunFacts], out: Path) -> dict[str, str]:
    """Write a leaderboard of each benchmark whose runs can be ranked; return title to address."""
    pages = {str(run.run.path): f"../../{_RUNS}/{_folder(run.name)}/{HOME}" for run in runs}
    links = [("All runs", "../../" + HOME)]
    found = {}
    for benchmark, paths in grouped((run.benchmark, run.run.path) for run in runs).items():
        with suppress(UsageError):  # fewer than two that measure the same, or nothing that ranks
            content = ranked_runs(paths)
            parts = leaderboard_page(content, lambda path: quote(pages[path]))
            page = parts_page("leaderboard", content["title"], parts, links, **linked("../../"))
            inner = f"{_BOARDS}/{_folder(benchmark or _UNNAMED)}/{HOME}"
            _write(out / inner, page)
            found[content["title"]] = quote(inner)
    return found


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with AtomicFile(path) as file:
        file.write(text.encode())


def _with_page(facts: RunFacts, out: Path) -> RunFacts:
    """Write the page of a run, and return its facts: with its damage where it cannot be shown."""
    folder = out / _RUNS / _folder(facts.name)
    try:
        check_whole(facts.run)
        _write_run(RunPages([facts.run]), folder)
    except DataError as error:
        remove(folder)
        told = facts.name, facts.run, facts.benchmark, facts.model
        return RunFacts(*told, played=facts.played, state="damaged", damage=str(error))
    return facts


def _write_run(pages: RunPages, folder: Path) -> None:
    """Write the page of a run, and its blocks beside it."""
    how: Mapping[str, object] = {**linked("../../"), "home": "../../" + HOME}
    if _size(pages) <= _ONE_FILE:
        bodies = [pages.section(place) for place in range(len(pages.sections))]
        _write(folder / HOME, "".join(pages.page(bodies, **how, blocks=data_blocks(pages))))
        return
    late = [place for place, body in enumerate(pages.early()) if body is None]
    bodies = [pages.section(place) for place in range(len(pages.sections))]
    shown = [None if place in late and body else body for place, body in enumerate(bodies)]
    _write(folder / HOME, "".join(pages.page(shown, **how, source="{key}", blocks=())))
    keys = ["index/0.json", *(f"section/{place}.html" for place in late)]
    keys += [f"rows/{number}.json" for number in pages.portions]
    keys += ["/".join([kind, *map(str, places)]) + ".html" for kind, places in pages.parts()]
    for key in keys:
        _write(folder / key, pages.block(key) or "")


def _size(pages: RunPages) -> int:
    """Return how many bytes of chats and scores pages show."""
    paths = (
        path for lane in pages.lanes for path in (lane.run.trajectories_path, lane.run.scores_path)
    )
    return sum(path.stat().st_size for path in paths if path.is_file())


def _folder(name: str) -> str:
    """Return a name that any file system and address takes; different names differ in any case."""
    plain = re.sub(r"[^a-z0-9_-]+", "-", name.lower())[:_LONGEST].strip("-")
    return plain if plain == name else f"{plain}-{digest(name)[:8]}"
