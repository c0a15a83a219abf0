"""The team `tool_life`: who is seated for which tasks, and who decides.

| decisions | who follows whom |
|---|---|
| gold | user_simulator, awareness, requester, teacher, responder, teacher, actor, user_simulator |
| own | user_simulator, awareness, [requester, executor], responder, actor, user_simulator |

With gold decisions every task is tried by itself. The teacher, whose model is the oracle, tells the
responder and the actor what gold decided. Calls are recorded without being run. With decisions of
its own the team does what it decided. A goal that creates a tool is the creator's. Tasks that are
not asked for seat nobody.

The paper asked its models at temperature 0.1 and top_p 0.1 (`--temperature 0.1 -M top_p=0.1`); here
a run's temperature is the user's.

The actor speaks in a role: a character. A file of such is a JSON list; `roles.json` beside this
module ships. A role has a `name` (a type of person), `gender`, `mbti` (one of the sixteen types),
`language` (its features in words), `features` (the same, to be checked by rule), `emotion` and
`interaction`. Features, null or empty where a role has none:

| name | meaning |
|---|---|
| max_words | most words of a sentence |
| opening, closing | texts, one of which begins or ends what is said |
| avoid | words that are never said |
| contractions | true: "I'm"; false: "I am" |
| exclamations | true: at least one exclamation mark; false: none |
| question | true: what is said ends with a question |
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any, get_args

from seal.agents.teams import EXECUTOR, USER, Team
from seal.benchmarks.dialogtool import tool_life as life
from seal.benchmarks.dialogtool.functions import example_of
from seal.core import JSON, DataError, Goal, OptionError, Task, shortened
from seal.core.canonical import derive_seed, digest
from seal.core.package_data import shipped_json
from seal.pools.reading.upstream_files import expect, json_file

NAME = "tool_life"
TASKS: tuple[life.LifeTask, ...] = get_args(life.LifeTask)
_AGENTS = "seal.benchmarks.dialogtool.roles.assistants"
_LEADS = (life.AWARENESS, life.REQUESTER, life.RESPONDER, life.TEACHER, life.ACTOR)
_CLASSES = {
    role: role if role in (USER, EXECUTOR) else f"{_AGENTS}:{role.capitalize()}"
    for role in (USER, *_LEADS[:2], EXECUTOR, *_LEADS[2:], life.CREATOR)
}
_NEEDED: Mapping[life.LifeTask, str] = {
    "awareness": life.AWARENESS,
    "selection": life.REQUESTER,
    "execution": life.REQUESTER,
    "response": life.RESPONDER,
    "role": life.ACTOR,
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
        taught = decisions == "gold" and life.ACTOR in seated
        measured: dict[str, JSON] = {"decisions": decisions, "tasks": list(tasks)}
        if "role" in tasks:
            measured["roles"] = digest([dict(role) for role in roles])
        return Team(
            NAME,
            {role: agent for role, agent in _CLASSES.items() if role in seated},
            next((role for role in _LEADS if role in seated), USER),
            # Awareness, requester and teacher say themselves who follows.
            {
                USER: (life.AWARENESS, life.REQUESTER, life.TEACHER, life.RESPONDER, life.ACTOR),
                life.RESPONDER: (life.TEACHER,) if taught else (life.ACTOR, USER),
                life.ACTOR: (USER,),
            },
            reviewer=life.RESPONDER,
            models={life.TEACHER: "oracle"} if life.TEACHER in seated else {},
            one_voice=life.REQUESTER,
            variants={life.CREATION: _CREATION},
            variant_of=_variant,
            measured=measured,
            arranged={"apps": apps},
            facts=partial(_facts, roles, sorted(seated)),
        )


TOOL_LIFE = ToolLife()


def asked_tasks(given: Any) -> tuple[life.LifeTask, ...]:
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


def _seated(tasks: Sequence[life.LifeTask], decisions: str) -> set[str]:
    seated = {USER, *(_NEEDED[task] for task in tasks if task in _NEEDED)}
    if decisions == "own":
        return seated | {EXECUTOR} if life.REQUESTER in seated else seated
    return seated | {life.TEACHER} if seated & {life.RESPONDER, life.ACTOR} else seated


def _facts(roles: Sequence[Role], seated: list[JSON], task: Task, seed: int) -> dict[str, JSON]:
    """Tell of a dialogue who is seated, and which role the actor keeps.

    A role that is seated and never spoke is scored, one that is not seated is not.
    """
    kept = {"role": dict(drawn_role(roles, task, seed))} if life.ACTOR in seated else {}
    return {"seated": seated, **kept}


def _variant(goal: Goal) -> str:
    return life.CREATION if life.is_creation(goal) else ""


def _example(task: Task, seed: int) -> dict[str, JSON]:
    """Return the worked example of a task of creation, which is not among its tests."""
    example = example_of(task.metadata)
    return {} if example is None else {"example": example}


_CREATION = Team(
    NAME,
    {role: _CLASSES[role] for role in (USER, life.CREATOR)},
    life.CREATOR,
    {USER: (life.CREATOR,)},
    one_voice=life.CREATOR,
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
            "(seal/benchmarks/dialogtool/roles/roles.json shows some)"
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


def drawn_role(roles: Sequence[Role], task: Task, seed: int) -> Role:
    """Return the role of a dialogue: the one that its metadata names, else one by (seed, task id).

    Raises:
        DataError: The task names an unknown role.
    """
    named = task.metadata.get("role")
    if named is not None:
        found = next((role for role in roles if role["name"] == named), None)
        if found is None:
            known = ", ".join(str(role["name"]) for role in roles)
            raise DataError(f"task {task.id}: no role {named!r}; there are: {known}")
        return found
    return Random(derive_seed(seed, task.id, "role")).choice(roles)
