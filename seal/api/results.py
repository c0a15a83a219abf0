"""What is made of finished runs: scores, explanations, comparisons and ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from seal.api.run_result import Run, folder_of, folders_of
from seal.core import UsageError
from seal.core.settings import checked
from seal.experiments.settings import RESAMPLES
from seal.runs.run import RunFolder

if TYPE_CHECKING:
    from pandas import DataFrame

    from seal.api.comparisons import Comparison, Leaderboard
    from seal.api.experiment_results import Explanation
    from seal.api.run_result import RunLike
    from seal.experiments.annotation import ImportedSheets


class ScoreOptions(TypedDict, total=False):
    """Fields of `ScoreSettings`, but for the benchmark."""

    judge: str
    judge_model: Any
    prompts: Mapping[str, str | Path]
    model_options: Mapping[str, Any] | None
    base_url: str | None
    metrics: Sequence[Any]
    workers: int
    cache_dir: str | Path | None
    match: str | None
    votes: int | None
    verdicts: str | Path | None
    without_spoilt: bool
    allow_code: Sequence[str]


@checked
def score(run: RunLike, **options: Unpack[ScoreOptions]) -> Run:
    """Score a run's trajectories again; no chat is played.

    Args:
        run: What `seal.run` returned, or its folder. Scores and summary are replaced there. A
            benchmark's own metrics are measured again where it is installed, or the run is given.
        **options: Fields of `seal.runs.settings.ScoreSettings`, such as judge,
            judge_model and metrics.

    Returns:
        The run with its new scores. The `Run` that was given keeps its old summary.

    Raises:
        DataError: The folder holds no run.
        UsageError: There is no such judge, or another process writes the run.

    Example:
        >>> import seal
        >>> run = seal.run("sample", model="oracle", limit=2, baselines=False)
        >>> again = seal.score(run, judge="rule")
        >>> again["pass_rate"].mean == run["pass_rate"].mean
        True
    """
    from seal.runs.finished import rescore
    from seal.runs.settings import ScoreSettings

    folder = folder_of(run)
    bench = run.bench if isinstance(run, Run) else None
    rescore(folder, ScoreSettings(bench=bench, **options))
    return replace(Run.load(folder), bench=bench)


@checked
def report(runs: RunLike | Sequence[RunLike], out: str | PathLike[str] | None = None) -> Path:
    """Write the HTML report of one run, or of several side by side, and return the file.

    The file is readable without a network.

    Args:
        runs: What `seal.run` returned, a folder, or a list of such.
        out: The file; one that ends with .tex or .csv has the tables of one run alone. None:
            report.html in the folder of the run, of several in the working folder.

    Raises:
        UsageError: There is no run, or something else stands among the runs; or the file is to be
            of another kind, or to have the tables of several runs.
        DataError: A folder holds no scored run, or a file of it is damaged.

    Example:
        >>> import seal
        >>> run = seal.run("sample", limit=2, baselines=False)
        >>> seal.report(run, "two-chats.html").name
        'two-chats.html'
    """
    from seal.report.run_pages import write_report
    from seal.report.sections import default_sections, sections_of

    folders = [RunFolder.open(path) for path in folders_of([runs])]
    if not folders:
        raise UsageError("a report of no run: give one run at least")
    form = "" if out is None else Path(out).suffix.lower()
    if out is not None and form in _TABLES:
        if len(folders) > 1:
            raise UsageError(
                f"{out} has the tables of one run; of several: seal compare RUN RUN --out DIR"
            )
        return _write_tables(Path(out), _TABLES[form](Run.load(folders[0].path)).rstrip("\n"))
    several = [runs] if isinstance(runs, Run) or not isinstance(runs, Sequence) else runs
    made = {id(run.bench): run.bench for run in several if isinstance(run, Run) and run.bench}
    own = [section for bench in made.values() for section in sections_of(bench)]
    usual = folders[0].report_path if len(folders) == 1 else Path(folders[0].report_path.name)
    place = usual if out is None else Path(out)
    if not place.exists() and place.suffix.lower() not in ("", ".html", ".htm"):
        raise UsageError(
            f"a report is HTML: let the name of {place} end with .html, or with .tex or .csv for "
            "its tables"
        )
    return write_report(folders, place, [*default_sections(folders), *own])


_TABLES = {".tex": Run.latex, ".csv": Run.csv}
"""End of a file's name to what it has of a run."""


def _write_tables(path: Path, text: str) -> Path:
    """Write the tables of a run; a file that begins otherwise is not replaced."""
    from seal.report.table_forms import write_paragraphs

    if path.is_dir():
        raise UsageError(f"{path} is a folder; give --out a file")
    beginning = text[:_BEGINNING].encode()
    if path.is_file() and path.read_bytes()[:_BEGINNING] not in (b"", beginning):
        raise UsageError(f"{path} holds something else than tables; give --out a new file")
    return write_paragraphs(path, text)


_BEGINNING = len("metric,mean")
"""Characters by which tables are known."""


@checked
def explain(
    run: RunLike,
    *,
    metric: str | None = None,
    examples: int = 3,
    out: str | PathLike[str] | None = None,
) -> Explanation:
    """Attribute each failed goal of a scored run to the first stage that explains it.

    The stages are those of `seal.evaluation.attribution`. Only the run folder is read; no model is
    asked.

    Args:
        run: What `seal.run` returned, or its folder.
        metric: The metric that decides whether a goal failed. None: the one of the headline: what
            the benchmark declares, calls_right where all gold is calls, else pass_rate. Turns of
            dialogues have awareness, selection and execution, else goal_state.
        examples: How many examples each stage has at most.
        out: Folder for explanation.json, for each goal with its stage as goals.csv and
            goals.tex, and for the tools that the retriever lost as tools_lost.csv. The extra
            `experiments` adds figures/waterfall.svg and .png. None: nothing is written.

    Returns:
        The explanation: `.stages`, `.tools_lost`, `.table()`, `.frame`, `.plot()` and `.content`.
        The content holds goals, solved, undecided, errors, failed, partly, decided_by, stages,
        unexplained, attributions, tools_lost and excluded (`seal.experiments.explanation`).
        `stages` is the waterfall, with shares, intervals, causes and examples.

    Raises:
        DataError: The folder is no scored run, nothing was played, or a file is damaged.
        UsageError: The metric has no value, or `out` holds something else.

    Example:
        >>> import seal
        >>> run = seal.run("sample", model="lexical", first=5, baselines=False)
        >>> why = seal.explain(run)
        >>> [(stage.stage, stage.goals) for stage in why.stages if stage.goals]
        [('not_retrieved', 1), ('wrong_argument', 2), ('gave_up', 1)]
    """
    from seal.api.experiment_results import Explanation
    from seal.report.experiments import explain as of_run

    place = None if out is None else Path(out)
    bench = run.bench if isinstance(run, Run) else None
    return Explanation(of_run(folder_of(run), metric, examples, place, bench))


class CompareOptions(TypedDict, total=False):
    """Fields of `CompareSettings`."""

    pairs: Literal["first", "all"]
    metrics: Sequence[str]
    success: str | None
    force: bool
    seed: int
    resamples: int
    win_rate: bool
    judge_model: Any
    votes: int | None
    model_options: Mapping[str, Any] | None
    base_url: str | None
    cache_dir: str | Path | None


@checked
def compare(
    *runs: RunLike | Sequence[RunLike],
    out: str | PathLike[str] | None = None,
    **options: Unpack[CompareOptions],
) -> Comparison:
    """Compare runs of one benchmark, paired by task, trial and goal.

    Args:
        runs: Two or more, or a list of them: what `seal.run` returned, or folders. The first is the
            base.
        out: Folder for comparison.json, .csv, .md, .tex (booktabs) and .html. None: nothing is
            written.
        **options: pairs, metrics, success, force, seed, resamples; of win rates win_rate,
            judge_model, votes, model_options, base_url, cache_dir
            (`seal.experiments.settings.CompareSettings`).

    Returns:
        The comparison: `["pass_rate"].difference`, `.pairs`, `.flips`, `.frame`, `.table()` and
        `.plot()`; `seal.api.comparisons.Comparison` says what its `.content` holds.

    Raises:
        UsageError: There are fewer than two runs, or one is given twice. Or two runs have no task
            and trial in common, or measure different things. Or the folder holds something else, or
            a judge is named and nothing is judged.
        UnknownNameError: No run has the metric, or no setting has the name; the text names the
            closest.
        DataError: A folder is no run, is not scored, or a file of it is damaged.

    Example:
        >>> import seal
        >>> weak = seal.run("sample", model="lexical", first=5, out="weak", baselines=False)
        >>> strong = seal.run("sample", model="oracle", first=5, out="strong", baselines=False)
        >>> comparison = seal.compare(weak, strong)
        >>> comparison["call_recall"].difference
        0.333333
    """
    from seal.api.comparisons import Comparison
    from seal.experiments.settings import CompareSettings
    from seal.report.comparison import compare as beside

    place = None if out is None else Path(out)
    return Comparison(beside(folders_of(runs), CompareSettings(**options), place))


@checked
def leaderboard(
    *runs: RunLike | Sequence[RunLike] | DataFrame,
    metric: str | None = None,
    by: str | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
    out: str | PathLike[str] | None = None,
) -> Leaderboard:
    """Put runs of one benchmark in the order of a metric, and tell what chance leaves of the order.

    Args:
        runs: Two or more, or a list of them: what `seal.run` returned, folders of runs, or a folder
            that holds them. Or a pandas frame of scores that were made elsewhere: a row a task, a
            column a system, NaN where there is no score; high scores are better.
        metric: By which they are ranked; None: the first of their short table. Of a frame: what its
            scores are.
        by: Tag of the tasks whose values become columns. None: `group`, where it has from 2 to 12
            values; empty: none. A frame has no tags.
        seed: Of draws and tests.
        resamples: Of the intervals of ranks, and of each test.
        out: Folder for leaderboard.json, .csv, .md, .tex (booktabs) and .html; None: nothing is
            written.

    Returns:
        The leaderboard: `.rows`, `.frame`, `.groups`, `.table()`;
        `seal.api.comparisons.Leaderboard` says what its `.content` holds.

    Raises:
        UsageError: Fewer than two runs have a rank, the metric ranks nothing, the frame holds what
            is no score, or the folder holds something else.
        UnknownNameError: No run has the metric; the text names the closest.
        DataError: A folder is no run, is not scored, or a file of it is damaged.

    Example:
        >>> import seal
        >>> weak = seal.run("sample", model="lexical", first=5, out="weak", baselines=False)
        >>> strong = seal.run("sample", model="oracle", first=5, out="strong", baselines=False)
        >>> board = seal.leaderboard(weak, strong, metric="call_recall")
        >>> [(row["rank"], row["run"]) for row in board.rows]
        [(1, 'oracle'), (2, 'lexical')]
    """
    from seal.api.comparisons import Leaderboard
    from seal.report.leaderboard import ranked_runs, ranked_scores

    place = None if out is None else Path(out)
    if len(runs) == 1 and hasattr(runs[0], "iterrows"):
        if by:
            raise UsageError("a frame of scores has no tags; leave by= out")
        return Leaderboard(ranked_scores(runs[0], metric, seed, resamples, place))
    return Leaderboard(ranked_runs(folders_of(runs), metric, by, seed, resamples, place))


@checked
def export_sheet(
    run: RunLike,
    out: str | Path,
    *,
    what: Literal["auto", "turns", "verdicts"] = "auto",
    n: int = 50,
    seed: int = 0,
) -> dict[str, Any]:
    """Write a sample of a run's turns for people to rate from 1 to 5, or of its goals to label.

    Labels are solved, unsolved or unsure. Neither the system's name nor a verdict stands in the
    sheet, and the sample's shares of the judge's verdicts are those of the run.

    Args:
        run: What `seal.run` returned, or its folder.
        out: The sheet, a CSV file; filled in with labels, it is what an audit of the judge takes.
        what: Turns, goals (verdicts), or what the run has: turns where its benchmark names some to
            rate, else verdicts.
        n: Turns or goals, at most.
        seed: Of the sample and its order.

    Returns:
        {file, items: how many were written, what: turns or verdicts}.

    Raises:
        OptionError: n is less than 1.
        DataError: No run in the folder, nothing to rate, or no chat ended.
    """
    from seal.experiments.annotation import LABEL, RATING, export_items, items_of

    folder = RunFolder.open(folder_of(run))
    if what == "auto":
        what = "turns" if any(True for _ in items_of(folder, RATING)) else "verdicts"
    question = RATING if what == "turns" else LABEL
    written = export_items(folder, question, Path(out), n, seed)
    return {"file": str(out), "items": written, "what": what}


@checked
def import_sheets(run: RunLike, files: Sequence[str | Path]) -> ImportedSheets:
    """Take people's ratings in, which the run's report and summary show, or labels of goals.

    Labels are written to the run's labels.csv. What was taken in before is kept.

    Args:
        run: The run that was exported.
        files: All of ratings or all of labels; each one rater's, or with a column `rater`.

    Returns:
        Ratings with their mean, or labels; agreement, and each row that could not be taken, with
        the reason.

    Raises:
        DataError: No run in the folder, a file that cannot be read or lacks a column, or two rows
            of one rater and item.
    """
    from seal.experiments import annotation

    return annotation.import_sheets(RunFolder.open(folder_of(run)), [Path(file) for file in files])
