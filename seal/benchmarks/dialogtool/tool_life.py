"""The words that roles and metrics share, and the team `tool_life` with its options."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any, Literal, get_args

from seal.agents.teams import EXECUTOR, USER, Team
from seal.benchmarks.dialogtool.api_code import example_of
from seal.core import JSON, DataError, Goal, OptionError, Step, Task, ToolCall, shortened
from seal.core.conditions import Called
from seal.core.text import shipped_json
from seal.core.values import derive_seed, digest
from seal.evaluation.error_patterns import was_refused
from seal.evaluation.goals import TaskChat
from seal.pools.reading.files import expect, json_file

# -- What the roles of a tool's life in dialogue and those who play or score them have in common.
#
# It names the roles and the actions of a system turn. It tells what a goal is: a turn of a
# dialogue, a tool to create, or a request. A lesson is the text in which a teacher tells what gold
# decided.
#
# Source: DialogTool, table 7 and section 4; the ten system acts of the Schema-Guided Dialogue
# corpus (Rastogi et al., AAAI 2020).

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

    def was_refused(self, call: ToolCall) -> bool:
        """Tell whether a call was refused; one without a result, or of a dead service, was not."""
        told = [s.result for s in self.steps if s.result and s.result.call_id == call.id]
        return bool(told) and was_refused(told[-1])

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


# -- The team `tool_life`: who is seated for which tasks, and who decides.
#
# | decisions | who follows whom |
# |---|---|
# | gold | user_simulator, awareness, requester, teacher, responder, teacher, actor, user_simulator
# |
# | own | user_simulator, awareness, [requester, executor], responder, actor, user_simulator |
#
# With gold decisions every task is tried by itself. The teacher, whose model is the oracle, tells
# the responder and the actor what gold decided. Calls are recorded without being run. With
# decisions of its own the team does what it decided. A goal that creates a tool is the creator's.
# Tasks that are not asked for seat nobody.
#
# The paper asked its models at temperature 0.1 and top_p 0.1 (`--temperature 0.1 -M top_p=0.1`);
# here a run's temperature is the user's.
#
# The actor speaks in a role: a character. A file of such is a JSON list; `roles.json` beside this
# module ships. A role has a `name` (a type of person), `gender`, `mbti` (one of the sixteen types),
# `language` (its features in words), `features` (the same, to be checked by rule), `emotion` and
# `interaction`. Features, null or empty where a role has none:
#
# | name | meaning |
# |---|---|
# | max_words | most words of a sentence |
# | opening, closing | texts, one of which begins or ends what is said |
# | avoid | words that are never said |
# | contractions | true: "I'm"; false: "I am" |
# | exclamations | true: at least one exclamation mark; false: none |
# | question | true: what is said ends with a question |

NAME = "tool_life"
TASKS: tuple[LifeTask, ...] = get_args(LifeTask)
_AGENTS = "seal.benchmarks.dialogtool.roles"
_LEADS = (AWARENESS, REQUESTER, RESPONDER, TEACHER, ACTOR)
_CLASSES = {
    role: role if role in (USER, EXECUTOR) else f"{_AGENTS}:{role.capitalize()}"
    for role in (USER, *_LEADS[:2], EXECUTOR, *_LEADS[2:], CREATOR)
}
_NEEDED: Mapping[LifeTask, str] = {
    "awareness": AWARENESS,
    "selection": REQUESTER,
    "execution": REQUESTER,
    "response": RESPONDER,
    "role": ACTOR,
}
"""Task of a dialogue to the role that is tried."""
_CHOICES = {"decisions": ("gold", "own"), "apps": ("flat", "hierarchical")}


class ToolLife:
    """The team under options of the run.

    | option | values |
    |---|---|
    | tasks | some of awareness, selection, execution, response, role, creation; default all |
    | decisions | gold, own |
    | apps | flat: every API at once; hierarchical: an app, then its APIs |
    | roles | file of role configurations; default those that ship |
    """

    options = frozenset({"tasks", "decisions", "apps", "roles"})

    def arrange(self, options: Mapping[str, Any]) -> Team:
        """Return the team.

        Raises:
            OptionError: A value that an option cannot have; names those that it can.
            DataError: A role configuration lacks a field.
        """
        tasks = asked_tasks(options.get("tasks"))
        decisions, apps = (_choice(name, options.get(name)) for name in ("decisions", "apps"))
        given = options.get("roles")
        roles = shipped_roles() if given is None else read_roles(Path(str(given)))
        seated = _seated(tasks, decisions)
        taught = decisions == "gold" and ACTOR in seated
        measured: dict[str, JSON] = {"decisions": decisions, "tasks": list(tasks)}
        if "role" in tasks:
            measured["roles"] = digest([dict(role) for role in roles])
        return Team(
            NAME,
            {role: agent for role, agent in _CLASSES.items() if role in seated},
            next((role for role in _LEADS if role in seated), USER),
            # Awareness, requester and teacher say themselves who follows.
            {
                USER: (AWARENESS, REQUESTER, TEACHER, RESPONDER, ACTOR),
                RESPONDER: (TEACHER,) if taught else (ACTOR, USER),
                ACTOR: (USER,),
            },
            reviewer=RESPONDER,
            models={TEACHER: "oracle"} if TEACHER in seated else {},
            one_voice=REQUESTER,
            variants={CREATION: _CREATION},
            variant_of=_variant,
            measured=measured,
            arranged={"apps": apps},
            facts=partial(_facts, roles, sorted(seated)),
        )


TOOL_LIFE = ToolLife()


def asked_tasks(given: Any) -> tuple[LifeTask, ...]:
    """Return the tasks that an option names: a list, or names with commas; None: all.

    Raises:
        OptionError: A name is unknown or stands twice; the text has the known ones.
    """
    if given is None:
        return TASKS
    names = [part.strip() for part in given.split(",")] if isinstance(given, str) else given
    unknown = [name for name in names if name not in TASKS]
    if unknown or not names:
        what = f"no task {unknown[0]!r}" if unknown else "no task is named"
        raise OptionError(f"-T tasks={given}: {what}; there are: {', '.join(TASKS)}")
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise OptionError(f"-T tasks={given}: {twice} stands twice; give each task once")
    return tuple(task for task in TASKS if task in names)


def _choice(name: str, given: Any) -> str:
    known = _CHOICES[name]
    if given is not None and given not in known:
        raise OptionError(f"-T {name}={given}: expected one of {', '.join(known)}")
    return known[0] if given is None else str(given)


def _seated(tasks: Sequence[LifeTask], decisions: str) -> set[str]:
    seated = {USER, *(_NEEDED[task] for task in tasks if task in _NEEDED)}
    if decisions == "own":
        return seated | {EXECUTOR} if REQUESTER in seated else seated
    return seated | {TEACHER} if seated & {RESPONDER, ACTOR} else seated


def _facts(roles: Sequence[Role], seated: list[JSON], task: Task, seed: int) -> dict[str, JSON]:
    """Tell of a dialogue who is seated, and which role the actor keeps.

    A role that is seated and never spoke is scored, one that is not seated is not.
    """
    if ACTOR not in seated:
        return {"seated": seated}
    base = str(task.metadata.get("base", task.id))  # a variant of a dialogue keeps its role
    return {
        "seated": seated,
        "role": dict(Random(derive_seed(seed, base, "role")).choice(roles)),
    }


def _variant(goal: Goal) -> str:
    return CREATION if is_creation(goal) else ""


def _example(task: Task, seed: int) -> dict[str, JSON]:
    """Return the worked example of a task of creation, which is not among its tests."""
    example = example_of(task.metadata)
    return {} if example is None else {"example": example}


_CREATION = Team(
    NAME,
    {role: _CLASSES[role] for role in (USER, CREATOR)},
    CREATOR,
    {USER: (CREATOR,)},
    one_voice=CREATOR,
    facts=_example,
)
"""Plays the goals that create a tool."""


Role = Mapping[str, JSON]
FIELDS = ("name", "gender", "mbti", "language", "features", "emotion", "interaction")
FEATURES: Mapping[str, type] = {
    "max_words": int,
    **dict.fromkeys(("opening", "closing", "avoid"), list),
    **dict.fromkeys(("contractions", "exclamations", "question"), bool),
}
"""Machine-checkable feature to its type; null is none."""
_MBTI = re.compile(r"[EI][NS][FT][JP]")


@cache
def shipped_roles() -> tuple[Role, ...]:
    """Return the roles that ship."""
    return checked_roles(shipped_json(__package__, "roles.json"), "roles.json")


def read_roles(path: Path) -> tuple[Role, ...]:
    """Return the roles of a file.

    Raises:
        OptionError: There is no such file.
        DataError: It is no list of roles, or a role lacks a field; the text names place and field.
    """
    if not path.is_file():
        raise OptionError(f"-T roles={path}: no such file; give a JSON file of roles")
    return checked_roles(json_file(path), str(path))


def checked_roles(content: Any, where: str) -> tuple[Role, ...]:
    """Return roles that have every field, features completed.

    Raises:
        DataError: What is missing or of another kind, and of which role.
    """
    if not isinstance(content, list) or not content:
        raise DataError(f"{where}: expected a list of roles, got {shortened(content)}")
    roles = tuple(_checked(role, f"{where}: role {n}") for n, role in enumerate(content))
    names = [role["name"] for role in roles]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"{where}: two roles have the name {twice!r}; give each its own")
    return roles


def _checked(role: Any, where: str) -> Role:
    expect(role, dict, where)
    place = f"{where} ({role['name']})" if isinstance(role.get("name"), str) else where
    lacking = [name for name in FIELDS if not role.get(name)]
    if lacking:
        raise DataError(
            f"{place} lacks {', '.join(lacking)}; a role has: {', '.join(FIELDS)} "
            "(seal/benchmarks/dialogtool/roles.json shows some)"
        )
    for name in FIELDS:
        kind = dict if name == "features" else str
        if not isinstance(role[name], kind):
            raise DataError(
                f"{place}: {name}: expected {kind.__name__}, got {shortened(role[name])}"
            )
    if not _MBTI.fullmatch(role["mbti"]):
        raise DataError(f"{place}: mbti: expected a type such as INTJ, got {role['mbti']!r}")
    return {**role, "features": _features(role["features"], place)}


def _features(features: Mapping[str, Any], where: str) -> dict[str, JSON]:
    for name, value in features.items():
        kind = FEATURES.get(name)
        if kind is None:
            raise DataError(f"{where}: no feature {name!r}; there are: {', '.join(FEATURES)}")
        texts = not isinstance(value, list) or all(isinstance(text, str) for text in value)
        if value is not None and (type(value) is not kind or not texts):
            expected = "texts" if kind is list else kind.__name__
            raise DataError(f"{where}: {name}: expected {expected}, got {shortened(value)}")
    empty: dict[str, JSON] = {name: [] if kind is list else None for name, kind in FEATURES.items()}
    return {**empty, **features}
