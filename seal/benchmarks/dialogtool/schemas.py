"""Services' intents as tools; when two calls ask for the same."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any

from seal.core import JSON, DataError, Tool, check_name, shortened
from seal.core.quantities import read
from seal.core.values import canonical_json
from seal.pools.importer import Notes
from seal.pools.reading.files import (
    FileFault,
    Placed,
    Reader,
    Torn,
    field_of,
    function_name,
    json_file,
    listed,
    tool_id,
    usable,
)
from seal.pools.reading.records import ToolTable
from seal.pools.reading.tool_schemas import arguments_schema

# -- SGD's schemas: each intent of a service as a tool with typed arguments.
#
# SGD has no types. Its schemas list the values of categorical slots: True and False make a boolean,
# whole numbers an integer, anything else an enum of texts. Of the other slots prices, ratings and
# balances are numbers, dates and times are texts that say their format, and all others are texts.
# The default `dontcare` of an optional argument means "no filter": it is left out, as the argument
# may be.
#
# SGD-X words the same schemas otherwise: services, intents and slots stand in equal order under
# other names. Types follow from the original names, and `source["original"]` keeps them.
#
# A tool's description is the intent's. The service's, which all its intents share, stands in
# `source["service"]`: in the document it costs a lexical retriever 3 points of recall@10.
#
# `Schemas` has the services of each split. They are looked up by their original names, in which the
# dialogues are written. They bear the names of the schemas that were chosen: with SGD-X other ones.

BENCHMARK = "dialogtool"

_VERSION = re.compile(r"_\d+$")
_INTEGER = re.compile(r"-?\d+")
_FORMATS = {"date": "yyyy-mm-dd", "time": "hh:mm"}
_DURATIONS = frozenset({"wait_time", "transfer_time"})
"""Slots that count minutes or days although their names end like those of moments."""
_NUMBERS = frozenset({"price", "rating", "balance"})
"""Words of which a name has one whose slot is a number."""


def domain_of(service: str) -> str:
    """Return a service's domain: its name without the number behind it."""
    return _VERSION.sub("", service)


def tools_of_service(
    service: Any, file: str, original: Any = None, benchmark: str = BENCHMARK
) -> dict[str, Tool]:
    """Return a service's intents as tools, by their original names.

    Args:
        service: A record of schema.json.
        file: For provenance.
        original: The record of which SGD-X words this one otherwise; None: it is the original.
        benchmark: What the tools are of.

    Raises:
        DataError: A field is missing or of another kind, an intent names an unknown slot, or the
            record is not worded after the original.
    """
    names = original_names(service, original)
    slots = {
        field_of(slot, "name", str): _schema(slot, names[slot["name"]])
        for slot in field_of(service, "slots", list)
    }
    tools = {}
    intents = field_of(service, "intents", list)
    origins = intents if original is None else field_of(original, "intents", list)
    if len(origins) != len(intents):
        raise DataError(f"expected {len(origins)} intents as in the original, got {len(intents)}")
    for intent, origin in zip(intents, origins, strict=True):
        source = _source(service, intent, file)
        if original is not None:
            source["original"] = {
                "tool": original["service_name"],
                "api": field_of(origin, "name", str),
                "arguments": {name: names[name] for name in _arguments(intent)},
            }
        tools[field_of(origin, "name", str)] = _tool(intent, slots, source, benchmark)
    return tools


def original_names(service: Any, original: Any = None) -> dict[str, str]:
    """Return the original name of each slot of a service.

    Args:
        service: A record of schema.json.
        original: The record of which it words the slots otherwise, in equal order; None: itself.

    Raises:
        DataError: The two have not equally many slots, or two slots of one name.
    """
    slots = [field_of(slot, "name", str) for slot in field_of(service, "slots", list)]
    if original is None:
        return dict(zip(slots, slots, strict=True))
    origins = [field_of(slot, "name", str) for slot in field_of(original, "slots", list)]
    if len(slots) != len(origins) or len(set(slots)) != len(slots):
        raise DataError(
            f"expected {len(origins)} slots of different names as in the original, got "
            f"{len(set(slots))} names of {len(slots)} slots"
        )
    return dict(zip(slots, origins, strict=True))


def _source(service: Any, intent: Any, file: str) -> dict[str, JSON]:
    name = field_of(service, "service_name", str)
    return {
        "tool": name,
        "api": field_of(intent, "name", str),
        "service": field_of(service, "description", str),
        "app": domain_of(name),
        "transactional": field_of(intent, "is_transactional", bool),
        "base_required": [],
        "file": file,
    }


def _arguments(intent: Any) -> list[str]:
    return [*field_of(intent, "required_slots", list), *field_of(intent, "optional_slots", dict)]


def _tool(
    intent: Any, slots: dict[str, dict[str, JSON]], source: dict[str, JSON], benchmark: str
) -> Tool:
    """Return an intent as a tool, whose answer is a list of what fits; empty where nothing does."""
    service, name = str(source["tool"]), str(source["api"])
    about = field_of(intent, "description", str)
    properties = {argument: _slot(slots, argument) for argument in _arguments(intent)}
    for argument, default in field_of(intent, "optional_slots", dict).items():
        if default != DONT_CARE:
            schema = properties[argument]
            properties[argument] = {**schema, "default": _value(schema, default)}
    columns = {result: _slot(slots, result) for result in _list(intent, "result_slots")}
    returns = {"type": "array", "items": {"type": "object", "properties": columns}}
    return Tool(
        tool_id(benchmark, service, name),
        function_name(f"{service}_{name}"),
        about,
        arguments_schema(properties, list(field_of(intent, "required_slots", list))),
        domain_of(service),
        returns,
        source,
    )


def _slot(slots: dict[str, dict[str, JSON]], name: Any) -> dict[str, JSON]:
    if not isinstance(name, str) or name not in slots:
        raise DataError(f"no slot {shortened(name)}; the service has: {', '.join(slots)}")
    return slots[name]


def _schema(slot: Any, original: str) -> dict[str, JSON]:
    """Return a slot's JSON Schema."""
    values = _list(slot, "possible_values")
    about = field_of(slot, "description", str)
    schema: dict[str, JSON] = {"type": "string", "description": about}
    if not field_of(slot, "is_categorical", bool):
        return schema | _type_of_name(original, about)
    schema["type"] = _type(values)
    if schema["type"] != "boolean" and values:
        schema["enum"] = [_value(schema, value) for value in values]
    return schema


def _list(record: Any, name: str) -> list[Any]:
    """Return a list of a record; an empty one where MultiWOZ leaves it away."""
    return field_of(record, name, list) if name in record else []


def _type_of_name(name: str, about: str) -> dict[str, JSON]:
    """Return what the name of a slot without listed values says of its type."""
    words = name.split("_")
    if _NUMBERS.intersection(words):
        return {"type": "number"}
    hint = _FORMATS.get(words[-1])
    if hint is None or name in _DURATIONS:
        return {}
    return {"format": words[-1], "description": f"{about} ({hint})"}


def _type(values: list[Any]) -> str:
    if not all(isinstance(value, str) for value in values):
        raise DataError(f"possible_values: expected texts, got {shortened(values)}")
    if values and all(value in _BOOLEANS for value in values):
        return "boolean"
    return "integer" if values and all(map(_INTEGER.fullmatch, values)) else "string"


def _value(schema: Mapping[str, JSON], text: Any) -> JSON:
    """Return a value as its argument's type says it; as it stands where it cannot be."""
    return typed(str(schema["type"]), text) if isinstance(text, str) else text


_DECIMAL = re.compile(r"-?\d+\.\d+", re.ASCII)
_WHOLE = re.compile(r"0|-?[1-9]\d*", re.ASCII)
_BOOLEANS = {"True": True, "False": False}
_IN_WORDS = re.compile(r"[a-z][a-z -]*[a-z]", re.ASCII | re.IGNORECASE)
_DIGITS = 15
"""Digits that a float surely keeps."""


@lru_cache(maxsize=1 << 16)
def typed(kind: str, text: str) -> JSON:
    """Return a text as a value of a JSON Schema type; the text itself where it is none."""
    if kind == "boolean":
        return _BOOLEANS.get(text, text)
    if kind in ("integer", "number") and len(text) <= _DIGITS:
        if _WHOLE.fullmatch(text):
            return int(text)
        if kind == "number" and _DECIMAL.fullmatch(text):
            return float(text)
        said = read(text).values if _IN_WORDS.fullmatch(text) else []
        if len(said) == 1 and isinstance(said[0], Decimal):
            return int(said[0])
    return text


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
    kind: str
    """Type of its JSON Schema."""

    def value(self, text: str) -> JSON:
        """Return the value that a text of upstream's is."""
        return text if self.kind == "string" else typed(self.kind, text)


def named(slots: Mapping[str, Slot], values: Mapping[str, str]) -> dict[str, JSON]:
    """Return upstream's texts by slot with the names and types of the pool.

    Raises:
        KeyError: There is no such slot.
        DataError: A value is no text.
    """
    if not set(map(type, values.values())) <= {str}:
        raise DataError(f"expected texts as values of slots, got {shortened(values)}")
    return {(slot := slots[name]).name: slot.value(text) for name, text in values.items()}


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
        slots = {
            original: Slot(own, str(kinds.get(own, {}).get("type", "string")))
            for own, original in originals.items()
        }
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
        service = Service(field_of(record, "service_name", str), slots, apis)
        return field_of(record if origin is None else origin, "service_name", str), service


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


# -- When two calls ask for the same.
#
# Texts are compared without case and blanks. An argument that is left out counts as its default.
# One that is `dontcare` counts as left out, for so dialogues say that nothing is filtered by it.
# Source: Schema-Guided Dialogue; DialogTool (2025), same input, same output.

DONT_CARE = "dontcare"
"""Value of an argument by which nothing is filtered."""


def call_key(tool: Tool, arguments: Mapping[str, JSON]) -> bytes:
    """Return what calls of a tool have in common that ask for the same."""
    return canonical_json(asked(tool, arguments))


def asked(tool: Tool, arguments: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return what a call asks for: its arguments and the defaults, as they are compared."""
    properties = tool.parameters.get("properties", {})
    defaults = {name: slot["default"] for name, slot in properties.items() if "default" in slot}
    folded = {name: fold(value) for name, value in (defaults | dict(arguments)).items()}
    return {name: value for name, value in folded.items() if value != DONT_CARE}


def fold(value: JSON) -> JSON:
    """Return a value as it is compared: a text without case, and with single blanks."""
    return " ".join(value.casefold().split()) if isinstance(value, str) else value
