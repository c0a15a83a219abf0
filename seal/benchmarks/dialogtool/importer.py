"""SGD's dialogues as tasks, first turns as retrieval queries, the drawn 900, counts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from heapq import heappush, heapreplace
from pathlib import Path
from typing import Any

from seal.benchmarks.dialogtool.dialogues import (
    BENCHMARK,
    NO_INTENT,
    ORIGINAL,
    SCHEMA,
    Reading,
    Schemas,
    Service,
    domain_of,
    read_dialogue,
)
from seal.benchmarks.dialogtool.world import FILE, WORLD, RecordedCalls
from seal.core import JSON, DataError, Goal, Task, Tool, UsageError, check_name
from seal.core.values import digest
from seal.pools.importer import Notes, WorldFile
from seal.pools.reading.files import (
    LeftOut,
    expect,
    field_of,
    json_file,
    listed,
    usable,
    wrong_source,
)
from seal.pools.reading.records import TaskIds

# -- DialogTool: the dialogues of Schema-Guided Dialogue (SGD) as tasks.
#
# | view | a task is |
# |---|---|
# | dialogue | a whole dialogue, one goal for each turn of the user; the function of an API |
# | retrieval | the first user turn of a dialogue; relevant is the intent that it opens |
#
# A tool is an intent of a service, for instance Restaurants_1 FindRestaurants. The pool are those
# of all schemas that the source has, whatever the split: services of other splits are what a
# retriever may confuse.
#
# If a first turn has several frames, the first one counts: SGD puts the service that the turn is
# about first. Each first turn of the released dialogues has but one frame. A sample of dialogues
# has a fixed share of those that use one app.
#
# A dialogue with a fault is left out whole and counted by the kind of fault: `unknown_service`,
# `unknown_intent`, `undeclared_argument`, `missing_argument` (a call lacks a required one),
# `undeclared_result`, else `malformed_record`. If files that upstream publishes are missing, they
# are named, and the others are imported.
#
# Source: Rastogi et al., "Towards Scalable Multi-domain Conversational Agents" (AAAI 2020), and the
# files of google-research-datasets/dstc8-schema-guided-dialogue; Lee et al., "SGD-X" (AAAI 2022).
# The DialogTool paper evaluates on 900 dialogues of the test split, of which 360 use several apps;
# it does not say how they were chosen.

BUCKETS = (10, 20, 30, 40)
"""Turns of a dialogue, rounded up; the last stands for all above. Source: the DialogTool paper."""


def tasks_of(path: Path, read: Callable[[Any], Task], notes: Notes) -> Iterator[Task]:
    """Yield what is made of each dialogue of a file; faults are counted.

    Raises:
        DataError: The file is no JSON list, or none of it can be used.
    """
    content = expect(json_file(path), list, path, "a list of dialogues")
    yield from usable(path, read, notes, listed(content))


class Dialogues:
    """Makes a task of each dialogue.

    Args:
        schemas: Of all splits.
        drawing: Which dialogues are taken.
    """

    def __init__(self, schemas: Schemas, drawing: Drawing) -> None:
        self.recorded = RecordedCalls()
        """Calls of all dialogues, drawn or not."""
        self._schemas = schemas
        self._drawing = drawing
        self._tallies: dict[str, Tally] = {}
        self._ids = TaskIds()
        self._offered: dict[tuple[str, frozenset[str]], tuple[str, ...]] = {}

    def task(self, split: str, dialogue: Any) -> Task:
        """Return a dialogue's task.

        Raises:
            LeftOut: It is known, or is drawn later (`drawn`).
            DataError: The record is malformed, or calls what its schemas do not have.
        """
        services = self._schemas.splits[split]
        reading = read_dialogue(dialogue, services)
        opening = reading.goals[0].text if reading.goals else ""
        own = self._ids.add(f"{BENCHMARK}/{split}/{reading.id}", opening)
        self._tallies.setdefault(split, Tally()).add(reading)
        for call in reading.calls:
            if call.complete:
                self.recorded.add(call)
        if reading.fault is not None:
            raise reading.fault
        return self._drawing.passing(self._task(own, split, reading, services))

    def facts(self) -> dict[str, JSON]:
        """Return the counts of each split."""
        return {split: tally.facts() for split, tally in self._tallies.items()}

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
            BENCHMARK,
            tuple(goals),
            split=split,
            tags=tags,
            metadata={"services": named, "turns": reading.turns},
            world=WORLD,
        )

    def _offers(
        self, split: str, own: frozenset[str], services: Mapping[str, Service]
    ) -> tuple[str, ...]:
        """Return the APIs of every app of the split.

        An app that the dialogue uses offers the APIs of the services that the dialogue names. Any
        other app offers those of its first service.
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


class Openings:
    """Makes a task of the first user turn of each dialogue.

    Args:
        schemas: Of all splits.
        notes: Gets the counts of what is left out.
    """

    def __init__(self, schemas: Schemas, notes: Notes) -> None:
        self._schemas = schemas
        self._notes = notes
        self._counts: Counter[str] = Counter()
        self._ids = TaskIds(self._counts)
        self._called: Counter[str] = Counter()

    def task(self, split: str, dialogue: Any) -> Task:
        """Return a dialogue's task.

        Raises:
            LeftOut: It is known, or cannot be used.
            DataError: The record is malformed.
        """
        dialogue_id = field_of(dialogue, "dialogue_id", str)
        services = field_of(dialogue, "services", list)
        self._counts["dialogues"] += 1
        opening = _opening(field_of(dialogue, "turns", list))
        if isinstance(opening, str):
            raise LeftOut(opening)
        text, named, intent = opening
        service = self._schemas.splits[split].get(named)
        api = None if service is None or intent == NO_INTENT else service.apis.get(intent)
        if api is None:
            raise LeftOut("no_intent" if intent in (NO_INTENT, "") else "unknown_intent")
        task_id = self._ids.add(f"{split}/{dialogue_id}", text)
        self._called[api.tool] += 1
        domains = {domain_of(str(service)) for service in services}
        return Task(
            task_id,
            BENCHMARK,
            (Goal(text, relevant=(api.tool,)),),
            split=split,
            tags={
                "group": split,
                "domain": domain_of(named),
                "multi_domain": len(domains) > 1,
                "multi_tool": False,
                "multi_step": False,
            },
        )

    def facts(self) -> dict[str, JSON]:
        """Return the counts of what was met."""
        self._counts["duplicates"] += 0
        self._counts["repeated_texts"] = self._ids.repeated
        self._counts["relevant_tools"] = len(self._called)
        return dict(self._counts)


def _opening(turns: list[Any]) -> tuple[str, str, str] | str:
    """Return text, service and intent of the user's first turn, or the reason why there is none."""
    for turn in turns:
        if field_of(turn, "speaker", str) == "USER":
            text = field_of(turn, "utterance", str)
            frames = field_of(turn, "frames", list)
            if not text.strip() or not frames:
                return "empty_utterance" if frames else "no_frame"
            intent = field_of(field_of(frames[0], "state", dict), "active_intent", str)
            service = field_of(frames[0], "service", str)
            return text, service, intent
    return "no_user_turn"


SINGLE, MULTI = "single_app", "multi_app"
_SINGLE_SHARE = 0.6


class Drawing:
    """Draws while dialogues pass, holding no more than it keeps.

    Which are kept depends on the seed and their ids alone, not on their order.

    Args:
        size: How many: three in five of one app, as in the paper; None: all.
        seed: Of the drawing.

    Raises:
        UsageError: The size is no positive whole number, or the seed no whole number.
    """

    def __init__(self, size: int | None, seed: int) -> None:
        if size is not None and (type(size) is not int or size < 1):
            raise UsageError(f"sample: expected a number of dialogues above 0, got {size!r}")
        if type(seed) is not int:
            raise UsageError(f"seed: expected a whole number, got {seed!r}")
        single = 0 if size is None else round(size * _SINGLE_SHARE)
        self._room = {SINGLE: single, MULTI: (size or 0) - single}
        self._all = size is None
        self._seed = seed
        self._kept: dict[str, list[tuple[int, int, Task]]] = {SINGLE: [], MULTI: []}
        self._met = 0

    def passing(self, task: Task) -> Task:
        """Return the task where all are taken.

        Raises:
            LeftOut: Some are drawn; the task is kept for now where it is among them so far.
        """
        if self._all:
            return task
        group = str(task.tags["group"])
        kept, room = self._kept[group], self._room[group]
        # The largest number leaves first; ids are unique, so ties are broken by their place.
        entry = (-int(digest([self._seed, task.id])[:16], 16), -self._met, task)
        self._met += 1
        if len(kept) < room:
            heappush(kept, entry)
        elif kept and entry[:2] > kept[0][:2]:
            heapreplace(kept, entry)
        raise LeftOut

    def drawn(self) -> Iterator[Task]:
        """Yield the tasks that were drawn, in the order in which they passed.

        Raises:
            UsageError: Fewer passed than are asked for.
        """
        for group, kept in self._kept.items():
            if len(kept) < self._room[group]:
                raise UsageError(
                    f"sample: {self._room[group]} dialogues of group {group} are asked for, and "
                    f"the source has {len(kept)}: ask for fewer, or take another split"
                )
        every = [entry for kept in self._kept.values() for entry in kept]
        for _, _, task in sorted(every, key=lambda entry: -entry[1]):
            yield task


SPLITS = ("test", "dev", "train")
VIEWS = ("dialogue", "retrieval")
PLAY = {"team": "tool_life", "history": "gold", "format": "bracket"}
"""How a run plays the dialogues where its user does not say."""

_DIALOGUES = "dialogues_*.json"
_NUMBER = re.compile(r"dialogues_(\d+)\.json")


def import_dialogtool(
    source: Path,
    notes: Notes,
    *,
    view: str = "dialogue",
    split: str = "test",
    schema: str = ORIGINAL,
    sample: int | None = None,
    seed: int = 0,
) -> Iterator[Tool | Task | WorldFile]:
    """Yield the service intents and dialogues of SGD's files, one file in memory at a time.

    Args:
        source: Upstream's folder with `train`, `dev` and `test`, or one of these.
        notes: Gets the counts.
        view: What a task is; "dialogue" or "retrieval".
        split: Of the dialogues: "test", "dev", "train" or "all".
        schema: Wording of the schemas: "original", or "v1" to "v5" of SGD-X.
        sample: Dialogues to draw, three in five of one app: 900 as in the paper; None: all.
        seed: Of the drawing.

    Raises:
        UnknownNameError: No such view, split or schema.
        UsageError: The sample cannot be drawn, or is asked of another view.
        DataError: A file is missing or malformed; the text names file and place.
    """
    check_name("view of dialogtool", view, VIEWS)
    check_name("split of dialogtool", split, (*SPLITS, "all"))
    if sample is not None and view != "dialogue":
        raise UsageError(f"sample draws dialogues: use it with -T view=dialogue, not {view}")
    drawing = Drawing(sample, seed)
    folders = _folders(source)
    corpus = _Corpus(folders, _wanted(folders, split, source), Schemas(notes, schema), notes)
    if view == "retrieval":
        return _openings(corpus)
    return _dialogues(corpus, drawing, split)


@dataclass(frozen=True, slots=True)
class _Corpus:
    """What is imported: the schemas of each split, and its dialogues as far as they are wanted."""

    folders: Mapping[str, Path]
    files: Mapping[str, list[Path]]
    schemas: Schemas
    notes: Notes

    def records(self, read: Callable[[str, Any], Task]) -> Iterator[Tool | Task]:
        """Yield the tools, and what is made of each dialogue of a split."""
        for split, folder in self.folders.items():
            self.schemas.read(split, folder)
        yield from self.schemas.tools()
        for split, paths in self.files.items():
            for path in paths:
                yield from tasks_of(path, partial(read, split), self.notes)
        self.notes.facts["files"] = {split: len(paths) for split, paths in self.files.items()}


def _openings(corpus: _Corpus) -> Iterator[Tool | Task]:
    notes, table = corpus.notes, corpus.schemas.table
    openings = Openings(corpus.schemas, notes)
    yield from corpus.records(openings.task)
    counts = openings.facts() | {
        "repeated_tools": table.duplicates,
        "tool_variants": table.variants,
    }
    notes.facts["schemas"] = list(corpus.folders)
    notes.facts["counts"] = dict(sorted(counts.items()))
    notes.lacks.add("gold_calls")


def _dialogues(corpus: _Corpus, drawing: Drawing, split: str) -> Iterator[Tool | Task | WorldFile]:
    schemas, notes = corpus.schemas, corpus.notes
    dialogues = Dialogues(schemas, drawing)
    yield from corpus.records(dialogues.task)
    yield from drawing.drawn()
    yield from dialogues.recorded.creation_tasks(schemas.table.by_id(), split)
    yield WorldFile(FILE, dialogues.recorded.mobile())
    counts = {
        name: schema_counts(
            schemas.table[api.tool] for s in services.values() for api in s.apis.values()
        )
        for name, services in schemas.splits.items()
    }
    notes.facts.update(
        missing_files={name: _missing(name, paths) for name, paths in corpus.files.items()},
        counts=dialogues.facts(),
        schemas={**counts, "all": schema_counts(schemas.table)},
        play=PLAY,
    )


def _missing(split: str, paths: list[Path]) -> list[int]:
    """Return the numbers of the dialogue files that the source lacks."""
    found = {int(match[1]) for path in paths if (match := _NUMBER.fullmatch(path.name))}
    return [number for number in range(1, FILES.get(split, 0) + 1) if number not in found]


def _folders(source: Path) -> dict[str, Path]:
    """Return the split folders of a source."""
    if (source / SCHEMA).is_file():
        return {source.resolve().name: source}
    found = {name: source / name for name in SPLITS if (source / name / SCHEMA).is_file()}
    if not found:
        expected = f"a folder test, dev or train with {SCHEMA} and {_DIALOGUES}"
        raise wrong_source(source, expected, BENCHMARK)
    return found


def _wanted(folders: Mapping[str, Path], split: str, source: Path) -> dict[str, list[Path]]:
    """Return the dialogue files of each wanted split."""
    names = folders if split == "all" else [split] if split in folders else []
    files = {name: sorted(folders[name].glob(_DIALOGUES)) for name in names}
    if not any(files.values()):
        raise DataError(
            f"{source} has no {_DIALOGUES} of the split {split!r}; it has the splits "
            f"{', '.join(folders)}: choose one with -T split=NAME, or fetch the files"
        )
    return files


# -- Counts of an import.
#
# Dialogues are counted before any is left out, so that the counts are the corpus's.

FILES = {"train": 127, "dev": 20, "test": 34}
"""Dialogue files of each split, numbered from 1."""


def schema_counts(tools: Iterable[Tool]) -> dict[str, JSON]:
    """Return what the schemas of some tools hold.

    Args:
        tools: Each a service's intent; one that several splits have counts once.

    Returns:
        Services, domains, apis (different names), app_apis (different names within an app),
        service_apis, transactional; of a service's API inputs_mean, inputs_max, required_mean and
        results_mean, rounded to 2 places.
    """
    apis = {(tool.source["tool"], tool.source["api"]): tool for tool in tools}
    inputs = [len(tool.parameters["properties"]) for tool in apis.values()]
    required = [len(tool.parameters["required"]) for tool in apis.values()]
    results = [len(tool.returns["items"]["properties"]) for tool in apis.values()]
    return {
        "services": len({service for service, _ in apis}),
        "domains": len({tool.category for tool in apis.values()}),
        "apis": len({api for _, api in apis}),
        "app_apis": len({(tool.category, api) for (_, api), tool in apis.items()}),
        "service_apis": len(apis),
        "transactional": sum(bool(tool.source["transactional"]) for tool in apis.values()),
        "inputs_mean": _mean(sum(inputs), len(apis)),
        "inputs_max": max(inputs, default=0),
        "required_mean": _mean(sum(required), len(apis)),
        "results_mean": _mean(sum(results), len(apis)),
    }


class Tally:
    """Counts of the dialogues of one split."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._acts: Counter[str] = Counter()
        self._kinds: Counter[str] = Counter()
        self._most: dict[str, int] = {"arguments": 0, "results": 0}
        self._brought: dict[tuple[str, bytes], int] = {}
        self._conflicts: set[tuple[str, bytes]] = set()

    def add(self, reading: Reading) -> None:
        """Count a dialogue and its calls."""
        self._counts["dialogues"] += 1
        self._counts["turns"] += reading.turns
        self._counts["multi_domain"] += len(set(map(domain_of, reading.services))) > 1
        self._counts["multi_service"] += len(set(reading.services)) > 1
        self._acts.update(reading.first_acts)
        self._kinds.update(str(goal.labels["kind"]) for goal in reading.goals)
        for call in reading.calls:
            self._counts["calls"] += 1
            self._counts["transactional_calls"] += call.api.transactional
            self._counts["empty_results"] += not call.rows
            for name, number in (("arguments", len(call.arguments)), ("results", len(call.rows))):
                self._counts[name] += number
                self._most[name] = max(self._most[name], number)
            key = call.api.tool, call.key
            if self._brought.setdefault(key, hash(call.rows)) != hash(call.rows):
                self._conflicts.add(key)

    def facts(self) -> dict[str, JSON]:
        """Return the counts, means rounded to 2 places."""
        counts, calls = self._counts, self._counts["calls"]
        return {
            "dialogues": counts["dialogues"],
            "turns": counts["turns"],
            "turns_mean": _mean(counts["turns"], counts["dialogues"]),
            "multi_domain": counts["multi_domain"],
            "multi_service": counts["multi_service"],
            "calls": calls,
            "transactional_calls": counts["transactional_calls"],
            "empty_results": counts["empty_results"],
            "distinct_calls": len(self._brought),
            "conflicting_calls": len(self._conflicts),
            "arguments_mean": _mean(counts["arguments"], calls),
            "arguments_max": self._most["arguments"],
            "results_mean": _mean(counts["results"], calls),
            "results_max": self._most["results"],
            "kinds": dict(sorted(self._kinds.items())),
            "first_acts": {name.lower(): number for name, number in self._acts.most_common()},
        }


def _mean(total: int, number: int) -> float:
    return round(total / number, 2) if number else 0.0
