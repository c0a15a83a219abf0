"""The operations of an OpenAPI document (3, or Swagger 2) as tools' schemas.

An operation's tool takes its parameters of path, query and form, and the fields of its body, in one
map; a body that is no object is the argument `body`. Headers and cookies are the client's. What the
document says of answers alone (`readOnly`) no call gives. An operation that cannot be read so, such
as one of which a part lies in another document, is left out with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from seal.core import DataError, shortened
from seal.pools.reading.files import expect, field_of, function_name

_METHODS = ("get", "put", "post", "delete", "patch", "head", "options")
_DEEPEST = 12
"""Steps along which references are followed; a schema below is any value."""
_MOST = 10_000
"""Parts of one schema that are followed: references that fork at each step could be millions."""
_MOST_OF_ALL = 2_000_000
"""Parts of all operations of a document."""
_TOO_MUCH = (
    f"the operations before it name more than {_MOST_OF_ALL:,} parts by their references; save it "
    "in a document of its own"
)
_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
_NO_SCHEMA = frozenset({"name", "in", "description", "required", "collectionFormat", "schema"})
"""What a parameter of Swagger 2 says beside the schema that it is itself."""


def openapi_tools(
    document: Mapping[str, Any], torn: Callable[[DataError], None]
) -> Iterator[dict[str, Any]]:
    """Yield a schema for each operation: its parameters and the fields of its body in one map.

    Args:
        document: As it was read.
        torn: Told an operation that is none, of which a part is missing or named twice, or for
            which nothing is left of what may be followed.

    Raises:
        DataError: `paths` is no map.
    """
    whole, room = dict(document), [_MOST_OF_ALL]
    for path, given in field_of(whole, "paths", dict).items():
        if str(path).startswith("x-"):
            continue
        try:
            item = _component(whole, expect(given, dict, str(path)), str(path))
        except DataError as error:
            torn(error)
            continue
        for method in (each for each in _METHODS if each in item):
            place = f"{path}: {method}"
            try:
                if not room[0]:
                    raise DataError(f"{place}: {_TOO_MUCH}")
                tool = _tool(whole, place, item, method, room)
            except DataError as error:
                torn(error)
            else:
                yield tool | {"name": tool["name"] or function_name(f"{method}_{path}")}


def _tool(
    whole: dict[str, Any], place: str, item: dict[str, Any], method: str, room: list[int]
) -> dict[str, Any]:
    """Return the schema of an operation; its name is empty where the document gives none."""
    operation = expect(item[method], dict, place)
    given: dict[tuple[str, str], dict[str, Any]] = {}
    for part in (item, operation):
        for one in expect(part.get("parameters") or [], list, place):
            parameter = _component(whole, one, f"{place}: parameters")
            name, where = (
                expect(parameter.get(part, ""), str, f"{place}: {part} of a parameter")
                for part in ("name", "in")
            )
            given[name, where] = parameter
    properties: dict[str, Any] = {}
    required: list[str] = []
    for (name, where), parameter in given.items():
        schema = _resolved(whole, _schema_of(parameter), place, room)
        needed = [name] * bool(parameter.get("required"))
        if where == "body":
            _add_body(schema, bool(needed), place, properties, required)
        elif name and where in ("query", "path", "formData"):
            told = {"description": parameter["description"]} if parameter.get("description") else {}
            _add(place, properties, {name: {**(schema or {}), **told}})
            required += needed
    if isinstance(operation.get("requestBody"), dict):
        body = _component(whole, operation["requestBody"], f"{place}: requestBody")
        schema = _resolved(whole, _sent(body.get("content")), place, room)
        _add_body(schema, body.get("required") is True, place, properties, required)
    id = operation.get("operationId")
    texts = (operation.get("summary"), operation.get("description"))
    return {
        "name": function_name(id) if isinstance(id, str) and id else "",
        "description": "\n".join(dict.fromkeys(t for t in texts if isinstance(t, str) and t)),
        "parameters": {
            "type": "object",
            "properties": properties,
            "required": list(dict.fromkeys(required)),
        },
    }


def _schema_of(parameter: Mapping[str, Any]) -> Any:
    """Return the schema of a parameter: its own, that of its one content, or itself (Swagger 2)."""
    if "schema" in parameter:
        return parameter["schema"]
    if isinstance(parameter.get("content"), dict):
        return _sent(parameter["content"])
    return {
        key: value
        for key, value in parameter.items()
        if key not in _NO_SCHEMA and not str(key).startswith("x-")
    }


def _sent(content: Any) -> Any:
    """Return the schema of what is sent: as JSON, else as a form, else as whatever comes first."""
    if not isinstance(content, dict):
        return None
    kinds = [str(kind) for kind in content]
    best = [kind for kind in kinds if "json" in kind] or [
        kind for kind in kinds if kind.partition(";")[0].strip() in _FORMS
    ]
    media = content.get((best or kinds or [""])[0])
    return media.get("schema") if isinstance(media, dict) else None


def _add_body(
    schema: Any, is_needed: bool, place: str, properties: dict[str, Any], required: list[str]
) -> None:
    """Add the fields of a body that is an object; any other body is the argument `body`."""
    if not isinstance(schema, dict):
        return
    if isinstance(schema.get("properties"), dict):
        _add(place, properties, schema["properties"])
        needed = schema.get("required")
        listed = needed if isinstance(needed, list) else []
        required += [name for name in listed if isinstance(name, str)]
    else:
        _add(place, properties, {"body": schema})
        required += ["body"] * is_needed


def _add(place: str, properties: dict[str, Any], further: Mapping[str, Any]) -> None:
    """Add arguments to those that there are.

    Raises:
        DataError: One has the name of another.
    """
    for name in further:
        if name in properties:
            raise DataError(f"{place}: two arguments are named {shortened(name)}; rename one")
    properties |= further


def _to_send(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema without those of its own properties that only answers have."""
    names, required = schema.get("properties"), schema.get("required")
    if not isinstance(names, dict):
        return schema
    sent = {
        name: part
        for name, part in names.items()
        if not (isinstance(part, dict) and part.get("readOnly") is True)
    }
    if len(sent) == len(names):
        return schema
    listed = required if isinstance(required, list) else []
    needed = [name for name in listed if name in sent or name not in names]
    return {**schema, "properties": sent, "required": needed}


def _component(whole: dict[str, Any], value: Any, place: str) -> dict[str, Any]:
    """Return a part of the document, or what it names, that is a map.

    Raises:
        DataError: It is none, or its references lead nowhere or in a circle.
    """
    for _ in range(_DEEPEST):
        found = expect(value, dict, place)
        if not isinstance(found.get("$ref"), str):
            return found
        value = _named(whole, found["$ref"], place)
    raise DataError(f"{place}: its references lead back to themselves; write it out")


def _named(whole: dict[str, Any], reference: str, place: str) -> Any:
    """Return what a reference names in the document.

    Raises:
        DataError: It names another document, or nothing.
    """
    target: Any = whole
    for part in reference.removeprefix("#/").split("/"):
        key = part.replace("~1", "/").replace("~0", "~")
        if not reference.startswith("#/") or not isinstance(target, dict) or key not in target:
            raise DataError(
                f"{place}: {shortened(reference)} names nothing in this document; write it out"
            )
        target = target[key]
    return target


def _resolved(whole: dict[str, Any], value: Any, place: str, room: list[int]) -> Any:
    """Return a schema with what its references name; None: it is no map.

    Args:
        whole: The document.
        value: The schema.
        place: Of the operation, for messages.
        room: Its one number is how many parts may be followed yet; it is counted down.

    Raises:
        DataError: A reference names nothing in the document.
    """
    most = min(_MOST, room[0])
    left = iter(range(most))
    found = _followed(whole, value, place, 0, left)
    room[0] -= next(left, most)
    return found if isinstance(found, dict) else None


def _followed(
    whole: dict[str, Any], value: Any, place: str, depth: int, left: Iterator[int]
) -> Any:
    """Return a value with what its references name; a part beyond those that are `left` is any."""
    if not isinstance(value, (dict, list)):
        return value
    if next(left, None) is None or depth >= _DEEPEST:
        return type(value)()
    if isinstance(value, list):
        return [_followed(whole, item, place, depth + 1, left) for item in value]
    reference = value.get("$ref")
    if isinstance(reference, str):
        return _followed(whole, _named(whole, reference, place), place, depth + 1, left)
    found = {key: _followed(whole, item, place, depth + 1, left) for key, item in value.items()}
    return _to_send(found)
