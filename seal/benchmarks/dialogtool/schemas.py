"""SGD's schemas by split: what the dialogues name, and what it is called in the pool.

Everything is looked up by its original name, in which the dialogues are written, and has the name
of the schemas that were chosen: with SGD-X another one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

from seal.benchmarks.dialogtool.tools import (
    BENCHMARK,
    TypedValues,
    original_names,
    tools_of_service,
)
from seal.core import JSON, DataError, Tool, check_name, shortened
from seal.pools.importer import Notes
from seal.pools.reading.records import Placed, Torn, field, json_file
from seal.pools.reading.tables import ToolTable
from seal.pools.reading.tolerance import FileFault, Reader, listed, usable

SCHEMA = "schema.json"
ORIGINAL = "original"
SCHEMAS = (ORIGINAL, "v1", "v2", "v3", "v4", "v5")
"""Wordings of the schemas: SGD's own, and the five of SGD-X, each further from it."""

_VARIANTS = "sgd_x/data"


@dataclass(frozen=True, slots=True)
class Slot:
    """An argument or part of a result."""

    name: str
    """In the pool."""
    typed: TypedValues | None
    """Upstream's texts to values; None: they are texts."""

    def value(self, text: str) -> JSON:
        """Return the value that a text of upstream's is."""
        return text if self.typed is None else self.typed[text]


def named(slots: Mapping[str, Slot], values: Mapping[str, str]) -> dict[str, JSON]:
    """Return upstream's texts by slot with the names and types of the pool.

    Raises:
        KeyError: There is no such slot.
        DataError: A value is no text.
    """
    if not set(map(type, values.values())) <= {str}:
        raise DataError(f"expected texts as values of slots, got {shortened(values)}")
    return {
        (slot := slots[name]).name: text if slot.typed is None else slot.typed[text]
        for name, text in values.items()
    }


@dataclass(frozen=True, slots=True)
class Api:
    """An intent of a service."""

    tool: str
    """Id."""
    function: str
    """What the model sees."""
    name: str
    """In the pool."""
    transactional: bool
    required: tuple[str, ...]
    """Arguments by their original names."""
    arguments: Mapping[str, Slot]
    """Required and optional ones by their original names."""


@dataclass(frozen=True, slots=True)
class Service:
    """A service: one signature of an app."""

    name: str
    """In the pool."""
    slots: Mapping[str, Slot]
    """By their original names."""
    apis: Mapping[str, Api]
    """By their original names."""


class Schemas:
    """The services of each split, and their APIs as tools.

    Args:
        notes: Gets the counts of what is malformed.
        wording: One of `SCHEMAS`.
        benchmark: What the tools are of.

    Raises:
        UnknownNameError: No such wording.
    """

    def __init__(self, notes: Notes, wording: str = ORIGINAL, benchmark: str = BENCHMARK) -> None:
        check_name("schema of dialogtool", wording, SCHEMAS)
        self.splits: dict[str, dict[str, Service]] = {}
        """Split to service by its original name."""
        self.table = ToolTable()
        self._notes = notes
        self._wording = wording
        self._benchmark = benchmark

    def read(self, split: str, folder: Path) -> None:
        """Read the schemas of a split.

        Args:
            split: Its name.
            folder: With `schema.json`; SGD-X lies beside it, as upstream has it.

        Raises:
            DataError: A file is missing or malformed; the text names it.
        """
        path = folder / SCHEMA
        original = _content(path)
        records = listed(original)
        if self._wording != ORIGINAL:
            path = folder.resolve().parent / _VARIANTS / self._wording / split / SCHEMA
            records = _paired(_content(path, folder), original)
        file = f"{split}/{SCHEMA}"
        services = self.splits.setdefault(split, {})

        def read(record: Any) -> tuple[str, Service]:
            worded, origin = record if isinstance(record, tuple) else (record, None)
            return self._service(worded, origin, file)

        for name, service in usable(path, read, self._notes, records, "malformed_service"):
            services[name] = service

    def tools(self) -> Iterator[Tool]:
        """Yield the tools of all splits, sorted by id."""
        yield from self.table

    def _service(self, record: Any, origin: Any, file: str) -> tuple[str, Service]:
        tools = tools_of_service(record, file, origin, self._benchmark)
        kinds: dict[str, Any] = {}
        for tool in tools.values():
            kinds |= {**tool.parameters["properties"], **tool.returns["items"]["properties"]}
        originals = original_names(record, origin)
        slots = {original: _slot(own, kinds.get(own, {})) for own, original in originals.items()}
        apis = {
            name: Api(
                self.table.add(tool),
                tool.name,
                str(tool.source["api"]),
                bool(tool.source["transactional"]),
                tuple(originals[own] for own in tool.parameters["required"]),
                {originals[own]: slots[originals[own]] for own in tool.parameters["properties"]},
            )
            for name, tool in tools.items()
        }
        service = Service(field(record, "service_name", str), slots, apis)
        return field(record if origin is None else origin, "service_name", str), service


def _slot(name: str, schema: Mapping[str, JSON]) -> Slot:
    kind = str(schema.get("type", "string"))
    return Slot(name, None if kind == "string" else TypedValues(kind))


def _content(path: Path, worded_after: Path | None = None) -> list[Any]:
    if worded_after is not None and not path.is_file():
        raise FileFault(
            f"no file {path}: SGD-X's schemas are read from {_VARIANTS} beside the splits; fetch "
            "them, or leave -T schema= away"
        )
    content = json_file(path)
    if not isinstance(content, list) or not content:
        raise DataError(f"{path}: expected a list of services, got {shortened(content)}")
    return content


def _paired(worded: list[Any], original: list[Any]) -> Reader:
    """Return the reader of services with the originals that they are worded after."""

    def records(path: Path, torn: Torn) -> Iterator[Placed]:
        if len(worded) != len(original):
            raise DataError(
                f"{path}: expected {len(original)} services as in the original, got {len(worded)}"
            )
        for number, pair in enumerate(zip(worded, original, strict=True)):
            yield Placed(f"{path}, record {number}", pair)

    return records


class Shape:
    """Fields that a record has, each of one kind.

    Args:
        kinds: Name to what its value must be: str, int, bool, list or dict; at least two.
    """

    def __init__(self, **kinds: type[Any]) -> None:
        self._get = itemgetter(*kinds)
        self._kinds = tuple(kinds.values())
        self._fields = kinds

    def of(self, record: Any) -> tuple[Any, ...]:
        """Return the values of the fields in their order.

        Raises:
            DataError: The record is no object, lacks a field, or has a value of another kind.
        """
        try:
            values: tuple[Any, ...] = self._get(record)
        except (KeyError, TypeError, IndexError):
            values = ()
        if tuple(map(type, values)) == self._kinds:
            return values
        return tuple(field(record, name, kind) for name, kind in self._fields.items())
