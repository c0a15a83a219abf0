"""What the rules look at: one goal of one chat, its gold, its calls and its scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from seal.core.errors import shortened
from seal.core.types import JSON, Goal, Score, Step, Task, Tool, ToolResult, Trajectory
from seal.evaluation.attribution.stages import Cause, Stage
from seal.evaluation.attribution.verdicts import Decision
from seal.evaluation.error_patterns.findings import Finding
from seal.evaluation.goals import failed, goal_steps


@dataclass(frozen=True)
class Evidence:
    """One goal that is not solved."""

    task: Task
    trajectory: Trajectory
    position: int
    """Of the goal in its task."""
    tools: Mapping[str, Tool]
    """The pool by id."""
    scores: Mapping[str, Score]
    """Of the goal, by metric."""
    decision: Decision
    calls: Sequence[Finding]
    """The agent's calls for the goal (`diagnose`); not those that end the chat."""

    @property
    def goal(self) -> Goal:
        """The goal with its gold."""
        return self.task.goals[self.position]

    @cached_property
    def steps(self) -> list[Step]:
        """What was said and done for the goal."""
        return goal_steps(self.trajectory, self.position)

    @cached_property
    def results(self) -> dict[str, ToolResult]:
        """Id of a call to its result."""
        return {s.result.call_id: s.result for s in self.steps if s.result is not None}

    @property
    def answer(self) -> str:
        """The final answer; empty where there is none."""
        answers = self.trajectory.answers
        return (answers[self.position] if self.position < len(answers) else None) or ""

    @property
    def stop(self) -> str:
        """Why the chat about the goal ended."""
        stops = self.trajectory.stops
        return stops[self.position].reason if self.position < len(stops) else "not played"

    @property
    def offered(self) -> frozenset[str] | None:
        """Tools that the agent had; None where nobody says."""
        offered = self.trajectory.offered
        return frozenset(offered[self.position]) if self.position < len(offered) else None

    def result(self, finding: Finding) -> ToolResult | None:
        """Return what a call brought; None where it was not answered."""
        return None if finding.call is None else self.results.get(finding.call.id)

    def succeeded(self, finding: Finding) -> bool:
        """Tell whether a call was taken and brought no error; one without answer is not blamed."""
        result = self.result(finding)
        return finding.valid and finding.service is None and (result is None or not failed(result))

    def named(self, tool: str) -> str:
        """Return a tool's function name; its id where the pool has none."""
        return self.tools[tool].name if tool in self.tools else tool

    def others(self, gold: frozenset[str] | set[str]) -> Iterator[Finding]:
        """Yield the calls of tools that are not among some, unknown names too, in their order."""
        for finding in self.calls:
            if finding.call is not None and finding.call.tool not in gold:
                yield finding

    def answer_step(self) -> int | None:
        """Return the step of the last words of the agent; None where it said nothing."""
        said = [
            s.index
            for s in self.steps
            if s.call is None and s.result is None and s.content and s.content == self.answer
        ]
        return said[-1] if said else None


def wrong_tool(
    evidence: Evidence, expected: Sequence[str], other: Finding, of: int, passed: int
) -> Cause:
    """Return that another tool was called in place of those that were due."""
    call = other.call
    received = "" if call is None else call.name
    unknown = call is not None and call.tool is None
    names = [evidence.named(tool) for tool in expected]
    return Cause(
        "wrong_tool",
        "unknown_name" if unknown else "other_tool",
        f"{listed(names)} was due, {received} was called",
        other.step,
        listed(names),
        listed(names),
        received,
        of,
        passed,
    )


def not_called(
    evidence: Evidence, expected: Sequence[str], cause: str, of: int, passed: int
) -> Cause:
    """Return that tools that were due, and offered, were not called."""
    names = listed([evidence.named(tool) for tool in expected])
    return Cause(
        "not_called",
        cause,
        f"{names} was due and never called",
        None,
        names,
        names,
        None,
        of,
        passed,
    )


def tool_error(evidence: Evidence, finding: Finding, of: int, passed: int) -> Cause:
    """Return that a call failed, and no later one mended it.

    A call that nothing was recorded or simulated for is a failure of the infrastructure.
    """
    result = evidence.result(finding)
    error = (result.error if result else None) or {}
    cause = finding.service or str(error.get("kind") or "error")
    said = str(error.get("message") or error.get("upstream") or (result.content if result else ""))
    name = finding.call.name if finding.call is not None else ""
    return Cause(
        "infrastructure" if cause == "unrecorded" else "tool_error",
        cause[:40],
        f"{name} failed and nothing mended it: {said[:200]}",
        finding.step,
        name,
        None,
        said[:200],
        of,
        passed,
    )


def rejected(evidence: Evidence, finding: Finding, of: int, passed: int) -> Cause:
    """Return what is wrong with a call that its schema does not take, by its first fault."""
    name = finding.call.name if finding.call is not None else ""
    if not finding.faults:
        return argument("format", name, "", None, None, finding.step, of, passed)
    fault = finding.faults[0]
    if fault.kind == "missing_argument":
        return argument(fault.kind, name, fault.name, "a value", None, finding.step, of, passed)
    return argument(
        fault.kind, name, fault.name, fault.expected, fault.received, finding.step, of, passed
    )


def argument(
    cause: str,
    tool: str,
    name: str,
    expected: JSON,
    received: JSON,
    step: int | None,
    of: int,
    passed: int,
    stage: Stage = "wrong_argument",
) -> Cause:
    """Return that an argument is not as gold, or the schema, has it."""
    said = f"{tool}: {cause} {name}".rstrip()
    if expected is not None or received is not None:
        said += f": expected {told(expected)}, received {told(received)}"
    return Cause(stage, cause, said, step, name, _short(expected), _short(received), of, passed)


def listed(names: Sequence[str]) -> str:
    """Return at most three names in a row."""
    unique = list(dict.fromkeys(names))
    more = f" and {len(unique) - 3} more" if len(unique) > 3 else ""
    return ", ".join(unique[:3]) + more


def told(value: JSON) -> str:
    """Return a value for a sentence; alternatives of one are that one."""
    if isinstance(value, (list, tuple)) and len(value) == 1:
        value = value[0]
    return "nothing" if value is None else shortened(value)


def _short(value: JSON) -> JSON:
    """Return a value that fits a report: a long one as its beginning."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, (list, tuple)) and len(value) == 1:
        return _short(value[0])
    return value[:200] if isinstance(value, str) else shortened(value)
