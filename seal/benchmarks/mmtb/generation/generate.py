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

`choice` is what the user spoke: the first candidate at first. A person may put another candidate
there, its number from 1, or words of their own. The next time the dialogue is made again from that
mission on; what came before stays. A person's own words stay in force whatever becomes of the
candidates. A chosen candidate does so only as long as the candidates are the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Unpack

from seal.api.objects.products import Generated
from seal.benchmarks.mmtb.dialogues import Dialogue
from seal.benchmarks.mmtb.generation.crew import Crew
from seal.benchmarks.mmtb.generation.dialogues import Made, Take, task_of
from seal.benchmarks.mmtb.generation.scenes import Assignment, Scene
from seal.benchmarks.mmtb.generation.settings import MissionOptions, MissionSettings, assignments
from seal.benchmarks.mmtb.tasks import Tally
from seal.core import JSON, DataError, InfrastructureError, Task, located, shortened
from seal.core.signatures import checked
from seal.core.store import open_store
from seal.experiments.generation.scaffold import Progress, unheard, write_pool
from seal.experiments.generation.work_folder import RecordJournal, check_folder, open_journal
from seal.experiments.result_files import write_json
from seal.pools.generator import Told, written
from seal.pools.imports import ImportReport
from seal.pools.lookup import Bench, open_pool
from seal.pools.reading.upstream_files import expect, json_file
from seal.pools.reading.upstream_files import field as read_field

DIALOGUES = "dialogues.jsonl"
SCHEMA = "dialogue/1"


@checked
def generate_missions(
    bench: Bench,
    out: str | Path,
    *,
    progress: Progress | None = None,
    **options: Unpack[MissionOptions],
) -> Generated:
    """Make dialogues of related missions over a pool's tools, and of them a pool to run.

    Args:
        bench: A benchmark, the name of one, or a pool folder, whose tools are called.
        out: Folder to make. A folder that was begun under the same settings is continued.
        progress: Called with how many dialogues are done, and how many there are.
        **options: Fields of `MissionSettings`. The model may also be an object of `Speakers`
            (`seal.benchmarks.mmtb.generation.scenes`).

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
        own = {**task.metadata, "argument_scorer": "exact", "provenance": provenance}
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
