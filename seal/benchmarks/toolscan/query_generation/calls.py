"""Gold calls made as a run makes them, and whether their results say anything."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import Any

from seal.benchmarks.toolscan.query_generation.candidates import GoldCall
from seal.core import JSON, SealError, Simulator, Task, Tool, ToolCall
from seal.core.conditions import Called
from seal.core.environment import EnvironmentFactory
from seal.environments.replay import NAME as REPLAY
from seal.environments.world import WorldSetup, build_worlds
from seal.pools.lookup import environments_beside
from seal.pools.pool import StoredPool
from seal.simulator_cache.answer_cache import Fallback
from seal.simulator_cache.gold_answers import GoldAnswers, recorded_calls
from seal.simulator_cache.simulator_environments import SimulatedEnvironments
from seal.simulator_cache.template import Template


class CallFailedError(Exception):
    """A gold call brought an error."""


class Bench:
    """Makes calls in a task's world, else by recorded or simulated answers.

    Args:
        pool: Its gold answers come before simulated ones.
        tools: The pool's, by id.
        tasks: Those whose gold answers count.
        allow_code: Modules into which tasks may name their worlds by a dotted path.
    """

    def __init__(
        self,
        pool: StoredPool,
        tools: Mapping[str, Tool],
        tasks: Sequence[Task],
        allow_code: Collection[str] = (),
    ) -> None:
        simulator: Simulator = Fallback(
            GoldAnswers(chain.from_iterable(map(recorded_calls, tasks))), Template()
        )
        self._setup = WorldSetup(
            folder=pool.folder,
            simulator=lambda: simulator,
            own=environments_beside(pool.benchmark),
            allow_code=tuple(allow_code),
        )
        self._tools = tools
        self._worlds: dict[str, EnvironmentFactory] = {"": SimulatedEnvironments(simulator, tools)}

    def results(self, task: Task, calls: Sequence[GoldCall]) -> list[JSON]:
        """Return what each call brings, made one after the other in a place opened for them.

        Raises:
            CallFailedError: A call brings an error.
            UsageError: The task's world is code that is not allowed, or does not load.
        """
        worlds = self._places(task)
        values = []
        try:
            environment = worlds.open(task, 0, ())
            for place, (tool, arguments) in enumerate(calls):
                call = ToolCall(f"call_{place}", self._tools[tool].name, arguments, tool=tool)
                (result,) = environment.call([call])
                if result.error is not None:
                    raise CallFailedError(str(result.error.get("message", result.content)))
                values.append(result.value)
        except SealError as error:
            raise CallFailedError(str(error)) from error
        return values

    def _places(self, task: Task) -> EnvironmentFactory:
        name = world_of(task)
        if name not in self._worlds:
            self._worlds[name] = build_worlds(name, self._setup, f"task {task.id!r}")
        return self._worlds[name]


def world_of(task: Task) -> str:
    """Return the world in which new calls can be made; a replay has no answer to such."""
    return "" if task.world == REPLAY else task.world


def gold_calls(plan: Sequence[Called]) -> list[GoldCall]:
    """Return a plan's calls as the oracle makes them."""
    return [GoldCall(call.tool, call.canonical_arguments()) for call in plan]


def is_empty(result: JSON) -> bool:
    """Tell whether a result says nothing: no value at all, or lists without any element."""
    lists = list(_lists(result))
    if lists:
        return not any(lists)
    return result is None or (isinstance(result, (str, dict)) and not result)


def _lists(value: Any) -> list[list[JSON]]:
    if isinstance(value, dict):
        return [inner for item in value.values() for inner in _lists(item)]
    if not isinstance(value, list):
        return []
    return [value, *(inner for item in value for inner in _lists(item))]
