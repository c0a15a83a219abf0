"""Environments that play what a task's recording holds."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from seal.core import JSON, Lookup, Response, Task, Tool, ToolCall, ToolResult, Trajectory
from seal.core.canonical import canonical_json
from seal.core.environment import Environment, Stateless, Storeless
from seal.core.validation import CallValidator, error_result
from seal.simulator_cache.recordings import RecordedAnswers
from seal.simulator_cache.simulator_environments import result_of


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
