"""The view `dialogue`: whole dialogues as tasks, one goal for each turn of the user."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from seal.benchmarks.dialogtool.counts import Tally
from seal.benchmarks.dialogtool.dialogues import Reading, read_dialogue
from seal.benchmarks.dialogtool.drawn import MULTI, SINGLE, Drawing
from seal.benchmarks.dialogtool.mobile.calls import WORLD
from seal.benchmarks.dialogtool.recorded import RecordedCalls
from seal.benchmarks.dialogtool.schemas import Schemas, Service
from seal.benchmarks.dialogtool.tools import BENCHMARK, domain_of
from seal.core.types import JSON, Task
from seal.pools.reading.records import TaskIds

BUCKETS = (10, 20, 30, 40)
"""Turns of a dialogue, rounded up; the last stands for all above. Source: the DialogTool paper."""


class Dialogues:
    """Makes a task of each dialogue.

    Args:
        schemas: Of all splits.
        drawing: Which dialogues are taken.
        benchmark: What the tasks are of.
        world: Where they are played.
    """

    def __init__(
        self, schemas: Schemas, drawing: Drawing, benchmark: str = BENCHMARK, world: str = WORLD
    ) -> None:
        self.recorded = RecordedCalls()
        """Calls of all dialogues, drawn or not."""
        self._schemas = schemas
        self._drawing = drawing
        self._benchmark = benchmark
        self._world = world
        self._tallies: dict[str, Tally] = {}
        self._ids = TaskIds()
        self._counts: Counter[str] = Counter()
        self._offered: dict[tuple[str, frozenset[str]], tuple[str, ...]] = {}

    def task(self, split: str, dialogue: Any) -> Task | None:
        """Return a dialogue's task; None where it is known, or drawn later (`drawn`).

        Raises:
            DataError: The record is malformed, or calls what its schemas do not have.
        """
        services = self._schemas.splits[split]
        reading = read_dialogue(dialogue, services)
        opening = reading.goals[0].text if reading.goals else ""
        own = self._ids.add(f"{self._benchmark}/{split}/{reading.id}", opening)
        if own is None:
            self._counts["duplicates"] += 1
            return None
        self._tallies.setdefault(split, Tally()).add(reading)
        for call in reading.calls:
            if call.complete:
                self.recorded.add(call)
        if reading.fault is not None:
            raise reading.fault
        return self._drawing.passing(self._task(own, split, reading, services))

    def drawn(self) -> Iterator[Task]:
        """Yield the tasks that the drawing kept back."""
        return self._drawing.drawn()

    def facts(self) -> dict[str, JSON]:
        """Return the counts of each split."""
        return {split: tally.facts() for split, tally in self._tallies.items()}

    @property
    def duplicates(self) -> int:
        """Dialogues that stood before."""
        return self._counts["duplicates"]

    def _task(
        self, own: str, split: str, reading: Reading, services: Mapping[str, Service]
    ) -> Task:
        goals = reading.goals
        offered = self._offers(split, frozenset(reading.services), services)
        goals[0] = replace(goals[0], offered=offered)
        apps = {domain_of(name) for name in reading.services}
        called = {call.api.tool for call in reading.calls}
        bucket = next((size for size in BUCKETS if reading.turns <= size), BUCKETS[-1])
        tags: dict[str, JSON] = {
            "group": MULTI if len(apps) > 1 else SINGLE,
            "split": split,
            "domain": domain_of(reading.services[0]) if reading.services else "",
            "multi_domain": len(apps) > 1,
            "turns_bucket": bucket,
            "multi_tool": len(called) > 1,
            "multi_step": False,
        }
        named = [services[name].name for name in reading.services]
        return Task(
            own,
            self._benchmark,
            tuple(goals),
            split=split,
            tags=tags,
            metadata={"services": named, "turns": reading.turns},
            world=self._world,
        )

    def _offers(
        self, split: str, own: frozenset[str], services: Mapping[str, Service]
    ) -> tuple[str, ...]:
        """Return the APIs of every app of the split.

        Of an app that the dialogue uses those of the services that it names, of any other app those
        of its first service.
        """
        known = self._offered.get((split, own))
        if known is None:
            apps: dict[str, list[Service]] = {}
            for name, service in services.items():
                if name in own:
                    apps.setdefault(domain_of(name), []).append(service)
            for name, service in services.items():
                apps.setdefault(domain_of(name), [service])
            chosen = [api.tool for app in apps.values() for s in app for api in s.apis.values()]
            known = self._offered[split, own] = tuple(sorted(chosen))
        return known
