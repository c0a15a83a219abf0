"""The environment stack of a chat: world, recording or simulator."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

from seal.core import JSON, Lookup, Simulator, Task, Tool, Trajectory, UsageError
from seal.core.call_formats import in_text
from seal.core.environment import Environment, EnvironmentFactory, Validated
from seal.core.store import Store, digest_of_entries
from seal.core.text import filled
from seal.core.values import canonical_json
from seal.pools.benchmark import benchmark_options
from seal.pools.lookup import answer_formats
from seal.pools.pool import Outline, StoredPool, originals
from seal.runs.role_models import Cast, find_recording
from seal.runs.settings import SIMULATOR, RunSettings
from seal.simulator_cache.answer_cache import Fallback
from seal.simulator_cache.simulators import (
    GoldAnswers,
    RecordedCall,
    SimulatedEnvironments,
    SimulatorSetup,
    build_simulator,
    recorded_calls,
)

if TYPE_CHECKING:
    from seal.runs.call_handling import FeedbackSwitch
    from seal.simulator_cache.recorded import RecordedAnswers


# -- Where calls run: a simulator with its cache, recordings, or the world that a task names.
#
# Gold answers come before a simulator's. Tasks with and without a world may stand in one pool.
# Around that lie the originals of scrambled tools (`Unscrambled`), and gold results
# (`GoldResults`). What few runs need is imported for those alone.


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
    examples: bool = True
    """Whether that model is shown recorded answers."""

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
            prompt=filled(s.prompt_texts.get("simulator", ""), {}),
            recorded=self._recorded,
            formats=answer_formats,
        )
        return build_simulator(s.simulator, setup)

    def environments(self) -> EnvironmentFactory:
        """Return what opens the environments of tasks that name no world."""
        if self.settings.simulator == "recorded" and self._recorded is not None:
            from seal.simulator_cache.recorded import RecordedEnvironments

            return RecordedEnvironments(self._recording(), self._recorded, self.tools)
        simulator = self.simulator()
        gold = GoldAnswers(self._gold())
        if gold:
            simulator = Fallback(gold, simulator)
        functions = {} if self.pool.benchmark is None else self.pool.benchmark.functions
        if functions:
            from seal.runs.call_handling import OwnFunctions

            simulator = OwnFunctions(functions, simulator)
        return SimulatedEnvironments(simulator, self.tools)

    def _gold(self) -> Iterator[RecordedCall]:
        """Yield the gold calls that answer, of the tools as they are called."""
        if scrambled := originals(self.tools.values()):
            for task in self.pool.tasks():
                from seal.pools.augmentation import renamed

                yield from recorded_calls(renamed(task, scrambled))
        else:
            yield from chain.from_iterable(task.recorded for task in self.pool.outlines())

    @property
    def _parts(self) -> set[str]:
        """The names that `recorded+llm` joins; none of an object."""
        named = self.settings.simulator
        return set(named.split("+")) if isinstance(named, str) else set()

    @cached_property
    def _recorded(self) -> RecordedAnswers | None:
        recordings = self.pool.recordings()
        takers = {"recorded", "llm"} if self.examples else {"recorded"}
        if not recordings or not self._parts & takers:
            return None

        from seal.simulator_cache.recorded import RecordedAnswers

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
        recorded = not isinstance(self._environments, SimulatedEnvironments)
        self._world_of = worlds_of(settings, pool.outlines())
        _check(settings, recorded, set(self._world_of.values()), options_of_worlds(settings, pool))
        format = settings.play.format
        written = format if in_text(format) and not recorded else "native"
        self._feedback: FeedbackSwitch | None = None
        if (settings.feedback, written) != ("auto", "native"):
            from seal.runs.call_handling import FeedbackSwitch

            self._feedback = FeedbackSwitch(settings.feedback, known, written)
        self._unrecorded = settings.unrecorded
        self._stand_ins: EnvironmentFactory | None = None
        if self._unrecorded == "simulate":
            # Under replay too the simulator may answer what nobody has asked it before.
            asks = replace(settings, cache="record") if settings.cache == "replay" else settings
            self._stand_ins = replace(given, settings=asks).environments()
        self._worlds: dict[str, EnvironmentFactory] = {}
        if self._world_of:
            from seal.runs.call_handling import opened_worlds

            self._worlds = opened_worlds(given, self._world_of)

    def open(self, task: Task, trial: int, offered: Sequence[str]) -> Environment:
        """Return the environment of one chat: the whole stack, from the innermost layer.

        Args:
            task: What is played.
            trial: Which time.
            offered: Names of the offered tools; they may grow while the chat goes on.
        """
        gold = task
        if self._originals:  # what answers calls knows the originals alone
            from seal.pools.augmentation import renamed

            task = renamed(task, self._originals)
        environment = self._place(task.id).open(task, trial, offered)
        rules = environment if type(environment) is Validated else None
        if rules is not None:  # they come back above what stands in for a recording
            environment = rules.inner
        if self._unrecorded != "error":
            others = self._stand_ins
            simulated = None if others is None else others.open(task, trial, offered)
            from seal.runs.call_handling import StandIns

            environment = StandIns(environment, simulated)
        if rules is not None:
            environment = Validated(environment, rules.validator, rules.names)
        if self._feedback is not None:
            environment = self._feedback.around(environment, offered)
        if self._originals:
            from seal.runs.call_handling import Unscrambled

            environment = Unscrambled(environment, self._originals)
        if self._gold_results:
            from seal.runs.call_handling import GoldResults

            environment = GoldResults(environment, gold, self._tools)
        return environment

    def gold_ends(self, task: Task, chat: Trajectory, carried: bool) -> dict[str, JSON]:
        """Return how the world of a chat ends after the gold calls, and which rules were broken.

        (`call_handling.gold_ends_of`, `seal.environments.policy`.)

        Raises:
            InfrastructureError: What a tool asks outside of the world failed.
        """
        from seal.runs.call_handling import gold_ends_of

        def opened(trial: int) -> Environment:
            return self.open(task, trial, ())

        told = gold_ends_of(task, chat, opened, self._tools, carried)
        policy = getattr(self._place(task.id), "policy", ())
        if policy and not chat.failed:
            from seal.environments.policy import told_breaches

            told |= told_breaches(policy, task, chat)
        return told

    def identity(self) -> dict[str, JSON]:
        """Return what shapes the answers."""
        named = self._environments.identity()
        if self._gold_results:
            named["gold_results"] = True
        if self._unrecorded != "error":
            named["unrecorded"] = self._unrecorded
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


def worlds_of(settings: RunSettings, tasks: Iterable[Task | Outline]) -> dict[str, str]:
    """Return the world in which each task is played, by its id; of those in none nothing."""
    named = settings.environment
    worlds = ((task.id, task.world if named is None else named) for task in tasks)
    return {task_id: world for task_id, world in worlds if world not in ("", SIMULATOR)}


def options_of_worlds(settings: RunSettings, pool: StoredPool) -> dict[str, Any]:
    """Return the options that worlds are asked for: those that the benchmark does not take."""
    taken = benchmark_options(pool.benchmark)
    return {name: value for name, value in settings.world_options.items() if name not in taken}


def _check(
    settings: RunSettings, recorded: bool, worlds: Set[str], options: Mapping[str, Any]
) -> None:
    """Raise UsageError where an option finds nothing in the pool that it could shape."""
    if settings.feedback != "auto" and recorded:
        raise UsageError(
            f"--feedback {settings.feedback}: a recording answers as it was answered then; "
            "leave the option out, or play with another --simulator"
        )
    if settings.unrecorded == "simulate" and recorded:
        raise UsageError(
            "--unrecorded simulate: --simulator recorded has no simulator beside it; give "
            "--simulator recorded+template or recorded+llm, and leave the option out"
        )
    if settings.servers and "mcp" not in worlds:
        raise UsageError(
            "MCP servers are given, and no task is played in the world mcp; add --environment mcp, "
            "or leave them out"
        )
    if options and not worlds:
        raise UsageError(
            f"-T {next(iter(options))}: no task of this pool is played in a "
            "world; leave the option out"
        )
