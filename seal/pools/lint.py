"""Lint of a pool; gold that cannot be played, values nobody can know."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seal.core import (
    JSON,
    CodeRefusedError,
    DataError,
    Goal,
    Milestone,
    Plan,
    SealError,
    Step,
    Tables,
    Task,
    Tool,
    UsageError,
    shortened,
)
from seal.core.conditions import Argument, Called
from seal.core.english import Day, Time, read
from seal.core.settings import checked_names
from seal.core.statements import Sense, leaves, statement
from seal.core.text import words
from seal.core.validation import CallError
from seal.core.values import equal
from seal.environments import REGISTRY as WORLDS
from seal.environments.world import Worlds, WorldSetup, build_worlds
from seal.evaluation.goals import match_of
from seal.evaluation.plan_checks import ancestors, check_plan
from seal.pools.lint_findings import KINDS, Finding, ReadPool, read_leniently
from seal.pools.lint_tools import (
    THRESHOLD,
    broken_schemas,
    descriptions,
    duplicates,
    near_duplicates,
)
from seal.pools.other_tools import named_tools
from seal.pools.own_benchmark import GoldCheck

# -- Lint: faults of a pool, as findings.


@checked_names
@dataclass(frozen=True, slots=True)
class LintReport:
    """What lint found in one pool."""

    tasks: int
    """Tasks that could be read."""
    tools: int
    """Tools that could be read."""
    findings: tuple[Finding, ...]
    """In the order of `KINDS`."""

    def counts(self) -> dict[str, int]:
        """Return the number of findings of each kind that was found, in the order of `KINDS`."""
        return dict(Counter(finding.kind for finding in self.findings))

    def to_json(self) -> dict[str, JSON]:
        """Return the report with every finding."""
        return {
            "tasks": self.tasks,
            "tools": self.tools,
            "counts": self.counts(),
            "findings": [_plain(finding) for finding in self.findings],
        }


def lint(
    folder: Path,
    threshold: float = THRESHOLD,
    allow_code: Collection[str] = (),
    worlds: Callable[[str], Any] | None = None,
) -> LintReport:
    """Return what is wrong or doubtful in a pool folder.

    Args:
        folder: With tools.jsonl and tasks.jsonl; lines that are no record are findings.
        threshold: Least likeness of near duplicates, in (0, 100] (`seal.pools.lint_tools`).
        allow_code: Modules into which tasks may name their worlds by a dotted path; other code is
            not loaded, which is a finding.
        worlds: Gives the environments of benchmarks by name (`environments_beside`); None: only
            registered worlds are known.

    Raises:
        UsageError: The threshold is not in (0, 100].
    """
    if not 0 < threshold <= 100:
        raise UsageError(f"threshold {threshold}: expected a number above 0 and up to 100")
    pool = read_leniently(folder)
    order = list(KINDS)
    unsorted = _findings(pool, threshold, PlanCheck(allow_code, worlds))
    found = sorted(unsorted, key=lambda finding: order.index(finding.kind))
    return LintReport(len(pool.tasks), len(pool.tools), tuple(found))


def _findings(pool: ReadPool, threshold: float, plans: PlanCheck) -> Iterator[Finding]:
    yield from pool.findings
    yield from refused_worlds(pool.tasks.values(), plans.allow_code)
    check = GoldCheck(pool.tools)
    for task in pool.tasks.values():
        yield from missing_tools(task, pool.tools)
        yield from invalid_calls(task, pool.tools, check)
        yield from plans.findings(task)
        yield from ungrounded_values(task, pool.tools)
    yield from same_queries(pool.tasks.values())
    tools = list(pool.tools.values())
    yield from broken_schemas(tools)
    yield from duplicates(tools)
    yield from near_duplicates(tools, threshold)
    yield from descriptions(tools)


def _plain(finding: Finding) -> dict[str, JSON]:
    return {
        "kind": finding.kind,
        "severity": finding.severity,
        "message": finding.message,
        "tasks": list(finding.tasks),
        "tools": list(finding.tools),
        "evidence": finding.evidence,
    }


# -- Tasks and plans that cannot be played or scored as they stand, and texts that stand twice.


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


# -- Gold values that a model cannot know: nothing said before the call holds them.
#
# Before a call stand the texts of its goal and of earlier goals, the task's history, and the user's
# brief. So do the reference of earlier goals, and the recorded results of the milestones that the
# call comes after. Where such a result is not recorded, the call is left alone: the value may stand
# in it.
#
# A value is held where a text states it (`seal.core.statements`), be it in a question or to deny
# it; a moment also by its day, a day without its year, a number without its sign, and one up to 23
# as an hour ("11 pm").
#
# Any accepted value will do. Booleans, null, empty texts, optional arguments, the schema's defaults
# and its enumerated values are left alone: a model chooses them, it does not quote them.


class EarlierTexts:
    """What was said before a call.

    Args:
        texts: In any order.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = tuple(texts)

    def holds(self, value: JSON, name: str = "") -> bool:
        """Tell whether the value of an argument, or each leaf of it, was said."""
        return all(
            any(
                statement(text, form, Sense(of)) != "absent"
                for text in self._texts
                for form in _forms(leaf)
            )
            for of, leaf in leaves(value, name)
            if not isinstance(leaf, (bool, Time))  # a time of its own is a text
            and (not isinstance(leaf, str) or words(leaf))
        )


def _forms(leaf: Any) -> Iterator[Any]:
    """Yield what says a leaf: a day without its year, a number without its sign, or as an hour."""
    yield leaf
    parts = read(leaf).values if isinstance(leaf, str) else [leaf]
    if len(parts) == 1 and isinstance(parts[0], Day):
        yield parts[0]._replace(year=None)
    elif isinstance(leaf, (int, float)):
        yield from (-leaf, *([Time(int(leaf), 0)] if leaf in range(24) else ()))


def ungrounded_values(task: Task, tools: Mapping[str, Tool]) -> Iterator[Finding]:
    """Yield a finding for each gold argument whose value nothing said before holds."""
    earlier = [*_spoken(task.history), *_texts(task.persona)]
    for position, goal in enumerate(task.goals):
        earlier.append(goal.text)
        for plan in goal.plans or ():
            for call, said in _calls(plan, earlier):
                yield from _ungrounded(task, position, call, said, tools.get(call.tool))
        results = [milestone.result for milestone in _called(goal)]
        if None in results and not goal.reference:
            return  # a later goal may quote what its calls gave, which is not recorded
        earlier += [*_spoken(goal.reference), *_texts(results)]


def _calls(plan: Plan, earlier: list[str]) -> Iterator[tuple[Called, EarlierTexts]]:
    """Yield a plan's calls with what was said before each; none whose earlier results are unknown.

    Milestones after which a call comes count with all that come before them.
    """
    for position, milestone in enumerate(plan.milestones):
        if not isinstance(milestone.condition, Called):
            continue
        before = [plan.milestones[index] for index in ancestors(position, plan.milestones)]
        known = [m.result for m in before if isinstance(m.condition, Called)]
        if None not in known:
            yield milestone.condition, EarlierTexts([*earlier, *_texts(known)])


def _ungrounded(
    task: Task, goal: int, call: Called, said: EarlierTexts, tool: Tool | None
) -> Iterator[Finding]:
    for name, argument in (call.arguments or {}).items():
        schema = _schema(tool, name)
        if (
            argument.optional
            or _chosen(argument, schema)
            or any(said.holds(value, name) for value in argument.listed)
        ):
            continue
        value = argument.values[0] if argument.values else None
        message = (
            f"task {task.id!r}, goal {goal}: {name} = {shortened(value)} of {call.tool!r} was "
            "not said before"
        )
        evidence = {"goal": goal, "argument": name, "values": list(argument.listed)}
        yield Finding("ungrounded_value", message, (task.id,), (call.tool,), evidence)


def _schema(tool: Tool | None, name: str) -> Mapping[str, Any]:
    properties = tool.parameters.get("properties") if tool else None
    schema = properties.get(name) if isinstance(properties, dict) else None
    return schema if isinstance(schema, dict) else {}


def _chosen(argument: Argument, schema: Mapping[str, Any]) -> bool:
    """Tell whether the value is one that the schema names: a default or one of its choices."""
    if not argument.values:
        return True
    items = schema.get("items")
    inner = items if isinstance(items, dict) else {}
    default = [schema["default"]] if "default" in schema else []
    named = [*default, *(schema.get("enum") or ()), *(inner.get("enum") or ())]

    def is_named(value: JSON) -> bool:
        return any(equal(value, choice) for choice in named)

    return any(
        is_named(value) or (isinstance(value, list) and all(map(is_named, value)))
        for value in argument.values
    )


def _spoken(steps: Iterable[Step]) -> Iterator[str]:
    for step in steps:
        yield step.content
        if step.call is not None:
            yield from _texts(step.call.arguments)
        if step.result is not None:
            yield from _texts(step.result.value)


def _texts(value: JSON) -> Iterator[str]:
    """Yield the leaves of a JSON value as texts."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)
    elif value is not None:
        yield str(value)


def _called(goal: Goal) -> list[Milestone]:
    return [
        milestone
        for plan in goal.plans or ()
        for milestone in plan.milestones
        if isinstance(milestone.condition, Called)
    ]
