"""Gold that does something else: what is as right in another way, and what has one fault."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from seal.core import Goal, Milestone, Plan, Step, ToolCall
from seal.core.canonical import equal
from seal.core.conditions import Argument, Called
from seal.core.order import ready
from seal.evaluation.goals import no_gold
from seal.models.oracle import Move, moves, reply_of

Alter = Callable[[Goal], Goal | None]
"""Goal to one whose gold is other; None: it has no such gold."""
_Change = Callable[[Goal, list[Move]], Sequence[Move] | None]
"""(goal, what its gold does) to what is done instead; None: it does not apply."""


def _by(change: _Change) -> Alter:
    def alter(goal: Goal) -> Goal | None:
        usual = moves(goal)
        other = change(goal, usual) if any(move.calls for move in usual) else None
        return None if other is None or list(other) == usual else _playing(goal, other)

    return alter


def _playing(goal: Goal, other: Sequence[Move]) -> Goal:
    """Return the goal with a gold that does something else, and replies the same."""
    recorded = _results(goal)
    steps: list[Step] = []
    milestones: list[Milestone] = []
    for turn, move in enumerate(other):
        before = tuple(range(len(milestones)))
        calls = [_as_call(gold, len(milestones) + n) for n, gold in enumerate(move.calls)]
        milestones += [Milestone(gold, before) for gold in move.calls]
        steps += [Step(0, _AGENT, "executor", call=call, turn=turn) for call in calls]
        results = ((call, _result_of(call, recorded)) for call in calls)
        steps += [replace(r, result=replace(r.result, call_id=c.id)) for c, r in results if r]
        if move.words:
            steps.append(Step(0, _AGENT, "orchestrator", move.words, turn=turn))
    if reply := reply_of(goal):
        steps.append(Step(0, _AGENT, "orchestrator", reply, turn=len(other)))
    return replace(goal, plans=(Plan(tuple(milestones)),), reference=tuple(steps))


_AGENT = "execution_manager"
_Recorded = Sequence[tuple[ToolCall, Step]]
"""Gold calls with the steps of their results."""


def _results(goal: Goal) -> _Recorded:
    told = {step.result.call_id: step for step in goal.reference if step.result is not None}
    calls = (step.call for step in goal.reference if step.call is not None)
    return [(call, told[call.id]) for call in calls if call.id in told]


def _result_of(call: ToolCall, recorded: _Recorded) -> Any:
    same = (
        r for one, r in recorded if one.tool == call.tool and equal(one.arguments, call.arguments)
    )
    return next(same, None)


def _as_call(gold: Called, number: int) -> ToolCall:
    return ToolCall(f"call_{number}", gold.tool, gold.canonical_arguments(), tool=gold.tool)


def _calls_alone(goal: Goal, plan: int = 0) -> tuple[Milestone, ...]:
    """Return the gold calls of a goal that asks for calls and nothing else; else none."""
    if no_gold(goal):
        return ()
    found = (goal.plans or ())[plan].milestones
    calls = [one.condition for one in found if isinstance(one.condition, Called)]
    named = len(calls) == len(found) and all(call.arguments is not None for call in calls)
    return found if named else ()


def _one_by_one(goal: Goal, usual: list[Move]) -> Sequence[Move]:
    """Make each call in a reply of its own; of a world, the last ones alone.

    In a world a reply more moves the clock, and later calls of its gold may tell the time.
    """
    acts = [at for at, move in enumerate(usual) if move.calls]
    if not _calls_alone(goal):
        usual, kept = usual[acts[-1] :], usual[: acts[-1]]
        return [*kept, *_split(usual)]
    return _split(usual)


def _split(usual: Sequence[Move]) -> list[Move]:
    return [one for move in usual for one in (map(_alone, move.calls) if move.calls else [move])]


def _alone(call: Called) -> Move:
    return Move((call,))


def _together(goal: Goal, usual: list[Move]) -> Sequence[Move] | None:
    """Make what the plan leaves open in one reply."""
    return moves(replace(goal, reference=())) if _calls_alone(goal) else None


def _other_order(goal: Goal, usual: list[Move]) -> Sequence[Move] | None:
    """Make always the last call that may come next; of a world, those of one reply from behind."""
    gold = _calls_alone(goal)
    if not gold:
        return [replace(move, calls=move.calls[::-1]) for move in usual]
    after, order = [one.after for one in gold], list[int]()
    while len(order) < len(gold):
        order.append(ready(after, set(order))[-1])
    in_order = order == sorted(order)
    return None if in_order else [_alone(gold[at].condition) for at in order]  # type: ignore[arg-type]


def _other_plan(goal: Goal, usual: list[Move]) -> Sequence[Move] | None:
    if len(goal.plans or ()) < 2 or not _calls_alone(goal, -1):
        return None
    return moves(replace(goal, reference=(), plans=(goal.plans or ())[-1:]))


def _other_values(goal: Goal, usual: list[Move]) -> Sequence[Move] | None:
    """Give the last right value of each argument."""
    if not _calls_alone(goal):
        return None
    made = moves(replace(goal, reference=()))
    return [Move(tuple(map(_with_last_values, move.calls)), move.words) for move in made]


def _with_last_values(gold: Called) -> Called:
    """Return a call with other values of the first one's type: gold may list what no tool takes."""
    usual, listed = gold.canonical_arguments(), gold.arguments or {}
    last = {
        name: [other for other in listed[name].listed if type(other) is type(value)][-1]
        for name, value in usual.items()
    }
    return Called(gold.tool, {name: Argument((value,)) for name, value in last.items()})


def _flat(goal: Goal, usual: list[Move]) -> list[Called]:
    """Return the gold calls where a fault in one is one, whatever the others are."""
    if len(goal.plans or ()) != 1 or not _calls_alone(goal):
        return []
    return list(chain.from_iterable(move.calls for move in usual))


def _left_out(goal: Goal, usual: list[Move]) -> Sequence[Move] | None:
    calls = _flat(goal, usual)
    return list(map(_alone, calls[:-1])) if len(calls) > 1 else None


def _made_twice(goal: Goal, usual: list[Move]) -> Sequence[Move] | None:
    calls = _flat(goal, usual)
    return [*usual, _alone(calls[-1])] if calls else None


def _wrong(goal: Goal, usual: list[Move]) -> Sequence[Move] | None:
    calls = _flat(goal, usual)
    if not calls or not calls[-1].arguments or [c.tool for c in calls].count(calls[-1].tool) > 1:
        return None
    right = calls[-1].canonical_arguments()
    name = next((n for n in right if calls[-1].arguments[n].listed), None)
    if name is None:
        return None
    given = {n: Argument((["no such value"] if n == name else v,)) for n, v in right.items()}
    return [*map(_alone, calls[:-1]), _alone(Called(calls[-1].tool, given))]


def _nothing(goal: Goal) -> Goal | None:
    if not any(move.calls for move in moves(goal)):
        return None
    return replace(goal, plans=(Plan(),), reference=(), answers=())


WAYS: Mapping[str, Alter] = {
    "calls one by one": _by(_one_by_one),
    "calls together": _by(_together),
    "another order": _by(_other_order),
    "another plan": _by(_other_plan),
    "other right values": _by(_other_values),
}
"""What is as right."""
PLANTED: Mapping[str, Alter] = {
    "a call is left out": _by(_left_out),
    "a call is made twice": _by(_made_twice),
    "an argument is wrong": _by(_wrong),
    "nothing is done": _nothing,
}
