"""What is made of finished runs: scores, explanations, comparisons and ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from seal.core.errors import UsageError

if TYPE_CHECKING:
    from seal.api.objects.comparison import Comparison
    from seal.api.objects.documents import Explanation
    from seal.api.objects.frames import RunLike
    from seal.api.objects.run import Run
    from seal.experiments.annotation import Imported
    from seal.experiments.goal_sheets import ImportedLabels


def score(run: RunLike, **options: Any) -> Run:
    """Score a run's trajectories again; no chat is played.

    Args:
        run: What `seal.run` returned, or its folder. Scores and summary are replaced there. A
            benchmark's own metrics are measured again where it is installed, or the run is given.
        **options: Those of `seal.runs.rescore.rescore`, such as judge, judge_model and metrics.

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
    from seal.api.objects.frames import folder_of
    from seal.api.objects.run import Run
    from seal.runs.rescore import rescore

    folder = folder_of(run)
    bench = run.bench if isinstance(run, Run) else None
    rescore(folder, bench=bench, **options)
    return replace(Run.load(folder), bench=bench)


def report(runs: RunLike | Sequence[RunLike], out: str | PathLike[str] | None = None) -> Path:
    """Write the HTML report of one run, or of several side by side, and return the file.

    The file is readable without a network.

    Args:
        runs: What `seal.run` returned, a folder, or a list of such.
        out: The file; None: report.html in the folder of the first run.

    Raises:
        UsageError: There is no run, or something else stands among the runs.
        DataError: A folder holds no scored run, or a file of it is damaged.

    Example:
        >>> import seal
        >>> run = seal.run("sample", limit=2, baselines=False)
        >>> seal.report(run, "two-chats.html").name
        'two-chats.html'
    """
    from seal.api.objects.frames import folders_of
    from seal.api.objects.run import Run
    from seal.report.html import write_report
    from seal.report.sections import built_sections, default_sections
    from seal.runs.run_folder import RunFolder

    folders = [RunFolder.open(path) for path in folders_of([runs])]
    if not folders:
        raise UsageError("a report of no run: give one run at least")
    several = [runs] if isinstance(runs, Run) or not isinstance(runs, Sequence) else runs
    made = [run.bench for run in several if isinstance(run, Run) and run.bench]
    own = {id(section): section for bench in made for section in bench.sections}
    place = folders[0].report_path if out is None else Path(out)
    return write_report(folders, place, [*default_sections(folders), *built_sections(own.values())])


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
        metric: The metric that decides whether a goal failed. None: the one that the benchmark
            declares. Else mission_accuracy of missions, awareness, selection and execution of turns
            of dialogues, and goal_state or pass_rate of all others.
        examples: How many examples each stage has at most.
        out: Folder for explanation.json and explanation.md. The extra `experiments` adds
            figures/waterfall.svg and .png. None: nothing is written.

    Returns:
        The explanation: `.stages`, `.table()`, `.plot()` and `.content`. The content holds goals,
        solved, errors, failed, partly, decided_by, stages, unexplained, attributions and excluded
        (`seal.experiments.explanation.explain`). `stages` is the waterfall, with shares, intervals,
        causes and examples.

    Raises:
        DataError: The folder is no scored run, nothing was played, or a file is damaged.
        UsageError: The metric has no value, or `out` holds something else.

    Example:
        >>> import seal
        >>> run = seal.run("sample", model="lexical", limit=5, baselines=False)
        >>> why = seal.explain(run)
        >>> [(stage.stage, stage.goals) for stage in why.stages if stage.goals]
        [('not_retrieved', 1), ('wrong_tool', 1), ('wrong_argument', 1), ('unsure', 1)]
    """
    from seal.api.objects.documents import Explanation
    from seal.api.objects.frames import folder_of
    from seal.api.objects.run import Run
    from seal.report.explanation_results import explain as of_run

    place = None if out is None else Path(out)
    bench = run.bench if isinstance(run, Run) else None
    return Explanation(of_run(folder_of(run), metric, examples, place, bench))


def compare(
    *runs: RunLike | Sequence[RunLike],
    pairs: Literal["first", "all"] = "first",
    metrics: Sequence[str] = (),
    success: str | None = None,
    force: bool = False,
    seed: int = 0,
    resamples: int = 10_000,
    win_rate: bool = False,
    judge_model: Any = None,
    votes: int | None = None,
    model_options: Mapping[str, Any] | None = None,
    base_url: str | None = None,
    cache_dir: str | Path | None = None,
    preferences: str | Path | None = None,
    out: str | PathLike[str] | None = None,
) -> Comparison:
    """Compare runs of one benchmark, paired by task, trial and goal.

    Args:
        runs: Two or more, or a list of them: what `seal.run` returned, or folders. The first is the
            base.
        pairs: first: each run less the first. all: of every two the later less the earlier.
        metrics: Metrics to compare. None given: all that the runs have.
        success: Metric of which 1 is a solved task. None: the first of pass_rate, success,
            mission_accuracy and similarity that both runs have.
        force: Compare runs that do not measure the same.
        seed: Of intervals and tests.
        resamples: Of each interval and test.
        win_rate: Ask which of two runs served each goal better, in both orders.
        judge_model: The model that is asked, or several in a tuple. None: the labels of the runs'
            pass rates decide.
        votes: Votes of each model on each goal. None: one.
        model_options: Of the models.
        base_url: Address of their server.
        cache_dir: Where their answers are kept. None: the usual place.
        preferences: File of recorded preferences between the runs, which replace the judge. It is
            StableToolBench's preference_results, as JSON or CSV, or a CSV file of
            task_id,first,second,better (`seal.evaluation.judges.recorded`).
        out: Folder for comparison.json, .md, .tex (booktabs) and .html. None: nothing is written.

    Returns:
        The comparison: `["pass_rate"].difference`, `.pairs`, `.flips`, `.frame`, `.table()` and
        `.plot()`. Its `.content` is that of comparison.json:

        - protocol: how the runs were compared. p is corrected by Holm over `family` and all pairs
          of runs. The family is the metrics asked for, else those of the report's short table.
        - differs: what the runs measure differently, where `force` compared them.
        - runs: for each {run, path, model, tasks, chats, trials}.
        - pairs: for each two runs {run, other, matched, alone, other_alone, success, flips, passes,
          win_rate}. `matched`, `alone` and `other_alone` count what has a partner. `flips` are the
          tasks that were won and lost
          (`seal.experiments.comparison.verdicts.flips_of`). `passes` are pass^k and pass@k.
          `win_rate` is None where it was not asked for (`seal.experiments.win_rates.win_rate`).
        - comparisons: the paired difference for each two runs and metric, and what was detectable
          (`seal.experiments.comparison.pairs.compare`). `higher` and `lower` name the tasks in
          which the run is higher and lower.
        - notes: what a reader should know before the figures.

    Raises:
        UsageError: There are fewer than two runs, or one is given twice. Or two runs have no task
            and trial in common, or measure different things. Or the folder holds something else, or
            a judge is named and nothing is judged.
        UnknownNameError: No run has the metric; the text names the closest.
        DataError: A folder is no run, is not scored, or a file of it is damaged. Or preferences are
            of other runs or in another format.

    Example:
        >>> import seal
        >>> weak = seal.run("sample", model="lexical", limit=5, out="weak", baselines=False)
        >>> strong = seal.run("sample", model="oracle", limit=5, out="strong", baselines=False)
        >>> comparison = seal.compare(weak, strong)
        >>> comparison["call_recall"].difference
        0.333333
    """
    from seal.api.objects.comparison import Comparison
    from seal.api.objects.frames import folders_of
    from seal.experiments.comparison.study import CompareSettings
    from seal.experiments.win_rates import PreferenceSettings
    from seal.report.comparison_results import compare as beside

    if judge_model or votes:
        _check_judge(win_rate, preferences)
    judging = PreferenceSettings(
        judge_model,
        1 if votes is None else votes,
        model_options or {},
        base_url,
        None if cache_dir is None else Path(cache_dir),
        None if preferences is None else Path(preferences),
    )
    judged = win_rate or preferences is not None
    asked = CompareSettings(
        pairs, tuple(metrics), success, force, seed, resamples, judging if judged else None
    )
    place = None if out is None else Path(out)
    return Comparison(beside(folders_of(runs), asked, place))


def _check_judge(win_rate: bool, preferences: str | Path | None) -> None:
    """Raise UsageError where a comparison has nothing to ask the judge that was named."""
    if preferences is not None:
        raise UsageError(
            "recorded preferences are taken instead of a judge's: leave out --preferences, or the "
            "judge's model and votes"
        )
    if not win_rate:
        raise UsageError(
            "a comparison asks a judge for the win rate alone: add --win-rate (from Python "
            "win_rate=True), or leave out the judge's model and votes"
        )


def export_ratings(run: RunLike, out: str | Path, *, n: int = 50, seed: int = 0) -> int:
    """Write a sample of a run's turns for people to rate from 1 to 5, without the system's name.

    Args:
        run: What `seal.run` returned, or its folder; its benchmark names turns to rate.
        out: The CSV file.
        n: Turns, at most.
        seed: Of the sample and its order.

    Returns:
        How many turns were written.

    Raises:
        OptionError: n is less than 1.
        DataError: No run in the folder, or nothing to rate.
    """
    from seal.api.objects.frames import folder_of
    from seal.experiments.annotation import export_items
    from seal.runs.run_folder import RunFolder

    return export_items(RunFolder.open(folder_of(run)), Path(out), n, seed)


def import_ratings(run: RunLike, files: Sequence[str | Path]) -> Imported:
    """Take people's ratings in; the run's report and summary show them.

    Args:
        run: The run that was exported; ratings taken in before are kept.
        files: Each one rater's, or with a column `rater`.

    Returns:
        Mean, agreement, and each row that could not be taken, with the reason.

    Raises:
        DataError: No run in the folder, or a file that cannot be read or lacks the columns `item`
            and `rating`.
    """
    from seal.api.objects.frames import folder_of
    from seal.experiments.annotation import import_ratings
    from seal.runs.run_folder import RunFolder

    return import_ratings(RunFolder.open(folder_of(run)), [Path(file) for file in files])


def export_labels(run: RunLike, out: str | Path, *, n: int = 50, seed: int = 0) -> int:
    """Write a sample of a run's goals for people to label as solved, unsolved or unsure.

    Neither the system's name nor a verdict stands in it, and its shares of the judge's verdicts are
    those of the run.

    Args:
        run: What `seal.run` returned, or its folder.
        out: The CSV file; filled in, it is what an audit of the judge takes.
        n: Goals, at most.
        seed: Of the sample and its order.

    Returns:
        How many goals were written.

    Raises:
        OptionError: n is less than 1.
        DataError: No run in the folder, or no chat ended.
    """
    from seal.api.objects.frames import folder_of
    from seal.experiments.goal_sheets import export_goals
    from seal.runs.run_folder import RunFolder

    return export_goals(RunFolder.open(folder_of(run)), Path(out), n, seed)


def import_labels(run: RunLike, files: Sequence[str | Path]) -> ImportedLabels:
    """Take people's labels of goals in, and write them to the run's labels.csv.

    Args:
        run: The run that was exported; labels taken in before are kept.
        files: Each one rater's, or with a column `rater`.

    Returns:
        Labels, agreement, and each row that could not be taken, with the reason.

    Raises:
        DataError: No run in the folder, a file that cannot be read or lacks a column, or two labels
            of one rater and goal.
    """
    from seal.api.objects.frames import folder_of
    from seal.experiments.goal_sheets import import_labels
    from seal.runs.run_folder import RunFolder

    return import_labels(RunFolder.open(folder_of(run)), [Path(file) for file in files])
