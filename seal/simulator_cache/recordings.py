"""Recorded answers: those of a real service, or of an earlier run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, get_args

import orjson

from seal.core import JSON, Response, Step, Tool, ToolCall, ToolResult, Trajectory
from seal.core.canonical import canonical_json, digest
from seal.core.validation import ErrorKind
from seal.simulator_cache.gold_answers import default_values

_NO_ANSWER = ("truncated", "not_recorded", "simulator", *get_args(ErrorKind))
"""Kinds of errors that say nothing about what the tool would answer."""


class RecordedAnswer(NamedTuple):
    """One observation."""

    tool: str
    arguments: dict[str, JSON]
    result: ToolResult


class RecordedAnswers:
    """The simulator that gives the answers of recorded trajectories, a service's errors included.

    An answer is found by tool id and arguments in any order, after defaults are filled in. If
    recordings disagree, the one with the first task id counts, then that of the first trial and
    call. Texts that were cut off, and errors that the rules gave, are no answers.

    Args:
        trajectories: Read once; any order.
        tools: Tools by id, for their defaults.
    """

    identity = "recorded/1"

    def __init__(self, trajectories: Iterable[Trajectory], tools: Mapping[str, Tool]) -> None:
        self._defaults = {tool.id: default_values(tool) for tool in tools.values()}
        self._versions: dict[str, str] = {}
        found: dict[tuple[str, bytes], tuple[tuple[str, int, int], RecordedAnswer]] = {}
        for trajectory in trajectories:
            for call_step, result_step in trajectory.calls():
                answer = _answer(call_step, result_step)
                if answer is not None:
                    rank = (trajectory.task_id, trajectory.trial, call_step.index)
                    key = (answer.tool, self._key(answer.tool, answer.arguments))
                    if key not in found or rank < found[key][0]:
                        found[key] = (rank, answer)
        self._answers: dict[str, dict[bytes, RecordedAnswer]] = {}
        for (tool, arguments), (_, answer) in sorted(found.items()):
            self._answers.setdefault(tool, {})[arguments] = answer

    def find(self, tool: str, arguments: dict[str, JSON]) -> ToolResult | None:
        """Return the recorded result of a call, or None."""
        answer = self._answers.get(tool, {}).get(self._key(tool, arguments))
        return answer.result if answer else None

    def respond(self, tool: Tool, arguments: dict[str, JSON]) -> Response:
        """Return the recorded answer, or an error of the kind `not_recorded` that is not kept."""
        result = self.find(tool.id, arguments)
        if result is not None:
            return observed(result)
        error = f"No recorded answer of {tool.name} to these arguments."
        return Response("", error, cacheable=False, kind="not_recorded")

    def prompt_version(self, tool: Tool) -> str:
        """Return a digest of what is recorded of the tool."""
        if tool.id not in self._versions:
            answers = self._answers.get(tool.id, {}).values()
            observations = [[a.arguments, a.result.content] for a in answers]
            self._versions[tool.id] = digest(observations)[:16]
        return self._versions[tool.id]

    def examples(self, tool: str) -> list[RecordedAnswer]:
        """Return the tool's successful answers in the order of their arguments."""
        return [a for a in self._answers.get(tool, {}).values() if not observed(a.result).error]

    def digest(self) -> str:
        """Return a digest of all that is recorded."""
        found = (answer for answers in self._answers.values() for answer in answers.values())
        return digest([[answer.tool, answer.arguments, answer.result.content] for answer in found])

    def _key(self, tool: str, arguments: dict[str, JSON]) -> bytes:
        return canonical_json({**self._defaults.get(tool, {}), **arguments})


def observed(result: ToolResult) -> Response:
    """Return a recorded result as an answer: its JSON if it has some, else its text."""
    plain = _fields(result.content)
    error = str(plain.get("error") or "")
    if result.error is not None:
        error = error or str(result.error.get("message") or "error")
    if result.value is not None:
        return Response(result.value, error)
    return Response(plain.get("response", result.content), error)


def is_answer(result: ToolResult) -> bool:
    """Tell whether a result is what the tool answered, not cut off and not given by a rule."""
    return result.error is None or result.error.get("kind") not in _NO_ANSWER


def _answer(call_step: Step, result_step: Step | None) -> RecordedAnswer | None:
    call, result = call_step.call, result_step.result if result_step else None
    if not isinstance(call, ToolCall) or result is None or not is_answer(result):
        return None
    executed = result.executed
    if executed is not None:
        return RecordedAnswer(executed.tool, executed.arguments, result)
    if call.tool is None or call.arguments is None:
        return None
    return RecordedAnswer(call.tool, call.arguments, result)


def _fields(content: str) -> dict[str, Any]:
    """Return the object {error, response} that a text holds; empty: it holds none."""
    try:
        value = orjson.loads(content)
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) and "error" in value and "response" in value else {}
