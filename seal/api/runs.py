"""Functions that play: `run`, `plan_run`, `sweep`, `ablate`, `groupchat`; `retrieve`, `split`."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, cast

from seal.agents.replies import Brief
from seal.api.run_result import Run
from seal.core import CacheMode, Task, Unrecorded, UsageError, check_name, shortened
from seal.core.call_formats import Format
from seal.core.settings import checked
from seal.experiments.settings import (
    Distractors,
    QueriesIn,
    RetrievalSettings,
    Size,
    SweepSettings,
)
from seal.pools.benchmark import Benchmark, OwnTool
from seal.pools.lookup import Bench, bench_of, known_benchmark, open_pool
from seal.retrievers import build
from seal.runs.resolve import AgentUnderTest, trying
from seal.runs.role_models import check_flags_used
from seal.runs.run import RunFolder
from seal.runs.settings import (
    AgentChoice,
    Feedback,
    GivenElse,
    History,
    MetricChoice,
    ModelChoice,
    Origin,
    Retrieve,
    RetrieverChoice,
    RunSettings,
    SimulatorChoice,
    TeamChoice,
)

if TYPE_CHECKING:
    from seal.agents.group import Group
    from seal.api.comparisons import Ablation
    from seal.api.experiment_results import PoolSplit, Retrieval, RunPlan, Sweep
    from seal.experiments.splits import SplitKind
    from seal.runs.play import Progress

# -- Playing a benchmark: one run, what it would cost, and runs that vary a thing.


@checked
def run(
    bench: Bench | Sequence[Task] = "sample",
    *,
    agent: AgentUnderTest | None = None,
    tools: Sequence[OwnTool] = (),
    out: str | Path | None = None,
    resume: bool = False,
    progress: Callable[[Progress], None] | None = None,
    **options: Unpack[RunOptions],
) -> Run:
    """Play a benchmark's tasks and score them.

    Args:
        bench: A benchmark, the name of one or its dotted path, or a pool folder. A list of tasks
            does too, with `tools`.
        agent: What is tried. None: the role under test is played by `model`.

            - a model, or its name
            - a team (`seal.Team`), or an object or class with `reply(chat)`
            - a function of (request, tools), plain or async, that returns the answer
            - a dotted path `package.module:attribute` to one of these
            - `bridge:COMMAND` or `bridge:URL`, for an agent that runs elsewhere
        tools: Functions, schemas or `seal.Tool` records, for tasks that are given as a list.
        out: Run folder. None: a new one under `runs/`.
        resume: Continue the run in `out`.
        progress: Called with the state of the run whenever a chat ends.
        **options: Fields of `seal.runs.settings.RunSettings`, such as `model`, `retriever`,
            `trials`, `limit`, `metrics` and `seed`. Models, retrievers, agents and simulators may
            be objects, names or dotted paths.

    Returns:
        The run: `["pass_rate"].mean`, the frames `.scores`, `.calls`, `.messages` and `.tasks`,
        `.table()`, `.plot()`, `.report()`, `.folder`, `.summary`, and the `.exit_code`.

    Raises:
        UnknownNameError: There is no such setting, benchmark or plug-in; the text names the
            closest.
        UsageError: A setting has a value that no run can have.
        DataError: The pool is malformed.

    Example:
        >>> import seal
        >>> def get_order(order_id: str) -> dict:
        ...     "Look an order up."
        ...     return {"ships": "Monday"}
        >>> task = seal.ask("When does order 7 ship?", seal.called("get_order", order_id="7"))
        >>> shop = seal.Benchmark("shop", tools=[get_order], tasks=[task])
        >>> run = seal.run(shop, agent="lexical", baselines=False)
        >>> run["call_f1"].mean
        1.0
    """
    from seal.runs.play import run as play

    asked = settings_of(bench, options, agent, tools)
    check_flags_used(asked)
    played = play(asked, None if out is None else Path(out), resume, progress)
    own = bench if isinstance(bench, Benchmark) and not known_benchmark(bench.name) else None
    return Run(played.folder, played.summary, played.exit_code, own)


@checked
def plan_run(
    bench: Bench | Sequence[Task] = "sample",
    *,
    agent: AgentUnderTest | None = None,
    tools: Sequence[OwnTool] = (),
    **options: Unpack[RunOptions],
) -> RunPlan:
    """Return what a run would ask its models and what that would cost.

    No model is asked.

    Args:
        bench: What would be played, as in `seal.run`.
        agent: What would be tried, as in `seal.run`.
        tools: Those of tasks that are given as a list.
        **options: As in `seal.run`.

    Returns:
        The plan: `.chats`, `.requests`, `.tokens_in`, `.tokens_out`, `.dollars` and `.table()`. Its
        `.content` says the same for each role (`seal.runs.cost_plan.plan`).

    Raises:
        UnknownNameError: There is no such setting; the text names the closest.
        UsageError: A setting has a value that no run can have, or `max_dollars` is given and a
            model has no price.
        DataError: The pool, or the file of prices, is malformed.

    Example:
        >>> import seal
        >>> plan = seal.plan_run("sample", model="openai/gpt-4o", limit=2, baselines=False)
        >>> plan.chats, plan.requests
        (2, 8)
    """
    from seal.api.experiment_results import RunPlan
    from seal.runs.cost_plan import plan

    return RunPlan(plan(settings_of(bench, options, agent, tools)))


@checked
def sweep(
    bench: Bench | Sequence[Task] = "sample",
    *,
    agent: AgentUnderTest | None = None,
    tools: Sequence[OwnTool] = (),
    pool_sizes: Sequence[Size] = ("all",),
    top_k: int | Sequence[int] = 10,
    out: str | Path | None = None,
    resume: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
    **options: Unpack[SweepOptions],
) -> Sweep:
    """Play a benchmark over pools of several sizes, and with several numbers of offered tools.

    Args:
        bench: What is played, as in `seal.run`.
        agent: What is tried, as in `seal.run`.
        tools: Those of tasks that are given as a list.
        pool_sizes: Numbers of tools, and "all".
        top_k: How many tools a chat is offered; one number or several.
        out: Folder of the sweep. None: a new one under `runs/`. It gets sweep.json, sweep.csv, and
            a pool folder and its runs for each drawn pool. The extra `experiments` adds
            figures.
        resume: Continue the sweep in `out`. Finished runs are skipped; `samples` may be larger.
        progress: Called with the stage, how many of its items are done, and how many there are.
        **options: Fields of `seal.experiments.settings.SweepSettings` (samples,
            distractors, queries_in, nested, queries), and those that `seal.run` takes. The
            retriever is tfidf by default. Baselines are not played by default.

    Returns:
        The sweep. `.of(size=50)["pass_rate"].mean` is one figure. `.results` has a row for each
        size and K, with means and deviations over the samples and intervals over the tasks. It also
        has `.runs`, `.frame`, `.table()`, `.plot()`, `.folder` and the `.exit_code` of `seal run`.
        Its `.content` is that of sweep.json.

    Raises:
        UnknownNameError: There is no such setting, pool or plug-in; the text names the closest.
        UsageError: A size is larger than the pool or leaves no query, or the retriever is `given`.
            Or a setting has a value that no run can have, or the folder holds something else.
        DataError: The pool is malformed.

    Example:
        >>> import seal
        >>> swept = seal.sweep("sample", pool_sizes=[20, "all"], samples=1, limit=2, model="oracle")
        >>> [point.size for point in swept.results]
        [20, 65]
    """
    from seal.api.experiment_results import Sweep
    from seal.experiments.sweep import sweep as play
    from seal.report.experiments import write_sweep

    others: Any = dict(options)
    drawing = {n: others.pop(n) for n in DrawingOptions.__annotations__ if n in others}
    ks = (top_k,) if isinstance(top_k, int) else tuple(top_k)
    asked = SweepSettings(pool_sizes=pool_sizes, top_k=ks, **drawing)
    settings = settings_of(bench, others, agent, tools, baselines=False)
    played = play(settings, asked, None if out is None else Path(out), resume, progress)
    played.content["notes"] += write_sweep(played.content, played.folder)
    return Sweep(played.content, played.folder, played.exit_code)


@checked
def ablate(
    what: str,
    bench: Bench | Sequence[Task] = "sample",
    *,
    agent: AgentUnderTest | None = None,
    tools: Sequence[OwnTool] = (),
    retrievers: Sequence[RetrieverChoice] = (),
    out: str | Path | None = None,
    resume: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
    **options: Unpack[RunOptions],
) -> Ablation:
    """Play a benchmark under conditions that differ in one thing, and compare them.

    Args:
        what: What differs between the conditions: feedback, format, react, retriever, irrelevance,
            similarity, injection, roles, or another that the benchmark offers. `Ablation` says what
            each compares.
        bench: What is played, as in `seal.run`.
        agent: What is tried, as in `seal.run`.
        tools: Those of tasks that are given as a list.
        retrievers: The retrievers to compare, at least two. None given: hybrid, tfidf, bm25,
            oracle.
        out: Folder of the ablation. None: a new one under `runs/`. It gets comparison.json,
            report.html and a run folder for each condition. For similarity the extra
            `experiments` adds a figure.
        resume: Continue the ablation in `out`.
        progress: Called with the stage, how many of its items are done, and how many there are.
        **options: As in `seal.run`, except what is varied. Baselines are not played by default.
            Where irrelevant tasks are compared, `limit` and `first` count those.

    Returns:
        The ablation: `.runs["on"]`, `.comparisons`, `.frame`, `.table()`, `.plot()`, `.folder` and
        the `.exit_code` of `seal run`. Of two conditions `ablation["pass_rate"].difference` is one
        figure. `seal.api.comparisons.Ablation` says what its `.content` holds.

    Raises:
        UnknownNameError: There is no such ablation, setting or plug-in; the text names the closest.
        UsageError: A setting is given that the ablation varies, or one that no run can have. Or the
            pool has nothing to compare, or the folder holds something else.
        DataError: The pool is malformed.

    Example:
        >>> import seal
        >>> ablation = seal.ablate("react", "sample", model="oracle", limit=2)
        >>> sorted(ablation.runs)
        ['plain', 'react']
        >>> ablation["call_recall"].difference
        0.0
    """
    from seal.api.comparisons import Ablation
    from seal.experiments.ablation import ablate as play
    from seal.experiments.ablation import ablation_named
    from seal.report.experiments import write_ablation

    asked = settings_of(bench, options, agent, tools, baselines=False)

    ablation = ablation_named(what, open_pool(asked.pool).benchmark)
    varied = "" if ablation.option else ablation.field
    if varied and varied in options:
        repair = ": name several by `retrievers`" if varied == "retriever" else ": leave it out"
        raise UsageError(f"{varied} is what the ablation {what} varies{repair}")
    place = None if out is None else Path(out)
    played = play(what, asked, retrievers, place, resume, progress)
    played.content["notes"] += write_ablation(played.content, played.folder)
    return Ablation(played.content, played.folder, played.exit_code)


# -- One chat of a run, handed out as a group chat of AutoGen.


@contextmanager
@checked
def groupchat(
    bench: Bench = "sample",
    task: str | None = None,
    *,
    agent: AgentUnderTest | None = None,
    **options: Unpack[RunOptions],
) -> Iterator[Group]:
    """Hand out the chat about a task as a group chat of AutoGen, for you to drive.

    Args:
        bench: A benchmark, the name of one, or a pool folder.
        task: Id of the task; None: the first one.
        agent: What is tried, as in `seal.run`.
        **options: As in `seal.run`.

    Yields:
        The chat: `.chat` is the `GroupChat`, `.manager` its manager, `.agents` role to its agent.
        `.hold()` holds it as a run does, and so does AutoGen's
        `.agents["user_simulator"].initiate_chat(.manager, message=.open())`. What an agent sends
        to the manager is recorded, after its hooks, and within the budgets.
        `.conversation.trajectory()` is what was said and done. Only answers of models are kept.

    Raises:
        UnknownNameError: There is no such task, setting, benchmark or plug-in.
        UsageError: A setting has a value that no run can have, or the task needs a world.
        DataError: The pool is malformed.

    Example:
        >>> import seal
        >>> with seal.groupchat("sample", model="oracle") as group:
        ...     group.hold()
        ...     group.chat.messages[0]["name"]
        'user_simulator'
    """
    from seal.agents.group import Group
    from seal.runs.engine import Engine
    from seal.runs.identity import told_left_out

    settings = settings_of(bench, options, agent)
    with TemporaryDirectory() as place, Engine.of(settings, RunFolder(Path(place))) as engine:
        tasks = {one.id: one for one in engine.pool.tasks()}
        played_id = next(iter(tasks)) if task is None else task
        if played_id not in tasks and engine.pool.left_out:
            why = "; ".join(told_left_out(engine.pool.left_out))
            raise UsageError(f"no task {shortened(played_id)} is played: {why}")
        check_name("task", played_id, tasks)
        found = tasks[played_id]
        engine.check()
        ranked = engine.rank([found]).rankings.get(found.id, ())
        with engine.chat(found, rankings=ranked) as conversation:
            group = Group(conversation)
            try:
                yield group
            finally:
                group.close()


# -- The options that the public functions take by name, with their types.
#
# Each group has the names and types of a settings dataclass, which says what they mean and what
# they are where nothing is said; a test holds them equal.


class PlayOptions(TypedDict, total=False):
    """Fields of `RunSettings` that one run and a sweep share."""

    model: ModelChoice
    role_models: Mapping[str, ModelChoice | Sequence[ModelChoice]]
    model_options: Mapping[str, Any]
    base_url: str | None
    requests_per_minute: float | None
    tokens_per_minute: float | None
    roles: Mapping[str, AgentChoice | None]
    prompts: Mapping[str, str | Path]
    user_brief: Brief
    team: TeamChoice | None
    history: History | None
    retriever: RetrieverChoice | GivenElse | None
    retriever_options: Mapping[str, Any]
    retrieve: Retrieve
    simulator: SimulatorChoice
    unrecorded: Unrecorded
    environment: str | None
    servers: Mapping[str, Any] | str | Path
    world_options: Mapping[str, Any]
    sandbox: str
    feedback: Feedback
    gold_results: bool
    format: Format | None
    one_shot: bool
    cache: CacheMode
    cache_dir: str | Path | None
    judge: str
    votes: int | None
    limit: int | None
    first: int | None
    select: Mapping[str, str]
    trials: int
    workers: int
    processes: int | str
    max_turns: int | None
    max_calls: int
    max_messages: int | None
    max_tokens: int | None
    max_seconds: float | None
    max_total_tokens: int | None
    max_total_seconds: float | None
    max_dollars: float | None
    prices: str | Path | None
    temperature: float
    seed: int
    cutoffs: Sequence[int]
    metrics: Sequence[MetricChoice]
    without_spoilt: bool
    baselines: bool
    allow_code: Sequence[str]


class RunOptions(PlayOptions, total=False):
    """Fields of `RunSettings`, but for the pool."""

    top_k: int


def settings_of(
    bench: Bench | Sequence[Task],
    options: RunOptions,
    agent: AgentUnderTest | None = None,
    tools: Sequence[OwnTool] = (),
    **defaults: Any,
) -> RunSettings:
    """Return the settings of a run that a call asks for; `defaults` are those of the function.

    Raises:
        UsageError: Tasks without tools, tools beside a whole benchmark, or no agent.
    """
    asked: dict[str, Any] = dict(options) if agent is None else trying(agent, options)
    origins: dict[str, Origin] = dict.fromkeys(asked, "call")
    pool = bench_of(bench, tools)
    return RunSettings(pool=pool, **{**defaults, **asked}, origins=origins)


class DrawingOptions(TypedDict, total=False):
    """Fields of `Drawing`, but for the sizes: which pools are drawn, and what they are asked."""

    samples: int
    distractors: Distractors
    queries_in: QueriesIn
    nested: bool
    queries: int | None


class SweepOptions(PlayOptions, DrawingOptions, total=False):
    """What a sweep plays, and how it draws pools."""


# -- Retrievers without a chat: ranking with them, and data to train one.


class RetrievalOptions(DrawingOptions, total=False):
    """Fields of `RetrievalSettings`, but for the cut-offs."""

    pool_sizes: Sequence[Size]
    seed: int
    options: Mapping[str, Any]
    select: Mapping[str, str]
    limit: int | None
    first: int | None
    held_out: str | Path | None
    cache: CacheMode
    cache_dir: str | Path | None
    allow_code: Sequence[str]


@checked
def retrieve(
    pools: Bench | Sequence[Bench | Task],
    retrievers: RetrieverChoice | Sequence[RetrieverChoice] | None = None,
    k: int | Sequence[int] = (1, 5, 10),
    *,
    tools: Sequence[OwnTool] = (),
    out: str | Path | None = None,
    resume: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
    on_result: Callable[[Mapping[str, Any]], None] | None = None,
    **options: Unpack[RetrievalOptions],
) -> Retrieval:
    """Rank every goal's tools with every retriever over every pool, and score the rankings.

    Args:
        pools: Benchmarks, names or folders; a single one may stand alone. A list of tasks does too,
            with `tools`.
        retrievers: Names, texts NAME,KEY=VALUE..., dotted paths, classes or objects; a single one
            may stand alone. None: hybrid.
        k: Cut-offs of the metrics, at least 1; a single one may stand alone. The largest is the
            length of a ranking.
        tools: Functions, schemas or `seal.Tool` records, for tasks that are given as a list.
        out: Folder for the results, new or empty. None: nothing is written. It gets results.json,
            results.csv, rankings, TREC run and qrels files, and draws.jsonl. The last names the
            queries of each sample and the tools of each drawn pool. The extra `experiments` adds
            figures. Until all are there, results.json has no results.
        resume: Go on with the experiment that `out` holds: what was measured is not ranked again.
        progress: Called with the stage, how many of its items are done, and how many there are.
        on_result: Called with each entry of `results` as soon as it is there.
        **options: Fields of `seal.experiments.settings.RetrievalSettings`:
            pool_sizes, samples, distractors, queries_in, nested, queries, seed, options, select,
            limit, first, held_out, cache, cache_dir, allow_code.

    Returns:
        The experiment: `.of(retriever="tfidf")["recall@10"].mean`, `.results`, `.frame`,
        `.per_query()`, `.table()` and `.plot()`; `seal.api.experiment_results.Retrieval` says what
        its `.content` holds.

    Raises:
        UnknownNameError: There is no such setting, pool, retriever or option; the text names the
            closest.
        UsageError: There is no pool or retriever, too few queries, or a cut-off below 1. Or a pool
            size is larger than every pool. Or an option is a service's key, or the folder holds
            something else.
        DataError: A pool is malformed.

    Example:
        >>> import seal
        >>> found = seal.retrieve("sample", ["tfidf", "bm25"], k=[1, 10])
        >>> found.of("tfidf")["recall@10"].n
        72
    """
    from seal.api.experiment_results import Retrieval
    from seal.experiments.retrieval import retrieve as rank
    from seal.report.experiments import write_retrieval_figures

    cutoffs = (k,) if isinstance(k, int) else tuple(k)
    asked = RetrievalSettings(k=cutoffs, **options)
    folder = None if out is None else Path(out)
    named = build.DEFAULT if retrievers is None else retrievers
    entered = list(named) if isinstance(named, (list, tuple)) else [named]
    places, figures = _places(pools, tools), write_retrieval_figures
    queries: list[Mapping[str, Any]] = []
    tell = queries.append if folder is None else None
    content = rank(places, entered, asked, folder, progress, on_result, resume, figures, tell)
    return Retrieval(content, folder, queries)


def _places(pools: Bench | Sequence[Bench | Task], tools: Sequence[OwnTool]) -> Sequence[Bench]:
    """Return the benchmarks to rank in; of a list of tasks its own."""
    if isinstance(pools, str | Path | Benchmark):
        return [bench_of(pools, tools)]
    if tools or any(isinstance(each, Task) for each in pools):
        return [bench_of(cast("Sequence[Task]", pools), tools)]
    return cast("Sequence[Bench]", pools)


@checked
def split(
    pool: Bench | Sequence[Task],
    by: SplitKind = "query",
    *,
    test: int | float | None = None,
    train: int | float | None = None,
    seed: int = 0,
    threshold: float = 90.0,
    out: str | Path | None = None,
    tools: Sequence[OwnTool] = (),
) -> PoolSplit:
    """Split a pool into tasks to train a retriever on, and tasks to test it on, without leaks.

    No training query is nearly the same as a test query: such tasks are left out.
    docs/train-a-retriever.md trains a model on the one part, and measures it on the other.

    Args:
        pool: A benchmark, the name of one, or a pool folder. A list of tasks does too, with
            `tools`.
        by: What is held out. query: tasks. tool: tools, with the tasks that need no others; tasks
            that need tools of both parts are left out. given: the tasks that the benchmark itself
            puts in another split than `train`.
        test: How many tasks, or tools, are held out, or which share of them, below 1. None: a
            fifth. With `by="given"` the benchmark says it.
        train: How many tasks are kept for training, or which share of all. None: all that are left.
        seed: Equal seeds give equal parts.
        threshold: From which likeness on two queries count as nearly the same, at most 100: the
            share of equal letters, in small letters and without punctuation.
        out: Folder for the parts, new or an earlier split's. It gets the pool folders `train` and
            `test`, and training.json, which names the tasks of each. None: a temporary folder.
        tools: Functions, schemas or `seal.Tool` records, for tasks that are given as a list.

    Returns:
        `.train` and `.test`, which `seal.retrieve`, `seal.api.benchmarks.export` and others take.
        Both have all tools, but the training part no held-out tool that none of its tasks names.
        `.folder` holds the parts as pool folders, for `seal retrieve` and `seal export`.

    Raises:
        UnknownNameError: No such pool, or no such `by`; the text names the closest.
        UsageError: A size that cannot be, or more than the pool has. Or a benchmark without a split
            of its own, or a folder that holds something else.
        DataError: No task names the tools that it needs, or nothing is left for one part.

    Example:
        >>> import seal
        >>> parts = seal.split("sample", by="tool", out="parts")
        >>> found = seal.retrieve(parts.test, "tfidf")
    """
    from seal.api.experiment_results import PoolSplit
    from seal.experiments.splits import TEST, TRAIN, SplitSettings, write_split

    asked = SplitSettings(by=by, test=test, train=train, seed=seed, threshold=threshold)
    whole = open_pool(bench_of(pool, tools))
    folder = _temporary() if out is None else Path(out)
    record = write_split(whole, asked, folder)
    return PoolSplit(record, whole.at(folder / TRAIN), whole.at(folder / TEST), folder)


def _temporary() -> Path:
    """Return a new folder that goes with this process."""
    folder = Path(tempfile.mkdtemp(prefix="seal-"))
    atexit.register(shutil.rmtree, folder, True)
    return folder
