"""MetaTool's files: plugins, and query texts with the names of the right plugins."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from seal.core import JSON, DataError, Tool, check_name, shortened
from seal.pools.importer import Notes
from seal.pools.reading.records import (
    Placed,
    Torn,
    expect,
    field,
    find,
    function_name,
    json_file,
    json_records,
    tool_id,
    utf8_text,
)
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


BENCHMARK = "metatool"
POOLS = ("described", "all")

_DESCRIBED = "plugin_des.json"
_BIG = "big_tool_des.json"
_INFO = "plugin_info.json"
_MALFORMED = "malformed_plugin"


class _Document(NamedTuple):
    name: str
    description: str
    source: dict[str, JSON]


def plugins(source: Path, pool: str, notes: Notes) -> dict[str, Tool]:
    """Return the plugins by their names, sorted.

    Args:
        source: A folder with the description files.
        pool: "described": plugin_des.json; "all": with those of big_tool_des.json and
            plugin_info.json, of which the descriptions for humans are read, since plugin_des.json
            repeats these. Of equal names the first counts.
        notes: Gets the counts.

    Raises:
        UnknownNameError: No such pool.
        DataError: A file is missing or malformed; the text names file and place.
    """
    check_name("pool of metatool", pool, POOLS)
    read: Counter[str] = Counter()
    tools: dict[str, Tool] = {}
    for document in _documents(source, pool, notes):
        read[str(document.source["file"])] += 1
        tools.setdefault(document.name, _tool(document))
    if not tools:
        raise DataError(f"{_DESCRIBED} in {source} describes no plugin; fetch it again")
    notes.facts["plugins"] = {
        **read,
        "distinct_names": len(tools),
        "further_documents_of_a_name": read.total() - len(tools),
        "without_description": sum(not tool.description.strip() for tool in tools.values()),
    }
    return dict(sorted(tools.items()))


def _documents(source: Path, pool: str, notes: Notes) -> Iterator[_Document]:
    for name in (_DESCRIBED, _BIG)[: 2 if pool == "all" else 1]:
        for path in find(source, [name], BENCHMARK):
            yield from _described(path, notes)
    if pool == "all":
        for path in find(source, [_INFO], BENCHMARK):
            yield from _informed(path, notes)


def _described(path: Path, notes: Notes) -> Iterator[_Document]:
    """Yield the documents of a map of names to descriptions."""
    content = expect(json_file(path), dict, path, "an object of descriptions")

    def described(path: Path, torn: Torn) -> Iterator[Placed]:
        yield from (Placed(str(path), name) for name in content)

    def read(name: str) -> _Document:
        return _Document(name, field(content, name, str), {"file": path.name})

    return usable(path, read, notes, described, _MALFORMED)


def _informed(path: Path, notes: Notes) -> Iterator[_Document]:
    return usable(
        path, lambda record: _informed_document(record, path.name), notes, reason=_MALFORMED
    )


def _informed_document(record: Any, file: str) -> _Document:
    return _Document(
        field(record, "name_for_model", str),
        field(record, "description_for_human", str),
        {"title": field(record, "name_for_human", str), "file": file},
    )


def _tool(document: _Document) -> Tool:
    return Tool(
        tool_id(BENCHMARK, document.name, document.name),
        function_name(document.name),
        document.description,
        source={"tool": document.name, "api": document.name, **document.source},
    )
