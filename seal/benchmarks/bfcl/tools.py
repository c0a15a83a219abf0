"""BFCL's function documents as tools, their types in the words of JSON Schema.

| upstream | JSON Schema |
|---|---|
| dict, HashMap, Hashtable | object |
| array, Array, ArrayList, list, tuple, Queue, Stack, Set | array |
| float, double | number |
| integer, long, short, byte, Bigint, BigInteger | integer |
| string, String, char | string |
| boolean, Boolean, bool | boolean |
| any, Any, Object, empty and unknown words | no type: any value |

A word that is neither JSON Schema's nor dict or float is kept in `source["types"]`, by the
argument's path. A default of null makes null a valid value.

Arguments of Java and JavaScript are what their values are in JSON, or the name of a variable, which
is a text: upstream's own prompts ask for all of them as texts in the language's syntax.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal

import orjson

from seal.core import JSON, Tool, located
from seal.core.values import json_bytes
from seal.pools.reading.files import expect, field_of, refuse_deep, tool_id
from seal.pools.reading.records import ToolTable

ToolPer = Literal["content", "name"]

_TYPES: dict[str, str] = {
    **dict.fromkeys(("object", "dict", "HashMap", "Hashtable"), "object"),
    **dict.fromkeys(("array", "Array", "ArrayList", "list", "tuple"), "array"),
    **dict.fromkeys(("Queue", "Stack", "Set"), "array"),
    **dict.fromkeys(("number", "float", "double"), "number"),
    **dict.fromkeys(("integer", "long", "short", "byte", "Bigint", "BigInteger"), "integer"),
    **dict.fromkeys(("string", "String", "char"), "string"),
    **dict.fromkeys(("boolean", "Boolean", "bool"), "boolean"),
    "null": "null",
}
_PLAIN = frozenset({"object", "array", "number", "integer", "string", "boolean", "null"})
_EXPECTED = frozenset({"dict", "float"})
"""Words that upstream uses throughout: nothing is lost with them."""
_NAMED_VALUES = frozenset({"java", "javascript"})
_INTEGER = re.compile(r"[+-]?\d{1,18}")


def json_schema(parameters: Any, variables: bool = False) -> tuple[dict[str, JSON], dict[str, str]]:
    """Return upstream's description of an argument map as a JSON Schema of type object.

    Args:
        parameters: As in a function's document.
        variables: The name of a variable may stand for any value.

    Returns:
        The schema, and upstream's own type words by the path of their argument, `items[].size`.

    Raises:
        DataError: It is no object, or `properties` or `required` are not what they must be.
    """
    expect(parameters, dict, "parameters")
    expect(parameters.get("properties", {}), dict, "parameters.properties")
    expect(parameters.get("required", []), list, "parameters.required")
    words: dict[str, str] = {}
    schema = {"properties": {}, **_converted(parameters, "", variables, words)}
    return {**schema, "type": "object"}, words


def _converted(schema: Any, path: str, variables: bool, words: dict[str, str]) -> dict[str, JSON]:
    """Return a schema in JSON Schema's words; `optional`, which `required` says, goes.

    Args:
        schema: As upstream has it; what is no object allows any value.
        path: Of the argument.
        variables: The name of a variable may stand for any value.
        words: Gets upstream's own type words by path, where something is lost with them.
    """
    if not isinstance(schema, dict):
        return {}
    converted: dict[str, JSON] = {}
    for name, value in schema.items():
        if name == "properties" and isinstance(value, dict):
            converted[name] = {
                inner: _converted(item, f"{path}.{inner}" if path else inner, variables, words)
                for inner, item in value.items()
            }
        elif name == "items":
            converted[name] = _converted(value, f"{path}[]", variables, words)
        elif name not in ("enum", "optional", "type"):
            converted[name] = value
    word = schema.get("type")
    if isinstance(word, str) and word not in _EXPECTED | _PLAIN:
        words[path] = word
    kind = _TYPES.get(word) if isinstance(word, str) else None
    if isinstance(schema.get("enum"), list):
        _choose(converted, kind, schema["enum"])
    kinds = [] if kind is None else [kind]
    if variables and kinds and kind != "string":
        kinds.append("string")
    if kinds and "default" in schema and schema["default"] is None and "enum" not in converted:
        kinds.append("null")
    if kinds:
        converted["type"] = kinds if len(kinds) > 1 else kinds[0]
    return converted


def _choose(schema: dict[str, JSON], kind: str | None, choices: list[Any]) -> None:
    """Add the choices of a value: to a list's items, where they are meant; as values of its type.

    Upstream writes choices of numbers and booleans as texts; one that is no such value cannot be
    met and goes.
    """
    if kind == "array" and not any(isinstance(choice, list) for choice in choices):
        items = schema.get("items")
        schema["items"] = {**(items if isinstance(items, dict) else {}), "enum": choices}
        return
    if kind in ("boolean", "integer"):
        values = [_read(kind, choice) for choice in choices]
        choices = [value for value in values if value is not None]
    if choices:
        schema["enum"] = choices


def _read(kind: str, choice: Any) -> JSON:
    """Return a choice as a value of its type; None where it is none."""
    if not isinstance(choice, str):
        return choice
    if kind == "boolean":
        return {"true": True, "false": False}.get(choice.lower())
    return int(choice) if _INTEGER.fullmatch(choice) else None


def declared_type(tool: Tool, path: str) -> str:
    """Return upstream's type word of an argument, or of the items of a list: `sizes[]`.

    Args:
        tool: As `Functions` makes it.
        path: Of an argument that the tool has; "any" where upstream declares no type.
    """
    words = tool.source.get("types")
    if isinstance(words, dict) and path in words:
        return str(words[path])
    name = path.removesuffix("[]")
    schema = tool.parameters["properties"][name]
    kind = (schema if name == path else schema.get("items", {})).get("type", "any")
    word = str(kind[0] if isinstance(kind, list) else kind)
    return {"number": "float", "object": "dict"}.get(word, word)


class Functions:
    """The functions met so far.

    Args:
        tool_per: "content": one tool for each different document; "name": one for each name of a
            collection, whose first document stands for all.
    """

    def __init__(self, tool_per: ToolPer) -> None:
        self.table = ToolTable()
        self.words: Counter[str] = Counter()
        """Upstream's type words that JSON Schema lacks, to the number of arguments in the tools."""
        self.set_aside = 0
        """Documents that another of the same name stands for."""
        self._tool_per = tool_per
        self._by_document: dict[tuple[str, str, bytes], Tool] = {}

    def add(self, document: Any, collection: str, file: str, category: str = "") -> Tool:
        """Return the tool that a document describes: its own document, under the id that it has.

        Args:
            document: `{name, description, parameters, response?}`.
            collection: Language of the function, or name of its class's file: the second part of
                the tool's id, within which a name means one function.
            file: Where it stands; of documents that are the same byte for byte the first's counts.
            category: Class that the function belongs to; empty where there is none.

        Raises:
            DataError: A field is missing or malformed.
        """
        try:
            key = collection, category, orjson.dumps(document)
        except TypeError:
            refuse_deep(document)
            key = collection, category, json_bytes(document)
        if key not in self._by_document:
            self._by_document[key] = self._added(*_tool(document, collection, file, category))
        elif self._tool_per == "name":
            self.set_aside += 1
        else:
            self.table.duplicates += 1
        return self._by_document[key]

    def _added(self, tool: Tool, words: Mapping[str, str]) -> Tool:
        if self._tool_per == "name" and tool.id in self.table:
            self.set_aside += 1
            return tool
        known = len(self.table)
        own = self.table.add(tool)
        if len(self.table) > known:
            self.words.update(words.values())
        return replace(tool, id=own)

    def __iter__(self) -> Iterator[Tool]:
        """Yield the tools, sorted by id."""
        return iter(self.table)


def _tool(document: Any, collection: str, file: str, category: str) -> tuple[Tool, dict[str, str]]:
    name = field_of(document, "name", str)
    description = expect(document.get("description", ""), str, f"description of {name!r}")
    with located(f"function {name!r}"):
        schema, words = json_schema(document.get("parameters"), collection in _NAMED_VALUES)
    returns = document.get("response")
    # "tool" and "api" are what a retriever reads as the title: here the name is both.
    source: dict[str, JSON] = {"tool": category or name, "api": name, "file": file}
    if words:
        source["types"] = words
    return Tool(
        tool_id("bfcl", collection, name),
        name,
        description,
        schema,
        category,
        _converted(returns, "", False, {}) if isinstance(returns, dict) else returns,
        source,
    ), words
