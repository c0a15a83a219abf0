"""Where calls run: a simulator with its cache, recordings, or the world that a task names.

Gold answers come before a simulator's. Tasks with and without a world may stand in one pool. Around
that lie the originals of scrambled tools (`Unscrambled`), and gold results (`GoldResults`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

from seal.agents.teams import team_options
from seal.core.canonical import canonical_json
from seal.core.environment import Around, Environment, EnvironmentFactory
from seal.core.errors import UsageError
from seal.core.protocols import Lookup, Message, Simulator
from seal.core.store import Store, digest_of_entries
from seal.core.types import JSON, Task, Tool, ToolCall, ToolResult, Trajectory
from seal.models.gold_tools import gold_call, names_tools_alone
from seal.models.oracle import moves
from seal.pools.benchmark import part_of
from seal.pools.lookup import answer_formats
from seal.pools.originals import originals, renamed
from seal.pools.pool import StoredPool
from seal.runs.cast import Cast
from seal.runs.feedback import FeedbackSwitch
from seal.runs.run_model import find_recording
from seal.runs.settings import SIMULATOR, RunSettings
from seal.simulator_cache.answer_cache import Fallback, keys_of_call
from seal.simulator_cache.environments import RecordedEnvironments, SimulatedEnvironments
from seal.simulator_cache.recordings import GoldAnswers, RecordedAnswers
from seal.simulator_cache.simulators import OwnFunctions, SimulatorSetup, build_simulator


@dataclass(frozen=True, kw_only=True)
class SimulatorSource:
    """What simulators are built from."""

    settings: RunSettings
    tools: Mapping[str, Tool]
    """The pool by id."""
    pool: StoredPool
    """Gold answers, recordings, and the worlds of tasks."""
    store: Store
    """Where answers are kept."""
    cast: Cast
    """For the simulator's model."""

    def simulator(self) -> Simulator:
        """Return the simulator that a run asks, its answers kept, without the gold answers before.

        Raises:
            UnknownNameError: No such simulator.
            UsageError: It lacks what it needs: a model, recorded runs.
        """
        s, by_model = self.settings, "llm" in self._parts
        name = canonical_json(self.cast.of("simulator").identity).decode() if by_model else ""
        setup = SimulatorSetup(
            tools=self.tools,
            store=None if s.cache == "off" else self.store,
            mode=s.cache,
            seed=s.seed,
            model=self.cast.standing("simulator") if by_model else None,
            model_name=name,
            recorded=self._recorded,
            formats=answer_formats,
        )
        return build_simulator(s.simulator, setup)

    def environments(self) -> EnvironmentFactory:
        """Return what opens the environments of tasks that name no world."""
        if self.settings.simulator == "recorded" and self._recorded is not None:
            return RecordedEnvironments(self._recording(), self._recorded, self.tools)
        simulator = self.simulator()
        scrambled, tasks = originals(self.tools.values()), self.pool.tasks()
        gold = GoldAnswers(renamed(task, scrambled) if scrambled else task for task in tasks)
        if gold:
            simulator = Fallback(gold, simulator)
        functions = {} if self.pool.benchmark is None else self.pool.benchmark.functions
        if functions:
            simulator = OwnFunctions(functions, simulator)
        return SimulatedEnvironments(simulator, self.tools)

    @property
    def _parts(self) -> set[str]:
        """The names that `recorded+llm` joins; none of an object."""
        named = self.settings.simulator
        return set(named.split("+")) if isinstance(named, str) else set()

    @cached_property
    def _recorded(self) -> RecordedAnswers | None:
        recordings = self.pool.recordings()
        if not recordings or not self._parts & {"recorded", "llm"}:
            return None
        return RecordedAnswers(chain.from_iterable(map(self.pool.recorded, recordings)), self.tools)

    def _recording(self) -> Lookup:
        """Return the recording that the model plays; of other models, each task's first."""
        model = self.settings.model
        if isinstance(model, str) and model.startswith("recorded:"):
            return find_recording(model, self.pool)
        recordings = self.pool.recordings()
        lookups = [find_recording(f"recorded:{name}", self.pool) for name in recordings]

        def first(task_id: str, trial: int) -> Trajectory | None:
            found = (lookup(task_id, trial) for lookup in lookups)
            return next((trajectory for trajectory in found if trajectory is not None), None)

        return first


class EnvironmentSource:
    """Opens one environment for each chat. Safe in threads.

    Args:
        given: The pool with the settings that it is played under.

    Raises:
        UnknownNameError: A task names a world that there is not.
        CodeRefusedError: A task names code that the settings do not allow.
        UsageError: Options are given that no world takes, or values that they cannot have; or
            feedback is switched for a recording.
        DataError: A task's world cannot begin as the task says.
    """

    def __init__(self, given: SimulatorSource) -> None:
        settings, pool = given.settings, given.pool
        self._store = given.store
        self._tools = given.tools
        self._gold_results = settings.gold_results
        self._originals = originals(given.tools.values())
        known = {**given.tools, **{tool.id: tool for tool in self._originals.values()}}
        given = replace(given, tools=known)
        self._environments = given.environments()
        recorded = isinstance(self._environments, RecordedEnvironments)
        self._world_of = worlds_of(settings, pool.tasks())
        _check(settings, recorded, set(self._world_of.values()))
        written = "native" if recorded else settings.play.format
        self._feedback = FeedbackSwitch(settings.feedback, known, written)
        self._worlds = _worlds(given, self._world_of) if self._world_of else {}

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


def worlds_of(settings: RunSettings, tasks: Iterable[Task]) -> dict[str, str]:
    """Return the world in which each task is played, by its id; of those in none nothing."""
    named = settings.environment
    worlds = ((task.id, task.world if named is None else named) for task in tasks)
    return {task_id: world for task_id, world in worlds if world not in ("", SIMULATOR)}


def _check(settings: RunSettings, recorded: bool, worlds: Set[str]) -> None:
    """Raise UsageError where an option finds nothing in the pool that it could shape."""
    if settings.feedback != "auto" and recorded:
        raise UsageError(
            f"--feedback {settings.feedback}: a recording answers as it was answered then; "
            "leave the option out, or play with another --simulator"
        )
    if settings.servers and "mcp" not in worlds:
        raise UsageError(
            "MCP servers are given, and no task is played in the world mcp; add --environment mcp, "
            "or leave them out"
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


def _worlds(given: SimulatorSource, world_of: dict[str, str]) -> dict[str, EnvironmentFactory]:
    """Return what opens each world that a task names; every task's must begin as it says."""
    from seal.environments.world import Worlds, WorldSetup, build_worlds

    settings, pool = given.settings, given.pool
    setup = WorldSetup(
        seed=settings.seed,
        options=settings.world_options,
        taken=team_options(settings.play.team),
        web=pool.web,
        tools=given.tools,
        mobile=pool.mobile,
        creator=_creator(settings, pool, given.cast),
        sandbox=settings.sandbox,
        simulator=given.simulator,
        keys_of_call=keys_of_call,
        own={} if pool.benchmark is None else pool.benchmark.worlds(),
        allow_code=settings.allow_code,
        servers=settings.servers,
        store=given.store,
        cache=settings.cache,
    )
    first = {world: task for task, world in reversed(world_of.items())}
    worlds = {
        world: build_worlds(world, setup, f"task {task!r}") for world, task in sorted(first.items())
    }
    for task in pool.tasks():
        world = worlds.get(world_of.get(task.id, ""))
        if isinstance(world, Worlds):
            world.check(task)
    return worlds


def _creator(settings: RunSettings, pool: StoredPool, cast: Cast) -> Callable[[Tool], str] | None:
    """Return what writes the functions of tools; None: what was recorded answers."""
    if settings.mobile_tools != "created":
        return None

    def ask(role: str, task: Task, messages: Sequence[Message]) -> str:
        return cast.ask(role, task, messages).content

    made: Callable[[Tool], str] = part_of(pool.benchmark, "creator")(pool.every_task, ask)
    return made


class Unscrambled(Around):
    """An environment in which a call of a scrambled tool runs the original.

    Arguments are checked by the original's rules, simulated answers are the original's, and what
    was executed bears its id: what a tool does is not changed by how it is presented.

    Args:
        environment: Knows the originals.
        originals: Id of a scrambled tool to its original (`seal.pools.originals.originals`).
    """

    def __init__(self, environment: Environment, originals: Mapping[str, Tool]) -> None:
        super().__init__(environment)
        self._originals = originals

    def call(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """Return the results of all calls of one reply, in execution order."""
        return self.inner.call([self._meant(call) for call in calls])

    def _meant(self, call: ToolCall) -> ToolCall:
        original = self._originals.get(call.tool or "")
        return call if original is None else replace(call, tool=original.id)


class GoldResults(Around):
    """An environment of one chat, in which wrong arguments of gold tools do no harm.

    Args:
        environment: Runs the calls.
        task: With its gold.
        tools: The pool by id.
    """

    def __init__(self, environment: Environment, task: Task, tools: Mapping[str, Tool]) -> None:
        super().__init__(environment)
        self._left = [called for goal in task.goals for m in moves(goal) for called in m.calls]
        self._goals = [goal for goal in task.goals if names_tools_alone(goal)]
        self._tools = tools

    def call(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """Return the results of all calls of one reply, in execution order."""
        return self.inner.call([self._meant(call) for call in calls])

    def _meant(self, call: ToolCall) -> ToolCall:
        mine = [gold for gold in self._left if gold.tool == call.tool]
        if mine:
            gold = next((each for each in mine if each.accepts(call.arguments)), mine[0])
            self._left.remove(gold)
            if gold.accepts(call.arguments):
                return call
            return replace(call, arguments=gold.canonical_arguments(), raw="")
        for goal in self._goals:
            if call.tool in goal.relevant:
                filled = gold_call(self._tools[str(call.tool)], goal)
                return replace(call, arguments=filled.arguments, raw="")
        return call
