"""The API lists of ToolScan's repository, read from their Python files, of which none is run.

A file of `apilist/ENVIRONMENT/` assigns one dict, a literal but for the names of types:

    NAME_API = {API: {"description", "parameters": {NAME: {"type", "description", "required",
                                                           "default"?}}, "returns"?}}

Each file of `apilist/rapidapi/` is an environment of that name, and groups its APIs by toolset. An
API that stands beside the toolsets belongs to none.

Source: Shirley-Kokane/ToolScan, toolscan/apilist.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from seal.core import DataError, located, shortened
from seal.core.plain import literal_value, parse_module
from seal.pools.reading.upstream_files import field, utf8_text

FLAT = "(flat)"
"""Stands for the toolset of an API that a list of toolsets holds outside of any."""
_GROUPED = "rapidapi"
_PSEUDO = frozenset({"check_valid_actions", "finish"})
_TYPES = {
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
        return ast.Constant(node.id) if node.id in _TYPES else node


def _entry(name: Any, told: Any) -> dict[str, Any]:
    if not isinstance(told, dict):
        raise DataError(f"{name}: expected an API, got {shortened(told)}")
    with located(name):
        parameters = field(told, "parameters", dict)
        return {
            "pseudo": name in _PSEUDO,
            "name": name,
            "description": field(told, "description", str).strip(),
            "parameters": [_parameter(each, field(parameters, each, dict)) for each in parameters],
            "returns": told.get("returns"),
        }


def _parameter(name: str, told: dict[str, Any]) -> dict[str, Any]:
    with located(name):
        kind = told.get("type")
        if not isinstance(kind, list):
            kind = _TYPES.get(field(told, "type", str), kind)
        found = {
            "name": name,
            "type": kind,
            "required": field(told, "required", bool),
            "description": field(told, "description", str).strip(),
        }
    if told.get("default") not in (None, ""):
        found["default"] = told["default"]
    if told["type"] in _TOLD:
        found["raw_type"] = told["type"]
    if told["type"] == "ENUM":
        found["declared_enum_without_values"] = True
    return found
