"""`scripted:FILE`, or a script given in Python: answers that are known in advance."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from seal.core.errors import DataError, ModelError, UsageError
from seal.core.plain import json_bytes
from seal.core.protocols import Completion, Request
from seal.core.types import Task, ToolCall, Usage
from seal.models.settings import ModelSettings
from seal.models.wire import parse_call

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
                f"the script has {len(answers)} answers{whose}, and {request.role or 'the chat'} "
                f"asks for one more: add it, or let the chat end before"
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
    usage = Usage(*answer["usage"]) if "usage" in answer else Usage()
    return Completion(answer.get("content") or "", calls, usage)


def _call(call: Any, names: Mapping[str, str]) -> ToolCall:
    if not isinstance(call, Mapping) or not isinstance(call.get("name"), str):
        raise UsageError(f'script call {call!r}: expected {{"name": ..., "arguments": {{...}}}}')
    return parse_call(names.get(call["name"], call["name"]), call.get("arguments"))


def build(rest: str, settings: ModelSettings) -> ScriptedModel:
    """Return the model `scripted:FILE`; the file holds a JSON list, or an object of lists by role.

    Raises:
        UsageError: No file is named.
        DataError: It cannot be read, or holds no script.
    """
    if not rest:
        raise UsageError("scripted what? Write scripted:FILE with a JSON list of answers")
    try:
        script = json.loads(Path(rest).read_bytes())
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
