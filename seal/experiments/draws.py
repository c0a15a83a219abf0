"""What an experiment in retrieval measures: drawn pools and queries, retrievers, other words."""

from __future__ import annotations

import logging
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count, islice
from math import inf
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from seal.core import (
    InfrastructureError,
    Longer,
    OptionError,
    Pool,
    Query,
    Ranking,
    Retriever,
    SealError,
    Task,
    Tool,
    UnknownNameError,
    UsageError,
    fault,
)
from seal.core.registry import name_of
from seal.core.text import counted
from seal.core.values import derive_seed, normalise
from seal.evaluation.rankings import Calibration, calibration, measure_rankings, qrels_of
from seal.experiments.series import read_object
from seal.experiments.settings import Drawing, RetrievalSettings, Size
from seal.pools.benchmark import Benchmark
from seal.pools.lookup import Bench, open_pool
from seal.pools.pool import StoredPool
from seal.retrievers.base import DEFAULT, documents, ids_of, refuse_unknown_options, spec_of
from seal.retrievers.build import build_retriever, files_digest, known_options, rank
from seal.retrievers.wrappers import token_counts
from seal.runs.engine import goals_of, rank_others

if TYPE_CHECKING:
    from seal.pools.samples import PoolSample

# -- Smaller pools, and fewer queries, drawn from large pools.
#
# `seal.pools.samples` says how a pool is drawn.

_Item = TypeVar("_Item")
_NEIGHBOURS = 50
"""How many tools count as near to a tool."""


def drawn_pools(
    tools: Sequence[Tool],
    tasks: tuple[Task, ...],
    sizes: Sequence[int],
    drawing: Drawing,
    seed: int,
) -> list[PoolSample]:
    """Return the drawn pools, by size ascending, then by sample.

    If all samples of the large pool's own size would be the same, there is one of them.

    Args:
        tools: Tools of the large pool.
        tasks: Tasks of the large pool.
        sizes: Numbers of tools; they replace `drawing.pool_sizes`.
        drawing: The rest of the protocol. Of `queries` only matters whether it is None.
        seed: Seed of all chance.

    Raises:
        UsageError: A size is beyond the pool or serves no query, or no task has relevant tools.
        DataError: A task needs a tool that the pool lacks.
    """
    from seal.pools.samples import sample_pools

    found = sample_pools(
        tools,
        tasks,
        sizes,
        drawing.samples,
        seed,
        distractors=drawing.distractors,
        queries=drawing.queries_in,
        nested=drawing.nested,
        neighbours=_nearest_tools(tools) if drawing.distractors == "nearest" else None,
    )
    # Closure makes every sample of the whole pool the same one.
    once = drawing.queries_in == "closure" and drawing.queries is None
    drawn = [pool for pool in found if not (once and pool.size == len(tools) and pool.sample)]
    return sorted(drawn, key=lambda pool: (pool.size, pool.sample))


def without_distractors(distractors: Iterable[int | None], drawing: Drawing) -> list[str]:
    """Return a note if pools are drawn and none of them holds a distractor.

    Args:
        distractors: For each drawn pool, the number of tools that none of its queries needs.
        drawing: How the pools were drawn.
    """
    counts = list(distractors)
    if not counts or any(counts):
        return []
    return [
        f"no drawn pool holds a distractor, so --distractors {drawing.distractors} has no effect: "
        "queries were drawn until the tools that they need filled each pool; "
        "--queries-in fixed with several --pool-sizes asks the queries of the smallest pool at "
        "every size and fills the larger ones with distractors"
    ]


def _nearest_tools(
    tools: Sequence[Tool],
) -> Callable[[Sequence[str]], Mapping[str, Sequence[str]]]:
    """Return a function that finds the tools whose documents are most like those of given tools."""
    retriever = build_retriever("tfidf", Pool(tools))
    texts = {tool.id: text for tool, text in zip(tools, documents(tools), strict=True)}

    def nearest(ids: Sequence[str]) -> dict[str, list[str]]:
        queries = [Query(texts[tool], tool) for tool in ids]
        return {
            found.task_id: [tool for tool, _ in found.hits if tool != found.task_id]
            for found in rank(retriever, queries, _NEIGHBOURS + 1)
        }

    return nearest


def drawn_queries(
    asked: Sequence[_Item],
    queries: int | None,
    seed: int,
    pool: tuple[str, str],
    sample: tuple[Size, int],
) -> tuple[_Item, ...]:
    """Return the queries that are drawn in a sample, in their order.

    Args:
        asked: Queries to draw from.
        queries: How many are drawn; None: all.
        seed: Seed of the drawing.
        pool: Name, for messages, and digest of the large pool.
        sample: Its size and number.

    Raises:
        UsageError: There are fewer queries than are to be drawn.
    """
    if queries is None:
        return tuple(asked)
    if queries > len(asked):
        raise UsageError(
            f"--queries {queries}: pool {pool[0]} of size {sample[0]}, sample {sample[1]}, "
            f"has {counted(len(asked), 'query')} with relevant tools; give at most {len(asked)}"
        )
    chance = random.Random(derive_seed(seed, "queries", pool[1], *sample))
    rows = sorted(chance.sample(range(len(asked)), queries))
    return tuple(asked[row] for row in rows)


# -- Which tools and queries are measured: whole pools, drawn pools, drawn queries.


@dataclass(frozen=True, slots=True)
class Source:
    """One pool of the experiment, read."""

    label: str
    """The name that it was asked by, or that its folder has; no two pools have the same."""
    name: str
    digest: str
    tools: Sequence[Tool]
    tasks: tuple[Task, ...]
    """Those that are asked."""

    def to_json(self) -> dict[str, Any]:
        """Return {pool, pool_digest, tools, tasks} for results.json."""
        return {
            "pool": self.label,
            "pool_digest": self.digest,
            "tools": len(self.tools),
            "tasks": len(self.tasks),
        }


@dataclass(frozen=True, slots=True)
class Draw:
    """What one sample measures of a ranked pool."""

    sample: int
    queries: tuple[tuple[str, int], ...]
    """(task id, goal) of every query that has relevant tools."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """Tools that are ranked once for some tasks, and the samples that this serves."""

    source: Source
    size: Size
    tools: Sequence[Tool]
    tasks: tuple[Task, ...]
    digest: str
    draws: tuple[Draw, ...]
    drawn_alone: bool = False
    """True: only the queries of the draws are ranked, not every goal of the tasks."""
    distractors: int | None = None
    """Tools of a drawn pool that none of its seed queries needs; None: of the whole pool."""

    @property
    def goals(self) -> list[tuple[Task, int]]:
        """The goals that are ranked: each task with the position of one."""
        drawn = {query for draw in self.draws for query in draw.queries}
        return [
            (task, position)
            for task in self.tasks
            for position in range(len(task.goals))
            if not self.drawn_alone or (task.id, position) in drawn
        ]

    @property
    def whole(self) -> bool:
        """True where this is the pool as it stands."""
        return self.size == "all"


def open_sources(
    pools: Sequence[Bench], settings: RetrievalSettings, folder: Path | None = None
) -> list[Source]:
    """Return the pools, read and labelled.

    Args:
        pools: Names or folders.
        settings: Which tasks are asked.
        folder: Of what is kept of large pools, as `StoredPool.listed` takes it.

    Raises:
        UnknownNameError: No such pool.
        UsageError: No task has the tags of `select`.
        DataError: A pool is malformed, or has no task.
    """
    opened = [open_pool(place) for place in pools]
    labels = distinct(_names(pools, opened))
    found = []
    for pool, label in zip(opened, labels, strict=True):
        tools = pool.listed(folder)
        found.append(Source(label, pool.name, pool.digest, tools, tuple(pool.chosen(settings))))
    return found


def _names(places: Sequence[Bench], opened: Sequence[StoredPool]) -> list[str]:
    """Return the names that pools are asked by, and of folders the benchmarks'.

    Several folders of one benchmark have the folder's name too.
    """
    benchmarks = Counter(pool.name for pool in opened)
    names = []
    for place, pool in zip(places, opened, strict=True):
        folder = pool.folder.resolve().name
        if isinstance(place, Benchmark):
            names.append(place.name)
        elif not Path(place).is_dir():
            names.append(str(place))
        else:
            several = benchmarks[pool.name] > 1 and folder != pool.name
            names.append(f"{pool.name}:{folder}" if several else pool.name)
    return names


def distinct(names: Sequence[str]) -> list[str]:
    """Return the names with `-2`, `-3`... after each that stood before."""
    labels: list[str] = []
    for name in names:
        tried = chain([name], (f"{name}-{number}" for number in count(2)))
        labels.append(next(label for label in tried if label not in labels))
    return labels


def left_out(sources: Sequence[Source], settings: RetrievalSettings) -> list[str]:
    """Return a sentence for every pool that is smaller than some of the sizes.

    Raises:
        UsageError: No pool has as many tools as one of the sizes.
    """
    largest = max(len(source.tools) for source in sources)
    beyond = [size for size in settings.pool_sizes if size != "all" and size > largest]
    if beyond:
        raise UsageError(
            f"--pool-sizes {beyond[0]}: the largest pool has {counted(largest, 'tool')}; "
            f"give at most {largest}, or all"
        )
    return [
        f"{source.label} has {counted(len(source.tools), 'tool')}: no pools of "
        f"{', '.join(missing)} were drawn"
        for source in sources
        if (
            missing := [str(n) for n in settings.pool_sizes if n != "all" and n > len(source.tools)]
        )
    ]


def draw(source: Source, settings: RetrievalSettings) -> list[Ranked]:
    """Return what is ranked of a pool, sizes ascending, the whole pool last.

    Raises:
        UsageError: No query survives in a drawn pool, or fewer than `queries` do.
    """
    sizes = [size for size in settings.pool_sizes if size != "all" and size <= len(source.tools)]
    parts = list(_drawn_pools(source, sizes, settings)) if sizes else []
    if "all" in settings.pool_sizes:
        samples = settings.samples if settings.queries is not None else 1
        draws = tuple(
            Draw(sample, _queries(source, "all", sample, source.tasks, settings))
            for sample in range(samples)
        )
        alone = settings.queries is not None
        whole = Ranked(source, "all", source.tools, source.tasks, source.digest, draws, alone)
        parts.append(whole)
    return parts


def _drawn_pools(
    source: Source, sizes: Sequence[int], settings: RetrievalSettings
) -> Iterator[Ranked]:
    try:
        drawn = drawn_pools(source.tools, source.tasks, sizes, settings, settings.seed)
    except UsageError as error:
        raise UsageError(f"pool {source.label}: {error}") from error
    for pool in drawn:
        queries = _queries(source, pool.size, pool.sample, pool.tasks, settings)
        yield Ranked(
            source,
            pool.size,
            pool.tools,
            pool.tasks,
            pool.digest,
            draws=(Draw(pool.sample, queries),),
            drawn_alone=settings.queries is not None,
            distractors=pool.distractors,
        )


def _queries(
    source: Source, size: Size, sample: int, tasks: Sequence[Task], settings: RetrievalSettings
) -> tuple[tuple[str, int], ...]:
    pool = source.label, source.digest
    asked = [key for key, relevant in qrels_of(tasks).items() if relevant]
    return drawn_queries(asked, settings.queries, settings.seed, pool, (size, sample))


# -- The retrievers of an experiment: their labels, options and training, and what they measure.

TRAINING = "training.json"
"""In the folder of a trained model: what it was trained on."""


@dataclass(frozen=True, slots=True)
class Contender:
    """One retriever of an experiment."""

    label: str
    """The text that named it, else its class. Repeated labels get a number: `bm25-2`."""
    what: Any
    options: Mapping[str, Any]
    """The options of its text, and those options for all retrievers that it takes."""
    training: Mapping[str, Any] | None
    """Content of its model's training record; None: it has no model, or no record."""

    def to_json(self) -> dict[str, Any]:
        """Return {retriever, options, template, trained_on[, files_digest]} for results.json."""
        options = {name: _plain(value) for name, value in sorted(self.options.items())}
        known = known_options(self.what)
        templated = known is None or "template" in known
        trained_on = None if self.training is None else self.training.get("pool")
        read = files_digest(self.what, self.options)
        return {
            "retriever": self.label,
            "options": options,
            "template": options.get("template", DEFAULT) if templated else None,
            "trained_on": trained_on,
            **({"files_digest": read} if read is not None else {}),
        }

    def in_source(self, source: Source) -> bool | None:
        """Tell whether the model was trained on this pool; None: it has no training record."""
        if self.training is None:
            return None
        return _trained_on(self.training, source.digest) is not None

    def training_queries(self, source: Source, asked: Sequence[str]) -> int | None:
        """Return how many of the asked queries the model was trained on; None: it is not known.

        Args:
            source: The pool.
            asked: For each query, the id of its task.
        """
        tasks = (_trained_on(self.training or {}, source.digest) or {}).get("train")
        if not isinstance(tasks, list):
            return None
        trained = set(tasks)
        return sum(task in trained for task in asked)


def contenders(retrievers: Sequence[Any], options: Mapping[str, Any]) -> list[Contender]:
    """Return the retrievers with their labels and options; none of them is built yet.

    Raises:
        UnknownNameError: There is no retriever of that name, or none of them knows an option.
        DataError: A training record is malformed.
    """
    labels = distinct([str(name_of(what)) for what in retrievers])
    taken = {label: known_options(what) for label, what in zip(labels, retrievers, strict=True)}
    entered = []
    for label, what in zip(labels, retrievers, strict=True):
        known = taken[label]
        others = [own for other, own in taken.items() if other != label]
        # Not the options that only other retrievers take.
        shared = {
            name: value
            for name, value in options.items()
            if known is None or name in known or not any(o is None or name in o for o in others)
        }
        mine = {**shared, **spec_of(what).options}
        if known is not None:
            refuse_unknown_options(str(spec_of(what).what), mine, known)
        models = [value for name, value in mine.items() if name.rpartition(".")[2] == "model"]
        files = [Path(model) / TRAINING for model in models if isinstance(model, (str, Path))]
        training = next((record for file in files if (record := _record(file)) is not None), None)
        entered.append(Contender(label, what, mine, training))
    return entered


def repeated(entered: Sequence[Contender]) -> Iterator[str]:
    """Yield a note on each retriever that was given more than once with equal options."""
    known = [(spec_of(one.what).what, one.options) for one in entered]
    for place, (one, own) in enumerate(zip(entered, known, strict=True)):
        if own not in known[:place] and (times := known.count(own)) > 1:
            yield f"retriever {one.label} was given {times} times: it is compared with itself"


def held_out(sources: Sequence[Source], model: str | Path) -> list[Source]:
    """Return the pools; the pool that a model was trained on keeps only its held-out tasks.

    Raises:
        UsageError: The folder has no training record, the model was trained on none of the pools,
            or no held-out task is left.
        DataError: The training record is malformed.
    """
    record = _record(Path(model) / TRAINING)
    if record is None:
        raise UsageError(
            f"--held-out {model}: no {TRAINING} there; name the folder that seal.split wrote"
        )
    pools = {source.digest: _trained_on(record, source.digest) for source in sources}
    if not any(pools.values()):
        raise UsageError(
            f"--held-out {model}: trained on {record.get('pool')}, which is none of those given; "
            "name one of those"
        )
    kept = []
    for source in sources:
        if (known := pools[source.digest]) is not None:
            held = set(known.get("test", ()))
            source = replace(source, tasks=tuple(it for it in source.tasks if it.id in held))
        kept.append(source)
    empty = next((source.label for source in kept if not source.tasks), None)
    if empty is not None:
        raise UsageError(
            f"--held-out {model}: none of its held-out tasks is among those of pool {empty}; "
            "give fewer of --select and --limit"
        )
    return kept


def _trained_on(record: Mapping[str, Any], digest: str) -> Mapping[str, Any] | None:
    """Return the ids of a pool's tasks in a training record, {train, test}; None: not its pool.

    Pools are told apart by their content, because names are shared: every BEIR folder has the same.
    """
    sources, split = record.get("sources"), record.get("split")
    if sources is None:  # a record of when trainings had one pool
        told = split if isinstance(split, dict) else {}
        sources = [{**told, "pool_digest": record.get("pool_digest")}]
    return next((one for one in sources if one.get("pool_digest") == digest), None)


def _record(file: Path) -> Mapping[str, Any] | None:
    """Return the content of a training record; None: there is no such file."""
    return read_object(file, "train the model again") if file.is_file() else None


def _plain(value: Any) -> Any:
    """Return an option as JSON holds it; an object by its name."""
    try:
        return normalise(value)
    except (TypeError, ValueError):
        return str(name_of(value))


_log = logging.getLogger(__name__)

_AT_ONCE = 256
"""Queries in one batch."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What one retriever measured of one set of tools: a line of measured.jsonl."""

    id: str
    """Its folder in the experiment, and the digest of the pool; empty until it is kept there."""
    identity: str
    """What the built retriever calls itself."""
    values: tuple[tuple[tuple[str, int], tuple[float, ...]], ...]
    """(task id, goal) with relevant tools, and its values in the order of `metric_names`."""
    calibration: Calibration | None = None
    """None: fewer than two goals need no tool."""
    measures: bool = True
    """False: only the order of scores has meaning; they cannot be compared between queries."""
    unmatched: int = 0
    """Queries among `values` for which no tool was named."""
    tied: int = 0
    """Those whose ranking holds tools of equal scores, which stand in the order of ids."""
    longer: tuple[Longer, ...] = ()
    """Texts of which an embedder read the beginning alone: documents, queries."""


class Measurement(NamedTuple):
    """What was measured just now, with the rankings and the time it took."""

    measured: Measured
    rankings: Sequence[Ranking]
    """One for each goal that is ranked, also of those without relevant tools."""
    timing: Mapping[str, float]
    """{queries, building_s, query_ms}; kept vectors and indexes are not made again."""


@dataclass(frozen=True, slots=True)
class Unavailable:
    """Why a retriever could not be asked."""

    reason: str


def measure(
    contender: Contender, ranked: Ranked, pool: Pool, ks: Sequence[int]
) -> Measurement | Unavailable:
    """Build a retriever over a pool, rank its tasks' goals, and score the rankings.

    Some faults show only when a retriever is built or asked: a missing key, extra or model, a
    server that is down, an answer that is no ranking, an exception of a plug-in. Then the result is
    `Unavailable`, and the experiment goes on with the other retrievers.

    Args:
        contender: The retriever.
        ranked: What is measured.
        pool: The tools and tasks as the retriever gets them.
        ks: Cut-offs; the largest is the length of a ranking.

    Raises:
        UnknownNameError: The retriever knows no such model's provider, template or option.
        OptionError: An option has a value that it cannot have.
    """
    begun = perf_counter()
    try:
        told: list[Longer] = []
        retriever = build_retriever(contender.what, replace(pool, longer=told.append))
        built = perf_counter()
        rankings = tuple(_rankings(retriever, ranked, max(ks)))
        identity = str(getattr(retriever, "identity", "") or contender.label)
    except (UnknownNameError, OptionError, KeyboardInterrupt):
        raise
    except SealError as error:
        kind = "no answer: " if isinstance(error, InfrastructureError) else ""
        return Unavailable(kind + " ".join(str(error).split()))
    except BaseException as error:  # what a plug-in may do
        _log.debug("%s failed", contender.label, exc_info=True)
        return Unavailable(" ".join(fault(error).split()))
    count_tokens = token_counts(ranked.tools)
    tokens = {tool: count_tokens(tool) for ranking in rankings for tool, _ in ranking.hits}
    found = measure_rankings(rankings, qrels_of(ranked.tasks), ks, tokens)
    timing = {
        "queries": len(rankings),
        "building_s": round(built - begun, 4),
        "query_ms": round(1000 * (perf_counter() - built) / max(1, len(rankings)), 4),
    }
    measured = Measured(
        "",
        identity,
        tuple((goal, tuple(values)) for goal, values in found.items()),
        _calibration(ranked, rankings),
        bool(getattr(retriever, "measures", True)),
        longer=tuple(_summed(told)),
        **_undecided(ranking for ranking in rankings if (ranking.task_id, ranking.goal) in found),
    )
    return Measurement(measured, rankings, timing)


def _undecided(rankings: Iterable[Ranking]) -> dict[str, int]:
    """Return how many rankings are empty, and how many hold equal scores."""
    scores = [[score for _, score in ranking.hits] for ranking in rankings]
    return {
        "unmatched": sum(not row for row in scores),
        "tied": sum(len(set(row)) < len(row) for row in scores),
    }


def _summed(told: Sequence[Longer]) -> Iterator[Longer]:
    """Yield documents, and the queries of all batches, of which some are longer than is read."""
    for kind, longest in dict.fromkeys((one.kind, one.longest) for one in told):
        mine = [one for one in told if (one.kind, one.longest) == (kind, longest)]
        longer, total = sum(one.longer for one in mine), sum(one.total for one in mine)
        if longer:
            yield Longer(kind, longer, total, longest)


def _calibration(ranked: Ranked, rankings: Sequence[Ranking]) -> Calibration | None:
    """Return how well the best score tells goals that need a tool from goals that need none."""
    goals = {(task.id, position): task.goals[position] for task, position in ranked.goals}
    scores: dict[bool, list[float]] = {True: [], False: []}
    for ranking in rankings:
        goal = goals[ranking.task_id, ranking.goal]
        if goal.relevant or goal.needs_no_tool:
            best = ranking.hits[0][1] if ranking.hits else -inf
            scores[bool(goal.relevant)].append(best)
    return calibration(scores[True], scores[False])


def _rankings(retriever: Retriever, ranked: Ranked, k: int) -> Iterator[Ranking]:
    known, goals = frozenset(ids_of(ranked.tools)), goals_of(ranked.tasks)
    queries = (
        Query(task.goals[position].text, task.id, position) for task, position in ranked.goals
    )
    while batch := list(islice(queries, _AT_ONCE)):
        yield from rank_others(retriever, batch, goals, k, known)
