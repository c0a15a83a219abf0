"""Environments without a state, whose calls a simulator answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from seal.core import (
    JSON,
    Execution,
    Response,
    Simulator,
    Task,
    Tool,
    ToolCall,
    ToolResult,
    Trajectory,
)
from seal.core.environment import Environment, Stateless, Validated
from seal.core.plain import json_text
from seal.core.validation import CallValidator
from seal.simulator_cache.answer_cache import keys_of_call
from seal.simulator_cache.simulators import parts_of


class Simulated(Stateless):
    """An environment whose calls a simulator answers.

    Args:
        simulator: Answers the calls.
        tools: Tools by id.
        validator: Fills in defaults; wrap in `Validated` to reject invalid calls.
    """

    def __init__(
        self,
        simulator: Simulator,
        tools: Mapping[str, Tool],
        validator: CallValidator | None = None,
    ) -> None:
        self._simulator = simulator
        self._tools = tools
        self._validator = validator or CallValidator(tools)

    def call(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """Return the results of valid calls, in their order.

        Raises:
            SimulatorError: The simulator failed.
            CacheMissError: Nothing is stored, under replay.
        """
        return [self._result(call) for call in calls]

    def _result(self, call: ToolCall) -> ToolResult:
        tool = self._tools[str(call.tool)]
        arguments = self._validator.with_defaults(call)
        response = self._simulator.respond(tool, arguments)
        return result_of(call, response, Execution(tool.id, arguments))


class SimulatedEnvironments:
    """Opens environments that validate calls by rule and ask one simulator.

    Args:
        simulator: As `build_simulator` gives it.
        tools: Tools by id.
    """

    def __init__(self, simulator: Simulator, tools: Mapping[str, Tool]) -> None:
        self._simulator = simulator
        self._tools = tools
        self._validator = CallValidator(tools)
        self._simulated = Simulated(simulator, tools, self._validator)

    def open(self, task: Task, trial: int, offered: Sequence[str] = ()) -> Environment:
        """Return the environment of one chat."""
        return Validated(self._simulated, self._validator, offered)

    def identity(self) -> dict[str, JSON]:
        """Return the simulator's name, and the digests of recorded answers and prompt if used."""
        named: dict[str, JSON] = {"simulator": self._simulator.identity}
        for part in parts_of(self._simulator):
            if hasattr(part, "digest"):
                named["recorded"] = part.digest()
            elif hasattr(part, "prompt_digest"):
                named["prompt"] = part.prompt_digest
        return named

    def keys_of(self, trajectory: Trajectory) -> set[str]:
        """Return the keys of the stored answers that a finished chat was given."""
        executed = (step.result.executed for step in trajectory.steps if step.result)
        return {
            key
            for run in executed
            if run is not None and run.tool in self._tools
            for key in keys_of_call(self._simulator, self._tools[run.tool], run.arguments)
        }


def result_of(call: ToolCall, response: Response, executed: Execution | None) -> ToolResult:
    """Return an answer as a result: its text is the JSON object {error, response}."""
    plain = {"error": response.error, "response": response.response}
    error: dict[str, JSON] | None = None
    if response.error:
        error = {"kind": response.kind, "message": response.error}
    content = json_text(plain)
    return ToolResult(call.id, content, error, response.response, executed)
