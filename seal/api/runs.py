"""Playing a benchmark: one run, what it would cost, and runs that vary a thing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from seal.api.settings import DrawingOptions, RunOptions, SweepOptions, settings_of
from seal.core import Task, UsageError
from seal.core.signatures import checked
from seal.experiments.pool_draws import Size
from seal.pools.benchmark import Benchmark
from seal.pools.lookup import Bench, known_benchmark
from seal.pools.own_parts import OwnTool
from seal.runs.agent_settings import AgentUnderTest
from seal.runs.settings import RetrieverChoice

if TYPE_CHECKING:
    from seal.api.objects.comparisons import Ablation
    from seal.api.objects.json_results import RunPlan, Sweep
    from seal.api.objects.run_object import Run
    from seal.runs.run import Progress


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
    from seal.api.objects.run_object import Run
    from seal.runs.cast import check_address_used
    from seal.runs.run import run as play

    asked = settings_of(bench, options, agent, tools)
    check_address_used(asked)
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
        `.content` says the same for each role (`seal.runs.spending.plan.plan`).

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
    from seal.api.objects.json_results import RunPlan
    from seal.runs.spending.plan import plan

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
            sweep.parquet and figures.
        resume: Continue the sweep in `out`. Finished runs are skipped; `samples` may be larger.
        progress: Called with the stage, how many of its items are done, and how many there are.
        **options: Fields of `seal.experiments.sweep.sweep_settings.SweepSettings` (samples,
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
    from seal.api.objects.json_results import Sweep
    from seal.experiments.sweep.sweep_runs import sweep as play
    from seal.experiments.sweep.sweep_settings import SweepSettings
    from seal.report.experiment_files import write_sweep

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
        figure. `seal.api.objects.comparisons.Ablation` says what its `.content` holds.

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
    from seal.api.objects.comparisons import Ablation
    from seal.experiments.ablation.ablate import ablate as play
    from seal.experiments.ablation.variants import ablation_named
    from seal.pools.lookup import open_pool
    from seal.report.experiment_files import write_ablation

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
