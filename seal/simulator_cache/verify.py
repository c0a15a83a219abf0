"""Finds damaged entries, and answers that break their tool's response shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from seal.core.plain import literal_value
from seal.core.store import Store
from seal.core.types import JSON, Tool
from seal.simulator_cache.cached import KIND, SHAPE, document_digest, entry_key, with_shape
from seal.simulator_cache.exchange import is_answer_entry
from seal.simulator_cache.shapes import response_schema, validator

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
    checker = _Checker(store, tools, report)
    for entry in store.entries():
        report.checked += 1
        if entry.value is None:
            report.damaged.append(entry.key)
        elif entry.kind == KIND:
            checker.check(entry.key, entry.value)
    if repair:
        store.discard_damaged()
    return report


class _Document(NamedTuple):
    """What answers of one tool are held against."""

    digest: str
    shape: Validator | None


class _Checker:
    """Checks simulator entries one by one and notes its findings in a report."""

    def __init__(self, store: Store, tools: Mapping[str, Tool], report: VerifyReport) -> None:
        self._store = store
        self._tools = tools
        self._report = report
        self._documents: dict[str, list[_Document]] = {}

    def check(self, key: str, value: dict[str, Any]) -> None:
        if not is_answer_entry(value):
            self._report.malformed.append(key)
        elif value["tool"] not in self._tools:
            self._report.unknown_tools += 1
        elif value["simulator"] != SHAPE:
            self._check_answer(key, value)

    def _check_answer(self, key: str, value: dict[str, Any]) -> None:
        documents = self._documents_of(value["tool"])
        document = next((d for d in documents if key == entry_key(value, d.digest)), None)
        if document is None:
            self._report.other_documents += 1
        elif document.shape is None or value["error"]:
            self._report.unchecked += 1
        elif reason := _misfit(document.shape, value["response"]):
            self._report.misshapen.append(Misshapen(key, value["tool"], reason))

    def _documents_of(self, tool_id: str) -> list[_Document]:
        """Return the pool's document, and the one with an imported shape, where that differs."""
        if tool_id not in self._documents:
            tool = self._tools[tool_id]
            shaped = with_shape(tool, self._store)
            versions = [tool] if shaped is tool else [tool, shaped]
            self._documents[tool_id] = [_document(version) for version in versions]
        return self._documents[tool_id]


def _document(tool: Tool) -> _Document:
    schema = response_schema(tool.returns)
    return _Document(document_digest(tool), validator(schema) if schema is not None else None)


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
