"""ToolScan's lists of APIs, from JSON or from a checkout's Python."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from seal.benchmarks.toolscan.tasks import Queries
from seal.core import JSON, DataError, Task, Tool, UsageError, located, shortened
from seal.core.values import literal_value, parse_module
from seal.pools.counts import PSEUDO_ACTIONS
from seal.pools.importer import Notes
from seal.pools.reading.files import (
    field_of,
    find,
    function_name,
    json_file,
    listed,
    refuse_deep,
    tool_id,
    usable,
    utf8_text,
)
from seal.pools.reading.records import ToolTable
from seal.pools.reading.tool_schemas import arguments_schema, default_or_example, typed

# -- ToolScan (SpecTool): importer.
#
# The tools of its environments are read from upstream's repository, whose lists are Python files,
# or from one file `tools.json` (format toolscan-neutral/1):
#
#     {"format", "source", "tools": [{environment, tool, name, description, parameters, returns,
#                                     source, pseudo}]}
#
# Queries in upstream's input format (`seal.benchmarks.toolscan.tasks`) are read where they lie
# beside; upstream does not publish them: then the pool has no tasks. Tool id:
# `toolscan/TOOLSET/API`, and the environment where it has no toolsets; an environment is a tool's
# category.
#
# `finish` and `check_valid_actions` are no APIs but pseudo actions of ToolScan's chat. Their names
# are kept beside the tools, for the similarity of names counts them.
#
# Source: "ToolScan" (Kokane et al., 2024), and the lists and loader of Shirley-Kokane/ToolScan.

BENCHMARK = "toolscan"

FORMAT = "toolscan-neutral/1"
_TYPES = frozenset({"array", "boolean", "integer", "number", "object", "string"})


def import_toolscan(source: Path, notes: Notes, *, pseudo: bool = False) -> Iterator[Tool | Task]:
    """Yield the tasks of ToolScan's queries, if there are any, then the APIs of its lists.

    Args:
        source: Upstream's repository, the file tools.json, or a folder above it; any `*.jsonl`
            below it holds queries.
        notes: Gets the counts.
        pseudo: True: the pseudo actions are tools of the pool too, which no task offers.

    Raises:
        UsageError: `pseudo` is neither true nor false.
        DataError: The list is missing or malformed, or a file has no usable record; the text names
            file and record.
    """
    if not isinstance(pseudo, bool):
        raise UsageError(f"-T pseudo={pseudo}: expected true or false")
    return _records(source, notes, pseudo)


def _records(source: Path, notes: Notes, pseudo: bool) -> Iterator[Tool | Task]:
    lists = ApiLists(BENCHMARK, pseudo, notes)
    for path in list_files(source) or find(source, ["tools.json"], BENCHMARK):
        lists.read(path)
    queries = Queries(lists.environments(), BENCHMARK, notes)
    for path in query_files(source):
        yield from queries.read(path)
    yield from lists
    note_facts(notes, lists, queries)
    if not queries.tasks:
        notes.lacks.add("tasks")
    else:
        notes.facts["gold_violations"] = queries.violations()


def note_facts(notes: Notes, lists: ApiLists, queries: Queries) -> None:
    """Note the counts of lists and queries, and the names of the pseudo actions."""
    notes.facts["counts"] = {**lists.counts(), **queries.counts()}
    notes.facts[PSEUDO_ACTIONS] = dict(sorted(lists.pseudo_actions.items()))


def query_files(source: Path) -> list[Path]:
    """Return the files of queries in a source, sorted; a single file has none beside it."""
    return sorted(path for path in source.rglob("*.jsonl") if path.is_file())


class ApiLists:
    """The API lists of all environments.

    Args:
        benchmark: What the ids of the tools begin with.
        pseudo: True: pseudo actions are tools too.
        notes: Gets the malformed entries.
    """

    def __init__(self, benchmark: str, pseudo: bool, notes: Notes) -> None:
        self.pseudo_actions: defaultdict[str, list[str]] = defaultdict(list)
        """Environment to the names of its pseudo actions, each as often as it stands there."""
        self._benchmark = benchmark
        self._with_pseudo = pseudo
        self._notes = notes
        self._table = ToolTable()
        self._counts: Counter[str] = Counter()

    def read(self, path: Path) -> None:
        """Add the entries of a file.

        Raises:
            DataError: The file is no list of this format, or each entry is malformed.
        """
        for tool in usable(path, self._tool, self._notes, listed(_entries(path))):
            pseudo = bool(tool.source["pseudo"])
            self._counts["pseudo_actions" if pseudo else "apis"] += 1
            if pseudo:
                self.pseudo_actions[tool.category].append(tool.name)
            if self._with_pseudo or not pseudo:
                self._table.add(tool)

    def __iter__(self) -> Iterator[Tool]:
        """Yield the tools, sorted by id."""
        return iter(self._table)

    def environments(self) -> dict[str, list[Tool]]:
        """Return each environment's APIs, pseudo actions left out, sorted by name and id."""
        found: defaultdict[str, list[Tool]] = defaultdict(list)
        for tool in self._table:
            if not tool.source["pseudo"]:
                found[tool.category].append(tool)
        return dict(sorted(found.items()))

    def counts(self) -> dict[str, JSON]:
        """Return what the lists hold, in numbers."""
        tools = list(self._table)
        return {
            **dict(sorted(self._counts.items())),
            "duplicates": self._table.duplicates,
            "environments": len({tool.category for tool in tools}),
            "enums_without_values": self._counts["enums_without_values"],
            "parameters": sum(len(tool.parameters["properties"]) for tool in tools),
            "tool_variants": self._table.variants,
            "without_description": sum(not tool.description for tool in tools),
            "without_response_shape": sum(tool.returns is None for tool in tools),
        }

    def _tool(self, entry: Any) -> Tool:
        refuse_deep(entry)
        environment = field_of(entry, "environment", str)
        name = field_of(entry, "name", str)
        toolset = entry.get("tool")
        if toolset is not None and not isinstance(toolset, str):
            raise DataError(f"tool: expected a text or null, got {shortened(toolset)}")
        owner = environment if toolset in (None, FLAT) else str(toolset)
        parameters = field_of(entry, "parameters", list)
        tool = Tool(
            tool_id(self._benchmark, owner, name),
            function_name(name),
            field_of(entry, "description", str),
            _parameters(parameters),
            environment,
            entry.get("returns"),
            {
                "tool": owner,
                "api": name,
                "pseudo": field_of(entry, "pseudo", bool),
                "upstream": field_of(entry, "source", str),
            },
        )
        valueless = (p.get("declared_enum_without_values") is True for p in parameters)
        self._counts["enums_without_values"] += sum(valueless)
        return tool


def _entries(path: Path) -> list[Any]:
    if path.suffix == ".py":
        return list(entries(path))
    content = json_file(path)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        got = content.get("format") if isinstance(content, dict) else content
        raise DataError(f"{path}: expected format {FORMAT!r}, got {shortened(got)}")
    with located(path):
        return field_of(content, "tools", list)


def _parameters(entries: list[Any]) -> dict[str, JSON]:
    properties: dict[str, JSON] = {}
    required: list[JSON] = []
    for position, entry in enumerate(entries):
        with located(f"parameters.{position}"):
            name, needed = field_of(entry, "name", str), field_of(entry, "required", bool)
            if name in properties:
                raise DataError(f"the parameter {name!r} stands twice")
            properties[name] = _property(entry, needed)
        if needed:
            required.append(name)
    return arguments_schema(properties, required)


def _property(entry: dict[str, Any], needed: bool) -> dict[str, JSON]:
    """Return a parameter's schema.

    The default of a needed parameter is but an example, and so is one that its type does not allow.
    """
    schema: dict[str, JSON] = {"type": _type(entry.get("type"))}
    description = field_of(entry, "description", str)
    if "raw_type" in entry:
        description = f"{description} ({field_of(entry, 'raw_type', str)})".strip()
    if description:
        schema["description"] = description
    if isinstance(entry.get("enum"), list) and entry["enum"]:
        schema["enum"] = entry["enum"]
    return schema | _default(schema["type"], entry.get("default"), needed)


def _default(kind: JSON, value: Any, needed: bool) -> dict[str, JSON]:
    """Return upstream's default, a text even of a number, as JSON Schema says it."""
    if value in (None, ""):
        return {}
    fitting = typed(kind, value) if isinstance(kind, str) else value
    return default_or_example(value, fitting, needed)


def _type(value: Any) -> JSON:
    words = value if isinstance(value, list) else [value]
    if not words or not all(isinstance(word, str) and word in _TYPES for word in words):
        raise DataError(
            f"type: expected one of {', '.join(sorted(_TYPES))}, or a list of such, "
            f"got {shortened(value)}"
        )
    return value


# -- The API lists of ToolScan's repository, read from their Python files, of which none is run.
#
# A file of `apilist/ENVIRONMENT/` assigns one dict, a literal but for the names of types:
#
#     NAME_API = {API: {"description", "parameters": {NAME: {"type", "description", "required",
#                                                            "default"?}}, "returns"?}}
#
# Each file of `apilist/rapidapi/` is an environment of that name, and groups its APIs by toolset.
# An API that stands beside the toolsets belongs to none.
#
# Source: Shirley-Kokane/ToolScan, toolscan/apilist.

FLAT = "(flat)"
"""Stands for the toolset of an API that a list of toolsets holds outside of any."""
_GROUPED = "rapidapi"
_PSEUDO = frozenset({"check_valid_actions", "finish"})
_PYTHON_TYPES = {
    **{"str": "string", "int": "integer", "float": "number", "bool": "boolean", "list": "array"},
    **{"STRING": "string", "NUMBER": "number", "BOOLEAN": "boolean", "ARRAY": "array"},
    **{"ENUM": "string", "OBJECT": "object", "dict": "object"},
    **{"BINARY": "string", "DATE (YYYY-MM-DD)": "string", "TIME (24-hour HH:MM)": "string"},
}
"""What upstream calls a type to what JSON Schema calls it."""
_TOLD = ("BINARY", "DATE (YYYY-MM-DD)", "TIME (24-hour HH:MM)")
"""Types of which JSON Schema's word says too little."""


def list_files(source: Path) -> list[Path]:
    """Return the files of the lists in a checkout, those of toolsets last; empty: it is none."""
    found = {*source.glob("*/*.py"), *source.rglob("apilist/*/*.py")}
    lists = [path for path in found if path.parent.parent.name == "apilist"]
    return sorted(lists, key=lambda path: (path.parent.name == _GROUPED, path))


def entries(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the entries of a list as the neutral format has them.

    Raises:
        DataError: The file is no such list; the text names it and the place.
    """
    grouped = path.parent.name == _GROUPED
    about = {
        "environment": path.stem if grouped else path.parent.name,
        "source": f"apilist/{path.parent.name}/{path.name}",
    }
    for name, held in _dict(path).items():
        with located(f"{path}, {name}"):
            if not isinstance(held, dict):
                raise DataError(f"expected an API or a toolset, got {shortened(held)}")
            apis = {name: held} if "parameters" in held else held
            toolset = (FLAT if apis is not held else name) if grouped else None
            for api, told in apis.items():
                yield {**about, "tool": toolset, **_entry(api, told)}


def _dict(path: Path) -> dict[str, Any]:
    """Return the value of the one dict that a file assigns; types are the texts of their names."""
    try:
        body = parse_module(utf8_text(path.read_bytes(), str(path))).body
        found = [each.value for each in body if isinstance(each, ast.Assign)]
        values = [literal_value(_Named().visit(value)) for value in found]
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: {error}; fetch it again") from error
    if len(values) != 1 or not isinstance(values[0], dict):
        raise DataError(f"{path}: expected one assignment of a dict of APIs")
    return values[0]


class _Named(ast.NodeTransformer):
    """Puts a type's name for the type."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Return the text of a type's name; another name stays, and is no literal."""
        return ast.Constant(node.id) if node.id in _PYTHON_TYPES else node


def _entry(name: Any, told: Any) -> dict[str, Any]:
    if not isinstance(told, dict):
        raise DataError(f"{name}: expected an API, got {shortened(told)}")
    with located(name):
        parameters = field_of(told, "parameters", dict)
        return {
            "pseudo": name in _PSEUDO,
            "name": name,
            "description": field_of(told, "description", str).strip(),
            "parameters": [
                _parameter(each, field_of(parameters, each, dict)) for each in parameters
            ],
            "returns": told.get("returns"),
        }


def _parameter(name: str, told: dict[str, Any]) -> dict[str, Any]:
    with located(name):
        kind = told.get("type")
        if not isinstance(kind, list):
            kind = _PYTHON_TYPES.get(field_of(told, "type", str), kind)
        found = {
            "name": name,
            "type": kind,
            "required": field_of(told, "required", bool),
            "description": field_of(told, "description", str).strip(),
        }
    if told.get("default") not in (None, ""):
        found["default"] = told["default"]
    if told["type"] in _TOLD:
        found["raw_type"] = told["type"]
    if told["type"] == "ENUM":
        found["declared_enum_without_values"] = True
    return found
