"""MetaTool's query files: texts with the names of the plugins that are right for them."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seal.core.errors import DataError, shortened
from seal.pools.importer import Notes
from seal.pools.reading.records import field, json_records, utf8_text
from seal.pools.reading.tolerance import numbered, usable

COLUMNS = ("Query", "Tool")

_LIST = re.compile(
    r"\[List of Tools with Names and Descriptions Start\]\n(.*?)"
    r"\[List of Tools with Names and Descriptions End\]",
    re.DOTALL,
)
_LISTED = re.compile(r"^\d+\. tool name: (.+?), tool description: ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Labelled:
    """One query of a set."""

    number: int
    """Position of its record in the file, from 0; of the first one where several have its text."""
    text: str
    labels: tuple[str, ...]
    """Names of the right plugins; empty: no tool is needed."""
    listed: tuple[str, ...] | None = None
    """Names of the plugins that its prompt lists; None: the set lists none."""


def single_queries(path: Path, counts: Counter[str], dropped: Counter[str]) -> Iterator[Labelled]:
    """Yield the texts of the CSV file, each once with all labels that its rows give it.

    Args:
        path: A file with the columns Query and Tool; others are ignored.
        counts: Gets rows, repeated rows and texts with several labels.
        dropped: Gets the rows that cannot be used, by reason.

    Raises:
        DataError: Not UTF-8, no such columns, or a quotation mark that does not end.
    """
    labels: dict[str, dict[str, None]] = {}
    numbers: dict[str, int] = {}
    for number, (text, label) in enumerate(_rows(path, counts, dropped)):
        if not text.strip() or not label.strip():
            dropped["empty_query" if label.strip() else "empty_label"] += 1
            continue
        if text in labels:
            counts["repeated_rows"] += 1
        labels.setdefault(text, {})[label.strip()] = None
        numbers.setdefault(text, number)
    counts["texts_with_several_labels"] += sum(len(names) > 1 for names in labels.values())
    for text, names in labels.items():
        yield Labelled(numbers[text], text, tuple(names))


def _rows(path: Path, counts: Counter[str], dropped: Counter[str]) -> Iterator[tuple[str, str]]:
    """Yield (query, tool) of each row that is as wide as the header."""
    text = utf8_text(path.read_bytes(), str(path))
    # Not strict, a stray quotation mark would take the rows behind it into one field.
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(reader, [])
        places = _places(header, path)
        for row in filter(None, reader):
            counts["rows"] += 1
            if len(row) == len(header):
                yield row[places[0]], row[places[1]]
            else:
                dropped["row_of_another_width"] += 1
    except csv.Error as error:
        raise DataError(
            f"{path}, line {reader.line_num}: {error}; "
            "is a quotation mark not doubled or not closed? Fetch the file again"
        ) from error
    if 0 < counts["rows"] == dropped["row_of_another_width"]:
        raise DataError(
            f"{path}: no row is as wide as the header ({', '.join(header)}): "
            "a column has no values, or a name stands in the header too much"
        )


def _places(header: Sequence[str], path: Path) -> tuple[int, int]:
    missing = [name for name in COLUMNS if name not in header]
    if missing:
        raise DataError(
            f"{path}: no column {' and '.join(missing)}; "
            f"expected {', '.join(COLUMNS)}, got {', '.join(header) or 'an empty file'}"
        )
    return header.index(COLUMNS[0]), header.index(COLUMNS[1])


def multi_queries(path: Path, notes: Notes) -> Iterator[Labelled]:
    """Yield the queries that need each of several plugins.

    Raises:
        DataError: Every record is malformed; the text names the first.
    """
    return _each(path, notes, lambda number, record: _query(number, record, _names(record)))


def awareness_queries(path: Path, notes: Notes) -> Iterator[Labelled]:
    """Yield the queries of task 1; those labelled negative need no tool.

    Raises:
        DataError: Every record is malformed; the text names the first.
    """
    return _each(path, notes, _awareness)


def choice_queries(path: Path, notes: Notes) -> Iterator[Labelled]:
    """Yield the queries of a subtask of task 2, with the plugins that their prompts list.

    Raises:
        DataError: Every record is malformed or its prompt holds no list; the text names the first.
    """
    return _each(path, notes, _choice)


def _each(path: Path, notes: Notes, read: Callable[[int, Any], Labelled]) -> Iterator[Labelled]:
    query = None
    for query in usable(path, lambda value: read(*value), notes, numbered(json_records)):
        yield query
    if query is None:
        raise DataError(f"{path} holds no record; fetch it again, or leave out its set")


def _query(
    number: int, record: Any, labels: tuple[str, ...], listed: tuple[str, ...] | None = None
) -> Labelled:
    text = field(record, "query", str)
    if not text.strip():
        raise DataError("query: expected a text, got an empty one")
    return Labelled(number, text, labels, listed)


def _awareness(number: int, record: Any) -> Labelled:
    label = field(record, "label", str)
    if label not in ("positive", "negative"):
        raise DataError(f"label: expected 'positive' or 'negative', got {shortened(label)}")
    return _query(number, record, _names(record) if label == "positive" else ())


def _choice(number: int, record: Any) -> Labelled:
    found = _LIST.search(field(record, "action_prompt", str))
    listed = _LISTED.findall(found[1]) if found else []
    if not listed:
        raise DataError(
            "action_prompt: no list of tools found; expected lines such as "
            "'1. tool name: NAME, tool description: ...' between its start and end marks"
        )
    return _query(number, record, _names(record), tuple(dict.fromkeys(listed)))


def _names(record: Any) -> tuple[str, ...]:
    """Return the plugins of a record's `tool`, which is one name or a list of names."""
    value = record.get("tool") if isinstance(record, dict) else None
    names = value if isinstance(value, list) else [value]
    found = [name.strip() for name in names if isinstance(name, str) and name.strip()]
    if not found or len(found) < len(names):
        raise DataError(f"tool: expected a name or a list of names, got {shortened(value)}")
    return tuple(dict.fromkeys(found))
