"""Recorded answers of a service or an earlier run, and environments that play them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, get_args

import orjson

from seal.core import JSON, Lookup, Response, Step, Task, Tool, ToolCall, ToolResult, Trajectory
from seal.core.environment import Environment, Stateless, Storeless
from seal.core.validation import CallValidator, ErrorKind, error_result
from seal.core.values import canonical_json, digest, json_value
from seal.simulator_cache.answer_cache import not_recorded
from seal.simulator_cache.simulators import default_values, result_of

# -- Recorded answers: those of a real service, or of an earlier run.

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
        return not_recorded(tool, "recorded") if result is None else observed(result)

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
        value = json_value(content)
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) and "error" in value and "response" in value else {}


# -- Environments that play what a task's recording holds.


class RecordedEnvironments(Storeless):
    """Opens environments that play one task's recorded results.

    Args:
        lookup: Finds the recording of a task.
        answers: Answers of all recordings, for calls that the task's recording lacks.
        tools: Tools by id.
    """

    def __init__(self, lookup: Lookup, answers: RecordedAnswers, tools: Mapping[str, Tool]) -> None:
        self._lookup = lookup
        self._answers = answers
        self._validator = CallValidator(tools)

    def open(self, task: Task, trial: int, offered: Sequence[str] = ()) -> Environment:
        """Return the environment of one chat; without a recording, all recordings answer."""
        recording = self._lookup(task.id, trial)
        return RecordedEnvironment(recording, self._answers, self._validator, offered)

    def identity(self) -> dict[str, JSON]:
        """Return the digest of all that is recorded."""
        return {"simulator": self._answers.identity, "recorded": self._answers.digest()}


class RecordedEnvironment(Stateless):
    """The environment of one chat that plays a recording.

    Calls are equal if they have the same name and the same arguments in any order; arguments that
    cannot be parsed must have the same text. The n-th of several equal calls gets the n-th recorded
    result, and further ones get the last. Any other call is looked up in all recordings. If none
    has it, rules check it, and a valid call gets an error of the kind `not_recorded`. Results that
    were cut off count as not recorded.

    Args:
        recording: The recording of the task; None: there is none.
        answers: Answers of all recordings.
        validator: The rules.
        offered: Names of the offered tools, for messages.
    """

    def __init__(
        self,
        recording: Trajectory | None,
        answers: RecordedAnswers,
        validator: CallValidator,
        offered: Sequence[str] = (),
    ) -> None:
        self._recorded = _observations(recording) if recording else {}
        self._answers = answers
        self._validator = validator
        self._offered = offered
        self._seen: Counter[bytes] = Counter()

    def call(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """Return the recorded results, in the order of the calls."""
        return [replace(self._result(call), call_id=call.id) for call in calls]

    def _result(self, call: ToolCall) -> ToolResult:
        key = _call_key(call)
        if key in self._recorded:
            observations = self._recorded[key]
            number = min(self._seen[key], len(observations) - 1)
            self._seen[key] += 1
            return observations[number]
        found = None
        if call.tool is not None and call.arguments is not None:
            found = self._answers.find(call.tool, call.arguments)
        return found or self._refusal(call)

    def _refusal(self, call: ToolCall) -> ToolResult:
        wrong = self._validator.check(call, self._offered)
        if wrong is not None:
            return error_result(call, wrong)
        message = f"No answer of {call.name} to these arguments was recorded."
        return result_of(call, Response("", message, kind="not_recorded"), None)


def _observations(recording: Trajectory) -> dict[bytes, list[ToolResult]]:
    found: dict[bytes, list[ToolResult]] = defaultdict(list)
    for call_step, result_step in recording.calls():
        result = result_step.result if result_step else None
        if call_step.call is None or result is None:
            continue
        if result.error is None or result.error.get("kind") != "truncated":
            found[_call_key(call_step.call)].append(result)
    return dict(found)


def _call_key(call: ToolCall) -> bytes:
    return canonical_json([call.name, call.raw if call.arguments is None else call.arguments])
