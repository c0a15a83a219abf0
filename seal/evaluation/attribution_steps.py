"""The first gold step, or milestone of a world, that was not done."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, repeat
from typing import Any, NamedTuple

from seal.core import JSON, DataError, Milestone, Plan, levels, shortened
from seal.core.conditions import (
    AGENT,
    MESSAGE,
    USER,
    Asked,
    Called,
    Condition,
    Replied,
    parts,
    party,
    tells_user,
)
from seal.core.state_conditions import (
    DependsOn,
    FinalState,
    KnownEnds,
    Refused,
    StateHas,
    StateUnchanged,
    Told,
)
from seal.evaluation.attribution import (
    OMITS,
    Cause,
    Evidence,
    Stage,
    extra_effect,
    gave_up,
    in_answer,
    listed,
)
from seal.evaluation.calls import MISPLACED, align, effects_of
from seal.evaluation.error_patterns import REJECTED, StepNote
from seal.evaluation.goals import CRASHED, MISSION, WHOLLY, failed
from seal.evaluation.pattern_details import GoldFinding, choose
from seal.evaluation.plans import measured_again
from seal.evaluation.shortfalls import NO_ROW, Fault, Unmet, unmet

# -- The first gold step, in the order of the plan, that the agent did not do.
#
# Of several plans the one counts that lacks fewest calls, then has fewest wrong ones
# (`pattern_details`). A gold call is done where one that gold accepts brought no error, or was not
# run at all. A call that is not done had other arguments, was rejected, brought an error that
# nothing mended, or was never made.
#
# If a mission's scorer takes arguments loosely and its names are wrong already, arguments are not
# compared. An exact comparison would blame what the scorer accepts.
#
# Where gold names tools alone (`first_of_relevant`), nobody says which of them must be called, how
# often and with what. Others may serve as well. Only these count, the first in time of several:
#
# - nothing was called: not called.
# - a relevant tool was called, and none of its calls succeeded: it failed, or its schema does not
#   take what it was given. A service that is dead is what failed, whatever it was given.
# - a name that was not offered was called, and no tool after it.
# - none of the relevant tools was called: where other tools answered, the wrong tool; where none
#   did, their failure.
#
# A relevant tool that was left out while others succeeded is no evidence.


def first_gold_step(evidence: Evidence) -> Cause | None:
    """Return why the first gold call or question was not done; None where all were.

    Args:
        evidence: Of a goal with gold calls (`goals.no_gold`).
    """
    plans = evidence.goal.plans or ()
    compared = choose(plans, evidence.calls)
    steps = _GoldSteps(evidence, plans[compared.plan], compared.findings)
    causes = map(steps.cause_of, chain.from_iterable(levels([m.after for m in steps.milestones])))
    cause = next(filter(None, causes), None) or steps.beyond()
    return None if cause is None else replace(cause, of=steps.of, passed=steps.passed)


class _GoldSteps:
    """The gold calls and questions of the plan that counts, beside what was done."""

    def __init__(self, evidence: Evidence, plan: Plan, lacking: Sequence[GoldFinding]) -> None:
        self._evidence = evidence
        self._gold = {called.tool for called in plan.calls()}
        self.milestones = plan.milestones
        self.of = len(plan.calls())
        mission = evidence.scores.get(MISSION) if evidence.decision.metric == MISSION else None
        details = mission.details if mission else {}
        self._error = str(details.get("error") or "")
        self._besides = "" if evidence.stop == CRASHED else evidence.verdict_on_calls or ""
        loose = evidence.task.metadata.get("argument_scorer", "exact") != "exact"
        self._names_only = loose and details.get("stage") == "action"
        self._lacking = {
            found.milestone: found
            for found in lacking
            if not (self._names_only and found.cause == "wrong_value")
        }

    @property
    def passed(self) -> int:
        """Gold calls that were made as gold has them, and brought something."""
        return sum(
            place not in self._lacking and self._failed_call(milestone.condition) is None
            for place, milestone in enumerate(self.milestones)
            if isinstance(milestone.condition, Called)
        )

    def cause_of(self, place: int) -> Cause | None:
        """Return why a milestone was not done; None where it was, or it is a reply."""
        condition = self.milestones[place].condition
        if isinstance(condition, Asked):
            return self._not_asked(place, condition)
        if not isinstance(condition, Called):
            return None
        found = self._lacking.get(place)
        if found is None or found.cause == "refused":
            failing = None if self._names_only else self._failed_call(condition)
            return None if failing is None else tool_error(self._evidence, failing)
        if found.cause == "not_called":
            return not_called(self._evidence, [condition.tool], self._gold)
        if found.cause == "rejected":
            return self._rejected(condition, found.step)
        wrong = [Wrong(f.problem, f.name, f.expected, f.received) for f in found.faults]
        return argument(self._evidence.named(found.tool), wrong or [Wrong("value")], found.step)

    def beyond(self) -> Cause | None:
        """Return what a verdict on calls blames where every gold call was made."""
        if self._besides and self._evidence.calls:
            if (effect := extra_effect(self._evidence)) is not None:
                return effect
            made = self._evidence.other_call(self._gold) or self._evidence.calls[-1]
            cause = "order_or_number" if self._besides == MISPLACED else "besides"
            return Cause("wrong_tool", cause, self._besides, made.step, made.name)
        if not self._error or self._error.startswith("param") or not self._evidence.calls:
            return None
        extra = self._evidence.other_call(self._gold)
        if extra is not None:
            return wrong_tool(self._evidence, sorted(self._gold), extra)
        last = self._evidence.calls[-1]
        said = f"{self._error}: {last.name}"
        return Cause("wrong_tool", "order_or_number", said, last.step, last.name)

    def _failed_call(self, gold: object) -> StepNote | None:
        """Return the last of the calls that gold accepts, where all of them failed."""
        if not isinstance(gold, Called):
            return None
        right = [
            finding
            for finding in self._evidence.calls_of([gold.tool])
            if finding.valid and (finding.kind == "cut" or gold.accepts(finding.arguments))
        ]
        return right[-1] if right and not any(map(self._evidence.succeeded, right)) else None

    def _rejected(self, gold: Called, step: int | None) -> Cause | None:
        """Return what a schema does not take, beside what gold has there.

        None where a call that gold accepts brought a result, whatever its schema says.
        """
        if any(
            gold.accepts(finding.arguments) and not failed(self._evidence.result(finding))
            for finding in self._evidence.calls_of([gold.tool])
        ):
            return None
        finding = next((f for f in self._evidence.calls if f.step == step), None)
        return None if finding is None else rejected(finding, gold)

    def _not_asked(self, place: int, gold: Asked) -> Cause | None:
        """Return that what had to be asked was not, which is a made-up argument of a call.

        None where no call needed the answer: what was called in its place, or was not called, tells
        more.
        """
        asked = any(
            party(step.author) == AGENT and step.recipient == USER and gold.similarity(step, {})
            for step in self._evidence.steps
        )
        first = None if asked else next(self._in_need_of(place), None)
        if first is None:
            return None
        said = f"{first.name} was called without asking the user for what was missing"
        return Cause("wrong_argument", "not_asked", said, first.step, first.name)

    def _in_need_of(self, question: int) -> Iterator[StepNote]:
        """Yield the calls that a question had to come before.

        They are of the gold calls that wait for it, or of all where none does. A plan of a question
        alone has every call come after it.
        """
        waiting = {question}
        for place in chain.from_iterable(levels([m.after for m in self.milestones])):
            if waiting & set(self.milestones[place].after):
                waiting.add(place)
        calls = {
            place: milestone.condition
            for place, milestone in enumerate(self.milestones)
            if isinstance(milestone.condition, Called)
        }
        due = waiting & calls.keys() or calls.keys()
        tools = {calls[place].tool for place in due}
        free = [call for place, call in calls.items() if place not in due]
        for finding in self._evidence.calls:
            is_free = any(c.tool == finding.tool and c.accepts(finding.arguments) for c in free)
            if not is_free and (finding.tool in tools or not calls):
                yield finding


def first_of_relevant(evidence: Evidence) -> Cause | None:
    """Return the first thing that went wrong with the relevant tools; None: nothing is certain."""
    relevant = list(dict.fromkeys(evidence.goal.relevant))
    lacking = [
        tool for tool in relevant if not any(map(evidence.succeeded, evidence.calls_of([tool])))
    ]
    passed = len(relevant) - len(lacking)
    if not relevant or (evidence.goal.any_relevant and passed):
        return None
    cause = _first_of_relevant(evidence, relevant, lacking)
    return None if cause is None else replace(cause, of=len(relevant), passed=passed)


def _first_of_relevant(
    evidence: Evidence, relevant: Sequence[str], lacking: Sequence[str]
) -> Cause | None:
    """Return the first thing that went wrong, of a goal of which some relevant tools are lacking.

    A name that was not offered counts unless a call of a tool followed it.
    """
    calls = evidence.calls
    if not calls:
        return not_called(evidence, relevant, relevant)
    made = [own for tool in lacking if (own := evidence.calls_of([tool]))]
    failing = [(own[0].step, _in_vain(evidence, own)) for own in made]
    unknown = next(iter(evidence.calls_of([None])), None)
    if unknown and lacking and not any(f.valid for f in calls if f.step > unknown.step):
        failing.append((unknown.step, wrong_tool(evidence, lacking, unknown)))
    if failing:
        return min(failing, key=lambda one: one[0])[1]
    if evidence.calls_of(relevant):
        return None
    answered = next(filter(evidence.succeeded, calls), None)
    if answered is not None:
        return wrong_tool(evidence, relevant, answered)
    return _in_vain(evidence, evidence.calls_of([calls[0].tool]))


def _in_vain(evidence: Evidence, calls: Sequence[StepNote]) -> Cause:
    """Return why calls failed of which none succeeded.

    A call that the schema takes, or that a dead service answered, tells more than one that the
    schema does not take.
    """
    telling = [f for f in calls if f.kind not in REJECTED or f.service is not None]
    return tool_error(evidence, telling[-1]) if telling else rejected(calls[-1])


# -- The first milestone of a world, in the order of the plan, that was not wholly reached.
#
# What it lacks says which stage it is (`shortfalls`):
#
# - a call that it asks for: not called, another tool, other arguments, or an error.
# - a row with other cells than asked: an argument, for somebody wrote that row.
# - a table that did not change: a relevant tool that was not called, or failed and was not mended.
# - a table that had to stay as it was, or a minefield: the wrong tool.
# - words to the user: the answer, or giving up.

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
        found = next(filter(None, map(self._of_fault, (*asked, *self._faults))), None)
        ends = [_told_end(f) for f in asked if isinstance(self._part(f), (KnownEnds, FinalState))]
        if found is None or not ends:
            return found
        more = [f"{len(ends) - _ENDS} more"] if len(ends) > _ENDS else []
        return replace(found, said="; ".join((found.said, *ends[:_ENDS], *more)))

    def _part(self, fault: Fault) -> Condition | None:
        return self._parts[fault.condition] if fault.condition >= 0 else None

    def _of_fault(self, fault: Fault) -> Cause | None:
        part = self._part(fault)
        if part is None:
            return None
        if isinstance(part, StateUnchanged):
            return self._changed(fault)
        if isinstance(part, (KnownEnds, FinalState)):
            found = self._of_end(part, fault)
            if found is not None:
                return found
        tools = _called_tools(part)
        if tools:
            return self._of_call(tools, fault)
        if isinstance(part, _WORDS) or fault.table == MESSAGE:
            return self._of_words(fault)
        if fault.column and fault.found and self._wrote(fault.table):
            return self._wrong_value(fault.table, fault, self._evidence.calls)
        return self._unchanged()

    def _of_call(self, tools: Sequence[str], fault: Fault) -> Cause:
        made = self._evidence.calls_of(tools)
        if not made:
            return not_called(self._evidence, tools, {*tools, *self._evidence.goal.relevant})
        if not any(map(self._evidence.succeeded, made)):
            return self._failing(made[-1])
        return self._wrong_value(self._evidence.named(tools[0]), fault, made)

    def _wrong_value(self, where: str, fault: Fault, calls: Sequence[StepNote]) -> Cause:
        """Return what was asked or written otherwise, by the last of the calls that succeeded."""
        good = [finding.step for finding in calls if self._evidence.succeeded(finding)]
        step = good[-1] if good else None
        place = fault.condition, fault.table, fault.row
        of = [f for f in self._faults if f.found and (f.condition, f.table, f.row) == place]
        wrong = [
            Wrong("value", f.column.removeprefix("calls").removeprefix("."), f.expected, f.found)
            for f in (fault, *(other for other in of if other != fault and other.column))
        ]
        return argument(where, wrong, step)

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

    def _of_end(self, part: KnownEnds | FinalState, fault: Fault) -> Cause | None:
        """Return why the world ends otherwise: a deed that is missing, too many, or was undone."""
        whole = self._evidence.scores.get(_WHOLE)
        match = whole.details.get("match") if whole else None
        acted = {call.id for call in effects_of(self._evidence, match)[0]}
        met, missing = self._met(part)
        of_end = [one for one in self._faults if self._part(one) is part]
        if missing is not None and not (acted and all(f.expected == NO_ROW for f in of_end)):
            return self._never_made(missing, met)
        lost = self._lost_at(fault) if missing is None else None
        gold = part.gold if isinstance(part, KnownEnds) else None
        by_gold = gold is not None and bool(gold.sequences)
        if acted and (by_gold or fault.expected == NO_ROW or lost is not None):
            return self._effect(fault, acted, met, lost)
        if lost is not None or (by_gold and self._wrote(fault.table)):
            return self._undone(fault, lost)
        if fault.expected == NO_ROW and not self._wrote(fault.table):
            return self._unchanged()
        return None

    def _met(self, part: Condition) -> tuple[set[str], Called | None]:
        """Return the ids of the calls that met gold, and the first gold call that none met.

        A gold call that changes nothing, such as a look-up, explains no end, and need not be met.
        """
        worked = [c for c in self._evidence.made if not failed(self._evidence.results.get(c.id))]
        ways = []
        for sequence, idle in _sequences(part):
            of = [(n, c) for n, c in enumerate(sequence) if isinstance(c, Called) and not c.refused]
            calls = [call for _, call in of]
            found = align(Plan(tuple(map(Milestone, calls))), 0, worked, self._evidence.cut)
            pairs = {pair.gold: pair.made for pair in found.pairs if pair.comparison.exact}
            missing = [
                call for at, (place, call) in enumerate(of) if at not in pairs and place not in idle
            ]
            ways.append((len(missing), {worked[made].id for made in pairs.values()}, missing))
        if not ways:
            return set(), None
        _, met, missing = min(ways, key=lambda way: way[0])
        return met, next(iter(missing), None)

    def _never_made(self, gold: Called, met: Collection[str]) -> Cause:
        """Return why a gold call was not made: other arguments, an error, or no call at all."""
        name = self._evidence.named(gold.tool)
        own = self._evidence.calls_of([gold.tool])
        made = [f for f in own if f.call is not None and f.call.id not in met]
        worked = list(filter(self._evidence.succeeded, made))
        if made and not worked:
            return self._failing(made[-1])
        for finding in reversed(worked):
            given, wanted = finding.arguments or {}, gold.arguments or {}
            wrong = [
                Wrong(
                    "value",
                    fault,
                    wanted[fault].values if fault in wanted else None,
                    given.get(fault),
                )
                for fault in gold.faults(given)
            ]
            if wrong:
                return argument(name, wrong, finding.step)
        tools = {gold.tool, *self._evidence.goal.relevant}
        cause = not_called(self._evidence, [gold.tool], tools, self._acting())
        if cause.cause == "too_few":
            right = gold.canonical_arguments().items()
            written = ", ".join(f"{key}={shortened(value)}" for key, value in right)
            return replace(cause, said=f"the call {name}({written}) was due and never made")
        return cause

    def _acting(self) -> list[StepNote]:
        """Return the calls that can stand in place of one that changes a world.

        One that was answered and changed nothing is a look-up, unless it ended the chat.
        """
        wrote = {step.index for step in self._evidence.steps if step.result and step.state}
        said = [s.index for s in self._evidence.steps if s.result is None and s.call is None]
        last = max(said, default=-1) if self._evidence.stop == "done" else math.inf
        return [
            note
            for note in self._evidence.calls
            if note.tool is None or note.answered in wrote or note.step > last
        ]

    def _lost_at(self, fault: Fault) -> int | None:
        """Return the step that changed a row which was as gold asks; None: it never was."""
        tables, lost = self._evidence.task.initial_state or {}, None
        rows: Sequence[Mapping[str, Any]] = tables.get(fault.table, ())
        for step in self._evidence.trajectory.steps if fault.row else ():
            before, rows = rows, (step.state or {}).get(fault.table, rows)
            if step.goal == self._evidence.position and before is not rows:
                lost = step.index if _has(before, fault) and not _has(rows, fault) else lost
        return lost

    def _effect(
        self, fault: Fault, acted: Collection[str], met: Collection[str], lost: int | None
    ) -> Cause:
        """Return which call left in the world what gold does not leave there.

        Args:
            fault: What was left.
            acted: Ids of the calls that have an extra effect.
            met: Ids of the calls that gold has.
            lost: Step that changed what was right; None: it is not known.
        """
        wrote = self._writers(fault.table, lost)
        others = [one for one in self._evidence.calls if one.call and one.call.id in acted]
        besides = [one for one in wrote if one.call and one.call.id not in met]
        first = [one for one in besides if one.call and one.call.id in acted]
        call = next(iter([*first, *besides, *others, *wrote]), None)
        name = call.name if call else ""
        said = f"{name or 'a call'} left in {fault.table} what gold does not leave"
        step = call.step if call else None
        return Cause("wrong_tool", "extra_effect", said, step, name, None, name)

    def _undone(self, fault: Fault, lost: int | None) -> Cause:
        """Return which call took back what gold leaves: the one at a step, else the last one."""
        call = next(iter(self._writers(fault.table, lost)), None)
        name = call.name if call else ""
        said = f"{name or 'a call'} took back what gold leaves in {fault.table}"
        step = call.step if call else None
        return Cause("wrong_tool", "undone", said, step, name, None, name)

    def _writers(self, table: str, at: int | None) -> list[StepNote]:
        """Return the calls whose results brought another version of a table, the last first.

        Args:
            table: Its name.
            at: The step of the only result that counts; None: all count.
        """
        wrote = (
            step.index
            for step in reversed(self._evidence.steps)
            if step.result is not None and table in (step.state or ())
            if at in (None, step.index)
        )
        return list(filter(None, (_call_at(self._evidence, step) for step in wrote)))

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


def _sequences(
    part: Condition,
) -> list[tuple[Sequence[Condition], frozenset[int]]]:
    """Return the gold calls that lead to an end, and the places of those that change nothing."""
    if not isinstance(part, KnownEnds):
        return []
    idle = chain(part.idle, repeat(frozenset[int]()))
    return list(zip(part.gold.sequences, idle, strict=False))


def _has(rows: Sequence[Mapping[str, Any]], fault: Fault) -> bool:
    """Tell whether rows have the cell that a fault of one row expects."""
    for row in rows:
        name, value = next(iter(row.items()), ("", None))
        if (f"{name}={_json(value)}", _json(row.get(fault.column))) == (fault.row, fault.expected):
            return True
    return False


def _json(value: JSON) -> str:
    return json.dumps(value, ensure_ascii=False)


_ENDS = 5
"""Differences between how a world ends and how it should that a cause tells."""


def _told_end(fault: Fault) -> str:
    """Return a row that a world has too many, lacks, or has otherwise than gold asks."""
    if fault.expected == NO_ROW:
        return f"{fault.table} has too many: {_cut(fault.found)}"
    if fault.found == NO_ROW:
        return f"{fault.table} lacks: {_cut(fault.expected)}"
    where = " ".join(filter(None, (fault.table, fault.row)))
    return f"{where} has {fault.column} {_cut(fault.found)}, not {_cut(fault.expected)}"


def _cut(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:197]}..."


def _called_tools(part: Condition) -> list[str]:
    """Return the tools that a condition asks to be called; empty where it asks for none."""
    if isinstance(part, Called):
        return [part.tool]
    if not isinstance(part, StateHas) or part.table != MESSAGE:
        return []
    wanted: list[Any] = [row.get("calls") or () for row in part.rows]
    listed = [calls if isinstance(calls, (list, tuple)) else (calls,) for calls in wanted]
    return list(dict.fromkeys(str(call["tool"]) for calls in listed for call in calls))


# -- What shows that a step was not done, in words.

_CUT_SHORT = (CRASHED, "context_overflow")
"""How a chat ended in which the agent could go on no more."""


def wrong_tool(evidence: Evidence, expected: Iterable[str], other: StepNote) -> Cause:
    """Return that another tool was called in place of those that were due."""
    names = listed([evidence.named(tool) for tool in expected]) or "another tool"
    cause = "unknown_name" if other.tool is None else "other_tool"
    said = f"{names} was due, {other.name} was called"
    return Cause("wrong_tool", cause, said, other.step, names, names, other.name)


def not_called(
    evidence: Evidence,
    expected: Sequence[str],
    gold: Collection[str],
    acting: Sequence[StepNote] | None = None,
) -> Cause:
    """Return that tools that were due, and offered, were not called, or others in their place.

    Where the chat was cut short, that is the cause.

    Args:
        evidence: Of the goal.
        expected: The tools that were due.
        gold: Tools whose calls are never wrong.
        acting: The calls that may stand in place of what was due; None: all.
    """
    among = evidence.calls if acting is None else acting
    other = next((finding for finding in among if finding.tool not in gold), None)
    if other is not None:
        return wrong_tool(evidence, expected, other)
    cause = "stopped_early" if evidence.calls else "no_call"
    if evidence.calls_of(expected):
        cause = "too_few"
    names = listed([evidence.named(tool) for tool in expected]) or "a call"
    cause = evidence.stop if evidence.stop in _CUT_SHORT else cause
    return Cause("not_called", cause, f"{names} was due and never called", None, names, names)


def tool_error(evidence: Evidence, finding: StepNote) -> Cause:
    """Return that a call failed, and no later one mended it.

    A call that nothing was recorded or simulated for is a failure of the infrastructure.
    """
    result = evidence.result(finding)
    error = (result.error if result else None) or {}
    cause = finding.service or str(error.get("kind") or "error")
    stage: Stage = "infrastructure" if cause == "unrecorded" else "tool_error"
    told = error.get("message") or error.get("upstream") or (result.content if result else "")
    brought = str(told)[:200]
    said = f"{finding.name} failed and nothing mended it: {brought}"
    return Cause(stage, cause[:40], said, finding.step, finding.name, None, brought)


class Wrong(NamedTuple):
    """An argument that is not as gold, or the schema, has it."""

    problem: str
    name: str = ""
    expected: JSON = None
    received: JSON = None

    def __str__(self) -> str:
        said = f"{self.problem} {self.name}".rstrip()
        if self.expected is None and self.received is None:
            return said
        return f"{said}: expected {told(self.expected)}, received {told(self.received)}"


_WRONG = 5
"""Wrong arguments of one call that a cause tells."""


def rejected(finding: StepNote, gold: Called | None = None) -> Cause:
    """Return what is wrong with a call that its schema does not take, beside what gold has there.

    Args:
        finding: The call.
        gold: The gold call; None: none is known.
    """
    wanted = (gold.arguments if gold else None) or {}
    wrong = []
    for fault in finding.faults:
        own = wanted.get(fault.name)
        expected: JSON = own.values if own else None
        if not expected:
            expected = "a value" if fault.kind == "missing_argument" else fault.expected
        received = None if fault.kind == "missing_argument" else fault.received
        wrong.append(Wrong(fault.kind, fault.name, expected, received))
    return argument(finding.name, wrong or [Wrong("format")], finding.step)


def argument(tool: str, wrong: Sequence[Wrong], step: int | None) -> Cause:
    """Return that arguments are not as gold, or the schema, has them; the first gives its name."""
    first = wrong[0]
    more = [f"{len(wrong) - _WRONG} more"] if len(wrong) > _WRONG else []
    said = f"{tool}: {'; '.join([*map(str, wrong[:_WRONG]), *more])}"
    expected, received = _short(first.expected), _short(first.received)
    return Cause("wrong_argument", first.problem, said, step, first.name, expected, received)


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
