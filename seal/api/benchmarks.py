"""Benchmarks: those that are known, their files, and what is made of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

from seal.core import Task, UsageError, check_name
from seal.core.settings import check_types, checked
from seal.pools.benchmark import OwnTool, loaded
from seal.pools.declarations import check_kind, generator_of
from seal.pools.lookup import (
    Bench,
    bench_of,
    declared,
    environments_beside,
    open_pool,
    with_functions,
)

if TYPE_CHECKING:
    from seal.api.experiment_results import Generated
    from seal.api.pool_results import Findings, PoolTables
    from seal.api.run_result import Run
    from seal.experiments.export import Exported
    from seal.pools.catalogue import Card, FetchReport
    from seal.pools.counts import PoolCounts
    from seal.pools.imports import ImportReport
    from seal.pools.pool import StoredPool


@checked
def catalogue() -> dict[str, Card]:
    """Return every benchmark that SEAL knows by name, whether or not its files are here.

    An entry says what the benchmark is, what gold it has, how it is imported, and in `paper_counts`
    what Table 1 of the SEAL paper counts; `count` counts a pool in the same way.
    """
    from seal.pools.catalogue import catalogue as entries

    return dict(entries())


@checked
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
    from seal.pools.catalogue import fetch as download

    return download(name, Path(out), mirror)


@checked
def import_benchmark(
    name: str,
    source: str | Path | None,
    out: str | Path,
    trajectories: bool = False,
    **options: Any,
) -> ImportReport:
    """Import a benchmark's upstream files as a pool folder, or recorded chats as a run.

    Args:
        name: Of the importer, or a dotted path to one.
        source: File or folder as upstream publishes it. None: what the options say, such as the
            `servers` of `mcp`.
        out: Folder to make. An earlier pool there is replaced; a run is not.
        trajectories: Whether the source holds recorded chats. `out` then becomes a run folder,
            which `seal.score` takes.
        **options: Of the importer.

    Returns:
        The report: `.tasks`, `.tools`, and in `.dropped` why records were left out.

    Raises:
        UsageError: There is no such importer or source, or `out` may not be replaced.
        UnknownNameError: The importer has no such option.
        DataError: The source is malformed or holds nothing. Nothing is left behind.

    Example:
        >>> import json
        >>> from pathlib import Path
        >>> import seal
        >>> tool = {"name": "get_order", "parameters": {"order_id": {"type": "str"}}}
        >>> call = {"name": "get_order", "arguments": {"order_id": "7"}}
        >>> row = {"query": "Where is order 7?", "tools": json.dumps([tool])}
        >>> row["answers"] = json.dumps([call])
        >>> _ = Path("upstream.json").write_text(json.dumps([{"id": 0, **row}]))
        >>> report = seal.import_benchmark("apigen", "upstream.json", "shop")
        >>> report.tasks, report.tools
        (1, 1)
        >>> run = seal.run("shop", model="oracle", baselines=False)
    """
    from seal.pools.catalogue import import_named
    from seal.runs.finished import import_run

    place = None if source is None else Path(source)
    if trajectories and place is not None:
        return import_run(name, place, Path(out), options)
    return import_named(name, place, Path(out), **options)


@checked
def load_pool(pool: Bench) -> StoredPool:
    """Return the tools and tasks of a benchmark.

    Args:
        pool: A benchmark, the name of one, or a pool folder.

    Raises:
        UnknownNameError: Nothing of that name.
        UsageError: A known benchmark whose files are not here.
        DataError: The folder is no pool.
    """
    return open_pool(pool)


@checked
def count(pool: Bench) -> PoolCounts:
    """Count a pool as Table 1 of the SEAL paper does, and its tasks by what is gold about them.

    Args:
        pool: A benchmark, the name of one, or a pool folder; it may have no
            task.

    Raises:
        UnknownNameError: Nothing of that name.
        UsageError: A known benchmark whose files are not here.
        DataError: The folder is no pool, or a line of it is bad.
    """
    from seal.pools.counts import count_stored

    return count_stored(open_pool(pool))


@checked
def lint(
    pool: Bench | Sequence[Task],
    *,
    tools: Sequence[OwnTool] = (),
    threshold: float = 90.0,
    allow_code: Sequence[str] = (),
    mutants: bool = False,
    sample: int | None = None,
    seed: int = 0,
    progress: Callable[[str, int, int], None] | None = None,
) -> Findings:
    """Return what is wrong or doubtful in a pool; the pool is not changed.

    Gold calls are tried: in the worlds of tasks, and by the functions behind the benchmark's own
    tools, which run as in a chat. `mutants` also plays variants of gold in its world: wrong ones,
    which must not solve the task, and right ones, which must.

    Args:
        pool: A benchmark, the name of one, or a pool folder. A list of tasks does too, with
            `tools`.
        tools: Functions, schemas or `seal.Tool` records, for tasks that are given as a list.
        threshold: Least likeness of near-duplicate tools, in (0, 100].
        allow_code: Modules whose worlds tasks may name by a dotted path, and whose functions run
            that a pool folder names.
        mutants: Whether variants of gold are played and judged by rule.
        sample: Number of tasks whose gold is altered, drawn by the seed, at least 1; None: all.
        seed: Of what is drawn: tasks, and at most 24 variants of one kind for a goal.
        progress: Called with the stage, how many of its items are done, and how many there are.

    Returns:
        The report: `.findings`, `.counts()` by kind, `.tasks`, `.tools`, `.mutants` where they were
        asked for, and `.table()`.

    Raises:
        UnknownNameError: There is nothing of that name.
        UsageError: A known benchmark's files are not here, the threshold is out of range, or the
            tools of a world do not do the same each time.
        DataError: The folder is no pool, or none of its gold can be altered.
        InfrastructureError: What a tool asks outside of its world failed, or its function returned
            what JSON cannot say.

    Example:
        >>> import seal
        >>> report = seal.lint("sample")
        >>> report.tasks, report.tools
        (80, 65)
        >>> report.counts()
        {'ungrounded_value': 5, 'only_texts': 1}
    """
    from seal.api.pool_results import Findings
    from seal.pools.lint import Place, PlanCheck
    from seal.pools.lint import lint as check

    if sample is not None and not mutants:
        raise UsageError("sample: it is the number of tasks whose gold is altered; ask for mutants")

    found = with_functions(open_pool(bench_of(pool, tools)), allow_code)
    worlds = environments_beside(found.benchmark)
    place = None
    if found.benchmark is not None and found.benchmark.functions:
        from seal.runs.call_handling import own_environments

        own = found.benchmark.functions
        functions = {tool.id: tool for tool in found.tools() if tool.id in own}
        place = Place(own_environments(own, functions), functions)
    report = check(found.folder, threshold, allow_code, worlds, place)
    if not mutants:
        return Findings(report.tasks, report.tools, report.findings, found.name)
    from seal.pools.lint_findings import KINDS
    from seal.pools.mutants import mutants as altered

    world_of, order = PlanCheck(allow_code, worlds).world_of, list(KINDS)
    told = progress or (lambda stage, done, total: None)
    made = altered(list(found.every_task()), world_of, sample=sample, seed=seed, told=told)
    every = sorted((*report.findings, *made.findings()), key=lambda one: order.index(one.kind))
    return Findings(report.tasks, report.tools, tuple(every), found.name, made)


@checked
def augment(
    pool: Bench | Sequence[Task],
    augmentations: str | Sequence[str],
    out: str | Path,
    *,
    tools: Sequence[OwnTool] = (),
) -> ImportReport:
    """Write a benchmark again, with distraction tools or with scrambled tools.

    Args:
        pool: A benchmark, the name of one, or a pool folder; it is not changed. A list of tasks
            does too, with `tools`.
        augmentations: One or several; each gives every task once more. One is `distraction=N`,
            `distraction=all`, `names`, `descriptions`, `argument-descriptions`, `argument-types`,
            or several of these joined by commas. A benchmark may declare names of several
            (`seal.Benchmark.augmentations`).
        out: Folder to make. The same augmentation there is replaced.
        tools: Functions, schemas or `seal.Tool` records, for tasks that are given as a list.

    Returns:
        The report: `.tasks`, `.tools`, and in `.dropped` why tasks were left out.

    Raises:
        UnknownNameError: There is no such augmentation or pool.
        UsageError: A number of tools is below 0, or a pool that is retrieved from is to be
            scrambled in several ways. Or `out` may not be replaced.
        DataError: The pool is malformed, or none of its tasks can be augmented.

    Example:
        >>> import seal
        >>> report = seal.augment("sample", "distraction=3", "distracted")
        >>> report.tasks
        72
        >>> run = seal.run("distracted", model="oracle", limit=2, baselines=False)
        >>> run["call_recall"].mean
        1.0
    """
    from seal.pools.augmentation import augment_stored, parse_augmentations

    texts = [augmentations] if isinstance(augmentations, str) else augmentations
    return augment_stored(open_pool(bench_of(pool, tools)), Path(out), parse_augmentations(texts))


@checked
def generate(
    what: str,
    bench: Bench | Sequence[Task],
    out: str | Path | None = None,
    *,
    tools: Sequence[OwnTool] = (),
    **options: Any,
) -> Generated:
    """Make scenarios of a world by its templates, or missions or queries by a language model.

    `missions` makes dialogues of related missions over the tools of a benchmark. `queries` makes
    harder queries of its tasks: constraints, paraphrases, and requests that no tool serves. Code
    checks what the model writes. `scenarios` fills the goal templates of a world, without a model
    (`n`, `seed`, `allow_code`). An installed benchmark may offer further kinds
    (`seal.Benchmark.generators`).

    Args:
        what: missions, queries or scenarios.
        bench: For scenarios the name of a world, or names that `+` joins. Else a benchmark, the
            name of one, or a pool folder. A list of tasks does too, with `tools`.
        out: Folder to make. A folder that was begun under the same settings is continued.
        tools: Functions, schemas or `seal.Tool` records, for tasks that are given as a list.
        **options: Those of the kind. Missions and queries take `model`, which must be named, its
            `base_url` and `model_options`, `seed` and `progress`.

    Returns:
        What was made: its `.content`, whose entries it gives by name, and its `.place`. Of ours
        the content is that of import.json; of missions and queries `.report` says the same. Of
        missions `.errors` are the dialogues at which the infrastructure failed.

    Raises:
        UnknownNameError: There is no such kind, setting, pool or model; the text names the closest.
        UsageError: No model is named, a setting cannot be, the pool has no seed, or `out` holds
            something else.
        DataError: Nothing could be made, or a file is malformed.
        InfrastructureError: A model's server or a store failed; what is done is kept.

    Example:
        >>> import json
        >>> import seal
        >>> class Writer:  # as a rule the name of a model stands here: model="openai/gpt-4o"
        ...     def complete(self, request):
        ...         text = "On 6 June 2026 we party in a garden in Bristol. Will it rain?"
        ...         return seal.Completion(json.dumps({"queries": [{"text": text}]}))
        >>> settings = {"kinds": ["paraphrase"], "limit": 1}
        >>> made = seal.generate("queries", "sample", "harder", model=Writer(), **settings)
        >>> made["tasks"]
        1
        >>> run = seal.run("harder", model="oracle", limit=2, baselines=False)
    """
    from seal.api.experiment_results import Generated

    offered = declared("generators")
    check_kind(what, offered)
    generator = generator_of(offered[what])
    if settings := loaded(generator.settings):
        given = {name: value for name, value in options.items() if name != "progress"}
        hints = get_type_hints(settings)
        for name in given:
            check_name("setting", name, hints)
        check_types(given, hints)
    made = loaded(generator.make)(bench_of(bench, tools), out, **options)
    if isinstance(made, Generated):
        return made
    content = made.to_json() if hasattr(made, "to_json") else dict(made)
    return Generated(content, None if out is None else Path(out))


@checked
def tables(pool: Bench) -> PoolTables:
    """Return a pool as the four tables of the SEAL paper, each a pandas frame.

    Args:
        pool: A benchmark, the name of one, or a pool folder.

    Returns:
        `.queries`, `.tools`, `.query_tools` and `.query_calls`.

    Raises:
        MissingExtraError: A frame is asked for, and pandas is not installed.
        UnknownNameError: Nothing of that name.
        UsageError: A known benchmark whose files are not here.
        DataError: The folder is no pool.

    Example:
        >>> from seal.api.benchmarks import tables
        >>> calls = tables("sample").query_calls
        >>> calls.loc[0, "tool"], calls.loc[0, "arguments"]
        ('sample/skywatch/daily', '{"location":"Bristol","start_date":"2026-06-06"}')
    """
    from seal.api.pool_results import PoolTables

    return PoolTables(open_pool(pool))


@checked
def export(
    what: Bench | Run | Sequence[Task],
    to: str,
    out: str | Path,
    *,
    tools: Sequence[OwnTool] = (),
    licence: str = "",
    negatives: int | None = None,
    negatives_by: str | None = None,
    seed: int | None = None,
) -> Exported:
    """Write a pool or a run in the form that others read, with a card of its source and licence.

    Args:
        what: A benchmark, the name of one, a pool folder, or a list of tasks with `tools`. Or what
            `seal.run` returned, or its folder.
        to: openai (messages and tools), trec, hf (a data set of rows), triplets (queries,
            tools and hard negatives, to train a retriever), inspect (of a run, a log that
            `inspect view` opens), or another that a benchmark declares (`seal.Benchmark.exports`).
        out: Folder to make.
        tools: Functions, schemas or `seal.Tool` records, for tasks that are given as a list.
        licence: Of the data. Empty: as the catalogue knows it.
        negatives: Of triplets, the number of hard negatives in a line. None: 1.
        negatives_by: Of triplets, the retriever that finds them. None: tfidf.
        seed: Of triplets, the seed of negatives that are drawn by chance, where it finds too few.
            None: 0.

    Returns:
        `.files`, `.counts` by kind, and in `.left_out` why goals or chats are not in it.

    Raises:
        UsageError: `out` holds something, or nothing can be said in this form. Or an option of
            triplets has a value that it cannot have, or stands beside another form.
        UnknownNameError: Nothing of that name, or no such form or retriever.
        DataError: The folder is neither a pool nor a whole run, or has too few tools for the
            negatives.
    """
    from seal.experiments.export import export as written
    from seal.experiments.splits import MiningSettings

    given = {"negatives": negatives, "negatives_by": negatives_by, "seed": seed}
    told: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    mining = MiningSettings(**told) if told else None
    return written(open_pool(_source(what, tools)), to, Path(out), licence, mining)


def _source(what: Bench | Run | Sequence[Task], tools: Sequence[OwnTool]) -> Bench:
    from seal.api.run_result import Run

    return bench_of(what.folder.path if isinstance(what, Run) else what, tools)
