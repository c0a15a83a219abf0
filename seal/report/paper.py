"""A paper's tables with ours beside them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup

from seal.core import DataError, SealError, UnknownNameError, UsageError, fault, shortened
from seal.core.files import within
from seal.core.text import counted
from seal.evaluation.goals import RATE
from seal.experiments.retrieval import RESULTS
from seal.experiments.series import read_json
from seal.experiments.sweep import SWEEP
from seal.pools.benchmark import Benchmark, loaded
from seal.pools.catalogue import importing
from seal.pools.declarations import PublishedTable, Source
from seal.pools.importer import TASKS, TOOLS
from seal.pools.lookup import installed_benchmarks, known_benchmark, sound_benchmark
from seal.pools.pool import StoredPool, load_pool
from seal.report.grids import Estimate, Grid, number
from seal.report.lanes import RUN_COLOURS, Lane, lanes_of, model_name
from seal.report.pages import Bar, BarGroup, bar_chart, inline, parts_page, render, table
from seal.report.seal_paper import PAPER, TABLES
from seal.report.table_forms import latex_parts, terminal_text
from seal.runs.run import RunFolder

# -- A paper's tables with ours: each published row, each run's below it, and what they differ by.
#
# `seal paper` and the report's section show the same objects. Which tables there are, benchmarks
# declare (`Benchmark.published`).

PUBLISHED, HERE = "published", "here"
MARK = "*"
"""Stands behind a difference that is more than chance makes of our tasks."""
_STAND_INS = ("lexical", "random", "oracle", "gold_calls")
"""Models that stand in for one: they ask none, and nobody answers in their place."""
_VERSION = re.compile(r"(?:latest|instruct|hf|v\d++|\d{3,}+)*+")
"""What one name of a model may have more than another, letters and digits alone."""
Figures = Mapping[str, Mapping[str, float | str | None]]
"""Row to heading to figure, or to a text; the row of the whole is named by an empty text."""


class Measured(NamedTuple):
    """What is set beside published figures: a run, a pool, or the results of an experiment."""

    label: str
    """Unique among those that stand in one table."""
    of: Source
    what: Any
    """Lane, pool, or content of a file."""
    model: str = ""
    """By which the published row of the same model is found."""
    judge: str = ""
    """The model that judged it; empty: rules did."""

    @property
    def judged_by(self) -> str:
        """Who judged it: `model`, or `rules`."""
        return "model" if self.judge else "rules"


class Row(NamedTuple):
    """One line of a table."""

    name: str
    whose: str
    """`published`, `here`, the label of what was measured, or what is taken from it."""
    figures: Mapping[str, float | str]
    outside: frozenset[str] | None = None
    """Headings whose published figure is outside our 95 % interval; None of other rows."""
    what: str = ""
    """Of ours: whether a stand-in for a model played, and who judged where that matters."""

    @property
    def origin(self) -> str:
        """Whose it is, and what it is."""
        return ", ".join(filter(None, (self.whose, self.what)))

    def number(self, heading: str) -> float | None:
        """Return a figure; None where there is none, or a text."""
        value = self.figures.get(heading)
        return None if isinstance(value, str) else value


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table of a paper with ours filled in."""

    published: PublishedTable
    headings: Sequence[str]
    rows: Sequence[Row]
    notes: Sequence[str] = field(default=())
    """What is missing, and what would give it."""

    @property
    def measured(self) -> bool:
        """Whether any figure is ours."""
        return any(row.whose != PUBLISHED for row in self.rows)

    @property
    def title(self) -> str:
        """Name, title and source."""
        return f"{self.published.name}: {self.published.title} ({self.published.source})"

    def grid(self, shown: Callable[[str, float], str] | None = None) -> Grid:
        """Return the table; `shown` gives a cell of its text and figure, differences left out."""
        digits = {heading: self._digits(heading) for heading in self.headings}

        def cell(row: Row, heading: str) -> str:
            value = row.figures.get(heading)
            if value is None:
                return "-"
            if row.outside is not None:
                mark = MARK if heading in row.outside else ""
                return _text(value, digits[heading], True) + mark
            text = _text(value, digits[heading], False)
            return text if shown is None or isinstance(value, str) else shown(text, value)

        rows = [
            (row.name, row.origin, *(cell(row, head) for head in self.headings))
            for row in self.rows
        ]
        return Grid(self.title, ("row", "whose", *self.headings), rows, names=2)

    def html(self) -> Markup:
        """Return the table for a page; bars stand above it, figures of a heat map have colours."""
        look = self.published.drawn
        body = table(self.grid(_heated if look == "heat" else None), wrapping=True)
        return (self._bars() if look in ("bars", "lines") else Markup("")) + body

    def to_json(self) -> dict[str, Any]:
        """Return the table as JSON."""
        told = {"name": self.published.name, "title": self.published.title}
        rows = [{**row._asdict(), "outside": sorted(row.outside or ())} for row in self.rows]
        return {**told, "source": self.published.source, "rows": rows, "notes": list(self.notes)}

    def _bars(self) -> Markup:
        """Return bars by heading, of a row one colour each."""
        rows = [row for row in self.rows if row.outside is None]
        lanes = [
            {"colour": f"run-{place % RUN_COLOURS}", "label": f"{row.name} {row.origin}"}
            for place, row in enumerate(rows)
        ]
        looks = list(zip(lanes, rows, strict=True))
        groups = []
        for head in self.headings:
            bars = (Bar(lane["label"], lane["colour"], row.number(head)) for lane, row in looks)
            groups.append(BarGroup(head, tuple(bars)))
        every = (row.number(heading) for row in rows for heading in self.headings)
        most = max((value for value in every if value is not None), default=1.0)
        chart = bar_chart(self.title, groups, max(most, self.published.scale), axis="value")
        return render("charts.html", lanes=lanes, charts=[chart], folded=[])

    def _digits(self, heading: str) -> int | None:
        """Return how many decimals a column has; None: by the size of the figure."""
        if self.published.digits is not None:
            return self.published.digits
        printed = [row[heading] for row in self.published.rows.values() if heading in row]
        known = [len(repr(value).partition(".")[2]) for value in printed if type(value) is float]
        return max(known) if known else 1 if self.published.scale == 100 else None


def _text(value: float | str, digits: int | None, signed: bool) -> str:
    if isinstance(value, str):
        return value
    size = abs(value)
    if isinstance(value, int):
        text = f"{size:,}"
    else:
        text = number(size) if digits is None else f"{size:,.{digits}f}"
    below = value < 0 and float(text.replace(",", "")) > 0
    return f"{'-' if below else '+' if signed else ''}{text}"


def _heated(text: str, value: float) -> Markup:
    """Return a figure in per cent on one of six colours."""
    shade = min(5, max(0, -int(-value // 20)))
    return Markup('<span class="heat heat-{}">{}</span>').format(shade, text)


def tables_of(benchmark: Benchmark) -> list[PublishedTable]:
    """Return the tables of a benchmark's paper, each with a name and its paper.

    Raises:
        UsageError: What it declares is no such table.
    """
    told = benchmark.published
    if isinstance(told, str):
        told = loaded(told)
    for each in told:
        if not isinstance(each, PublishedTable):
            raise UsageError(
                f"benchmark {benchmark.name!r}: published holds {each!r}; expected a PublishedTable"
            )
    return named(told, benchmark.name)


def named(tables: Iterable[PublishedTable], paper: str) -> list[PublishedTable]:
    """Return tables that each have a name, and a paper: `paper` where they name none."""
    return [
        replace(each, name=_name(each, place), paper=each.paper or paper)
        for place, each in enumerate(tables, 1)
    ]


def _name(table: PublishedTable, place: int) -> str:
    """Return a table's name: its own, else by its number in the paper, else by its place."""
    numbered = re.search(r"\b(Table|Figure) (\d+)", table.source)
    return table.name or "-".join(numbered.groups() if numbered else ("table", str(place))).lower()


def tables_of_run(run: RunFolder) -> list[PublishedTable]:
    """Return the tables of what was played; of what is not installed, those that run.json holds."""
    known = run.benchmark()
    if known is not None and known.published:
        return tables_of(known)
    told = run.declared().get("published")
    held = [PublishedTable.of_json(each) for each in (told if isinstance(told, list) else ())]
    return tables_of(Benchmark(run.pool_name or "run", published=held)) if held else []


def filled(published: PublishedTable, measured: Sequence[Measured]) -> PaperTable:
    """Return a table with ours beside the published rows.

    Args:
        published: The table.
        measured: What is set beside them; what the table is not made of is left out.
    """
    mine = [(each, figures_of(published, each)) for each in measured if each.of == published.of]
    found = [(each, name, _known(row)) for each, figures in mine for name, row in figures.items()]
    heads = (heading for _, figures in mine for row in figures.values() for heading in row)
    headings = list(dict.fromkeys([*published.headings, *heads]))
    rows: list[Row] = []
    for name, row in published.rows.items():
        rows.append(Row(name, PUBLISHED, row))
        rows += _beside(published, [one for one in found if one[1] == name])
    rows += _beside(published, [one for one in found if one[1] not in published.rows])
    notes = list(_missing(published, mine, headings))
    if any(row.outside for row in rows):
        notes.append(f"{MARK} the published figure lies outside our 95 % interval over tasks")
    return PaperTable(published, headings, rows, notes)


def figures_of(published: PublishedTable, each: Measured) -> Figures:
    """Return what was measured, in the units of the paper; whatever has no figure is None.

    Raises:
        UsageError: The table's function fails, or returns no figures.
    """
    told = _told(published, each)
    own = {h: _estimate(each.what, m).mean for h, m in published.columns.items() if m}
    means = {
        heading: None if mean is None else mean * _factor(published, each, heading)
        for heading, mean in own.items()
    }
    if not means:
        return told
    return {**told, "": {**dict.fromkeys(published.columns), **means, **told.get("", {})}}


def _known(row: Mapping[str, float | str | None]) -> dict[str, float | str]:
    return {heading: value for heading, value in row.items() if value is not None}


def _told(published: PublishedTable, each: Measured) -> Figures:
    """Return what the table's own function tells; it may be a stranger's, or the data damaged."""
    code = loaded(published.figures)
    if code is None:
        return {}
    where = f"the figures of {published.name}, {published.title!r}, of {each.label}"
    try:
        told: Figures = code(each.what)
    except SealError:
        raise
    except Exception as error:  # whatever a stranger's code raises
        raise UsageError(f"{where} failed: {fault(error)}; mend them, or the folder") from error
    if not isinstance(told, Mapping) or not all(map(_is_row, told.values())):
        raise UsageError(
            f"{where} are {shortened(told)}; expected a map of rows, each of headings to "
            "numbers, texts or None"
        )
    return told


def _is_row(row: Any) -> bool:
    return isinstance(row, Mapping) and all(
        value is None or isinstance(value, int | float | str) for value in row.values()
    )


def _estimate(lane: Lane, metric: str) -> Estimate:
    name, _, group = metric.partition("|")
    return lane.estimate(name, group or None)


def _is_outside(published: PublishedTable, each: Measured, heading: str, other: float) -> bool:
    """Tell whether a published figure is outside our interval; false without an interval."""
    metric = published.columns.get(heading)
    found = _estimate(each.what, metric) if metric else Estimate(None)
    if found.low is None or found.high is None or found.low == found.high:
        return False  # scores that are all alike tell nothing of chance
    factor = _factor(published, each, heading)
    return not factor * found.low <= other <= factor * found.high


def _factor(published: PublishedTable, each: Measured, heading: str) -> float:
    """Return what means under a heading are multiplied by; those of no share stand as they are."""
    metric = published.columns[heading].partition("|")[0]
    is_rate = each.what.run.scales().get(metric, RATE).bounded
    return published.scale if is_rate or metric in published.shares else 1.0


def _beside(
    published: PublishedTable,
    found: Iterable[tuple[Measured, str, Mapping[str, float | str]]],
) -> Iterator[Row]:
    """Yield our rows, each with what it differs by from the published row that it stands beside."""
    for each, name, figures in found:
        if not figures:
            continue
        mine = Row(
            name or each.label, each.label if name else HERE, figures, None, _what(published, each)
        )
        yield mine
        base = _base(published, each, name)
        if base:
            theirs = Row(base, PUBLISHED, published.rows[base])
            alike = [h for h in figures if _judged_alike(published, each, h)]
            pairs = ((h, mine.number(h), theirs.number(h)) for h in alike)
            known = [(h, m, t) for h, m, t in pairs if m is not None and t is not None]
            if known:
                outside = frozenset(h for h, _, t in known if _is_outside(published, each, h, t))
                minus = {h: m - t for h, m, t in known}
                yield Row("", f"minus {base if base != name else PUBLISHED}", minus, outside)


def _what(published: PublishedTable, each: Measured) -> str:
    """Return what a row of ours is: a stand-in for a model, and who judged where that matters."""
    judge = each.judge or "rules"
    return ", ".join(
        (
            *(["stand-in"] if each.model.partition(",")[0] in _STAND_INS else []),
            *([f"judged by {judge}"] if "model" in published.judged.values() else []),
        )
    )


def _judged_alike(published: PublishedTable, each: Measured, heading: str) -> bool:
    """Tell whether the like judged the published figure and ours, or nobody had to."""
    by = published.judged.get(heading) or published.judged.get("")
    return by is None or by == each.judged_by


def _base(published: PublishedTable, each: Measured, name: str) -> str:
    """Return the published row of the same model or part; empty: there is none of the like."""
    if published.played_by and not is_same_model(each.model, published.played_by):
        return ""
    if each.of == "pool" and each.what.name not in (published.paper, name):
        return ""  # tasks of our own, or of another benchmark
    if name:
        return name if name in published.rows else ""
    return next((row for row in published.rows if is_same_model(each.model, row)), "")


def is_same_model(one: str, other: str) -> bool:
    """Tell whether two names are of one model, of which one may tell its version as well."""
    shorter, longer = sorted(map(_plain, (one, other)), key=len)
    rest = longer.removeprefix(shorter)
    whole = longer == shorter + rest and _VERSION.fullmatch(rest) is not None
    return bool(shorter) and whole


def _plain(name: str) -> str:
    """Return a model's name without its provider, letters and digits alone."""
    return re.sub(r"[^a-z0-9]", "", name.rpartition("/")[2].lower())


def _missing(
    published: PublishedTable, mine: Sequence[tuple[Measured, Figures]], headings: Sequence[str]
) -> Iterator[str]:
    """Yield what is missing of whom, and what would give it."""
    needs = published.needs
    lacking: dict[tuple[str, str], list[str]] = {}
    for each, figures in mine:
        valued = {heading for row in figures.values() for heading in _known(row)}
        if not valued:
            need = needs.get("") or "it was not measured"
            yield f"{each.label} has nothing for {published.name}: {need}"
            continue
        rows = [row for row, own in figures.items() if row and not any(_known(own))]
        for name in (*(heading for heading in headings if heading not in valued), *rows):
            need = needs.get(name) or needs.get("") or "it was not measured"
            lacking.setdefault((each.label, need), []).append(name)
    for (label, need), missing in lacking.items():
        yield f"{label} lacks {', '.join(missing)}: {need}"
    yield from published.notes
    if not published.rows:
        yield f"{published.name}: the paper prints no number of it; all of these are ours"
        return
    told = {heading for row in published.rows.values() for heading in row}
    if published.lacks:
        yield f"published, and not at hand: {published.lacks}"
    elif alone := [heading for heading in headings if heading not in told]:
        yield f"ours alone, for the paper prints none: {', '.join(alone)}"


def measured_lanes(lanes: Sequence[Lane]) -> list[Measured]:
    """Return the runs of a report, without their baselines."""
    runs = [lane for lane in lanes if lane.kind == "run"]
    return [
        Measured(lane.label, "run", lane, model_name(lane.run), judge_of(lane.run.manifest()))
        for lane in runs
    ]


def judge_of(manifest: Mapping[str, Any]) -> str:
    """Return the model that judged a run, by its run.json; empty: rules did, or a recording."""
    judge = (manifest.get("measure") or {}).get("judge")
    return str(judge.get("model") or "") if isinstance(judge, Mapping) else ""


def section(lanes: Sequence[Lane]) -> Markup | None:
    """Return the tables of which figures were published and measured; None: there are none."""
    told: list[PublishedTable] = []
    for lane in lanes:
        told += [each for each in tables_of_run(lane.run) if each not in told]
    shown = [filled(each, measured_lanes(lanes)) for each in told if each.rows]
    return Markup("").join(each.html() for each in shown if each.measured) or None


# -- Tables of a paper as text, LaTeX and pages.


def document(name: str, tables: Sequence[PaperTable], lines: Sequence[str], format: str) -> str:
    """Return tables as a file of one format: text, latex or html.

    Args:
        name: Of the paper.
        tables: Its tables.
        lines: What is told below them.
        format: As named above.
    """
    if format == "latex":
        told: list[Grid | str] = []
        for each in tables:
            told += (*each.notes, each.grid())
        return "\n\n".join(latex_parts(((part, "") for part in (*told, *lines)), _PLAIN)) + "\n"
    if format == "html":
        shown = (part for each in tables for part in (each.html(), *each.notes))
        return parts_page("paper", name, (*shown, *lines), **inline(scripted=False))
    return terminal_text(shown_parts(tables, lines)) + "\n"


def shown_parts(tables: Sequence[PaperTable], lines: Sequence[str]) -> Iterator[Any]:
    """Yield tables and lines as a terminal shows them."""
    for each in tables:
        yield each.title
        yield each.grid()._replace(title="")
        yield from each.notes
    yield from lines


_PLAIN = (r"\hline",) * 3
"""Rules of a table that need no package."""


# -- Which tables of papers there are, and the folders whose figures stand in them.

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
