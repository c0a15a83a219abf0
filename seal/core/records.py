"""Records on disk: JSON Lines, each line with the name and version of its schema.

A line is `{"schema": "task/1", ...fields}`. Writing goes through orjson, reading through pydantic,
which both know dataclasses; a bad line is a `DataError` that names file, line and field. What comes
from a model or a tool never fails to be written: `seal.core.plain` says what stands for the few
values that a JSON line cannot hold. A record that was written and read stays as it is from then on.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import orjson

from seal.core.errors import DataError, UsageError, first_fault
from seal.core.folders import in_work, naming, part_of
from seal.core.plain import json_bytes
from seal.core.secrets import without_keys
from seal.core.types import Ranking, Score, Task, Tool, Trajectory

if TYPE_CHECKING:
    from pydantic import TypeAdapter

Record = TypeVar("Record")

SCHEMAS: dict[type, str] = {
    Tool: "tool/1",
    Task: "task/1",
    Ranking: "ranking/1",
    Trajectory: "trajectory/1",
    Score: "score/1",
}
"""Record type to schema name and version, which grows when an older reader would misread."""


def encode(record: Any, schema: str = "") -> bytes:
    """Return the record as one line of JSON with its newline.

    In a trajectory, a score and records of other schemas, keys of services stand as `***`, for they
    hold what servers and plug-ins said.

    Args:
        record: One of `SCHEMAS`, or a dataclass with a schema of its own.
        schema: Name and version of that schema; empty: as `SCHEMAS` has it.

    Raises:
        DataError: The record holds a value that is no JSON, such as a set.
    """
    told = bool(schema) or isinstance(record, (Trajectory, Score))
    line = _line(record, schema or SCHEMAS[type(record)])
    return without_keys(line) if told else line


def encode_scores(scores: Iterable[Score]) -> bytes:
    """Return scores as their lines of `encode`; keys are looked for once, which saves much time."""
    return without_keys(b"".join(_line(score, SCHEMAS[Score]) for score in scores))


def _line(record: Any, schema: str) -> bytes:
    try:
        fields = json_bytes(record)
    except TypeError as error:
        raise DataError(
            f"a record of schema {schema!r} cannot be written: {error}; "
            "expected None, bool, int, float, str, and lists and maps of these"
        ) from error
    return b'{"schema":"%s",%s\n' % (schema.encode(), fields[1:])


def decode(line: bytes | str, kind: type[Record], schema: str = "") -> Record:
    """Return the record that a line holds.

    Args:
        line: The line.
        kind: Of the record.
        schema: Of its own, as of `encode`.

    Raises:
        DataError: The line is no JSON, of another schema, or lacks a field.
    """
    try:
        fields = orjson.loads(line)
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
    if found != expected:
        raise DataError(
            f"schema {found!r}, expected {expected!r}: "
            "the file is of another kind or version; import it again"
        )
    return from_plain(fields, kind)


def from_plain(fields: dict[str, Any], kind: type[Record]) -> Record:
    """Return a record built from plain JSON values.

    Raises:
        DataError: A field is missing, unknown or of the wrong type.
    """
    from pydantic import ValidationError

    try:
        record: Record = _adapter(cast("Any", kind)).validate_python(fields)
    except ValidationError as error:
        raise DataError(first_fault(error)) from error
    except UsageError as error:  # a record's own check of its fields
        raise DataError(str(error)) from error
    return record


def to_plain(record: Any) -> Any:
    """Return a record, or a part of one, as plain JSON values."""
    return orjson.loads(json_bytes(record))


@cache
def _adapter(kind: type) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


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
        raise DataError(f"no file {path}")
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if wanted(line):
                try:
                    yield decode(line, kind)
                except DataError as error:
                    raise DataError(f"{path}, line {number}: {error}") from error


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
            out.write(encode(record))
            count += 1
    return count


class AtomicFile:
    """A binary file that replaces `path` when the block ends well, and vanishes when not.

    Until then, whatever happens, the file under `path` is the old one. Of several writers at once,
    in threads or processes, each writes its own whole file, and the last to end wins. A device or
    a pipe is no file to replace: it is a `UsageError`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> Any:
        self._writing = self._written()
        return self._writing.__enter__()

    def __exit__(self, *error: Any) -> None:
        self._writing.__exit__(*error)

    @contextmanager
    def _written(self) -> Iterator[Any]:
        if self.path.exists() and not (self.path.is_file() or self.path.is_dir()):
            raise UsageError(f"{self.path} is a device or a pipe; give the path of a file")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = part_of(self.path)
        try:
            with naming(self.path):
                with part.open("wb") as file, in_work(part):
                    yield file
                    file.flush()
                    os.fsync(file.fileno())
                part.replace(self.path)
        finally:
            part.unlink(missing_ok=True)


def append_line(file: Any, line: bytes) -> None:
    """Append a line to an open binary file; it is in the file when this returns.

    Raises:
        OSError: It cannot be written; names the file.
    """
    with naming(file.name):
        file.write(line)
        file.flush()


def close_file(file: Any) -> None:
    """Close a file that was written to.

    Raises:
        OSError: What is left cannot be written; names the file.
    """
    with naming(file.name):
        file.close()


def repair_tail(path: Path) -> int:
    """Cut a torn last line off a file that is appended to. Returns the number of bytes cut.

    A line is torn where its newline is missing: the writer was killed in the middle of it.
    """
    if not path.is_file():
        return 0
    size = path.stat().st_size
    with path.open("rb+") as file:
        end = size
        while end > 0:
            start = max(0, end - 65536)
            file.seek(start)
            newline = file.read(end - start).rfind(b"\n")
            if newline >= 0:
                end = start + newline + 1
                break
            end = start
        if end < size:
            file.truncate(end)
    return size - end
