"""JSON objects one after the other, over several lines or with several on one.

ToolScan's loader reads its queries so, and fails as a whole at the first fault. Here what is no
JSON is passed over up to the next record, and counted once. A name that stands twice in one object
has both its lists, one after the other, as upstream's unused helper for such records means it; of
other values the last counts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from seal.core.errors import DataError
from seal.core.plain import MAX_DEPTH, nested_deeper
from seal.core.records import to_plain
from seal.pools.reading.records import Placed, Torn, json_records, utf8_text

_BLANK = re.compile(r"\s*")
_BEGINNING = re.compile(r'\{\s*"(goal|ground_truth|subgoals|additional_info|category)"\s*:')
"""How a record may begin, and a part of one too."""


def concatenated(path: Path, torn: Torn) -> Iterator[Placed]:
    """Yield the records of a file of concatenated JSON objects, or of one JSON array.

    NaN and Infinity are null; for what else no JSON line can hold see `seal.core.plain`.

    Args:
        path: The file.
        torn: Told each stretch that is no JSON, up to the next record, and what is nested too deep.

    Raises:
        DataError: The file is not UTF-8, or one array that is no JSON.
    """
    text = utf8_text(path.read_bytes(), str(path))
    if text.lstrip().startswith("["):
        yield from json_records(path, torn)
        return
    place, position = 0, _past_blanks(text, 0)
    while position < len(text):
        name = f"{path}, record {place} (line {text.count(chr(10), 0, position) + 1})"
        try:
            value, position = _DECODER.raw_decode(text, position)
            if nested_deeper(value, MAX_DEPTH):
                raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
        except (ValueError, RecursionError) as error:
            position = _next_record(text, position + 1)
            torn(DataError(f"{name}: no JSON object: {error}; passed over up to the next record"))
        else:
            yield Placed(name, to_plain(value))
        place, position = place + 1, _past_blanks(text, position)


def _joined(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of whose repeated names the lists are joined."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if isinstance(value, list) and isinstance(found.get(name), list):
            found[name] = [*found[name], *value]
        else:
            found[name] = value
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_joined, parse_constant=lambda _: None)


def _past_blanks(text: str, position: int) -> int:
    found = _BLANK.match(text, position)
    return found.end() if found else position


def _next_record(text: str, position: int) -> int:
    """Return where the next record begins, whole or torn; the end where there is none."""
    for found in _BEGINNING.finditer(text, position):
        if found[1] == "goal" or _is_record(text, found.start()):
            return found.start()
    return len(text)


def _is_record(text: str, position: int) -> bool:
    """Tell whether a whole record stands at a place, and not a part of one."""
    try:
        value, _ = _DECODER.raw_decode(text, position)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and "goal" in value
