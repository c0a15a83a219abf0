"""What the roles of a tool's life in dialogue and those who play or score them have in common.

It names the roles and the actions of a system turn. It tells what a goal is: a turn of a dialogue,
a tool to create, or a request. A lesson is the text in which a teacher tells what gold decided.

Source: DialogTool, table 7 and section 4; the ten system acts of the Schema-Guided Dialogue corpus
(Rastogi et al., AAAI 2020).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Literal, get_args

from seal.core import Goal, Step, Task, ToolCall
from seal.core.conditions import Called
from seal.evaluation.goals import TaskChat

AWARENESS = "awareness"
REQUESTER = "requester"
RESPONDER = "responder"
ACTOR = "actor"
CREATOR = "creator"
TEACHER = "teacher"

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


Kind = Literal["call", "request", "action"]
"""Call: an API is to be called. Request: it is to be written with `?` for what is missing. Action:
no API is due."""
KINDS: frozenset[str] = frozenset(get_args(Kind))
DECIDING = ("awareness", "selection", "execution")
"""Metrics by which a turn is solved, where each that applies is 1."""
SEATED = "seated"
"""Under this name a trajectory's provenance may list the roles of its chat."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of the assistant: gold, and what was said."""

    goal: Goal
    steps: Sequence[Step]
    """Of this goal."""
    seated: frozenset[str] = frozenset()
    """Roles that took part in the dialogue."""

    @property
    def act(self) -> str:
        """The gold action."""
        return str(self.goal.labels["act"]).lower()

    @property
    def kind(self) -> str:
        """What is due (`Kind`)."""
        return str(self.goal.labels["kind"])

    @property
    def due(self) -> Called | None:
        """The gold request; None where no API is due."""
        if self.kind == "action" or not self.goal.plans:
            return None
        return next(iter(self.goal.plans[0].calls()), None)

    @property
    def missing(self) -> Sequence[str]:
        """Arguments that the user has to be asked for."""
        named = self.goal.labels.get("missing") or ()
        return [str(name) for name in named]

    @property
    def reply(self) -> str:
        """The gold utterance; empty where there is none."""
        return self.goal.reference[-1].content if self.goal.reference else ""

    def said(self, role: str) -> str | None:
        """Return what a role said last; None: nothing."""
        words = [s.content for s in self.steps if s.author == role and not (s.call or s.result)]
        return words[-1] if words else None

    def calls(self, role: str) -> list[ToolCall]:
        """Return the calls of a role in order."""
        return [s.call for s in self.steps if s.author == role and s.call is not None]


def is_turn(goal: Goal) -> bool:
    """Tell whether a goal is a turn of such a dialogue."""
    return goal.labels.get("kind") in KINDS and isinstance(goal.labels.get("act"), str)


def turns_of(chat: TaskChat) -> list[Turn]:
    """Return the turns of a dialogue, one for each goal."""
    trajectory = chat.trajectory
    named = trajectory.provenance.get(SEATED)
    told = named if isinstance(named, list) else ()
    seated = frozenset({*told, *(step.author for step in trajectory.steps)})
    return [Turn(one.goal, one.steps, seated) for one in chat.goals]


def is_request(goal: Goal) -> bool:
    """Tell whether a goal asks for something to be done.

    A turn of a recorded dialogue asks for the next act alone, which neither solves nor fails what
    the user is after.
    """
    return not is_turn(goal) and not is_creation(goal)


def decided_by(goal: Goal) -> Sequence[Sequence[str]]:
    """Return the metrics that decide whether a goal is solved, in groups."""
    booked = ("goal_state",)
    return (DECIDING, booked) if is_turn(goal) else (booked,)


def is_creation(goal: Goal) -> bool:
    """Tell whether a goal is to create a tool."""
    return goal.labels.get("task") == CREATION


def creates(task: Task) -> bool:
    """Tell whether a goal of a task is to create a tool."""
    return any(map(is_creation, task.goals))
