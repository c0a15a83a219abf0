"""What the roles of a tool's life in dialogue and those who play or score them have in common.

Names of the roles, the actions of a system turn, and the lesson in which a teacher tells what gold
decided. Source: DialogTool, table 7 and section 4; the ten system acts of the Schema-Guided
Dialogue corpus (Rastogi et al., AAAI 2020).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Literal

AWARENESS = "awareness"
REQUESTER = "requester"
RESPONDER = "responder"
ACTOR = "actor"
CREATOR = "creator"
TEACHER = "teacher"
LIFE_ROLES = frozenset({AWARENESS, REQUESTER, RESPONDER, ACTOR, CREATOR, TEACHER})
"""Roles of the team `tool_life` that have a model, the user apart."""

LifeTask = Literal["awareness", "selection", "execution", "response", "role", "creation"]
CREATION = "creation"
"""Value of a goal's label `task`, and of a task's tag `group`, where a tool is to be created."""

TODAY = "2019-03-01"
"""The day of every dialogue; a Friday."""
UNKNOWN = "?"
"""Stands for the value of an argument that nobody has told yet."""
ASK_CONTEXT = "Tell the action, the request and the result of this turn."
ASK_REPLY = "Tell the reply of this turn."
"""What a teacher is asked."""
ROLE_MARK = "Role: "
"""Begins the line of an actor's prompt that holds its role as JSON."""
DOCUMENT_MARK = "Document: "
"""Begins the line of a creator's prompt that holds the API's document as JSON."""


@dataclass(frozen=True, slots=True)
class Act:
    """One thing that a system turn may do."""

    about: str
    tool: bool
    """True where an API has something to do with it."""


ACTS: Mapping[str, Act] = {
    "request": Act("ask the user for the value of an argument that the API still needs", True),
    "confirm": Act("repeat the arguments of a booking or purchase and ask whether they hold", True),
    "inform_count": Act("search by an API and tell how many things were found", True),
    "offer": Act("search by an API and suggest one of the things that were found", True),
    "notify_success": Act("tell that a booking, purchase or other request of an API worked", True),
    "notify_failure": Act("tell that the request of an API failed or found nothing", True),
    "inform": Act("answer a question about something that is known already", False),
    "offer_alts": Act("suggest another thing of those that were found before", False),
    "offer_intent": Act("propose to go on, such as to book what was found", False),
    "req_more": Act("ask whether the user needs anything else", False),
    "goodbye": Act("say goodbye", False),
}
"""Name of an action to what it is."""

_ACT = re.compile(r"\[\s*([A-Za-z]\w*)")
_BARE = re.compile(r"\b(" + "|".join(sorted(ACTS, key=len, reverse=True)) + r")\b", re.IGNORECASE)


def needs_tool(act: str) -> bool:
    """Tell whether an action has to do with an API; one that is unknown has."""
    return act not in ACTS or ACTS[act].tool


def write_act(act: str, why: str) -> str:
    """Return an action as a model should write it."""
    return f"[{act}({why})]"


def read_act(text: str) -> str:
    """Return the action that a text names, in lower case: `[act(why)]`, else the first known name.

    Empty where it names none.
    """
    found = _ACT.search(text) or _BARE.search(text)
    return found[1].lower() if found else ""


@dataclass(frozen=True, slots=True)
class Lesson:
    """What gold says of a turn, a line each: `Action: offer`. Empty: not told."""

    action: str = ""
    request: str = ""
    """The calls as they are written, `[Restaurants: findrestaurants(#city='Oakland')]`."""
    result: str = ""
    """JSON of what the calls brought."""
    state: str = ""
    """JSON of the values that the user has given so far, by slot."""
    reply: str = ""

    def write(self) -> str:
        """Return the lines."""
        told = ((field.name, getattr(self, field.name)) for field in fields(self))
        return "\n".join(f"{name.capitalize()}: {text}" for name, text in told if text)


_NAMES = "|".join(field.name.capitalize() for field in fields(Lesson))
_LINE = re.compile(rf"^({_NAMES}): (.*?)(?=^(?:{_NAMES}): |\Z)", re.MULTILINE | re.DOTALL)


def read_lesson(text: str) -> Lesson:
    """Return what a text tells; of a line that stands twice the last one."""
    return Lesson(**{name.lower(): told.strip() for name, told in _LINE.findall(text)})
