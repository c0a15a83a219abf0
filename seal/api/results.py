"""What is made of finished runs: scores, explanations, comparisons and ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from seal.core.errors import UsageError

if TYPE_CHECKING:
    from seal.api.objects.comparison import Comparison
    from seal.api.objects.explanation import Explanation
    from seal.api.objects.frames import RunLike
    from seal.api.objects.run import Run
    from seal.experiments.annotation import Imported
    from seal.experiments.labelling import ImportedLabels


def score(run: RunLike, **options: Any) -> Run:
    """Score a run's trajectories again, without a chat.

    Args:
        run: What `seal.run` returned, or its folder; scores and summary are replaced there.
        **options: Of `seal.runs.rescore.rescore`: judge, judge_model...

    Returns:
        The run as it is scored now; a `Run` that was had before keeps its summary.

    Raises:
        DataError: No run in the folder.
        UsageError: A judge that cannot be, or another process writes the run.
    """
    from seal.api.objects.frames import folder_of
    from seal.api.objects.run import Run
    from seal.runs.rescore import rescore

    folder = folder_of(run)
    rescore(folder, **options)
    return Run.load(folder)


def explain(
    run: RunLike,
    *,
    metric: str | None = None,
    examples: int = 3,
    out: str | PathLike[str] | None = None,
) -> Explanation:
    """Attribute each failed goal of a scored run to the first stage that explains it.

    The stages are those of `seal.evaluation.attribution`; no model is asked, and the run folder is
    all that is read.

    Args:
        run: What `seal.run` returned, or its folder.
        metric: Whose verdict counts; None: mission_accuracy of missions, awareness, selection and
            execution of turns of dialogues, else goal_state or pass_rate.
        examples: Most of each stage.
        out: Folder for explanation.json, explanation.md and, with the extra `experiments`,
            figures/waterfall.svg and .png; None: nothing is written.

    Returns:
        The explanation: `.stages`, `.table()`, `.plot()`, and as `.content` goals, solved, errors,
        failed, partly, decided_by, stages (the waterfall, with shares, intervals, causes and
        examples), unexplained, attributions, excluded
        (`seal.experiments.explanation.explain` says what each is).

    Raises:
        DataError: The folder is no scored run, nothing was played, or a file is damaged.
        UsageError: A metric without a value, or a folder that holds something else.
    """
    from seal.api.objects.explanation import Explanation
    from seal.api.objects.frames import folder_of
    from seal.report.explanation import explain as of_run

    place = None if out is None else Path(out)
    return Explanation(of_run(folder_of(run), metric, examples, place))


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
        runs: Two or more, or a list of them: what `seal.run` returned, or folders; the first is
            the base.
        pairs: first: each run less the first; all: of every two the later less the earlier.
        metrics: Those to compare; none: all that the runs have.
        success: Metric of which 1 is a solved task; None: the first of pass_rate, success,
            mission_accuracy and similarity that both runs have.
        force: Compare runs that do not measure the same.
        seed: Of intervals and tests.
        resamples: Of each interval and test.
        win_rate: Ask in both orders which of two runs served each goal better.
        judge_model: Who is asked, a model or several in a tuple; None: the labels of the runs' pass
            rates decide.
        votes: Of each model on each goal; None: one.
        model_options: Of the models.
        base_url: Their server.
        cache_dir: Where their answers are kept; None: the usual place.
        preferences: File of recorded preferences between the runs, which make the win rate instead
            of a judge: StableToolBench's preference_results, JSON or CSV, or CSV of
            task_id,first,second,better (`seal.evaluation.judges.recorded_preferences`).
        out: Folder for comparison.json, .md, .tex (booktabs) and .html; None: nothing is written.

    Returns:
        The comparison: `["pass_rate"].difference`, `.pairs`, `.flips`, `.frame`, `.table()`,
        `.plot()`, and as `.content` that of comparison.json.

        - protocol: how it was compared; p is corrected by Holm over `family` (the metrics asked
          for, else those of the report's short table) and all pairs of runs.
        - differs: what the runs measure otherwise, where they were compared all the same.
        - runs: for each {run, path, model, tasks, chats, trials}.
        - pairs: for each two runs {run, other, matched, alone, other_alone, success, flips,
          passes, win_rate}: how much has a partner, which tasks were won and lost
          (`seal.experiments.comparison.verdicts.flips_of`), pass^k and pass@k (`passes_of`), and
          the win rate (`seal.experiments.preferring.win_rate`), None where it was not asked for.
        - comparisons: for each two runs and metric the paired difference, what was detectable and
          what would find it (`seal.experiments.comparison.pairs.compare`), and the tasks in which
          the run is `higher` and `lower`.
        - notes on what a reader should know before the figures.

    Raises:
        UsageError: Fewer than two runs, one that stands there twice, two that have no task and
            trial in common or measure otherwise, a folder that holds something else, or a judge
            where nothing is judged.
        UnknownNameError: No run has the metric; names the closest.
        DataError: A folder is no run, is not scored, or a file of it is damaged; preferences are of
            other runs or in another format.
    """
    from seal.api.objects.comparison import Comparison
    from seal.api.objects.frames import folders_of
    from seal.experiments.comparison.study import CompareSettings
    from seal.experiments.preferring import PreferenceSettings
    from seal.report.comparison import compare as beside

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
        run: What `seal.run` returned, or its folder; an actor or a responder said something in it.
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
    from seal.experiments.labelling import export_goals
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
    from seal.experiments.labelling import import_labels
    from seal.runs.run_folder import RunFolder

    return import_labels(RunFolder.open(folder_of(run)), [Path(file) for file in files])
