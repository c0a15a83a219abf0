"""ToolSandbox's scenarios as tasks that are played on the phone.

They are read from a checkout of upstream's repository (`checkout`), or from the file
`scenarios_core.jsonl.gz`: 129 base scenarios, each with eight sets of tools. The file lacks what
the simulated user is told (goal, knowledge boundary, demonstrations), so a persona's goal is the
first message alone. Where the folder has recorded conversations too, those that play a scenario's
gold are the reference of its base's tasks; else it is searched (`gold_search`). The tools are the
phone's own (`seal.benchmarks.toolsandbox.phone`), with upstream's texts or ours (`texts`).

Source: ToolSandbox (Lu et al., 2024), arXiv:2408.04682, and apple/ToolSandbox.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from seal.benchmarks.toolsandbox.checkout import (
    OFFERS,
    OURS,
    SCENARIOS,
    UPSTREAM,
    checkout_scenarios,
    checkout_tools,
    parse_texts,
)
from seal.benchmarks.toolsandbox.gold_search import Found, found_gold
from seal.benchmarks.toolsandbox.phone import TOOL_IDS, tools
from seal.benchmarks.toolsandbox.phone.device import FILE, web_everywhere
from seal.benchmarks.toolsandbox.phone.world import phones_of
from seal.benchmarks.toolsandbox.records import (
    BENCHMARK,
    CATEGORIES,
    FILES,
    PARTIES,
    START,
    TABLES,
    check_scenario,
    plan_of,
    scenario_lines,
    tool_id,
)
from seal.core import (
    JSON,
    DataError,
    Execution,
    Goal,
    SealError,
    Step,
    Stop,
    Tables,
    Task,
    Tool,
    ToolCall,
    ToolResult,
    Trajectory,
    UsageError,
    check_persona,
    located,
    shortened,
)
from seal.core.text import THEIRS
from seal.core.values import json_bytes
from seal.evaluation.goals import WHOLLY
from seal.pools.augmentation import GIVEN, KEEPS, TAG, UNCHANGED, Scrambler
from seal.pools.importer import Notes, Recorded, WorldFile
from seal.pools.reading.files import (
    LeftOut,
    Reader,
    expect,
    field_of,
    find,
    named,
    refuse_deep,
    usable,
)

# -- ToolSandbox's recorded conversations, each as a task and the trajectory that played it.
#
# A record has its own milestones, so each is a task of its own, named by the record's id. Every
# message is one step, whose index is upstream's; calls of one batch share a turn, and so do their
# answers. The text of a call is upstream's code; code that is no call of a tool has no arguments,
# and stands in `ToolCall.raw`.
#
# The conversations of the variant `oracle` play a scenario's gold calls and say what it wants said.
# Those of `alt_topo` do so in another order that the milestones leave open. No language model made
# them. The first of both that upstream gives 1.0 is the reference of its scenario.

Played = tuple[Task, Trajectory]

_CLASS = re.compile(r"(?:\w+\.)*(\w+): ")
_BATCHED = frozenset({("AGENT", "EXECUTION_ENVIRONMENT"), ("EXECUTION_ENVIRONMENT", "AGENT")})


def import_trajectories(source: Path, notes: Notes) -> Iterator[Tool | Task | Recorded]:
    """Yield the phone's tools, and each record as a task and its trajectory, in their order.

    Args:
        source: File of JSON lines, plain or compressed with gzip.
        notes: Gets the counts of what is left out: malformed records, and those of which one
            answer holds what one step cannot.

    Raises:
        DataError: The file is torn, or no record of it can be used.
    """
    if not source.is_file():
        raise DataError(f"{source}: expected a file of recorded trajectories (.jsonl, .jsonl.gz)")
    yield from tools()
    seen: set[str] = set()

    def read(record: Any) -> Played:
        refuse_deep(record)
        if field_of(record, "id", str) in seen:
            raise DataError(f"the id {record['id']!r} stood before; give each record its own")
        _check_answers(record)
        with located(f"record {record['id']!r}", SealError):
            played = _played(record)
        seen.add(record["id"])
        return played

    for task, trajectory in usable(source, read, notes, scenario_lines):
        yield task
        yield Recorded(BENCHMARK, trajectory)


def _check_answers(record: Mapping[str, Any]) -> None:
    """Make sure that steps of ours can hold the answers.

    Raises:
        LeftOut: They cannot hold one of them.
    """
    for message in field_of(dict(record), "messages", list):
        trace = message.get("tool_trace") if isinstance(message, dict) else None
        if isinstance(trace, list) and len(trace) > 1:
            raise LeftOut("several_calls_in_one_answer")
        if trace and message.get("exception"):
            raise LeftOut("call_and_exception_in_one_answer")


def _played(record: dict[str, Any]) -> Played:
    state = _tables(field_of(record, "initial_state", dict))
    plan = plan_of(
        field_of(record, "milestones", dict),
        field_of(record, "minefields", dict),
        state,
        measured=True,
    )
    steps = recorded_steps(record, state)
    goal = Goal(steps[0].content, (plan,), offered=_offered(record))
    task = Task(
        record["id"],
        BENCHMARK,
        (goal,),
        initial_state=state,
        tags=_tags(record),
        metadata={"match": BENCHMARK, "scenario": record.get("scenario", "")},
        world="phone",
    )
    said = [s.content for s in steps if s.recipient == PARTIES["USER"] and s.result is None]
    ended = record["messages"][-1].get("conversation_active") is False
    # Upstream limits a chat by its messages.
    stop = Stop("user_ended" if ended else "max_messages")
    offered = (goal.offered,) if goal.offered is not None else ()
    answer = said[-1] if said else None
    return task, Trajectory(
        task.id, 0, steps, offered=offered, stops=(stop,), answers=(answer,), provenance={}
    )


def recorded_steps(record: dict[str, Any], state: Tables) -> tuple[Step, ...]:
    """Return the messages of a record as steps.

    Args:
        record: As upstream has it.
        state: The tables of its first message, by our names.

    Raises:
        DataError: A message is malformed, or their indices are not consecutive.
    """
    return tuple(_Steps(record, state).steps())


def _tags(record: Mapping[str, Any]) -> dict[str, JSON]:
    """Return what a record says of itself; those made of random graphs say nothing."""
    named = {name: record[name] for name in (TAG, "variant") if name in record}
    kinds = record.get("categories")
    if not isinstance(kinds, list):
        return named
    return {**named, **{tag: kind in kinds for kind, tag in CATEGORIES.items()}}


def _tables(state: Mapping[str, Any]) -> Tables:
    unknown = sorted(set(state) - set(TABLES))
    if unknown:
        raise DataError(f"initial_state: expected the tables {', '.join(TABLES)}, got {unknown[0]}")
    return {TABLES[name]: _rows(rows, name) for name, rows in state.items()}


def _rows(rows: Any, name: str) -> list[dict[str, JSON]]:
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise DataError(f"{name}: expected a list of rows, got {shortened(rows)}")
    return rows


def _offered(record: Mapping[str, Any]) -> tuple[str, ...] | None:
    pairs = (record.get("tools") or {}).get("agent_tools")
    return None if pairs is None else tuple(tool_id(real) for _, real in pairs)


class _Steps:
    """The messages of one record as steps.

    Args:
        record: As upstream has it.
        state: The tables of its first message.
    """

    def __init__(self, record: dict[str, Any], state: Tables) -> None:
        self._messages = field_of(record, "messages", list)
        self._first = field_of(record, "first_user_index", int)
        places = range(self._first, self._first + len(self._messages))
        self._changes = _changes(field_of(record, "snapshots", dict), places)
        self._state = state
        self._calls: dict[str, str] = {}
        self._unanswered: list[str] = []

    def steps(self) -> Iterator[Step]:
        """Yield one step a message.

        Raises:
            DataError: A message is malformed, or their indices are not consecutive.
        """
        if not self._messages:
            raise DataError("messages: expected the user's first one, got none")
        turn, before = -1, ("", "")
        for position, message in enumerate(self._messages):
            ends = field_of(message, "sender", str), field_of(message, "recipient", str)
            turn += ends != before or ends not in _BATCHED
            before = ends
            with located(f"messages.{position}", SealError):
                yield self._step(message, self._first + position, turn, not position)

    def _step(self, message: dict[str, Any], index: int, turn: int, first: bool) -> Step:
        if field_of(message, "index", int) != index:
            raise DataError(f"index: expected {index}, got {message['index']}")
        for role in (message["sender"], message["recipient"]):
            if role not in PARTIES:
                raise DataError(f"expected one of the roles {', '.join(PARTIES)}, got {role!r}")
        changed = {name: rows for (at, name), rows in self._changes.items() if at == index}
        to_executor = message["recipient"] == "EXECUTION_ENVIRONMENT"
        from_executor = message["sender"] == "EXECUTION_ENVIRONMENT"
        return Step(
            index,
            PARTIES[message["sender"]],
            PARTIES[message["recipient"]],
            field_of(message, "content", str),
            self._call(message) if to_executor else None,
            self._result(message) if from_executor else None,
            turn,
            state=self._state if first else changed or None,
        )

    def _call(self, message: dict[str, Any]) -> ToolCall:
        call_id = f"call_{len(self._calls)}"
        self._calls[str(message.get("call_id", call_id))] = call_id
        self._unanswered.append(call_id)
        call = message.get("tool_call")
        if call is None:
            name = str(message.get("agent_tool_name", "python"))
            return ToolCall(call_id, name, None, message["content"])
        name = str(message.get("agent_tool_name") or call["name"])
        return ToolCall(
            call_id,
            name,
            field_of(call, "arguments", dict),
            tool=tool_id(field_of(call, "name", str)),
        )

    def _result(self, message: dict[str, Any]) -> ToolResult:
        """Return an answer; one without a call's id answers the oldest open call."""
        call_id = self._calls.get(str(message.get("call_id")))
        if call_id is None:
            call_id = self._unanswered[0] if self._unanswered else ""
        if call_id in self._unanswered:
            self._unanswered.remove(call_id)
        content, exception = message["content"], message.get("exception")
        error = None if exception is None else _error(str(exception))
        trace = message.get("tool_trace")
        if not trace:
            return ToolResult(call_id, content, error)
        executed = Execution(
            tool_id(field_of(trace[0], "tool_name", str)), field_of(trace[0], "arguments", dict)
        )
        return ToolResult(call_id, content, error, trace[0].get("result"), executed)


def _changes(
    snapshots: dict[str, Any], places: range
) -> dict[tuple[int, str], list[dict[str, JSON]]]:
    """Return the versions of tables by the index of their message, which is one of `places`."""
    found = {}
    for name in snapshots:
        if name not in TABLES:
            raise DataError(f"snapshots: expected the tables {', '.join(TABLES)}, got {name}")
        for number, version in enumerate(field_of(snapshots, name, list)):
            place = f"snapshots.{name}.{number}"
            index = field_of(version, "index", int)
            if places and index not in places:
                raise DataError(
                    f"{place}: index: expected that of a message, {places[0]} to {places[-1]}, "
                    f"got {index}; mend it, or add the message"
                )
            found[index, TABLES[name]] = _rows(field_of(version, "rows", list), place)
    return found


def _error(text: str) -> dict[str, JSON]:
    """Return an exception as data: its class, and the text as the caller reads it."""
    lines: Sequence[str] = text.strip().splitlines() or [""]
    named = _CLASS.match(lines[-1])
    return {"kind": named[1] if named else "Error", "message": text}


RECORDINGS = ("vectors_*.jsonl.gz", "vectors_*.jsonl")
GOLD = ("oracle", "alt_topo")
"""Upstream's names of the variants that play the gold, the usual order first."""

_USER = PARTIES["USER"]


def references(folder: Path, notes: Notes) -> Mapping[str, tuple[Step, ...]]:
    """Return base scenario to the agent's gold calls, their results, and its texts.

    Args:
        folder: Where the recorded conversations may lie; empty where it has none.
        notes: Gets the counts of malformed records, which are left out.

    Raises:
        DataError: A file is torn, or no record of it can be used.
    """
    paths = sorted({path for name in RECORDINGS for path in folder.glob(name)})
    read = (one for path in paths for one in usable(path, _read, notes, scenario_lines))
    found = sorted((one for one in read if one.steps), key=lambda one: GOLD.index(one.variant))
    return {one.base: one.steps for one in reversed(found)}


class _Recorded(NamedTuple):
    """A conversation that may be gold."""

    base: str = ""
    variant: str = ""
    steps: tuple[Step, ...] = ()
    """Of the agent; none: it is no gold."""


def _read(record: dict[str, Any]) -> _Recorded:
    variant = field_of(record, "variant", str)
    scored = expect(record.get("expected", {}), dict, "expected").get("similarity", 1)
    if variant not in GOLD or not isinstance(scored, (int, float)) or scored < WHOLLY:
        return _Recorded()
    steps = recorded_steps(record, {})
    gold = [s for s in steps if s.author != _USER and (s.result is None or s.recipient != _USER)]
    told = tuple(replace(step, state=None) for step in gold)
    return _Recorded(field_of(record, "base", str), variant, told)


# -- Scenarios as tasks: what each offers, its gold, and its task.

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
    source: Path, notes: Notes, *, texts: str | None = None
) -> Iterator[Tool | Task | WorldFile]:
    """Yield the phone's tools, their scrambled forms, and the scenarios as tasks.

    Where the web's answers lie beside the scenarios (`web_fixtures.json`), they come along.

    Args:
        source: A folder at or above upstream's checkout, or the file of the scenarios, or a folder
            above it. If there are both, the checkout is read.
        notes: Gets the counts.
        texts: `upstream`: agent and user are told what upstream tells them, word by word, so far as
            the checkout has it; `ours`: the phone's documents, and the prompts of SEAL. None:
            upstream's of a checkout, else ours.

    Raises:
        UsageError: `texts` names none that are there.
        DataError: The file is missing or torn, no scenario of it can be used, or the file of the
            web's answers has none. Malformed scenarios among others are left out and counted.
    """
    paths = find(source, (*FILES, SCENARIOS), BENCHMARK)
    checkout = next((path for path in paths if path.suffix == ".py"), None)
    path = checkout or paths[0]
    whose = parse_texts(texts, checkout is not None)
    beside = source if checkout and source.is_dir() else path.parent
    gold = references(beside, notes)
    web, invented = web_everywhere(beside / WEB)
    opening = phones_of(web)
    reader = scenario_lines
    if checkout is not None:
        reader = partial(checkout_scenarios, texts=whose)
    phone = tools() if whose == OURS else checkout_tools(path)
    notes.facts["texts"] = whose
    if whose == UPSTREAM:
        notes.facts["play"] = {"team": "direct", "prompt": THEIRS}
    if invented:
        notes.facts["invented_web"] = invented
    notes.facts["web_answers"] = len(web.to_json())
    asked = (params.get("query") for params, _ in web.records.get("searchmaps.php", ()))
    places = [str(query) for query in asked if query]
    found = _Gold(gold, lambda task: found_gold(task, lambda t: opening.open(t, 0, []), places))
    records = _records(path, notes, found, reader, phone)
    return chain(records, [WorldFile(FILE, json_bytes(web.to_json()))])


def _records(
    path: Path,
    notes: Notes,
    gold: _Gold,
    reader: Reader,
    phone: Iterable[Tool],
) -> Iterator[Tool | Task]:
    offers = _Offers(phone)
    seen: set[str] = set()
    told: set[str] = set()

    def read(record: dict[str, Any]) -> Task:
        check_scenario(record)
        if record["id"] in seen:
            raise DataError(f"the scenario {record['id']!r} stood before; give each its own id")
        task = _task(record, offers, gold)
        seen.add(task.id)
        told.update(record.get("persona", ()))
        return task

    tasks = _about_their_bases(list(usable(path, read, notes, reader)))
    yield from offers.tools(tasks)
    yield from tasks
    counts = Counter(tag for task in tasks for tag in CATEGORIES.values() if task.tags[tag])
    with_reference = sum(bool(task.goals[0].reference) for task in tasks)
    notes.facts["gold"] = gold.counts
    if without := {task.id: gold.why(task) for task in tasks if _lacks_gold(task)}:
        notes.facts["without_gold"] = without
    notes.lacks.update(["relevant", *(lack for part, lack in _TOLD.items() if part not in told)])
    if not with_reference:
        notes.lacks.add("reference")
    notes.facts["counts"] = {
        "references": with_reference,
        "bases": len({task.tags["group"] for task in tasks}),
        **dict(sorted(counts.items())),
    }
    notes.facts["clock"] = START.isoformat()


class _Gold:
    """The gold of base scenarios: recorded, or else found by a search of the world.

    Args:
        recorded: Base to its gold steps.
        search: Finds the gold of a task.
    """

    def __init__(
        self, recorded: Mapping[str, Sequence[Step]], search: Callable[[Task], Found]
    ) -> None:
        self._recorded = recorded
        self._found: dict[str, Found] = {}
        self._first: dict[str, tuple[Step, ...]] = {}
        self._search = search

    @property
    def counts(self) -> dict[str, JSON]:
        """How many bases have gold of each source."""
        found = sum(bool(one.steps) for one in self._found.values())
        return {"recorded": len(self._recorded), "found": found}

    def of(self, task: Task, offers: _Offers, offer: Mapping[str, Any]) -> tuple[Step, ...]:
        """Return the gold of a task's base as the task offers its tools; none: it cannot be played.

        What was recorded goes first; what is found may do with other tools. What serves the first
        task of a base goes before both, so that its tasks have one gold.
        """
        for steps in self._gold(task):
            gold = offers.as_offered(steps, offer)
            if gold:
                self._first.setdefault(str(task.metadata["base"]), steps)
                return gold
        return ()

    def _gold(self, task: Task) -> Iterator[tuple[Step, ...]]:
        """Yield the gold of a task's base, by the names of the phone's tools."""
        base = str(task.metadata["base"])
        if base in self._first:
            yield self._first[base]
        if base in self._recorded:
            yield tuple(self._recorded[base])
        if base not in self._found:
            self._found[base] = self._search(task)
        yield self._found[base].steps

    def why(self, task: Task) -> str:
        """Return why a task has no gold."""
        found = self._found[str(task.metadata["base"])]
        called = (step.call.tool or "" for step in found.steps if step.call is not None)
        offered = {tool.partition("~")[0] for tool in task.goals[0].offered or ()}
        missing = sorted({tool.rpartition("/")[2] for tool in called if tool not in offered})
        return found.why or f"it does not offer {', '.join(missing)}"


def _lacks_gold(task: Task) -> bool:
    """Tell whether something is to be done in a task, and nothing says how."""
    goal = task.goals[0]
    return not goal.reference and any(plan.milestones for plan in goal.plans or ())


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
        tool = self._tools.get(tool_id(name))
        if tool is None:
            raise DataError(f"tools.agent_tools: the agent of the phone has no {name!r}")
        scrambled = self._scrambler.scrambled(tool, what)
        if scrambled is not tool:
            self._scrambled.setdefault(scrambled.id, scrambled)
        return scrambled.id


def _with_kept(tool: Tool) -> Tool:
    kept = _KEPT.get(tool.name)
    return replace(tool, source={**tool.source, KEEPS: kept}) if kept else tool


def _task(record: Mapping[str, Any], offers: _Offers, gold: _Gold) -> Task:
    text = field_of(record["messages"][0], "content", str)
    state = {TABLES[name]: rows for name, rows in _state(record).items()}
    goal = Goal(
        text,
        plans=(plan_of(record["milestones"], record["minefields"], state),),
        offered=offers.ids(record["tools"]),
    )
    task = Task(
        record["id"],
        BENCHMARK,
        (goal,),
        initial_state=state,
        persona=_persona(record) or {"goal": text},
        tags={**_categories(record), TAG: record["augmentation"], "group": record["base"]},
        metadata={
            "match": BENCHMARK,
            "clock": {
                "start": START.timestamp(),
                "zone": "UTC",
                "first": _FIRST_SECONDS,
                "step": _STEP_SECONDS,
            },
            "max_messages": record["max_messages"],
            "base": record["base"],
            GIVEN: {
                name: list(map(tool_id, expect(record["tools"].get(name) or [], list, name)))
                for name in ("allow", "deny")
            },
        },
        world="phone",
        system=expect(record.get("system", ""), str, "system"),
    )
    reference = gold.of(task, offers, record["tools"])
    return replace(task, goals=(replace(goal, reference=reference),))


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
