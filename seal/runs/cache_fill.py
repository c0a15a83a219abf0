"""The store of answers filled before a run: by calls simulated ahead, or from files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

from seal.core import (
    JSON,
    CacheMissError,
    DataError,
    Simulator,
    SimulatorError,
    Task,
    Tool,
    ToolCall,
    Trajectory,
    UsageError,
)
from seal.core.earlier_results import recorded_gold, waits
from seal.core.store import Store, open_store
from seal.core.validation import CallValidator
from seal.core.values import canonical_json
from seal.pools.benchmark import loaded
from seal.pools.lookup import answer_formats, open_pool
from seal.runs.environments import SimulatorSource
from seal.runs.identity import versions
from seal.runs.role_models import Cast
from seal.runs.run import RunFolder
from seal.runs.settings import RunSettings
from seal.simulator_cache.answer_cache import keys_of_call
from seal.simulator_cache.exchange import StoreImport, import_entries


def fill_cache(settings: RunSettings, calls: str | Path = "gold") -> FillReport:
    """Have each call of a pool's gold, or of a run, answered once.

    Args:
        settings: As of the run that is to come: pool, simulator and its model, seed, limit, select,
            and where the work is done: in threads here, but for `processes` on a Ray
            cluster.
        calls: `gold`, or the folder of a run over the same tools.

    Raises:
        UsageError: The simulator lacks what it needs, or the cluster cannot be used.
        DataError: `calls` is no run, or the pool is damaged.
        InfrastructureError: The simulator's model failed; what is stored stays.
    """
    with closing(Answerer(settings)) as answerer:
        if calls == "gold":
            planned = gold_calls(answerer.pool.chosen(settings))
        else:
            planned = made_calls(RunFolder.open(Path(calls)).trajectories())
        if not settings.on_ray:
            return fill(partial(map, answerer), answerer.tools, planned)
        from seal.runs.cluster import Cluster, settings_there

        there: Cluster[PlannedCall, Answered] = Cluster(
            partial(Answerer, settings_there(settings)),
            answerer.identity,
            processes=settings.process_count or None,
            threads=settings.workers,
            ahead=True,
        )
        return fill(there.results, answerer.tools, planned)


class Answerer:
    """Has calls answered by the simulator of a run. Safe in threads.

    Args:
        settings: Of the run.
    """

    def __init__(self, settings: RunSettings) -> None:
        self.pool = open_pool(settings.pool)
        self.tools = {tool.id: tool for tool in self.pool.tools()}
        self._store = open_store(settings.cache_dir, writes=True)
        cast = Cast(settings, self._store, self.pool)
        self._simulator = SimulatorSource(
            settings=settings, tools=self.tools, pool=self.pool, store=self._store, cast=cast
        ).simulator()
        self.identity = {
            "measure": {"pool": self.pool.digest, "simulator": self._simulator.identity},
            "system": {"versions": versions(), "cache": self._store.location},
        }

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    def __call__(self, call: PlannedCall) -> Answered:
        """Return what came of a call."""
        return answered(self._simulator, self.tools[call.tool], call.arguments)


def import_answers(
    store: Store, source: Path, format: str = "seal", tools: Mapping[str, Tool] | None = None
) -> StoreImport:
    """Read answers into a store; what is stored already stays as it is.

    Args:
        store: Takes the entries.
        source: A file or folder in one of the formats.
        format: `seal`: JSON Lines as `seal cache export` writes them; or one of those that
            benchmarks read (`Benchmark.answers`).
        tools: The pool by id; the formats of benchmarks need it to find the tools they speak of.

    Raises:
        DataError: The source does not exist, or holds nothing of the format.
        UsageError: There is no such format, or the pool is missing.
    """
    if format == "seal":
        return import_entries(store, source)
    formats = answer_formats()
    if format not in formats:
        known = ", ".join(["seal", *sorted(formats)])
        raise UsageError(f"cache format {format!r}; known: {known}")
    if not source.exists():
        raise DataError(f"no file or folder {source}")
    if not tools:
        raise UsageError(
            f"format {format} names APIs as upstream: give the pool that has them, --pool DIR"
        )
    report: StoreImport = loaded(formats[format])(store, source, tools)
    return report


class PlannedCall(NamedTuple):
    """A call to simulate."""

    tool: str
    """Tool id."""
    arguments: dict[str, JSON]


@dataclass(slots=True)
class FillReport:
    """What came of the calls."""

    calls: int = 0
    """Different calls."""
    stored: int = 0
    """Answers that were not stored before."""
    known: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    """Reason to number of calls without an answer."""
    messages: list[str] = field(default_factory=list)
    """Of the first failures."""

    def fail(self, tool: str, reason: str, message: str) -> None:
        """Count a call without an answer."""
        self.failed[reason] += 1
        if len(self.messages) < 20:
            self.messages.append(f"{tool}: {message}")


def gold_calls(tasks: Iterable[Task]) -> Iterator[PlannedCall]:
    """Yield the gold calls of all plans; those whose arguments are open are passed over.

    So are those that take a result which is not recorded.
    """
    for task in tasks:
        for goal in task.goals:
            for plan in goal.plans or ():
                for called, _ in recorded_gold(plan.milestones).values():
                    if called.arguments is not None and not waits(called):
                        yield PlannedCall(called.tool, called.canonical_arguments())


def made_calls(trajectories: Iterable[Trajectory]) -> Iterator[PlannedCall]:
    """Yield the calls that recorded runs made, as far as their tools and arguments are known."""
    for trajectory in trajectories:
        for step, _ in trajectory.calls():
            call = step.call
            if call is not None and call.tool is not None and call.arguments is not None:
                yield PlannedCall(call.tool, call.arguments)


class Answered(NamedTuple):
    """What came of a call."""

    tool: str
    is_known: bool = False
    """Whether an answer was stored before."""
    reason: str = ""
    """Why there is no answer; empty: there is one."""
    message: str = ""


def fill(
    answers: Callable[[Iterator[PlannedCall]], Iterator[Answered]],
    tools: Mapping[str, Tool],
    calls: Iterable[PlannedCall],
) -> FillReport:
    """Have each different call answered once.

    Args:
        answers: Has calls answered, such as `partial(map, answerer)`; in any order.
        tools: Tools by id.
        calls: `gold_calls(tasks)` or `made_calls(trajectories)`.

    Raises:
        ModelError: The simulator's model failed; what is stored stays.
    """
    report = FillReport()
    for answer in answers(_different(tools, calls, report)):
        report.calls += 1
        if answer.reason:
            report.fail(answer.tool, answer.reason, answer.message)
        elif answer.is_known:
            report.known += 1
        else:
            report.stored += 1
    return report


def _different(
    tools: Mapping[str, Tool], calls: Iterable[PlannedCall], report: FillReport
) -> Iterator[PlannedCall]:
    """Yield each call that can be made once, with its defaults; the report counts the others."""
    validator = CallValidator(tools)
    seen: set[bytes] = set()
    for planned in calls:
        call = ToolCall("call_0", planned.tool, planned.arguments, tool=planned.tool)
        wrong = validator.check(call)
        if wrong is not None:
            report.fail(planned.tool, wrong.kind, wrong.message)
            continue
        whole = PlannedCall(planned.tool, validator.with_defaults(call))
        key = canonical_json([*whole])
        if key not in seen:
            seen.add(key)
            yield whole


def answered(simulator: Simulator, tool: Tool, arguments: dict[str, JSON]) -> Answered:
    """Have a call answered by a simulator whose answers are kept, unless it was before.

    Raises:
        ModelError: The simulator's model failed.
    """
    if keys_of_call(simulator, tool, arguments):
        return Answered(tool.id, is_known=True)
    try:
        response = simulator.respond(tool, arguments)
    except (SimulatorError, CacheMissError) as error:
        return Answered(tool.id, reason=type(error).__name__, message=str(error))
    failed = not response.cacheable
    return Answered(tool.id, False, response.kind if failed else "", response.error)
