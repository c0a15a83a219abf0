"""`recorded`, `replay`, `scripted`, `human` and `gold_calls`: answers from elsewhere."""

from __future__ import annotations

import hashlib
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any, TextIO

from seal.core import (
    END_CONVERSATION,
    JSON,
    Completion,
    DataError,
    Goal,
    Lookup,
    Message,
    ModelError,
    NotRecordedError,
    Request,
    Step,
    Task,
    Tool,
    ToolCall,
    Trajectory,
    Usage,
    UsageError,
)
from seal.core.call_formats import parse_call
from seal.core.concurrency import asking
from seal.core.conditions import Called, tells_user
from seal.core.earlier_results import value_of
from seal.core.files import content_of
from seal.core.schemas import required_names
from seal.core.text import counted
from seal.core.text_formats import parse_object
from seal.core.values import json_bytes, json_text, json_value
from seal.models.fill import fill
from seal.models.lexical import Scene, find_scene, offered_names
from seal.models.oracle import Oracle
from seal.models.spec import ModelSettings

# -- Models whose answers are known in advance.
#
# `recorded:NAME` and `replay:RUN` play what a model said and did before; `scripted:FILE`, or a
# script given in Python, what somebody wrote.

USER = "user_simulator"
CHECKER = "checker"


class RecordedModel:
    """Plays trajectories.

    Args:
        lookup: (task id, trial) to the trajectory, or None.
        name: Of the recording, for messages.
    """

    def __init__(self, lookup: Lookup, name: str = "recorded") -> None:
        self._lookup = lookup
        self._name = name

    @property
    def identity(self) -> dict[str, str]:
        """What is played: the digest of a recording that has one, never where it lies."""
        content = getattr(self._lookup, "digest", "")
        kind = self._name.partition(":")[0]
        return {"model": kind if kind == "replay" else self._name, "recording": content}

    def open(self, task: Task, trial: int) -> RecordedChat:
        """Return the model of one chat.

        Raises:
            NotRecordedError: There is no recording of this task.
        """
        trajectory = self._lookup(task.id, trial)
        if trajectory is None:
            raise NotRecordedError(f"{self._name} has no recording of task {task.id}")
        return RecordedChat(task, trajectory)


class RecordedChat:
    """Plays one trajectory: its calls and what it told the user, reply by reply, then the answer.

    How far it is stands in the request: the goal by its text, the replies by their number. Where
    the recording has no answer, as of a run that gave up, the final word is empty: what the
    orchestrator handed on to other roles is none.

    Args:
        task: What was played.
        trajectory: What was said and done.
    """

    def __init__(self, task: Task, trajectory: Trajectory) -> None:
        self._texts = [task.said_first(n) or goal.text for n, goal in enumerate(task.goals)]
        self._trajectory = trajectory
        self._in_world = bool(task.world)

    def complete(self, request: Request) -> Completion:
        """Return the next reply of the role; uses no tokens."""
        if request.role == USER:
            return self._as_user(request)
        scene = find_scene(request, self._texts)
        steps = [step for step in self._trajectory.steps if step.goal == scene.goal]
        if self._in_world:
            steps = [*with_made_values(steps, scene)]
        if request.role == "orchestrator":
            told = [step for step in steps if step.recipient in (USER, CHECKER)]
            return Completion(self._answer(scene.goal) or _last_text(told, request.role))
        if request.tools or request.role == "execution_manager":
            return self._act(scene, steps, request)
        texts = _texts(steps, request.role)
        return Completion(texts[min(len(scene.said), len(texts) - 1)] if texts else "")

    def _act(self, scene: Scene, steps: Sequence[Step], request: Request) -> Completion:
        replies = _replies(steps, request.role)
        told = sum(reply[0].call is None for reply in replies)
        done = len(scene.batches) + min(len(scene.said), told)
        if done < len(replies):
            return _reply(replies[done], request.tools)
        last_call = max((step.index for step in steps if step.call is not None), default=-1)
        after = [step for step in steps if step.index > last_call]
        return Completion(_last_text(after, request.role) or self._answer(scene.goal))

    def _answer(self, goal: int) -> str:
        answers = self._trajectory.answers
        return (answers[goal] if goal < len(answers) else None) or ""

    def _as_user(self, request: Request) -> Completion:
        own = [s for s in self._trajectory.steps if s.author == USER]
        spoken = [step.content for step in own if step.call is None]
        said = sum(m.role == "assistant" for m in request.messages)
        if said < len(spoken):
            return Completion(spoken[said])
        ends = tuple(ToolCall("", tool.name, {}) for tool in request.tools[:1])
        return Completion(calls=ends)


def build_recorded(rest: str, settings: ModelSettings) -> RecordedModel:
    """Return the model `recorded:NAME`."""
    return _build(f"recorded:{rest}", rest, settings)


def build_replay(rest: str, settings: ModelSettings) -> RecordedModel:
    """Return the model `replay:RUN`."""
    return _build(f"replay:{rest}", rest, settings)


def _build(spec: str, rest: str, settings: ModelSettings) -> RecordedModel:
    if not rest:
        raise UsageError(f"{spec} what? Write recorded:NAME or replay:RUN")
    if settings.recordings is None:
        raise UsageError(
            f"{spec} needs recordings: pass ModelSettings(recordings=...), or "
            "build RecordedModel(lookup)"
        )
    return RecordedModel(settings.recordings(spec), spec)


def _replies(steps: Sequence[Step], role: str) -> list[list[Step]]:
    """Return what was called, and what a role told the user, reply by reply."""
    acting = [
        step
        for step in steps
        if (step.call is not None and step.author != USER)
        or (step.author == role and tells_user(step))
    ]
    return [list(reply) for _, reply in groupby(acting, key=lambda step: step.turn)]


def _reply(steps: Sequence[Step], tools: Sequence[Tool]) -> Completion:
    offered = offered_names(tools)
    calls = tuple(
        replace(step.call, id="", name=offered.get(step.call.tool or "", step.call.name))
        for step in steps
        if step.call is not None
    )
    return Completion(steps[0].content, calls)


def _texts(steps: Sequence[Step], role: str) -> list[str]:
    return [s.content for s in steps if s.author == role and s.call is None and s.result is None]


def _last_text(steps: Sequence[Step], role: str) -> str:
    return next((text for text in reversed(_texts(steps, role)) if text), "")


Answer = Completion | str | Mapping[str, Any]
"""A completion, its text, or {"content": ..., "calls": [{"name": ..., "arguments": {...}}]}."""
Answers = Sequence[Answer]
Script = Answers | Mapping[str, Answers] | Callable[[Request], Answer]
"""Answers in order, the same by role (`*`: every other role), or a function of the request."""


class ScriptedModel:
    """Gives the answers of a script, from its beginning each time it is opened. Safe in threads.

    A run opens a model for each role of each chat: a plain list is played by each role on its own,
    a script by role says who plays what.

    Args:
        script: The answers. A name in a call may be a tool's id: it stands for the offered name.
    """

    def __init__(self, script: Script) -> None:
        self._script = script
        self._given: dict[str, int] = {}
        self._lock = threading.Lock()
        if not callable(script):
            for answers in script.values() if isinstance(script, Mapping) else [script]:
                for answer in answers:
                    as_completion(answer)

    @property
    def identity(self) -> dict[str, str]:
        """What is played: the digest of the script, or the function's name."""
        if callable(self._script):
            named = self._script if hasattr(self._script, "__qualname__") else type(self._script)
            return {"model": f"scripted:{named.__module__}:{named.__qualname__}"}
        content = hashlib.sha256(json_bytes(self._script)).hexdigest()
        return {"model": "scripted", "script": content}

    def open(self, task: Task, trial: int) -> ScriptedModel:
        """Return the model of one chat, at the script's beginning."""
        return ScriptedModel(self._script)

    def complete(self, request: Request) -> Completion:
        """Return the next answer.

        Raises:
            ModelError: The script is at its end.
        """
        if callable(self._script):
            return as_completion(self._script(request), request)
        role = "*"
        answers: Answers
        if isinstance(self._script, Mapping):
            role = request.role if request.role in self._script else "*"
            answers = self._script.get(role, ())
        else:
            answers = self._script
        with self._lock:
            position = self._given.get(role, 0)
            self._given[role] = position + 1
        if position >= len(answers):
            whose = "" if role == "*" else f" for {role}"
            raise ModelError(
                f"the script has {counted(len(answers), 'answer')}{whose}, and "
                f"{request.role or 'the chat'} "
                "asks for one more: add it, or let the chat end before"
            )
        return as_completion(answers[position], request)


def as_completion(answer: Answer, request: Request | None = None) -> Completion:
    """Return an answer of a script as a completion.

    Raises:
        UsageError: It is none of the forms of `Answer`.
    """
    if isinstance(answer, Completion):
        return answer
    if isinstance(answer, str):
        return Completion(answer)
    if not isinstance(answer, Mapping) or not answer.keys() <= {"content", "calls", "usage"}:
        raise UsageError(
            f"script answer {answer!r}: expected a text, a Completion, or "
            '{"content": ..., "calls": [{"name": ..., "arguments": {...}}]}'
        )
    names = {tool.id: tool.name for tool in request.tools} if request else {}
    calls = tuple(_call(call, names) for call in answer.get("calls", ()))
    counts = answer.get("usage", ())
    if not Usage.admits(*counts):
        raise UsageError(
            f"script answer {answer!r}: usage: expected the tokens asked and said, such as [120, 8]"
        )
    usage = Usage(*counts)
    return Completion(answer.get("content") or "", calls, usage)


def _call(call: Any, names: Mapping[str, str]) -> ToolCall:
    if not isinstance(call, Mapping) or not isinstance(call.get("name"), str):
        raise UsageError(f'script call {call!r}: expected {{"name": ..., "arguments": {{...}}}}')
    return parse_call(names.get(call["name"], call["name"]), call.get("arguments"))


def build_scripted(rest: str, settings: ModelSettings) -> ScriptedModel:
    """Return the model `scripted:FILE`; the file holds a JSON list, or an object of lists by role.

    Raises:
        UsageError: No file is named.
        DataError: It cannot be read, or holds no script.
    """
    if not rest:
        raise UsageError("scripted what? Write scripted:FILE with a JSON list of answers")
    try:
        script = json_value(content_of(Path(rest)))
    except OSError as error:
        raise DataError(
            f"--model scripted:{rest}: {error.strerror}; "
            "expected scripted:FILE with a JSON list of answers"
        ) from error
    except ValueError as error:
        raise DataError(f"--model scripted:{rest}: not JSON: {error}") from error
    lists = list(script.values()) if isinstance(script, dict) else [script]
    if not all(isinstance(answers, list) for answers in lists):
        raise DataError(f"{rest}: expected a list of answers, or an object of lists by role")
    try:
        return ScriptedModel(script)
    except UsageError as error:
        raise DataError(f"{rest}: {error}") from error


# -- `human`: a person plays the role in the terminal.

_HELP = 'Type a text, or /call NAME {"argument": value}; an empty line sends the calls so far.'
_NAMES_FOR_USER = {"assistant": "you", "user": "assistant", "system": "your part"}
"""A user's model has the sides swapped: what the person said are the assistant's messages."""
_HELP_OF_USER = "Type what you say to the assistant; /end ends the conversation."


class Human:
    """Shows the prompt and reads the reply. One person answers one request at a time.

    Several `/call` lines make parallel calls; an empty line, or a text, sends them. A person who
    plays the user ends the conversation by `/end`, which stands for the call of that tool.

    Args:
        lines: Where the person types; None: standard input.
        screen: Where prompts go; None: standard error, so that standard output stays clean.
    """

    def __init__(self, lines: TextIO | None = None, screen: TextIO | None = None) -> None:
        self._lines = lines
        self._screen = screen

    def complete(self, request: Request) -> Completion:
        """Return what the person typed; uses no tokens.

        Raises:
            ModelError: The input ended.
        """
        with asking():
            self._show(_prompt(request))
            calls: list[ToolCall] = []
            while True:
                line = self._read(request.role)
                end = _ending(request.tools)
                if line == "/end" and end is not None:
                    return Completion("", (ToolCall("", end.name, {}),))
                if line.startswith("/call"):
                    call = self._call(line, request.tools)
                    if call is not None:
                        calls.append(call)
                elif line or calls:
                    return Completion(line, tuple(calls))

    def _read(self, role: str) -> str:
        self._show(f"{role or 'you'}> ", end="")
        line = (self._lines or sys.stdin).readline()
        if not line:
            raise ModelError(
                f"the input ended while a person was to speak as {role or 'the model'}: "
                "run `human` in a terminal, or feed it one line a reply"
            )
        return line.strip()

    def _call(self, line: str, tools: Sequence[Tool]) -> ToolCall | None:
        name, _, raw = line.removeprefix("/call").strip().partition(" ")
        if not name:
            self._show(_HELP)
            return None
        arguments = parse_object(raw or "{}")
        if arguments is None:
            self._show(f"{raw!r} is no JSON object; {_HELP}")
            return None
        if name not in {tool.name for tool in tools}:
            self._show(f"(no tool named {name!r} is offered; called all the same)")
        return ToolCall("", name, arguments)

    def _show(self, text: str, end: str = "\n") -> None:
        print(text, end=end, file=self._screen or sys.stderr, flush=True)


def build(rest: str, settings: ModelSettings) -> Human:
    """Return the model `human`."""
    return Human()


def _prompt(request: Request) -> str:
    names = _NAMES_FOR_USER if _ending(request.tools) else {}
    heard = (_line(message, names.get(message.role, message.role)) for message in request.messages)
    lines = [f"--- {request.role or 'model'} ---", *heard]
    if request.tools:
        lines += ["Tools:", *(_tool_line(tool) for tool in request.tools)]
    return "\n".join([*lines, _HELP_OF_USER if _ending(request.tools) else _HELP])


def _ending(tools: Sequence[Tool]) -> Tool | None:
    """Return the tool by which a user ends the conversation; None for any other role."""
    return next((tool for tool in tools if tool.id == END_CONVERSATION), None)


def _line(message: Message, name: str) -> str:
    calls = [
        f"  /call {c.name} {c.raw if c.arguments is None else json_text(c.arguments)}"
        for c in message.calls
    ]
    return "\n".join([f"[{name}] {message.content}".rstrip(), *calls])


def _tool_line(tool: Tool) -> str:
    properties = tool.parameters.get("properties") or {}
    required = required_names(tool.parameters)
    names = ", ".join(name if name in required else f"[{name}]" for name in properties)
    return f"  {tool.name}({names}): {tool.description[:200]}"


# -- `gold_calls`: calls each gold tool of a request once.
#
# It is for benchmarks whose gold is the tools of a request and no calls (StableToolBench, AnyTool).
# The choice of tools is gold then. The arguments are filled from the words of the request, as
# `lexical` fills them. What the words do not say is made up by the schema. All other calls, and
# what other roles say, are the oracle's. The execution manager reports what its calls brought;
# `gold_calls:answer` gives the reference reply, as the oracle does.

_ROLE = "execution_manager"


_MADE: dict[str, JSON] = {"integer": 1, "number": 1, "boolean": True, "array": [], "object": {}}
"""Type to the value of a required argument that no word gives."""


@dataclass(frozen=True, slots=True)
class GoldCalls:
    """Knows every task's gold tools."""

    tells: bool = False
    """Whether the execution manager gives the reference reply."""

    def open(self, task: Task, trial: int) -> GoldCallsChat:
        """Return the model of one chat.

        Raises:
            NotRecordedError: The gold of a goal says what the world must be, and not how.
        """
        return GoldCallsChat(task, self.tells)


def build_gold_calls(rest: str, settings: ModelSettings) -> GoldCalls:
    """Return the model `gold_calls`, or `gold_calls:answer`.

    Raises:
        UsageError: Another form than `answer`.
    """
    if rest not in ("", "answer"):
        raise UsageError(f"gold_calls:{rest}: expected gold_calls or gold_calls:answer")
    return GoldCalls(rest == "answer")


class GoldCallsChat:
    """Plays one task.

    Args:
        task: With its gold.
        tells: Whether the execution manager gives the reference reply.
    """

    def __init__(self, task: Task, tells: bool) -> None:
        self._goals = task.goals
        self._oracle = Oracle().open(task, 0, tells)

    def complete(self, request: Request) -> Completion:
        """Return calls of the gold tools that were not called yet, else what the oracle says."""
        if request.role == _ROLE:
            scene = find_scene(request, [goal.text for goal in self._goals])
            goal = self._goals[scene.goal]
            made = {call.name for batch in scene.batches for call in batch}
            calls = [
                gold_call(tool, goal)
                for tool in request.tools
                if names_tools_alone(goal) and tool.id in goal.relevant and tool.name not in made
            ]
            if calls:
                return Completion(calls=tuple(calls))
        return self._oracle.complete(request)


def names_tools_alone(goal: Goal) -> bool:
    """Tell whether the gold of a goal is tools and no calls."""
    return goal.plans is None and not goal.reference


def gold_call(tool: Tool, goal: Goal) -> ToolCall:
    """Return a valid call of a tool with the arguments that a goal's words give."""
    filled = fill(tool.parameters, goal.text, goal.text)
    properties = tool.parameters.get("properties", {})
    made = {name: _made(properties.get(name)) for name in filled.missing}
    return ToolCall("", tool.name, {**filled.arguments, **made})


def open_values(gold: Called, tool: Tool, goal: Goal) -> dict[str, JSON]:
    """Return values for the arguments of a gold call of which any is right."""
    told, properties = gold_call(tool, goal).arguments or {}, tool.parameters.get("properties", {})
    return {name: told.get(name, _made(properties.get(name))) for name in gold.open_arguments}


def _made(schema: JSON) -> JSON:
    if not isinstance(schema, dict):
        return "any"
    for key in ("default", "example"):
        if schema.get(key) is not None:
            return schema[key]
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type")
    return _MADE.get(kind, "any") if isinstance(kind, str) else "any"


# -- Gold calls with the values that a world made anew in this chat.
#
# A world makes some things anew in every chat, such as ids. A gold argument that comes from an
# earlier result must be what that result says in this chat.


def with_made_values(reference: Sequence[Step], scene: Scene) -> tuple[Step, ...]:
    """Return the reference whose calls take texts of earlier results as this chat's results say.

    The n-th gold call of a tool is that tool's n-th call in the chat. Texts in arguments are
    replaced that equal a text of a gold result where this chat's has another text.

    Args:
        reference: Gold steps with their results.
        scene: What was done so far.
    """
    made = _made_texts(reference, scene)
    return tuple(
        replace(step, call=replace(step.call, arguments=_replaced(step.call.arguments, made)))
        if made and step.call is not None and step.call.arguments is not None
        else step
        for step in reference
    )


def _made_texts(reference: Sequence[Step], scene: Scene) -> dict[str, str]:
    """Return each text of the gold results for which this chat's results have another one."""
    gold = {step.result.call_id: step.result.content for step in reference if step.result}
    told = {m.call_id: m.content for m in scene.messages if m.role == "tool"}
    waiting = [call for batch in scene.batches for call in batch]
    found: dict[str, str] = {}
    for step in reference:
        if step.call is None:
            continue
        tool = step.call.tool
        call = next((call for call in waiting if call.tool == tool), None)
        if call is None:
            continue
        waiting.remove(call)
        if step.call.id in gold and call.id in told:
            found.update(_differing(value_of(gold[step.call.id]), value_of(told[call.id])))
    return found


def _differing(gold: JSON, told: JSON) -> Iterator[tuple[str, str]]:
    """Yield the pairs of unequal texts that stand at the same place of two values."""
    if isinstance(gold, str) and isinstance(told, str) and gold != told:
        yield gold, told
    elif isinstance(gold, list) and isinstance(told, list):
        for one, other in zip(gold, told, strict=False):
            yield from _differing(one, other)
    elif isinstance(gold, dict) and isinstance(told, dict):
        for name in gold.keys() & told.keys():
            yield from _differing(gold[name], told[name])


def _replaced(value: JSON, made: Mapping[str, str]) -> JSON:
    if isinstance(value, dict):
        return {name: _replaced(item, made) for name, item in value.items()}
    if isinstance(value, list):
        return [_replaced(item, made) for item in value]
    return made.get(value, value) if isinstance(value, str) else value
