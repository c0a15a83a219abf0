"""The worlds that the tasks of a run name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from seal.agents.teams import team_options
from seal.core import Message, Task, Tool, UnknownNameError
from seal.core.environment import EnvironmentFactory
from seal.environments.world import Worlds, WorldSetup, build_worlds
from seal.pools.benchmark import benchmark_options, part_of
from seal.pools.lookup import environments_beside
from seal.pools.pool import StoredPool
from seal.runs.cast import Cast
from seal.runs.environment_stack import SimulatorSource, options_of_worlds
from seal.runs.settings import RunSettings
from seal.simulator_cache.answer_cache import keys_of_call


def opened_worlds(
    given: SimulatorSource, world_of: dict[str, str]
) -> dict[str, EnvironmentFactory]:
    """Return what opens each world that a task names; every task's must begin as it says."""
    settings, pool = given.settings, given.pool
    setup = WorldSetup(
        seed=settings.seed,
        options=options_of_worlds(settings, pool),
        taken={*team_options(settings.play.team), *benchmark_options(pool.benchmark)},
        folder=pool.folder,
        tools=given.tools,
        creator=_creator(settings, pool, given.cast),
        sandbox=settings.sandbox,
        unrecorded=settings.unrecorded,
        simulator=given.simulator,
        keys_of_call=keys_of_call,
        own=environments_beside(pool.benchmark),
        allow_code=settings.allow_code,
        servers=settings.servers,
        store=given.store,
        cache=settings.cache,
    )
    first = {world: task for task, world in reversed(world_of.items())}
    try:
        worlds = {
            world: build_worlds(world, setup, f"task {task!r}")
            for world, task in sorted(first.items())
        }
    except UnknownNameError as error:
        cure = "A pool folder holds no code: run the benchmark, such as: seal run my_module:bench"
        raise UnknownNameError(error.kind, error.name, error.known, cure=cure) from error
    for task in pool.tasks():
        world = worlds.get(world_of.get(task.id, ""))
        if isinstance(world, Worlds):
            world.check(task)
    return worlds


def _creator(settings: RunSettings, pool: StoredPool, cast: Cast) -> Callable[[Tool], str] | None:
    """Return what writes the functions of tools; None: none is written in this run."""
    code = part_of(pool.benchmark, "creator")
    if code is None:
        return None

    def ask(role: str, task: Task, messages: Sequence[Message]) -> str:
        return cast.ask(role, task, messages).content

    made: Callable[[Tool], str] | None = code(settings, pool.every_task, ask)
    return made
