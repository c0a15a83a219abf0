"""API documents as tools; what the published retriever reads of them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from seal.core import JSON, DataError, Tool, shortened
from seal.core.records import to_plain
from seal.core.values import digest, json_text
from seal.pools.reading.files import expect, field_of
from seal.pools.reading.records import ToolTable
from seal.pools.reading.tool_schemas import arguments_schema, default_or_example
from seal.retrievers.base import (
    DESCRIPTION_LIMIT,
    names,
    properties_of,
    shortened_document,
    text_or_empty,
)

# -- ToolBench's API documents as tools: one for each different document, with a name of its own.
#
# Documents come from the `api_list` of query files. Without these they come from the function lists
# of recorded runs, which carry names by the rule and descriptions cut at 256 characters.
# Descriptions stay as long as the source has them: ToolBench's prompt cuts them, its data does not.
#
# Upstream names become function and argument names by ToolBench's rule. Of the 928 recorded
# ToolLLaMA-2 runs that join a query, 920 have function names of this rule alone. Four leave out the
# prefix of a leading digit (`bare_name`). Four pair some APIs with a wrong tool; these stay
# unknown. Source: ToolBench, `standardize` and `change_name` of its inference code.

FINISH = "Finish"
"""The pseudo function by which a run hands in its answer; never a tool."""

_TYPES = {"NUMBER": "integer", "STRING": "string", "BOOLEAN": "boolean"}
_RULE_TYPES = frozenset({"integer", "number", "string", "boolean", "array", "object"})
_INTEGER = re.compile(r"[+-]?\d{1,18}")
_FUNCTION = re.compile(
    r'^This is the subfunction for tool "(?P<tool>.*?)", you can use this tool\.'
)
_ABOUT = re.compile(r'The description of this function is: "(?P<text>.*?)"?$', re.DOTALL)


class ApiTable(ToolTable):
    """ToolBench's APIs met so far. An id, name and document never change once they are here.

    Unlike other tables it gives every API a function name of its own, as recorded runs call them.
    Documents that differ in their response shape alone are the same.
    """

    def __init__(self) -> None:
        super().__init__(_content)
        self.renamed = 0
        """Tools whose name by the rule was taken."""
        self._rule_names: dict[str, str] = {}
        self._by_rule_name: dict[str, list[str]] = {}
        self._taken: set[str] = set()
        self._by_base: dict[str, list[str]] = {}
        self._documents: dict[tuple[str, ...], list[tuple[dict[str, Any], str]]] = {}

    def add_document(self, api: dict[str, Any], file: str) -> str:
        """Return the id of the tool that an `api_list` entry describes.

        Raises:
            DataError: A field is missing or no text; the text names it.
        """
        key = _names(api)
        seen = self._documents.setdefault(key, [])
        known = _known(seen, api)
        if known is None:
            known = self._add(_tool_of_document(api, file))
            seen.append((api, known))
        return known

    def add_function(self, function: dict[str, Any], file: str) -> str | None:
        """Return the id of the tool that a run's function means; None for `Finish`.

        A whole document of that name, where there is one, stands for the function.

        Raises:
            DataError: A field is missing.
        """
        name = function["name"]
        if name == FINISH:
            return None
        for tool_id in self._by_rule_name.get(name, ()):
            if "api" in self._tools[tool_id].source:
                return tool_id
        seen = self._documents.setdefault((name,), [])
        known = _known(seen, function)
        if known is None:
            known = self._add(_tool_of_function(name, function, file), name)
            seen.append((function, known))
        return known

    def _add(self, tool: Tool, rule_name: str | None = None) -> str:
        """Keep a tool; return the id of the one that is the same, or its own."""
        tool_id = self.add(tool)
        known = self._tools[tool_id]
        if tool_id in self._rule_names:
            if known.returns is None and tool.returns is not None:
                self._tools[tool_id] = replace(known, returns=tool.returns)
            return tool_id
        rule_name = rule_name or tool.name
        self._tools[tool_id] = replace(known, name=self._free_name(tool_id, rule_name))
        self._rule_names[tool_id] = rule_name
        self._by_rule_name.setdefault(rule_name, []).append(tool_id)
        self._by_base.setdefault(tool.id, []).append(tool_id)
        return tool_id

    def _free_name(self, tool_id: str, rule_name: str) -> str:
        """Return the rule's name; where it is taken, one that ends in the id's digest."""
        name = rule_name
        if name in self._taken:
            name = f"{rule_name[-(NAME_LENGTH - 9) :]}_{digest(tool_id)[:8]}"
            self.renamed += 1
        self._taken.add(name)
        return name

    def by_rule_name(self, tool_ids: Iterable[str]) -> dict[str, Tool]:
        """Return the tools by their names of the rule, as runs call them; the first one counts."""
        found: dict[str, Tool] = {}
        for tool_id in tool_ids:
            found.setdefault(self._rule_names[tool_id], self._tools[tool_id])
        for name, tool in list(found.items()):
            found.setdefault(bare_name(name), tool)
        return found

    def add_responses(self, category: str, tool: str, shapes: Mapping[str, JSON]) -> int:
        """Give the APIs of one tool their response shapes; return how many tools got one.

        Args:
            category: The folder's name; compared by the name rule.
            tool: The tool's name by the rule.
            shapes: API name as upstream, to the shape.
        """
        given = 0
        for upstream, shape in shapes.items():
            for tool_id in self._by_base.get(f"toolbench/{tool}/{api_name(upstream)}", ()):
                known = self._tools[tool_id]
                fits = not known.category or tool_name(known.category) == tool_name(category)
                if fits and known.returns is None:
                    self._tools[tool_id] = replace(known, returns=shape)
                    given += 1
        return given

    def lacking(self) -> Counter[str]:
        """Count the tools that lack a description, a category or a response shape."""
        return Counter(
            name
            for tool in self._tools.values()
            for name, value in (
                ("descriptions", tool.description),
                ("categories", tool.category),
                ("response_shapes", tool.returns),
            )
            if not value
        )


def _known(seen: list[tuple[dict[str, Any], str]], document: dict[str, Any]) -> str | None:
    for other, tool_id in seen:
        if other == document:
            return tool_id
    return None


def _content(tool: Tool) -> JSON:
    """Return what makes two documents the same: all but id, name, response shape and file."""
    names = {key: value for key, value in tool.source.items() if key != "file"}
    return to_plain([tool.category, tool.description, tool.parameters, names])


def _names(api: Any) -> tuple[str, ...]:
    """Return the three names of a document."""
    return tuple(field_of(api, name, str) for name in ("category_name", "tool_name", "api_name"))


def _tool_of_document(api: dict[str, Any], file: str) -> Tool:
    tool, name = tool_name(api["tool_name"]), api_name(api["api_name"])
    required = _parameters(api, "required_parameters")
    optional = _parameters(api, "optional_parameters")
    source: dict[str, JSON] = {
        "tool": api["tool_name"],
        "api": api["api_name"],
        "method": str(api.get("method") or ""),
        "file": file,
    }
    renamed = {rule: p["name"] for rule, p in (*optional, *required) if rule != p["name"]}
    if renamed:
        source["arguments"] = renamed
    return Tool(
        f"toolbench/{tool}/{name}",
        function_name(tool, name),
        str(api.get("api_description") or ""),
        _schema(
            [(rule, _document_property(p, needed=True)) for rule, p in required],
            [(rule, _document_property(p, needed=False)) for rule, p in optional],
        ),
        api["category_name"],
        api.get("template_response"),
        source,
    )


def _parameters(api: dict[str, Any], name: str) -> list[tuple[str, dict[str, Any]]]:
    """Return a list of parameters with their names by the rule."""
    place = f"{name} of API {api['api_name']!r}"
    parameters = expect(api.get(name), list, place)
    for parameter in parameters:
        if not isinstance(parameter, dict) or not isinstance(parameter.get("name"), str):
            raise DataError(f"{place}: {shortened(parameter)} has no name")
    return [(api_name(parameter["name"]), parameter) for parameter in parameters]


def _tool_of_function(name: str, function: dict[str, Any], file: str) -> Tool:
    text = str(function.get("description") or "")
    named, about = _FUNCTION.match(text), _ABOUT.search(text)
    tool = named["tool"] if named else name.rpartition("_for_")[2]
    api = name.removesuffix(f"_for_{tool}") if name != tool else name
    schema = expect(function.get("parameters") or {}, dict, f"parameters of {name!r}")
    properties = schema.get("properties") or {}
    required = schema.get("required") or []
    if not isinstance(properties, dict) or not all(
        isinstance(each, dict) for each in properties.values()
    ):
        raise DataError(f"parameters of {name!r}: a property is no object")

    def described(needed: bool) -> list[tuple[str, dict[str, JSON]]]:
        own = ((key, each) for key, each in properties.items() if (key in required) == needed)
        return [(key, _function_property(each, needed)) for key, each in own]

    return Tool(
        f"toolbench/{tool}/{api}",
        name,
        about["text"] if about else "",
        _schema(described(True), described(False)),
        source={"function": name, "file": file},
    )


def _schema(
    required: list[tuple[str, dict[str, JSON]]], optional: list[tuple[str, dict[str, JSON]]]
) -> dict[str, JSON]:
    """Return the JSON Schema of an argument map; of equal names the first counts."""
    properties: dict[str, JSON] = {}
    for name, described in (*required, *optional):
        properties.setdefault(name, described)
    return arguments_schema(properties, list(dict(required)))


def _document_property(parameter: dict[str, Any], needed: bool) -> dict[str, JSON]:
    kind = _TYPES.get(str(parameter.get("type")), "string")
    return _property(kind, parameter, parameter.get("default"), needed)


def _function_property(parameter: dict[str, Any], needed: bool) -> dict[str, JSON]:
    kind = parameter.get("type")
    kind = kind if isinstance(kind, str) and kind in _RULE_TYPES else "string"
    return _property(kind, parameter, parameter.get("example_value"), needed)


def _property(kind: str, parameter: dict[str, Any], value: Any, needed: bool) -> dict[str, JSON]:
    """Return one argument's schema; upstream's value of a needed argument is but an example."""
    described: dict[str, JSON] = {"type": kind}
    if parameter.get("description"):
        described["description"] = str(parameter["description"])
    if value is None or value == "":
        return described
    return described | default_or_example(value, _typed(kind, value), needed)


def _typed(kind: str, value: Any) -> JSON:
    """Return a default as its type says it; None where it cannot be."""
    if kind == "integer":
        if isinstance(value, str) and _INTEGER.fullmatch(value.strip()):
            return int(value)
        whole = isinstance(value, float) and value.is_integer()
        return int(value) if whole or type(value) is int else None
    if kind == "boolean":
        if isinstance(value, str):
            return {"true": True, "false": False}.get(value.strip().lower())
        return value if isinstance(value, bool) else None
    if kind == "string":
        return value if isinstance(value, str) else json_text(value)
    return value


NAME_LENGTH = 64
"""A function name keeps its last characters: as many as chat servers allow."""

_FOREIGN = re.compile("[^\u4e00-\u9fa5^a-zA-Z0-9_]")
_PREFIXED_TOOL = re.compile(r"_for_get_(?=\d)")
_REPEATED = re.compile("_+")
_RESERVED = frozenset({"from", "class", "return", "false", "true", "id", "and"})


@lru_cache(maxsize=1 << 16)
def standardise(text: str) -> str:
    """Return a name in lower case of letters, digits, `_`, `^` and CJK characters.

    Anything else becomes `_`, repeated and outer `_` go, a leading digit gets the prefix `get_`.
    Empty where nothing is left.
    """
    name = _REPEATED.sub("_", _FOREIGN.sub("_", text)).lower().strip("_")
    return f"get_{name}" if name[:1].isdigit() else name


def unreserved(name: str) -> str:
    """Return the name, with the prefix `is_` where it is a reserved word (id, from...)."""
    return f"is_{name}" if name in _RESERVED else name


def tool_name(text: str) -> str:
    """Return a tool's name by the rule; where that is empty, one made from its digest."""
    return standardise(text) or f"unnamed_{digest(text)[:8]}"


def api_name(text: str) -> str:
    """Return an API's or argument's name by the rule."""
    return unreserved(tool_name(text))


def function_name(tool: str, api: str) -> str:
    """Return `API_for_TOOL`, its last 64 characters, from names by the rule."""
    return f"{api}_for_{tool}"[-NAME_LENGTH:]


def bare_name(name: str) -> str:
    """Return a function name without the prefix of its tool's leading digit."""
    return _PREFIXED_TOOL.sub("_for_", name)


# -- What ToolBench's retriever reads of a tool: the document template `toolbench`.


def document(tool: Tool) -> str:
    """Return the document that ToolBench's retriever was trained on.

    Source: ToolLLM, section 3.1; the fields in the order of its corpus: category, tool, api,
    description, required and optional parameters and the shape of the response as JSON.
    """
    title = names(tool)
    required = tool.parameters.get("required")
    required = required if isinstance(required, list) else []
    groups: dict[bool, list[dict[str, Any]]] = {True: [], False: []}
    for parameter, schema in properties_of(tool).items():
        groups[parameter in required].append(
            {
                "name": parameter,
                "type": text_or_empty(schema.get("type")).upper(),
                "description": text_or_empty(schema.get("description")),
                "default": schema.get("default", ""),
            }
        )
    return ", ".join(
        [
            tool.category,
            title.tool,
            title.api,
            shortened_document(tool.description, DESCRIPTION_LIMIT),
            f"required_params: {json.dumps(groups[True])}",
            f"optional_params: {json.dumps(groups[False])}",
            f"return_schema: {json.dumps(tool.returns if tool.returns is not None else '')}",
        ]
    )
