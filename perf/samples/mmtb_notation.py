"""Dialogues of missions as they are written down: a line a text, a call or a fact.

    = a01 SMCQ 2024-05-13 09:20 moneta tickertape
    U: How much is 240 euros in Polish zloty?
    C convert_currency {amount: 240, from_currency: EUR, to_currency: PLN} > {rate: 4.25}
    A: 240 EUR come to {1.result} PLN.

| written | meaning |
|---|---|
| = ID TYPES DATE TIME SERVICES | a dialogue: its types, when it is held, what is offered |
| U: TEXT | the user's first request |
| U RELATION: TEXT | a later one, with how it leans on earlier ones |
| Q: TEXT | the agent asks |
| R: TEXT | the user answers |
| C TOOL ARGUMENTS | a gold call, in YAML's flow form |
| C TOOL ARGUMENTS, a greater-than sign, RESULT | with what of its result is not computed |
| C2 | it comes after the second call of its mission; C1,3 after two |
| F: TEXT, a stroke, TEXT | what a right answer of a chat states |
| A: TEXT | the golden reply, which closes the mission |
| {CALL.FIELD} | in a reply or fact: a field of a call's result |
| {MISSION.CALL.FIELD} | of an earlier one |
| # | the line is a remark |

Numbers of missions and calls count from 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from seal.core import DataError, shortened

TYPES = {"S": "single", "M": "multi", "C": "chat", "Q": "clarify"}
_HEAD = re.compile(r"= (\w+) ([SMCQ]{4}) (\d{4}-\d\d-\d\d) (\d\d:\d\d)((?: [a-z]+)+)")
_LINE = re.compile(r"(U|Q|R|F|A)(?: (implicit|ellipsis|memory))?: (.+)")
_CALL = re.compile(r"C(\d+(?:,\d+)*)? (\w+) (\{.*\})")
_GIVES = "} > {"


@dataclass(frozen=True, slots=True)
class Call:
    """A gold call as it is written; all values are texts, lists or maps."""

    tool: str
    arguments: dict[str, Any]
    result: dict[str, Any]
    after: tuple[int, ...]
    """Positions of calls of the mission, from 0."""


@dataclass(slots=True)
class WrittenMission:
    """A mission as it is written."""

    request: str
    relation: str
    asked: list[str] = field(default_factory=list)
    answered: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    facts: tuple[str, ...] = ()
    reply: str = ""

    @property
    def kind(self) -> str:
        """Its type, as what is written implies."""
        if self.asked:
            return "clarify"
        return ("chat", "single")[len(self.calls)] if len(self.calls) < 2 else "multi"


@dataclass(slots=True)
class WrittenDialogue:
    """A dialogue as it is written."""

    id: str
    types: tuple[str, ...]
    day: str
    time: str
    services: tuple[str, ...]
    missions: list[WrittenMission] = field(default_factory=list)


def dialogues(text: str, where: str) -> Iterator[WrittenDialogue]:
    """Yield the dialogues of a text in their order.

    Args:
        text: In the notation.
        where: For messages.

    Raises:
        DataError: A line is not in the notation, or stands where it cannot; a mission is not of
            its type. The text names the line, or the dialogue.
    """
    dialogue: WrittenDialogue | None = None
    for number, line in enumerate(map(str.strip, text.splitlines()), start=1):
        place = f"{where}, line {number}"
        if not line or line.startswith("#"):
            continue
        if line.startswith("="):
            if dialogue is not None:
                yield _checked(dialogue)
            dialogue = _head(line, place)
        elif dialogue is None:
            raise DataError(f"{place}: expected '= ID TYPES DATE TIME SERVICES', got {line!r}")
        else:
            _add(dialogue, line, place)
    if dialogue is not None:
        yield _checked(dialogue)


def _head(line: str, place: str) -> WrittenDialogue:
    match = _HEAD.fullmatch(line)
    if match is None:
        raise DataError(f"{place}: expected '= ID TYPES DATE TIME SERVICES', got {line!r}")
    own, types, day, time, services = match.groups()
    kinds = tuple(TYPES[letter] for letter in types)
    return WrittenDialogue(own, kinds, day, time, tuple(services.split()))


def _checked(dialogue: WrittenDialogue) -> WrittenDialogue:
    kinds = tuple(mission.kind for mission in dialogue.missions)
    if kinds != dialogue.types:
        raise DataError(f"{dialogue.id}: expected missions {dialogue.types}, got {kinds}")
    for number, mission in enumerate(dialogue.missions, start=1):
        if not mission.reply or len(mission.asked) != len(mission.answered):
            raise DataError(f"{dialogue.id}, mission {number}: a reply or an answer is missing")
        if bool(mission.relation) is (number == 1):
            raise DataError(f"{dialogue.id}, mission {number}: a relation from the second on")
        if bool(mission.facts) is not (mission.kind == "chat"):
            raise DataError(f"{dialogue.id}, mission {number}: facts where it is a chat, no other")
    return dialogue


def _add(dialogue: WrittenDialogue, line: str, place: str) -> None:
    if line.startswith("C"):
        dialogue.missions[-1].calls.append(_call(line, place))
        return
    match = _LINE.fullmatch(line)
    if match is None:
        raise DataError(f"{place}: expected a line of the notation, got {shortened(line)}")
    mark, relation, text = match.groups()
    if mark == "U":
        dialogue.missions.append(WrittenMission(text, relation or ""))
    elif mark == "Q":
        dialogue.missions[-1].asked.append(text)
    elif mark == "R":
        dialogue.missions[-1].answered.append(text)
    elif mark == "F":
        dialogue.missions[-1].facts = tuple(fact.strip() for fact in text.split("|"))
    else:
        dialogue.missions[-1].reply = text


def _call(line: str, place: str) -> Call:
    given, _, brought = line.partition(_GIVES)
    match = _CALL.fullmatch(given + "}" if brought else given)
    if match is None:
        raise DataError(f"{place}: expected 'C TOOL {{...}} > {{...}}', got {shortened(line)}")
    after, tool, arguments = match.groups()
    before = tuple(int(number) - 1 for number in after.split(",")) if after else ()
    return Call(tool, _flow(arguments, place), _flow("{" + (brought or "}"), place), before)


def _flow(text: str, place: str) -> dict[str, Any]:
    try:
        found = yaml.load(text, Loader=yaml.BaseLoader)  # texts, lists and maps alone
    except yaml.YAMLError as error:
        raise DataError(f"{place}: {error}") from error
    return {} if found is None else dict(found)
