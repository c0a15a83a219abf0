"""Dialogues as they are made, one line each, so that a killed run goes on where it was.

Of several lines about a dialogue the last one counts; a torn last line is cut off.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from seal.core.errors import DataError, first_fault
from seal.core.plain import json_bytes
from seal.core.records import AtomicFile, repair_tail
from seal.core.secrets import without_keys
from seal.generation.missions.dialogues import Made

if TYPE_CHECKING:
    from pydantic import TypeAdapter

SCHEMA = "dialogue/1"


class Journal:
    """The dialogues of one run.

    Args:
        path: The file; it may exist from an earlier run.

    Raises:
        DataError: A line is no dialogue.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        repair_tail(path)
        self.made = _read(path) if path.is_file() else {}
        """By id."""
        self._file = path.open("ab")

    def add(self, made: Made) -> None:
        """Write a dialogue; it is in the file when this returns."""
        self._file.write(_encode(made))
        self._file.flush()
        self.made[made.id] = made

    def close(self) -> None:
        """Close the file, as it is."""
        self._file.close()

    def put_in_order(self, ids: Sequence[str]) -> None:
        """Rewrite the file with one line a dialogue, in this order; others follow."""
        self._file.close()
        order = {own: position for position, own in enumerate(ids)}
        self.made = dict(sorted(self.made.items(), key=lambda item: order.get(item[0], len(order))))
        with AtomicFile(self._path) as file:
            for made in self.made.values():
                file.write(_encode(made))


def _encode(made: Made) -> bytes:
    line = b'{"schema":"%s",%s\n' % (SCHEMA.encode(), json_bytes(made)[1:])
    return without_keys(line)


def _read(path: Path) -> dict[str, Made]:
    found = {}
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                made = _decode(line)
            except DataError as error:
                raise DataError(
                    f"{path}, line {number}: {error}; delete the line to make its dialogue again"
                ) from error
            found[made.id] = made
    return found


def _decode(line: bytes) -> Made:
    from pydantic import ValidationError

    try:
        fields = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise DataError(f"not JSON: {error}") from error
    if not isinstance(fields, dict) or fields.pop("schema", None) != SCHEMA:
        raise DataError(f"no record of schema {SCHEMA!r}")
    try:
        made: Made = _adapter().validate_python(fields)
    except ValidationError as error:
        raise DataError(first_fault(error)) from error
    return made


@cache
def _adapter() -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(Made)
