"""MetaTool's plugins: what its description files say of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from seal.benchmarks.importer import Notes
from seal.benchmarks.upstream.records import (
    field,
    find,
    function_name,
    json_file,
    json_records,
    tool_id,
)
from seal.core.errors import DataError, UnknownNameError, shortened
from seal.core.types import JSON, Tool

BENCHMARK = "metatool"
POOLS = ("described", "all")

_DESCRIBED = "plugin_des.json"
_BIG = "big_tool_des.json"
_INFO = "plugin_info.json"


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
    if pool not in POOLS:
        raise UnknownNameError("pool of metatool", pool, POOLS)
    read: Counter[str] = Counter()
    tools: dict[str, Tool] = {}
    for document in _documents(source, pool):
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


def _documents(source: Path, pool: str) -> Iterator[_Document]:
    for name in (_DESCRIBED, _BIG)[: 2 if pool == "all" else 1]:
        for path in find(source, [name], BENCHMARK):
            yield from _described(path)
    if pool == "all":
        for path in find(source, [_INFO], BENCHMARK):
            yield from _informed(path)


def _described(path: Path) -> Iterator[_Document]:
    """Yield the documents of a map of names to descriptions."""
    content = json_file(path)
    if not isinstance(content, dict):
        raise DataError(f"{path}: expected an object of descriptions, got {shortened(content)}")
    for name in content:
        try:
            description = field(content, name, str)
        except DataError as error:
            raise DataError(f"{path}: {error}") from error
        yield _Document(name, description, {"file": path.name})


def _informed(path: Path) -> Iterator[_Document]:
    for place, record in json_records(path):
        try:
            yield _informed_document(record, path.name)
        except DataError as error:
            raise DataError(f"{place}: {error}") from error


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
