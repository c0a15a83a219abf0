"""Tasks with other tools in the place of theirs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from seal.core import Goal, Milestone, Plan, Step, Task, Tool
from seal.core.conditions import AllOf, Called, Condition, Unconfirmed


def renamed(task: Task, tools: Mapping[str, Tool]) -> Task:
    """Return the task with tools in the place of others: offered, relevant, called, forbidden.

    Recorded executions, and conditions on the state of a world, name what ran and stay.

    Args:
        task: The task.
        tools: Id to the tool that takes its place; other ids stay.
    """
    return replace(task, goals=tuple(_goal(goal, tools) for goal in task.goals))


def _goal(goal: Goal, tools: Mapping[str, Tool]) -> Goal:
    return replace(
        goal,
        plans=None if goal.plans is None else tuple(_plan(plan, tools) for plan in goal.plans),
        offered=None if goal.offered is None else _ids(goal.offered, tools),
        relevant=_ids(goal.relevant, tools),
        reference=tuple(_step(step, tools) for step in goal.reference),
    )


def _ids(ids: tuple[str, ...], tools: Mapping[str, Tool]) -> tuple[str, ...]:
    return tuple(tools[id].id if id in tools else id for id in ids)


def _plan(plan: Plan, tools: Mapping[str, Tool]) -> Plan:
    return Plan(_nodes(plan.milestones, tools), _nodes(plan.minefields, tools))


def _nodes(nodes: tuple[Milestone, ...], tools: Mapping[str, Tool]) -> tuple[Milestone, ...]:
    return tuple(replace(node, condition=_condition(node.condition, tools)) for node in nodes)


def _condition(condition: Condition, tools: Mapping[str, Tool]) -> Condition:
    if isinstance(condition, Called) and condition.tool in tools:
        return replace(condition, tool=tools[condition.tool].id)
    if isinstance(condition, Unconfirmed):
        return replace(condition, tools=_ids(condition.tools, tools))
    if isinstance(condition, AllOf):
        return replace(
            condition, conditions=tuple(_condition(c, tools) for c in condition.conditions)
        )
    return condition


def _step(step: Step, tools: Mapping[str, Tool]) -> Step:
    call = step.call
    if call is None or call.tool is None or call.tool not in tools:
        return step
    tool = tools[call.tool]
    return replace(step, call=replace(call, tool=tool.id, name=tool.name))
