"""Helpers for tests of scenarios that goal templates make: each twist, and the pools that ship."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from compile_samples import compiled

from seal.benchmarks.toolsandbox.scenarios import generation
from seal.core import Task
from seal.core.files import lines_of
from seal.environments.templates import Goals, Template, goals_of
from seal.environments.world import Worlds, WorldSetup, build_worlds

SHIPPED = ("tools.jsonl", "tasks.jsonl.gz", "import.json")
"""Files of a pool of scenarios."""


def assert_compiled(benchmark: str, authored: Path, folder: Path, out: Path) -> None:
    """Fail where the files of a pool that ships are not what its scenarios compile to."""
    compiled(benchmark, authored, out)
    for file in SHIPPED:
        shipped, made = (b"".join(lines_of(place / file)) for place in (folder, out))
        assert made == shipped, f"run perf/samples/compile_samples.py {benchmark} again: {file}"
    assert not (out / "recorded").exists()


def called(task: Task) -> list[str]:
    """Return the ids of the tools that gold calls."""
    return [step.call.tool for step in task.goals[0].reference if step.call is not None]


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
