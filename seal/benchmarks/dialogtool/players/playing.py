"""Which rule plays a role: by words, by gold, or by chance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

from seal.benchmarks.dialogtool.players.acting import act
from seal.benchmarks.dialogtool.players.awareness import be_aware
from seal.benchmarks.dialogtool.players.creating import create, create_blindly, create_knowingly
from seal.benchmarks.dialogtool.players.gold import (
    gold_act,
    gold_app,
    gold_lesson,
    gold_reply,
    gold_request,
)
from seal.benchmarks.dialogtool.players.requesting import ask_api
from seal.benchmarks.dialogtool.players.responding import respond
from seal.benchmarks.dialogtool.tool_life import (
    ACTOR,
    ACTS,
    AWARENESS,
    CREATOR,
    REQUESTER,
    RESPONDER,
    TEACHER,
    write_act,
)
from seal.core.canonical import derive_seed
from seal.core.protocols import Completion, Request
from seal.core.types import Task
from seal.models.scene import DONE

_BY_WORDS: Mapping[str, Callable[[Request], Completion]] = {
    AWARENESS: lambda request: be_aware(request.messages),
    REQUESTER: ask_api,
    RESPONDER: respond,
    ACTOR: act,
    CREATOR: create,
    TEACHER: lambda request: Completion(),
}


def by_words(request: Request, task: Task) -> Completion | None:
    """Return what a role of the team says by rule; None where the role is none of its."""
    play = _BY_WORDS.get(request.role)
    return None if play is None else play(request)


def by_gold(request: Request, task: Task) -> Completion | None:
    """Return what gold says where a role of the team is asked; None where it is none of its."""
    goal = task.goals[request.goal]
    match request.role:
        case "awareness":
            return gold_act(goal)
        case "requester":
            asked = request.messages[0].content
            return gold_request(goal, request.tools) if request.tools else gold_app(goal, asked)
        case "responder":
            return Completion(gold_reply(goal) or DONE)
        case "teacher":
            return gold_lesson(goal, request)
        case "creator":
            return create_knowingly(request, task.metadata)
    return by_words(request, task)


def by_chance(request: Request, task: Task) -> Completion | None:
    """Return what a role says by chance; None where it is none of the team's, or is to call."""
    if request.role not in _BY_WORDS:
        return None
    draw = Random(derive_seed(request.seed, request.role, [m.content for m in request.messages]))
    if request.role == AWARENESS:
        return Completion(write_act(draw.choice(list(ACTS)), "by chance"))
    if request.role == REQUESTER:
        return _app_by_chance(request, draw)
    if request.role == CREATOR:
        return create_blindly(request)
    return Completion(request.messages[-1].content if request.role == ACTOR else "Okay.")


def _app_by_chance(request: Request, draw: Random) -> Completion | None:
    """Return an app, or that no API is needed, in half of the turns; None: an API is called."""
    if request.tools:
        return Completion("[]") if draw.random() < 0.5 else None
    lines = request.messages[0].content.splitlines()
    apps = [line[2:].partition(":")[0] for line in lines if line.startswith("- ")]
    return Completion(f"[{draw.choice(apps)}]" if apps else "[]")
