"""The file of ToolSandbox's scenarios, read and checked."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from seal.benchmarks.upstream.records import Placed, Torn, field, parse_json, refuse_deep
from seal.core.errors import DataError, shortened

BENCHMARK = "toolsandbox"
FILES = ("scenarios_core.jsonl.gz", "scenarios_core.jsonl")

CATEGORIES = {
    "SINGLE_TOOL_CALL": "single_tool",
    "MULTIPLE_TOOL_CALL": "multiple_tool",
    "SINGLE_USER_TURN": "single_turn",
    "MULTIPLE_USER_TURN": "multiple_turn",
    "STATE_DEPENDENCY": "state_dependency",
    "CANONICALIZATION": "canonicalization",
    "INSUFFICIENT_INFORMATION": "insufficient_information",
}
"""Upstream's category of scenarios to the tag that is true of its tasks, false of the others."""

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


def scenario_lines(path: Path, torn: Torn) -> Iterator[Placed]:
    """Yield what the lines of a file hold, compressed or not.

    Args:
        path: The file.
        torn: Told a line that is no JSON, which is passed over.

    Raises:
        DataError: The file is no whole gzip file, or empty.
    """
    lines = _content(path).splitlines()
    if not lines:
        raise DataError(f"{path} holds no scenario: is the file cut? Fetch it again")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        place = f"{path}, line {number}"
        try:
            record = parse_json(line, place)
        except DataError as error:
            torn(error)
        else:
            yield Placed(place, record)


def _content(path: Path) -> bytes:
    content = path.read_bytes()
    if path.suffix != ".gz":
        return content
    try:
        return gzip.decompress(content)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"{path}: no whole gzip file: {error}; fetch it again") from error


def check_scenario(record: Any) -> None:
    """Make sure that a record has a scenario's fields.

    Raises:
        DataError: One is missing or of another kind; the text names it.
    """
    for name, kind in _FIELDS.items():
        field(record, name, kind)
    refuse_deep(record)
    if not record["messages"]:
        raise DataError("messages: expected the user's first message, got none")
    field(record["tools"], "augmentations", list)
    for pair in field(record["tools"], "agent_tools", list):
        if not (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[1], str)):
            raise DataError(f"tools.agent_tools: expected pairs of names, got {shortened(pair)}")
