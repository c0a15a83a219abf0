"""Gold values that a model cannot know: nothing said before the call holds them.

Before a call stand the texts of its goal and of earlier goals, the task's history, the user's
brief, the reference of earlier goals, and the recorded results of the milestones that the call
comes after. Where such a result is not recorded, the call is left alone: the value may stand in it.

A value is held where its words stand there in one piece, whatever case and punctuation. Further:

- numbers by value: 1 is 1.0, 1,200 is 1200, 5 % is also 0.05, and words up to twenty are numbers;
- dates (YYYY-MM-DD) as they are written: 6 June, June 6th, 6.6.2026, 6/6/2026;
- times of 24 hours (19:30, or 19 alone) as they are written with am and pm;
- lists and maps by each of their leaves.

Any accepted value will do. Booleans, null, empty texts, optional arguments, the schema's defaults
and its enumerated values are left alone: a model chooses them, it does not quote them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import Any

from seal.core.canonical import equal
from seal.core.conditions import Argument, Called
from seal.core.errors import shortened
from seal.core.text import words
from seal.core.types import JSON, Goal, Milestone, Plan, Step, Task, Tool
from seal.pools.lint.findings import Finding

_NUMBER = re.compile(r"(?<![\w.])(?=\.?\d)(\d{1,3}(?:,\d{3})+|\d*)(\.\d+)?\s*(%|percent)?")
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:T.*)?")
_CLOCK = re.compile(r"\b(\d{1,2})(?::(\d{2}))?\s*([ap])\.?m\b", re.IGNORECASE)
_COUNTED = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen", "twenty",
)  # fmt: skip
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip


class Said:
    """What was said before a call.

    Args:
        texts: In any order.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        text = "\n".join(texts)
        times = list(_times(text))
        found = [*words(text), *(f"{hour:02} {minute}" for hour, minute in times)]
        self._words = f" {' '.join(found)} "
        self._numbers = {float(_COUNTED.index(word)) for word in found if word in _COUNTED}
        self._numbers.update(_numbers(text), (hour for hour, _ in times))

    def holds(self, value: JSON) -> bool:
        """Tell whether a value, or each leaf of it, was said."""
        if value is None or isinstance(value, bool):
            return True
        if isinstance(value, dict):
            return all(map(self.holds, value.values()))
        if isinstance(value, (list, tuple)):
            return all(map(self.holds, value))
        if isinstance(value, (int, float)):
            return abs(float(value)) in {abs(number) for number in self._numbers}
        return self._holds_text(str(value))

    def _holds_text(self, text: str) -> bool:
        said = words(text)
        if not said or f" {' '.join(said)} " in self._words:
            return True
        if not text.isascii() and "".join(said) in self._words.replace(" ", ""):
            return True  # Chinese and Japanese set no blanks between words
        whole = _DATE.fullmatch(text.strip())
        if whole:
            return any(f" {written} " in self._words for written in _written(*whole.groups()))
        number = _only_number(text)
        return number is not None and number in self._numbers


def _numbers(text: str) -> Iterator[float]:
    for match in _NUMBER.finditer(text):
        whole, part, percent = match.groups()
        number = float(f"{whole.replace(',', '') or '0'}{part or ''}")
        yield number
        if percent:
            yield number / 100


def _times(text: str) -> Iterator[tuple[int, str]]:
    """Yield the hour (0 to 23) and minute of each time with am or pm."""
    for hour, minute, half in _CLOCK.findall(text):
        yield int(hour) % 12 + (12 if half in "pP" else 0), minute or "00"


def _only_number(text: str) -> float | None:
    try:
        return abs(float(text.replace(",", "")))
    except ValueError:
        return None


def _written(year: str, month: str, day: str) -> Iterator[str]:
    """Yield the ways to write a date, as words."""
    try:
        date(int(year), int(month), int(day))
    except ValueError:
        return
    name, number = _MONTHS[int(month) - 1], str(int(day))
    for named in (name, name[:3]):
        for counted in (number, day, f"{number}st", f"{number}nd", f"{number}rd", f"{number}th"):
            yield from (f"{counted} {named}", f"{counted} of {named}", f"{named} {counted}")
    for m, d in ((month, day), (str(int(month)), number)):
        yield from (f"{d} {m} {year}", f"{m} {d} {year}", f"{year} {m} {d}")


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


def _calls(plan: Plan, earlier: list[str]) -> Iterator[tuple[Called, Said]]:
    """Yield a plan's calls with what was said before each; none whose earlier results are unknown.

    Milestones after which a call comes count with all that come before them.
    """
    for position, milestone in enumerate(plan.milestones):
        if not isinstance(milestone.condition, Called):
            continue
        before = [plan.milestones[index] for index in _before(plan, position)]
        known = [m.result for m in before if isinstance(m.condition, Called)]
        if None not in known:
            yield milestone.condition, Said([*earlier, *_texts(known)])


def _before(plan: Plan, position: int) -> set[int]:
    found: set[int] = set()
    open_ = list(plan.milestones[position].after)
    while open_:
        index = open_.pop()
        if index not in found and 0 <= index < len(plan.milestones):
            found.add(index)
            open_ += plan.milestones[index].after
    return found


def _ungrounded(
    task: Task, goal: int, call: Called, said: Said, tool: Tool | None
) -> Iterator[Finding]:
    for name, argument in (call.arguments or {}).items():
        schema = _schema(tool, name)
        if argument.optional or _chosen(argument, schema) or any(map(said.holds, argument.listed)):
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
