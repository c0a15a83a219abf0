"""Other tools for a task: scrambled ones and their originals, and the tools that tasks name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from seal.core import CHAT_TOOLS, JSON, Goal, Milestone, Plan, Step, Task, Tool
from seal.core.conditions import Called, Condition
from seal.core.state_conditions import AllOf, Unconfirmed
from seal.pools.reading.files import function_name

# -- Scrambled tools: the same function under a document that says less.
#
# A scrambled tool is a tool of its own: its id is the original's with `~` and what was scrambled,
# and its `source` has `function`, the original's id, and `original`, the original's document. A
# call of it runs the original (`originals`), so that results, simulated ones too, do not depend on
# how a tool was presented.

KEEPS = "keeps"
"""Under this name a tool's `source` lists the scramblings that do not touch it."""

_TYPE_WORDS = frozenset({"type", "format"})
_DESCRIPTION = frozenset({"description"})


class Scrambler:
    """Makes the scrambled tools of one pool.

    - names: `<category>_<k>`, where k is the tool's position among the sorted names of its
      category; `tool_<k>` where it has none.
    - descriptions: none, but that of a tool without arguments stays: nothing else tells it.
    - argument-descriptions: none.
    - argument-types: no type or format, at any depth; descriptions stay.

    Source: ToolSandbox, section 3.3, and what its code leaves of each tool.

    Args:
        tools: All tools that are counted for the names.
    """

    def __init__(self, tools: Iterable[Tool]) -> None:
        by_category: defaultdict[str, list[Tool]] = defaultdict(list)
        for tool in tools:
            by_category[_plain_category(tool)].append(tool)
        self._names = {
            tool.id: f"{category}_{position}"
            for category, members in by_category.items()
            for position, tool in enumerate(sorted(members, key=lambda tool: (tool.name, tool.id)))
        }

    def scrambled(self, tool: Tool, what: Sequence[str]) -> Tool:
        """Return the scrambled tool; the tool itself where nothing would change.

        Args:
            tool: Of the pool.
            what: Of `SCRAMBLINGS`.
        """
        changed = tool
        kept = tool.source.get(KEEPS) or ()
        for part in what:
            if part not in kept:
                changed = self._without(changed, part)
        if changed == tool:
            return tool
        document = {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
            "source": tool.source,
        }
        return replace(
            changed,
            id="~".join([tool.id, *what]),
            source={**tool.source, FUNCTION: tool.id, ORIGINAL: document},
        )

    def _without(self, tool: Tool, part: str) -> Tool:
        if part == "names":
            return replace(tool, name=self._names[tool.id])
        if not tool.parameters.get("properties"):
            return tool
        if part == "descriptions":
            return replace(tool, description="")
        words = _DESCRIPTION if part == "argument-descriptions" else _TYPE_WORDS
        own = tool.parameters["properties"].items()
        properties = {name: _stripped(schema, words) for name, schema in own}
        return replace(tool, parameters={**tool.parameters, "properties": properties})


def _plain_category(tool: Tool) -> str:
    # 12 characters are left for the position.
    return function_name(tool.category)[-52:] if tool.category.strip() else "tool"


def _stripped(schema: JSON, words: frozenset[str]) -> JSON:
    """Return an argument's schema without these keywords, also in the schemas within it."""
    if not isinstance(schema, Mapping):
        return schema
    kept: dict[str, JSON] = {}
    for word, value in schema.items():
        if word == "properties" and isinstance(value, Mapping):
            kept[word] = {name: _stripped(inner, words) for name, inner in value.items()}
        elif word in ("items", "additionalProperties"):
            kept[word] = _stripped(value, words)
        elif word in ("anyOf", "oneOf", "allOf") and isinstance(value, list):
            kept[word] = [_stripped(inner, words) for inner in value]
        elif word not in words:
            kept[word] = value
    return kept


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


# -- Tasks with other tools in the place of theirs.


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
