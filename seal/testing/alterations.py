"""Gold that does something else: what is as right in another way, and what has one fault."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from typing import Any

from seal.core import JSON, Goal, Milestone, Plan, Ranking, Step, Task, ToolCall, Trajectory, ready
from seal.core.conditions import Argument, Called, Condition, Replied, parts, tells_user
from seal.core.earlier_results import takes_results, taking
from seal.core.state_conditions import Told
from seal.core.values import equal
from seal.evaluation.goals import ENDS, no_gold
from seal.models.oracle import Move, moves, reply_of

Alter = Callable[[Goal, Sequence[int]], Goal | None]
"""(goal, which of its gold calls change the world) to one whose gold is other; None: it has no such
gold."""
_Change = Callable[[Goal, list[Move]], Sequence[Move] | None]
"""(goal, what its gold does) to what is done instead; None: it does not apply."""


def _by(change: _Change) -> Alter:
    def alter(goal: Goal, acting: Sequence[int]) -> Goal | None:
        usual = moves(goal)
        other = change(goal, usual) if any(move.calls for move in usual) else None
        if other is None or list(other) == usual or _renumbers(goal, other):
            return None
        return _playing(goal, other)

    return alter


def _renumbers(goal: Goal, other: Sequence[Move]) -> bool:
    """Tell whether gold takes results of earlier calls that have other numbers in what is done."""
    plan = next(iter(goal.plans or ()), Plan())
    numbered = [call.tool for call in plan.calls()]
    done = [call.tool for move in other for call in move.calls]
    return takes_results(plan) and any(map(str.__ne__, numbered, done))


def _playing(goal: Goal, other: Sequence[Move]) -> Goal:
    """Return the goal with a gold that does something else, and replies the same."""
    recorded = _results(goal)
    steps: list[Step] = []
    milestones: list[Milestone] = []
    is_open = any(gold.open_arguments or taking(gold) for move in other for gold in move.calls)
    for turn, move in enumerate(other):
        before = tuple(range(len(milestones)))
        calls = [_as_call(gold, len(milestones) + n) for n, gold in enumerate(move.calls)]
        milestones += [Milestone(gold, before) for gold in move.calls]
        if is_open:
            continue  # whoever plays the milestones gives a value
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
    return _given(gold, last)


def _given(gold: Called, values: Mapping[str, JSON]) -> Called:
    """Return a call with other values, and any where any is right."""
    listed = gold.arguments or {}
    known = {name: Argument((value,)) for name, value in values.items()}
    return Called(gold.tool, {**{name: listed[name] for name in gold.open_arguments}, **known})


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
    given = {n: ["no such value"] if n == name else v for n, v in right.items()}
    return [*map(_alone, calls[:-1]), _alone(_given(calls[-1], given))]


def _of_world(fault: Callable[[Called], Called | None]) -> Alter:
    """Return what puts a fault in the last gold call that changes the world."""

    def alter(goal: Goal, acting: Sequence[int]) -> Goal | None:
        usual = moves(goal)
        calls = list(chain.from_iterable(move.calls for move in usual))
        if not acting or acting[-1] >= len(calls):
            return None
        other, faulty = list[Move](), fault(calls[acting[-1]])
        at = -1
        for move in usual:
            made = [faulty if (at := at + 1) == acting[-1] else call for call in move.calls]
            other.append(Move(tuple(filter(None, made)), move.words))
        return None if faulty == calls[acting[-1]] else _playing(goal, other)

    return alter


def _not_made(call: Called) -> None:
    """Leave a call out."""


def _made_otherwise(call: Called) -> Called:
    """Change the first argument that can be changed."""
    values = call.canonical_arguments()
    name = next((name for name, value in values.items() if _other_value(value) != value), None)
    return _given(call, {n: _other_value(v) if n == name else v for n, v in values.items()})


def _other_value(value: JSON) -> JSON:
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    return f"not {value}" if isinstance(value, str) else value  # a text cell may have more words


def _nothing(goal: Goal, acting: Sequence[int]) -> Goal | None:
    if not any(move.calls for move in moves(goal)):
        return None
    ended = goal.plans and all(map(_asks_for_end_alone, goal.plans))
    if ended and not acting and not goal.answers:  # the world ends so, too
        return None
    return replace(goal, plans=(Plan(),), reference=(), answers=(), tells=())


def _asks_for_end_alone(plan: Plan) -> bool:
    asked = [part for node in plan.milestones for part in parts(node.condition)]
    return all(getattr(part, "kind", "") in ENDS for part in asked)


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
    "a call that changes the world is left out": _of_world(_not_made),
    "a call that changes the world is made otherwise": _of_world(_made_otherwise),
    "nothing is done": _nothing,
}
"""A fault that is played."""


def acting(chat: Trajectory, goal: int) -> list[int]:
    """Return the positions of those calls for a goal that changed the world."""
    steps = enumerate(chat.calls(goal))
    return [at for at, pair in steps if any(step is not None and step.state for step in pair)]


Edit = Callable[[Task, Trajectory, int], Trajectory | None]
"""(task, chat, goal) to the chat with a fault in what was said or found for the goal; None: there
is nothing of the kind."""


def _answered(fault: Callable[[Goal, str], str | None]) -> Edit:
    """Return what puts other words in place of all that the agent tells its user.

    Args:
        fault: (goal, what was said) to the words; None: gold asks for nothing of the kind.
    """

    def edit(task: Task, chat: Trajectory, at: int) -> Trajectory | None:
        goal, said = task.goals[at], chat.answers[at] if at < len(chat.answers) else None
        words = fault(goal, said) if said else None
        if words is None:
            return None
        answers = (*chat.answers[:at], words, *chat.answers[at + 1 :])
        steps = tuple(
            replace(step, content=fault(goal, step.content) or "")
            if step.goal == at and tells_user(step)
            else step
            for step in chat.steps
        )
        return replace(chat, answers=answers, steps=steps)

    return edit


def _stated(goal: Goal) -> Sequence[str]:
    """Return the values that a right answer states, whatever the plan; none: gold asks for none.

    A text that may stand in other words is left out: of such an answer nothing is decided.
    """
    plans = _told_by_plans(goal)
    told = [one.texts[0] for one in goal.tells if not one.optional and one.type != "text"]
    return goal.answers or told or (list(chain.from_iterable(plans)) if all(plans) else [])


def has_told_milestones(goal: Goal) -> bool:
    """Tell whether milestones of a goal ask for values in what is said."""
    return any(_told_by_plans(goal))


def _told_by_plans(goal: Goal) -> list[list[str]]:
    """Return the values that a right answer states by the milestones of each plan."""
    asked = [
        [part for node in p.milestones for part in parts(node.condition)] for p in goal.plans or ()
    ]
    return [list(chain.from_iterable(map(_values_of, plan))) for plan in asked]


def _values_of(condition: Condition) -> Sequence[str]:
    if isinstance(condition, Replied):
        return condition.states
    return (*condition.all_of, *condition.any_of) if isinstance(condition, Told) else ()


def _wrong_values(goal: Goal, said: str) -> str | None:
    """Return an answer with another value in place of each."""
    values = _stated(goal)
    shifted = [re.sub(r"\d", lambda digit: str((int(digit[0]) + 3) % 10), one) for one in values]
    other = [new if new != old else "Quux" for old, new in zip(values, shifted, strict=True)]
    return f"It is {' and '.join(other)}." if values else None


def _no_values(goal: Goal, said: str) -> str | None:
    return "I looked it up for you." if _stated(goal) else None


def _one_more_value(goal: Goal, said: str) -> str | None:
    return f"{said} Its number is 4815162342."


def _dropped(task: Task, chat: Trajectory, at: int) -> Trajectory | None:
    """Take the first gold tool out of what was retrieved."""
    goal = task.goals[at]
    plans = (goal.plans or ())[:1]
    gold = goal.relevant or [call.tool for plan in plans for call in plan.calls()]
    found = {tool for one in chat.rankings if one.goal == at for tool, _ in one.hits}
    tool = next((tool for tool in gold if tool in found), None)
    if tool is None or goal.any_relevant or len(goal.plans or ()) > 1:
        return None
    return replace(chat, rankings=tuple(_without(one, at, tool) for one in chat.rankings))


def _without(ranking: Ranking, goal: int, tool: str) -> Ranking:
    hits = tuple(hit for hit in ranking.hits if ranking.goal != goal or hit[0] != tool)
    return replace(ranking, hits=hits)


OF_WORDS: Mapping[str, Edit] = {
    "the answer states wrong values": _answered(_wrong_values),
    "the answer drops its values": _answered(_no_values),
}
"""An answer that does not state what gold asks for."""
EDITED: Mapping[str, Edit] = {
    **OF_WORDS,
    "the answer invents a value": _answered(_one_more_value),
    "a gold tool is not retrieved": _dropped,
}
"""A fault in what was said or found, whatever was done."""

Turns = Sequence[tuple[str, int]]
"""Task and goal of each goal of a task that was split or joined, as they were before."""


def split(tasks: Sequence[Task]) -> Iterator[tuple[Task, Turns]]:
    """Yield each goal of tasks of several as a task of its own."""
    for task in tasks:
        for at, goal in enumerate(task.goals) if len(task.goals) > 1 else ():
            yield replace(task, id=f"{task.id}-{at}", goals=(goal,)), [(task.id, at)]


def joined(tasks: Sequence[Task]) -> Iterator[tuple[Task, Turns]]:
    """Yield tasks of one goal two by two, each pair as the turns of one dialogue."""
    single = [task for task in tasks if len(task.goals) == 1]
    for first, second in list(pairwise(single))[::2]:
        both = replace(first, id=f"{first.id}-joined", goals=(*first.goals, *second.goals))
        yield both, [(first.id, 0), (second.id, 0)]


Turn = Callable[[Sequence[Task]], Iterable[tuple[Task, Turns]]]
TURNS: Mapping[str, Turn] = {"turns are split": split, "turns are joined": joined}
"""Dialogues of other lengths."""
