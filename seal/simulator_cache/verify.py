"""Finds damaged entries, and answers that break their tool's response shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from seal.core.plain import literal_value
from seal.core.schemas import schema_validator
from seal.core.store import Store
from seal.core.types import JSON, Tool
from seal.simulator_cache.cached import KIND, SHAPE, OfTool, document_digest, entry_key, with_shape
from seal.simulator_cache.exchange import wrong_field
from seal.simulator_cache.shapes import response_schema

if TYPE_CHECKING:
    from jsonschema.protocols import Validator


class Misshapen(NamedTuple):
    """An answer that does not have the shape that its tool's document gives."""

    key: str
    tool: str
    reason: str


@dataclass(slots=True)
class VerifyReport:
    """What the entries of a store are worth."""

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
    """Answers of tools without a response shape, and errors: nothing to hold them against."""

    @property
    def sound(self) -> bool:
        """True where nothing is damaged, malformed or misshapen."""
        return not (self.damaged or self.malformed or self.misshapen)


def verify(store: Store, tools: Mapping[str, Tool], repair: bool = False) -> VerifyReport:
    """Check every entry of a store.

    Args:
        store: Entries of models are checked for damage alone.
        tools: The pool by id.
        repair: Remove the damaged entries.
    """
    report = VerifyReport()
    documents = OfTool(lambda tool: _documents(tool, store))
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
        elif entry.value["simulator"] != SHAPE:
            _check(report, entry.key, entry.value, documents(tools[entry.value["tool"]]))
    if repair:
        store.discard_damaged()
    return report


class _Document(NamedTuple):
    """What answers of one tool are held against."""

    digest: str
    shape: Validator | None


def _documents(tool: Tool, store: Store) -> list[_Document]:
    """Return the pool's document, and the one with an imported shape, where that differs."""
    shaped, found = with_shape(tool, store), []
    for version in [tool] if shaped is tool else [tool, shaped]:
        schema = response_schema(version.returns)
        shape = schema_validator(schema) if schema is not None else None
        found.append(_Document(document_digest(version), shape))
    return found


def _check(
    report: VerifyReport, key: str, value: dict[str, Any], documents: list[_Document]
) -> None:
    document = next((d for d in documents if key == entry_key(value, d.digest)), None)
    if document is None:
        report.other_documents += 1
    elif document.shape is None or value["error"]:
        report.unchecked += 1
    elif reason := _misfit(document.shape, value["response"]):
        report.misshapen.append(Misshapen(key, value["tool"], reason))


def _misfit(shape: Validator, response: JSON) -> str:
    """Return how a response breaks a shape; empty: not at all. A text may hold the value."""
    if isinstance(response, str) and not shape.is_valid(response):
        response = _held(response)
    first = next(iter(shape.iter_errors(response)), None)
    if first is None:
        return ""
    place = ".".join(map(str, first.absolute_path)) or "the response"
    return f"{place}: {first.message[:200]}"


def _held(text: str) -> JSON:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        pass
    try:
        return literal_value(text)
    except ValueError:
        return text
