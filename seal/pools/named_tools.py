"""The tools of a pool that tasks name, and what they are to them."""

from __future__ import annotations

from collections.abc import Iterator

from seal.core import CHAT_TOOLS, Milestone, Step, Task
from seal.core.conditions import Called


def named_tools(task: Task) -> Iterator[tuple[str, str]]:
    """Yield what a tool is to the task, and its id, for every tool of the pool that a goal names.

    It is relevant, offered, gold (called by a plan, or forbidden by it), or called in the reference
    solution; one tool may be several of them.
    """
    for goal in task.goals:
        nodes = [m for plan in goal.plans or () for m in (*plan.milestones, *plan.minefields)]
        yield from (("relevant", tool) for tool in goal.relevant)
        yield from (("offered", tool) for tool in goal.offered or ())
        yield from (("gold", tool) for node in nodes for tool in called_tools(node))
        yield from (("reference", tool) for tool in stated_tools(goal.reference))


def called_tools(node: Milestone) -> frozenset[str]:
    """Return the tool that a node calls; none where it asks for something else."""
    return frozenset([node.condition.tool]) if isinstance(node.condition, Called) else frozenset()


def stated_tools(steps: tuple[Step, ...]) -> tuple[str, ...]:
    """Return the tools of the pool that the steps call, in their order."""
    called = (step.call.tool for step in steps if step.call is not None)
    found = (tool for tool in called if tool is not None and not tool.startswith(CHAT_TOOLS))
    return tuple(dict.fromkeys(found))
