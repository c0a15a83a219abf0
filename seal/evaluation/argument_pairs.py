"""Which gold call a call was meant for, in the chat and with hindsight; scorers of arguments."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, Literal, NamedTuple, get_args

from seal.core import UnknownNameError
from seal.core.conditions import Called
from seal.core.registry import Registry
from seal.core.schemas import MAX_DEPTH, required_names
from seal.core.values import alike, canonical_json, equal, nested_deeper
from seal.evaluation.mission_gold import Call, Graph, Turn, bits, mask_of

# -- The arguments of a call beside the gold call's, by a scorer that the task names.
#
# `exact`: the gold call's arguments, no more and no fewer, each the same value
# (`seal.core.values.alike`). Packs have others, under the entry point `seal.argument_scorers`.

ArgumentError = Literal[
    "malformed arguments",
    "incomparable arguments",
    "miss required params",
    "param hallucination",
    "type error",
    "param value hallucination",
    "param value error",
]
"""What is wrong: the arguments are no object; cannot be compared; lack a required one, or one that
the gold call has; have one that the tool does not; a value of another type; a value for an argument
that the gold call leaves out; another value. Of several, the first tells most."""

_ARGUMENT_ERRORS: tuple[ArgumentError, ...] = get_args(ArgumentError)
"""Those that come first tell more."""


SCORERS = Registry(
    "scorer",
    "seal.argument_scorers",
    {"exact": "seal.evaluation.argument_pairs:EXACT"},
)
"""Scorers of arguments by name: each a `Scorer`."""


def argument_error(errors: Collection[ArgumentError]) -> ArgumentError:
    """Return the error that counts, of those of one call."""
    return next((e for e in _ARGUMENT_ERRORS if e in errors), "param value error")


@dataclass(frozen=True, slots=True)
class ArgumentMatch:
    """How well the arguments of a call fit."""

    score: float
    """In [0, 1]."""
    per_argument: dict[str, float] = field(default_factory=dict)
    """Score of each argument; of a missing one 0."""
    errors: tuple[ArgumentError, ...] = ()
    accepted: bool = False


@dataclass(frozen=True, slots=True)
class Scorer:
    """How the arguments of calls are compared."""

    compare: Callable[[Mapping[str, Any], Mapping[str, Any], Mapping[str, Any]], ArgumentMatch]
    """(arguments, gold arguments, schemas of the arguments by name) to how well they fit."""
    required_first: bool = True
    """Whether a call that lacks a required argument is not compared."""
    decides_optimal: bool = False
    """Whether a mission whose arguments fail is not optimal either."""


@cache
def scorer_named(name: str) -> Scorer:
    """Return a scorer by a name that data or a user gives.

    Raises:
        UnknownNameError: No such scorer.
    """
    if name not in SCORERS:  # a dotted path of data is no name, and is not imported
        raise UnknownNameError("scorer", name, SCORERS.names())
    scorer: Scorer = SCORERS.resolve(name)
    return scorer


def fit(
    predicted: Mapping[str, Any] | None,
    answer: Mapping[str, Any],
    schema: Mapping[str, Any],
    required: Sequence[str],
    scorer: Scorer,
) -> ArgumentMatch:
    """Return how well arguments fit the gold call's.

    Args:
        predicted: As `parse_arguments` gives them.
        answer: The gold arguments.
        schema: JSON Schema of the arguments, or its `properties` alone.
        required: Names that must be given, besides those that the schema requires.
        scorer: The rules.
    """
    if predicted is None:
        return ArgumentMatch(0.0, errors=("malformed arguments",))
    properties, needed = _declared(schema, required)
    for name in needed:
        if name not in predicted and scorer.required_first:
            return ArgumentMatch(0.0, {name: 0.0}, ("miss required params",))
    return scorer.compare(predicted, answer, properties)


def parse_arguments(arguments: Any) -> dict[str, Any] | None:
    """Return arguments as an object, from JSON text too; None: they are none, or nest too deep."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return None
    if not isinstance(arguments, Mapping) or nested_deeper(arguments, MAX_DEPTH):
        return None
    return dict(arguments)


def _declared(
    schema: Mapping[str, Any], required: Sequence[str]
) -> tuple[Mapping[str, Any], list[str]]:
    """Return the schemas of the arguments, and the names of those that must be given."""
    if not isinstance(schema.get("type"), str):  # an argument named `type` has a schema there
        return schema, list(required)
    properties, names = schema.get("properties"), [*required, *required_names(schema)]
    return properties if isinstance(properties, Mapping) else {}, list(dict.fromkeys(names))


def whole(
    predicted: Mapping[str, Any],
    answer: Mapping[str, Any],
    properties: Mapping[str, Any],
    same: Callable[[Any, Any], bool],
    difference: Callable[[Any, Any], ArgumentError] = lambda predicted, gold: "param value error",
) -> ArgumentMatch:
    """Return the match that is accepted where all names and values are the same."""
    scores: dict[str, float] = {}
    errors: list[ArgumentError] = []
    for name in [*predicted, *(name for name in answer if name not in predicted)]:
        scores[name] = 0.0
        if name not in predicted:
            errors.append("miss required params")
        elif name not in answer:
            errors.append(
                "param value hallucination" if name in properties else "param hallucination"
            )
        elif same(predicted[name], answer[name]):
            scores[name] = 1.0
        else:
            errors.append(difference(predicted[name], answer[name]))
    score = sum(scores.values()) / len(scores) if scores else 1.0
    return ArgumentMatch(score, scores, tuple(errors), not errors)


def _exact(
    predicted: Mapping[str, Any], answer: Mapping[str, Any], properties: Mapping[str, Any]
) -> ArgumentMatch:
    return whole(predicted, answer, properties, alike)


EXACT = Scorer(_exact, required_first=False)


# -- Which gold call a call was meant for, and how well its arguments fit it.

_ACCEPTED = 10**9
"""Worth of an accepted pair: more than the scores of any mission's calls together."""
_SCORE = 10**6
"""Worth of the score 1."""
_NEVER = 10**15
"""Cost of a pair that cannot be: it outweighs what the calls of any mission are worth."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A call and the gold call that it stands for."""

    turn: int
    call: int
    """Position in the turn."""
    node: int
    match: ArgumentMatch


class Pairing:
    """Compares calls with gold calls of the same name, each two once.

    Args:
        graph: The gold calls.
        tools: JSON Schemas of the arguments by name. Of a tool that is not there, or where None,
            the gold calls' arguments tell names and types, and none is required.
        scorer: How arguments are compared.
    """

    def __init__(
        self, graph: Graph, tools: Mapping[str, Mapping[str, Any]] | None, scorer: Scorer
    ) -> None:
        self._graph = graph
        self._scorer = scorer
        self._gold = graph.gold if scorer is EXACT else (None,) * len(graph)
        self._nodes: dict[str, list[int]] = {}
        for node, name in enumerate(graph.names):
            self._nodes.setdefault(name, []).append(node)
        self._schemas = dict(tools or {})
        self._arguments: dict[Call, dict[str, Any] | None] = {}
        self._meant: dict[Call, Sequence[int]] = {}
        self._matches: dict[tuple[Call, int], ArgumentMatch] = {}

    def nodes(self, name: str) -> Sequence[int]:
        """Return the gold calls of a name."""
        return self._nodes.get(name, ())

    def named(self, call: Call) -> Sequence[int]:
        """Return the gold calls of a call's name."""
        return self.nodes(call.name)

    def accepted(self, call: Call) -> Sequence[int]:
        """Return the gold calls beside which a call's arguments are accepted."""
        return [node for node in self.named(call) if self.match(call, node).accepted]

    def meant(self, call: Call) -> Sequence[int]:
        """Return the gold calls of its name with exactly its arguments, or that accept them."""
        if call not in self._meant:
            given, mine = self._given(call), self.named(call)
            said = _text(given)
            self._meant[call] = [node for node in mine if self._is_meant(given, said, node)]
        return self._meant[call]

    def match(self, call: Call, node: int) -> ArgumentMatch:
        """Return how well a call fits a gold call."""
        key = call, node
        if key not in self._matches:
            self._matches[key] = self._compared(call.name, self._given(call), node)
        return self._matches[key]

    def _given(self, call: Call) -> dict[str, Any] | None:
        """Return the arguments of a call; None: they are no object."""
        if call not in self._arguments:
            self._arguments[call] = parse_arguments(call.arguments)
        return self._arguments[call]

    def _compared(self, name: str, arguments: dict[str, Any] | None, node: int) -> ArgumentMatch:
        gold, called = self._graph.arguments[node], self._gold[node]
        if called is not None:
            if called.arguments is None:
                return ArgumentMatch(1.0, accepted=True)
            gold = _nearest(called, arguments or {})
        return fit(arguments, gold, self._schema(name), (), self._scorer)

    def worth(self, call: Call, node: int) -> int:
        """Return what an assignment gains by a pair: first that it is accepted, then its score."""
        match = self.match(call, node)
        return match.accepted * _ACCEPTED + round(match.score * _SCORE)

    def likely_worth(self, call: Call, node: int) -> int:
        """Return `worth` without comparing where it is plain what a call is meant for.

        A call whose name stands once needs no comparison, and one that has a gold call's very
        arguments is meant for it.
        """
        if len(self.nodes(call.name)) < 2:
            return 0
        meant = self.meant(call)
        if meant:
            return _ACCEPTED + _SCORE if node in meant else 0
        return self.worth(call, node)

    def _is_meant(self, arguments: dict[str, Any] | None, said: bytes | None, node: int) -> bool:
        called = self._gold[node]
        if called is not None:
            return called.accepts(arguments)
        if said is not None:
            return said == self._texts[node]
        return equal(arguments, dict(self._graph.arguments[node]))

    @cached_property
    def _texts(self) -> list[bytes | None]:
        return [_text(dict(arguments)) for arguments in self._graph.arguments]

    def _schema(self, name: str) -> Mapping[str, Any]:
        if name not in self._schemas:
            gold = [self._graph.arguments[node] for node in self.nodes(name)]
            self._schemas[name] = _schema_of(gold)
        return self._schemas[name]


def _nearest(called: Called, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the gold arguments that are nearest to a call's: where nothing is wrong, its own."""
    faults = called.faults(arguments)
    gold = called.arguments or {}
    found = {name: value for name, value in arguments.items() if name not in faults}
    wrong = (name for name, fault in faults.items() if fault != "unexpected")
    return found | {name: next(iter(gold[name].listed), None) for name in wrong}


def _text(arguments: dict[str, Any] | None) -> bytes | None:
    """Return the text that equal arguments share; None: JSON has no text of them."""
    try:
        return canonical_json(arguments)
    except (TypeError, ValueError):
        return None


def best_pairs(
    graph: Graph, pairing: Pairing, turns: Sequence[Turn], nodes: Sequence[Sequence[int]]
) -> list[Pair]:
    """Return a pair for each call of a right mission, as many accepted ones as may be.

    Calls of one name change nodes among them where more are accepted then, or with higher scores,
    and the order still holds.

    Args:
        graph: The gold calls.
        pairing: Of calls with the gold calls.
        turns: What was done.
        nodes: For each turn the nodes of its calls, in an order that the graph allows.
    """
    calls = [
        (turn, position, call)
        for turn, done in enumerate(turns)
        for position, call in enumerate(done.calls)
    ]
    of_call = [nodes[turn][position] for turn, position, _ in calls]
    if not all(pairing.match(c, n).accepted for (*_, c), n in zip(calls, of_call, strict=True)):
        when = {node: turn for turn, done in enumerate(nodes) for node in done}
        of_call = _reassigned(graph, pairing, calls, of_call, when)
    return [
        Pair(turn, position, node, pairing.match(call, node))
        for (turn, position, call), node in zip(calls, of_call, strict=True)
    ]


def _reassigned(
    graph: Graph,
    pairing: Pairing,
    calls: Sequence[tuple[int, int, Call]],
    nodes: Sequence[int],
    when: dict[int, int],
) -> list[int]:
    """Return the node of each call, changed where more are accepted, or with higher scores.

    Calls of one name get its nodes anew, each at a time at which it can be done. What they get is
    kept if the order of the graph still holds.

    Args:
        graph: The gold calls.
        pairing: Of calls with the gold calls.
        calls: (turn, position, call).
        nodes: The node of each.
        when: The turn of each node, also of those that are no calls; changed.
    """
    of_call = list(nodes)
    counts = Counter(call.name for *_, call in calls)
    for name in (name for name, count in counts.items() if count > 1):
        rows = [row for row, (*_, call) in enumerate(calls) if call.name == name]
        own = [of_call[row] for row in rows]
        first = [max((when[n] for n in bits(graph.before[node])), default=-1) for node in own]
        last = [min((when[n] for n in bits(graph.after[node])), default=10**9) for node in own]
        costs = [
            [
                -pairing.worth(call, node) if first[i] < turn < last[i] else _NEVER
                for i, node in enumerate(own)
            ]
            for turn, _, call in (calls[row] for row in rows)
        ]
        from seal.core.table_matching import cheapest

        changed = {row: own[i] for row, i in zip(rows, cheapest(costs) or (), strict=True)}
        moved = when | {node: calls[row][0] for row, node in changed.items()}
        if all(moved[dep] < moved[node] for node in moved for dep in graph.deps[node]):
            when.update(moved)
            for row, node in changed.items():
                of_call[row] = node
    return of_call


def _schema_of(values: Sequence[Any]) -> dict[str, Any]:
    """Return a JSON Schema that says of values what they are; of mixed ones, the first."""
    first = next((value for value in values if value is not None), None)
    if isinstance(first, Mapping):
        members: dict[str, list[Any]] = {}
        for value in values:
            for name, member in value.items() if isinstance(value, Mapping) else ():
                members.setdefault(name, []).append(member)
        properties = {name: _schema_of(found) for name, found in members.items()}
        return {"type": "object", "properties": properties}
    if isinstance(first, list):
        items = [item for value in values if isinstance(value, list) for item in value]
        return {"type": "array", "items": _schema_of(items)}
    for kind, name in ((bool, "boolean"), ((int, float), "number"), (str, "string")):
        if isinstance(first, kind):
            return {"type": name}
    return {}


# -- Which gold calls the calls of all turns can stand for, with hindsight.
#
# After a chat it is known what the model called later. If a call may stand for two gold calls, the
# one that more calls wait for, or that must be over sooner, is tried first. The search goes turn by
# turn, takes back what leads nowhere, and ends: with a way, with the proof that there is none, or
# undecided after `MOST_TRIED` choices.
#
# The same calls may stand for two gold calls, and all that waits for the one may wait for the other
# too. Then they can be exchanged, so only the other is tried if both are ready.

MOST_TRIED = 2000
"""Choices of a gold call for a call that a search tries."""


class Placed(NamedTuple):
    """What a search found."""

    nodes: list[tuple[int, ...]]
    """For each turn the node of each call; empty: no way was found."""
    decided: bool
    """Whether there is a way is known."""


def place_all(graph: Graph, turns: Sequence[Sequence[int]], most: int = MOST_TRIED) -> Placed:
    """Return a way in which turns finish every node, none where there is no such way.

    Args:
        graph: The gold calls.
        turns: For each turn and each of its calls the nodes that it may stand for.
        most: Choices that are tried.
    """
    if sum(map(len, turns)) != len(graph):
        return Placed([], True)
    latest = _latest(graph, turns)
    idle = any(mask == 0 for masks in turns for mask in masks)
    few = any(len(when) < members.bit_count() for members, when in _calls(graph, turns))
    if idle or few or min(latest) < 0:
        return Placed([], True)
    return _Search(graph, turns, latest, most).run()


class _Search:
    """Takes turns one by one, and back.

    Args:
        graph: The gold calls.
        turns: For each turn and each of its calls the nodes that it may stand for.
        latest: For each node the last turn in which it may be finished.
        most: Choices that are tried.
    """

    def __init__(
        self, graph: Graph, turns: Sequence[Sequence[int]], latest: Sequence[int], most: int
    ) -> None:
        self._graph = graph
        self._turns = turns
        self._left = most
        self._due = [
            mask_of(node for node, last in enumerate(latest) if last <= turn)
            for turn in range(len(turns))
        ]
        self._order = sorted(
            range(len(graph)), key=lambda node: (latest[node], -graph.above[node].bit_count(), node)
        )
        self._before_it = _preferred(graph, turns)

    def run(self) -> Placed:
        """Return the first way that is found."""
        way: list[tuple[int, ...]] = []
        failed: set[tuple[int, int]] = set()
        stack = [(0, self._steps(0, 0, self._graph.ready(0)))] if self._turns else []
        while stack:
            done, steps = stack[-1]
            step = next(steps, None)
            if step is None:
                if self._left <= 0:
                    return Placed([], False)
                stack.pop()
                failed.add((len(stack), done))
                if way:
                    way.pop()
                continue
            nodes, after, ready = step
            if (len(stack), after) in failed:
                continue
            way.append(nodes)
            if len(way) == len(self._turns):
                return Placed(way, True)
            stack.append((after, self._steps(len(way), after, ready)))
        return Placed([], True)

    def _steps(
        self, turn: int, done: int, ready: int
    ) -> Iterator[tuple[tuple[int, ...], int, int]]:
        """Yield the ways to take a turn: its nodes, what is finished then and what is ready."""
        masks = self._turns[turn]
        for chosen in self._choices(masks, ready):
            taken = mask_of(chosen)
            after = done | taken
            if not self._due[turn] & ~after:
                yield chosen, after, self._graph.ready_after(ready, done, taken)

    def _choices(self, masks: Sequence[int], ready: int) -> Iterator[tuple[int, ...]]:
        """Yield for the calls of a turn a ready node each, the same nodes for like calls once.

        Args:
            masks: The nodes that each call may stand for.
            ready: What is ready.
        """
        order = sorted(range(len(masks)), key=lambda call: masks[call])
        chosen: list[int] = []
        stack = [self._open(masks[order[0]], ready, 0, -1)]
        while stack and self._left > 0:
            node = next(stack[-1], None)
            del chosen[len(stack) - 1 :]
            if node is None:
                stack.pop()
                continue
            self._left -= 1
            chosen.append(node)
            if len(chosen) == len(order):
                yield tuple(node for _, node in sorted(zip(order, chosen, strict=True)))
                continue
            last, mask = (masks[order[place]] for place in (len(chosen) - 1, len(chosen)))
            taken = mask_of(chosen)
            stack.append(self._open(mask, ready, taken, node if mask == last else -1))

    def _open(self, mask: int, ready: int, taken: int, last: int) -> Iterator[int]:
        """Yield the nodes that a call may get.

        Args:
            mask: Those that it may stand for.
            ready: What was ready before the turn.
            taken: What other calls of the turn got.
            last: The node of the call before it, if that is like it, else -1.
        """
        free = ready & ~taken
        for node in self._order[self._order.index(last) + 1 if last >= 0 else 0 :]:
            if (free & mask) >> node & 1 and not self._before_it[node] & free:
                yield node


def _classes(graph: Graph, turns: Sequence[Sequence[int]]) -> dict[tuple[int, ...], list[int]]:
    """Return the nodes by the kinds of calls that may stand for them."""
    masks = sorted({mask for turn in turns for mask in turn})
    found: dict[tuple[int, ...], list[int]] = {}
    for node in range(len(graph)):
        found.setdefault(tuple(mask for mask in masks if mask >> node & 1), []).append(node)
    return found


def _preferred(graph: Graph, turns: Sequence[Sequence[int]]) -> list[int]:
    """Return for each node those that can take its place in any way, where they are ready."""
    found = [0] * len(graph)
    for members in _classes(graph, turns).values():
        for node in members:
            above = graph.above[node]
            for other in members:
                more = graph.above[other]
                if other != node and above & more == above and (above != more or other < node):
                    found[node] |= 1 << other
    return found


def _latest(graph: Graph, turns: Sequence[Sequence[int]]) -> list[int]:
    """Return for each node the last turn that may finish it, where all nodes are to be finished.

    A call for it comes in that turn, and enough calls of every kind after it for what waits for it.
    -1: no turn may.
    """
    classes = _calls(graph, turns)
    found = [-1] * len(graph)
    for node in reversed(graph.order):
        above = graph.above[node]
        before = len(turns)
        for other in bits(graph.after[node]):
            before = min(before, found[other])
        own: list[int] = []
        for members, when in classes:
            waiting = (above & members).bit_count()
            if waiting:
                before = min(before, when[-waiting] if waiting <= len(when) else -1)
            if members >> node & 1:
                own = when
        place = bisect_left(own, before)
        found[node] = own[place - 1] if place else -1
    return found


def _calls(graph: Graph, turns: Sequence[Sequence[int]]) -> list[tuple[int, list[int]]]:
    """Return the nodes that the same calls may stand for, and the turns of those, ascending."""
    return [
        (
            mask_of(members),
            [turn for turn, masks in enumerate(turns) for mask in masks if mask >> members[0] & 1],
        )
        for members in _classes(graph, turns).values()
    ]
