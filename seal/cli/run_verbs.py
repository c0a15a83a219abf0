"""The verbs that look at runs, from runs and view to paper."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from seal.cli import options as shared
from seal.cli.failure import tell
from seal.cli.groups import argument, flag, option, settings_of, verb
from seal.cli.options import JSON
from seal.cli.output import new_console, output
from seal.cli.words import new_file
from seal.core import UsageError
from seal.core.files import AtomicFile
from seal.core.text import counted, one_line
from seal.experiments.settings import RESAMPLES, CompareGroup, PreferenceSettings
from seal.report.grids import Grid, grouped

# -- List the runs below a folder: benchmark, model, chats, first metric, when.


@verb("runs")
def runs_command(
    folder: Path = argument("Folder that holds runs.", "runs", metavar="[FOLDER]"),
    json: bool = JSON,
) -> int:
    """List the runs below a folder, the latest last, without floors and ceilings."""
    from seal.report.lanes import facts_of
    from seal.runs.running import as_it_is
    from seal.viewer.shelf import runs_below, settings_apart

    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}; give the one that runs lie in")
    with output(json) as result:
        facts = map(facts_of, map(as_it_is, runs_below(folder)))
        found = sorted(facts, key=lambda run: run.played)
        entries = [
            {
                **{name: getattr(run, name) for name in _TOLD},
                "run": run.name,
                "mean": run.headline.mean,
            }
            for run in found
        ]
        result.result({"runs": entries})
        alike = grouped((run.benchmark, run) for run in found)
        every = (settings_apart(runs) for runs in alike.values())
        apart = {run: one_line(told, _SETTINGS) for some in every for run, told in some.items()}
        rows = []
        for run in found:
            mean = f"{run.headline.value_text} {run.headline.interval_text}".strip()
            score = f"{run.metric} {mean}" if run.metric else run.state
            score += ", running" * (run.state == "running" and bool(run.metric))
            settings = [apart.get(run.name, "")] if apart else []
            told = [run.name, run.benchmark, run.model, *settings, score, run.tasks_text]
            rows.append([*told, run.played])
        named = ["run", "benchmark", "model", *(["settings"] if apart else []), "score"]
        table = Grid("", [*named, "tasks", "played (UTC)"], rows, names=len(named))
        result.show(table if rows else f"no run lies below {folder}")
        result.show(*(run.damage for run in found if run.damage))
    return 0


_SETTINGS = 60
"""Characters of the settings of a run."""
_TOLD = (
    "benchmark",
    "model",
    "damage",
    "state",
    "metric",
    "tasks",
    "subset",
    "played",
    "errors",
    "dollars",
)


# -- Show a run's tasks, or read one chat, finished or running.


@verb("view")
def view_command(
    run: Path = argument("Run folder; the run may still go on.", metavar="RUN"),
    task: str | None = argument(
        "Id of a task, its beginning or last part, or its place from 1.", None, metavar="[TASK]"
    ),
    trial: int = option(0, "Trial of the task to show."),
    follow: bool = flag("Print chats as they grow."),
    full: bool = flag("Do not shorten long texts, nor the list of a run of over 1,000 chats."),
    json: bool = JSON,
) -> int:
    """List a run's tasks, or show who said what to whom in one chat.

    Of a run that goes on, how far it is stands above its tasks: means until now, what it cost, the
    time left, the chats that go on, and those that ended last.
    """
    from seal.report.transcript import FOLD, view, view_record
    from seal.runs.run import RunFolder
    from seal.runs.running import as_it_is

    shown = as_it_is(RunFolder.open(run))
    if json:
        if follow:
            raise UsageError("--follow prints as it comes: leave out --json")
        with output(json) as result:
            result.result(view_record(shown, task, trial))
        return 0
    fold = None if full else FOLD
    console = new_console()
    view(shown, task, trial, follow, out=console, fold=fold)
    return 0


# -- Show the runs below folders in a browser.


@verb("serve")
def serve_command(
    folders: list[Path] = argument(
        "Folders that hold runs.  [default: runs]", None, metavar="[RUNS]..."
    ),
    port: int = option(7325, "Port; 0 takes a free one."),
    host: str = option(
        "127.0.0.1", "Address to listen at; at another one, whoever reaches it can read the runs."
    ),
    label: Path | None = option(
        None,
        "Sheet of `seal annotate export` to label, one goal or turn at a time; no run is shown.",
        metavar="SHEET",
    ),
) -> int:
    """Show runs, chats, comparisons and retrieval in a browser; Ctrl-C ends it.

    A run that goes on is followed. With --label people label a sheet, by keyboard.
    """
    from seal.viewer.labelling import LabelSheet
    from seal.viewer.server import serve
    from seal.viewer.shelf import Shelf

    if label is not None and folders:
        raise UsageError("--label shows no run, so that raters stay blind; leave out the folders")
    shown = Shelf(folders or [Path("runs")]) if label is None else LabelSheet(label)
    serve(shown, host, port, lambda address: tell(f"open {address}"))
    return 0


# -- Write one HTML report of one or several runs.


@verb("report")
def report_command(
    runs: list[Path] = argument("Run folders.", metavar="RUN..."),
    out: Path | None = option(
        None,
        "HTML file to write; of one run also .tex or .csv, its tables alone.  [default: "
        "report.html in the run; for several runs in the working folder]",
    ),
    json: bool = JSON,
) -> int:
    """Write one HTML file of one or several runs, readable without a network."""
    from seal.api.results import report
    from seal.report.lanes import lanes_of
    from seal.report.run_results import missing_notes
    from seal.runs.run import RunFolder

    folders = [RunFolder.open(path) for path in runs]
    with output(json) as result:
        path = report(folders, out)
        result.result({"report": str(path)})
        result.show(f"report: {path}")
        for text in missing_notes(lanes_of(folders)):
            tell(text)
    return 0


# -- Write a static site of the runs below folders, to publish.


@verb("site")
def site_command(
    folders: list[Path] = argument(
        "Folders that hold runs.  [default: runs]", None, metavar="[RUNS]..."
    ),
    out: Path = option("site", "Folder to write."),
    title: str = option("Leaderboard", "Title of the first page."),
    json: bool = JSON,
) -> int:
    """Write a leaderboard and a page for each run as files that any web server can publish."""
    from seal.viewer.shelf import Shelf, write_site

    with output(json) as result:
        path = write_site(Shelf(folders or [Path("runs")]), out, title, tell)
        result.result({"site": str(path)})
        result.show(f"site: {path}")
    return 0


# -- Tell why the failed goals of a run failed: a waterfall over stages, with examples.


@verb("explain")
def explain_command(
    run: Path = argument("Run folder; it must be scored.", metavar="RUN"),
    metric: str | None = option(
        None,
        "Metric that decides what failed.  [default: the one of the headline: what the benchmark "
        "declares as success, calls_right where all gold is calls, else pass_rate; awareness, "
        "selection and execution of dialogue turns, else goal_state]",
        metavar="NAME",
    ),
    examples: int = option(3, "Number of examples for each stage.", least=0),
    out: Path | None = option(
        None,
        "Folder for explanation.json, goals.csv and goals.tex, which have each goal's stage, "
        "tools_lost.csv, and the figure of the waterfall.",
        metavar="DIR",
    ),
    json: bool = JSON,
) -> int:
    """Attribute every failed goal of a run to the first stage that explains it.

    Stages: infrastructure, gold tool not retrieved, user simulator broke its brief, not called,
    wrong tool, wrong argument, tool error not recovered, gave up, answer contradicts or omits
    results, checker unsure. A goal that no stage explains is unexplained. No model is asked.
    """
    with output(json) as result:
        from seal.report.experiments import explain, explanation_tables

        content = explain(run, metric, examples, out)
        result.result(content)
        result.show(*(() if json else explanation_tables(content)))
        if out is not None:
            result.show(f"explanation: {out}", *content["notes"])
    return 0


# -- Compare runs of one benchmark: paired differences, tests, power, tasks won and lost.


@dataclass(frozen=True, kw_only=True)
class Written:
    """Output: what is written, and what is printed."""

    out: Path | None = option(
        None, "Folder for comparison.json, .csv, .md, .tex and .html.", metavar="DIR"
    )
    json: bool = shared.JSON


@verb("compare")
def compare_command(
    *,
    runs: list[Path] = argument("Run folders; the first is the base.", metavar="RUN RUN..."),
    compared: CompareGroup,
    preferred: PreferenceSettings,
    into: Written,
) -> int:
    """Compare runs of one benchmark, paired by task, trial and goal.

    For every metric the table has the mean difference, its 95 % interval over tasks, and
    a randomisation test. It also has the smallest difference that these tasks could have shown, and
    how many tasks or trials would show the measured one. Then come the tasks won and lost, pass^k
    and pass@k. Runs that do not measure the same are refused. The exit code is 1 if the server of a
    judge failed.
    """
    # Of small matrices: several threads would wait longer for each other than they compute.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with output(into.json) as result:
        from seal.api.results import compare
        from seal.report.comparison import comparison_tables

        told = settings_of(compared, preferred)
        content = compare(runs, out=into.out, **told).content
        result.result(content)
        result.show(*(() if into.json else comparison_tables(content)))
        if into.out is not None:
            result.show(f"comparison: {into.out / 'comparison.html'}")
        for text in content["differs"]:
            tell(f"compared all the same: {text}")
    judged = [pair["win_rate"] for pair in content["pairs"] if pair["win_rate"] is not None]
    return int(any("error" in found["by"] for found in judged))


# -- Rank runs of one benchmark: intervals of ranks, groups that no test tells apart.


@verb("leaderboard")
def leaderboard_command(
    *,
    runs: list[Path] = argument("Run folders, or folders that hold them.", metavar="RUN..."),
    metric: str | None = option(
        None,
        "Metric by which runs are ranked.  [default: the first of their short table]",
        metavar="NAME",
    ),
    by: str | None = option(
        None,
        "Tag of the tasks whose values become columns; empty: none.  [default: group, if it has 2 "
        "to 12 values]",
        metavar="TAG",
    ),
    seed: int = option(0, "Seed of draws and tests."),
    resamples: int = option(RESAMPLES, "Number of draws, and of resamples for each test.", least=1),
    out: Path | None = option(
        None, "Folder for leaderboard.json, .csv, .md, .tex and .html.", metavar="DIR"
    ),
    json: bool = JSON,
) -> int:
    """Rank runs of one benchmark by a metric.

    Each rank has a 95 % interval: where the run could stand, were other tasks drawn. Runs of one
    group are not told apart by a randomisation test, corrected by Holm over all pairs. A run of
    other tasks than most, or that measures otherwise, has no rank and says why.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with output(json) as result:
        from seal.report.leaderboard import leaderboard_parts, ranked_runs

        content = ranked_runs(runs, metric, by, seed, resamples, out)
        result.result(content)
        result.show(*(() if json else leaderboard_parts(content)))
        if out is not None:
            result.show(f"leaderboard: {out / 'leaderboard.html'}")
    return 0


# -- Let people judge what an assistant said or did: write a file for them, read theirs.

_ASKED = {
    "turns": "turns to rate from 1 to 5 in the column value",
    "verdicts": "goals to label solved, unsolved or unsure in the column value",
}
SHOWN = 20
"""Problems that the terminal lists; `--json` has all."""


@verb("annotate", name="export")
def annotate_export(
    run: Path = argument("Run folder.", metavar="RUN"),
    out: Path = option(..., "New CSV file to write.", metavar="FILE", read=new_file),
    what: Literal["auto", "turns", "verdicts"] = option(
        "auto",
        "What people judge: turns, to rate; goals (verdicts), to label as solved or not; or "
        "auto: turns if the benchmark names some, as dialogtool does, else goals.",
    ),
    n: int = option(50, "Number of turns or goals."),
    seed: int = option(0, "Seed of the sample and its order."),
    json: bool = JSON,
) -> int:
    """Write a sample of a run's turns or goals to a file for people.

    The file says neither which system was tested nor what a judge decided.
    """
    from seal.api.results import export_sheet

    with output(json) as result:
        written = export_sheet(run, out, what=what, n=n, seed=seed)
        result.result(written)
        result.show(f"{written['items']} {_ASKED[written['what']]}: {out}")
    return 0


@verb("annotate", name="import")
def annotate_import(
    run: Path = argument("Run folder.", metavar="RUN"),
    files: list[Path] = argument("Files with ratings or labels, one a rater.", metavar="FILE..."),
    json: bool = JSON,
) -> int:
    """Read ratings or labels that people gave.

    The exit code is 1 if some rows could not be used.
    """
    from seal.api.results import import_sheets

    with output(json) as result:
        found = import_sheets(run, files)
        told = found.record()
        result.result(told)
        result.show(*found.problems[:SHOWN])
        more = len(found.problems) - SHOWN
        if more > 0:
            result.show(
                f"... and {counted(more, 'more row')} that were not taken (--json lists all)"
            )
        result.show(
            f"{counted(found.taken, found.question.name)} taken, "
            f"{counted(found.empty, 'row')} without one, {len(found.problems)} not taken",
            _summary(told),
        )
        if told.get("goals"):
            audit = f"seal score {run} --judge-model MODEL --audit {told['file']}"
            result.show(f"compare a judge with them: {audit}")
    return int(bool(found.problems))


def _summary(told: Mapping[str, Any]) -> str:
    """Return what people said, and how far they agree."""
    alpha = f"Krippendorff's alpha {_figure(told['alpha'], 3)}"
    if "items" in told:
        mean = _figure(told["mean"], 2)
        return (
            f"{counted(told['items'], 'item')} by {counted(told['raters'], 'rater')}: mean "
            f"{mean}, {alpha}"
        )
    return (
        f"{counted(told['goals'], 'goal')} by {counted(told['raters'], 'rater')}: "
        f"{told['solved']} solved, "
        f"{told['unsolved']} unsolved, {told['undecided']} undecided, {alpha}"
    )


def _figure(value: float | None, digits: int) -> str:
    return "n/a" if value is None else f"{value:.{digits}f}"


# -- Print a paper's tables with your runs beside the published rows.

_FORMATS = {".tex": "latex", ".html": "html"}


@verb("paper")
def paper_command(
    name: str = argument("Name of a benchmark, or of its paper.", metavar="NAME"),
    folders: list[Path] | None = argument(
        "Runs, pools, sweeps and experiments in retrieval.", None, metavar="[RUN]..."
    ),
    table: str | None = option(
        None, "Show this table only, such as table-3, with what it lacks.", metavar="TABLE"
    ),
    out: Path | None = option(
        None,
        "File to write instead of printing: text, LaTeX (.tex) or a page (.html).",
        metavar="FILE",
    ),
    json: bool = JSON,
) -> int:
    """Print the tables and figures of a paper, with the figures of your runs beside them.

    Published rows stand first, then each run with its difference from its own model's row. A table
    or figure for which the folders hold nothing is left out. Without a folder the tables are
    listed, with what each is made of; --table and --out then show the published rows alone.
    """
    with output(json) as result:
        from seal.report.paper import (
            declared_tables,
            document,
            paper_tables,
            shown_parts,
            table_list,
        )

        if not (folders or table or out):
            listed = declared_tables(name)
            tables = [each.table.to_json() for each in listed]
            result.result({"paper": name, "tables": tables})
            result.show(table_list(name, listed))
            return 0
        shown, lines = paper_tables(name, folders or (), table)
        tables = [each.to_json() for each in shown]
        result.result({"paper": name, "tables": tables, "lines": lines})
        if out is None:
            result.show(*shown_parts(shown, lines))
        else:
            kind = _FORMATS.get(out.suffix.lower(), "text")
            with AtomicFile(out) as file:
                file.write(document(name, shown, lines, kind).encode())
            result.show(f"{kind}: {out}")
    return 0
