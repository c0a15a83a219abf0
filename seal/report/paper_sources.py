"""Which tables of papers there are, and the folders whose figures stand in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from seal.core import DataError, UnknownNameError, UsageError
from seal.core.files import within
from seal.core.text import counted
from seal.experiments.retrieval import RESULTS
from seal.experiments.series import read_json
from seal.experiments.sweep import SWEEP
from seal.pools.benchmark import Benchmark
from seal.pools.catalogue import importing
from seal.pools.declarations import PublishedTable, Source
from seal.pools.importer import TASKS, TOOLS
from seal.pools.lookup import installed_benchmarks, known_benchmark, sound_benchmark
from seal.pools.pool import StoredPool, load_pool
from seal.report.grids import Grid
from seal.report.lanes import lanes_of
from seal.report.paper import (
    Measured,
    PaperTable,
    filled,
    judge_of,
    measured_lanes,
    named,
    tables_of,
    tables_of_run,
)
from seal.report.seal_paper import PAPER, TABLES
from seal.runs.run import RunFolder

_MADE_BY: Mapping[Source, tuple[str, str]] = {
    "run": ("a scored run", "seal run {}"),
    "pool": ("a pool, or the tasks of a run", "seal import {} SOURCE --out POOL"),
    "sweep": ("a sweep", "seal sweep POOL --pool-sizes"),
    "retrieval": ("an experiment in retrieval", "seal retrieve --out"),
}
"""What figures are from, and the command that makes it of a benchmark."""


class Opened(NamedTuple):
    """What a folder holds, and the benchmarks that it is of."""

    path: Path
    benchmarks: tuple[str, ...]
    measured: tuple[Measured, ...]


class Declared(NamedTuple):
    """A table with the benchmark whose paper has it."""

    table: PublishedTable
    owner: Benchmark | None
    """None: whatever benchmark is measured stands in it."""

    def takes(self, opened: Opened) -> bool:
        """Tell whether a folder is of its benchmark, or of one with the same paper."""
        own = self.owner
        for name in opened.benchmarks:
            if own is None or self.table.takes_any or name == own.name:
                return True
            other = sound_benchmark(name)
            if other is not None and other.published == own.published:
                return True
        return False


def declared_tables(name: str, folders: Sequence[Opened] = ()) -> list[Declared]:
    """Return the tables of a benchmark's paper, or of a paper in which several benchmarks stand.

    Args:
        name: Of the benchmark or paper.
        folders: Runs tell the tables of a benchmark that is not installed.

    Raises:
        UsageError: The benchmark declares none.
        UnknownNameError: There is no benchmark and no paper of that name.
    """
    name, _ = importing(name)
    known = sound_benchmark(name) if folders else known_benchmark(name)
    if known is not None and known.published:
        return [Declared(each, known) for each in tables_of(known)]
    every = [Declared(each, None) for each in named(TABLES, PAPER)]
    every += [Declared(each, one) for one in _with_papers().values() for each in tables_of(one)]
    if of_paper := [each for each in every if each.table.paper == name]:
        return of_paper
    for opened in folders:
        runs = [each.what.run for each in opened.measured if each.of == "run"]
        if known is None and name in opened.benchmarks and runs:
            owner = Benchmark(name, published=tables_of_run(runs[0]))
            return [Declared(each, owner) for each in tables_of(owner)]
    papers = sorted({each.table.paper for each in every} | {*_with_papers()})
    if known is None:
        raise UnknownNameError("benchmark with a paper", name, papers)
    raise UsageError(
        f"the benchmark {name} declares no tables of a paper; those that do: {', '.join(papers)}. "
        "Declare one's own: seal.Benchmark(..., published=[PublishedTable(...)])"
    )


def _with_papers() -> dict[str, Benchmark]:
    """Return the installed benchmarks that declare tables, by name; broken ones are left out."""
    return {name: one for name, one in installed_benchmarks().sound.items() if one.published}


def opened_folders(paths: Sequence[Path]) -> list[Opened]:
    """Return what folders hold: runs, pools, sweeps and experiments in retrieval.

    An ablation is its runs. The tasks of the first run stand for a pool where none is given.

    Raises:
        DataError: A folder holds none of these, or a file of it is damaged.
    """
    every: list[Path] = []
    for path in paths:
        if (path / "comparison.json").is_file():
            from seal.experiments.ablation import COMPARISON

            runs_of = COMPARISON.read(path / COMPARISON.name)["runs"]
            every += [within(path, row["condition"]) for row in runs_of] or [path]
        else:
            every.append(path)
    paths = list(dict.fromkeys(every))
    runs = [RunFolder.open(path) for path in paths if (path / "run.json").is_file()]
    lanes = measured_lanes(lanes_of(runs)) if runs else []
    labels = {lane.what.run.path: lane for lane in lanes}
    pools = [path for path in paths if path not in labels and (path / TOOLS).is_file()]
    whole = (run.path for run in runs if (run.path / TOOLS).is_file())
    first = [path for path in whole if (path / TASKS).is_file()][:1]
    counted = pools or first
    return [_opened(path, labels.get(path), path in counted) for path in paths]


def _pool(path: Path, label: str, name: str) -> Measured:
    bench = (sound_benchmark(name) if name else None) or Benchmark(name or "pool")
    return Measured(label, "pool", StoredPool(load_pool(path).folder, benchmark=bench))


def _opened(path: Path, lane: Measured | None, counted: bool) -> Opened:
    """Return what a folder holds; `lane`: of a run; `counted`: its tasks stand for a pool."""
    names: tuple[str, ...]
    if lane is not None:
        run: RunFolder = lane.what.run
        known = run.benchmark()
        name = run.pool_name if known is None else known.name
        return Opened(path, (name,), (lane, *([_pool(path, lane.label, name)] if counted else [])))
    if (path / TOOLS).is_file():
        name = load_pool(path).name
        return Opened(path, (name,), (_pool(path, path.name, name),))
    if (path / SWEEP.name).is_file():
        content = SWEEP.read(path / SWEEP.name)
        names = (str(content["origin"].get("benchmark")),)
        played = [within(path, str(row["run"])) for row in content["rows"][:1]]
        runs = [RunFolder(run) for run in played if (run / "run.json").is_file()]
        by = [(run.model, judge_of(run.manifest())) for run in runs] or [("", "")]
        return Opened(path, names, (Measured(path.name, "sweep", content, *by[0]),))
    if (path / RESULTS).is_file():
        content = read_json(path / RESULTS, ("protocol", "pools", "results"), "experiment")
        names = tuple(str(entry.get("pool")) for entry in content["results"])
        return Opened(path, names, (Measured(path.name, "retrieval", content),))
    raise DataError(
        f"{path} holds neither a run nor a pool, sweep, ablation or experiment in retrieval; give "
        "a folder that `seal run`, `seal import` or another verb's --out named"
    )


class Filled(NamedTuple):
    """A paper's tables with ours."""

    tables: list[PaperTable]
    lines: list[str]
    """What was given, and which tables nothing of it stands in."""


def paper_tables(name: str, paths: Sequence[Path], table: str | None = None) -> Filled:
    """Return the tables of a paper for which the folders have figures, with ours filled in.

    Args:
        name: Of a benchmark or paper.
        paths: Folders of runs, pools, sweeps and experiments in retrieval; none: the published
            rows alone.
        table: The only one, by name, with whatever it has; None: all.

    Raises:
        UsageError: A folder is of another benchmark, or the benchmark declares no tables.
        UnknownNameError: There is no such benchmark or table.
        DataError: A folder is none of these, or damaged.
    """
    folders = opened_folders(paths)
    declared = declared_tables(name, folders)
    names = [each.table.name for each in declared]
    if table is not None and table not in names:
        raise UnknownNameError(f"table of {name}", table, dict.fromkeys(names))
    for opened in folders:
        kinds = {each.of for each in opened.measured}
        if not any(each.table.of in kinds and each.takes(opened) for each in declared):
            of = ", ".join(dict.fromkeys(opened.benchmarks))
            raise UsageError(
                f"{opened.path} is of {of} and stands in no table of {name}; `seal paper {name}` "
                "lists what they are made of"
            )
    chosen = [each for each in declared if table in (None, each.table.name)]
    shown = []
    lines = list(_told_of(name, folders))
    for each in chosen:
        mine = [
            measured
            for opened in folders
            if each.takes(opened) and not _has_own(each, opened, declared)
            for measured in opened.measured
        ]
        made = filled(each.table, mine)
        if made.measured or (made.rows and (table is not None or not folders)):
            shown.append(made)
        else:
            told = f"{each.table.name}, {each.table.title}"
            lines.append(f"without {told}: it is made of {_made_of(each.table)}")
    return Filled(shown, lines)


def _has_own(each: Declared, opened: Opened, declared: Sequence[Declared]) -> bool:
    """Tell whether a folder's benchmark has a table of its own in place of one of all."""
    own = (one for one in declared if one.table.name == each.table.name and one.owner is not None)
    return each.owner is None and any(one.takes(opened) for one in own)


def _made_of(table: PublishedTable) -> str:
    kind, command = _MADE_BY[table.of]
    name = "NAME" if table.paper == PAPER else table.paper
    return f"{kind}: {table.needs.get('') or command.format(name)}"


def table_list(name: str, declared: Sequence[Declared]) -> Grid:
    """Return the list of a paper's tables, with what each is made of."""
    rows = [
        (
            each.name,
            f"{each.title} ({each.source})",
            str(len(each.rows)) if each.rows else "layout alone",
            "; ".join(dict.fromkeys([_made_of(each), *(n for h, n in each.needs.items() if h)])),
        )
        for each, _ in declared
    ]
    return Grid(f"tables of {name}", ("table", "what", "published rows", "made of"), rows, names=4)


def _told_of(name: str, folders: Sequence[Opened]) -> Iterator[str]:
    """Yield what each run played, and that its tasks are not the paper's where they are not."""
    for opened in folders:
        for each in opened.measured:
            if each.of == "run":
                summary, of = each.what.summary, opened.benchmarks[0]
                counts = (
                    counted(summary.get(what) or 0, noun)
                    for what, noun in (("tasks", "task"), ("errors", "error"))
                )
                others = "" if of == name else f"; they are of {of}, not those of the paper"
                yield f"{each.label}: {', '.join(counts)}{others}"
