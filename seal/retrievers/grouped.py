"""Tools that belong together: hierarchy, co-use."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any, ClassVar

from seal.core import DataError, OptionError, Pool, Query, Task, Tool
from seal.core.records import read_records
from seal.core.registry import label_of
from seal.core.text import normalised
from seal.core.values import derive_seed, digest
from seal.retrievers.base import (
    DESCRIPTION_LIMIT,
    Hits,
    by_place,
    by_score,
    check_k,
    names,
    number_option,
    whole_option,
)
from seal.retrievers.build import inner_retriever
from seal.retrievers.references import needed
from seal.retrievers.wrappers import Wrapper

# -- Hierarchical retrieval: first the group, such as a category or an MCP server, then the tool.

BY: Mapping[str, Callable[[Tool], str]] = {
    "category": lambda tool: tool.category,
    "server": lambda tool: names(tool).tool,
}
"""What tools are grouped by: their category, or the service, class or MCP server that has them."""


class Hierarchy:
    """Retrieves the tools of the groups that suit a query best, then the others.

    A group's document is its name and the names and descriptions of its tools, each cut so that all
    have a place. A tool of no group is one of its own. Within the first groups, and behind them,
    tools stand as the retriever ranks them; scores count down and hold the order alone. Source: Du
    et al. (2024), AnyTool, section 3.1 (category, tool, API); Fei et al. (2025), MCP-Zero (server,
    then tool).

    Args:
        pool: Options: `of`, the retriever of groups and of tools (default the general one); `by`,
            server (the default) or category; `groups`, how many come first (default 5).

    Raises:
        DataError: No tool has a group.
        OptionError: An option is out of range.
    """

    OPTIONS: ClassVar[frozenset[str]] = frozenset({"of", "by", "groups"})
    reads_text: ClassVar[bool] = False
    measures: ClassVar[bool] = False

    def __init__(self, pool: Pool) -> None:
        by = pool.options.get("by") or "server"
        if by not in BY:
            raise OptionError(f"by={by}: expected one of {', '.join(sorted(BY))}")
        self._count = whole_option(pool.options, "groups", 5, 1)
        members: dict[str, list[Tool]] = {}
        for tool in pool.tools:
            members.setdefault(BY[by](tool) or tool.id, []).append(tool)
        if not any(map(BY[by], pool.tools)):
            raise DataError(
                f"no tool of the pool has a {by}; take --retriever hybrid, or another by"
            )
        self._group = {tool.id: group for group, tools in members.items() for tool in tools}
        self._tools = inner_retriever(pool)
        groups = tuple(_document(group, tools) for group, tools in members.items())
        self._groups = inner_retriever(replace(pool, tools=groups))
        self.identity = f"{label_of(self._tools)}/{by}@{self._count}"

    def retrieve(self, queries: Sequence[Query], k: int) -> list[Hits]:
        """Return for each query the k tools that stand first.

        Raises:
            UsageError: k is less than 1.
            ModelError: A model or its server failed.
        """
        check_k(k)
        groups = self._groups.retrieve(queries, self._count)
        tools = self._tools.retrieve(queries, len(self._group))
        return [self._ranked(*pair)[:k] for pair in zip(groups, tools, strict=True)]

    def _ranked(self, groups: Hits, tools: Hits) -> Hits:
        first = {group for group, _ in by_score(groups)[: self._count]}
        ranked = [tool for tool, _ in by_score(tools)]
        ranked.sort(key=lambda tool: self._group[tool] not in first)  # stable
        return by_place(ranked, len(self._group))


def _document(group: str, tools: Sequence[Tool]) -> Tool:
    """Return a group as a tool, whose description tells of its members."""
    share = max(20, DESCRIPTION_LIMIT // len(tools))
    told = (f"{names(tool).api}: {tool.description}"[:share] for tool in tools)
    return Tool(group, group, " ".join(told), source={"tool": group, "api": group})


# -- Co-use: tools that gold wants together find each other.

FOLDS = 5
"""Parts of the tasks; a query is answered without what its own part says."""
DEPTH = 100
"""First places of each ranking whose scores change."""
LEADERS = 10
"""First tools of a ranking that lift those that are used with them."""


class CoUse(Wrapper):
    """Adds to the score of each tool by those of tools that gold wants together with it.

    Scores are divided by the best of their query first. Then a tool is lifted by share x
    score(found) x P(tool | found). Of the first 10 tools, `found` is the one for which this is
    greatest. P is the number of training goals that want both, divided by n + 1, where n goals want
    `found`.

    Nothing is learnt of a query from itself. Tasks fall into 5 parts by the texts of their goals. A
    query is answered without the parts that have its text or that of its goal, whatever the task is
    called there.

    Args:
        pool: Options: `of`, the retriever (default the general one); `share` (default 0.5, at
            least 0); `train`, a pool's folder, whose tasks are learnt from. None: the tasks of the
            pool itself.

    Raises:
        DataError: There are no training tasks, or the folder's cannot be read.
        UsageError: An option is out of range.
    """

    OPTIONS: ClassVar[frozenset[str]] = frozenset({"of", "share", "train"})
    reads_text: ClassVar[bool] = False
    reads_gold: ClassVar[bool] = True
    learns: ClassVar[bool] = True
    """From all tasks that the pool has, whichever are asked."""

    @staticmethod
    def files(options: Mapping[str, Any]) -> list[Path]:
        """Return the file of tasks that is learnt from; none where the pool's own are."""
        folder = options.get("train")
        return [] if folder is None else [Path(str(folder)) / "tasks.jsonl"]

    def __init__(self, pool: Pool) -> None:
        self._share = number_option(pool.options, "share", 0.5, math.inf)
        folder = pool.options.get("train")
        tasks = pool.tasks if folder is None else tuple(_tasks(Path(str(folder))))
        if not tasks:
            raise DataError(
                "co_use learns from tasks, and the pool has none: give train=FOLDER, a pool's"
            )
        learnt = [[(goal.text, sorted(needed(goal))) for goal in task.goals] for task in tasks]
        way = f"co-use={self._share:g}/{digest(learnt)[:12]}"
        super().__init__(inner_retriever(pool), way)
        self.measures = False  # the best of each query has about 1
        known = {tool.id for tool in pool.tools}
        self._folds = [_Counts(known) for _ in range(FOLDS)]
        self._places: dict[str, set[int]] = {}
        """Text of a goal to the folds that learn from it."""
        for task in tasks:
            texts = [_key(goal.text) for goal in task.goals]
            place = derive_seed("co-use", texts) % FOLDS
            self._folds[place].add(task)
            for text in texts:
                self._places.setdefault(text, set()).add(place)
        self._texts = {
            (task.id, position): _key(goal.text)
            for task in (*tasks, *pool.tasks)  # the queries' own pool last
            for position, goal in enumerate(task.goals)
        }

    def retrieve(self, queries: Sequence[Query], k: int) -> list[Hits]:
        """Return for each query the k tools of the highest scores, equal ones by id.

        Raises:
            UsageError: k is less than 1.
            DataError: The retriever gave a score that is not finite.
        """
        check_k(k)
        rows = self._retriever.retrieve(queries, max(k, DEPTH))
        return [self._lifted(*pair)[:k] for pair in zip(queries, rows, strict=True)]

    def _lifted(self, query: Query, row: Sequence[tuple[str, float]]) -> Hits:
        found = self._scored(row)
        best = max((score for _, score in found), default=0.0)
        if best <= 0:
            return found
        scores = {tool: score / best for tool, score in found}
        # A step of a plan, or a model's own search, has other words than its goal.
        texts = {_key(query.text), self._texts.get((query.task_id, query.goal), "")}
        own = set().union(*(self._places.get(text, ()) for text in texts))
        others = [fold for place, fold in enumerate(self._folds) if place not in own]
        lifts: dict[str, float] = {}
        for leader, _ in found[:LEADERS]:
            score = max(scores[leader], 0.0)
            goals = sum(fold.goals[leader] for fold in others)
            for tool in set().union(*(fold.joined.get(leader, ()) for fold in others)):
                times = sum(fold.joined[leader][tool] for fold in others if leader in fold.joined)
                lifts[tool] = max(lifts.get(tool, 0.0), score * times / (goals + 1))
        for tool, lift in lifts.items():
            scores[tool] = scores.get(tool, 0.0) + self._share * lift
        return self._scored(scores.items())


class _Counts:
    """How many goals of some tasks want each tool, and each two together."""

    def __init__(self, known: set[str]) -> None:
        self._known = known
        self.goals: Counter[str] = Counter()
        self.joined: dict[str, Counter[str]] = {}

    def add(self, task: Task) -> None:
        """Count the goals of a task, by the tools that the pool has."""
        for goal in task.goals:
            tools = sorted(needed(goal) & self._known)
            self.goals.update(tools)
            for one, other in permutations(tools, 2):
                self.joined.setdefault(one, Counter())[other] += 1


def _key(text: str) -> str:
    return normalised(text).casefold()


def _tasks(folder: Path) -> Iterable[Task]:
    """Yield the tasks of a pool's folder.

    Raises:
        DataError: There are none, or they cannot be read.
    """
    path = folder / "tasks.jsonl"
    if not path.is_file():
        raise DataError(f"train={folder}: no tasks.jsonl there; name a folder of seal import")
    return read_records(path, Task)
