"""MetaTool's plugins: what its description files say of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from seal.core.errors import DataError, UnknownNameError, shortened
from seal.core.types import JSON, Tool
from seal.pools.importer import Notes
from seal.pools.reading.records import (
    Placed,
    Torn,
    field,
    find,
    function_name,
    json_file,
    tool_id,
)
from seal.pools.reading.tolerance import usable

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
    if pool not in POOLS:
        raise UnknownNameError("pool of metatool", pool, POOLS)
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
    content = json_file(path)
    if not isinstance(content, dict):
        raise DataError(f"{path}: expected an object of descriptions, got {shortened(content)}")

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
