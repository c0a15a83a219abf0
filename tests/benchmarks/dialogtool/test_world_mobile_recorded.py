"""The virtual mobile gives back every recorded call of SGD's test dialogues."""

from __future__ import annotations

import json
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from seal.benchmarks.dialogtool.world import Mobile
from seal.core import Task, ToolCall
from seal.environments.world import WorldSetup, build_worlds
from seal.pools.imports import ImportReport
from seal.pools.pool import StoredPool, load_pool

CALLS = 7_658


@pytest.fixture(scope="module")
def pool(sgd_pool: tuple[Path, ImportReport]) -> StoredPool:
    return load_pool(sgd_pool[0])


@pytest.mark.slow
@pytest.mark.parametrize(("whole_chat", "every"), [(False, 1), (True, 4)])
@pytest.mark.no_cover
def test_every_recorded_call_brings_what_it_brought(
    pool: StoredPool, whole_chat: bool, every: int
) -> None:
    tools = {tool.id: tool for tool in pool.tools()}
    worlds = build_worlds("mobile", WorldSetup(tools=tools, folder=pool.folder))

    def fresh(task: Task, goal: int) -> Mobile:
        world = worlds.open(task, 0)
        assert isinstance(world, Mobile)
        world.begin(goal)
        return world

    seen: Counter[str] = Counter()
    dialogues = (task for task in pool.tasks() if task.world == "mobile")
    for task in islice(dialogues, 0, None, every):
        world = fresh(task, 0)
        for position, goal in enumerate(task.goals):
            calls = [step.call for step in goal.reference if step.call is not None]
            if not calls:
                continue
            if whole_chat:
                world.begin(position)
            else:
                world = fresh(task, position)
            (call,) = calls
            made = ToolCall("call_0", call.name, call.arguments, tool=call.tool)
            (result,) = world.call([made])
            recorded = next(s.content for s in goal.reference if s.result is not None)
            right = result.error is None and result.value == json.loads(recorded)
            seen["right" if right else f"{task.id} {position}: {result.error}"] += 1
    assert seen == {"right": CALLS if every == 1 else seen.total()}
    assert seen["right"] > CALLS / every / 2
