"""Gold values that a model cannot know: nothing said before the call holds them.

Before a call stand the texts of its goal and of earlier goals, the task's history, and the user's
brief. So do the reference of earlier goals, and the recorded results of the milestones that the
call comes after. Where such a result is not recorded, the call is left alone: the value may stand
in it.

A value is held where a text states it (`seal.core.statements`), be it in a question or to deny it;
a moment also by its day, a day without its year, a number without its sign, and one up to 23 as an
hour ("11 pm").

Any accepted value will do. Booleans, null, empty texts, optional arguments, the schema's defaults
and its enumerated values are left alone: a model chooses them, it does not quote them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from seal.core import JSON, Goal, Milestone, Plan, Step, Task, Tool, shortened
from seal.core.canonical import equal
from seal.core.conditions import Argument, Called
from seal.core.english import Day, Time, read
from seal.core.statements import Sense, leaves, statement
from seal.core.text import words
from seal.evaluation.milestones.checks import ancestors
from seal.pools.lint.lint_report import Finding


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
