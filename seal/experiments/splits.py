"""A pool in two: tasks to train a retriever on, and tasks to test it on, without leaks.

What is written:

    train/, test/    pool folders
    training.json    the ids of the tasks in each, under the digests of the pool and of both parts;
                     in a model's folder it is the record of what the model was trained on
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from seal.core import DataError, Goal, Task, Tool, UnknownNameError, UsageError
from seal.core.text import counted, words
from seal.core.values import derive_seed
from seal.experiments.contenders import TRAINING
from seal.experiments.series import check_results_folder, write_json
from seal.pools.importer import Notes, WorldFile
from seal.pools.pool import StoredPool, load_pool
from seal.pools.pool_writer import write_pool
from seal.runs.settings import check_seed

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
        _check_given(usable)
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
    _check_both(train, test, left, settings)
    kept = _kept(train, len(usable), settings, chance)
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
    from seal.pools.other_tools import named_tools

    named = {tool for task in parts.train for _, tool in named_tools(task)}
    gone = {*parts.held_out_tools} - named
    kept = [tool for tool in pool.tools() if tool.id not in gone]
    (out / TRAINING).unlink(missing_ok=True)
    _write_part(pool, kept, parts.train, out / TRAIN)
    _write_part(pool, pool.tools(), parts.test, out / TEST)
    record = _record(pool, parts, settings, out)
    write_json(record, out / TRAINING)
    return record


def _write_part(
    origin: StoredPool, tools: Iterable[Tool], tasks: Iterable[Task], folder: Path
) -> None:
    def records(source: Any, notes: Notes, **_: Any) -> Iterator[Tool | Task | WorldFile]:
        notes.lacks.update(origin.report.get("lacks") or ())
        notes.facts["split_from"] = origin.digest
        if "play" in origin.report:
            notes.facts["play"] = origin.report["play"]
        yield from tools
        yield from tasks
        from seal.pools.lookup import world_files_of

        yield from world_files_of(origin.folder)

    write_pool(origin.name, records, None, folder)


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
        "split": {
            "by": settings.by,
            "test": settings.test,
            "train": settings.train,
            "seed": settings.seed,
            "threshold": settings.threshold,
        },
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


def _kept(
    train: tuple[Task, ...], of: int, settings: SplitSettings, chance: random.Random
) -> tuple[Task, ...]:
    """Return the training tasks that are wanted, drawn by chance."""
    if settings.train is None:
        return train
    count = _count(TRAIN, settings.train, of, len(train), "task")
    drawn = {task.id for task in chance.sample(train, count)}
    return tuple(task for task in train if task.id in drawn)


def _check_given(tasks: Sequence[Task]) -> None:
    names = Counter(task.split for task in tasks)
    if TRAIN not in names or len(names) < 2:
        listed = ", ".join(f"{name} {count}" for name, count in sorted(names.items())) or "none"
        raise UsageError(
            f"by='given': the pool's tasks must be of {TRAIN!r} and of another split; "
            f"there are: {listed}. Take by='query' or 'tool'"
        )


def _check_both(
    train: Sequence[Task],
    test: Sequence[Task],
    left: dict[str, tuple[Task, ...]],
    settings: SplitSettings,
) -> None:
    if not train or not test:
        side = "for training" if not train else "for testing"
        told = [f"{len(those)} {why}" for why, those in left.items() if those]
        reasons = f" ({', '.join(told)})" if told else ""
        raise DataError(
            f"by={settings.by!r}: no task is left {side}{reasons}; change test, seed or by, or "
            "take a larger pool"
        )
