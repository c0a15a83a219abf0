"""Data to train a retriever: a pool in two parts without leaks, and triplets."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from rapidfuzz import fuzz

from seal.core import DataError, Goal, Query, Ranking, Task, UnknownNameError, UsageError
from seal.core.settings import Count, check_fields
from seal.core.store import Store, open_store
from seal.core.text import counted, words
from seal.core.values import derive_seed
from seal.experiments.draws import TRAINING
from seal.experiments.series import check_results_folder, write_derived, write_json
from seal.pools.pool import StoredPool, load_pool
from seal.retrievers.base import documents
from seal.retrievers.build import build_retriever, rank, reads_gold
from seal.runs.engine import search_pool
from seal.runs.settings import check_seed

if TYPE_CHECKING:
    from seal.experiments.export import Writer

# -- A pool in two: tasks to train a retriever on, and tasks to test it on, without leaks.
#
# What is written:
#
#     train/, test/    pool folders     training.json    the ids of the tasks in each, under the
# digests of the pool and of both parts;                      in a model's folder it is the record
# of what the model was trained on

SplitKind = Literal["query", "tool", "given"]
TRAIN, TEST = "train", "test"
"""Names of the parts. A benchmark calls its tasks for training so, too; every other split that it
names is for testing."""
SHARE = 0.2
"""What is held out where nobody says how much."""
COMPARED = 500
"""Characters of a query that are compared."""
_BLOCK = 256
_NO_QUERY = "without a query that needs a tool"
_NO_SPLIT = "in no split of the benchmark's"
_BOTH = "need tools of both parts"
_NEAR = "near a test query"
_TOO_MANY = "more than wanted for training"


@dataclass(frozen=True, kw_only=True)
class SplitSettings:
    """How a pool is split."""

    by: SplitKind = "query"
    """What is held out: tasks (`query`), tools with the tasks that need them (`tool`), or what the
    benchmark itself does not call `train` (`given`)."""
    test: int | float | None = None
    """How many tasks, or tools, are held out, or which share of them.  [default: 0.2]"""
    train: int | float | None = None
    """How many tasks are kept for training, or which share of all.  [default: all that are left]"""
    seed: int = 0
    """Of what is drawn by chance."""
    threshold: float = 90.0
    """From which likeness on two queries are near-duplicates, at most 100."""

    def __post_init__(self) -> None:
        """Reject values that no split can have.

        Raises:
            UnknownNameError: There is no such way to split.
            UsageError: A size or the threshold is out of range, or `test` stands beside `given`.
        """
        if self.by not in get_args(SplitKind):
            raise UnknownNameError("value of by", str(self.by), get_args(SplitKind))
        for name in (TEST, TRAIN):
            size = getattr(self, name)
            is_share = isinstance(size, float)
            if size is not None and not (0 < size < 1 if is_share else size >= 1):
                raise UsageError(
                    f"{name}={size}: expected a share above 0 and below 1, or a whole number of at "
                    "least 1"
                )
        if self.by == "given" and self.test is not None:
            raise UsageError(f"test={self.test}: the benchmark's own split says it; leave it out")
        if not 0 < self.threshold <= 100:
            raise UsageError(f"threshold={self.threshold}: expected a number above 0, at most 100")
        check_seed(self.seed)


@dataclass(frozen=True, slots=True)
class GoldQuery:
    """One query with the tools that it needs."""

    task_id: str
    goal: int
    text: str
    tools: tuple[str, ...]
    """Ids of the relevant tools."""


@dataclass(frozen=True, slots=True)
class Parts:
    """Tasks by what they are for, in their order."""

    train: tuple[Task, ...]
    test: tuple[Task, ...]
    left_out: dict[str, tuple[Task, ...]] = field(default_factory=dict)
    """Why tasks are in neither part, to these."""
    held_out_tools: tuple[str, ...] = ()
    """Ids of tools that no training task needs; of `by="tool"` alone."""


class NearDuplicate(NamedTuple):
    """A query and the one of some others that is most like it."""

    query: GoldQuery
    other: GoldQuery
    ratio: float
    """rapidfuzz's normalised indel ratio of both texts in small letters without punctuation, in
    [0, 100]; 100: the same words."""


def plain(text: str) -> str:
    """Return a query's words in small letters, by which two queries are the same."""
    return " ".join(words(text)) or text.strip()


def split_tasks(tasks: Sequence[Task], settings: SplitSettings) -> Parts:
    """Split tasks so that no training query is nearly the same as a test query.

    A training task with such a query is left out. With `by="tool"` a test task needs held-out tools
    alone, and a training task none of them; tasks that need both are left out.

    Args:
        tasks: Of one pool.
        settings: How; equal ones give equal parts.

    Raises:
        DataError: No task has a text that needs a tool, or nothing is left on one side.
        UsageError: The pool has too few tasks or tools for the sizes, or no split of its own.
    """
    usable = tuple(task for task in tasks if any(map(_is_usable, task.goals)))
    if not usable:
        raise DataError(
            f"none of {counted(len(tasks), 'task')} names the tools that it needs: nothing to "
            "train on; import a benchmark that has relevant tools"
        )
    left: dict[str, tuple[Task, ...]] = {_NO_QUERY: _others(tasks, usable)}
    chance = random.Random(derive_seed(settings.seed, "split", settings.by))
    tools: tuple[str, ...] = ()
    if settings.by == "given":
        tested = {task.id for task in usable if task.split not in ("", TRAIN)}
        left[_NO_SPLIT] = tuple(task for task in usable if not task.split)
        usable = tuple(task for task in usable if task.split)
        names = Counter(task.split for task in usable)
        if TRAIN not in names or len(names) < 2:
            listed = ", ".join(f"{name} {count}" for name, count in sorted(names.items()))
            raise UsageError(
                f"by='given': the pool's tasks must be of {TRAIN!r} and of another split; "
                f"there are: {listed or 'none'}. Take by='query' or 'tool'"
            )
    elif settings.by == "tool":
        tools = _drawn_tools(usable, settings, chance)
        held = {task.id: _needed(task) & {*tools} for task in usable}
        tested = {task.id for task in usable if held[task.id] == _needed(task)}
        left[_BOTH] = tuple(t for t in usable if held[t.id] and t.id not in tested)
        usable = _others(usable, left[_BOTH])
    else:
        count = _count(TEST, settings.test, len(usable), len(usable) - 1, "task")
        tested = _drawn(_groups(usable), count, chance)
    train = tuple(task for task in usable if task.id not in tested)
    test = tuple(task for task in usable if task.id in tested)
    near = near_duplicates(asked_of(train), asked_of(test), settings.threshold)
    alike = {it.query.task_id for it in near}
    left[_NEAR] = tuple(task for task in train if task.id in alike)
    train = _others(train, left[_NEAR])
    if not train or not test:
        side = "for training" if not train else "for testing"
        told = [f"{len(those)} {why}" for why, those in left.items() if those]
        reasons = f" ({', '.join(told)})" if told else ""
        raise DataError(
            f"by={settings.by!r}: no task is left {side}{reasons}; change test, seed or by, or "
            "take a larger pool"
        )
    kept = train
    if settings.train is not None:
        count = _count(TRAIN, settings.train, len(usable), len(train), "task")
        drawn = {task.id for task in chance.sample(train, count)}
        kept = tuple(task for task in train if task.id in drawn)
    left[_TOO_MANY] = _others(train, kept)
    return Parts(kept, test, {why: those for why, those in left.items() if those}, tools)


def write_split(pool: StoredPool, settings: SplitSettings, out: Path) -> dict[str, Any]:
    """Split a pool and write both parts as pool folders, and the record of what stands in each.

    The tools of both are those of the pool; with `by="tool"` the part for training has no held-out
    tool that none of its tasks names.

    Args:
        pool: With all its tasks.
        settings: How.
        out: Folder to make; an earlier split there is replaced.

    Returns:
        The content of training.json.

    Raises:
        DataError: As `split_tasks`.
        UsageError: As `split_tasks`, or the folder holds something else.
    """
    check_results_folder(out, (TRAIN, TEST, TRAINING), "a split")
    parts = split_tasks(list(pool.every_task()), settings)
    from seal.pools.pool import named_tools

    named = {tool for task in parts.train for _, tool in named_tools(task)}
    gone = {*parts.held_out_tools} - named
    kept = [tool for tool in pool.tools() if tool.id not in gone]
    (out / TRAINING).unlink(missing_ok=True)
    facts = {name: pool.report[name] for name in ("play",) if name in pool.report}
    for part, tools, tasks in ((TRAIN, kept, parts.train), (TEST, pool.tools(), parts.test)):
        write_derived(pool, out / part, tools, tasks, split_from=pool.digest, **facts)
    record = _record(pool, parts, settings, out)
    write_json(record, out / TRAINING)
    return record


def _record(pool: StoredPool, parts: Parts, settings: SplitSettings, out: Path) -> dict[str, Any]:
    train, test = ([task.id for task in part] for part in (parts.train, parts.test))
    held = list(parts.held_out_tools)
    digests = {
        pool.digest: (train, test),
        load_pool(out / TRAIN).digest: (train, []),
        load_pool(out / TEST).digest: ([], test),
    }
    return {
        "pool": pool.name,
        "split": asdict(settings),
        "sources": [
            {
                "pool": pool.name,
                "pool_digest": digest,
                "train": trained,
                "test": tested,
                "held_out_tools": held,
            }
            for digest, (trained, tested) in digests.items()
        ],
        "counts": {
            "train_tasks": len(train),
            "test_tasks": len(test),
            "train_tools": _tools_of(parts.train),
            "test_tools": _tools_of(parts.test),
            "left_out": {why: len(those) for why, those in parts.left_out.items()},
        },
    }


def _tools_of(tasks: Iterable[Task]) -> int:
    return len({tool for query in asked_of(tasks) for tool in query.tools})


def _others(tasks: Iterable[Task], kept: Iterable[Task]) -> tuple[Task, ...]:
    ids = {task.id for task in kept}
    return tuple(task for task in tasks if task.id not in ids)


def _is_usable(goal: Goal) -> bool:
    return bool(goal.relevant and goal.text.strip())


def asked_of(tasks: Iterable[Task]) -> list[GoldQuery]:
    """Return the queries of tasks that need a tool."""
    return [
        GoldQuery(task.id, position, goal.text, tuple(dict.fromkeys(goal.relevant)))
        for task in tasks
        for position, goal in enumerate(task.goals)
        if _is_usable(goal)
    ]


def near_duplicates(
    queries: Sequence[GoldQuery], others: Sequence[GoldQuery], threshold: float
) -> list[NearDuplicate]:
    """Return for each query the other one most like it, where they are alike enough.

    Args:
        queries: Such as the training queries.
        others: Such as the test queries.
        threshold: Least ratio, in (0, 100].

    Returns:
        The likest first, then in the order of the queries.
    """
    import numpy as np
    from rapidfuzz import fuzz, process

    if not others:
        return []
    texts = [plain(other.text)[:COMPARED] for other in others]
    found = []
    for start in range(0, len(queries), _BLOCK):
        block = queries[start : start + _BLOCK]
        ratios = process.cdist(
            [plain(query.text)[:COMPARED] for query in block],
            texts,
            scorer=fuzz.ratio,
            score_cutoff=threshold,
            dtype=np.float32,
        )
        likest = ratios.argmax(axis=1)
        for row, (query, column) in enumerate(zip(block, likest, strict=True)):
            if ratios[row, column] >= threshold:
                found.append(
                    NearDuplicate(query, others[column], round(float(ratios[row, column]), 2))
                )
    return sorted(found, key=lambda near: -near.ratio)


def _groups(tasks: Sequence[Task]) -> list[list[Task]]:
    """Return tasks in groups: those that share a text directly or through others."""
    parent = {task.id: task.id for task in tasks}

    def root(task: str) -> str:
        while parent[task] != task:
            parent[task] = parent[parent[task]]
            task = parent[task]
        return task

    first_with: dict[str, str] = {}
    for task in tasks:
        for goal in task.goals:
            other = first_with.setdefault(plain(goal.text), task.id)
            parent[root(task.id)] = root(other)
    groups: defaultdict[str, list[Task]] = defaultdict(list)
    for task in tasks:
        groups[root(task.id)].append(task)
    return list(groups.values())


def _drawn(groups: list[list[Task]], wanted: int, chance: random.Random) -> set[str]:
    """Return the ids of tasks of groups drawn until there are as many as wanted, at least one."""
    drawn: set[str] = set()
    for group in chance.sample(groups, len(groups)):
        if drawn and len(drawn) + len(group) > wanted:
            continue
        drawn.update(task.id for task in group)
    return drawn


def _needed(task: Task) -> set[str]:
    """Return the tools that are gold of a task: relevant, or called by a plan."""
    called = (call.tool for g in task.goals for plan in g.plans or () for call in plan.calls())
    return {tool for goal in task.goals for tool in goal.relevant}.union(called)


def _drawn_tools(
    tasks: Sequence[Task], settings: SplitSettings, chance: random.Random
) -> tuple[str, ...]:
    """Return tools drawn one by one, each with those that one of its tasks needs besides."""
    needing: defaultdict[str, list[Task]] = defaultdict(list)
    for task in tasks:
        for tool in _needed(task):
            needing[tool].append(task)
    count = _count(TEST, settings.test, len(needing), len(needing) - 1, "tool")
    drawn: set[str] = set()
    for tool in chance.sample(sorted(needing), len(needing)):
        together = drawn | _needed(chance.choice(needing[tool]))
        if len(together) <= count:
            drawn = together
    return tuple(sorted(drawn))


def _count(name: str, size: int | float | None, of: int, most: int, what: str) -> int:
    """Return how many a size means of some things.

    Raises:
        UsageError: They are more than there may be.
    """
    size = SHARE if size is None else size
    count = max(1, round(size * of)) if isinstance(size, float) else size
    if count > most:
        there = f"of {counted(of, what)} at most {most} can be taken"
        raise UsageError(f"{name}={size}: {there}; give less, or a larger pool")
    return count


# -- Triplets to train a retriever on: a query, the document of a tool that it needs, and others.
#
# One line of triplets.jsonl, as the loader of Hugging Face's `datasets` reads it for the trainer of
# sentence-transformers:
#
#     {"anchor": QUERY, "positive": DOCUMENT, "negative": DOCUMENT}
#
# Several negatives have a column each, `negative_1` and so on. A query that needs several tools has
# a line for each. Queries of the same words are one, which needs the tools of all. Documents are
# what the retriever `dense` embeds of a tool.

FILE = "triplets.jsonl"


def write_triplets(to: Writer) -> None:
    """Write a pool's queries with the tools that they need, and hard negatives (`negatives`).

    Raises:
        UnknownNameError: There is no such retriever.
        UsageError: The retriever reads gold, or only the order of its scores has meaning.
        DataError: The pool has too few tools.
    """
    tasks = list(to.pool.every_task())
    every = asked_of(tasks)
    without = sum(len(task.goals) for task in tasks) - len(every)
    if without:
        to.left_out["goals without relevant tools"] += without
    asked = _joined(every)
    tools = to.pool.tools()
    texts = dict(zip((tool.id for tool in tools), documents(tools), strict=True))
    mined = Mined()
    if asked:
        with closing(open_store()) as store:
            mined = mine(to.pool, asked, texts, to.mining, store)
    to.lines(FILE, "triplets", _triplets(asked, texts, mined))
    to.read_back = (
        f'`datasets.load_dataset("json", data_files="{FILE}")` reads it. '
        f"{counted(to.mining.negatives, 'hard negative')} a line, {mined.found} found by "
        f"{to.mining.negatives_by}, {mined.drawn} drawn by chance; not taken: "
        f"{mined.too_near_in_score} whose score is too near that of the needed tool, "
        f"{mined.too_near_in_text} whose document is."
    )


def _joined(asked: Sequence[GoldQuery]) -> list[GoldQuery]:
    """Return the queries, those of the same words as the first of them with the tools of all."""
    found: dict[str, GoldQuery] = {}
    for query in asked:
        first = found.setdefault(plain(query.text), query)
        tools = tuple(dict.fromkeys((*first.tools, *query.tools)))
        found[plain(query.text)] = replace(first, tools=tools)
    return list(found.values())


def _triplets(
    asked: Sequence[GoldQuery], texts: Mapping[str, str], mined: Mined
) -> Iterator[dict[str, str]]:
    """Yield each query with each document once; a tool without a word in its document has none."""
    told: set[tuple[str, str]] = set()
    for query in asked:
        for tool in query.tools:
            text = texts[tool]
            if words(text) and (query.text, text) not in told:
                told.add((query.text, text))
                hard = mined.negatives[query.text, tool]
                names = [f"negative_{n}" for n in range(1, len(hard) + 1)]
                names = names if len(hard) > 1 else ["negative"]
                pair = {"anchor": query.text, "positive": text}
                yield {**pair, **dict(zip(names, hard, strict=True))}


# -- Hard negatives: tools that a retriever places high for a query that does not need them.
#
# Gold names some of the tools that would serve a query, seldom all. So two kinds of candidates are
# left out, as they may be false negatives:
#
# - those whose score is above 95 % of the score of the pair's own tool;
# - those whose document is nearly that of a tool that the query needs.
#
# Source of the first: Moreira et al. (2024), NV-Retriever, section 3 (positive-aware mining,
# TopK-PercPos). The second holds documents to the likeness by which `seal.split` calls queries
# near.

NEGATIVE_SHARE = 0.95
"""A tool is taken as a negative if its score is at most this share of the own tool's score."""
DEPTH = 100
"""How many tools of a ranking are looked through. If the own tool is not among them, all their
scores are higher, and none of them is taken."""
LIKENESS = 90.0
"""From which likeness on, at most 100, a document is nearly that of a tool that is needed."""


@dataclass(frozen=True, kw_only=True)
class MiningSettings:
    """How hard negatives are mined."""

    negatives: Count = 1
    """Number of hard negatives for each query and tool that it needs."""
    negatives_by: str = "tfidf"
    """Retriever that finds them."""
    seed: int = 0
    """Seed of negatives that are drawn by chance, where it finds too few."""

    def __post_init__(self) -> None:
        """Reject values that no mining can have.

        Raises:
            UsageError: Names the flag, what it got and what it takes.
        """
        check_fields(self)
        check_seed(self.seed)


@dataclass(slots=True)
class Mined:
    """The hard negatives of pairs, and counts of what was left out."""

    negatives: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    """(query's text, id of its tool) to documents, equally many for each pair."""
    found: int = 0
    """Negatives that the retriever found."""
    drawn: int = 0
    """Negatives that were drawn by chance."""
    too_near_in_score: int = 0
    """Candidates ranked above the last one taken that were left out."""
    too_near_in_text: int = 0


def mine(
    pool: StoredPool,
    asked: Sequence[GoldQuery],
    documents: Mapping[str, str],
    settings: MiningSettings,
    store: Store,
) -> Mined:
    """Return hard negatives for each query and tool that it needs.

    If too few candidates are left, tools that the query does not need are drawn by chance.

    Args:
        pool: Whose tools are mined.
        asked: Training queries.
        documents: Tool id to its document.
        settings: How many, found by what.
        store: Where embeddings are kept.

    Raises:
        UnknownNameError: There is no such retriever.
        UsageError: The retriever reads gold, or only the order of its scores has meaning.
        DataError: The pool has too few tools.
    """
    by = settings.negatives_by
    if reads_gold(by):
        raise UsageError(f"--negatives-by {by}: it reads gold; name one that reads texts")
    retriever = build_retriever(by, search_pool(store, pool.tools(), seed=settings.seed))
    if not getattr(retriever, "measures", True):
        raise UsageError(
            f"--negatives-by {by}: its scores hold the order alone, so they do not tell how near a "
            "tool is to the wanted one; take bm25, tfidf, dense or hybrid"
        )
    queries = [Query(query.text, query.task_id, query.goal) for query in asked]
    rankings = rank(retriever, queries, DEPTH)
    plains = {tool: plain(text)[:COMPARED] for tool, text in documents.items()}
    mined = Mined()
    chance = random.Random(derive_seed(settings.seed, "negatives", pool.digest))

    def hard(query: GoldQuery, own: str, ranking: Ranking) -> list[str]:
        """Return the hard negatives of one pair, best first, then those drawn; count them."""
        count = settings.negatives
        wanted = [plains[tool] for tool in query.tools]

        def near(tool: str) -> bool:
            ratios = (fuzz.ratio(plains[tool], it, score_cutoff=LIKENESS) for it in wanted)
            return any(ratio >= LIKENESS for ratio in ratios)

        found: list[str] = []
        highest = NEGATIVE_SHARE * dict(ranking.hits).get(own, 0.0)
        for tool, score in ranking.hits:
            if len(found) == count:
                break
            if tool in query.tools:
                continue
            if score > highest or highest <= 0:
                mined.too_near_in_score += 1
            elif near(tool):
                mined.too_near_in_text += 1
            else:
                found.append(tool)
        mined.found += len(found)
        if len(found) == count:
            return found
        free = [tool for tool in plains if tool not in query.tools and tool not in found]
        shuffled = (tool for tool in chance.sample(free, len(free)) if not near(tool))
        drawn = list(islice(shuffled, count - len(found)))
        mined.drawn += len(drawn)
        return found + drawn

    for query, ranking in zip(asked, rankings, strict=True):
        for own in query.tools:
            tools = hard(query, own, ranking)
            if len(tools) < settings.negatives:
                raise DataError(
                    f"--negatives {settings.negatives}: pool {pool.name} has "
                    f"{counted(len(tools), 'tool')} neither needed by a query nor nearly the "
                    "same; give fewer"
                )
            mined.negatives[query.text, own] = tuple(documents[tool] for tool in tools)
    return mined
