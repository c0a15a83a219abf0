"""Helpers for tests of goal templates: each template with each of its twists, made and proved."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from seal.benchmarks.toolsandbox.scenarios import generation
from seal.core import Task
from seal.environments.templates import Goals, Template, goals_of
from seal.environments.world import Worlds, WorldSetup, build_worlds


def of_each_twist(world: str, goals: Goals, monkeypatch: Any) -> Iterator[tuple[str, Task]]:
    """Yield for each template of some goals, plain and with each twist alone, one scenario."""
    for template in goals.templates:
        yield f"{template.name}, none", made(world, replace(template, twists=()), 0, monkeypatch)
        for twist in template.twists:
            alone = replace(template, twists=(twist,))
            yield f"{template.name}, {twist.kind}", made(world, alone, 1, monkeypatch)


def made(world: str, template: Template, twists: int, monkeypatch: Any) -> Task:
    """Return a scenario of a template with so many twists."""
    kind = build_worlds(world, WorldSetup())
    assert isinstance(kind, Worlds)
    monkeypatch.setattr(generation, "_TWISTS", (twists,))
    monkeypatch.setattr(generation, "_TRIES", 60)
    own = [replace(one, templates=(), twists=()) for one in goals_of(kind.goals, world)]
    own[0] = replace(own[0], templates=(template,))
    making = generation._Making(kind, world, own, seed=4)
    wanted = template.twists[0].kind if twists else "none"
    for _ in range(8):
        (task,) = making.scenarios(1, lambda done, total: None)
        if task.tags["twist"] == wanted:
            return task
        making._seed += 1
    raise AssertionError(f"{template.name}, {wanted}: {dict(making.dropped)}")
