"""Simulates calls ahead, so that a later run finds their answers stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from seal.core.canonical import canonical_json
from seal.core.errors import CacheMissError, SimulatorError
from seal.core.protocols import Simulator
from seal.core.types import JSON, Task, Tool, ToolCall, Trajectory
from seal.core.validation import CallValidator
from seal.simulator_cache.cached import keys_of_call


class PlannedCall(NamedTuple):
    """A call to simulate."""

    tool: str
    """Tool id."""
    arguments: dict[str, JSON]


@dataclass(slots=True)
class FillReport:
    """What came of the calls."""

    calls: int = 0
    """Different calls."""
    stored: int = 0
    """Answers that were not stored before."""
    known: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    """Reason to number of calls without an answer."""
    messages: list[str] = field(default_factory=list)
    """Of the first failures."""


def gold_calls(tasks: Iterable[Task]) -> Iterator[PlannedCall]:
    """Yield the gold calls of all plans; those with arguments left open are passed over."""
    for task in tasks:
        for goal in task.goals:
            for plan in goal.plans or ():
                for called in plan.calls():
                    if called.arguments is not None:
                        yield PlannedCall(called.tool, called.canonical_arguments())


def made_calls(trajectories: Iterable[Trajectory]) -> Iterator[PlannedCall]:
    """Yield the calls that recorded runs made, as far as their tools and arguments are known."""
    for trajectory in trajectories:
        for step, _ in trajectory.calls():
            call = step.call
            if call is not None and call.tool is not None and call.arguments is not None:
                yield PlannedCall(call.tool, call.arguments)


def fill(
    simulator: Simulator, tools: Mapping[str, Tool], calls: Iterable[PlannedCall]
) -> FillReport:
    """Have each different call answered once.

    Args:
        simulator: With its answers kept, as `build_simulator` gives it.
        tools: Tools by id.
        calls: `gold_calls(tasks)` or `made_calls(trajectories)`.

    Raises:
        ModelError: The simulator's model failed; what is stored stays.
    """
    report = FillReport()
    validator = CallValidator(tools)
    seen: set[bytes] = set()
    for planned in calls:
        call = ToolCall("call_0", planned.tool, planned.arguments, tool=planned.tool)
        wrong = validator.check(call)
        if wrong is not None:
            report.failed[wrong.kind] += 1
            _note(report, planned, wrong.message)
            continue
        arguments = validator.with_defaults(call)
        key = canonical_json([planned.tool, arguments])
        if key not in seen:
            seen.add(key)
            _answer(simulator, tools[planned.tool], arguments, report)
    return report


def _answer(
    simulator: Simulator, tool: Tool, arguments: dict[str, JSON], report: FillReport
) -> None:
    report.calls += 1
    if keys_of_call(simulator, tool, arguments):
        report.known += 1
        return
    try:
        response: Any = simulator.respond(tool, arguments)
    except (SimulatorError, CacheMissError) as error:
        report.failed[type(error).__name__] += 1
        _note(report, PlannedCall(tool.id, arguments), str(error))
        return
    if response.cacheable:
        report.stored += 1
    else:
        report.failed[response.kind] += 1
        _note(report, PlannedCall(tool.id, arguments), response.error)


def _note(report: FillReport, call: PlannedCall, message: str) -> None:
    if len(report.messages) < 20:
        report.messages.append(f"{call.tool}: {message}")
