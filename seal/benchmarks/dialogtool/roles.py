"""The roles of the team `tool_life` that a model plays, and how each is asked.

Awareness decides what the assistant does next. The requester writes requests to APIs. The responder
tells the user what was decided and what came of it. The actor says it in the style of a character.
The teacher tells what gold says of a turn, so that each task can be tried by itself. The creator
writes a tool: one Python function over the table of an app.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from seal.agents.roles import Prompt, messages, opened
from seal.agents.teams import EXECUTOR, USER
from seal.benchmarks.dialogtool import tool_life as life
from seal.benchmarks.dialogtool.api_code import CONVENTION, example_of, example_text, signature
from seal.core import JSON, Chat, Goal, Message, Reply, Step, Task, Tool, ToolCall
from seal.core.bracket_form import BracketForm
from seal.core.text import filled
from seal.core.values import json_text, one_line

_prompt = partial(Prompt, "seal.benchmarks.dialogtool")
_SPEAKING = frozenset({life.REQUESTER, life.RESPONDER, life.ACTOR})
"""Roles whose words to the user are the assistant's; the requester tells what was said before."""
_LISTED_ACTS = "\n".join(f"- {name}: {act.about}" for name, act in life.ACTS.items())
_APP = re.compile(r"\[([^\[\]()]*+)\]")


def dialogue(steps: Sequence[Step], calls: bool = False) -> list[Message]:
    """Return what user and assistant said as prompt messages.

    Args:
        steps: The chat so far.
        calls: True: with the calls that brought a result, and the results.
    """
    answered = {step.result.call_id for step in steps if step.result is not None}
    out: list[Message] = []
    turn = -1
    for step in steps:
        if step.call is not None:
            if calls and step.call.id in answered:
                together = step.turn == turn and out[-1].calls
                before = out.pop() if together else Message("assistant", reasoning=step.reasoning)
                out.append(replace(before, calls=(*before.calls, step.call)))
                turn = step.turn
        elif step.result is not None:
            if calls:
                out.append(Message("tool", step.content, call_id=step.result.call_id))
        elif step.author == USER:
            out.append(Message("user", step.content))
        elif step.recipient == USER and step.author in _SPEAKING:
            out.append(Message("assistant", step.content))
    return out


def asked(chat: Chat, prompt: Prompt, said: Sequence[Message], /, **values: str) -> list[Message]:
    """Return what a role's model is asked: its prompt with the values filled in, and what was said.

    What the system says to the role stands in the prompt (`seal.agents.roles.opened`).
    """
    told = [one for one in messages(chat.steps, chat.role) if one.role == "system"]
    return opened(chat, prompt, [*told, *said], **values)


def handed_on(chat: Chat, *roles: str, content: str = "", calls: Sequence[ToolCall] = ()) -> Reply:
    """Return a reply to the first of some roles that is seated; it ends the goal if none is."""
    follower = next((role for role in roles if role in chat.roles), None)
    return Reply(content, tuple(calls), next=follower, done=follower is None)


def decided(chat: Chat) -> life.Lesson:
    """Return what the roles before decided in this goal: the action, the last calls, the results.

    Since the user spoke last; what a role said that is not seated is empty.
    """
    spoken = max((step.index for step in chat.steps if step.author == USER), default=-1)
    steps = [step for step in chat.steps if step.index > spoken]
    acts = [step.content for step in steps if step.author == life.AWARENESS and step.call is None]
    calls = [step.call for step in steps if step.call is not None]
    form = BracketForm(tuple(chat.tools))
    results = [step.content for step in steps if step.author == EXECUTOR and step.result]
    return life.Lesson(
        action=life.read_act(acts[-1]) or acts[-1] if acts else "",
        request=" ".join(map(form.write, calls)),
        result=" ".join(map(one_line, results)),
    )


class Awareness:
    """Says one action, `[act(explanation)]`.

    Where decisions are the team's own, an action that needs no API passes the requester over.
    """

    prompt = _prompt("awareness")

    def reply(self, chat: Chat) -> Reply:
        """Return the action."""
        values = {"actions": _LISTED_ACTS, "today": life.TODAY}
        said = chat.complete(asked(chat, self.prompt, dialogue(chat.steps), **values)).content
        own = chat.options.get("decisions") == "own"
        if own and not life.needs_tool(life.read_act(said)):
            return handed_on(chat, life.RESPONDER, life.ACTOR, content=said)
        return handed_on(
            chat, life.REQUESTER, life.TEACHER, life.RESPONDER, life.ACTOR, content=said
        )


class Requester:
    """Calls APIs, unknown values as `?`.

    With `apps=hierarchical` it names an app first, from the apps' descriptions and the dialogue up
    to the user's last words, and then sees the APIs of that app alone. With gold decisions its
    calls are recorded and not run.
    """

    prompt = _prompt("requester")

    def reply(self, chat: Chat) -> Reply:
        """Return calls, or words where none is needed."""
        if chat.steps[-1].result is not None:
            return handed_on(chat, life.RESPONDER, life.ACTOR)
        own = chat.options.get("decisions") == "own"
        opened, tools = "", list(chat.tools)
        if chat.options.get("apps") == "hierarchical":
            opened = _open_app(chat)
            tools = apis_of(opened, tools)
            if not tools:
                return handed_on(chat, life.TEACHER, life.RESPONDER, life.ACTOR, content=opened)
        said = dialogue(chat.steps, calls=True)
        answer = chat.complete(asked(chat, self.prompt, said, today=life.TODAY), tools)
        content = "\n".join(part for part in (opened, answer.content) if part)
        if answer.calls and own and EXECUTOR in chat.roles:
            return Reply(content, answer.calls)
        followers = (life.TEACHER, life.RESPONDER, life.ACTOR)
        return handed_on(chat, *followers, content=content, calls=answer.calls)


_CHOOSER = _prompt("app_chooser")


def _open_app(chat: Chat) -> str:
    """Return what the model says when it is asked for an app."""
    abouts: dict[str, object] = {}
    for tool in chat.tools:
        abouts.setdefault(tool.category, tool.source.get("service") or tool.description)
    lines = "\n".join(f"- {name}: {about}" for name, about in abouts.items())
    told = filled(_CHOOSER.text, {"apps": lines, "example": next(iter(abouts), "App")})
    return chat.complete([Message("system", told), *dialogue(chat.steps)]).content


def apis_of(said: str, tools: Sequence[Tool]) -> list[Tool]:
    """Return the APIs of the app that a text names, in brackets or as all it says."""
    found = _APP.search(said)
    wanted = (found[1] if found else said).strip().casefold()
    return [tool for tool in tools if tool.category.casefold() == wanted]


class Teacher:
    """Tells the responder action, request and result, and the actor the reply."""

    prompt = _prompt("teacher")

    def reply(self, chat: Chat) -> Reply:
        """Return the lesson for whoever is next to be tried."""
        answered = any(s.author == life.RESPONDER and s.goal == chat.goal for s in chat.steps)
        first = life.RESPONDER in chat.roles and not answered
        ask = Message("user", life.ASK_CONTEXT if first else life.ASK_REPLY)
        said = [*dialogue(chat.steps, calls=True), ask]
        told = chat.complete(asked(chat, self.prompt, said))
        return handed_on(chat, life.RESPONDER if first else life.ACTOR, content=told.content)


class Responder:
    """Puts action, request and result into words: the teacher's, else those of the roles before."""

    prompt = _prompt("responder")

    def reply(self, chat: Chat) -> Reply:
        """Return the assistant's words."""
        last = chat.steps[-1]
        told = last.content if last.author == life.TEACHER else decided(chat).write()
        heard = Message("user", f"[{last.author}] {told}")
        said = [*dialogue(chat.steps, calls=True), heard]
        view = asked(chat, self.prompt, said, actions=_LISTED_ACTS)
        return Reply(chat.complete(view).content)


class Actor:
    """Restyles the assistant's words; facts stay."""

    prompt = _prompt("actor")

    def reply(self, chat: Chat) -> Reply:
        """Return the restyled words."""
        said = chat.steps[-1].content
        said = life.read_lesson(said).reply or said
        role = life.ROLE_MARK + json_text(dict(chat.options.get("role") or {}))
        view = asked(chat, self.prompt, [Message("user", said)], role=role)
        return Reply(chat.complete(view).content)


class Creator:
    """Writes the function of the API that the request names, else of the first one."""

    prompt = _prompt("creator")

    def reply(self, chat: Chat) -> Reply:
        """Return the function's source, as the model wrote it."""
        named = [tool for tool in chat.tools if api_name(tool) in chat.request]
        tool = max(named, key=lambda tool: len(api_name(tool)), default=chat.tools[0])
        values = creation_values(tool, chat.options.get("example"))
        view = asked(chat, self.prompt, [Message("user", chat.request)], **values)
        return Reply(chat.complete(view).content, done=True)


def api_name(tool: Tool) -> str:
    """Return the name of an API, whatever name it is offered under."""
    return str(tool.source.get("api") or tool.name)


def creation_messages(tool: Tool, request: str, example: JSON = None) -> list[Message]:
    """Return the prompt by which a function is asked for.

    Args:
        tool: The API.
        request: What the user says.
        example: As of `creation_values`.
    """
    told = filled(Creator.prompt.text, creation_values(tool, example))
    return [Message("system", told), Message("user", request)]


def creation_values(tool: Tool, example: JSON = None) -> dict[str, str]:
    """Return the values of that prompt's variables.

    Args:
        tool: The API.
        example: `{"arguments": {...}, "rows": [...]}`: one call and what it brought; None: none.
    """
    name, schema = api_name(tool), tool.parameters
    base = list(tool.source.get("base_required") or ())
    needed = [name for name in schema.get("required", ()) if name not in base]
    rest = [name for name in schema.get("properties", {}) if name not in (*base, *needed)]
    row = tool.returns.get("items", {}) if isinstance(tool.returns, dict) else {}
    columns = row if isinstance(row, dict) else {}
    document: dict[str, JSON] = {"name": name, "description": tool.description}
    document |= {"parameters": schema, "returns": tool.returns}
    shown = ""
    if isinstance(example, dict):
        shown = "For instance, " + example_text(tool, example["arguments"], example["rows"])
    return {
        "name": name,
        "description": tool.description,
        "base": _arguments(schema, base),
        "required": _arguments(schema, needed),
        "optional": _arguments(schema, rest),
        "columns": _arguments(columns, list(columns.get("properties", {}))),
        "document": life.DOCUMENT_MARK + json_text(document),
        "convention": CONVENTION,
        "signature": signature(tool),
        "example": shown,
    }


def _arguments(schema: Mapping[str, Any], names: Sequence[str]) -> str:
    """Return a line for each argument: name, type, what it is."""
    lines = []
    for name in names:
        one = schema.get("properties", {}).get(name, {})
        values = one.get("enum")
        allowed = f", one of {json_text(values)}" if values else ""
        lines.append(
            f"- {name} ({one.get('type', 'string')}): {one.get('description', '')}{allowed}"
        )
    return "\n".join(lines) or "(none)"


@dataclass(frozen=True)
class ToolWriter:
    """Asks the model of the role `creator` for a tool's function, as the task of its creation does.

    The question is that of the first trial of the task, so what was answered there is kept and
    serves here. A tool without such a task is asked for without an example.
    """

    tasks: Callable[[], Iterator[Task]]
    """Reads every task of the pool."""
    ask: Callable[[str, Task, Sequence[Message]], str]
    """(role, task, messages) to what the role's model says."""

    def __call__(self, tool: Tool) -> str:
        """Return the model's text.

        Raises:
            ModelError: The model failed.
        """
        task = self._by_tool.get(tool.id)
        if task is None:
            text = f"Write the function of the API {api_name(tool)}."
            labels: dict[str, JSON] = {"task": life.CREATION, "tool": tool.id}
            goal = Goal(text, labels=labels, offered=(tool.id,))
            task = Task(f"create/{tool.id}", "", (goal,))
        messages = creation_messages(tool, task.goals[0].text, example_of(task.metadata))
        return self.ask(life.CREATOR, task, messages)

    @cached_property
    def _by_tool(self) -> Mapping[str, Task]:
        """Tool to the task of its creation."""
        return {str(t.goals[0].labels.get("tool")): t for t in self.tasks() if life.creates(t)}
