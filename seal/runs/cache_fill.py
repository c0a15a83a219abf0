"""The store of answers filled before a run: by calls simulated ahead, or from files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
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
from seal.core.canonical import canonical_json
from seal.core.store import Store, open_store
from seal.core.validation import CallValidator
from seal.pools.benchmark import loaded
from seal.pools.lookup import answer_formats, open_pool
from seal.runs.cast import Cast
from seal.runs.environment_stack import SimulatorSource
from seal.runs.run_folder import RunFolder
from seal.runs.settings import RunSettings
from seal.simulator_cache.answer_cache import keys_of_call
from seal.simulator_cache.exchange import ImportReport, import_entries


def fill_cache(settings: RunSettings, calls: str | Path = "gold") -> FillReport:
    """Have each call of a pool's gold, or of a run, answered once.

    Args:
        settings: As of the run that is to come: pool, simulator and its model, seed, limit, select.
        calls: `gold`, or the folder of a run over the same tools.

    Raises:
        UsageError: The simulator lacks what it needs.
        DataError: `calls` is no run, or the pool is damaged.
        InfrastructureError: The simulator's model failed; what is stored stays.
    """
    pool = open_pool(settings.pool)
    tools = {tool.id: tool for tool in pool.tools()}
    if calls == "gold":
        planned = gold_calls(pool.chosen(settings))
    else:
        planned = made_calls(RunFolder.open(Path(calls)).trajectories())
    with open_store(settings.cache_dir, settings.cache_url) as store:
        cast = Cast(settings, store, pool)
        source = SimulatorSource(settings=settings, tools=tools, pool=pool, store=store, cast=cast)
        return fill(source.simulator(), tools, planned)


def import_answers(
    store: Store, source: Path, format: str = "seal", tools: Mapping[str, Tool] | None = None
) -> ImportReport:
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
    report: ImportReport = loaded(formats[format])(store, source, tools)
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
    """Yield the gold calls of all plans; those with arguments left open are passed over."""
    for task in tasks:
        for goal in task.goals:
            for plan in goal.plans or ():
                for called in plan.calls():
                    if called.arguments is not None:
                        yield PlannedCall(called.tool, called.canonical_arguments())


def made_calls(trajectories: Iterable[Trajectory]) -> Iterator[PlannedCall]:
    """Yield the calls that recorded runs made, as far as their tools and arguments are known."""
    for trajectory in trajectories:
        for step, _ in trajectory.calls():
            call = step.call
            if call is not None and call.tool is not None and call.arguments is not None:
                yield PlannedCall(call.tool, call.arguments)


def fill(
    simulator: Simulator, tools: Mapping[str, Tool], calls: Iterable[PlannedCall]
) -> FillReport:
    """Have each different call answered once.

    Args:
        simulator: With its answers kept, as `build_simulator` gives it.
        tools: Tools by id.
        calls: `gold_calls(tasks)` or `made_calls(trajectories)`.

    Raises:
        ModelError: The simulator's model failed; what is stored stays.
    """
    report = FillReport()
    validator = CallValidator(tools)
    seen: set[bytes] = set()
    for planned in calls:
        call = ToolCall("call_0", planned.tool, planned.arguments, tool=planned.tool)
        wrong = validator.check(call)
        if wrong is not None:
            report.fail(planned.tool, wrong.kind, wrong.message)
            continue
        arguments = validator.with_defaults(call)
        key = canonical_json([planned.tool, arguments])
        if key not in seen:
            seen.add(key)
            _answer(simulator, tools[planned.tool], arguments, report)
    return report


def _answer(
    simulator: Simulator, tool: Tool, arguments: dict[str, JSON], report: FillReport
) -> None:
    report.calls += 1
    if keys_of_call(simulator, tool, arguments):
        report.known += 1
        return
    try:
        response = simulator.respond(tool, arguments)
    except (SimulatorError, CacheMissError) as error:
        report.fail(tool.id, type(error).__name__, str(error))
        return
    if response.cacheable:
        report.stored += 1
    else:
        report.fail(tool.id, response.kind, response.error)
