"""Requests under three or four constraints, worded from what a tool says of itself.

A request says what is wanted in the tool's own words, and lists the values. If the result is known,
it names the one field that is asked for.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import Any

from seal.benchmarks.toolscan.query_generation.calls import (
    Bench,
    CallFailedError,
    askable,
    is_empty,
    rows_of,
    world_of,
)
from seal.benchmarks.toolscan.query_generation.candidates import (
    LEAST_CONSTRAINTS,
    MOST_CONSTRAINTS,
    Candidate,
    GoldCall,
)
from seal.benchmarks.toolscan.query_generation.grammar.requests import (
    TEXTS,
    Worded,
    field_of,
    framed,
    joined,
    phrases,
    request,
)
from seal.benchmarks.toolscan.query_generation.seeds import Seed
from seal.core import JSON, Tool
from seal.core.canonical import canonical_json, derive_seed
from seal.core.conditions import Called
from seal.core.text import words
from seal.pools.gold_values import admits

_VALUES = 12
"""Values of an argument that are tried at most."""
_TRIED = 60
"""Combinations of values that are tried for a seed."""
_VARIED = 0.5
"""Chance that a value is another one than the seed's; of two calls of one tool none is."""


class Constraints:
    """Proposes constraints of seeds.

    Args:
        seeds: All; values of their gold calls are given to other queries.
        tools: The pool by id.
        bench: Makes calls, so that a request can name a field of the result.
        seed: Of the generation.
    """

    def __init__(
        self, seeds: Sequence[Seed], tools: Mapping[str, Tool], bench: Bench, seed: int
    ) -> None:
        self._tools = tools
        self._bench = bench
        self._seed = seed
        self._found: dict[bytes, dict[str, list[JSON]]] = {}
        self._values: dict[tuple[str, str], dict[bytes, JSON]] = {}
        for call in (c for seed in seeds for plan in seed.plans for c in plan):
            for name, argument in (call.arguments or {}).items():
                held = self._values.setdefault((call.tool, name), {})
                for value in (argument.values or ())[:1]:
                    held.setdefault(canonical_json(value), value)

    def propose(self, seed: Seed, count: int) -> list[Candidate]:
        """Return candidates, at most three more than three times as many as are wanted."""
        chance = random.Random(derive_seed(self._seed, "constraint", seed.id))
        made = (self._candidate(seed, calls, chance) for calls in self._choices(seed, chance))
        return list(islice(made, 3 * count + 3))

    def _choices(self, seed: Seed, chance: random.Random) -> Iterator[list[GoldCall]]:
        """Yield calls with three or four arguments in all; the seed's own values come first."""
        seen: set[bytes] = set()
        for calls in self._bases(seed):
            for attempt in range(_TRIED + 1):
                made = self._filled(calls, chance if attempt else None)
                key = canonical_json([list(call) for call in made])
                if made and key not in seen:
                    seen.add(key)
                    yield made

    def _bases(self, seed: Seed) -> list[list[Called]]:
        """Return the calls of the seed that can have as many arguments: one, else two at once."""
        calls: dict[str, Called] = {}
        for call in (call for plan in seed.plans for call in plan):
            calls.setdefault(call.tool, call)
        single = [[call] for call in calls.values() if self._sizes([call])]
        if single:
            return single
        pairs = pairwise(seed.plans[0])
        return [[one, other] for one, other in pairs if self._sizes([one, other])][:2]

    def _sizes(self, calls: Sequence[Called]) -> bool:
        most = sum(len(self._known(call)) for call in calls)
        return _given(calls) <= MOST_CONSTRAINTS and most >= LEAST_CONSTRAINTS

    def _known(self, call: Called) -> dict[str, list[JSON]]:
        """Return the values that are known of each argument, the call's own first."""
        key = canonical_json([call.tool, call.canonical_arguments()])
        if key not in self._found:
            self._found[key] = self._values_of(call)
        return self._found[key]

    def _values_of(self, call: Called) -> dict[str, list[JSON]]:
        tool = self._tools[call.tool]
        own = call.canonical_arguments()
        found: dict[str, list[JSON]] = {name: [value] for name, value in own.items()}
        for name, schema in (tool.parameters.get("properties") or {}).items():
            held = self._values.get((tool.id, name), {}).values()
            values = [*found.get(name, []), *held, *_named_values(schema)]
            fitting = [v for v in values if admits(schema, v) and _can_be_said(v)]
            if fitting:
                distinct = {canonical_json(value): value for value in fitting}
                found[name] = list(distinct.values())[:_VALUES]
        return found

    def _filled(self, calls: Sequence[Called], chance: random.Random | None) -> list[GoldCall]:
        """Return the calls with three or four arguments in all; without chance, of own values."""
        room = MOST_CONSTRAINTS - _given(calls)
        lacking = max(0, LEAST_CONSTRAINTS - _given(calls))
        made = []
        alike = len({call.tool for call in calls}) < len(calls)
        for call in calls:
            known, own = self._known(call), call.canonical_arguments()
            optional = [name for name in known if name not in own]
            if chance is not None:
                chance.shuffle(optional)
            more = lacking if chance is None else chance.randint(min(lacking, room), room)
            chosen = [*own, *optional[: min(more, room)]]
            room -= len(chosen) - len(own)
            arguments = {}
            for name in chosen:
                values = known[name]
                vary = chance is not None and not alike and chance.random() < _VARIED
                arguments[name] = chance.choice(values) if vary and chance else values[0]
            made.append(GoldCall(call.tool, arguments))
        size = sum(len(call.arguments) for call in made)
        return made if LEAST_CONSTRAINTS <= size <= MOST_CONSTRAINTS else []

    def _candidate(self, seed: Seed, calls: list[GoldCall], chance: random.Random) -> Candidate:
        ask, rows = self._ask(seed, calls, chance)
        parts = []
        for place, (tool, arguments) in enumerate(calls):
            if place and tool == calls[0].tool:
                how = chance.randrange(len(TEXTS["same"]))
                listed = joined(phrases(arguments, chance))
                parts.append(Worded(TEXTS["same"][how].format(listed=listed), f"same{how}"))
            else:
                parts.append(request(self._tools[tool], arguments, chance, again=place > 0))
        if ask:
            each = " of each" if rows > 1 else ""
            parts.append(framed(TEXTS["asks"], "ask", chance, field=field_of(ask), each=each))
        text, frame = " ".join(part.text for part in parts), "+".join(part.frame for part in parts)
        return Candidate(text, frame, calls, ask)

    def _ask(self, seed: Seed, calls: list[GoldCall], chance: random.Random) -> tuple[str, int]:
        """Return a field that a request can ask for, and of how many rows; empty: there is none."""
        tool = self._tools[calls[0].tool]
        if len(calls) > 1 or (tool.returns is None and not world_of(seed.task)):
            return "", 0  # what a simulator invents for a tool without a shape is not worth asking
        try:
            (result,) = self._bench.results(seed.task, calls)
        except CallFailedError:
            return "", 0
        fields = [] if is_empty(result) else askable(result, calls[0].arguments)
        apart = {*TEXTS["not_asked"].split(), *(tool.parameters.get("properties") or {})}
        fields = [name for name in fields if not apart & {name, words(name)[-1]}]
        return (chance.choice(fields[:4]), len(rows_of(result))) if fields else ("", 0)


def _given(calls: Sequence[Called]) -> int:
    return sum(len(call.canonical_arguments()) for call in calls)


def _named_values(schema: Any) -> list[JSON]:
    if not isinstance(schema, dict):
        return []
    found = [schema["default"]] if "default" in schema else []
    found += [
        v for key in ("enum", "examples") if isinstance(schema.get(key), list) for v in schema[key]
    ]
    return [*found, True, False] if schema.get("type") == "boolean" else found


def _can_be_said(value: JSON) -> bool:
    """Tell whether a request can state a value: no empty one, and no long map."""
    if isinstance(value, str):
        return bool(words(value)) and len(value) <= 120
    return not (value is None or value in ([], {})) and len(canonical_json(value)) <= 200
