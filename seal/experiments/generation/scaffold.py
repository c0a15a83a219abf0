"""What every generation of a benchmark does: take up or make each record, and write the pool.

    generation/settings.json, generation/NAME.jsonl      what was proposed (`journal`)
    tools.jsonl  tasks.jsonl  import.json                the pool, as an import writes it

A generator brings who writes, the rules that a proposal must meet, and what a person's review of
it looks like. It names the records it wants, and `filled` makes those that the journal lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from seal.core import JSON, Task, Tool
from seal.core.records import AtomicFile, write_records
from seal.experiments.generation.work_folder import Made, RecordJournal
from seal.experiments.result_files import write_json
from seal.pools.importer import REPORT, TASKS, TOOLS, WorldFile, pool_digest
from seal.pools.imports import ImportReport

Progress = Callable[[int, int], None]
"""Told how many records are done, and how many there are."""


def unheard(done: int, total: int) -> None:
    """Tell nobody of progress."""


def filled(
    journal: RecordJournal[Made], wanted: Mapping[str, Callable[[], Made]], progress: Progress
) -> list[Made]:
    """Return the wanted records in order; those that the journal lacks are made, one by one.

    Args:
        journal: Gets what is made.
        wanted: Id of a record to what makes it.
        progress: Told how far it is.
    """
    for number, (own, make) in enumerate(wanted.items(), 1):
        if own not in journal.made:
            journal.add(make())
        progress(number, len(wanted))
    return [journal.made[own] for own in wanted]


def write_pool(
    out: Path,
    name: str,
    tools: Iterable[Tool],
    tasks: Sequence[Task],
    *,
    dropped: Mapping[str, int],
    facts: Mapping[str, JSON],
    beside: Iterable[WorldFile] = (),
) -> ImportReport:
    """Write a pool into the folder of a generation, and return the report that stands beside it.

    Args:
        out: The folder.
        name: Of the pool.
        tools: Of the pool.
        tasks: Of the pool.
        dropped: Reason to the number of records that were left out.
        facts: Further counts, each under a name of its own.
        beside: Files of its worlds that go with the pool.
    """
    count = write_records(out / TOOLS, tools)
    write_records(out / TASKS, tasks)
    for part in beside:
        with AtomicFile(out / part.name) as file:
            file.write(part.content)
    report = ImportReport(
        name, len(tasks), count, dict(dropped), (), pool_digest(out), {}, dict(facts)
    )
    write_json(report.to_json(), out / REPORT)
    return report
