"""Which tasks a retriever is trained on and which it is tested on, and how alike they are."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from seal.core import DataError, Goal, Task, UsageError
from seal.core.canonical import derive_seed
from seal.core.text import counted
from seal.experiments.training.training_settings import BY_BENCHMARK, SplitKind
from seal.retrievers.training_pairs import GoldQuery, plain

TRAIN = "train"
"""What a benchmark calls its tasks for training; every other named split is for testing."""
COMPARED = 500
"""Characters of a query that are compared."""
_BLOCK = 256


@dataclass(frozen=True, slots=True)
class Split:
    """Tasks by what they are for, in their order."""

    train: tuple[Task, ...]
    test: tuple[Task, ...]
    left_out: tuple[Task, ...]
    """Without a text that needs a tool, or, in the split `given`, without a split."""
    held_out_tools: tuple[str, ...] = ()
    """Ids of tools that no training task needs; of the split `tool` alone."""


class NearDuplicate(NamedTuple):
    """A query and the one of some others that is most like it."""

    query: GoldQuery
    other: GoldQuery
    ratio: float
    """rapidfuzz's normalised indel ratio of both texts in small letters without punctuation, in
    [0, 100]; 100: the same words."""


def split(tasks: Sequence[Task], kind: SplitKind, held_out: float, seed: int) -> Split:
    """Split tasks; those that share a text, up to case and punctuation, stay on one side.

    The split `given` alone may have one text on both sides: `near_duplicates` finds it. The split
    `benchmark` tests on other pools, so that every usable task of this one is for training.

    Args:
        tasks: Of one pool.
        kind: See `TrainSettings`.
        held_out: Share of tasks, or of the tools that tasks need, in (0, 1).
        seed: Equal seeds give equal splits.

    Raises:
        DataError: No task has a text that needs a tool, or nothing is left on one side.
        UsageError: The benchmark has no split of its own.
    """
    usable = tuple(task for task in tasks if any(map(_is_usable, task.goals)))
    if not usable:
        raise DataError(
            f"none of {counted(len(tasks), 'task')} names the tools that it needs: nothing to "
            f"train on; "
            "import a benchmark that has relevant tools"
        )
    if kind == BY_BENCHMARK:
        return Split(usable, (), _others(tasks, usable))
    tools: tuple[str, ...] = ()
    if kind == "given":
        tested = {task.id for task in usable if task.split not in ("", TRAIN)}
        usable = tuple(task for task in usable if task.split)
        _check_given(usable)
    else:
        groups = _groups(usable)
        chance = random.Random(derive_seed(seed, "split", kind))
        if kind == "tool":
            tools = _drawn_tools(usable, held_out, chance)
            tested = _needing(groups, set(tools))
        else:
            tested = _drawn(groups, held_out * len(usable), chance)
    train = tuple(task for task in usable if task.id not in tested)
    test = tuple(task for task in usable if task.id in tested)
    _check_both(train, test, kind)
    return Split(train, test, _others(tasks, usable), tools)


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


def without(tasks: Iterable[Task], queries: Iterable[GoldQuery]) -> tuple[Task, ...]:
    """Return tasks without some of their queries; those that then need no tool are left out."""
    gone = {(query.task_id, query.goal) for query in queries}
    kept = (
        replace(task, goals=tuple(g for n, g in enumerate(task.goals) if (task.id, n) not in gone))
        for task in tasks
    )
    return tuple(task for task in kept if any(goal.relevant for goal in task.goals))


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


def _drawn(groups: list[list[Task]], wanted: float, chance: random.Random) -> set[str]:
    """Return the ids of tasks of groups drawn until there are as many as wanted, at least one."""
    drawn: set[str] = set()
    for group in chance.sample(groups, len(groups)):
        if drawn and len(drawn) + len(group) > wanted:
            continue
        drawn.update(task.id for task in group)
    return drawn


def _drawn_tools(tasks: Sequence[Task], share: float, chance: random.Random) -> tuple[str, ...]:
    needed = sorted({tool for query in asked_of(tasks) for tool in query.tools})
    return tuple(sorted(chance.sample(needed, max(1, round(share * len(needed))))))


def _needing(groups: Iterable[Sequence[Task]], tools: set[str]) -> set[str]:
    return {
        task.id
        for group in groups
        if any(not tools.isdisjoint(goal.relevant) for task in group for goal in task.goals)
        for task in group
    }


def _check_given(tasks: Sequence[Task]) -> None:
    names = Counter(task.split for task in tasks)
    if TRAIN not in names or len(names) < 2:
        listed = ", ".join(f"{name} {count}" for name, count in sorted(names.items())) or "none"
        raise UsageError(
            f"--split given: the pool's tasks must be of {TRAIN!r} and of another split; "
            f"there are: {listed}. Take --split query or tool"
        )


def _check_both(train: Sequence[Task], test: Sequence[Task], kind: SplitKind) -> None:
    if not train or not test:
        side = "for training" if not train else "for testing"
        raise DataError(
            f"--split {kind}: no task is left {side} of {len(train) + len(test)}; "
            "change --held-out or --split, or import more tasks"
        )
