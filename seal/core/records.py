"""Records on disk: JSON Lines, each line with the name and version of its schema.

A line is `{"schema": "task/1", ...fields}`. Writing goes through orjson, reading through pydantic,
which both know dataclasses; a bad line is a `DataError` that names file, line and field.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

from seal.core.errors import DataError
from seal.core.types import Ranking, Score, Task, Tool, Trajectory

if TYPE_CHECKING:
    from pydantic import TypeAdapter

Record = TypeVar("Record", Tool, Task, Ranking, Trajectory, Score)

SCHEMAS: dict[type, str] = {
    Tool: "tool/1",
    Task: "task/1",
    Ranking: "ranking/1",
    Trajectory: "trajectory/1",
    Score: "score/1",
}
"""Record type to schema name and version, which grows when an older reader would misread."""


def encode(record: Tool | Task | Ranking | Trajectory | Score) -> bytes:
    """Return the record as one line of JSON with its newline."""
    return b'{"schema":"%s",%s\n' % (SCHEMAS[type(record)].encode(), orjson.dumps(record)[1:])


def decode(line: bytes | str, kind: type[Record]) -> Record:
    """Return the record that a line holds.

    Raises:
        DataError: The line is no JSON, of another schema, or lacks a field.
    """
    try:
        fields = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise DataError(f"not JSON: {error}") from error
    if not isinstance(fields, dict):
        raise DataError(f"expected an object, got {type(fields).__name__}")
    schema = fields.pop("schema", None)
    if schema != SCHEMAS[kind]:
        raise DataError(
            f"schema {schema!r}, expected {SCHEMAS[kind]!r}: "
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
        record: Record = _adapter(SCHEMAS[kind]).validate_python(fields)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "record"
        raise DataError(f"{place}: {first['msg']}") from error
    return record


def to_plain(record: Any) -> Any:
    """Return a record, or a part of one, as plain JSON values."""
    return orjson.loads(orjson.dumps(record))


@cache
def _adapter(schema: str) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(next(kind for kind, name in SCHEMAS.items() if name == schema))


def read_records(path: Path, kind: type[Record]) -> Iterator[Record]:
    """Yield the records of a file one by one.

    Raises:
        DataError: The file does not exist, or a line is bad; the text names the line.
    """
    if not path.is_file():
        raise DataError(f"no file {path}")
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    yield decode(line, kind)
                except DataError as error:
                    raise DataError(f"{path}, line {number}: {error}") from error


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
    """A binary file that replaces `path` when the block ends well, and vanishes when not."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._part = path.with_name(f".{path.name}.{os.getpid()}.part")

    def __enter__(self) -> Any:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self._part.open("wb")
        return self._file

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self._file.flush()
            os.fsync(self._file.fileno())
        self._file.close()
        if kind is None:
            self._part.replace(self.path)
        else:
            self._part.unlink(missing_ok=True)


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
