"""The gold of a mission: its graph, type and relation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from seal.core import JSON, DataError, Goal, Task, levels, shortened
from seal.core.conditions import Asked, Called
from seal.core.schemas import MAX_DEPTH
from seal.core.statements import leaves, states
from seal.core.values import json_text, nested_deeper
from seal.evaluation.goals import USER, no_missions

# -- The gold calls of a mission, which of them must come before which, and a model's turns.

ASK = "ask_user_for_required_parameters"
"""Name of the node that stands for a question to the user."""
ANSWER = "prepare_to_answer"
"""Name of the node that stands for the final answer."""
PSEUDO = frozenset({ASK, ANSWER})
"""Nodes that are no tools: a model does them by what it says."""


class Graph:
    """A partial order of calls. Sets of nodes are integers: bit i is node i.

    Args:
        names: Of the nodes.
        arguments: Of the nodes.
        deps: For each node the positions of those that must be finished before it.
        gold: What the scorer `exact` accepts of each node, where that is more than its arguments;
            empty: of none it is.

    Raises:
        DataError: No nodes; a dependency that is not there, stands twice, or is the node itself;
            a cycle.
    """

    def __init__(
        self,
        names: Sequence[str],
        arguments: Sequence[Mapping[str, Any]],
        deps: Sequence[Sequence[int]],
        gold: Sequence[Called | None] = (),
    ) -> None:
        if not names:
            raise DataError("a mission has no nodes; one that needs no tool has the final answer")
        self.names = tuple(names)
        self.arguments = tuple(arguments)
        self.deps = tuple(tuple(before) for before in deps)
        self.gold = tuple(gold) or (None,) * len(names)
        self.before = tuple(map(mask_of, self.deps))
        self.everything = (1 << len(names)) - 1
        self._levels = levels(self.deps)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def length(self) -> int:
        """Number of nodes in the longest chain: the fewest steps of any path (Mirsky)."""
        return len(self._levels)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The nodes, each after all those it depends on."""
        return tuple(node for level in self._levels for node in level)

    @cached_property
    def after(self) -> tuple[int, ...]:
        """For each node those that depend on it directly."""
        found = [0] * len(self)
        for node, deps in enumerate(self.deps):
            for dep in deps:
                found[dep] |= 1 << node
        return tuple(found)

    @cached_property
    def above(self) -> tuple[int, ...]:
        """For each node those that depend on it, directly or not."""
        found = [0] * len(self)
        for node in reversed(self.order):
            found[node] = self.after[node]
            for other in bits(self.after[node]):
                found[node] |= found[other]
        return tuple(found)

    @cached_property
    def heights(self) -> tuple[int, ...]:
        """For each node the length of the longest chain that begins with it."""
        found = [1] * len(self)
        for node in reversed(self.order):
            found[node] += max((found[other] for other in bits(self.after[node])), default=0)
        return tuple(found)

    def ready(self, done: int) -> int:
        """Return the nodes that are not finished while all that they depend on is."""
        found = 0
        for node, before in enumerate(self.before):
            if not done >> node & 1 and before & done == before:
                found |= 1 << node
        return found

    def ready_after(self, ready: int, done: int, taken: int) -> int:
        """Return what is ready when `taken`, some of `ready`, is finished beside `done`.

        Args:
            ready: What was ready before.
            done: What was finished before.
            taken: What has been finished since.
        """
        done |= taken
        found = ready & ~taken
        for node in bits(taken):
            for other in bits(self.after[node]):
                if self.before[other] & done == self.before[other]:
                    found |= 1 << other
        return found

    def closed(self) -> Graph:
        """Return the graph in which the final answer, where it is the last node, comes last.

        What the user is told ends the mission, so it depends on every other node whether the gold
        says so or not.
        """
        last = len(self) - 1
        if self.names[last] != ANSWER or self.after[last]:
            return self
        deps = (*self.deps[:last], tuple(range(last)))
        return Graph(self.names, self.arguments, deps, self.gold)


def checked_graph(
    names: Sequence[str],
    arguments: Sequence[Mapping[str, Any]],
    deps: Sequence[Sequence[int]],
    gold: Sequence[Called | None] = (),
) -> Graph:
    """Return the graph of nodes that calls can be compared with.

    Raises:
        DataError: As of `Graph`; or gold arguments nest too deep.
    """
    for position, before in enumerate(deps):
        if nested_deeper(arguments[position], MAX_DEPTH):
            raise DataError(
                f"node {position}: arguments: nested more than {MAX_DEPTH} levels deep, "
                "which no call can be compared with"
            )
        _check_deps(position, before, len(names))
    return Graph(names, arguments, deps, gold)


def _check_deps(position: int, deps: Sequence[Any], count: int) -> None:
    for dep in deps:
        if not isinstance(dep, int) or isinstance(dep, bool) or not 0 <= dep < count:
            raise DataError(
                f"node {position}: deps: expected positions of nodes, 0 to {count - 1}, "
                f"got {shortened(dep)}"
            )
        if dep == position:
            raise DataError(f"node {position}: deps: a node cannot depend on itself")
    if len(set(deps)) < len(deps):
        raise DataError(f"node {position}: deps: each position once, got {shortened(list(deps))}")


def bits(mask: int) -> Iterator[int]:
    """Yield the positions of the bits that are set, ascending."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def mask_of(positions: Iterable[int]) -> int:
    """Return a number whose bits at these positions, each named once, are set."""
    return sum(1 << position for position in positions)


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """One call as the model made it; two calls are two, whatever they say."""

    name: str
    arguments: Any
    """An object, its JSON text, or what the model wrote instead."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One output of the model."""

    calls: tuple[Call, ...] = ()
    text: str = ""
    """What it said; beside calls it has no meaning."""
    malformed: bool = False
    """True: it wrote something in place of calls that names no tool."""

    @property
    def empty(self) -> bool:
        """Neither calls nor text, or calls that are none."""
        return self.malformed or not (self.calls or self.text)


# -- What gold implies of a mission: its type, how its calls hang together, and on what it leans.
#
# A benchmark's own labels go first: `type` and `relation` of a goal. Without them, by rule:
#
# - `type`: `clarify` if gold asks the user, or if the label `missing` says that the request lacks
#   what a call requires. Else the number of gold calls decides (of relevant tools, if no call is
#   annotated): none is `chat`, one `single`, more are `multi`.
# - `relation` to earlier requests of the task: a gold argument has a value that the request does
#   not state, and an earlier request does, or what was found or called for it. `near`: the request
#   right before, or what came of it, has each such value; `far`: one is found farther back alone.
#   Truth values, texts of one letter and whole numbers up to 31 count for nothing: they recur by
#   chance.
#
# Gold does not tell by which words a request leans on others. So `near` and `far` are no kinds of
# Multi-Mission Tool Bench's (implicit, ellipsis, memory), which a benchmark's labels alone can
# give. Values that people say in other words (a day without its year, the name of a currency) are
# not found: `relation` misses some and invents few.
#
# Source: Yu et al., Multi-Mission Tool Bench (2025), section 3; the rules are ours.

TYPES = ("single", "multi", "chat", "clarify")
Implied = Literal["near", "far"]

_COUNTS = 31
"""Whole numbers up to this one are counts, days and hours."""


def mission_type(goal: Goal) -> str | None:
    """Return the type of a mission (`TYPES`): its label, else as gold implies; None: no mission."""
    named = goal.labels.get("type")
    return str(named) if named in TYPES else implied_type(goal)


def implied_type(goal: Goal) -> str | None:
    """Return the type that gold implies, whatever the label is; None: gold tells of no calls."""
    if "missing" in goal.labels:
        return "clarify"
    if not goal.plans:
        count = len(goal.relevant[:1] if goal.any_relevant else goal.relevant)
        return ("single" if count == 1 else "multi") if count else None
    if no_missions(goal):
        return None
    plan = goal.plans[0]
    if any(isinstance(milestone.condition, Asked) for milestone in plan.milestones):
        return "clarify"
    return ("chat", "single")[len(plan.calls())] if len(plan.calls()) < 2 else "multi"


def relation(task: Task, number: int) -> str | None:
    """Return how a mission leans on earlier ones; None: on none, as far as gold tells.

    A task with a label `relation` has it wherever there is a relation.

    Args:
        task: Of several goals.
        number: Of the mission, from 0.
    """
    if any("relation" in goal.labels for goal in task.goals):
        named = task.goals[number].labels.get("relation")
        return str(named) if named else None
    return implied_relation(task, number)


def implied_relation(task: Task, number: int) -> Implied | None:
    """Return the relation that gold implies, whatever the labels are."""
    own = _said(task, number)
    earlier = [
        (*_said(task, place), *_found(task.goals[place])) for place in reversed(range(number))
    ]
    found: Implied | None = None
    for value in _values(task.goals[number]) if number else ():
        if _stated(own, value):
            continue
        back = next((n for n, texts in enumerate(earlier) if _stated(texts, value)), None)
        if back:
            return "far"
        found = "near" if back == 0 else found
    return found


def _said(task: Task, number: int) -> tuple[str, ...]:
    """Return what the user says in a mission."""
    replies = (task.persona or {}).get("replies") or ()
    answers = replies[number] if number < len(replies) else ()
    return (task.goals[number].text, *answers)


def _found(goal: Goal) -> Iterator[str]:
    """Yield what the agent says, calls and finds in a mission."""
    for step in goal.reference:
        if step.author != USER and step.content:
            yield step.content
    for call in _calls(goal):
        yield json_text(list(_first_values(call).values()))


def _values(goal: Goal) -> Iterator[Any]:
    """Yield the values of a mission's gold calls that do not recur by chance."""
    for call in _calls(goal):
        for _, value in leaves(_first_values(call)):
            number = isinstance(value, (int, float))
            count = number and float(value).is_integer() and abs(value) <= _COUNTS
            if not count and (number or len(str(value).strip()) > 1):
                yield value


def _calls(goal: Goal) -> list[Called]:
    return goal.plans[0].calls() if goal.plans else []


def _first_values(call: Called) -> dict[str, JSON]:
    given = (call.arguments or {}).items()
    return {name: argument.listed[0] for name, argument in given if argument.listed}


def _stated(texts: tuple[str, ...], value: Any) -> bool:
    return any(states(text, value) for text in texts)
