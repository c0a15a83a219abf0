"""SGD's schemas: each intent of a service as a tool with typed arguments.

SGD has no types. Its schemas list the values of categorical slots: True and False make a boolean,
whole numbers an integer, anything else an enum of texts. The other slots are texts, for that is how
the dialogues write their values; dates and times say their format in the description. The default
`dontcare` of an optional argument means "no filter": it is left out, as the argument may be.

A tool's description is the intent's. The service's, which all its intents share, stands in
`source["service"]`: in the document it costs a lexical retriever 3 points of recall@10.
"""

from __future__ import annotations

import re
from typing import Any

from seal.benchmarks.upstream.records import field, function_name, tool_id
from seal.core.errors import DataError, shortened
from seal.core.types import JSON, Tool

BENCHMARK = "dialogtool"
DONT_CARE = "dontcare"

_VERSION = re.compile(r"_\d+$")
_WHOLE = re.compile(r"-?\d+")
_BOOLEANS = {"True": True, "False": False}
_FORMATS = {"date": "yyyy-mm-dd", "time": "hh:mm"}


def domain_of(service: str) -> str:
    """Return a service's domain: its name without the number behind it."""
    return _VERSION.sub("", service)


def tools_of_service(service: Any, file: str) -> dict[str, Tool]:
    """Return a service's intents as tools, by name.

    Args:
        service: A record of schema.json.
        file: For provenance.

    Raises:
        DataError: A field is missing or of another kind, or an intent names an unknown slot.
    """
    name = field(service, "service_name", str)
    about = field(service, "description", str)
    slots = {field(slot, "name", str): _schema(slot) for slot in field(service, "slots", list)}
    tools = {}
    for intent in field(service, "intents", list):
        tool = _tool(name, about, intent, slots, file)
        tools[str(tool.source["api"])] = tool
    return tools


def _tool(
    service: str, about: str, intent: Any, slots: dict[str, dict[str, JSON]], file: str
) -> Tool:
    name = field(intent, "name", str)
    transactional = field(intent, "is_transactional", bool)
    return Tool(
        tool_id(BENCHMARK, service, name),
        function_name(f"{service}_{name}"),
        field(intent, "description", str),
        _parameters(intent, slots),
        domain_of(service),
        _returns(intent, slots),
        {
            "tool": service,
            "api": name,
            "service": about,
            "transactional": transactional,
            "file": file,
        },
    )


def _parameters(intent: Any, slots: dict[str, dict[str, JSON]]) -> dict[str, JSON]:
    required = field(intent, "required_slots", list)
    optional = field(intent, "optional_slots", dict)
    properties = {name: _slot(slots, name) for name in (*required, *optional)}
    for name, default in optional.items():
        if default != DONT_CARE:
            properties[name] = {**properties[name], "default": _value(properties[name], default)}
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def _returns(intent: Any, slots: dict[str, dict[str, JSON]]) -> JSON:
    """Return the shape of an answer: a list of what fits; empty where nothing does."""
    names = field(intent, "result_slots", list)
    return {
        "type": "array",
        "items": {"type": "object", "properties": {name: _slot(slots, name) for name in names}},
    }


def _slot(slots: dict[str, dict[str, JSON]], name: Any) -> dict[str, JSON]:
    if not isinstance(name, str) or name not in slots:
        raise DataError(f"no slot {shortened(name)}; the service has: {', '.join(slots)}")
    return slots[name]


def _schema(slot: Any) -> dict[str, JSON]:
    """Return a slot's JSON Schema."""
    values = field(slot, "possible_values", list)
    about = field(slot, "description", str)
    schema: dict[str, JSON] = {"type": "string", "description": about}
    if not field(slot, "is_categorical", bool):
        hint = _FORMATS.get(field(slot, "name", str).rpartition("_")[2])
        return schema | ({"description": f"{about} ({hint})"} if hint else {})
    schema["type"] = _type(values)
    if schema["type"] != "boolean" and values:
        schema["enum"] = [_value(schema, value) for value in values]
    return schema


def _type(values: list[Any]) -> str:
    if not all(isinstance(value, str) for value in values):
        raise DataError(f"possible_values: expected texts, got {shortened(values)}")
    if values and all(value in _BOOLEANS for value in values):
        return "boolean"
    return "integer" if values and all(map(_WHOLE.fullmatch, values)) else "string"


def _value(schema: dict[str, JSON], text: Any) -> JSON:
    """Return a value as its argument's type says it; as it stands where it cannot be."""
    if schema["type"] == "boolean":
        return _BOOLEANS.get(text, text)
    whole = schema["type"] == "integer" and _WHOLE.fullmatch(str(text))
    return int(text) if whole else text
