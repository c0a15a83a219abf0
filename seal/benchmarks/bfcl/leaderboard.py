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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seal.benchmarks.bfcl import world
from seal.benchmarks.bfcl.code_values import READERS as CODE
from seal.benchmarks.bfcl.code_values import TYPES
from seal.benchmarks.bfcl.tasks import UNMEETABLE
from seal.benchmarks.bfcl.tools import declared_type
from seal.core import JSON, Goal, InfrastructureError, Tool, ToolCall, shortened
from seal.core.conditions import Argument, Called
from seal.core.text import counted
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
        language: Of the function. In Java and JavaScript a text is read as code (`code_values`).
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
            value = CODE[self.language](value, kind, inner)
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
