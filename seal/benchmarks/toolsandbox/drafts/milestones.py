"""Milestones drafted from a sequence that was done: a beginning for whoever writes them.

- A call that changed tables becomes a milestone at what changed
(`seal.benchmarks.toolsandbox.drafts.nodes`).
- A call whose result a later call or message used (`seal.benchmarks.toolsandbox.drafts.flows`)
  becomes a milestone at that call with its arguments. Arguments that follow from an earlier result
  are taken from there if an extractor knows how. Ids that were made in the chat are left out. Where
  nothing changed before a message, the last call before it is taken for used.
- An event, such as a timer that rings, becomes a milestone.
- The last message to the user becomes a milestone at the values of results that it tells, else at
  its words.
- An edge has one of three reasons: a call used an earlier one's result, both changed one table, or
  the call fails without what the earlier one changed. Only a world can try the last. Other
  milestones are parallel.
- A milestone guards every table that no parallel milestone may change, and every cell of a changed
  row.

The draft is measured against the sequence itself by the rules `clean`. It says how this sequence
went, not what else is right: loosen what others may do otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import groupby
from typing import Any
from zoneinfo import ZoneInfo

from seal.benchmarks.toolsandbox.drafts.flows import Fails, Made, flow_of, order_of
from seal.benchmarks.toolsandbox.drafts.nodes import guarded_tables, nodes_of
from seal.benchmarks.toolsandbox.scenarios.files import Move, Node, Scenario, Take
from seal.benchmarks.toolsandbox.scenarios.notation import Names, plan_of
from seal.benchmarks.toolsandbox.scenarios.sequences import play_sequence
from seal.core import (
    JSON,
    DataError,
    Goal,
    Plan,
    Step,
    Stop,
    Tables,
    Task,
    Tool,
    ToolCall,
    Trajectory,
    located,
)
from seal.core.conditions import party
from seal.core.conditions.messages import AGENT, EXECUTOR, USER
from seal.core.environment import EnvironmentFactory, Timed
from seal.environments.chat_world import Clock
from seal.environments.world import WorldSetup, build_worlds
from seal.evaluation.milestones.plans import measure_plan, view


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
    scenario = Scenario(task.id, [], "", [], {}, "", [], [], list(nodes))
    plan = plan_of(scenario, names)
    return Draft(task.id, goal, nodes, plan, measure_plan(plan, steps).similarity)


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


def draft_task(
    task: Task,
    tools: Mapping[str, Tool],
    trajectory: Trajectory | None = None,
    setup: WorldSetup | None = None,
) -> list[Draft]:
    """Return the drafted milestones of each goal of a task.

    Args:
        task: What was done, or is to be done as its references say.
        tools: By id.
        trajectory: What was done; None: the references are done anew in the task's world.
        setup: Of the world; None: without options.

    Raises:
        DataError: There is no sequence, or nothing in one of which a milestone could ask.
        UnknownNameError: The task names an unknown world.
        CodeRefusedError: It names code that the setup does not allow.
    """
    world = None
    if task.world:
        world = build_worlds(task.world, setup or WorldSetup(), f"task {task.id!r}")
    if trajectory is None:
        trajectory = referred(task, world)
    fails = None if world is None else _trial(task, world)
    return [
        draft_milestones(task, steps, tools, goal, fails)
        for goal in range(len(task.goals))
        if (steps := view(trajectory, goal, task.initial_state, "clean"))
    ]


def referred(task: Task, world: EnvironmentFactory | None) -> Trajectory:
    """Return the references of a task as a trajectory.

    Args:
        task: With a reference for each goal that is to be drafted.
        world: Opens the task's world, in which calls of a single goal are run anew; None: calls
            have the results that the references say.

    Raises:
        DataError: No goal has a reference, or it cannot be done.
    """
    if not any(goal.reference for goal in task.goals):
        raise DataError(f"task {task.id}: no goal has a reference; play it and draft from the run")
    if world is None or len(task.goals) > 1:
        steps = tuple(_numbered(task.goals))
    else:
        names = {s.call.name: s.call.tool or "" for s in task.goals[0].reference if s.call}
        moves = list(_moves(task.goals[0].reference))
        with located(f"task {task.id}: reference"):
            opened = world.open(task, 0, list(names))
            steps = play_sequence(task.goals[0].text, moves, opened, names)
    return Trajectory(task.id, 0, steps, stops=(Stop("done"),))


def _numbered(goals: Sequence[Goal]) -> Iterator[Step]:
    """Yield the user's texts and the references, numbered and with their goals."""
    index = turn = 0
    for position, goal in enumerate(goals):
        steps = goal.reference
        if steps and steps[0].author != USER:
            steps = (Step(0, USER, AGENT, goal.text, turn=-1), *steps)
        for _, batch in groupby(steps, lambda step: step.turn):
            for step in batch:
                yield replace(step, index=index, turn=turn, goal=position)
                index += 1
            turn += 1


def _moves(reference: Iterable[Step]) -> Iterator[Move]:
    """Yield a reference without its first message and its results, which the world gives anew."""
    steps = [s for s in reference if s.author != EXECUTOR and s.content + str(s.call or "")]
    if steps and steps[0].author == USER:
        steps = steps[1:]
    for (_, calling), group in groupby(steps, lambda s: (s.turn, s.call is not None)):
        batch = list(group)
        if calling:
            calls = [step.call for step in batch if step.call is not None]
            yield Move(do=[{call.name: call.arguments or {}} for call in calls])
            continue
        for step in batch:
            if step.author == USER:
                yield Move(hear=step.content)
            elif party(step.author) == AGENT and party(step.recipient) != AGENT:
                yield Move(say=step.content)


def _trial(task: Task, world: EnvironmentFactory) -> Fails:
    """Return what tries a call in the task's world as it would be with other tables."""

    def fails(tables: Tables, turns: int, call: ToolCall) -> bool:
        opened = world.open(replace(task, initial_state=tables), 0, [call.name])
        if isinstance(opened, Timed):
            for _ in range(turns):
                opened.tick()
        return any(result.error is not None for result in opened.call([call]))

    return fails
