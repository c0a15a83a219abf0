"""The leaderboard's verdict on an answer: what `calls_right` says under `--match bfcl`.

Source: ShishirPatil/gorilla, the rules of bfcl-eval 2026.3.23; none of its code is here. Where its
verdict differs from ours:

- Texts are equal whatever their case, without blanks and `,./-_*^`, and with `'` for `"`.
- A value has the declared type: 5.0 is no integer, 5 is a float (but not in a list), true is no
  number. Where the first accepted value is of another type, this one is right too, letter by
  letter: it is taken for the name of a variable.
- `""` is right wherever a text may be left out, and `[]` wherever a list may.
- Gold calls take the first call that fits, in their order, whatever that leaves for others.
- live_relevance asks for any call at all.

- In Java and JavaScript a text is read as code, by the declared type; its `5L` is our 5.

Of dialogues it compares states and results. These come from its own classes, which the peer plays
(`seal.benchmarks.bfcl.world`); what they decide is decided here. After each turn that has gold
calls, the classes are as gold leaves them, and gold's results are among those of all calls so far.
A turn is right where all up to it is: so the last turn's verdict is the dialogue's.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seal.benchmarks.bfcl import world
from seal.benchmarks.bfcl.tasks import UNMEETABLE
from seal.benchmarks.bfcl.tools import declared_type
from seal.core import JSON, Goal, InfrastructureError, Tool, ToolCall, shortened
from seal.core.conditions import Argument, Called
from seal.core.text import counted
from seal.evaluation.goals import INFRASTRUCTURE, GoalChat, TaskChat, Value, no_gold, undefined

# -- Values that BFCL's models write as code: `5L`, `new int[]{1, 2}`, `{"a": [true]}`.
#
# Where a function is in Java or JavaScript, the leaderboard expects each argument as a text of
# code, and reads it by the declared type. A text that is no value of the type is taken for the name
# of a variable, and stays a text. What it reads is simple: lists are divided at each comma, so that
# a comma in a text divides it too, and a map ends at the first bracket that closes.
#
# Source: the rules of bfcl-eval 2026.3.23, which are those of August 2024; none of its code is
# here.

JAVA: Mapping[str, type] = {
    **dict.fromkeys(("byte", "short", "integer", "long"), int),
    **dict.fromkeys(("float", "double"), float),
    **dict.fromkeys(("String", "char", "any"), str),
    **dict.fromkeys(("Array", "ArrayList", "Queue", "Stack"), list),
    **dict.fromkeys(("HashMap", "Hashtable"), dict),
    "boolean": bool,
}
"""Declared type in Java to the type of its values."""
JAVASCRIPT: Mapping[str, type] = {
    **dict.fromkeys(("String", "any"), str),
    **dict.fromkeys(("integer", "Bigint"), int),
    "float": float,
    "Boolean": bool,
    "array": list,
    "dict": dict,
}
"""Declared type in JavaScript to the type of its values."""

_DIGITS = r"-?\d{1,400}"
_FRACTION = r"(?:\.\d{1,400})?"
_POWER = r"(?:[eE][+-]?\d{1,9})?"
_NUMBERS: Mapping[str, tuple[re.Pattern[str], type, str]] = {
    kind: (re.compile(pattern, re.ASCII), made, suffix)
    for kinds, pattern, made, suffix in (
        ("byte short integer", _DIGITS, int, ""),
        ("long", f"{_DIGITS}[lL]", int, "lL"),
        ("float", f"{_DIGITS}{_FRACTION}{_POWER}[fF]", float, "fF"),
        ("double", f"{_DIGITS}{_FRACTION}{_POWER}", float, ""),
        ("js.integer", _DIGITS, int, ""),
        ("js.Bigint", f"{_DIGITS}n", int, "n"),
        ("js.float", f"{_DIGITS}{_FRACTION}", float, ""),
    )
    for kind in kinds.split()
}
"""Type to how its numbers are written, what they become, and the signs behind them."""


def _number(kind: str, text: str) -> Any:
    """Return the number that a text writes; else the text."""
    pattern, made, suffix = _NUMBERS[kind]
    return made(text.rstrip(suffix)) if pattern.fullmatch(text) else text


def _truth(text: str) -> Any:
    return {"true": True, "false": False}.get(text, text)


def _unquoted(text: str, quotes: str) -> str | None:
    """Return what stands between quotes; None: there are none."""
    quoted = text[:1] and text[:1] in quotes and text.endswith(text[:1])
    return text[1:-1] if quoted else None


def _plain_value(text: str, quotes: str) -> Any:
    """Return the value of a text whose type is not known."""
    unquoted = _unquoted(text, quotes)
    if unquoted is not None:
        return unquoted
    for made in (int, float):
        try:
            return made(text) if len(text) < 400 else text
        except ValueError:
            continue
    return _truth(text)


# -- Java.


def read_java(text: str, kind: str, inner: str = "") -> Any:
    """Return the value that a text writes in Java; the text where it is no such value.

    Args:
        text: The code.
        kind: Declared type, one of `JAVA`.
        inner: That of the items of a list.
    """
    if kind in ("byte", "short", "integer", "long", "float", "double"):
        return _number(kind, text)
    if kind == "boolean":
        return _truth(text)
    if kind == "ArrayList":
        return _array_list(text, inner)
    if kind == "Array":
        return _array(text, inner)
    return _hash_map(text) if kind == "HashMap" else text


_AS_LIST = re.compile(r"new\s+ArrayList<\w*>\(Arrays\.asList\(")
_EMPTY_LIST = re.compile(r"new\s+ArrayList<\w*>\(\)")
_ADDS = re.compile(r"\s*\{\{")
_ARRAY = re.compile(r"new\s+\w+\[\]\s*\{")
_MAP = re.compile(r"new\s+HashMap<")
_CALLED = re.compile(r">\s*\(\)")
_FILLED = re.compile(r"\s*\{\s*\{?")


def _until(text: str, start: int, end: str, least: int = 0) -> str | None:
    """Return what stands in one line up to a sign; None: it never comes."""
    found = text.find(end, start + least)
    inside = text[start:found]
    return None if found < 0 or "\n" in inside else inside


def _array_list(text: str, inner: str) -> Any:
    """`new ArrayList<>(Arrays.asList(1, 2))`, or `new ArrayList<>() {{ add(1); add(2); }}`."""

    def item(code: str) -> Any:
        return code[1:-1] if inner in ("char", "String") else read_java(code, inner)

    found = _AS_LIST.search(text)
    listed = _until(text, found.end(), "))", 1) if found else None
    if listed is not None:
        return [item(code.strip()) for code in listed.split(",")]
    found = _EMPTY_LIST.search(text)
    if found is None:
        return text
    filled = _ADDS.match(text, found.end())
    end = text.find("}}", filled.end()) if filled else -1
    if filled is None or end < 0 or not text[filled.end() : end].strip():
        return []
    return [item(code.strip()) for code in _arguments(text[filled.end() : end], "add(")]


def _arguments(text: str, opening: str) -> Iterator[str]:
    """Yield what stands in the brackets of each call of one name."""
    for part in text.split(opening)[1:]:
        inside = _until(part, 0, ")", 1)
        if inside is not None:
            yield inside


def _array(text: str, inner: str) -> Any:
    """`new int[]{1, 2}`; of an array of texts each item keeps its quotes."""
    found = _ARRAY.search(text)
    listed = _until(text, found.end(), "}") if found else None
    if listed is None:
        return text
    return [read_java(code, inner) for code in map(str.strip, listed.split(",")) if code]


_PUT = re.compile(r'"(?P<name>[^"\n]*)",\s*+(?P<value>[^)\n]*)\)')


def _hash_map(text: str) -> Any:
    """`new HashMap<>() {{ put("a", 1); }}`."""
    found = _MAP.search(text)
    called = _CALLED.search(text, found.end()) if found else None
    if called is None:
        return text
    filled = _FILLED.match(text, called.end())
    end = text.find("}", filled.end()) if filled else -1
    puts = text[filled.end() : end] if filled and end >= 0 else ""
    given = (_PUT.match(part) for part in puts.split("put(")[1:])
    return {one["name"]: _java_value(one["value"].strip()) for one in given if one}


def _java_value(text: str) -> Any:
    for kind in ("long", "float"):
        value = _number(kind, text)
        if not isinstance(value, str):
            return value
    return _plain_value(text, '"')


# -- JavaScript.


def read_javascript(text: str, kind: str, inner: str = "") -> Any:
    """Return the value that a text writes in JavaScript; the text where it is no such value.

    Args:
        text: The code.
        kind: Declared type, one of `JAVASCRIPT`.
        inner: That of the items of a list; empty: it is not known.
    """
    if f"js.{kind}" in _NUMBERS:
        return _number(f"js.{kind}", text)
    if kind == "String":
        unquoted = _unquoted(text, "'\"")
        return text if unquoted is None else unquoted
    if kind == "Boolean":
        return _truth(text)
    if kind == "array":
        return _list(text.strip(), inner)
    return _object(text.strip()) if kind == "dict" else text


_LIST = re.compile(r"\[|new\s+Array\(")
_LISTS = re.compile(r"(?:\[|new\s+Array\()\s*\[")


def _list(text: str, inner: str) -> Any:
    """`[1, 2]`, `new Array(1, 2)` or `[[1], [2]]`; a list ends at the first bracket that closes."""
    rows = _rows(text)
    if rows is not None:
        return [[_js_value(code) for code in row.split(",")] for row in rows]
    found = _LIST.match(text)
    listed = _until(text, found.end(), "]" if found[0] == "[" else ")") if found else None
    if listed is None:
        return text
    items = listed.split(",") if listed.strip() else []
    if not inner:
        return list(map(_js_value, items))
    return [read_javascript(code.strip(), inner) for code in items]


def _rows(text: str) -> list[str] | None:
    """Return the insides of the lists of a list of lists; None: it is none."""
    found = _LISTS.match(text)
    if found is None:
        return None
    rows: list[str] = []
    at = found.end()
    while (row := _until(text, at, "]")) is not None:
        rows.append(row)
        at += len(row) + 1
        rest = _COMMA.match(text, at)
        if rest is None:
            closing = "]" if text.startswith("[") else ")"
            return rows if text[at:].lstrip().startswith(closing) else None
        at = rest.end()
    return None


_COMMA = re.compile(r"\s*,\s*\[")


def _object(text: str) -> Any:
    """`{"a": 1, b: [2]}`, up to the first bracket that closes."""
    if text == "{}":
        return {}
    inside = _until(text, 1, "}") if text.startswith("{") else None
    if inside is None:
        return text
    members: dict[str, Any] = {}
    for pair in _pairs(inside):
        name, _, code = pair.partition(":")
        members[name.strip().strip("'\"")] = _member(code.strip())
    return members


def _pairs(text: str) -> Iterator[str]:
    """Yield `name: value` between commas; a part without a colon belongs to the one before it."""
    pair = ""
    for part in text.split(","):
        if ":" in part[1:] and ":" in pair:
            yield pair
            pair = part
        else:
            pair = f"{pair},{part}" if pair else part
    if ":" in pair:
        yield pair


def _member(code: str) -> Any:
    if code.startswith("[") and code.endswith("]"):
        return _list(code, "")
    if code.startswith("{") and code.endswith("}"):
        return _object(code)
    return _js_value(code.strip("'\""))


def _js_value(code: str) -> Any:
    return _plain_value(code.strip(), "'\"")


READERS: Mapping[str, Callable[[str, str, str], Any]] = {
    "java": read_java,
    "javascript": read_javascript,
}
"""Language to what reads its values."""
TYPES: Mapping[str, Mapping[str, type]] = {"java": JAVA, "javascript": JAVASCRIPT}
"""Language to its declared types."""


# -- The leaderboard's verdict on an answer.

_IGNORED = re.compile(r"[ ,./\-_*^]")
_TYPES: Mapping[str, type] = {
    "string": str,
    "any": str,
    "integer": int,
    "float": float,
    "boolean": bool,
    "array": list,
    "tuple": list,
    "dict": dict,
}


class Leaderboard:
    """Gives the leaderboard's verdict on goals. Safe in threads."""

    def __init__(self) -> None:
        self._peer = world.Peer()

    def __call__(self, goal: GoalChat) -> Value:
        """Return 1 for right, 0 for wrong; None where it does not judge, with the reason."""
        tags = goal.task.tags
        turns = tags.get("suite") == "multi_turn"
        if not turns and goal.goal.plans is None:
            return undefined(no_gold(goal.goal))
        needed = any(plan.calls() for plan in goal.goal.plans or ())
        if not turns:
            language = str(tags.get("language", "python"))
            wrong = wrong_goal(goal.goal, goal.made, goal.tools, language)
        elif not world.is_named():
            told = f"set {world.VARIABLE} to a Python that has it"
            return undefined(f"it needs the classes of bfcl-eval; {told}")
        else:
            try:
                wrong = goal.chat.once(self._turns, goal.chat)[goal.position]
            except InfrastructureError as error:
                return undefined(f"{INFRASTRUCTURE}: {error}")
        return Value(float(not wrong), 1.0, wrong, {"needed": needed, "rules": "bfcl"})

    def _turns(self, chat: TaskChat) -> list[str]:
        """Return for each turn what is wrong up to its end."""
        made = [
            [(call.name, call.arguments) for call in goal.made if call.arguments is not None]
            for goal in chat.goals
        ]
        gold = [gold_calls(goal.goal, goal.tools) for goal in chat.goals]
        return wrong_turns(made, gold, played(self._peer, chat.task.id, made, gold))


Calls = Sequence[tuple[str, Mapping[str, JSON]]]
"""Names and arguments of calls."""
NO_CALL, STATE, RESULT = "no call", "another state", "a result of gold is missing"
"""What may be wrong with a turn; after a colon, where."""


def gold_calls(goal: Goal, tools: Mapping[str, Tool]) -> Calls:
    """Return the gold calls of a turn; none where it has no gold."""
    calls = goal.plans[0].calls() if goal.plans else ()
    return [(tools[call.tool].name, call.canonical_arguments()) for call in calls]


@dataclass(frozen=True, slots=True)
class PlayedTurn:
    """What the calls of a turn brought, in the classes of the peer."""

    results: list[str]
    """Of the agent's calls."""
    gold: list[str]
    """Of gold's calls, in classes of their own."""
    differ: list[str]
    """Classes whose public attributes are others than gold leaves behind."""


def played(
    peer: world.Peer, item: str, made: Sequence[Calls], gold: Sequence[Calls]
) -> list[PlayedTurn]:
    """Return what the turns of a dialogue bring.

    Args:
        peer: That has the classes.
        item: Id of the dialogue.
        made: The agent's calls by turn.
        gold: As many turns of gold calls.

    Raises:
        UsageError: The peer is not there.
        InfrastructureError: It failed, or took too long.
    """
    return [PlayedTurn(**turn) for turn in peer.ask("played", item=item, made=made, gold=gold)]


def wrong_turns(
    made: Sequence[Calls], gold: Sequence[Calls], turns: Sequence[PlayedTurn]
) -> list[str]:
    """Return for each turn of a dialogue what is wrong up to its end; empty: nothing.

    Args:
        made: The agent's calls by turn.
        gold: Gold calls by turn; nothing is compared in a turn that has none.
        turns: What both brought.
    """
    told: list[str] = []
    results: Counter[str] = Counter()
    for calls, wanted, turn in zip(made, gold, turns, strict=True):
        results.update(turn.results)
        wrong = told[-1] if told else ""
        if wanted and not wrong:
            missing = Counter(turn.gold) - results
            if not calls:
                wrong = NO_CALL
            elif turn.differ:
                wrong = f"{STATE}: {', '.join(turn.differ)}"
            elif missing:
                wrong = f"{RESULT}: {shortened(min(missing))}"
        told.append(wrong)
    return told


def wrong_goal(
    goal: Goal, made: Sequence[ToolCall], tools: Mapping[str, Tool], language: str = "python"
) -> str:
    """Return what is wrong with the calls of a single-turn goal; empty: nothing.

    Args:
        goal: With its gold; gold calls that say no arguments stand for any call.
        made: The agent's calls.
        tools: The pool by id.
        language: Of the functions: "python", "java" or "javascript".
    """
    if goal.labels.get(UNMEETABLE):
        return "gold accepts nothing"
    gold = goal.plans[0].calls() if goal.plans else []
    if gold and all(call.arguments is None for call in gold):
        return "" if made else "no call"
    if len(made) != len(gold):
        return f"{counted(len(made), 'call')}, expected {len(gold)}"
    free = list(made)
    for call in gold:
        rules = CallRules(call, tools[call.tool], language)
        fitting = next((one for one in free if one.tool == call.tool and rules.accept(one)), None)
        if fitting is None:
            return f"no call fits that of {call.tool}"
        free.remove(fitting)
    return ""


@dataclass(frozen=True)
class CallRules:
    """What the leaderboard accepts for a gold call.

    Args:
        gold: The call.
        tool: Its tool, whose types count.
        language: Of the function. In Java and JavaScript a text is read as code (`READERS`).
    """

    gold: Called
    tool: Tool
    language: str = "python"

    def accept(self, call: ToolCall) -> bool:
        """Tell whether a call has right arguments."""
        given, gold = call.arguments, self.gold.arguments or {}
        if given is None or not given.keys() >= set(self.tool.parameters.get("required", ())):
            return False
        return given.keys() <= gold.keys() and all(
            self.accept_value(name, argument, given[name]) if name in given else argument.optional
            for name, argument in gold.items()
        )

    def accept_value(self, name: str, argument: Argument, value: Any) -> bool:
        """Tell whether an argument of the gold call has a right value."""
        if name not in self.tool.parameters["properties"]:
            return False
        kind, inner = declared_type(self.tool, name), declared_type(self.tool, f"{name}[]")
        wanted = self._type(kind)
        if self.language != "python" and isinstance(value, str):
            value = READERS[self.language](value, kind, inner)
        elif wanted is float and type(value) is int:
            value = float(value)
        accepted = [*argument.listed, *([""] if argument.optional else [])]
        items = self._type(inner) if wanted is list else None
        if not _of_type(value, accepted, wanted, items):
            return False
        if _first_type(accepted) not in (wanted, None):
            return value in accepted
        return _among(value, accepted, wanted, items)

    def _type(self, kind: str) -> type:
        return _TYPES[kind] if self.language == "python" else TYPES[self.language].get(kind, str)


def _first_type(accepted: Iterable[Any]) -> type | None:
    return next((type(one) for one in accepted if one != ""), None)


def _of_type(value: Any, accepted: Sequence[Any], wanted: type, items: type | None) -> bool:
    """Tell whether a value has the declared type, or that of the first accepted value."""
    kind = type(value)
    if kind is not wanted:
        return kind is _first_type(accepted)
    return items is None or any(
        not isinstance(one, list) or all(_of_type(item, one, items, None) for item in value)
        for one in accepted
    )


def _among(value: Any, accepted: Sequence[Any], wanted: type, items: type | None) -> bool:
    """Tell whether a value of the declared type is one of the accepted ones."""
    if wanted is str:
        return _plain(value) in [_plain(one) for one in accepted if isinstance(one, str)]
    if wanted is list:
        lists: list[list[Any]] = [one or [] for one in accepted]
        if items is dict:
            return any(len(one) == len(value) and all(map(_same_map, value, one)) for one in lists)
        return list(map(_plain, value)) in [list(map(_plain, one)) for one in lists]
    if wanted is dict:
        members = {name for one in accepted if isinstance(one, dict) for name in one}
        return any(_same_map(value, one, members) for one in accepted)
    return value in accepted


def _same_map(value: Any, one: Any, members: Iterable[str] = ()) -> bool:
    """Tell whether a map has the members of an accepted one; of others it may have empty texts."""
    if not isinstance(value, dict) or not isinstance(one, dict):
        return False
    return all(name in value and _plain(value[name]) == _plain(one[name]) for name in one) and all(
        name in members and _plain(value[name]) == "" for name in value.keys() - one.keys()
    )


def _plain(value: Any) -> Any:
    """Return a text as the leaderboard compares it; any other value as it is."""
    return _IGNORED.sub("", value).lower().replace("'", '"') if isinstance(value, str) else value
