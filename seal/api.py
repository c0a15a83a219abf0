"""What the command line does, as Python functions; `seal` exports them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from seal.core.errors import UnknownNameError, UsageError
from seal.core.registry import Registry, load_dotted
from seal.pipeline.settings import RunSettings

if TYPE_CHECKING:
    from seal.benchmarks import ImportReport, StoredPool
    from seal.benchmarks.catalogue import Entry
    from seal.benchmarks.counting import PoolCounts
    from seal.benchmarks.fetching import FetchReport
    from seal.benchmarks.lint.lint import LintReport
    from seal.generation.missions.generate import Generated
    from seal.generation.queries.generate import GeneratedQueries
    from seal.models.probe import Way
    from seal.pipeline.ablation.ablate import AblationResult
    from seal.pipeline.annotation import Imported
    from seal.pipeline.drawing import Size
    from seal.pipeline.run import Progress, RunResult
    from seal.pipeline.sweep.sweep import SweepResult

REGISTRIES = {
    "agent": "seal.agents:REGISTRY",
    "benchmark": "seal.benchmarks:REGISTRY",
    "embedder": "seal.retrievers.embedders:EMBEDDERS",
    "metric": "seal.evaluation:REGISTRY",
    "model": "seal.models:REGISTRY",
    "retriever": "seal.retrievers:REGISTRY",
    "section": "seal.report.sections:SECTIONS",
    "simulator": "seal.simulator_cache:REGISTRY",
    "team": "seal.agents.teams:REGISTRY",
    "template": "seal.retrievers.documents:TEMPLATES",
    "trajectories": "seal.benchmarks.importer:RECORDINGS",
    "world": "seal.worlds:REGISTRY",
}
"""Kind of plug-in to where its registry stands."""


def run(
    pool: str | Path = "sample",
    *,
    out: str | Path | None = None,
    resume: bool = False,
    progress: Callable[[Progress], None] | None = None,
    **settings: Any,
) -> RunResult:
    """Play a benchmark's tasks and score them.

    Args:
        pool: A shipped benchmark's name, or a folder that `import_benchmark` wrote.
        out: Run folder; None: a new one under `runs/`.
        resume: Go on with the run in `out`.
        progress: Told how far the run is, as chats end.
        **settings: Fields of `RunSettings`; models, retrievers, agents and simulators may be
            objects, names or dotted paths.

    Returns:
        The run's folder, its summary, and the exit code of `seal run`.

    Raises:
        UnknownNameError: No such setting; names the closest.
        UsageError: A setting that no run can have.
        DataError: The pool is malformed.
    """
    from seal.pipeline.run import run as play

    _check_settings(settings, RunSettings)
    asked = RunSettings(pool=pool, **settings)
    return play(asked, None if out is None else Path(out), resume, progress)


def plan_run(pool: str | Path = "sample", **settings: Any) -> dict[str, Any]:
    """Return what a run would ask its models and what that would cost; asks nobody.

    Args:
        pool: A shipped benchmark's name, or a folder that `import_benchmark` wrote.
        **settings: Fields of `RunSettings`.

    Returns:
        As of `seal.pipeline.spending.plan.plan`: chats, and by role model calls, tokens, dollars.

    Raises:
        UnknownNameError: No such setting; names the closest.
        UsageError: A setting that no run can have, or `max_dollars` for a model without a price.
        DataError: The pool, or the file of prices, is malformed.
    """
    from seal.pipeline.spending.plan import plan

    _check_settings(settings, RunSettings)
    return plan(RunSettings(pool=pool, **settings))


def sweep(
    pool: str | Path = "sample",
    *,
    pool_sizes: Sequence[Size] = ("all",),
    top_k: int | Sequence[int] = 10,
    out: str | Path | None = None,
    resume: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
    **settings: Any,
) -> SweepResult:
    """Play a benchmark end to end over drawn pools of several sizes, and with each of several K.

    Args:
        pool: A shipped benchmark's name, or a folder that `import_benchmark` wrote.
        pool_sizes: Numbers of tools, and "all".
        top_k: Tools that a chat is offered; one number or several.
        out: Folder of the sweep; None: a new one under `runs/`. It gets sweep.json, sweep.csv, for
            each drawn pool a pool folder and its runs, and with the extra `experiments`
            sweep.parquet and figures.
        resume: Go on with the sweep in `out`: finished runs are skipped; `samples` may be more.
        progress: Told the stage, how many of its items are done, and how many there are.
        **settings: Fields of `seal.pipeline.sweep.settings.SweepSettings` (samples, distractors,
            queries_in, nested, queries) and of `RunSettings`. The retriever is tfidf where none is
            named; baselines are played where asked for.

    Returns:
        The folder, the content of sweep.json (`seal.frame` makes a pandas frame of it), and the
        exit code of `seal run`. The content has `rows`, one for each run, and `results`, the means
        and deviations over the samples of each size and K with intervals over tasks.

    Raises:
        UnknownNameError: No such setting, pool or plug-in; names the closest.
        UsageError: A size beyond the pool or without a query, the retriever `given`, a setting
            that no run can have, or a folder that holds something else.
        DataError: The pool is malformed.
    """
    from seal.pipeline.sweep.settings import SweepSettings
    from seal.pipeline.sweep.sweep import sweep as play
    from seal.report.experiment import write_sweep

    own = {setting.name for setting in fields(SweepSettings)}
    varied = {name: value for name, value in settings.items() if name in own}
    others = {name: value for name, value in settings.items() if name not in own}
    _check_settings(others, RunSettings, SweepSettings)
    ks = (top_k,) if isinstance(top_k, int) else tuple(top_k)
    asked = SweepSettings(pool_sizes=tuple(pool_sizes), top_k=ks, **varied)
    played = play(
        RunSettings(pool=pool, **{"baselines": False, **others}),
        asked,
        None if out is None else Path(out),
        resume,
        progress,
    )
    played.content["notes"] += write_sweep(played.content, played.folder)
    return played


def ablate(
    what: str,
    pool: str | Path = "toolscan-sample",
    *,
    retrievers: Sequence[Any] = (),
    ablated_roles: Sequence[str] = (),
    out: str | Path | None = None,
    resume: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
    **settings: Any,
) -> AblationResult:
    """Play a benchmark under conditions that differ in one thing, and say what that thing does.

    Args:
        what: feedback (on, off), format (native, action, json), react (react, plain), retriever
            (those of `retrievers`), irrelevance (tasks that no tool serves, and the answerable ones
            that they were made of), similarity (one run: its error rates by environment against
            the likeness of the environments' tool names), injection (gold in the place of a stage:
            plain, tools, calls, results, all), roles (none, each alone, all), tools (created,
            recorded) or apps (hierarchical, flat).
        pool: A shipped benchmark's name, or a folder that `import_benchmark` wrote.
        retrievers: Those to compare, at least two; none: tfidf, bm25, oracle.
        ablated_roles: Those of the ablation `roles`; none: planner, verifier, checker.
        out: Folder of the ablation; None: a new one under `runs/`. It gets comparison.json,
            comparison.md, a run folder for each condition, and of similarity with the extra
            `experiments` a figure.
        resume: Go on with the ablation in `out`.
        progress: Told the stage, how many of its items are done, and how many there are.
        **settings: Fields of `RunSettings`, but for what is varied. Baselines are played where
            asked for; `limit` counts irrelevant tasks where these are compared.

    Returns:
        The folder, the content of comparison.json, and the exit code of `seal run`.

        - runs: for each condition {condition, tasks, errors, error_reasons, skipped, usage,
          metrics}.
        - comparisons: for every two conditions and each metric the paired difference
          (`seal.pipeline.comparison.pairs.compare`).
        - kinds, of irrelevance: for each kind the shares that abstained, with intervals
          (`seal.evaluation.abstention` says what that is).
        - points and correlations, of similarity (`seal.pipeline.ablation.similarity`).
        - costs, of injection: for each metric what each stage costs
          (`seal.pipeline.ablation.injection.costs_of`).
        - roles, of roles: for each condition what each role did (`seal.evaluation.role_work`).
        - protocol, system, and notes on what was left out.

    Raises:
        UnknownNameError: No such ablation, setting or plug-in; names the closest.
        UsageError: A setting that is varied, one that no run can have, a pool that has nothing to
            compare, or a folder that holds something else.
        DataError: The pool is malformed.
    """
    from seal.pipeline.ablation.ablate import ablate as play
    from seal.pipeline.ablation.conditions import ablation_named
    from seal.report.experiment import write_ablation

    ablation = ablation_named(what)
    varied = "" if ablation.option else ablation.field
    if varied and varied in settings:
        repair = ": name several by `retrievers`" if varied == "retriever" else ": leave it out"
        raise UsageError(f"{varied} is what the ablation {what} varies{repair}")
    _check_settings(settings, RunSettings)
    asked = RunSettings(pool=pool, **{"baselines": False, **settings})
    place = None if out is None else Path(out)
    played = play(what, asked, retrievers, place, resume, progress, ablated_roles)
    played.content["notes"] += write_ablation(played.content, played.folder)
    return played


def score(run: str | Path, **options: Any) -> dict[str, Any]:
    """Score a run's trajectories again, without a chat.

    Args:
        run: Run folder; its scores and its summary are replaced.
        **options: Of `seal.pipeline.rescore.rescore`: judge, judge_model...

    Returns:
        The summary.

    Raises:
        DataError: No run in the folder.
        UsageError: A judge that cannot be, or another process writes the run.
    """
    from seal.pipeline.rescore import rescore

    return rescore(Path(run), **options)


def export_ratings(run: str | Path, out: str | Path, *, n: int = 50, seed: int = 0) -> int:
    """Write a sample of a run's turns for people to rate from 1 to 5, without the system's name.

    Args:
        run: Run folder, of which an actor or a responder said something.
        out: The CSV file.
        n: Turns, at most.
        seed: Of the sample and its order.

    Returns:
        How many turns were written.

    Raises:
        OptionError: n is less than 1.
        DataError: No run in the folder, or nothing to rate.
    """
    from seal.pipeline.annotation import export_items
    from seal.pipeline.run_folder import RunFolder

    return export_items(RunFolder.open(run), Path(out), n, seed)


def import_ratings(run: str | Path, files: Sequence[str | Path]) -> Imported:
    """Take people's ratings in; the run's report and summary show them.

    Args:
        run: The run that was exported; ratings taken in before are kept.
        files: Each one rater's, or with a column `rater`.

    Returns:
        Mean, agreement, and each row that could not be taken, with the reason.

    Raises:
        OptionError: A file cannot be read.
        DataError: No run in the folder, or a file without the columns `item` and `rating`.
    """
    from seal.pipeline.annotation import import_ratings
    from seal.pipeline.run_folder import RunFolder

    return import_ratings(RunFolder.open(run), [Path(file) for file in files])


def explain(
    run: Any,
    *,
    metric: str | None = None,
    examples: int = 3,
    out: str | Path | None = None,
) -> dict[str, Any]:
    """Attribute each failed goal of a scored run to the first stage that explains it.

    The stages are those of `seal.evaluation.attribution`; no model is asked, and the run folder is
    all that is read.

    Args:
        run: A folder, a `RunFolder`, or what `seal.run` returned.
        metric: Whose verdict counts; None: mission_accuracy of missions, awareness, selection and
            execution of turns of dialogues, else goal_state or pass_rate.
        examples: Most of each stage.
        out: Folder for explanation.json, explanation.md and, with the extra `experiments`,
            figures/waterfall.svg and .png; None: nothing is written.

    Returns:
        goals, solved, errors, failed, partly, decided_by, stages (the waterfall, with shares,
        intervals, causes and examples), unexplained, attributions, excluded
        (`seal.pipeline.explanation.explain` says what each is).

    Raises:
        DataError: The folder is no scored run, nothing was played, or a file is damaged.
        UsageError: A metric without a value, or a folder that holds something else.
    """
    from seal.report.explanation import explain as of_run

    folder = getattr(run, "folder", run)
    path = Path(getattr(folder, "path", folder))
    return of_run(path, metric, examples, None if out is None else Path(out))


def compare(
    runs: Sequence[Any],
    *,
    pairs: Literal["first", "all"] = "first",
    metrics: Sequence[str] = (),
    success: str | None = None,
    force: bool = False,
    seed: int = 0,
    resamples: int = 10_000,
    win_rate: bool = False,
    out: str | Path | None = None,
    **judging: Any,
) -> dict[str, Any]:
    """Compare runs of one benchmark, paired by task, trial and goal.

    Args:
        runs: Two or more: folders, `RunFolder`s, or what `seal.run` returned; the first is the
            base.
        pairs: first: each run less the first; all: of every two the later less the earlier.
        metrics: Those to compare; none: all that the runs have.
        success: Metric of which 1 is a solved task; None: the first of pass_rate, success,
            mission_accuracy and similarity that both runs have.
        force: Compare runs that do not measure the same.
        seed: Of intervals and tests.
        resamples: Of each interval and test.
        win_rate: Ask in both orders which of two runs served each goal better.
        out: Folder for comparison.json, .md, .tex (booktabs) and .html; None: nothing is written.
        **judging: Who is asked: judge_model, votes, model_options, base_url, cache_dir
            (`seal.pipeline.preferring.PreferenceSettings`); without a model the labels of the runs'
            pass rates decide.

    Returns:
        The content of comparison.json.

        - protocol: how it was compared; p is corrected by Holm over `family` (the metrics asked
          for, else those of the report's short table) and all pairs of runs.
        - differs: what the runs measure otherwise, where they were compared all the same.
        - runs: for each {run, path, model, tasks, chats, trials}.
        - pairs: for each two runs {run, other, matched, alone, other_alone, success, flips,
          passes, win_rate}: how much has a partner, which tasks were won and lost
          (`seal.pipeline.comparison.verdicts.flips_of`), pass^k and pass@k (`passes_of`), and the
          win rate (`seal.pipeline.preferring.win_rate`), None where it was not asked for.
        - comparisons: for each two runs and metric the paired difference, what was detectable and
          what would find it (`seal.pipeline.comparison.pairs.compare`), and the tasks in which the
          run is `higher` and `lower`.
        - notes on what a reader should know before the figures.

    Raises:
        UsageError: Fewer than two runs, one that stands there twice, two that have no task and
            trial in common or measure otherwise, a folder that holds something else, or a judge
            where nothing is judged.
        UnknownNameError: No run has the metric; names the closest.
        DataError: A folder is no run, is not scored, or a file of it is damaged.
    """
    from seal.pipeline.comparison.study import CompareSettings
    from seal.pipeline.preferring import PreferenceSettings
    from seal.report.comparison import compare as beside

    needless = sorted(judging.keys() & {"judge_model", "votes"})
    if needless and not win_rate:
        raise UsageError(
            f"{', '.join(needless)}: a comparison asks a judge for the win rate alone: add "
            "--win-rate (from Python win_rate=True)"
        )
    preference = PreferenceSettings(**judging) if win_rate else None

    folders = [getattr(run, "folder", run) for run in runs]
    paths = [Path(getattr(folder, "path", folder)) for folder in folders]
    asked = CompareSettings(pairs, tuple(metrics), success, force, seed, resamples, preference)
    return beside(paths, asked, None if out is None else Path(out))


def retrieve(
    pools: str | Path | Sequence[str | Path],
    retrievers: Any = "tfidf",
    k: int | Sequence[int] = (1, 5, 10),
    *,
    out: str | Path | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    on_result: Callable[[Mapping[str, Any]], None] | None = None,
    **settings: Any,
) -> dict[str, Any]:
    """Rank every goal's tools with every retriever over every pool, and score the rankings.

    Args:
        pools: Names or folders; a single one may stand alone.
        retrievers: Names, texts NAME,KEY=VALUE..., dotted paths, classes or objects; a single one
            may stand alone.
        k: Cut-offs; the largest is the length of a ranking.
        out: Folder for results.json, results.csv, rankings, TREC run and qrels files, draws.jsonl
            (the queries of each sample, the tools of each drawn pool), and with the extra
            `experiments` results.parquet and figures: new or empty. None: nothing is written.
        progress: Told the stage, how many of its items are done, and how many there are.
        on_result: Told each entry of `results` when it is there.
        **settings: Fields of `seal.pipeline.retrieval.settings.RetrievalSettings`: pool_sizes,
            samples, distractors, queries_in, nested, queries, seed, options, select, limit,
            held_out, cache, cache_dir.

    Returns:
        The content of results.json; `seal.frame` makes a pandas frame of it.

        - results: for each pool, size and retriever {pool, pool_digest, size, tools, samples,
          queries, queries_deviation, retriever, identity, metrics: {name: {mean, deviation, n, low,
          high}}, by_sample}; where the retriever could not be asked, `unavailable` says why and
          `metrics` is empty. `mean` is that of the samples' means, `deviation` theirs by n - 1,
          `low` and `high` the 95 % bootstrap interval over tasks. Of a whole pool a metric has
          `undefined` (queries without relevant tools) and `by` (the same figures by group) too. Of
          a trained model `in_source` tells whether this is the pool of its training, and there
          `training_queries` how many of the queries asked it was trained on.
        - comparisons: for each pool, size and pair of retrievers the paired difference in recall
          and mrr at the largest K, its interval, and the probability of a randomisation test, alone
          and corrected by Holm over all comparisons of that metric.
        - protocol, versions, pools, retrievers, and notes on what was left out.

    Raises:
        UnknownNameError: No such setting, pool, retriever or option; names the closest.
        UsageError: No pool or retriever, a cut-off below 1, a pool size beyond every pool, too few
            queries, an option that is a service's key, or a folder that holds something else.
        DataError: A pool is malformed.
    """
    from seal.pipeline.retrieval.experiment import retrieve as rank
    from seal.pipeline.retrieval.settings import RetrievalSettings
    from seal.report.experiment import write_tables_and_figures

    _check_settings(settings, RetrievalSettings)
    places = [pools] if isinstance(pools, str | Path) else list(pools)
    several = isinstance(retrievers, (list, tuple))
    cutoffs = (k,) if isinstance(k, int) else tuple(k)
    asked = RetrievalSettings(k=cutoffs, **settings)
    folder = None if out is None else Path(out)
    entered = retrievers if several else [retrievers]
    result = rank(places, entered, asked, folder, progress, on_result)
    if folder is not None:
        result["notes"] += write_tables_and_figures(result, folder)
    return result


def train_retriever(
    pool: str | Path,
    base: str = "all-MiniLM-L6-v2",
    out: str | Path = "retriever",
    *,
    test_on: str | Path | Sequence[str | Path] = (),
    resume: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
    **settings: Any,
) -> dict[str, Any]:
    """Train a sentence-transformers model to retrieve a pool's tools, and measure what it gained.

    The model learns that a query lies nearer to the documents of its tools than to the other
    documents of its batch. `seal.retrieve(pool, "dense,model=OUT")` uses it.

    Args:
        pool: A shipped benchmark's name, or a folder that `import_benchmark` wrote.
        base: The model to begin with: a name or a folder.
        out: New folder for the model and its training.json.
        test_on: Foreign pools to test on too; a single one may stand alone.
        resume: Go on with the training in `out`, from its newest checkpoint.
        progress: Told the stage, how many of its items are done, and how many there are.
        **settings: Further fields of `seal.pipeline.training.settings.TrainSettings`: split,
            held_out, drop_near_duplicates, threshold, steps, epochs, batch_size, learning_rate,
            max_length, checkpoint_every, device, template, seed, k, test_queries, select, limit,
            cache, cache_dir.

    Returns:
        The content of training.json.

        - pool, pool_digest, base, base_identity, template, seed, split (with the ids of its tasks
          and held-out tools), hyper_parameters, counts, versions, and losses: [{step, loss}].
        - near_duplicates: training queries that are nearly the same as a test query: {threshold,
          train_queries, test_queries, same_text, dropped, examples, pools}. `pools`: for each
          tested pool {pool, pool_digest, in_source, queries, same_text, near, left_out, examples}:
          of its queries those that stand in training, those that are near a training query (the
          former too), and those that were therefore not measured; nothing is left out of the
          training pool's held-out queries.
        - results and comparisons as of `seal.retrieve`, of the retrievers "before" and "after" on
          the tasks held out and on the foreign pools; a comparison is after less before. A foreign
          pool that has no query left is `unavailable`.
        - gap: recall and mrr at the largest K in the pool less the mean of the foreign pools,
          before and after; None where no foreign pool was measured.

    Raises:
        MissingExtraError: The extra `training` is not installed.
        UnknownNameError: No such setting, pool or template; names the closest.
        UsageError: No such base model, a setting that no training can have, or a folder that holds
            something else or a training of other settings.
        DataError: A pool is malformed, or has too little to train on.
    """
    from seal.pipeline.training.settings import TrainSettings
    from seal.pipeline.training.train import train_retriever as train

    _check_settings(settings, TrainSettings)
    places = [test_on] if isinstance(test_on, str | Path) else list(test_on)
    asked = TrainSettings(base=str(base), **settings)
    return train(pool, Path(out), asked, places, resume, progress)


def load_pool(pool: str | Path) -> StoredPool:
    """Return the tools and tasks of a benchmark.

    Args:
        pool: A shipped benchmark's name, or a folder that `import_benchmark` wrote.

    Raises:
        UnknownNameError: Nothing of that name.
        UsageError: A known benchmark whose files are not here.
        DataError: The folder is no pool.
    """
    from seal.pipeline.pools import open_pool

    return open_pool(pool)


def catalogue() -> dict[str, Entry]:
    """Return every benchmark that SEAL knows by name, whether or not its files are here.

    An entry says what the benchmark is, what gold it has, how it is imported, and in `paper_counts`
    what Table 1 of the SEAL paper counts; `seal.count` counts a pool in the same way.
    """
    from seal.benchmarks.catalogue import catalogue as entries

    return dict(entries())


def count(pool: str | Path) -> PoolCounts:
    """Count a pool as Table 1 of the SEAL paper does, and its tasks by what is gold about them.

    Args:
        pool: A shipped benchmark's name, or a folder that `import_benchmark` wrote; it may have no
            task.

    Raises:
        UnknownNameError: Nothing of that name.
        UsageError: A known benchmark whose files are not here.
        DataError: The folder is no pool, or a line of it is bad.
    """
    from seal.benchmarks.counting import count_stored
    from seal.pipeline.pools import open_pool

    return count_stored(open_pool(pool))


def import_benchmark(
    name: str, source: str | Path, out: str | Path, trajectories: bool = False, **options: Any
) -> ImportReport:
    """Import a benchmark's upstream files into a pool folder, or recorded chats into a run.

    Args:
        name: Of the importer, or a dotted path to one.
        source: File or folder as upstream publishes it.
        out: Folder to make; an earlier pool there is replaced, a run is not.
        trajectories: Whether the source holds recorded chats: `out` becomes a run folder, which
            `seal.score` takes.
        **options: Of the importer.

    Raises:
        UsageError: No such importer or source, or `out` may not be replaced.
        UnknownNameError: The importer has no such option.
        DataError: The source is malformed or holds nothing; nothing is left behind.
    """
    from seal.benchmarks import import_benchmark as read
    from seal.pipeline.recorded_run import import_run

    if trajectories:
        return import_run(name, Path(source), Path(out), options)
    return read(name, Path(source), Path(out), **options)


def augment(pool: str | Path, augmentations: str | Sequence[str], out: str | Path) -> ImportReport:
    """Write a benchmark again, each task with distraction tools or with scrambled ones.

    Args:
        pool: A shipped benchmark's name, or a folder that `import_benchmark` wrote; it stays.
        augmentations: Each gives every task once more: `distraction=N`, `distraction=all`,
            `names`, `descriptions`, `argument-descriptions`, `argument-types`, several of these
            joined by commas, or `toolsandbox`, which are the eight of ToolSandbox.
        out: Folder to make; the same augmentation there is replaced.

    Raises:
        UnknownNameError: No such augmentation or pool.
        UsageError: A number of tools below 0, several ways to scramble a pool that is retrieved
            from, or `out` may not be replaced.
        DataError: The pool is malformed, or no task of it can be augmented.
    """
    from seal.benchmarks.augment import augment_stored, parse_augmentations
    from seal.pipeline.pools import open_pool

    texts = [augmentations] if isinstance(augmentations, str) else augmentations
    return augment_stored(open_pool(pool), Path(out), parse_augmentations(texts))


def generate_missions(
    pool: str | Path,
    out: str | Path,
    *,
    review: str | Path | None = None,
    cache_dir: str | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
    **settings: Any,
) -> Generated:
    """Make dialogues of related missions over a pool's tools, and of them a pool to run.

    Args:
        pool: A shipped benchmark's name, or a folder that `import_benchmark` wrote.
        out: Folder to make; one begun under the same settings is gone on with.
        review: File that gets the candidates of every mission, and whose edited choices are taken.
        cache_dir: Where answers of models and simulators are kept; None: as `seal.run` has it.
        progress: Told how many dialogues are done, and how many there are.
        **settings: Fields of `seal.generation.missions.settings.MissionSettings`; the model may be
            a name, a model, or an object of `seal.generation.missions.scenes.Speakers`.

    Returns:
        What `import.json` says, and the dialogues that the infrastructure failed at.

    Raises:
        UnknownNameError: No such setting, pool or model; names the closest.
        UsageError: A setting that cannot be, or `out` holds something else.
        DataError: Not one dialogue could be made, or a file is malformed.
        InfrastructureError: Not one could be made yet: a model's server or a store failed.
    """
    from seal.core.store import FILE_NAME, Store
    from seal.generation.missions.generate import generate_missions as make
    from seal.generation.missions.settings import MissionSettings
    from seal.pipeline.places import cache_folder
    from seal.pipeline.pools import open_pool

    _check_settings(settings, MissionSettings)
    with Store(cache_folder(cache_dir) / FILE_NAME) as store:
        return make(
            open_pool(pool),
            Path(out),
            MissionSettings(**settings),
            store,
            review=None if review is None else Path(review),
            progress=progress or (lambda done, total: None),
        )


def generate_tools(
    descriptions: str | Path,
    out: str | Path,
    *,
    model: Any = None,
    base_url: str | None = None,
    model_options: Mapping[str, Any] | None = None,
    form: str = "seal",
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Write a tool for each one-sentence description, checked by rule.

    Args:
        descriptions: File of them (`seal.generation.tools.descriptions`).
        out: Folder to make; one begun under the same settings is gone on with.
        model: Name of a model, or a model, that writes; None: a grammar does.
        base_url: Address of the model's server; None: the provider's own.
        model_options: Of the model, as `seal run -M` takes them.
        form: seal: a pool; mmtb: tool lists, as `seal.import_benchmark("mmtb", ...)` reads them.
        seed: Another seed gives other tools.
        progress: Told how many are done, and how many there are.

    Returns:
        Counts: tools, lists, what was dropped and why, how rich the parameters are.

    Raises:
        UnknownNameError: No such form.
        UsageError: A setting that cannot be, or `out` holds something else.
        DataError: The descriptions are malformed, or none of them became a tool.
        ModelError: The model's server failed; what is done is kept.
    """
    from seal.generation.tools.generate import generate_tools as make
    from seal.generation.tools.grammar import GrammarWriter
    from seal.generation.tools.models import ModelWriter
    from seal.generation.tools.writing import Writer
    from seal.generation.writing_models import writing_model
    from seal.models import ModelSettings

    options = dict(model_options or {})
    if model is None and (options or base_url):
        raise UsageError("options and an address are a model's: name the model too")
    writer: Writer = GrammarWriter(seed)
    if model is not None:
        told = ModelSettings.from_options(options, base_url=base_url)
        writer = ModelWriter(writing_model(model, told, "tools"), seed)
    return make(Path(descriptions), Path(out), writer, form=form, seed=seed, progress=progress)


def generate_queries(
    pool: str | Path,
    out: str | Path,
    *,
    model: Any = None,
    base_url: str | None = None,
    model_options: Mapping[str, Any] | None = None,
    review: str | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
    **settings: Any,
) -> GeneratedQueries:
    """Make harder queries of a pool's tasks: constraints, paraphrases, requests no tool serves.

    Args:
        pool: A shipped benchmark's name, or a folder that `import_benchmark` wrote.
        out: Folder to make; one begun under the same settings is gone on with.
        model: Name of a model, or a model, that writes; None: a grammar does.
        base_url: Address of the model's server; None: the provider's own.
        model_options: Of the model, as `seal run -M` takes them.
        review: Table (CSV) that gets the queries, and whose edited words are taken.
        progress: Told how many seeds and kinds are done, and how many there are.
        **settings: Fields of `seal.generation.queries.settings.QuerySettings`: kinds, per_seed,
            limit, seed, name.

    Returns:
        What `import.json` says, and the counts.

    Raises:
        UnknownNameError: No such setting, kind, pool or model; names the closest.
        UsageError: A setting that cannot be, the pool has no seed, or `out` holds something else.
        DataError: No query was kept, or a file is malformed.
        ModelError: The model's server failed; what is done is kept.
    """
    from seal.generation.queries.generate import generate_queries as make
    from seal.generation.queries.models import ModelWriter
    from seal.generation.queries.settings import QuerySettings
    from seal.generation.writing_models import writing_model
    from seal.models import ModelSettings
    from seal.pipeline.pools import open_pool

    _check_settings(settings, QuerySettings)
    chosen = QuerySettings(**settings)
    options = dict(model_options or {})
    if model is None and (options or base_url):
        raise UsageError("options and an address are a model's: name the model too")
    writer = None
    if model is not None:
        told = ModelSettings.from_options(options, base_url=base_url)
        writer = ModelWriter(writing_model(model, told, "queries"), chosen.seed)
    return make(
        open_pool(pool),
        Path(out),
        chosen,
        writer,
        review=None if review is None else Path(review),
        progress=progress or (lambda done, total: None),
    )


def fetch(name: str, out: str | Path, *, mirror: str | None = None) -> FetchReport:
    """Download a benchmark's upstream files, each checked against its SHA-256.

    Args:
        name: Of the benchmark, as in `seal benchmarks`.
        out: Folder to put them in; whole files that are there stay and are not asked for.
        mirror: Address that stands for the repository's folder at the commit.

    Raises:
        UnknownNameError: No such benchmark.
        UsageError: Its files cannot be downloaded (the text says where they are), or written.
        DataError: A file came, or is there, with another content.
        InfrastructureError: The server cannot be reached or refused.
    """
    from seal.benchmarks.fetching import fetch as download

    return download(name, Path(out), mirror)


def lint(pool: str | Path, *, threshold: float = 90.0) -> LintReport:
    """Return what is wrong or doubtful in a pool; nothing is changed.

    Args:
        pool: A shipped benchmark's name, or a folder that `import_benchmark` wrote.
        threshold: Least likeness of near-duplicate tools, in (0, 100].

    Raises:
        UnknownNameError: Nothing of that name.
        UsageError: A known benchmark whose files are not here, or a threshold beyond its range.
        DataError: The folder is no pool.
    """
    from seal.benchmarks.lint.lint import lint as check
    from seal.pipeline.pools import open_pool

    return check(open_pool(pool).folder, threshold)


def probe(model: Any, *, base_url: str | None = None, **options: Any) -> list[Way]:
    """Ask a model whether it makes calls, several at once, and uses results, in each format.

    Args:
        model: As of a run: PROVIDER/MODEL, a registered name, a dotted path or an object.
        base_url: Its server.
        **options: Of the model, such as `timeout_s`.

    Returns:
        One for each format and way of giving results, the better ones first; `works` tells whether
        the model can be played so. Ten small requests in all, none of them kept.

    Raises:
        UnknownNameError: No such model.
        UsageError: The model plays tasks, of which there is none here.
        ModelError: The server cannot be reached, or takes no request at all.
    """
    from seal.models import ModelSettings, build_model
    from seal.models.probe import probe as ask

    settings = ModelSettings.from_options(options, base_url=base_url)
    return ask(build_model(model, settings), model)


def register(kind: str, name: str, plugin: Any) -> None:
    """Make a plug-in known by name in this process.

    Args:
        kind: agent, benchmark, embedder, metric, model, retriever, section (of the report),
            simulator, team or template (of a tool's document).
        name: What settings and flags call it.
        plugin: An object or class of that kind (`seal.core.protocols`).

    Raises:
        UnknownNameError: No such kind.
        UsageError: The name is taken.
    """
    if kind not in REGISTRIES:
        raise UnknownNameError("kind of plug-in", kind, REGISTRIES)
    registry: Registry = load_dotted(REGISTRIES[kind])
    registry.register(name, plugin)


def _check_settings(settings: Iterable[str], *kinds: type) -> None:
    """Raise UnknownNameError where a setting is no field of the dataclasses."""
    known = {setting.name for kind in kinds for setting in fields(kind)}
    for name in settings:
        if name not in known:
            raise UnknownNameError("setting", name, known)
