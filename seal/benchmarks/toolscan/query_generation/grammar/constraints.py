"""Requests under three or four constraints, worded from what a tool says of itself.

A request says what is wanted in the tool's own words, lists the values, and, where the result is
known, names the one field that is asked for.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any

import orjson

from seal.benchmarks.toolscan.query_generation.bench import (
    Bench,
    CallFailedError,
    is_empty,
    world_of,
)
from seal.benchmarks.toolscan.query_generation.candidates import (
    LEAST_CONSTRAINTS,
    MOST_CONSTRAINTS,
    Candidate,
    GoldCall,
)
from seal.benchmarks.toolscan.query_generation.grammar.phrases import (
    field_of,
    imperatives,
    noun_of,
    phrases,
)
from seal.benchmarks.toolscan.query_generation.results import askable, rows_of
from seal.benchmarks.toolscan.query_generation.seeds import Seed
from seal.benchmarks.toolscan.query_generation.stated import is_stated
from seal.benchmarks.toolscan.query_generation.stated import told as told_value
from seal.core.canonical import canonical_json, derive_seed
from seal.core.conditions import Called
from seal.core.text import sentences, words
from seal.core.types import JSON, Tool
from seal.pools.gold_calls import admits

_VALUES = 12
"""Values of an argument that are tried at most."""
_TRIED = 60
"""Combinations of values that are tried for a seed."""
_VARIED = 0.5
"""Chance that a value is another one than the seed's; of two calls of one tool none is."""
_HEAD = 18
"""Words of a tool's description that are taken at most."""

_ASIDE = re.compile(r"\(.*?\)")
_PREFACE = re.compile(
    r"(?:(?:this|the) (?:function|api|endpoint|tool|method|action|service)s?\s+|used to\s+)"
    r"(?:(?:is|can be|are) used (?:to|for)\s+|(?:allows|enables|lets) (?:you|users?)(?: to)?\s+"
    r"|helps (?:you )?(?:to )?|will\s+|can\s+)?",
    re.IGNORECASE,
)
"""What of a description says only that a tool is one."""
_BY_ARGUMENTS = re.compile(
    r"[:;]|,? (?:where|based on|given|using|with the (?:given|specified)"
    r"|for (?:the|a) (?:given|specified)|for a specific|by specifying|according to|by providing"
    r"|by its|by their)\b",
    re.IGNORECASE,
)
"""Where a description begins to tell of the arguments, which the request lists itself."""
_OPEN = frozenset("than of from to in on at by for with and or a an the are is".split())  # noqa: SIM905


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
        """Return candidates, three times as many as are wanted where there are so many."""
        chance = random.Random(derive_seed(self._seed, "constraint", seed.id))
        found: list[Candidate] = []
        for calls in self._choices(seed, chance):
            found.append(self._candidate(seed, calls, chance))
            if len(found) >= 3 * count + 3:
                break
        return found

    def _choices(self, seed: Seed, chance: random.Random) -> Iterator[list[GoldCall]]:
        """Yield calls with three or four arguments in all; the seed's own values come first."""
        seen: set[bytes] = set()
        for calls in self._bases(seed):
            for made in self._varied(calls, chance):
                key = canonical_json([list(call) for call in made])
                if key not in seen:
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
        least = sum(len(call.canonical_arguments()) for call in calls)
        most = sum(len(self._known(call)) for call in calls)
        return least <= MOST_CONSTRAINTS and most >= LEAST_CONSTRAINTS

    def _known(self, call: Called) -> dict[str, list[JSON]]:
        """Return the values that are known of each argument, the call's own first."""
        key = canonical_json([call.tool, call.canonical_arguments()])
        if key not in self._found:
            self._found[key] = self._values_of(call)
        return self._found[key]

    def _values_of(self, call: Called) -> dict[str, list[JSON]]:
        tool = self._tools[call.tool]
        declared = tool.parameters.get("properties") or {}
        own = call.canonical_arguments()
        found: dict[str, list[JSON]] = {name: [value] for name, value in own.items()}
        for name, schema in declared.items():
            held = self._values.get((tool.id, name), {})
            named = _named_values(schema)
            values = [*found.get(name, []), *held.values(), *named]
            fitting = [v for v in values if admits(schema, v) and _can_be_said(v)]
            if fitting:
                found[name] = _distinct(fitting)[:_VALUES]
        return found

    def _varied(self, calls: Sequence[Called], chance: random.Random) -> Iterator[list[GoldCall]]:
        first = self._filled(calls, None)
        if first:
            yield first
        for _ in range(_TRIED):
            made = self._filled(calls, chance)
            if made:
                yield made

    def _filled(self, calls: Sequence[Called], chance: random.Random | None) -> list[GoldCall]:
        """Return the calls with so many arguments; without chance, values are the seed's own."""
        room = MOST_CONSTRAINTS - sum(len(call.canonical_arguments()) for call in calls)
        made = []
        alike = len({call.tool for call in calls}) < len(calls)
        for call in calls:
            known, own = self._known(call), call.canonical_arguments()
            optional = [name for name in known if name not in own]
            if chance is not None:
                chance.shuffle(optional)
            lacking = max(0, LEAST_CONSTRAINTS - sum(len(c.canonical_arguments()) for c in calls))
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
        ask = self._ask(seed, calls, chance)
        parts, names = [], []
        for place, call in enumerate(calls):
            tool = self._tools[call.tool]
            if place and call.tool == calls[0].tool:
                text, name = _same(call.arguments, chance)
            else:
                text, name = _request(tool, call.arguments, chance, again=place > 0)
            parts.append(text)
            names.append(name)
        if ask is None:
            return Candidate(" ".join(parts), "+".join(names), calls)
        question, name = _question(*ask, chance)
        return Candidate(" ".join([*parts, question]), "+".join([*names, name]), calls, ask[0])

    def _ask(
        self, seed: Seed, calls: list[GoldCall], chance: random.Random
    ) -> tuple[str, int] | None:
        """Return a field that a request can ask for, and of how many rows; None: there is none."""
        tool = self._tools[calls[0].tool]
        if len(calls) > 1 or (tool.returns is None and not world_of(seed.task)):
            return None  # what a simulator invents for a tool without a shape is not worth asking
        try:
            (result,) = self._bench.results(seed.task, calls)
        except CallFailedError:
            return None
        fields = [] if is_empty(result) else askable(result, calls[0].arguments)
        apart = {*_texts()["not_asked"].split(), *(tool.parameters.get("properties") or {})}
        fields = [name for name in fields if not apart & {name, words(name)[-1]}]
        return (chance.choice(fields[:4]), len(rows_of(result))) if fields else None


def request(tool: Tool, arguments: dict[str, JSON], seed: int) -> str:
    """Return a request for one call.

    Args:
        tool: The tool.
        arguments: What is stated.
        seed: Another one gives other words.
    """
    return _request(tool, arguments, random.Random(seed))[0]


def _request(
    tool: Tool, arguments: Mapping[str, JSON], chance: random.Random, again: bool = False
) -> tuple[str, str]:
    """Return the words that ask for a call, and the name of their frame."""
    texts = _texts()
    head = head_of(tool)
    kind = "again" if again else "verb" if head.verb else "noun"
    place = chance.randrange(len(texts["heads"][kind]))
    how = chance.randrange(len(texts["lists"]))
    listed = phrases(arguments, chance)
    opening = texts["heads"][kind][place].format(head=head.text, verb=_asking(head))
    told = texts["lists"][how].format(listed=_joined(listed), first=_capital(_joined(listed)))
    text = f"{opening} {told}"
    missing = [n for n, v in arguments.items() if not is_stated(v, text, n)]
    if missing:
        left = [f"{noun_of(n)} {told_value(arguments[n])}" for n in missing]
        text = f"{text} ({_joined(left)})"
    return text, f"{kind}{place}/{how}"


class Head:
    """What a tool does, in its own words.

    Args:
        text: Without an ending mark, its first letter small where it is no name's.
        verb: Whether it begins with a verb in the imperative.
    """

    def __init__(self, text: str, verb: bool) -> None:
        self.text = text
        self.verb = verb


def head_of(tool: Tool) -> Head:
    """Return the first clause of a tool's description, or its name's words where it has none."""
    text = _ASIDE.sub("", next(iter(sentences(tool.description)), "").strip())
    text = _PREFACE.sub("", text, count=1)
    said = _trimmed(_BY_ARGUMENTS.split(text, maxsplit=1)[0])
    if said.rpartition(" ")[2] in _OPEN:
        said = _trimmed(text)
    if not 2 <= len(said.split()) <= _HEAD:
        said = " ".join(words(tool.name))
    first, _, rest = said.partition(" ")
    verbs = imperatives()
    base = _base(first.lower())
    noun = rest.split(" ")[0] in _texts()["nouns_before"].split() and base not in ("search", "look")
    if base in verbs and not noun:
        return Head(f"{base} {rest}".strip(), True)
    small = first if len(first) > 1 and first[1:] != first[1:].lower() else first.lower()
    return Head(f"{small} {rest}".strip(), False)


def _trimmed(text: str) -> str:
    return " ".join(text.split()).rstrip(".!?,;: ")


def _base(verb: str) -> str:
    """Return a verb in the third person as its base form; others as they are."""
    verbs = imperatives()
    for base in (verb, verb.removesuffix("s"), verb.removesuffix("es"), re.sub("ies$", "y", verb)):
        if base in verbs:
            return base
    return verb


def _asking(head: Head) -> str:
    return head.text if head.verb else f"find {head.text}"


def _same(arguments: Mapping[str, JSON], chance: random.Random) -> tuple[str, str]:
    """Return the words that ask for another call of the tool that was asked for before."""
    texts = _texts()["same"]
    place = chance.randrange(len(texts))
    return texts[place].format(listed=_joined(phrases(arguments, chance))), f"same{place}"


def _question(ask: str, rows: int, chance: random.Random) -> tuple[str, str]:
    asked = _texts()["asks"]
    place = chance.randrange(len(asked))
    each = " of each" if rows > 1 else ""
    return asked[place].format(field=field_of(ask), each=each), f"ask{place}"


def _joined(parts: Sequence[str]) -> str:
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _named_values(schema: Any) -> list[JSON]:
    if not isinstance(schema, dict):
        return []
    found = [schema["default"]] if "default" in schema else []
    found += [
        v for key in ("enum", "examples") if isinstance(schema.get(key), list) for v in schema[key]
    ]
    if schema.get("type") == "boolean":
        found += [True, False]
    return found


def _can_be_said(value: JSON) -> bool:
    """Tell whether a request can state a value: no empty one, and no long map."""
    if isinstance(value, str):
        return bool(words(value)) and len(value) <= 120
    return not (value is None or value in ([], {})) and len(canonical_json(value)) <= 200


def _distinct(values: Sequence[JSON]) -> list[JSON]:
    return list({canonical_json(value): value for value in values}.values())


@cache
def _texts() -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads((files(__package__) / "constraints.json").read_bytes())
    return found


__all__ = ["Constraints", "head_of", "request"]
