"""The first milestone of a world, in the order of the plan, that was not wholly reached.

What it lacks says which stage it is (`milestones.faults`):

- a call that it asks for: not called, another tool, other arguments, or an error.
- a row with other cells than asked: an argument, for somebody wrote that row.
- a table that did not change: a relevant tool that was not called, or failed and was not mended.
- a table that had to stay as it was, or a minefield: the wrong tool.
- words to the user: the answer, or giving up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from seal.core import DataError, Milestone
from seal.core.conditions import (
    MESSAGE,
    Asked,
    Called,
    Condition,
    DependsOn,
    Refused,
    Replied,
    StateHas,
    StateUnchanged,
    Told,
    parts,
)
from seal.core.conditions.messages import tells_user
from seal.core.order import levels
from seal.evaluation.attribution.evidence import (
    OMITS,
    Cause,
    Evidence,
    argument,
    gave_up,
    in_answer,
    not_called,
    rejected,
    tool_error,
)
from seal.evaluation.error_patterns.findings import REJECTED, StepNote
from seal.evaluation.goals import WHOLLY
from seal.evaluation.milestones.plans import measured_again
from seal.evaluation.milestones.shortfalls import Fault, Unmet, unmet

_WHOLE, _NODES, _MINES = "similarity", "milestone_similarity", "minefield_similarity"
_WORDS = (Told, Refused, Replied, Asked, DependsOn)


def first_world_step(evidence: Evidence) -> Cause | None:
    """Return why the first milestone was not reached; None where all were, or nobody measured."""
    whole, nodes, mines = (evidence.scores.get(name) for name in (_WHOLE, _NODES, _MINES))
    if whole is None or nodes is None or whole.value is None or nodes.value is None:
        return None
    played = evidence.task, evidence.trajectory, evidence.position
    try:
        found = measured_again(*played, whole, nodes, mines)
    except DataError:
        return None
    if mines is not None and mines.value:
        return _minefield(evidence, found.hits)
    if not found.mapping:
        return gave_up(evidence)
    lacking = unmet(found.nodes, found.steps, found.mapping)
    order = chain.from_iterable(levels([node.after for node in found.nodes]))
    first = next((place for place in order if place in lacking), None)
    if first is None:
        return None
    cause = _Missed(evidence, found.nodes[first], lacking[first]).cause()
    if cause is None or cause.stage == "gave_up":
        return cause
    return replace(cause, of=len(found.nodes), passed=len(found.nodes) - len(lacking))


def _minefield(evidence: Evidence, hits: Mapping[int, tuple[int, float]]) -> Cause:
    hit = next(((node, index) for node, (index, similarity) in hits.items() if similarity), None)
    place, step = hit or ("?", None)
    call = _call_at(evidence, step)
    name = call.name if call else ""
    said = f"{name or 'a step'} did what was forbidden (minefield {place})"
    if call is None and any(s.index == step and tells_user(s) for s in evidence.steps):
        told = f"the agent said what is not so (minefield {place})"
        return Cause("answer", "untrue", told, step, name, None, name)
    return Cause("wrong_tool", "forbidden", said, call.step if call else step, name, None, name)


def _call_at(evidence: Evidence, step: int | None) -> StepNote | None:
    """Return the call whose result, or which itself, stands at a step."""
    return next(
        (f for f in evidence.calls if step is not None and step in (f.step, f.answered)), None
    )


class _Missed:
    """A milestone that was not wholly reached."""

    def __init__(self, evidence: Evidence, node: Milestone, lacking: Unmet) -> None:
        self._evidence = evidence
        self._parts = parts(node.condition)
        self._faults = lacking.faults

    def cause(self) -> Cause | None:
        """Return what explains it: first what it asks for, then what it guards."""
        asked = [f for f in self._faults if not isinstance(self._part(f), StateUnchanged)]
        return next(filter(None, map(self._of_fault, (*asked, *self._faults))), None)

    def _part(self, fault: Fault) -> Condition | None:
        return self._parts[fault.condition] if fault.condition >= 0 else None

    def _of_fault(self, fault: Fault) -> Cause | None:
        part = self._part(fault)
        if part is None:
            return None
        if isinstance(part, StateUnchanged):
            return self._changed(fault)
        tools = _called_tools(part)
        if tools:
            return self._of_call(tools, fault)
        if isinstance(part, _WORDS) or fault.table == MESSAGE:
            return self._of_words(fault)
        if fault.column and fault.found and self._wrote(fault.table):
            return self._wrong_value(fault.table, fault.column, fault, self._evidence.calls)
        return self._unchanged()

    def _of_call(self, tools: Sequence[str], fault: Fault) -> Cause:
        made = self._evidence.calls_of(tools)
        if not made:
            return not_called(self._evidence, tools, {*tools, *self._evidence.goal.relevant})
        if not any(map(self._evidence.succeeded, made)):
            return self._failing(made[-1])
        name = fault.column.partition(".")[2]
        return self._wrong_value(self._evidence.named(tools[0]), name, fault, made)

    def _wrong_value(self, where: str, name: str, fault: Fault, calls: Sequence[StepNote]) -> Cause:
        """Return what was asked or written otherwise, by the last of the calls that succeeded."""
        good = [finding.step for finding in calls if self._evidence.succeeded(finding)]
        step = good[-1] if good else None
        return argument("value", where, name, fault.expected, fault.found, step)

    def _failing(self, last: StepNote) -> Cause:
        return rejected(last) if last.kind in REJECTED else tool_error(self._evidence, last)

    def _wrote(self, table: str) -> bool:
        """Tell whether a result of the goal brought another version of a table."""
        return any(s.result is not None and table in (s.state or ()) for s in self._evidence.steps)

    def _unchanged(self) -> Cause | None:
        """Return why a table did not become what it had to."""
        relevant = list(dict.fromkeys(self._evidence.goal.relevant))
        made = {tool: self._evidence.calls_of([tool]) for tool in relevant}
        failing = [
            own[-1] for own in made.values() if own and not any(map(self._evidence.succeeded, own))
        ]
        if failing:
            return self._failing(min(failing, key=lambda finding: finding.step))
        absent = [tool for tool in relevant if not made[tool]]
        if absent or not (relevant or self._evidence.calls):
            return not_called(self._evidence, absent, relevant)
        return None

    def _changed(self, fault: Fault) -> Cause:
        """Return which call changed a table that had to stay as it was."""
        steps = [int(word) for word in fault.found.replace(",", " ").split() if word.isdecimal()]
        calls = (_call_at(self._evidence, step) for step in steps)
        call = next(filter(None, calls), None)
        name = call.name if call else ""
        said = f"{name or 'a call'} changed {fault.table}, which had to stay as it was"
        step = call.step if call else None
        return Cause("wrong_tool", "changed", said, step, name, None, name)

    def _of_words(self, fault: Fault) -> Cause:
        given_up = gave_up(self._evidence)
        if given_up is not None:
            return given_up
        expected = fault.expected or "what a milestone asks the agent to say"
        said = f"the agent did not say {expected}"
        if fault.similarity >= WHOLLY:
            said = "the agent said it at the wrong time"
        return in_answer(self._evidence, OMITS, said, expected=expected)


def _called_tools(part: Condition) -> list[str]:
    """Return the tools that a condition asks to be called; empty where it asks for none."""
    if isinstance(part, Called):
        return [part.tool]
    if not isinstance(part, StateHas) or part.table != MESSAGE:
        return []
    wanted: list[Any] = [row.get("calls") or () for row in part.rows]
    listed = [calls if isinstance(calls, (list, tuple)) else (calls,) for calls in wanted]
    return list(dict.fromkeys(str(call["tool"]) for calls in listed for call in calls))
