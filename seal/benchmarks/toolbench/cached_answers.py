"""Answers of StableToolBench's cache and ToolBench's response shapes, read into a store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from seal.core import JSON, DataError, Response, Tool, ToolCall
from seal.core.store import Store
from seal.core.text import words
from seal.core.validation import CallValidator
from seal.core.values import json_bytes, json_value, normalise
from seal.pools.reading.tool_schemas import literal
from seal.simulator_cache.answer_cache import (
    KIND,
    SHAPE,
    answer_entry,
    document_digest,
    entry_key,
    shape_key,
)
from seal.simulator_cache.exchange import StoreImport

STABLETOOLBENCH = "stabletoolbench"
"""Simulator of the entries that come from StableToolBench's cache."""

_LONGEST = 100_000
"""Characters of an argument map's text that are parsed at most."""


def import_stabletoolbench(store: Store, folder: Path, tools: Mapping[str, Tool]) -> StoreImport:
    """Read a cache `category/tool/api.json`: the text of an argument map to {error, response}.

    The texts are JSON or Python literals, and never evaluated. Maps that differ in order alone are
    one call: the first of the file counts. Defaults are filled in as when a call runs.

    Raises:
        DataError: The folder has no such file.
    """
    report = StoreImport()
    index = _ToolIndex(tools)
    validator = CallValidator(tools)
    files = _files(folder, "*/*/*.json", "category/tool/api.json")
    for file in files:
        found = index.find(file.parent.parent.name, file.parent.name, file.stem)
        entries = _read_object(file, report)
        if entries is None:
            continue
        if not found:
            for _ in entries:
                report.reject("no such API in the pool", str(file))
            continue
        for text, value in entries.items():
            place = f"{file}, {text[:80]}"
            arguments, response = _arguments(text), _response(value)
            if arguments is None:
                report.reject("unreadable arguments", place)
            elif isinstance(response, str):
                report.reject(response, place)
            else:
                for tool in found:
                    own = _as_run(tool, arguments, validator)
                    entry = answer_entry(tool.id, own, response, STABLETOOLBENCH)
                    report.keep(store, entry_key(entry, document_digest(tool)), entry, KIND)
    report.details = {"files": len(files)}
    return report


def import_response_examples(store: Store, folder: Path, tools: Mapping[str, Tool]) -> StoreImport:
    """Read response shapes `category/tool.json`: {"api_list": [{"name", "schema"}]}.

    A shape is no answer: it tells the template simulator what to write for a tool without one.

    Raises:
        DataError: The folder has no such file.
    """
    report = StoreImport()
    index = _ToolIndex(tools)
    files = _files(folder, "*/*.json", "category/tool.json")
    for file in files:
        content = _read_object(file, report)
        if content is None:
            continue
        apis = content.get("api_list")
        for api in apis if isinstance(apis, list) else [None]:
            if not isinstance(api, dict) or not isinstance(api.get("name"), str):
                report.reject("no api_list of name and schema", str(file))
                continue
            place = f"{file}, {api['name']}"
            found = index.find(file.parent.name, file.stem, api["name"])
            if not api.get("schema"):
                report.reject("no schema", place)
            elif not found:
                report.reject("no such API in the pool", place)
            else:
                for tool in found:
                    entry = answer_entry(tool.id, None, Response(api["schema"]), SHAPE)
                    report.keep(store, shape_key(tool.id), entry, KIND)
    report.details = {"files": len(files)}
    return report


class _ToolIndex:
    """Tools by upstream names, in whatever spelling: letters and digits alone count."""

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self._found: dict[tuple[str, str], list[Tool]] = defaultdict(list)
        for tool in tools.values():
            parts = tool.id.partition("#")[0].split("/")
            names = {(parts[-2], parts[-1])} if len(parts) > 1 else set()
            names.add((str(tool.source.get("tool", "")), str(tool.source.get("api", ""))))
            for key in {(_loose(owner), _loose(api)) for owner, api in names}:
                self._found[key].append(tool)

    def find(self, category: str, tool: str, api: str) -> list[Tool]:
        """Return the documents of an API: of its category, else those that name none."""
        found = self._found.get((_loose(tool), _loose(api)), [])
        same = [t for t in found if _loose(t.category) == _loose(category)]
        return same or [t for t in found if not t.category]


def _as_run(tool: Tool, arguments: dict[str, JSON], validator: CallValidator) -> dict[str, JSON]:
    """Return the arguments under the tool's own names, with defaults filled in."""
    own = {_loose(name): name for name in tool.parameters.get("properties", {})}
    renamed = tool.source.get("arguments")
    if isinstance(renamed, dict):
        own.update({_loose(str(upstream)): name for name, upstream in renamed.items()})
    named = {own.get(_loose(name), name): value for name, value in arguments.items()}
    return validator.with_defaults(ToolCall("", tool.name, named, tool=tool.id))


def _arguments(text: str) -> dict[str, JSON] | None:
    """Return the argument map that a text shows as JSON or as a Python literal; None: neither."""
    if not text.strip():
        return {}
    value = _literal(text)
    if isinstance(value, str):  # a text within the text
        value = _literal(value) if value.strip() else {}
    if not isinstance(value, dict):
        return None
    try:
        plain = normalise(value)
        json_bytes(plain)
    except (TypeError, ValueError, RecursionError):
        return None
    arguments: dict[str, JSON] = plain
    return arguments


def _literal(text: str) -> Any:
    return None if len(text) > _LONGEST else literal(text)


def _response(value: Any) -> Response | str:
    """Return the answer that a cached value holds, or the reason why it holds none."""
    if isinstance(value, str):
        value = _literal(value)
    if not isinstance(value, dict) or "response" not in value:
        return "no object of error and response"
    error = value.get("error", "")
    if not isinstance(error, str):
        return "an error that is no text"
    if "fake response" in error.lower():  # what the server says when its own simulator failed
        return "a failure of the upstream simulator"
    if not error and value["response"] in (None, ""):
        return "an empty response"
    return Response(value["response"], error)


def _files(folder: Path, pattern: str, layout: str) -> list[Path]:
    files = sorted(folder.glob(pattern))
    if not files:
        raise DataError(f"{folder} has no file {layout}; give the folder that holds the categories")
    return files


def _read_object(file: Path, report: StoreImport) -> dict[str, Any] | None:
    try:
        content = json_value(file.read_bytes())
    except orjson.JSONDecodeError:
        report.reject("a file that is not JSON", str(file))
        return None
    if isinstance(content, dict):
        return content
    report.reject("a file that holds no object", str(file))
    return None


def _loose(name: str) -> str:
    return "".join(words(name))
