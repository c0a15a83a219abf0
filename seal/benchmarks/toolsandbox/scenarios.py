"""The file of ToolSandbox's scenarios, read and checked."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from seal.benchmarks.upstream.records import Placed, field, find, parse_json, refuse_deep
from seal.core.errors import DataError, shortened

BENCHMARK = "toolsandbox"
FILES = ("scenarios_core.jsonl.gz", "scenarios_core.jsonl")

_FIELDS: dict[str, Any] = {
    "id": str,
    "base": str,
    "augmentation": str,
    "categories": list,
    "max_messages": int,
    "tools": dict,
    "initial_state": dict,
    "messages": list,
    "milestones": dict,
    "minefields": dict,
    "time_dependent": dict,
}


def read_scenarios(source: Path) -> list[Placed]:
    """Return the scenarios of a file or folder, in the order of the file.

    Raises:
        DataError: There is no such file, it is torn, or a record is malformed or stands twice; the
            text names file and line.
    """
    found: list[Placed] = []
    seen: dict[str, str] = {}
    path = find(source, FILES, BENCHMARK)[0]
    for number, line in enumerate(_lines(path), 1):
        if not line.strip():
            continue
        place = f"{path}, line {number}"
        record = parse_json(line, place)
        try:
            _check(record)
        except DataError as error:
            raise DataError(f"{place}: {error}") from error
        if record["id"] in seen:
            raise DataError(
                f"{place}: the scenario {record['id']!r} stands in {seen[record['id']]} already"
            )
        seen[record["id"]] = place
        found.append(Placed(place, record))
    if not found:
        raise DataError(f"{path} holds no scenario: is the file cut? Fetch it again")
    return found


def _lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file, compressed or not."""
    if path.suffix != ".gz":
        yield from path.read_bytes().splitlines()
        return
    try:
        content = gzip.decompress(path.read_bytes())
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"{path}: no whole gzip file: {error}; fetch it again") from error
    yield from content.splitlines()


def _check(record: Any) -> None:
    for name, kind in _FIELDS.items():
        field(record, name, kind)
    refuse_deep(record)
    if not record["messages"]:
        raise DataError("messages: expected the user's first message, got none")
    field(record["tools"], "augmentations", list)
    for pair in field(record["tools"], "agent_tools", list):
        if not (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[1], str)):
            raise DataError(f"tools.agent_tools: expected pairs of names, got {shortened(pair)}")
