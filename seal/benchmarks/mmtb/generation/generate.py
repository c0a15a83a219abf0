"""A pool of missions made from a pool of tools, in a folder that a killed run goes on with.

    tools.jsonl  tasks.jsonl  import.json      the pool, as an import writes it
    generation/settings.json                   what the dialogues are made by
    generation/dialogues.jsonl                 each dialogue as it was made, chats and wordings too

A dialogue that cannot be made is dropped, counted by its reason, and the run goes on. What the
infrastructure fails at is an error instead: it is no part of the pool, and made when the same
command is given again.

A review is a JSON list with an entry a mission, in the order of the dialogues:

    {"dialogue": "d0001", "mission": 0, "type": "single", "relation": null,
     "candidates": ["...", "..."], "choice": "...", "dropped": ""}

`choice` is what the user spoke: the first candidate at first. Another candidate, its number from 1,
or words of the person's own are taken the next time: the dialogue is made again from that mission
on, what came before stays. Words of one's own stay in force whatever becomes of the candidates; a
chosen candidate only as long as the candidates are the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson

from seal.benchmarks.mmtb.dialogues import Dialogue
from seal.benchmarks.mmtb.generation.crew import Crew
from seal.benchmarks.mmtb.generation.dialogues import Drop, Made, Studio, Take, task_of
from seal.benchmarks.mmtb.generation.scenes import Assignment, ChoosesTools
from seal.benchmarks.mmtb.generation.settings import MissionSettings, assignments, draw_tools
from seal.benchmarks.mmtb.generation.validation import Validation
from seal.benchmarks.mmtb.tasks import Tally
from seal.core.canonical import derive_seed
from seal.core.errors import DataError, InfrastructureError, shortened
from seal.core.records import AtomicFile, to_plain, write_records
from seal.core.store import Store
from seal.core.types import JSON, Task, Tool
from seal.core.validation import CallValidator
from seal.experiments.generation.journal import Journal, check_folder, open_journal
from seal.pools.importer import REPORT, TASKS, TOOLS, ImportReport, pool_digest
from seal.pools.pool import StoredPool
from seal.pools.reading.records import field as read_field
from seal.simulator_cache.environments import SimulatedEnvironments

DIALOGUES = "dialogues.jsonl"
SCHEMA = "dialogue/1"

Progress = Callable[[int, int], None]
"""Told how many dialogues are done, and how many there are."""


@dataclass(frozen=True, slots=True)
class Generated:
    """What a generation made."""

    report: ImportReport
    errors: tuple[str, ...]
    """Dialogues that the infrastructure failed at, with the failure."""

    def to_json(self) -> dict[str, JSON]:
        """Return the content of `import.json`, and the errors."""
        return {**self.report.to_json(), "errors": list(self.errors)}


def generate_missions(
    pool: StoredPool,
    out: Path,
    settings: MissionSettings,
    store: Store,
    *,
    review: Path | None = None,
    progress: Progress = lambda done, total: None,
) -> Generated:
    """Make dialogues of missions, and of them a pool.

    Args:
        pool: Whose tools are called.
        out: Folder of the new pool; one begun under the same settings is gone on with.
        settings: What is made, and by whom.
        store: Where answers of models and simulators are kept.
        review: File whose choices are taken where it exists, and that gets all candidates.
        progress: Told how far it is.

    Raises:
        UsageError: `out` holds something else, or dialogues of other settings.
        DataError: Not one dialogue could be made, or a file is malformed.
        InfrastructureError: Not one could be made yet: a model's server or a store failed.
    """
    check_folder(out)
    settings = replace(settings, name=settings.name or out.resolve().name)
    tools = {tool.id: tool for tool in pool.tools()}
    wanted = assignments(
        settings.missions,
        settings.types,
        settings.relations,
        language=settings.language,
        seed=settings.seed,
        cover=settings.cover,
    )[: settings.limit]
    choices = Review.read(review)
    choices.check(wanted)
    crew = Crew(settings, tools, store)
    shape = {"pool": pool.digest, **settings.shape(), **crew.identity()}
    with open_journal(out, shape, DIALOGUES, Made, SCHEMA) as journal:
        run = _Run(settings, wanted, crew, tools, shape, choices, journal)
        errors = run.play(progress)
        journal.put_in_order(run.order)
        if review is not None:
            write_review(review, run.reviewed())
        return Generated(run.write(out, errors), tuple(errors))


class _Run:
    """One generation.

    Args:
        settings: Of it.
        wanted: What is made, dialogue by dialogue.
        crew: Who makes the dialogues.
        tools: The pool by id.
        shape: What the dialogues are made by, for the record.
        review: Choices of a person.
        journal: Gets the dialogues.
    """

    def __init__(
        self,
        settings: MissionSettings,
        wanted: Sequence[Sequence[Assignment]],
        crew: Crew,
        tools: Mapping[str, Tool],
        shape: dict[str, JSON],
        review: Review,
        journal: Journal[Made],
    ) -> None:
        self._settings = settings
        self._crew = crew
        self._tools = tools
        self._shape = shape
        self._review = review
        self._journal = journal
        environments = SimulatedEnvironments(crew.simulator, tools)
        self._studio = Studio(crew.speakers, environments, crew.model, CallValidator(tools))
        self._validation = Validation(tools, crew.simulator)
        self._wanted = {missions[0].dialogue: missions for missions in wanted}

    @property
    def order(self) -> list[str]:
        """Ids of the dialogues in order."""
        return list(self._wanted)

    def play(self, progress: Progress) -> list[str]:
        """Make what is not made, or was made of other choices. Returns the failures."""
        waiting = list(self._waiting())
        total = len(self._wanted)
        done = total - len(waiting)
        progress(done, total)
        failures: dict[str, str] = {}
        with ThreadPoolExecutor(self._settings.workers, "dialogue") as pool:
            futures = {pool.submit(self._make, own, kept): own for own, kept in waiting}
            try:
                for future in as_completed(futures):
                    try:
                        self._journal.add(future.result())
                    except InfrastructureError as error:
                        failures[futures[future]] = str(error)
                    done += 1
                    progress(done, total)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return [f"{own}: {failures[own]}" for own in self._wanted if own in failures]

    def reviewed(self) -> Iterator[tuple[Made, Sequence[Assignment]]]:
        """Yield what was made with what was to be made."""
        for own, missions in self._wanted.items():
            if own in self._journal.made:
                yield self._journal.made[own], missions

    def write(self, out: Path, errors: Sequence[str]) -> ImportReport:
        """Write the pool and return its report.

        Args:
            out: Its folder.
            errors: What the infrastructure failed at.

        Raises:
            DataError: There is no dialogue.
            InfrastructureError: There is none yet, for the infrastructure failed.
        """
        tally, dropped, rejected = Tally(), Counter[str](), Counter[str]()
        tasks = []
        for made, _ in self.reviewed():
            for take in made.takes:
                rejected.update(text.partition(":")[0] for text in take.rejections)
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
                f"no dialogue could be made (dropped: {told or 'none'}): see {self._journal.path}; "
                "make others with another --seed, fewer --missions or a greater --limit, or "
                "let another --model make them"
            )
        write_records(out / TOOLS, self._tools.values())
        write_records(out / TASKS, tasks)
        facts = {
            "missions": {name: count for name, count in tally.facts().items() if count},
            "rejections": dict(sorted(rejected.items())),
            "generation": self._shape,
        }
        report = ImportReport(
            self._settings.name,
            len(tasks),
            len(self._tools),
            dict(sorted(dropped.items())),
            (),
            pool_digest(out),
            {},
            facts,
        )
        text = orjson.dumps(
            report.to_json(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
        )
        with AtomicFile(out / REPORT) as file:
            file.write(text)
        return report

    def _waiting(self) -> Iterator[tuple[str, tuple[Take, ...]]]:
        """Yield the dialogues to make, with their first missions that stay as they are."""
        for own, missions in self._wanted.items():
            made = self._journal.made.get(own)
            kept = self._review.unchanged(made, missions) if made else 0
            if made is None or kept < len(made.takes):
                yield own, made.takes[:kept] if made else ()

    def _make(self, own: str, kept: Sequence[Take]) -> Made:
        missions = self._wanted[own]

        def choose(scene: Any, candidates: Sequence[str]) -> str:
            return self._review.choice(scene.assignment, candidates)

        made = self._studio.make(missions, self._offered(missions), choose, kept)
        if made.dropped is not None:
            return made
        found = self._validation.faults(self._task(made))
        if not found:
            return made
        told = "; ".join(fault.text for fault in found)
        return replace(made, dropped=Drop(found[0].mission or 0, found[0].kind, told))

    def _offered(self, missions: Sequence[Assignment]) -> Sequence[Tool]:
        speakers, tools = self._crew.speakers, list(self._tools.values())
        if isinstance(speakers, ChoosesTools):
            return speakers.choose_tools(missions, tools)
        return draw_tools(tools, derive_seed(self._settings.seed, missions[0].dialogue, "tools"))

    def _task(self, made: Made) -> Task:
        task = task_of(made, self._tools, self._settings.language)
        missions = self._wanted[made.id]
        provenance = {
            **self._shape,
            "dialogue": [
                _provenance(take, mission)
                for take, mission in zip(made.takes, missions, strict=True)
            ],
        }
        return replace(
            task,
            benchmark=self._settings.name,
            split="",
            metadata={**task.metadata, "argument_scorer": "exact", "provenance": provenance},
        )


def _provenance(take: Take, assignment: Assignment) -> dict[str, JSON]:
    """Return where a mission is from: its seed, its wording, what the checker sent back."""
    return {
        "seed": assignment.seed,
        "candidates": len(take.candidates),
        "edited": take.choice not in [text.strip() for text in take.candidates],
        "rejections": [text.partition(":")[0] for text in take.rejections],
    }


@dataclass(frozen=True, slots=True)
class _Entry:
    candidates: tuple[str, ...]
    choice: str

    def fits(self, candidates: Sequence[str]) -> bool:
        return self.choice not in self.candidates or tuple(candidates) == self.candidates


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
        try:
            records = orjson.loads(path.read_bytes())
        except (OSError, orjson.JSONDecodeError) as error:
            raise DataError(f"{path}: not readable as JSON: {error}") from error
        if not isinstance(records, list):
            raise DataError(f"{path}: expected a list of entries, got {shortened(records)}")
        entries = {}
        for position, record in enumerate(records):
            try:
                key, entry = _read(record)
            except DataError as error:
                raise DataError(f"{path}: entry {position}: {error}") from error
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
        if entry is not None and entry.choice and entry.fits(candidates):
            return entry.choice
        return next((text.strip() for text in candidates if text.strip()), "")

    def unchanged(self, made: Made, assignments: Sequence[Assignment]) -> int:
        """Return how many of a dialogue's first missions were made of what is chosen now."""
        for number, (take, assignment) in enumerate(zip(made.takes, assignments, strict=False)):
            if self.choice(assignment, take.candidates) != take.choice:
                return number
        return len(made.takes)


def write_review(path: Path, dialogues: Iterable[tuple[Made, Sequence[Assignment]]]) -> None:
    """Write the candidates and choices of dialogues, for a person to look through."""
    entries = [entry for made, missions in dialogues for entry in _entries(made, missions)]
    text = orjson.dumps(to_plain(entries), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    with AtomicFile(path) as file:
        file.write(text)


def _entries(made: Made, assignments: Sequence[Assignment]) -> Iterator[dict[str, JSON]]:
    for take, assignment in zip(made.takes, assignments, strict=False):
        drop = made.dropped
        here = drop is not None and drop.mission == assignment.number
        yield {
            "dialogue": made.id,
            "mission": assignment.number,
            "type": assignment.kind,
            "relation": assignment.relation,
            "candidates": list(take.candidates),
            "choice": take.choice,
            "dropped": drop.text if here and drop else "",
        }


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
