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
from itertools import chain
from typing import Any, NamedTuple

from seal.core.conditions import (
    MESSAGE,
    Asked,
    Called,
    Condition,
    DependsOn,
    Match,
    Replied,
    StateHas,
    StateUnchanged,
    Told,
)
from seal.core.order import levels
from seal.core.types import Milestone, Score, Step
from seal.evaluation.attribution.evidence import (
    OMITS,
    Cause,
    Evidence,
    argument,
    gave_up,
    not_called,
    rejected,
    tool_error,
    wrong_tool,
)
from seal.evaluation.error_patterns.findings import REJECTED, Finding
from seal.evaluation.milestones.faults import Fault, Unmet, unmet
from seal.evaluation.milestones.metrics import MATCHES
from seal.evaluation.milestones.plans import WHOLLY, parts, under, view

_WHOLE, _NODES, _MINES = "similarity", "milestone_similarity", "minefield_similarity"
_WORDS = (Told, Replied, Asked)


def first_world_step(evidence: Evidence) -> Cause | None:
    """Return why the first milestone was not reached; None where all were, or nobody measured."""
    whole, nodes, mines = (evidence.scores.get(name) for name in (_WHOLE, _NODES, _MINES))
    if whole is None or nodes is None or whole.value is None or nodes.value is None:
        return None
    if mines is not None and mines.value:
        return _minefield(evidence, mines)
    found = _measured(evidence, whole, nodes)
    if found is None:
        return None
    if not found.mapping:
        return gave_up(evidence)
    return _first(evidence, found)


class _Measured(NamedTuple):
    """What the scores of a goal say of its milestones."""

    nodes: Sequence[Milestone]
    steps: Sequence[Step]
    mapping: Mapping[int, tuple[int, float]]
    """Place of a node to (`Step.index`, similarity)."""


def _measured(evidence: Evidence, whole: Score, nodes: Score) -> _Measured | None:
    """Return what was measured; None where the scores are not of this plan and chat."""
    plan, match, pairs = (
        whole.details.get("plan"), whole.details.get("match"), nodes.details.get("mapping"),
    )  # fmt: skip
    plans = evidence.goal.plans or ()
    if type(plan) is not int or not 0 <= plan < len(plans) or match not in MATCHES:
        return None
    rules: Match = "toolsandbox" if match == "toolsandbox" else "clean"
    measured = under(plans[plan].milestones, rules)
    task, chat = evidence.task, evidence.trajectory
    steps = view(chat, evidence.position, task.initial_state, rules)
    known = {step.index for step in steps}
    mapping = _mapping(pairs)
    if mapping is None or not all(
        0 <= node < len(measured) and index in known for node, (index, _) in mapping.items()
    ):
        return None
    return _Measured(measured, steps, mapping)


def _first(evidence: Evidence, found: _Measured) -> Cause | None:
    measured = found.nodes
    lacking = unmet(measured, found.steps, found.mapping)
    of = len(measured)
    for place in chain.from_iterable(levels([node.after for node in measured])):
        if place in lacking:
            passed = of - len(lacking)
            return _Missed(evidence, measured[place], lacking[place], of, passed).cause()
    return None


def _mapping(pairs: Any) -> dict[int, tuple[int, float]] | None:
    """Return what the details of a score map; None where they are none."""
    if not isinstance(pairs, Sequence) or not all(map(_is_pair, pairs)):
        return None
    return {node: (index, float(similarity)) for node, index, similarity in pairs}


def _is_pair(pair: Any) -> bool:
    return (
        isinstance(pair, Sequence)
        and [type(each) for each in pair[:2]] == [int, int]
        and len(pair) == 3
        and isinstance(pair[2], (int, float))
    )


def _minefield(evidence: Evidence, mines: Score) -> Cause:
    found = _mapping(mines.details.get("mapping")) or {}
    hit = [(node, index) for node, (index, similarity) in found.items() if similarity]
    step = hit[0][1] if hit else None
    call = _call_before(evidence, step)
    name = call.call.name if call is not None and call.call is not None else ""
    said = f"{name or 'a step'} did what was forbidden (minefield {hit[0][0] if hit else '?'})"
    return Cause("wrong_tool", "forbidden", said, call.step if call else step, name, None, name)


def _call_before(evidence: Evidence, step: int | None) -> Finding | None:
    """Return the call whose result, or which itself, stands at a step."""
    for finding in evidence.calls:
        if step is not None and step in (finding.step, finding.answered):
            return finding
    return None


class _Missed:
    """A milestone that was not wholly reached."""

    def __init__(
        self, evidence: Evidence, node: Milestone, lacking: Unmet, of: int, passed: int
    ) -> None:
        self._evidence = evidence
        self._parts = parts(node.condition)
        self._faults = lacking.faults
        self._of = of
        self._passed = passed

    def cause(self) -> Cause | None:
        """Return what explains it: first what it asks for, then what it guards."""
        asked = [f for f in self._faults if not isinstance(self._part(f), StateUnchanged)]
        for fault in (*asked, *self._faults):
            cause = self._of_fault(fault)
            if cause is not None:
                return cause
        return None

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
        if isinstance(part, (*_WORDS, DependsOn)) or fault.table == MESSAGE:
            return self._of_words(fault)
        if fault.column and fault.found and self._wrote(fault.table):
            return self._written(fault)
        return self._unchanged()

    def _of_call(self, tools: Sequence[str], fault: Fault) -> Cause | None:
        made = [f for f in self._evidence.calls if f.call is not None and f.call.tool in tools]
        if not made:
            return self._absent(list(tools))
        good = [finding for finding in made if self._evidence.succeeded(finding)]
        if not good:
            return self._failing(made)
        name = fault.column.partition(".")[2]
        return argument(
            "value", self._evidence.named(tools[0]), name, fault.expected, fault.found,
            good[-1].step, self._of, self._passed,
        )  # fmt: skip

    def _absent(self, tools: Sequence[str]) -> Cause:
        due = {*tools, *self._evidence.goal.relevant}
        other = next(self._evidence.others(due), None)
        if other is not None:
            return wrong_tool(self._evidence, tools, other, self._of, self._passed)
        cause = "stopped_early" if self._evidence.calls else "no_call"
        return not_called(self._evidence, tools, cause, self._of, self._passed)

    def _failing(self, made: Sequence[Finding]) -> Cause:
        if made[-1].kind in REJECTED:
            return rejected(self._evidence, made[-1], self._of, self._passed)
        return tool_error(self._evidence, made[-1], self._of, self._passed)

    def _wrote(self, table: str) -> bool:
        """Tell whether a result of the goal brought another version of a table."""
        return any(s.result is not None and table in (s.state or ()) for s in self._evidence.steps)

    def _written(self, fault: Fault) -> Cause:
        """Return the cell that somebody wrote otherwise."""
        good = [finding for finding in self._evidence.calls if self._evidence.succeeded(finding)]
        return argument(
            "value", fault.table, fault.column, fault.expected, fault.found,
            good[-1].step if good else None, self._of, self._passed,
        )  # fmt: skip

    def _unchanged(self) -> Cause | None:
        """Return why a table did not become what it had to."""
        relevant = list(dict.fromkeys(self._evidence.goal.relevant))
        made = {tool: self._made(tool) for tool in relevant}
        failing = [f for tool in relevant for f in made[tool][-1:] if not self._good(made[tool])]
        if failing:
            return self._failing([min(failing, key=lambda finding: finding.step)])
        absent = [tool for tool in relevant if not made[tool]]
        if absent:
            return self._absent(absent)
        return (
            None
            if relevant or self._evidence.calls
            else not_called(self._evidence, [], "no_call", self._of, self._passed)
        )

    def _made(self, tool: str) -> list[Finding]:
        return [f for f in self._evidence.calls if f.call is not None and f.call.tool == tool]

    def _good(self, made: Sequence[Finding]) -> bool:
        return any(map(self._evidence.succeeded, made))

    def _changed(self, fault: Fault) -> Cause:
        """Return which call changed a table that had to stay as it was."""
        steps = [int(word) for word in fault.found.replace(",", " ").split() if word.isdecimal()]
        call = next(filter(None, (_call_before(self._evidence, step) for step in steps)), None)
        name = call.call.name if call is not None and call.call is not None else ""
        said = f"{name or 'a call'} changed {fault.table}, which had to stay as it was"
        return Cause(
            "wrong_tool", "changed", said, call.step if call else None, name, None, name,
            self._of, self._passed,
        )  # fmt: skip

    def _of_words(self, fault: Fault) -> Cause:
        given_up = gave_up(self._evidence)
        if given_up is not None:
            return given_up
        expected = fault.expected or "what a milestone asks the agent to say"
        said = f"the agent did not say {expected}"
        if fault.similarity >= WHOLLY:
            said = "the agent said it at the wrong time"
        return Cause(
            "answer", OMITS, said, self._evidence.answer_step(), "", expected,
            self._evidence.answer[:200], self._of, self._passed,
        )  # fmt: skip


def _called_tools(part: Condition) -> list[str]:
    """Return the tools that a condition asks to be called; empty where it asks for none."""
    if isinstance(part, Called):
        return [part.tool]
    if not isinstance(part, StateHas) or part.table != MESSAGE:
        return []
    rows: Sequence[Mapping[str, Any]] = part.rows
    wanted = [call for row in rows for call in _alternatives(row.get("calls"))]
    return list(dict.fromkeys(str(call["tool"]) for call in wanted))


def _alternatives(calls: Any) -> Sequence[Mapping[str, Any]]:
    if not calls:
        return ()
    return calls if isinstance(calls, (list, tuple)) else (calls,)
