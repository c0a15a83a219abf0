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

Answers in Java and JavaScript, whose values are code, and dialogues, of which it compares states
and results, are judged by the peer itself (`seal.benchmarks.bfcl.world`). A turn of a dialogue is
right where all up to it is: so the last turn's verdict is the dialogue's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seal.benchmarks.bfcl import world
from seal.benchmarks.bfcl.tasks import UNMEETABLE
from seal.benchmarks.bfcl.tools import declared_type
from seal.core import JSON, Goal, InfrastructureError, Tool, ToolCall
from seal.core.conditions import Argument, Called
from seal.core.text import counted
from seal.core.values import json_text
from seal.evaluation.goals import INFRASTRUCTURE, GoalChat, TaskChat, Value, no_gold, undefined

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
        if not turns and tags.get("language") == "python":
            wrong = wrong_goal(goal.goal, goal.made, goal.tools)
        elif not world.is_named():
            told = f"set {world.VARIABLE} to a Python that has it"
            return undefined(f"bfcl-eval alone judges it; {told}")
        else:
            try:
                wrong = self._by_peer(goal, turns)
            except InfrastructureError as error:
                return undefined(f"{INFRASTRUCTURE}: {error}")
        return Value(float(not wrong), 1.0, wrong, {"needed": needed, "rules": "bfcl"})

    def _by_peer(self, goal: GoalChat, turns: bool) -> str:
        if turns:
            told: list[str] = goal.chat.once(self._turns, goal.chat)
            return told[goal.position]
        language = str(goal.task.tags["language"])
        calls = [
            [call.name, as_code(goal.tools[call.tool], call.arguments or {}, language)]
            if call.tool is not None
            else [call.name, {}]
            for call in goal.made
        ]
        (wrong,) = self._peer.ask("answers", of=[[goal.task.id, calls]])
        if wrong.startswith("!"):
            raise InfrastructureError(f"bfcl-eval failed: {wrong[1:]}")
        return str(wrong)

    def _turns(self, chat: TaskChat) -> list[str]:
        """Return for each turn what is wrong up to its end."""
        said = [
            [[call.name, call.arguments] for call in goal.made if call.arguments is not None]
            for goal in chat.goals
        ]
        told: list[str] = self._peer.ask("turns", item=chat.task.id, turns=said)
        return told


def wrong_goal(goal: Goal, made: Sequence[ToolCall], tools: Mapping[str, Tool]) -> str:
    """Return what is wrong with the calls of a single-turn goal in Python; empty: nothing.

    Args:
        goal: With its gold; gold calls that say no arguments stand for any call.
        made: The agent's calls.
        tools: The pool by id.
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
        rules = CallRules(call, tools[call.tool])
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
    """

    gold: Called
    tool: Tool

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
        wanted = _TYPES[kind]
        if kind == "float" and type(value) is int:
            value = float(value)
        accepted = [*argument.listed, *([""] if argument.optional else [])]
        items = _TYPES[inner] if wanted is list else None
        if not _of_type(value, accepted, wanted, items):
            return False
        if _first_type(accepted) not in (wanted, None):
            return value in accepted
        return _among(value, accepted, wanted, items)


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


_SUFFIXES = {"long": "L", "float": "f"}


def as_code(tool: Tool, arguments: dict[str, JSON], language: str) -> dict[str, str]:
    """Return the arguments of a call as code, as the leaderboard's prompts ask for: `5L`.

    A text is taken as it stands: it may be such code, or the name of a variable. Any other value is
    written so that the leaderboard reads this very value back. So texts in a Java array have no
    quotes, for its reader would keep them.

    Args:
        tool: That is called.
        arguments: Of the call.
        language: "java" or "javascript".
    """
    known = tool.parameters["properties"]
    return {
        name: value
        if isinstance(value, str)
        else _java(tool, name, value)
        if language == "java" and name in known
        else json_text(value)
        for name, value in arguments.items()
    }


def _java(tool: Tool, name: str, value: Any) -> str:
    kind, inner = declared_type(tool, name), declared_type(tool, f"{name}[]")
    if kind == "HashMap" and isinstance(value, dict):
        puts = (f'put("{key}", {json_text(item)});' for key, item in value.items())
        return f"new HashMap<>() {{{{ {' '.join(puts)} }}}}"
    if isinstance(value, list) and kind in ("Array", "ArrayList"):
        quoted = kind == "ArrayList" and inner in ("String", "char")
        items = ", ".join(
            item if isinstance(item, str) and not quoted else _number(item, inner) for item in value
        )
        listed = f"(Arrays.asList({items}))" if items else "()"
        return f"new Object[]{{{items}}}" if kind == "Array" else f"new ArrayList<>{listed}"
    return _number(value, kind)


def _number(value: JSON, kind: str) -> str:
    """Return a value with the suffix that its type has in Java."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return json_text(value) + (_SUFFIXES.get(kind, "") if number else "")
