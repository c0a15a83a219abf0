"""Records of a file by their key, each read when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import Any, Generic

import orjson

from seal.core.errors import DataError
from seal.core.records import Record, decode

Key = Callable[[Mapping[str, Any]], Hashable | None]


class RecordLookup(Generic[Record]):
    """The records of a file of JSON lines; memory holds where they stand, not what they say.

    A last line without its newline is being written and left out; a file that does not exist has no
    records.

    Args:
        path: The file; it must not change meanwhile.
        kind: Type of the records.
        key: Fields of a record to what it is asked for by; None: it is never asked for.

    Raises:
        DataError: A line is no JSON object; the text names the line.
    """

    def __init__(self, path: Path, kind: type[Record], key: Key) -> None:
        self._path = path
        self._kind: type[Record] = kind
        self._places: dict[Hashable, list[tuple[int, int]]] = {}
        if not path.is_file():
            return
        offset = 0
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if not line.endswith(b"\n"):
                    return
                if line.strip():
                    found = key(_fields(line, path, number))
                    if found is not None:
                        self._note(found, offset, number)
                offset += len(line)

    def _note(self, key: Hashable, offset: int, number: int) -> None:
        try:
            self._places.setdefault(key, []).append((offset, number))
        except TypeError as error:  # a list or an object
            raise DataError(f"{self._path}, line {number}: {key!r} names no record") from error

    def get(self, key: Hashable) -> list[Record]:
        """Return the records of a key, in the order of the file.

        Raises:
            DataError: A line is no record; the text names the line.
        """
        places = self._places.get(key, ())
        if not places:
            return []
        with self._path.open("rb") as file:
            return [self._read(file, offset, number) for offset, number in places]

    def _read(self, file: Any, offset: int, number: int) -> Record:
        file.seek(offset)
        try:
            return decode(file.readline(), self._kind)
        except DataError as error:
            raise DataError(f"{self._path}, line {number}: {error}") from error


def _fields(line: bytes, path: Path, number: int) -> Mapping[str, Any]:
    try:
        fields = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise DataError(f"{path}, line {number}: no JSON: {error}") from error
    if not isinstance(fields, dict):
        raise DataError(f"{path}, line {number}: expected a JSON object")
    return fields
