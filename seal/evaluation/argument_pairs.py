"""Which gold call a call was meant for; scorers of arguments."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, Literal, get_args

from seal.core import UnknownNameError
from seal.core.conditions import Called
from seal.core.registry import Registry
from seal.core.schemas import MAX_DEPTH, required_names
from seal.core.values import alike, canonical_json, equal, nested_deeper
from seal.evaluation.mission_gold import Call, Graph, Turn, bits

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
