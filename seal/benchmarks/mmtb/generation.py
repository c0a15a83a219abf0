"""`seal generate missions`: its settings, which missions are written, by which models."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any, get_args

from seal.api.experiment_results import Generated
from seal.benchmarks.mmtb.dialogues import Dialogue, MissionType, check_language
from seal.benchmarks.mmtb.generation_scene import (
    Assignment,
    ChoosesTools,
    Relation,
    Scene,
    Speakers,
    Validation,
)
from seal.benchmarks.mmtb.generation_team import Made, ModelSpeakers, Studio, Take, task_of
from seal.benchmarks.mmtb.importer import Tally
from seal.core import (
    JSON,
    CacheMode,
    ChatModel,
    DataError,
    Goal,
    InfrastructureError,
    Simulator,
    Task,
    Tool,
    UnknownNameError,
    UsageError,
    check_name,
    located,
    shortened,
)
from seal.core.settings import Count, check_fields, checked, checked_names
from seal.core.store import Store, open_store
from seal.core.validation import CallValidator
from seal.core.values import canonical_json, derive_seed
from seal.experiments.generation import (
    Progress,
    RecordJournal,
    check_folder,
    check_named,
    open_journal,
    unheard,
    write_pool,
)
from seal.experiments.series import write_json
from seal.models.cached_model import CachedModel
from seal.models.spec import (
    Flagged,
    ModelSettings,
    build_model,
    is_cached,
    is_offline,
    model_identity,
    open_model,
    split_name,
)
from seal.pools.declarations import Told, written
from seal.pools.imports import ImportReport
from seal.pools.lookup import Bench, open_pool
from seal.pools.reading.files import expect, json_file
from seal.pools.reading.files import field_of as read_field
from seal.runs.settings import ModelChoice, SimulatorChoice
from seal.simulator_cache.simulators import SimulatedEnvironments, SimulatorSetup, build_simulator

# -- What a generation of missions is told, and which follow: types, relations, dates, seeds.
#
# Up to four missions every sequence of types is made, in the order of counting. For more missions a
# covering array is made: each window of a de Bruijn cycle. At every place every run of `cover`
# types then occurs exactly once. A smaller set could not do that.
#
# Source: "Multi-Mission Tool Bench" (2025), the mission switching space; the covering array is
# ours.

TYPES: tuple[MissionType, ...] = get_args(MissionType)
RELATIONS: tuple[Relation, ...] = get_args(Relation)
ROLES = ("user_simulator", "planner", "agent", "simulator")
"""Who may have a model of its own."""
MOST_COMPLETE = 4
"""Missions up to which every sequence of types is made."""
DATE = "%Y-%m-%d %H:%M, %A"
_YEAR = datetime(2024, 1, 1)
_DAYS = 366
_WAKING = (7 * 60, 22 * 60)
"""Minutes of a day between which people ask."""

MOST = 10
"""Tools of a dialogue where the pool has no lists."""
_CATEGORIES = 3


@dataclass(frozen=True, kw_only=True)
class MissionGroup:
    """Missions: what dialogues are made of."""

    missions: Count = 4
    """Number of missions of a dialogue."""
    types: Sequence[MissionType] = TYPES
    """Types of missions: single, multi, chat, clarify. Up to four missions give every sequence of
    types.

    More missions give the sequences that `cover` asks for.
    """
    relations: Sequence[Relation] = RELATIONS
    """How later missions refer to earlier ones: implicit, ellipsis, memory."""
    cover: Count = 2
    """With more than four missions: cover all sequences of so many types."""
    language: str = "en"
    """Language: en or zh."""
    limit: Count | None = None
    """Most dialogues; the same command may ask for more later."""
    seed: int = 0
    """Seed; another one gives other dialogues."""


@dataclass(frozen=True, kw_only=True)
class SpeakerGroup:
    """Models: who plays user, planner and agent, and what answers calls."""

    model: ModelChoice | Speakers | None = None
    """Model that plays user, planner and agent, as PROVIDER/MODEL; it must be named."""
    role_models: Mapping[str, ModelChoice] = field(
        default_factory=dict, metadata={"metavar": "ROLE=MODEL"}
    )
    """Model for user_simulator, planner, agent or simulator."""
    model_options: Mapping[str, Any] = field(default_factory=dict)
    base_url: str | None = None
    simulator: SimulatorChoice = "template"
    workers: Count = 1
    """Number of dialogues that are made at once."""
    cache: CacheMode = "record"
    """Cached answers of models and simulators: keep and reuse them (record), only reuse them
    (replay), or neither (off)."""
    cache_dir: str | Path | None = None


@dataclass(frozen=True, kw_only=True)
class ReviewGroup:
    """Pool and review: what the pool is called, and what a person chooses."""

    name: str = ""
    """Name of the new pool.  [default: that of its folder]"""
    review: str | Path | None = field(default=None, metadata={"metavar": "FILE"})
    """File for the candidates of every mission; choices that you edit in it are used."""


@checked_names
@dataclass(frozen=True, kw_only=True)
class MissionSettings(MissionGroup, SpeakerGroup, ReviewGroup):
    """Settings of one generation.

    Raises:
        UnknownNameError: A type, relation, role, cache mode or language is unknown.
        UsageError: No model is named, or a number is out of range.
    """

    def __post_init__(self) -> None:
        """Reject what cannot be."""
        check_fields(self)
        for role in self.role_models:
            check_name("role", role, ROLES)
        check_language(self.language)
        self._check_sequences()
        check_named(self.model, "missions")

    def _check_sequences(self) -> None:
        for what, values in (("types", self.types), ("relations", self.relations)):
            if len(set(values)) != len(values):
                raise UsageError(f"{what}: each may stand once, got {', '.join(values)}")
        if not self.types:
            raise UsageError("types: expected at least one of single, multi, chat, clarify")
        if self.missions > 1 and not {"implicit", "ellipsis"} & set(self.relations):
            raise UsageError(
                "relations: a second mission can lean on the first by implicit or ellipsis alone; "
                "give one of them"
            )

    def shape(self) -> dict[str, JSON]:
        """Return the settings that shape the dialogues, without models and simulator."""
        return {
            "missions": self.missions,
            "types": list(self.types),
            "relations": list(self.relations),
            "cover": self.cover,
            "language": self.language,
            "seed": self.seed,
        }


def assignments(settings: MissionSettings) -> list[list[Assignment]]:
    """Return what is to be made, dialogue by dialogue.

    Relations are dealt out evenly among the missions of a place and type, memory from the third
    mission on.
    """
    seed = settings.seed
    sequences = type_sequences(settings.missions, settings.types, settings.cover)
    dealt = _relations(sequences, settings.relations, seed)
    made = []
    for number, sequence in enumerate(sequences):
        drawn = random.Random(f"{seed}/{number}/date")
        moment = timedelta(days=drawn.randrange(_DAYS), minutes=drawn.randrange(*_WAKING))
        date = (_YEAR + moment).strftime(DATE)
        missions = []
        for place, kind in enumerate(sequence):
            own = random.Random(f"{seed}/{number}/{place}").getrandbits(31)
            name, relation = f"d{number + 1:04d}", dealt[number][place]
            missions.append(Assignment(name, place, kind, relation, date, settings.language, own))
        made.append(missions)
    return made[: settings.limit]


def type_sequences(
    missions: int, kinds: Sequence[MissionType], cover: int = 2
) -> list[tuple[MissionType, ...]]:
    """Return the sequences of types: all of them, or a covering array of `len(kinds) ** cover`."""
    if missions <= max(MOST_COMPLETE, cover):
        return list(product(kinds, repeat=missions))
    cycle = list(_cycle(len(kinds), cover))
    return [
        tuple(kinds[cycle[(start + place) % len(cycle)]] for place in range(missions))
        for start in range(len(cycle))
    ]


def _cycle(count: int, length: int) -> Iterator[int]:
    """Yield a de Bruijn cycle: each word of `length` letters out of `count` occurs once in it.

    Source: Fredricksen and Maiorana (1978): the Lyndon words whose length divides `length`, in
    order.
    """
    word = [-1]
    while word:
        word[-1] += 1
        if length % len(word) == 0:
            yield from word
        grown = [word[n % len(word)] for n in range(length)]
        while grown and grown[-1] == count - 1:
            grown.pop()
        word = grown


def _relations(
    sequences: Sequence[Sequence[MissionType]], relations: Sequence[Relation], seed: int
) -> list[list[Relation | None]]:
    """Return the relation of each mission of each dialogue."""
    dealt: list[list[Relation | None]] = [[None] * len(sequence) for sequence in sequences]
    cells: dict[tuple[int, MissionType], list[int]] = defaultdict(list)
    for number, sequence in enumerate(sequences):
        for place, kind in enumerate(sequence[1:], 1):
            cells[place, kind].append(number)
    for (place, kind), numbers in cells.items():
        usable = [relation for relation in relations if relation != "memory" or place > 1]
        random.Random(f"{seed}/relations/{place}/{kind}").shuffle(numbers)
        for position, number in enumerate(numbers):
            dealt[number][place] = usable[position % len(usable)]
    return dealt


def draw_tools(tools: Sequence[Tool], seed: int) -> list[Tool]:
    """Return the tools of one dialogue, of no two names alike, in the pool's order.

    A pool with tool lists (`source["lists"]`, as Multi-Mission Tool Bench has them) gives one of
    them; any other up to `MOST` tools of three categories.

    Args:
        tools: The pool, at least one.
        seed: Of the dialogue.
    """
    chance = random.Random(seed)
    lists = sorted({number for tool in tools for number in tool.source.get("lists", ())})
    if lists:
        number = chance.choice(lists)
        return _of_own_names(tool for tool in tools if number in tool.source.get("lists", ()))
    categories = sorted({tool.category for tool in tools})
    chosen = set(chance.sample(categories, min(_CATEGORIES, len(categories))))
    found = _of_own_names(tool for tool in tools if tool.category in chosen)
    taken = set(chance.sample(range(len(found)), min(MOST, len(found))))
    return [tool for position, tool in enumerate(found) if position in taken]


def _of_own_names(tools: Iterable[Tool]) -> list[Tool]:
    by_name: dict[str, Tool] = {}
    for tool in tools:
        by_name.setdefault(tool.name, tool)
    return list(by_name.values())


# -- A pool of missions made from a pool of tools, in a folder that a killed run goes on with.
#
#     tools.jsonl  tasks.jsonl  import.json      the pool, as an import writes it
#     generation/settings.json                   what the dialogues are made by
#   generation/dialogues.jsonl                 each dialogue as it was made, chats and wordings too
#
# A dialogue that cannot be made is dropped, counted by its reason, and the run goes on. What the
# infrastructure fails at is an error instead: it is no part of the pool, and made when the same
# command is given again.
#
# A review is a JSON list with an entry a mission, in the order of the dialogues:
#
#     {"dialogue": "d0001", "mission": 0, "type": "single", "relation": null,
#      "candidates": ["...", "..."], "choice": "...", "dropped": ""}
#
# `choice` is what the user spoke: the first candidate at first. A person may put another candidate
# there, its number from 1, or words of their own. The next time the dialogue is made again from
# that mission on; what came before stays. A person's own words stay in force whatever becomes of
# the candidates. A chosen candidate does so only as long as the candidates are the same.

DIALOGUES = "dialogues.jsonl"
SCHEMA = "dialogue/1"


@checked
def generate_missions(
    bench: Bench,
    out: str | Path,
    *,
    progress: Progress | None = None,
    **options: Any,
) -> Generated:
    """Make dialogues of related missions over a pool's tools, and of them a pool to run.

    Args:
        bench: A benchmark, the name of one, or a pool folder, whose tools are called.
        out: Folder to make. A folder that was begun under the same settings is continued.
        progress: Called with how many dialogues are done, and how many there are.
        **options: Fields of `MissionSettings`. The model may also be an object of `Speakers`
            (`seal.benchmarks.mmtb.generation_scene`).

    Raises:
        UsageError: A setting cannot be, or `out` holds something else.
        DataError: Not one dialogue could be made, or a file is malformed.
        InfrastructureError: A model's server or a store failed; what is done is kept.
    """
    settings, out = MissionSettings(**options), Path(out)
    with open_store(settings.cache_dir) as store:
        pool = open_pool(bench)
        check_folder(out)
        settings = replace(settings, name=settings.name or out.resolve().name)
        tools = {tool.id: tool for tool in pool.tools()}
        wanted = {missions[0].dialogue: missions for missions in assignments(settings)}
        table = None if settings.review is None else Path(settings.review)
        choices = Review.read(table)
        choices.check(wanted.values())
        crew = Crew(settings, tools, store)
        shape = {"pool": pool.digest, **settings.shape(), **crew.identity()}
        with open_journal(out, shape, DIALOGUES, Made, SCHEMA) as journal:
            run = _Run(crew, wanted, choices, shape, journal)
            errors = run.play(progress or unheard)
            journal.put_in_order(list(wanted))
            if table is not None:
                write_review(table, ((made, wanted[made.id]) for made in run.made()))
            report = run.write(out, errors)
            content = {**report.to_json(), "errors": errors}
            return Generated(content, out, report, tuple(errors))


def missions_told(made: Generated, out: Path) -> Told:
    """Return what the command line tells of missions."""
    report = made.content
    shown = {key: report[key] for key in report if key not in ("generation", "lacks")}
    return Told(fields=shown, text=written(out), failures=made.errors)


@dataclass(frozen=True, slots=True)
class _Run:
    """One generation."""

    crew: Crew
    wanted: Mapping[str, Sequence[Assignment]]
    """By dialogue."""
    review: Review
    shape: dict[str, JSON]
    """What the dialogues are made by, for the record."""
    journal: RecordJournal[Made]

    def play(self, progress: Progress) -> list[str]:
        """Make dialogues that are missing, or were made of other choices; return the failures."""
        waiting: dict[str, Sequence[Take]] = {}
        for own, missions in self.wanted.items():
            made = self.journal.made.get(own)
            kept = self.review.unchanged(made, missions) if made else 0
            if made is None or kept < len(made.takes):
                waiting[own] = made.takes[:kept] if made else ()
        done = len(self.wanted) - len(waiting)
        progress(done, len(self.wanted))
        failures: dict[str, str] = {}
        with ThreadPoolExecutor(self.crew.settings.workers, "dialogue") as pool:
            futures = {pool.submit(self._make, own, kept): own for own, kept in waiting.items()}
            try:
                for future in as_completed(futures):
                    try:
                        self.journal.add(future.result())
                    except InfrastructureError as error:
                        failures[futures[future]] = str(error)
                    done += 1
                    progress(done, len(self.wanted))
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return [f"{own}: {failures[own]}" for own in self.wanted if own in failures]

    def made(self) -> Iterator[Made]:
        """Yield the dialogues that were made, in order."""
        yield from (self.journal.made[own] for own in self.wanted if own in self.journal.made)

    def write(self, out: Path, errors: Sequence[str]) -> ImportReport:
        """Write the pool and return its report.

        Args:
            out: Its folder.
            errors: What the infrastructure failed at.

        Raises:
            DataError: No dialogue was made.
            InfrastructureError: No dialogue was made yet, for the infrastructure failed.
        """
        tally, dropped, rejected = Tally(), Counter[str](), Counter[str]()
        tasks = []
        for made in self.made():
            rejected.update(rule for take in made.takes for rule in take.broken)
            if made.dropped is not None:
                dropped[made.dropped.reason] += 1
                continue
            tasks.append(self._task(made))
            tally.add(Dialogue(made.id, made.missions, []), tasks[-1])
        if not tasks and errors:
            raise InfrastructureError(f"no dialogue could be made: {errors[0]}")
        if not tasks:
            told = ", ".join(f"{reason} {count}" for reason, count in sorted(dropped.items()))
            raise DataError(
                f"no dialogue could be made (dropped: {told or 'none'}): see {self.journal.path}; "
                "make others with another --seed, fewer --missions or a greater --limit, or "
                "let another --model make them"
            )
        facts = {
            "missions": {name: count for name, count in tally.facts().items() if count},
            "rejections": dict(sorted(rejected.items())),
            "generation": self.shape,
        }
        name, tools = self.crew.settings.name, self.crew.tools.values()
        return write_pool(
            out, name, tools, tasks, dropped=dict(sorted(dropped.items())), facts=facts
        )

    def _make(self, own: str, kept: Sequence[Take]) -> Made:
        missions = self.wanted[own]

        def choose(scene: Scene, candidates: Sequence[str]) -> str:
            return self.review.choice(scene.assignment, candidates)

        offered = self.crew.choose_tools(missions)
        made = self.crew.studio.make(missions, offered, choose, kept)
        if made.dropped is not None:
            return made
        found = self.crew.validation.faults(self._task(made))
        if not found:
            return made
        told = "; ".join(fault.text for fault in found)
        return replace(made, dropped=replace(found[0], text=told))

    def _task(self, made: Made) -> Task:
        settings = self.crew.settings
        task = task_of(made, self.crew.tools, settings.language)
        dialogue = [
            {
                "seed": assignment.seed,
                "candidates": len(take.candidates),
                "edited": take.choice not in [text.strip() for text in take.candidates],
                "rejections": take.broken,
            }
            for take, assignment in zip(made.takes, self.wanted[made.id], strict=True)
        ]
        provenance = {**self.shape, "dialogue": dialogue}
        own = {**task.metadata, "provenance": provenance}
        return replace(task, benchmark=settings.name, split="", metadata=own)


@dataclass(frozen=True, slots=True)
class _Entry:
    candidates: tuple[str, ...]
    choice: str


@dataclass(frozen=True, slots=True)
class Review:
    """Choices of a person; without any, the first wording is taken."""

    entries: Mapping[tuple[str, int], _Entry] = field(default_factory=dict)
    """By dialogue and mission."""

    @classmethod
    def read(cls, path: Path | None) -> Review:
        """Return the choices that a file holds; none where there is no file yet.

        Raises:
            DataError: It is malformed; the text names the entry.
        """
        if path is None or not path.exists():
            return cls()
        records = expect(json_file(path), list, path, "a list of entries")
        entries = {}
        for position, record in enumerate(records):
            with located(f"{path}: entry {position}"):
                key, entry = _read(record)
            if key in entries:
                raise DataError(f"{path}: entry {position}: {key[0]}, mission {key[1]} again")
            entries[key] = entry
        return cls(entries)

    def check(self, wanted: Iterable[Sequence[Assignment]]) -> None:
        """Make sure that every choice is about a mission that is to be made.

        Raises:
            DataError: One is about another.
        """
        known = {(one.dialogue, one.number) for missions in wanted for one in missions}
        for dialogue, number in self.entries:
            if (dialogue, number) not in known:
                raise DataError(
                    f"the review has a choice for what is not made: there is no mission {number} "
                    f"of a dialogue {dialogue!r}; take out its entry, or the file"
                )

    def choice(self, assignment: Assignment, candidates: Sequence[str]) -> str:
        """Return the wording that a mission takes; empty where there is none."""
        entry = self.entries.get((assignment.dialogue, assignment.number))
        if entry is not None and entry.choice:
            own_words = entry.choice not in entry.candidates
            if own_words or tuple(candidates) == entry.candidates:
                return entry.choice
        return next((text.strip() for text in candidates if text.strip()), "")

    def unchanged(self, made: Made, assignments: Sequence[Assignment]) -> int:
        """Return how many of a dialogue's first missions were made of the present choices."""
        for number, (take, assignment) in enumerate(zip(made.takes, assignments, strict=False)):
            if self.choice(assignment, take.candidates) != take.choice:
                return number
        return len(made.takes)


def _read(record: Any) -> tuple[tuple[str, int], _Entry]:
    key = read_field(record, "dialogue", str), read_field(record, "mission", int)
    candidates = read_field(record, "candidates", list)
    choice = record.get("choice")
    if isinstance(choice, int) and not isinstance(choice, bool):
        if not 1 <= choice <= len(candidates):
            raise DataError(f"choice: expected 1 to {len(candidates)}, or words, got {choice}")
        choice = candidates[choice - 1]
    if not isinstance(choice, str) or not all(isinstance(text, str) for text in candidates):
        raise DataError(f"choice and candidates: expected texts, got {shortened(record)}")
    return key, _Entry(tuple(candidates), choice.strip())


def write_review(path: Path, dialogues: Iterable[tuple[Made, Sequence[Assignment]]]) -> None:
    """Write the candidates and choices of dialogues, for a person to look through."""
    entries = []
    for made, missions in dialogues:
        drop = made.dropped
        for take, assignment in zip(made.takes, missions, strict=False):
            entries.append(
                {
                    "dialogue": made.id,
                    "mission": assignment.number,
                    "type": assignment.kind,
                    "relation": assignment.relation,
                    "candidates": take.candidates,
                    "choice": take.choice,
                    "dropped": drop.text if drop and drop.mission == assignment.number else "",
                }
            )
    write_json(entries, path)


# -- The speakers, models and the simulator of a generation, from its settings.

_PLAYERS = ("lexical", "oracle", "random", "recorded", "replay")


class Crew:
    """Who makes the dialogues. Built once; safe in threads.

    Args:
        settings: Of the generation.
        tools: The pool by id.
        store: Where answers are kept.

    Raises:
        UsageError: A model that plays tasks only, or none for the simulator `llm`.
    """

    def __init__(self, settings: MissionSettings, tools: Mapping[str, Tool], store: Store) -> None:
        self.settings = settings
        self.tools = tools
        self._store = store
        self._main = Flagged(settings.model, settings.base_url, settings.model_options)
        speaks = isinstance(settings.model, str) or hasattr(settings.model, "complete")
        simulated = settings.simulator if isinstance(settings.simulator, str) else ""
        simulates = "llm" in simulated.split("+")
        asked = [*(ROLES[:-1] if speaks else ()), *(ROLES[-1:] if simulates else ())]
        self._built = {role: self._build(role) for role in asked}
        self._check_used()
        self.speakers = self._speakers()
        simulator = self._simulator()
        environments = SimulatedEnvironments(simulator, tools)
        self.studio = Studio(self.speakers, environments, self.model, CallValidator(tools))
        self.validation = Validation(tools, simulator)
        self._simulated_by = simulator.identity

    def model(self, role: str, assignment: Assignment) -> ChatModel:
        """Return the model of a role in the chat about a mission."""
        built = self._built[role]
        task = Task(assignment.dialogue, self.settings.name, (Goal(""),))
        model = open_model(built, task, 0)
        if not is_cached(built):
            return model
        context = {
            "seed": self.settings.seed,
            "dialogue": assignment.dialogue,
            "mission": assignment.number,
            "role": role,
        }
        identity = self._identity(role)
        return CachedModel(model, self._store, identity, self.settings.cache, context)

    def choose_tools(self, missions: Sequence[Assignment]) -> Sequence[Tool]:
        """Return the tools that a dialogue offers."""
        tools = list(self.tools.values())
        if isinstance(self.speakers, ChoosesTools):
            return self.speakers.choose_tools(missions, tools)
        return draw_tools(tools, derive_seed(self.settings.seed, missions[0].dialogue, "tools"))

    def identity(self) -> dict[str, JSON]:
        """Return what shapes the words and the results of calls."""
        return {
            "speakers": dict(getattr(self.speakers, "identity", {})),
            "simulator": self._simulated_by,
        }

    def _check_used(self) -> None:
        """Raise UsageError where something is said of models that nobody asks."""
        for role in self.settings.role_models:
            if role not in self._built:
                why = "your own speakers speak for all roles; leave it out"
                if role == ROLES[-1]:
                    why = "--simulator answers; give --simulator llm too"
                raise UsageError(f"--role-model {role}: no model plays it here, for {why}")
        if self._built.keys() - self.settings.role_models.keys():
            return
        if self.settings.base_url and self._built:
            role = next(iter(self._built))
            raise UsageError(
                "--base-url holds for --model, whom nobody asks here; write the address into the "
                f"role's model: --role-model {role}=MODEL,base_url=URL"
            )
        if self.settings.model_options:
            option = next(iter(self.settings.model_options))
            raise UnknownNameError(f"option -M of {self.settings.model}", option, ())

    def _asked(self, role: str) -> Flagged:
        """Return a role's model; no flag holds for one that was named for the role."""
        own = self.settings.role_models
        return Flagged.of(own[role]) if role in own else self._main

    def _build(self, role: str) -> Any:
        asked = self._asked(role)
        spec = asked.spec
        if hasattr(spec, "candidates"):
            raise UsageError(f"no model plays the {role}: name one with --role-model {role}=MODEL")
        if isinstance(spec, str) and split_name(spec)[0] in _PLAYERS:
            raise UsageError(
                f"{spec!r} cannot be the {role}, who writes: name a model that does with "
                f"--model MODEL or --role-model {role}=MODEL"
            )
        return build_model(spec, ModelSettings() if is_offline(spec) else asked.settings())

    def _identity(self, role: str) -> dict[str, JSON]:
        asked = self._asked(role)
        return model_identity(asked.spec, asked.settings(), self._built[role])

    def _speakers(self) -> Speakers:
        model: Any = self.settings.model
        if hasattr(model, "candidates"):
            speakers: Speakers = model
            return speakers

        own = {role: self._identity(role) for role in ROLES[:-1]}
        return ModelSpeakers({"models": own})

    def _simulator(self) -> Simulator:
        settings, by_model = self.settings, "simulator" in self._built
        identity = canonical_json(self._identity("simulator")).decode() if by_model else ""
        setup = SimulatorSetup(
            tools=self.tools,
            store=None if settings.cache == "off" else self._store,
            mode=settings.cache,
            seed=settings.seed,
            model=self._built["simulator"] if by_model else None,
            model_name=identity,
        )
        return build_simulator(settings.simulator, setup)
