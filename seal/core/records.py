"""Records on disk, as JSON lines; the names that files of TREC have for goals and tools."""

from __future__ import annotations

import gc
import json
import math
import re
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cache, partial
from operator import is_not
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

import orjson

from seal.core.errors import DataError, UsageError, first_fault, shortened
from seal.core.files import AtomicFile, lines_of, no_file
from seal.core.secrets import without_keys
from seal.core.types import Ranking, Score, Step, Task, Tool, Trajectory
from seal.core.values import json_bytes, json_value

if TYPE_CHECKING:
    from pydantic_core import SchemaValidator

    from seal.core.table_versions import TableReader, TableWriter


# -- Records on disk: JSON Lines, each line with the name and version of its schema.
#
# A line is `{"schema": "task/1", ...fields}`. Writing goes through orjson, reading through
# pydantic, which both know dataclasses; a bad line is a `DataError` that names file, line and
# field. What comes from a model or a tool never fails to be written: `seal.core.values` says what
# stands for the few values that a JSON line cannot hold. A record that was written and read stays
# as it is from then on.

#
# Large tables of worlds stand in trajectories by what changed (`seal.core.table_versions`).

Record = TypeVar("Record")

SCHEMAS: dict[type, str] = {
    Tool: "tool/1",
    Task: "task/1",
    Ranking: "ranking/1",
    Trajectory: "trajectory/1",
    Score: "score/1",
}
"""Record type to schema name and version, which grows when an older reader would misread."""

BRIEF = "trajectory/2"
"""Schema of a trajectory with large tables, which it tells of by what changed."""


def encode(
    record: Any, schema: str = "", in_open: Container[str] = (), beside: Path | None = None
) -> bytes:
    """Return the record as one line of JSON with its newline.

    In a trajectory, a score and records of other schemas, keys of services stand as `***`, for they
    hold what servers and plug-ins said.

    Args:
        record: One of `SCHEMAS`, or a dataclass with a schema of its own.
        schema: Name and version of that schema; empty: as `SCHEMAS` has it.
        in_open: Keys that are no secrets (`seal.core.secrets.InOpen`).
        beside: Folder of the file, where large tables with which chats begin stand once; None: they
            stand in each trajectory.

    Raises:
        DataError: The record holds a value that is no JSON, such as a set.
    """
    told = bool(schema) or isinstance(record, (Trajectory, Score))
    schema = schema or SCHEMAS[type(record)]
    if isinstance(record, Trajectory) and any(step.state is not None for step in record.steps):
        from seal.core.table_versions import TableWriter

        tables = TableWriter(beside, partial(without_keys, in_open=in_open))
        with _writing(schema):
            steps = tuple(brief(step, tables) for step in record.steps)
        if any(map(is_not, steps, record.steps)):
            record, schema = replace(record, steps=steps), BRIEF
    line = _line(record, schema)
    return without_keys(line, in_open) if told else line


def encode_scores(scores: Iterable[Score]) -> bytes:
    """Return scores as their lines of `encode`; keys are looked for once, which saves much time."""
    return without_keys(b"".join(_line(score, SCHEMAS[Score]) for score in scores))


def _line(record: Any, schema: str) -> bytes:
    with _writing(schema):
        fields = json_bytes(record)
    return b'{"schema":"%s",%s\n' % (schema.encode(), fields[1:])


@contextmanager
def _writing(schema: str) -> Iterator[None]:
    """Tell of a value that is no JSON by a DataError."""
    try:
        yield
    except TypeError as error:
        raise DataError(
            f"a record of schema {schema!r} cannot be written: {error}; "
            "expected None, bool, int, float, str, and lists and maps of these"
        ) from error


def brief(step: Step, tables: TableWriter) -> Step:
    """Return a step as its record has it, which tells of large tables by what changed."""
    if step.state is None:
        return step
    told = tables.told(step.state)
    same = all(told[name] is rows for name, rows in step.state.items())
    return step if same else replace(step, state=told)


def read_step(fields: dict[str, Any], tables: TableReader) -> Step:
    """Return the step that a record tells of, with whole tables.

    Raises:
        DataError: It is none.
    """
    told = fields.pop("state", None)
    step = from_plain(fields, Step)
    return step if told is None else replace(step, state=tables.tables(told))


def _read_brief(fields: dict[str, Any], tables: TableReader) -> Trajectory:
    """Return a trajectory of `BRIEF`; its rows, which are many, are not checked one by one."""
    given = fields.get("steps")
    steps = given if isinstance(given, list) else []
    states = [step.pop("state", None) if isinstance(step, dict) else None for step in steps]
    chat = from_plain(fields, Trajectory)
    pairs = zip(chat.steps, states, strict=True)
    whole = (s if told is None else replace(s, state=tables.tables(told)) for s, told in pairs)
    return replace(chat, steps=tuple(whole))


def decode(
    line: bytes | str, kind: type[Record], schema: str = "", beside: Path | None = None
) -> Record:
    """Return the record that a line holds.

    Args:
        line: The line.
        kind: Of the record.
        schema: Of its own, as of `encode`.
        beside: Folder of the file, likewise.

    Raises:
        DataError: The line is no JSON, of another schema, or lacks a field.
    """
    try:
        fields = json_value(line)
    except orjson.JSONDecodeError as error:
        raise DataError(f"not JSON: {error}") from error
    if not isinstance(fields, dict):
        raise DataError(f"expected an object, got {type(fields).__name__}")
    expected, found = schema or SCHEMAS[kind], fields.pop("schema", None)
    if found is None:
        own = "; make a pool of your own: seal new NAME --tools FILE --tasks FILE --out POOL"
        raise DataError(
            f"no field 'schema', expected {expected!r}: SEAL did not write this file"
            + own * (kind in (Tool, Task))
        )
    if found == BRIEF and kind is Trajectory:
        from seal.core.table_versions import TableReader

        return cast("Record", _read_brief(fields, TableReader(beside)))
    if found != expected:
        raise DataError(
            f"schema {shortened(found)}, expected {expected!r}: "
            "the file is of another kind or version"
        )
    return from_plain(fields, kind)


def from_plain(fields: dict[str, Any], kind: type[Record]) -> Record:
    """Return a record built from plain JSON values.

    Raises:
        DataError: A field is missing, unknown or of the wrong type.
    """
    from pydantic import ValidationError

    try:
        record: Record = validator(cast("Any", kind)).validate_python(fields)
    except ValidationError as error:
        raise DataError(first_fault(error)) from error
    except UsageError as error:  # a record's own check of its fields
        raise DataError(str(error)) from error
    return record


def to_plain(record: Any) -> Any:
    """Return a record, or a part of one, as plain JSON values."""
    return json_value(json_bytes(record))


def strict_json(text: str | bytes) -> Any:
    """Return the value of a JSON text, which whole numbers of any length may be in.

    Raises:
        ValueError: It is no JSON, or holds a number that is none of JSON's or not finite (`1e999`).
        RecursionError: It is nested too deep.
    """
    return json.loads(text, parse_constant=_no_number, parse_float=_finite)


def _finite(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _no_number(digits)


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number that JSON can hold")


@cache
def validator(kind: type) -> SchemaValidator:
    """Return what reads a type from plain JSON values: numbers and truths are no texts there."""
    from pydantic import TypeAdapter
    from pydantic_core import SchemaValidator

    return SchemaValidator(_exact(TypeAdapter(kind).core_schema))


def _exact(schema: Any) -> Any:
    """Return a schema whose numbers and truths are of their types: no "1" or true stands for 1.

    pydantic's own strict mode would refuse a list for a tuple, too, and an object for a record.
    """
    if isinstance(schema, (list, tuple)):
        return type(schema)(map(_exact, schema))
    if type(schema) is not dict:
        return schema
    exact = {"strict": True} if schema.get("type") in ("int", "float", "bool") else {}
    return {name: _exact(part) for name, part in schema.items()} | exact


def read_records(
    path: Path, kind: type[Record], wanted: Callable[[bytes], object] = bytes.strip
) -> Iterator[Record]:
    """Yield the records of a file one by one.

    Args:
        path: The file.
        kind: Of its records.
        wanted: Tells by a line whether it is to be read; the usual one leaves out empty lines.

    Raises:
        DataError: The file does not exist, or a line is bad; the text names the line.
    """
    if not path.is_file():
        raise DataError(no_file(path) if path.exists() else f"no file {path}; {repair_of(path)}")
    for number, line in enumerate(lines_of(path), 1):
        if wanted(line):
            try:
                yield decode(line, kind, beside=path.parent)
            except DataError as error:
                raise DataError(f"{path}, line {number}: {error}; {repair_of(path)}") from error


def repair_of(path: Path) -> str:
    """Return in words how a file of records is had again that is damaged or not there."""
    run = path.parent
    if not (run / "run.json").exists():
        return "import it again, or bring back the file"
    if (run.parent / "run.json").exists():
        run = run.parent  # whose floor or ceiling it is
    if path.name == "scores.jsonl":
        return f"write it anew: `seal score {run}`"
    if path.name == "trajectories.jsonl":
        done = "delete the line, and play its chat again by"
    else:
        done = "bring back the file, or have it written anew by"
    return f"{done} the run's own command with --resume --out {run}"


@contextmanager
def without_cycle_search() -> Iterator[Callable[[], None]]:
    """Pause the search for reference cycles, which records have none of.

    Where very many records pass by, or are kept, the search takes a fifth to a third of the time.

    Yields:
        What goes on with the search before the end of the block, but passes over all that there is
        by then until that end.
    """
    was_on = gc.isenabled()
    with ExitStack() as stack:

        def go_on() -> None:
            gc.freeze()
            stack.callback(gc.unfreeze)
            if was_on:
                gc.enable()

        gc.disable()
        if was_on:
            stack.callback(gc.enable)
        yield go_on


def write_records(path: Path, records: Iterable[Tool | Task | Ranking | Trajectory | Score]) -> int:
    """Write a file at once: it appears whole under its name or not at all.

    Returns:
        The number of records.
    """
    count = 0
    with AtomicFile(path) as out:
        for record in records:
            out.write(encode(record, beside=path.parent))
            count += 1
    return count


# -- The names of goals and tools in files of TREC.

_ENCODED = re.compile(r"[\s%]")
"""Characters that no word of a TREC file may have."""


def query_id(key: tuple[str, int]) -> str:
    """Return the id of a task's goal in TREC files, `task:goal`."""
    return f"{trec_word(key[0])}:{key[1]}"


def trec_word(text: str) -> str:
    """Return the text as one word: blanks and % percent-encoded, the rest as it is."""
    if _ENCODED.search(text) is None:
        return text
    from urllib.parse import quote

    return "".join(quote(c) if c.isspace() or c == "%" else c for c in text)
