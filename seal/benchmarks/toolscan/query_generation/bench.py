"""Makes gold calls as a run would: in a task's world, else by recorded or simulated answers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from seal.benchmarks.toolscan.query_generation.candidates import GoldCall
from seal.core.conditions import Called
from seal.core.environment import EnvironmentFactory
from seal.core.errors import CodeRefusedError, SealError
from seal.core.protocols import Simulator
from seal.core.types import JSON, Task, Tool, ToolCall
from seal.environments.replay import NAME as REPLAY
from seal.environments.world import WorldSetup, build_worlds
from seal.pools.pool import StoredPool
from seal.simulator_cache.cached import Fallback
from seal.simulator_cache.environments import SimulatedEnvironments
from seal.simulator_cache.gold import GoldAnswers
from seal.simulator_cache.template import Template


class CallFailedError(Exception):
    """A gold call brought an error."""


class Bench:
    """Opens the place where a task's calls are made, and makes them.

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
        self._web: Path | None = pool.web
        self._allow_code = allow_code
        self._simulator: Simulator = Fallback(GoldAnswers(tasks), Template())
        self._simulated = SimulatedEnvironments(self._simulator, tools)
        self._tools = tools
        self._worlds: dict[str, EnvironmentFactory] = {}

    def results(self, task: Task, calls: Sequence[GoldCall]) -> list[JSON]:
        """Return what each call brings, made one after the other in a place opened for them.

        Raises:
            CallFailedError: A call brings an error.
            CodeRefusedError: The task's world is code that is not allowed.
        """
        made = [
            ToolCall(f"call_{place}", self._tools[call.tool].name, call.arguments, tool=call.tool)
            for place, call in enumerate(calls)
        ]
        values = []
        try:
            environment = self._places(task).open(task, 0, ())
            for call in made:
                (result,) = environment.call([call])
                if result.error is not None:
                    raise CallFailedError(str(result.error.get("message", result.content)))
                values.append(result.value)
        except CodeRefusedError:
            raise
        except SealError as error:
            raise CallFailedError(str(error)) from error
        return values

    def _places(self, task: Task) -> EnvironmentFactory:
        name = world_of(task)
        if not name:
            return self._simulated
        if name not in self._worlds:
            setup = WorldSetup(
                web=self._web, simulator=lambda: self._simulator, allow_code=self._allow_code
            )
            self._worlds[name] = build_worlds(name, setup, f"task {task.id!r}")
        return self._worlds[name]


def world_of(task: Task) -> str:
    """Return the world in which new calls can be made; a replay has no answer to such."""
    return "" if task.world == REPLAY else task.world


def is_empty(result: JSON) -> bool:
    """Tell whether a result says nothing: no value at all, or lists without any element."""
    lists = list(_lists(result))
    if lists:
        return not any(lists)
    return result is None or (isinstance(result, (str, dict)) and not result)


def _lists(value: Any) -> list[list[JSON]]:
    if isinstance(value, list):
        return [value, *(inner for item in value for inner in _lists(item))]
    if isinstance(value, dict):
        return [inner for item in value.values() for inner in _lists(item)]
    return []


def gold_calls(plan: Sequence[Called]) -> list[GoldCall]:
    """Return a plan's calls as the oracle makes them."""
    return [GoldCall(call.tool, call.canonical_arguments()) for call in plan]
