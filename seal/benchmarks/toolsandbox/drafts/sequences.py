"""Sequences to draft milestones from: recorded chats, and references of tasks, done anew."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from seal.benchmarks.toolsandbox.drafts.milestones import Draft, draft_milestones
from seal.benchmarks.toolsandbox.drafts.order import Fails
from seal.benchmarks.toolsandbox.scenarios.files import Move
from seal.benchmarks.toolsandbox.scenarios.sequences import play_sequence
from seal.core.conditions import party
from seal.core.conditions.messages import AGENT, EXECUTOR, USER
from seal.core.environment import EnvironmentFactory, Timed
from seal.core.errors import DataError
from seal.core.types import Goal, Step, Stop, Tables, Task, Tool, ToolCall, Trajectory
from seal.environments.world import WorldSetup, build_worlds
from seal.evaluation.milestones.plans import view


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
        UnknownNameError: The task names a world that there is not.
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
        try:
            opened = world.open(task, 0, list(names))
            steps = play_sequence(task.goals[0].text, moves, opened, names)
        except DataError as error:
            raise DataError(f"task {task.id}: reference: {error}") from error
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
