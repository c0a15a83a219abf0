"""Answers that a benchmark recorded with its gold calls; they are used before simulated ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from seal.core import JSON, Response, Task, Tool
from seal.core.canonical import canonical_json, equal
from seal.core.conditions import Called

RecordedCall = tuple[Called, JSON]
"""A gold call and its result."""


def recorded_calls(task: Task) -> Iterator[RecordedCall]:
    """Yield the gold calls of a task whose arguments and results are recorded."""
    plans = (plan for goal in task.goals for plan in goal.plans or ())
    for milestone in (milestone for plan in plans for milestone in plan.milestones):
        condition, result = milestone.condition, milestone.result
        if result is None or not isinstance(condition, Called):
            continue
        if condition.arguments is not None:
            yield condition, result


class GoldAnswers:
    """The simulator that answers a gold call with its milestone's result, in every task alike.

    A call is found by its tool and by arguments that the gold accepts. An argument that equals its
    default counts as not given if the gold does not name it. If milestones disagree, that of the
    first task counts.

    Args:
        calls: Gold calls of all tasks, in the order of the tasks (`recorded_calls`).
    """

    identity = "gold/1"

    def __init__(self, calls: Iterable[RecordedCall]) -> None:
        self._answers: dict[str, list[RecordedCall]] = {}
        self._indexes: dict[str, _Index] = {}
        for call in calls:
            self._answers.setdefault(call[0].tool, []).append(call)

    def __len__(self) -> int:
        return sum(map(len, self._answers.values()))

    def respond(self, tool: Tool, arguments: dict[str, JSON]) -> Response:
        """Return the recorded result, or an error of the kind `not_recorded` that is not kept."""
        defaults = default_values(tool)
        if tool.id not in self._indexes:
            self._indexes[tool.id] = _Index(self._answers.get(tool.id, ()))
        for condition, result in self._indexes[tool.id].candidates(arguments):
            if condition.accepts(_given(arguments, condition, defaults)):
                return Response(result)
        error = f"No gold answer of {tool.name} to these arguments."
        return Response("", error, cacheable=False, kind="not_recorded")


_Key = tuple[str, bytes] | None
"""Name of an argument and its value as canonical JSON; None: the value cannot be looked up."""


class _Index:
    """The calls of one tool by the value of their most telling argument, so that few are tried."""

    def __init__(self, calls: Sequence[RecordedCall]) -> None:
        self._calls = calls
        self._positions: dict[_Key, list[int]] = {}
        needed = [_needed(condition) for condition, _ in calls]
        counts = Counter(key for names in needed for keys in names for key in keys)
        for position, names in enumerate(needed):
            rarest = min(names, key=lambda keys: max(counts[key] for key in keys), default={None})
            for key in rarest:
                self._positions.setdefault(key, []).append(position)

    def candidates(self, arguments: Mapping[str, JSON]) -> Iterator[RecordedCall]:
        """Yield the calls that may accept some arguments, in their order."""
        keys = {None, *(_key(name, value) for name, value in arguments.items())}
        positions = sorted(chain.from_iterable(self._positions.get(key, ()) for key in keys))
        return (self._calls[position] for position in positions)


def _needed(condition: Called) -> list[set[_Key]]:
    """Return the keys of each required argument whose values all have a key."""
    gold = (condition.arguments or {}).items()
    required = ((name, one.values) for name, one in gold if one.values and not one.optional)
    found = ({_key(name, value) for value in values} for name, values in required)
    return [keys for keys in found if None not in keys]


def _key(name: str, value: JSON) -> _Key:
    try:
        return name, canonical_json(value)
    except ValueError:  # no number of JSON
        return None


def _given(
    arguments: Mapping[str, JSON], condition: Called, defaults: Mapping[str, JSON]
) -> dict[str, JSON]:
    gold = condition.arguments or {}
    return {
        name: value
        for name, value in arguments.items()
        if name in gold or not (name in defaults and equal(value, defaults[name]))
    }


def default_values(tool: Tool) -> dict[str, JSON]:
    """Return the values that arguments of a tool have where they are not given."""
    properties = tool.parameters.get("properties", {})
    return {
        name: p["default"]
        for name, p in properties.items()
        if isinstance(p, dict) and "default" in p
    }
