"""The operations of an OpenAPI document (3, or Swagger 2) as tools' schemas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from seal.pools.reading.upstream_files import expect, field, function_name

_METHODS = ("get", "put", "post", "delete", "patch", "head", "options")
_DEEPEST = 12
"""Steps along which references are followed; a schema below is any value."""
_MOST = 10_000
"""Parts of one schema that are followed: references that fork at each step could be millions."""


def openapi_tools(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a schema for each operation: its parameters and the fields of its JSON body in one map.

    Raises:
        DataError: `paths` is no map of maps.
    """
    whole = dict(document)
    for path, item in field(whole, "paths", dict).items():
        for method in _METHODS:
            if method in expect(item, dict, path):
                operation = expect(item[method], dict, f"{path}: {method}")
                given = [
                    _resolved(whole, parameter)
                    for part in (item, operation)
                    for parameter in expect(part.get("parameters") or [], list, path)
                ]
                yield _tool(whole, f"{method}_{path}", operation, given)


def _tool(
    whole: dict[str, Any], place: str, operation: dict[str, Any], given: list[dict[str, Any]]
) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    required: list[str] = []
    for parameter in given:
        name, where = parameter.get("name"), parameter.get("in")
        if where == "body":
            _add_body(parameter.get("schema"), properties, required)
        elif isinstance(name, str) and where in ("query", "path", "formData"):
            schema = parameter.get("schema")
            if not isinstance(schema, dict):
                schema = {k: parameter[k] for k in ("type", "enum", "items") if k in parameter}
            told = {"description": parameter["description"]} if parameter.get("description") else {}
            properties[name] = {**schema, **told}
            required += [name] * bool(parameter.get("required"))
    content = _resolved(whole, operation.get("requestBody")).get("content")
    if isinstance(content, dict):
        of_json = [body for kind, body in content.items() if "json" in kind]
        _add_body(_resolved(whole, next(iter(of_json), {})).get("schema"), properties, required)
    texts = (operation.get("summary"), operation.get("description"))
    return {
        "name": function_name(str(operation.get("operationId") or place)),
        "description": "\n".join(dict.fromkeys(t for t in texts if isinstance(t, str) and t)),
        "parameters": {
            "type": "object",
            "properties": properties,
            "required": list(dict.fromkeys(required)),
        },
    }


def _add_body(schema: Any, properties: dict[str, Any], required: list[str]) -> None:
    """Add the fields of a body that is an object; any other body is the argument `body`."""
    if not isinstance(schema, dict):
        return
    if isinstance(schema.get("properties"), dict):
        properties |= schema["properties"]
        needed = schema.get("required")
        listed = needed if isinstance(needed, list) else []
        required += [name for name in listed if isinstance(name, str)]
    else:
        properties["body"] = schema
        required.append("body")


def _resolved(whole: dict[str, Any], value: Any) -> dict[str, Any]:
    """Return a part of the document with what its references within the document name."""
    found = _followed(whole, value, 0, iter(range(_MOST)))
    return found if isinstance(found, dict) else {}


def _followed(whole: dict[str, Any], value: Any, depth: int, left: Iterator[int]) -> Any:
    """Return a value with what its references name; a part beyond those that are `left` is any."""
    if not isinstance(value, (dict, list)):
        return value
    if depth >= _DEEPEST or next(left, None) is None:
        return type(value)()
    if isinstance(value, list):
        return [_followed(whole, item, depth + 1, left) for item in value]
    reference = value.get("$ref")
    if isinstance(reference, str):
        target: Any = whole if reference.startswith("#/") else {}
        for part in reference.removeprefix("#/").split("/"):
            key = part.replace("~1", "/").replace("~0", "~")
            target = target.get(key, {}) if isinstance(target, dict) else {}
        return _followed(whole, target, depth + 1, left)
    return {key: _followed(whole, item, depth + 1, left) for key, item in value.items()}
