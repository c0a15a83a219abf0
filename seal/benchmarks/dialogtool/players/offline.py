"""Which rule plays a role of the team without a model: by words, by gold, or by chance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from seal.benchmarks.dialogtool import tool_life as life
from seal.benchmarks.dialogtool.api_code import ApiCase, oracle_written, rule_written
from seal.benchmarks.dialogtool.functions import signature
from seal.benchmarks.dialogtool.players.requests import ask_api, be_aware
from seal.benchmarks.dialogtool.players.speech import act, marked, respond
from seal.core import JSON, Completion, Goal, Request, Task, Tool, ToolCall
from seal.core.canonical import derive_seed
from seal.core.formats.bracket import BracketForm
from seal.core.plain import json_text
from seal.models.scene import DONE

_USERS = ("user_simulator", "user", "executor")


def by_words(request: Request, task: Task) -> Completion | None:
    """Return what a role of the team says by rule; None for a role of another team."""
    play = _BY_WORDS.get(request.role)
    return None if play is None else play(request)


def by_gold(request: Request, task: Task) -> Completion | None:
    """Return what gold lets a role of the team say; None for a role of another team."""
    goal = task.goals[request.goal]
    match request.role:
        case "awareness":
            return Completion(life.write_act(str(goal.labels.get("act", "")), "as recorded"))
        case "requester":
            return _gold_request(goal, request) if request.tools else _gold_app(goal, request)
        case "responder":
            return Completion(_gold_reply(goal) or DONE)
        case "teacher":
            return Completion(_gold_lesson(goal, request.messages[-1].content).write())
        case "creator":
            return create_knowingly(request, task.metadata)
    return by_words(request, task)


def by_chance(request: Request, task: Task) -> Completion | None:
    """Return what a role says by chance; None for a role of another team, or where it is to call.

    The requester names an app, or says in half of the turns that it needs no API.
    """
    if request.role not in _BY_WORDS:
        return None
    draw = Random(derive_seed(request.seed, request.role, [m.content for m in request.messages]))
    if request.role == life.AWARENESS:
        return Completion(life.write_act(draw.choice(list(life.ACTS)), "by chance"))
    if request.role == life.REQUESTER and request.tools:
        return Completion("[]") if draw.random() < 0.5 else None
    if request.role == life.REQUESTER:
        apps = _apps(request)
        return Completion(f"[{draw.choice(apps)}]" if apps else "[]")
    if request.role == life.CREATOR:
        tool = _tool(request)
        return Completion(f"{signature(tool)}\n    return table\n" if tool is not None else "")
    return Completion(request.messages[-1].content if request.role == life.ACTOR else "Okay.")


def _apps(request: Request) -> list[str]:
    """Return the apps that a prompt lists, each in a line of its own, `- NAME: description`."""
    lines = request.messages[0].content.splitlines()
    return [line[2:].partition(":")[0] for line in lines if line.startswith("- ")]


def _gold_request(goal: Goal, request: Request) -> Completion:
    """Return the calls of the first plan, unknown values as `?`; `[]` where none is due."""
    named = {tool.id: tool.name for tool in request.tools}
    calls = tuple(
        ToolCall("", named.get(gold.tool, gold.tool), gold.canonical_arguments())
        for gold in (goal.plans[0].calls() if goal.plans else ())
    )
    return Completion(calls=calls) if calls else Completion("[]")


def _gold_app(goal: Goal, request: Request) -> Completion:
    """Return the app of the first gold call, of those that a prompt lists."""
    service = str(goal.labels.get("service", ""))
    wanted = [name for name in _apps(request) if name and service.startswith(name)]
    due = goal.plans and goal.plans[0].calls()
    return Completion(f"[{max(wanted, key=len)}]" if wanted and due else "[]")


def _gold_reply(goal: Goal) -> str:
    """Return what the assistant said in the end; empty where no reference says it."""
    said = [
        step.content
        for step in goal.reference
        if step.author not in _USERS
        and step.result is None
        and step.call is None
        and step.content.strip()
    ]
    return said[-1] if said else ""


def _gold_lesson(goal: Goal, asked: str) -> life.Lesson:
    """Return what a teacher is asked for: the reply, or all that was decided before it."""
    if asked == life.ASK_REPLY:
        return life.Lesson(reply=_gold_reply(goal))
    state: dict[str, Any] = goal.labels.get("state") or {}
    calls = (
        ToolCall("", gold.tool.rpartition("/")[2], gold.canonical_arguments())
        for gold in (goal.plans[0].calls() if goal.plans else ())
    )
    return life.Lesson(
        action=str(goal.labels.get("act", "")),
        request=" ".join(map(BracketForm().write, calls)),
        result=" ".join(step.content for step in goal.reference if step.result is not None),
        state=json_text(state.get("slot_values") or {}),
    )


def create(request: Request) -> Completion:
    """Return a function that filters the table by the arguments which are columns of it."""
    tool = _tool(request)
    return Completion(rule_written(tool) if tool is not None else "")


def create_knowingly(request: Request, metadata: Mapping[str, JSON]) -> Completion:
    """Return the function that reproduces most recorded calls.

    Args:
        request: The prompt.
        metadata: Of a task of creation; where it records nothing, the function is by rule.
    """
    tool, table, cases = _tool(request), metadata.get("table"), metadata.get("cases")
    if tool is None or not isinstance(table, list) or not isinstance(cases, list):
        return create(request)
    example = metadata.get("example")
    recorded = [ApiCase(case[0], case[1]) for n, case in enumerate(cases) if n != example]
    return Completion(oracle_written(tool, table, recorded))


def _tool(request: Request) -> Tool | None:
    """Return the API whose document the prompt holds; None where there is none."""
    text = "\n".join(message.content for message in request.messages)
    document = marked(text, life.DOCUMENT_MARK) or {}
    parameters, returns = document.get("parameters"), document.get("returns")
    if not isinstance(parameters, dict):
        return None
    return Tool("", str(document.get("name", "")), parameters=parameters, returns=returns)


def _say_nothing(request: Request) -> Completion:
    return Completion()


_BY_WORDS: Mapping[str, Callable[[Request], Completion]] = {
    life.AWARENESS: be_aware,
    life.REQUESTER: ask_api,
    life.RESPONDER: respond,
    life.ACTOR: act,
    life.CREATOR: create,
    life.TEACHER: _say_nothing,
}
