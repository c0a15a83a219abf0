"""Gold that contradicts itself or a policy, or that is met where nothing is done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from seal.core import Goal, Milestone, Plan, Step, Tables, Task, Tool, Trajectory
from seal.core.conditions import AGENT, MESSAGE, USER, Called, Condition, parts
from seal.core.state_conditions import (
    AllOf,
    EndsAs,
    FinalState,
    KnownEnds,
    StateHas,
    StateUnchanged,
)
from seal.environments.policy import breaches
from seal.environments.world import Worlds
from seal.evaluation.calls import effects_of
from seal.evaluation.goals import WHOLLY, TaskChat, match_of
from seal.evaluation.plans import asked_of, in_chat, measure_goal, measure_plan, verdict_on, view
from seal.pools.gold_scripts import play, scripts_of


def doubt(
    task: Task, chat: Trajectory, tools: Mapping[str, Tool], position: int
) -> tuple[str, str]:
    """Return the kind of finding that a goal's gold is, and why; empty: it is none.

    Args:
        task: With its gold.
        chat: In which nothing but gold calls was done (`gold_chat`).
        tools: By id.
        position: Of the goal.

    Raises:
        DataError: Its plans cannot be measured.
    """
    goals = list(task.goals)
    plan, match = (goals[position].plans or ())[0], match_of(task)
    goals[position] = replace(goals[position], plans=(plan,))
    done = TaskChat(replace(task, goals=tuple(goals)), chat, tools).goals[position]
    acted, said = effects_of(done)
    if acted:
        return "contradictory_gold", f"its own calls have {said}"
    steps = view(chat, position, task.initial_state, match)
    kept = measure_plan(_calls_and_guards(plan), steps, match)
    if kept.minefield_similarity or kept.milestone_similarity < WHOLLY:
        return "contradictory_gold", "its own calls do what it forbids, or come in another order"
    if _ends_apart(in_chat(plan, chat, position), steps[0].state or {}):
        return "contradictory_gold", "the world cannot end in all the ways that it asks for"
    words = [s for s in chat.steps if s.goal == position and s.call is None and s.result is None]
    before = [step for step in chat.steps if step.goal < position]
    idle = TaskChat(task, replace(chat, steps=(*before, *words)), tools).goals[position]
    verdict = verdict_on(idle, measure_goal(idle, match))
    solved = verdict is not None and verdict.label == "solved" and not idle.goal.answers
    if solved and any(map(_asks_for_change, asked_by(idle.goal))):
        return "idle_gold", (
            "whoever does nothing solves it; mend its gold, or say by seal.ends_as() that nothing "
            "is to happen"
        )
    return "", ""


def _calls_and_guards(plan: Plan) -> Plan:
    """Return what a plan asks of calls, and forbids of calls and tables."""

    def asks(node: Milestone) -> Milestone:
        kept = [part for part in parts(node.condition) if isinstance(part, Called | StateUnchanged)]
        return replace(node, condition=AllOf(tuple(kept)))

    def is_plain(part: Condition) -> bool:
        rows = isinstance(part, StateHas) and part.table != MESSAGE
        return rows or isinstance(part, Called | StateUnchanged)

    plain = [all(map(is_plain, parts(node.condition))) for node in plan.minefields]
    return Plan(tuple(map(asks, asked_of(plan))), plan.minefields if all(plain) else ())


def _ends_apart(plan: Plan, begun: Tables) -> bool:
    """Tell whether a world cannot end as all of a plan's conditions on its end say."""
    asked = [part for node in plan.milestones for part in parts(node.condition)]
    ends = [part for part in asked if isinstance(part, FinalState | KnownEnds)]
    rows = [(part.table, list(part.rows)) for part in ends if isinstance(part, FinalState)]
    worlds: list[Tables] = [{**begun, **dict(some)} for some in (rows, rows[::-1])]
    for part in ends:
        worlds += part.worlds() if isinstance(part, KnownEnds) else ()

    def holds(world: Tables) -> bool:
        steps = (Step(0, USER, AGENT, state=begun), Step(1, AGENT, USER, state=world))
        return not any(part.among(steps).differences for part in ends)

    return len(ends) > 1 and not any(map(holds, worlds))


def _asks_for_change(part: Condition) -> bool:
    if isinstance(part, EndsAs):
        return part.of_plan or any(part.sequences)
    return isinstance(part, FinalState) or (isinstance(part, StateHas) and part.table != MESSAGE)


def forbidden(task: Task, world: Worlds) -> Iterator[tuple[int, str]]:
    """Yield each rule of a policy that gold breaks, as the goal and what broke it.

    Gold is played with the words of its reference, in which the user allows what is done. Where a
    goal has no such reference, nothing is known.

    Args:
        task: With its gold.
        world: Whose policy it is.

    Raises:
        InfrastructureError: A rule failed, or what a tool asks outside of the world.
    """
    told = all(any(step.call for step in goal.reference) for goal in task.goals)
    if not told or not any(map(callable, world.policy)):
        return
    scripts = [next(iter(scripts_of(goal)), ()) for goal in task.goals]
    for one in breaches(world.policy, task, play(task, scripts, world).chat):
        yield int(str(one["goal"])), f"{one['tool']} breaks the rule {one['rule']}: {one['why']}"


def asked_by(goal: Goal) -> Iterator[Condition]:
    """Yield what the milestones of a goal ask."""
    for plan in goal.plans or ():
        for node in plan.milestones:
            yield from node.condition.parts()
