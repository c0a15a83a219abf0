"""Milestones drafted from a sequence that was done: a beginning for whoever writes them.

- A call that changed tables becomes a milestone at what changed
(`seal.benchmarks.toolsandbox.drafts.changes`).
- A call whose result a later call or message used (`seal.benchmarks.toolsandbox.drafts.flows`)
  becomes a milestone at that call with its arguments: those that follow from an earlier result are
  taken from there where an extractor knows how, and ids that were made in the chat are left out.
  Where nothing changed before a message, the last call before it is taken for used.
- An event, such as a timer that rings, becomes a milestone.
- The last message to the user becomes a milestone at the values of results that it tells, else at
  its words.
- An edge says that a call used an earlier one's result, that both changed one table, or, where a
  world can try, that it fails without what the earlier one changed (`order`). Other milestones are
  parallel.
- Every table is guarded that no parallel milestone may change (`guards`), and of a changed row
  every cell (`changes`).

The draft is measured against the sequence itself by the rules `clean`. It says how this sequence
went, not what else is right: loosen what others may do otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any
from zoneinfo import ZoneInfo

from seal.benchmarks.toolsandbox.drafts.flows import Made, flow_of
from seal.benchmarks.toolsandbox.drafts.guards import guarded_tables
from seal.benchmarks.toolsandbox.drafts.nodes import nodes_of
from seal.benchmarks.toolsandbox.drafts.order import Fails, order_of
from seal.benchmarks.toolsandbox.scenarios.files import Node, Scenario, Take
from seal.benchmarks.toolsandbox.scenarios.notation import Names, plan_of
from seal.core.errors import DataError
from seal.core.types import JSON, Plan, Step, Task, Tool
from seal.environments.chat_world import Clock
from seal.evaluation.milestones.plans import measure_plan


@dataclass(frozen=True, slots=True)
class Draft:
    """Milestones drafted from one sequence."""

    task_id: str
    goal: int
    nodes: tuple[Node, ...]
    """In the notation of `seal.benchmarks.toolsandbox.scenarios`."""
    plan: Plan
    """The same, as a task has it."""
    similarity: float
    """Of the sequence itself, in [0, 1]; below 1 the draft does not fit it."""

    def milestones(self) -> list[dict[str, JSON]]:
        """Return the nodes as JSON, to be pasted into a scenario."""
        return [_plain(node) for node in self.nodes]


def draft_milestones(
    task: Task,
    steps: Sequence[Step],
    tools: Mapping[str, Tool],
    goal: int = 0,
    fails: Fails | None = None,
) -> Draft:
    """Return the milestones of a sequence.

    Args:
        task: That was done.
        steps: As `seal.evaluation.milestones.plans` gives them by the rules `clean`.
        tools: By id; their names are those of the notation.
        goal: Position of the goal that the steps are about.
        fails: Tries calls in the task's world; None: no edge follows from what changed.

    Raises:
        DataError: Nothing was done that a milestone could ask for.
    """
    clock = task.metadata.get("clock") or {}
    zone = ZoneInfo(str(clock.get("zone", Clock().zone)))
    flow = flow_of(steps)
    order = order_of(flow, fails)
    tools_named = _names(flow.made, tools)
    nodes = nodes_of(flow, order, tools_named, zone)
    if not nodes:
        raise DataError(
            f"task {task.id}: no call succeeded and nothing was said to the user; "
            "give a sequence in which something is done"
        )
    columns = _columns(steps)
    guards = guarded_tables(flow, order, columns)
    nodes = tuple(
        replace(node, guards=tables if len(tables) < len(columns) else None)
        for node, tables in zip(nodes, guards, strict=True)
    )
    names = Names({name: tool for tool, name in tools_named.items()}, columns, zone)
    plan = plan_of(_scenario(task.id, nodes), names)
    return Draft(task.id, goal, nodes, plan, measure_plan(plan, steps).similarity)


def _scenario(name: str, nodes: tuple[Node, ...]) -> Scenario:
    return Scenario(name, [], "", [], {}, "", [], [], list(nodes))


def _names(made: Sequence[Made], tools: Mapping[str, Tool]) -> dict[str, str]:
    """Return id to name of each tool that ran; the id again where two have one name."""
    ids = dict.fromkeys(one.tool for one in made if one.tool)
    names = {i: tools[i].name if i in tools else i.rpartition("/")[2] for i in ids}
    return {i: name if list(names.values()).count(name) == 1 else i for i, name in names.items()}


def _columns(steps: Sequence[Step]) -> dict[str, dict[str, Any]]:
    """Return the tables of the world with the columns that any row of theirs ever had."""
    found: dict[str, dict[str, Any]] = {}
    for step in steps:
        for table, rows in (step.state or {}).items():
            columns = found.setdefault(table, {})
            columns.update(dict.fromkeys((name for row in rows for name in row), Any))
    return found


def _plain(node: Node) -> dict[str, JSON]:
    """Return a node without what it leaves open."""
    return {
        field.name: asdict(value) if isinstance(value, Take) else value
        for field in fields(node)
        if (value := getattr(node, field.name)) not in (None, "", {}, [])
        or (field.name in ("after", "guards") and value == [])
    }
