"""Which tools are scrambled, what calls of them run, and the tools that tasks name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from seal.core import CHAT_TOOLS, Milestone, Step, Task, Tool
from seal.core.conditions import Called

# -- What calls of scrambled tools run.

FUNCTION = "function"
ORIGINAL = "original"
"""Under these names a scrambled tool's `source` has the original's id and document."""


def is_scrambled(tool: Tool) -> bool:
    """Tell whether a tool is a scrambled one."""
    return FUNCTION in tool.source and isinstance(tool.source.get(ORIGINAL), Mapping)


def originals(tools: Iterable[Tool]) -> dict[str, Tool]:
    """Return for the id of each scrambled tool the tool that a call of it runs."""
    return {
        tool.id: replace(tool, id=str(tool.source[FUNCTION]), **tool.source[ORIGINAL])
        for tool in tools
        if is_scrambled(tool)
    }


# -- The tools of a pool that tasks name, and what they are to them.


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
