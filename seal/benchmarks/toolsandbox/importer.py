"""ToolSandbox's scenarios as tasks that are played on the phone.

They are read from a checkout of upstream's repository (`checkout`), or from the file
`scenarios_core.jsonl.gz`: 129 base scenarios, each with eight sets of tools. The file lacks what
the simulated user is told (goal, knowledge boundary, demonstrations), so a persona's goal is the
first message alone. Where the folder has recorded conversations too, those that play a scenario's
gold are the reference of its base's tasks. The tools are the phone's own
(`seal.benchmarks.toolsandbox.phone`), so descriptions are ours; names, arguments and types are
upstream's.

Source: ToolSandbox (Lu et al., 2024), arXiv:2408.04682, and apple/ToolSandbox.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from seal.benchmarks.toolsandbox.checkout import OFFERS, SCENARIOS, checkout_scenarios
from seal.benchmarks.toolsandbox.phone import TOOL_IDS, tools
from seal.benchmarks.toolsandbox.phone.device import web_answers
from seal.benchmarks.toolsandbox.records import (
    BENCHMARK,
    CATEGORIES,
    FILES,
    START,
    TABLES,
    check_scenario,
    parse_clock,
    plan_of,
    scenario_lines,
    set_clock,
)
from seal.benchmarks.toolsandbox.trajectories import references
from seal.core import (
    JSON,
    DataError,
    Goal,
    Step,
    Task,
    Tool,
    UsageError,
    check_persona,
    located,
    shortened,
)
from seal.pools.augmentation import GIVEN, KEEPS, TAG, UNCHANGED, Scrambler
from seal.pools.importer import Notes, WorldFile
from seal.pools.reading.files import Reader, expect, field_of, find, named, usable

_SCRAMBLED = {
    "TOOL_NAME_SCRAMBLED": "names",
    "TOOL_DESCRIPTION_SCRAMBLED": "descriptions",
    "ARG_DESCRIPTION_SCRAMBLED": "argument-descriptions",
    "ARG_TYPE_SCRAMBLED": "argument-types",
}
_OF_OFFERS = frozenset({*OFFERS, *_SCRAMBLED})
"""Categories that repeat what `augmentation` says."""
WEB = "web_fixtures.json"
"""File of the web's answers, beside the scenarios."""
_FIRST_SECONDS = 5
_STEP_SECONDS = 1.25
_KEPT = {"modify_reminder": ["argument-descriptions"]}
"""Function to the scramblings that leave it as it is; upstream's code misses its arguments."""
_TOLD = {
    "demonstration": "demonstrations",
    "boundary": "knowledge_boundaries",
    "goal": "user_goals",
}
"""Part of a persona to what a source without any such lacks."""


def import_toolsandbox(
    source: Path, notes: Notes, *, clock: str | None = None
) -> Iterator[Tool | Task | WorldFile]:
    """Yield the phone's tools, their scrambled forms, and the scenarios as tasks.

    Where the web's answers lie beside the scenarios (`web_fixtures.json`), they come along.

    Args:
        source: A folder at or above upstream's checkout, or the file of the scenarios, or a folder
            above it. If there are both, the checkout is read.
        notes: Gets the counts.
        clock: When the scenarios begin, in ISO 8601; None: as upstream's were recorded, on
            2025-03-12T14:30:00Z.

    Raises:
        UsageError: `clock` is no such time.
        DataError: The file is missing or torn, no scenario of it can be used, or the file of the
            web's answers has none. Malformed scenarios among others are left out and counted.
    """
    start = START if clock is None else parse_clock(clock)
    paths = find(source, (*FILES, SCENARIOS), BENCHMARK)
    checkout = next((path for path in paths if path.suffix == ".py"), None)
    path = checkout or paths[0]
    beside = source if checkout and source.is_dir() else path.parent
    gold = references(beside, notes) if start == START else {}
    reader = partial(checkout_scenarios, start=start) if checkout else scenario_lines
    return chain(_records(path, notes, start, gold, reader), web_answers(beside / WEB, notes))


def _records(
    path: Path, notes: Notes, start: datetime, gold: Mapping[str, Sequence[Step]], reader: Reader
) -> Iterator[Tool | Task]:
    offers = _Offers(tools())
    seen: set[str] = set()
    told: set[str] = set()

    def read(record: dict[str, Any]) -> Task:
        check_scenario(record)
        if record["id"] in seen:
            raise DataError(f"the scenario {record['id']!r} stood before; give each its own id")
        set_clock(record, start)
        task = _task(record, offers, start, gold)
        seen.add(task.id)
        told.update(record.get("persona", ()))
        return task

    tasks = _about_their_bases(list(usable(path, read, notes, reader)))
    yield from offers.tools(tasks)
    yield from tasks
    counts = Counter(tag for task in tasks for tag in CATEGORIES.values() if task.tags[tag])
    with_reference = sum(bool(task.goals[0].reference) for task in tasks)
    notes.lacks.update(["relevant", *(lack for part, lack in _TOLD.items() if part not in told)])
    if not with_reference:
        notes.lacks.add("reference")
    notes.facts["counts"] = {
        "references": with_reference,
        "bases": len({task.tags["group"] for task in tasks}),
        **dict(sorted(counts.items())),
    }
    notes.facts["clock"] = start.isoformat()


def _about_their_bases(tasks: Sequence[Task]) -> list[Task]:
    """Return the tasks, each about the tools of its base: upstream adds distraction to its own."""
    bases = {task.metadata["base"]: task for task in tasks if task.tags[TAG] == UNCHANGED}
    given = {name: task.metadata[GIVEN] for name, task in bases.items()}
    own = ((task, given.get(task.metadata["base"], task.metadata[GIVEN])) for task in tasks)
    return [replace(task, metadata={**task.metadata, GIVEN: about}) for task, about in own]


class _Offers:
    """The tools that scenarios offer, and their scrambled forms.

    Args:
        phone: The phone's tools.
    """

    def __init__(self, phone: Iterable[Tool]) -> None:
        agents = (tool for tool in phone if tool.id != TOOL_IDS["end_conversation"])
        self._tools = {tool.id: _with_kept(tool) for tool in agents}
        self._scrambler = Scrambler(self._tools.values())
        self._scrambled: dict[str, Tool] = {}

    def ids(self, offer: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the ids of the tools that a scenario offers, in the order of the offer."""
        what = [named(_SCRAMBLED, name, "scrambling") for name in offer["augmentations"]]
        return tuple(self._offered(real, what) for _, real in offer["agent_tools"])

    def as_offered(self, steps: Sequence[Step], offer: Mapping[str, Any]) -> tuple[Step, ...]:
        """Return gold steps whose calls name the tools as a scenario presents them.

        None, where the gold calls a tool that the scenario does not offer: it cannot be played.
        """
        given = self.ids(offer)
        what = [_SCRAMBLED[name] for name in offer["augmentations"]]

        def renamed(step: Step) -> Step:
            if step.call is None or step.call.tool is None:
                return step
            form = self._scrambler.scrambled(self._tools[step.call.tool], what)
            return replace(step, call=replace(step.call, tool=form.id, name=form.name))

        gold = tuple(map(renamed, steps))
        called = (step.call.tool for step in gold if step.call is not None and step.call.tool)
        return gold if all(tool in given for tool in called) else ()

    def tools(self, tasks: Iterable[Task]) -> Iterator[Tool]:
        """Yield the tools in the order of the longest offer, then the scrambled ones."""
        longest = max((task.goals[0].offered or () for task in tasks), key=len)
        shown = [tool for tool in longest if tool in self._tools]
        yield from (self._tools[tool] for tool in dict.fromkeys([*shown, *self._tools]))
        yield from self._scrambled.values()

    def _offered(self, name: str, what: Sequence[str]) -> str:
        tool = self._tools.get(_tool_id(name))
        if tool is None:
            raise DataError(f"tools.agent_tools: the agent of the phone has no {name!r}")
        scrambled = self._scrambler.scrambled(tool, what)
        if scrambled is not tool:
            self._scrambled.setdefault(scrambled.id, scrambled)
        return scrambled.id


def _with_kept(tool: Tool) -> Tool:
    kept = _KEPT.get(tool.name)
    return replace(tool, source={**tool.source, KEEPS: kept}) if kept else tool


def _tool_id(name: Any) -> str:
    if not isinstance(name, str) or name not in TOOL_IDS:
        raise DataError(f"tools: the phone has no {shortened(name)}; it has {', '.join(TOOL_IDS)}")
    return TOOL_IDS[name]


def _task(
    record: Mapping[str, Any], offers: _Offers, start: datetime, gold: Mapping[str, Sequence[Step]]
) -> Task:
    text = field_of(record["messages"][0], "content", str)
    state = {TABLES[name]: rows for name, rows in _state(record).items()}
    goal = Goal(
        text,
        plans=(plan_of(record["milestones"], record["minefields"], state),),
        offered=offers.ids(record["tools"]),
        reference=offers.as_offered(gold.get(record["base"], ()), record["tools"]),
    )
    return Task(
        record["id"],
        BENCHMARK,
        (goal,),
        initial_state=state,
        persona=_persona(record) or {"goal": text},
        tags={**_categories(record), TAG: record["augmentation"], "group": record["base"]},
        metadata={
            "match": BENCHMARK,
            "clock": {
                "start": start.timestamp(),
                "zone": "UTC",
                "first": _FIRST_SECONDS,
                "step": _STEP_SECONDS,
            },
            "max_messages": record["max_messages"],
            "base": record["base"],
            GIVEN: {
                name: list(map(_tool_id, expect(record["tools"].get(name) or [], list, name)))
                for name in ("allow", "deny")
            },
        },
        world="phone",
    )


def _persona(record: Mapping[str, Any]) -> dict[str, JSON]:
    """Return what a record says that the user is told; empty: nothing."""
    persona: dict[str, JSON] = expect(record.get("persona", {}), dict, "persona")
    with located("persona", UsageError):
        check_persona(persona)
    return persona


def _state(record: Mapping[str, Any]) -> dict[str, list[dict[str, JSON]]]:
    state: dict[str, list[dict[str, JSON]]] = record["initial_state"]
    if state.keys() != TABLES.keys():
        raise DataError(
            f"initial_state: expected the tables {', '.join(TABLES)}, got {', '.join(state)}"
        )
    for table, rows in state.items():
        for place, row in enumerate(expect(rows, list, f"initial_state.{table}")):
            expect(row, dict, f"initial_state.{table}.{place}")
    return state


def _categories(record: Mapping[str, Any]) -> dict[str, bool]:
    for name in record["categories"]:
        expect(name, str, "categories")
    unknown = set(record["categories"]) - CATEGORIES.keys() - _OF_OFFERS
    if unknown:
        raise DataError(
            f"categories: expected some of {', '.join(CATEGORIES)}, got {shortened(unknown)}"
        )
    return {tag: name in record["categories"] for name, tag in CATEGORIES.items()}
