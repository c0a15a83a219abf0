"""Where calls run: a simulator with its cache, recordings, or the world that a task names.

Gold answers come before a simulator's. Tasks with and without a world may stand in one pool.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from itertools import chain

from seal.agents.teams import team_options
from seal.core.canonical import canonical_json
from seal.core.errors import UsageError
from seal.core.feedback import FeedbackSwitch
from seal.core.protocols import Environment, EnvironmentFactory, Lookup, Message, Simulator
from seal.core.store import Store, digest_of_entries
from seal.core.types import JSON, Task, Tool, Trajectory
from seal.environments.world import Worlds, WorldSetup, build_worlds
from seal.pools.augment import originals, renamed
from seal.pools.benchmark import part_of
from seal.pools.pool import StoredPool
from seal.runs.cast import Cast, find_recording
from seal.runs.gold_results import GoldResults
from seal.runs.original_tools import Unscrambled
from seal.runs.settings import RunSettings
from seal.simulator_cache.cached import Fallback, keys_of_call
from seal.simulator_cache.environments import RecordedEnvironments, SimulatedEnvironments
from seal.simulator_cache.gold import GoldAnswers
from seal.simulator_cache.own_functions import OwnFunctions
from seal.simulator_cache.recorded import RecordedAnswers
from seal.simulator_cache.simulators import SimulatorSetup, build_simulator


class EnvironmentSource:
    """Opens one environment for each chat. Safe in threads.

    Args:
        settings: Which simulator, and options of worlds.
        tools: The pool by id.
        pool: Gold answers, recordings, and the worlds of tasks.
        store: Where answers are kept.
        cast: For the simulator's model.

    Raises:
        UnknownNameError: A task names a world that there is not.
        CodeRefusedError: A task names code that the settings do not allow.
        UsageError: Options are given that no world takes, or values that they cannot have; or
            feedback is switched for a recording.
        DataError: A task's world cannot begin as the task says.
    """

    def __init__(
        self,
        settings: RunSettings,
        tools: Mapping[str, Tool],
        pool: StoredPool,
        store: Store,
        cast: Cast,
    ) -> None:
        self._store = store
        self._tools = tools
        self._gold_results = settings.gold_results
        self._originals = originals(tools.values())
        known = {**tools, **{tool.id: tool for tool in self._originals.values()}}
        self._environments = _build(settings, known, pool, store, cast)
        recorded = isinstance(self._environments, RecordedEnvironments)
        self._world_of = {task.id: task.world for task in pool.tasks() if task.world}
        _check(settings, recorded, set(self._world_of.values()))
        written = "native" if recorded else settings.play.format
        self._feedback = FeedbackSwitch(settings.feedback, known, written)
        setup = WorldSetup(
            seed=settings.seed,
            options=settings.world_options,
            taken=team_options(settings.play.team),
            web=pool.web,
            tools=known,
            mobile=pool.mobile,
            creator=_creator(settings, pool, cast),
            sandbox=settings.sandbox,
            simulator=lambda: simulator_of(settings, known, pool, store, cast),
            keys_of_call=keys_of_call,
            own={} if pool.benchmark is None else pool.benchmark.worlds(),
            allow_code=settings.allow_code,
        )
        first = {world: task for task, world in reversed(self._world_of.items())}
        self._worlds = {
            world: build_worlds(world, setup, f"task {first[world]!r}") for world in sorted(first)
        }
        for task in pool.tasks():
            world = self._worlds.get(task.world)
            if isinstance(world, Worlds):
                world.check(task)

    def open(self, task: Task, trial: int, offered: Sequence[str]) -> Environment:
        """Return the environment of one chat; `offered` may grow while the chat goes on."""
        opened = self._place(task.id).open(task, trial, offered)
        environment = self._feedback.around(opened, offered)
        if self._originals:
            environment = Unscrambled(environment, self._originals)
        return GoldResults(environment, task, self._tools) if self._gold_results else environment

    def identity(self) -> dict[str, JSON]:
        """Return what shapes the answers."""
        named = self._environments.identity()
        if self._gold_results:
            named["gold_results"] = True
        if self._worlds:
            named["worlds"] = {name: world.identity() for name, world in self._worlds.items()}
        return named

    def used_entries(self, trajectories: Iterable[Trajectory]) -> dict[str, JSON]:
        """Return the number and the digest of the stored answers that chats were given."""
        keys = set(chain.from_iterable(self._place(t.task_id).keys_of(t) for t in trajectories))
        held = {key for key in keys if self._store.get(key) is not None}
        return {"entries": len(held), "digest": digest_of_entries(self._store, held)}

    def _place(self, task_id: str) -> EnvironmentFactory:
        """Return what opens the environment of a task."""
        world = self._world_of.get(task_id)
        return self._environments if world is None else self._worlds[world]


def _check(settings: RunSettings, recorded: bool, worlds: Set[str]) -> None:
    """Raise UsageError where an option finds nothing in the pool that it could shape."""
    if settings.feedback != "auto" and recorded:
        raise UsageError(
            f"--feedback {settings.feedback}: a recording answers as it was answered then; "
            "leave the option out, or play with another --simulator"
        )
    if settings.world_options and not worlds:
        raise UsageError(
            f"-T {next(iter(settings.world_options))}: no task of this pool is played in a "
            "world; leave the option out"
        )
    if settings.mobile_tools == "created" and not worlds:
        raise UsageError(
            "--tools created: no task of this pool is played in a world, whose tools can be "
            "created; leave the option out"
        )


def _creator(settings: RunSettings, pool: StoredPool, cast: Cast) -> Callable[[Tool], str] | None:
    """Return what writes the functions of tools; None: what was recorded answers."""
    if settings.mobile_tools != "created":
        return None

    def ask(role: str, task: Task, messages: Sequence[Message]) -> str:
        return cast.ask(role, task, messages).content

    made: Callable[[Tool], str] = part_of(pool.benchmark, "creator")(pool.every_task, ask)
    return made


def _build(
    settings: RunSettings,
    tools: Mapping[str, Tool],
    pool: StoredPool,
    store: Store,
    cast: Cast,
) -> EnvironmentFactory:
    answers = _recorded_answers(settings, tools, pool)
    if settings.simulator == "recorded" and answers is not None:
        return RecordedEnvironments(_recording(settings, pool), answers, tools)
    simulator = _simulator(settings, tools, answers, store, cast)
    scrambled = originals(tools.values())
    gold = GoldAnswers(renamed(task, scrambled) if scrambled else task for task in pool.tasks())
    if gold:
        simulator = Fallback(gold, simulator)
    functions = {} if pool.benchmark is None else pool.benchmark.functions
    return SimulatedEnvironments(
        OwnFunctions(functions, simulator) if functions else simulator, tools
    )


def simulator_of(
    settings: RunSettings,
    tools: Mapping[str, Tool],
    pool: StoredPool,
    store: Store,
    cast: Cast,
) -> Simulator:
    """Return the simulator that a run asks, its answers kept, without the gold answers before it.

    Raises:
        UnknownNameError: No such simulator.
        UsageError: It lacks what it needs: a model, recorded runs.
    """
    return _simulator(settings, tools, _recorded_answers(settings, tools, pool), store, cast)


def _recorded_answers(
    settings: RunSettings, tools: Mapping[str, Tool], pool: StoredPool
) -> RecordedAnswers | None:
    if not pool.recordings() or not _parts(settings) & {"recorded", "llm"}:
        return None
    played = chain.from_iterable(pool.recorded(name) for name in pool.recordings())
    return RecordedAnswers(played, tools)


def _parts(settings: RunSettings) -> set[str]:
    """Return the names that `recorded+llm` joins; none of an object."""
    return set(settings.simulator.split("+")) if isinstance(settings.simulator, str) else set()


def _simulator(
    settings: RunSettings,
    tools: Mapping[str, Tool],
    answers: RecordedAnswers | None,
    store: Store,
    cast: Cast,
) -> Simulator:
    by_model = "llm" in _parts(settings)
    setup = SimulatorSetup(
        tools=tools,
        store=None if settings.cache == "off" else store,
        mode=settings.cache,
        seed=settings.seed,
        model=cast.standing("simulator") if by_model else None,
        model_name=canonical_json(cast.identity("simulator")).decode() if by_model else "",
        recorded=answers,
    )
    return build_simulator(settings.simulator, setup)


def _recording(settings: RunSettings, pool: StoredPool) -> Lookup:
    """Return the recording that the model plays; of other models, each task's first."""
    model = settings.model
    if isinstance(model, str) and model.startswith("recorded:"):
        return find_recording(model, pool)
    lookups = [find_recording(f"recorded:{name}", pool) for name in pool.recordings()]

    def first(task_id: str, trial: int) -> Trajectory | None:
        found = (lookup(task_id, trial) for lookup in lookups)
        return next((trajectory for trajectory in found if trajectory is not None), None)

    return first
