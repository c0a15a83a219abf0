"""Counts what an import of answers brings into a store, and checks a store's entries.

The check finds damaged entries, and answers that break their tool's response shape.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from seal.core import JSON, DataError, Tool
from seal.core.schemas import schema_validator
from seal.core.store import Store
from seal.core.values import json_value, literal_value
from seal.simulator_cache.answer_cache import (
    KIND,
    OfTool,
    document_digest,
    entry_key,
)
from seal.simulator_cache.shapes import response_schema

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

_TYPES: dict[str, type | tuple[type, ...]] = {
    "tool": str,
    "arguments": (dict, type(None)),
    "response": object,
    "error": str,
    "simulator": str,
    "prompt_version": str,
    "seed": int,
}
"""Fields of an answer in the store."""


def wrong_field(value: Mapping[str, Any]) -> str:
    """Return a field that an entry lacks, or that has the wrong type; empty: there is none."""
    wrong = (n for n, kind in _TYPES.items() if n not in value or not isinstance(value[n], kind))
    return next(wrong, "")


_PLACES = 20


@dataclass(slots=True)
class StoreImport:
    """Counts of an import."""

    imported: int = 0
    known: int = 0
    """Entries that were there with the same answer."""
    conflicts: int = 0
    """Entries that were there with another answer, which stays."""
    rejected: Counter[str] = field(default_factory=Counter)
    """Reason to the number of rejected entries."""
    places: list[str] = field(default_factory=list)
    """Places of the first rejected entries, with the reasons."""
    first: dict[str, str] = field(default_factory=dict)
    """Reason to the place of the first entry that was rejected for it."""
    details: dict[str, int] = field(default_factory=dict)
    """Further counts of a format."""

    def reject(self, reason: str, place: str) -> None:
        """Count an entry that cannot be used."""
        self.rejected[reason] += 1
        self.first.setdefault(reason, place)
        if len(self.places) < _PLACES:
            self.places.append(f"{place}: {reason}")

    def keep(self, store: Store, key: str, entry: dict[str, Any], kind: str) -> None:
        """Put an entry into a store and count what came of it."""
        is_new = store.get(key) is None
        stored = store.put(key, entry, kind)
        if is_new:
            self.imported += 1
        elif all(stored.get(name) == entry[name] for name in entry if name != "arguments"):
            self.known += 1
        else:
            self.conflicts += 1

    def require_some(self, source: Path) -> None:
        """Make sure that an entry could be used, if the source held any.

        Raises:
            DataError: All entries were rejected; the text names each reason with its number and
                first place.
        """
        if self.imported or self.known or self.conflicts or not self.rejected:
            return
        reasons = "; ".join(
            f"{number} x {reason}, first {self.first[reason]}"
            for reason, number in self.rejected.most_common()
        )
        raise DataError(f"nothing of {source} could be imported: {reasons}; is --format right?")

    def to_plain(self) -> dict[str, JSON]:
        """Return the report as JSON."""
        return {
            "imported": self.imported,
            "known": self.known,
            "conflicts": self.conflicts,
            "rejected": dict(sorted(self.rejected.items())),
            "places": list(self.places),
            **self.details,
        }


class Misshapen(NamedTuple):
    """An answer that does not have the shape that its tool's document gives."""

    key: str
    tool: str
    reason: str


@dataclass(slots=True)
class VerifyReport:
    """The faults of a store's entries."""

    checked: int = 0
    damaged: list[str] = field(default_factory=list)
    """Keys of entries that do not match their checksum."""
    malformed: list[str] = field(default_factory=list)
    """Keys of simulator entries that lack a field."""
    misshapen: list[Misshapen] = field(default_factory=list)
    unknown_tools: int = 0
    """Answers of tools that the pool does not have."""
    other_documents: int = 0
    """Answers to another version of their tool's document."""
    unchecked: int = 0
    """Answers of tools without a response shape, and errors, which no shape describes."""
    saved: int | None = None
    """Entries that could be saved from a damaged file; None: the file was sound."""

    @property
    def sound(self) -> bool:
        """True: nothing is damaged, malformed or misshapen."""
        return self.saved is None and not (self.damaged or self.malformed or self.misshapen)


def verify(store: Store, tools: Mapping[str, Tool], repair: bool = False) -> VerifyReport:
    """Check every entry of a store.

    Args:
        store: The store; entries of models are only checked for damage.
        tools: The pool by id.
        repair: Remove the damaged entries; of a file with a damaged page save the others.

    Raises:
        DamagedStoreError: A page of the file is damaged, and it is not to be repaired.
    """
    report = VerifyReport()
    if repair:
        report.saved = _saved(store)
    shapes = OfTool(_shape)
    for entry in store.entries():
        report.checked += 1
        if entry.value is None:
            report.damaged.append(entry.key)
        elif entry.kind != KIND:
            continue
        elif wrong_field(entry.value):
            report.malformed.append(entry.key)
        elif entry.value["tool"] not in tools:
            report.unknown_tools += 1
        else:
            _check(report, entry.key, entry.value, shapes(tools[entry.value["tool"]]))
    if repair:
        store.discard_damaged()
    return report


def _saved(store: Store) -> int | None:
    """Return how many entries of a file with a damaged page were saved; None: it has none."""
    from seal.core.sqlite_store import DamagedStoreError

    try:
        for _ in store.entries():
            pass
    except DamagedStoreError:
        return store.salvage()
    return None


def _shape(tool: Tool) -> tuple[str, Validator | None]:
    """Return the digest of a tool's document, and the shape that it gives."""
    schema = response_schema(tool.returns)
    return document_digest(tool), None if schema is None else schema_validator(schema)


def _check(
    report: VerifyReport, key: str, value: dict[str, Any], known: tuple[str, Validator | None]
) -> None:
    document, shape = known
    if key != entry_key(value, document):
        report.other_documents += 1
    elif shape is None or value["error"]:
        report.unchecked += 1
    elif reason := _misfit(shape, value["response"]):
        report.misshapen.append(Misshapen(key, value["tool"], reason))


def _misfit(shape: Validator, response: JSON) -> str:
    """Return how a response breaks a shape; empty: it fits. A text may hold the value."""
    if isinstance(response, str) and not shape.is_valid(response):
        response = _held(response)
    first = next(iter(shape.iter_errors(response)), None)
    if first is None:
        return ""
    place = ".".join(map(str, first.absolute_path)) or "the response"
    return f"{place}: {first.message[:200]}"


def _held(text: str) -> JSON:
    try:
        return json_value(text)
    except orjson.JSONDecodeError:
        pass
    try:
        return literal_value(text)
    except ValueError:
        return text
