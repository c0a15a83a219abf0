"""What generators share: the folder they go on in, who writes, and the pool."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from seal.core import (
    JSON,
    ChatModel,
    Completion,
    DataError,
    Message,
    Request,
    Task,
    Tool,
    UsageError,
)
from seal.core.files import AtomicFile, Lock
from seal.core.records import decode, encode, to_plain, write_records
from seal.core.values import equal
from seal.experiments.series import parsed, write_json
from seal.models.spec import ModelSettings, build_model, is_offline, model_identity
from seal.pools.importer import REPORT, TASKS, TOOLS, WorldFile, pool_digest
from seal.pools.imports import ImportReport
from seal.runs.journal import KeyedLines
from seal.runs.settings import ModelChoice

# -- What every generation of a benchmark does: take up or make each record, and write the pool.
#
#     generation/settings.json, generation/NAME.jsonl      what was proposed (`journal`)
#     tools.jsonl  tasks.jsonl  import.json                the pool, as an import writes it
#
# A generator brings who writes, the rules that a proposal must meet, and what a person's review of
# it looks like. It names the records it wants, and `filled` makes those that the journal lacks.

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


# -- The folder in which a generation works: a killed one goes on where it was.
#
#     generation/settings.json   what its records are made by
#     generation/NAME.jsonl      each record as it was made, a line each
#
# A line is written when its record is done. Of several lines about one record the last one counts;
# a torn last line is cut off.

WORK = "generation"
"""Folder, inside of what is made, of what it was made of."""
SETTINGS = "settings.json"


class Identified(Protocol):
    """A record of a generation, a dataclass."""

    @property
    def id(self) -> str:
        """What tells it from the others."""
        ...


Made = TypeVar("Made", bound=Identified)


class RecordJournal(KeyedLines[str], Generic[Made]):
    """Records as they are made. For one thread.

    Args:
        path: The file; it may exist from an earlier run.
        kind: Of the records.
        schema: Name and version of their form.

    Raises:
        DataError: A line is no such record.
    """

    def __init__(self, path: Path, kind: type[Made], schema: str) -> None:
        self._kind = kind
        self._schema = schema
        self.made: dict[str, Made] = {}
        """By id, as the file has them."""
        super().__init__(path)

    def add(self, made: Made) -> Made:
        """Write a record; it is in the file when this returns.

        Returns:
            What the file has of it: keys of services, and what JSON cannot hold, are replaced. Who
            goes on with this makes what one makes who reads the file.
        """
        line = encode(made, self._schema)
        held = decode(line, self._kind, self._schema)
        self.write(held.id, line)
        self.made[held.id] = held
        return held

    def put_in_order(self, ids: Sequence[str]) -> None:
        """Rewrite the file with one line a record, in this order; others follow."""
        self.rewrite(dict.fromkeys([*(own for own in ids if own in self.made), *self.made]))
        self.made = {own: self.made[own] for own in self.places}

    def _key(self, line: bytes, number: int) -> str:
        """Take note of a record, and return its id."""
        try:
            made = decode(line, self._kind, self._schema)
        except DataError as error:
            raise DataError(
                f"{self.path}, line {number}: {error}; delete the line, so that what it "
                "was of is made again"
            ) from error
        self.made[made.id] = made
        return made.id


def check_folder(out: Path) -> None:
    """Make sure that a generation may write into a folder.

    Raises:
        UsageError: It holds something that no generation made.
    """
    taken = out.exists() and (not out.is_dir() or any(out.iterdir()))
    if taken and not (out / WORK).is_dir():
        raise UsageError(f"{out} exists and holds something else: choose a new folder")


@contextmanager
def open_journal(
    out: Path, settings: Mapping[str, JSON], name: str, kind: type[Made], schema: str
) -> Iterator[RecordJournal[Made]]:
    """Give the journal of a generation, for one process at a time.

    Args:
        out: Folder of what is made; it is made too.
        settings: What shapes the records.
        name: Of the journal.
        kind: Of the records.
        schema: Name and version of their form.

    Raises:
        UsageError: The folder holds something else, or records of other settings, or another
            process is at work there.
        DataError: A file is malformed.
    """
    check_folder(out)
    work = out / WORK
    work.mkdir(parents=True, exist_ok=True)
    with Lock(work):
        path, own = work / SETTINGS, to_plain(settings)
        held = parsed(path, "choose another --out") if path.is_file() else own
        held = held if isinstance(held, dict) else {}
        for key, value in own.items():
            if not equal(value, held.get(key)):
                raise UsageError(
                    f"{out} was made with another {key}: {held.get(key)!r}, now {value!r}; choose "
                    "another --out"
                )
        if not path.is_file():
            write_json(own, path)
        with closing(RecordJournal(work / name, kind, schema)) as journal:
            yield journal


# -- The settings of who writes, which generators share: a language model, which must be named.


@dataclass(frozen=True, kw_only=True)
class WriterGroup:
    """Model: who writes."""

    model: ModelChoice | None = None
    """Model that writes, as PROVIDER/MODEL; it must be named."""
    model_options: Mapping[str, Any] | None = None
    base_url: str | None = None


def check_named(spec: Any, writes: str) -> None:
    """Make sure that a model is named; the grammars that there were write nothing any more.

    Args:
        spec: A model, or its name.
        writes: What is asked of it, in the plural, for messages.

    Raises:
        UsageError: None is.
    """
    if spec is None or spec == "grammar":
        raise UsageError(
            f"name the model that writes the {writes}: --model PROVIDER/MODEL, such as "
            "openai/NAME or local/NAME"
        )


# -- Who writes what is generated: a language model that is asked.

MAX_TOKENS = 4096
"""Of an answer."""


@dataclass(frozen=True, slots=True)
class WritingModel:
    """A model that can be asked to write."""

    model: ChatModel
    identity: dict[str, JSON]
    """What it is, as provenance holds it; where it runs is not kept."""

    def ask(self, messages: Sequence[Message], role: str, seed: int) -> Completion:
        """Return the answer, which should be one JSON object of at most `MAX_TOKENS`.

        Raises:
            ModelError: The server failed or refused.
        """
        return self.model.complete(
            Request(tuple(messages), role=role, seed=seed, max_tokens=MAX_TOKENS, json_object=True)
        )


def writing_model(
    spec: Any, base_url: str | None, options: Mapping[str, Any] | None, writes: str
) -> WritingModel:
    """Return the model that is to write.

    Args:
        spec: A model, or its name as `seal run --model` takes it.
        base_url: Address of its server.
        options: Of the model.
        writes: What is asked of it, in the plural, for messages.

    Raises:
        UsageError: No model is named, or there is no such model, or it plays tasks by rule and
            writes nothing.
    """
    check_named(spec, writes)
    settings = ModelSettings(base_url=base_url).told(options or {})
    if is_offline(spec):
        raise UsageError(
            f"the model {spec!r} plays tasks by rule and writes no {writes}: name a server's "
            "model, such as openai/NAME, or local/NAME"
        )
    model = build_model(spec, settings)
    if not isinstance(model, ChatModel):
        raise UsageError(f"the model {spec!r} plays tasks and cannot be asked to write {writes}")
    identity = model_identity(spec, settings, model)
    return WritingModel(model, {name: v for name, v in identity.items() if name != "base_url"})
