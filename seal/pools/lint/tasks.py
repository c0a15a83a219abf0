"""Tasks and plans that cannot be played or scored as they stand, and texts that stand twice."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from seal.core import JSON, CodeRefusedError, DataError, SealError, Tables, Task, Tool, shortened
from seal.core.conditions import Called
from seal.core.text import words
from seal.core.validation import CallError
from seal.environments import REGISTRY as WORLDS
from seal.environments.world import Worlds, WorldSetup, build_worlds
from seal.evaluation.milestones.checks import check_plan
from seal.evaluation.milestones.milestone_scores import match_of
from seal.pools.gold_values import GoldCheck
from seal.pools.lint.lint_report import Finding
from seal.pools.named_tools import named_tools


def missing_tools(task: Task, tools: Mapping[str, Tool]) -> Iterator[Finding]:
    """Yield a finding for each tool that the task names and the pool lacks."""
    roles: dict[str, str] = {}
    for role, tool in named_tools(task):
        roles.setdefault(tool, role)
    for tool, role in roles.items():
        if tool not in tools:
            message = f"task {task.id!r} has the {role} tool {tool!r}, which the pool lacks"
            yield Finding("missing_tool", message, (task.id,), (tool,), {"role": role})


def invalid_calls(task: Task, tools: Mapping[str, Tool], check: GoldCheck) -> Iterator[Finding]:
    """Yield a finding for each gold call that its tool's schema refuses (`GoldCheck.refused`)."""
    for goal, call in _gold_calls(task):
        refused = check.refused(call) if call.tool in tools else None
        if refused is not None:
            yield _invalid(task, goal, call.tool, refused.arguments, refused.error)


def _gold_calls(task: Task) -> Iterator[tuple[int, Called]]:
    for position, goal in enumerate(task.goals):
        if goal.labels.get("kind") == "request":
            continue  # no call is made: "?" stands for the arguments that the user has not given
        for plan in goal.plans or ():
            for call in plan.calls():
                yield position, call


def _invalid(
    task: Task, goal: int, tool: str, arguments: dict[str, JSON], error: CallError
) -> Finding:
    message = f"task {task.id!r}, goal {goal}: the gold call of {tool!r}: {error.message}"
    evidence = {"goal": goal, "arguments": arguments, "error": error.kind, "argument": error.name}
    return Finding("invalid_call", message, (task.id,), (tool,), evidence)


def same_queries(tasks: Iterable[Task]) -> Iterator[Finding]:
    """Yield a finding for each query text that stands twice, and for those of different labels.

    Texts are the same where their words are, whatever their case. Of a task with several goals the
    texts of all count as one, and so do their labels.
    """
    groups: defaultdict[tuple[str, ...], list[Task]] = defaultdict(list)
    for task in tasks:
        said = tuple(word for goal in task.goals for word in words(goal.text))
        if said:
            groups[said].append(task)
    for group in groups.values():
        if len(group) > 1:
            yield from _same(group)


def _same(group: list[Task]) -> Iterator[Finding]:
    ids = tuple(task.id for task in group)
    text = " / ".join(goal.text for goal in group[0].goals)
    evidence: dict[str, JSON] = {"text": text}
    yield Finding(
        "repeated_query", f"{len(ids)} tasks ask {shortened(text)}", ids, evidence=evidence
    )
    labels = {tuple(frozenset(goal.relevant) for goal in task.goals): task for task in group}
    if len(labels) > 1:
        tools = sorted({tool for label in labels for relevant in label for tool in relevant})
        message = (
            f"{len(ids)} tasks ask {shortened(text)} with {len(labels)} sets of relevant tools"
        )
        given = [[sorted(relevant) for relevant in label] for label in labels]
        yield Finding(
            "conflicting_labels", message, ids, tuple(tools), {**evidence, "labels": given}
        )


def refused_worlds(tasks: Iterable[Task], allow_code: Collection[str]) -> Iterator[Finding]:
    """Yield a finding for each world that is code of a module that is not allowed."""
    played: dict[str, list[str]] = {}
    for task in tasks:
        played.setdefault(task.world, []).append(task.id)
    for world, ids in played.items():
        try:
            WORLDS.check_named(world, f"task {ids[0]!r}", allow_code)
        except CodeRefusedError as error:
            yield Finding("refused_world", str(error), tuple(ids), evidence={"world": world})


class PlanCheck:
    """Finds the plans that have no score, in the worlds of their tasks.

    Args:
        allow_code: Modules into which tasks may name their worlds by a dotted path.
        own: Gives the environments of benchmarks by name.
    """

    def __init__(self, allow_code: Collection[str], own: Callable[[str], Any] | None) -> None:
        self.allow_code = allow_code
        self._setup = WorldSetup(allow_code=allow_code, own=own)
        self._worlds: dict[str, Worlds | None] = {}

    def findings(self, task: Task) -> Iterator[Finding]:
        """Yield a finding for rules that there are not, and for each plan that has a fault.

        Which tables and columns there are, the task's world says; where it does not, none is known.
        """
        planned = [(n, goal.plans) for n, goal in enumerate(task.goals) if goal.plans]
        if not planned:
            return
        try:
            match_of(task)
        except DataError as error:
            yield Finding("unmeasurable_plan", str(error), (task.id,))
        state = self._state(task)
        for goal, plans in planned:
            for number, plan in enumerate(plans):
                try:
                    check_plan(plan, state, measured=True)
                except DataError as error:
                    message = f"task {task.id!r}, goal {goal}, plan {number}: {error}"
                    evidence = {"goal": goal, "plan": number, "fault": str(error)}
                    yield Finding("unmeasurable_plan", message, (task.id,), evidence=evidence)

    def _state(self, task: Task) -> Tables | None:
        """Return the tables that a task begins with, an empty one by a row of its columns."""
        if not task.world:
            return task.initial_state
        world = self._world(task.world)
        if world is None:
            return None
        try:
            tables = world.beginning(task)
        except SealError:
            return None
        found: Tables = {}
        for name, rows in tables.items():
            columns = dict.fromkeys(world.columns.get(name, {}))
            found[name] = rows or ([columns] if columns else [])
        return found

    def _world(self, name: str) -> Worlds | None:
        if name not in self._worlds:
            try:
                built = build_worlds(name, self._setup)
            except SealError:
                built = None
            self._worlds[name] = built if isinstance(built, Worlds) else None
        return self._worlds[name]
