"""Operations of OpenAPI documents, read as their source means them or left out with the reason."""

from typing import Any

from seal.core import DataError
from seal.pools.reading.openapi import openapi_tools


def test_operations_whose_references_fork_without_end_are_left_out() -> None:
    forks = {f"s{n}": {"anyOf": [{"$ref": f"#/c/s{n + 1}"}] * 60} for n in range(11)}
    body = {"content": {"application/json": {"schema": {"$ref": "#/c/s0"}}}}
    paths = {f"/p{n}": {"post": {"requestBody": body}} for n in range(300)}
    torn: list[DataError] = []
    found = list(openapi_tools({"c": forks, "paths": paths}, torn.append))
    assert found
    assert torn
    assert len(found) + len(torn) == 300
    assert "save it in a document of its own" in str(torn[0])


def _read(paths: dict[str, Any], **parts: Any) -> tuple[dict[str, dict[str, Any]], list[DataError]]:
    """Return the parameters of each operation by its name, and what was left out."""
    torn: list[DataError] = []
    found = list(openapi_tools({"openapi": "3.0.0", "paths": paths, **parts}, torn.append))
    return {tool["name"]: tool["parameters"] for tool in found}, torn


def _posted(content: dict[str, Any], **body: Any) -> dict[str, Any]:
    return {"/x": {"post": {"operationId": "f", "requestBody": {"content": content, **body}}}}


def test_what_lies_elsewhere_or_nowhere_leaves_its_operation_out() -> None:
    bad = [
        {"parameters": [{"$ref": "#/components/parameters/None"}]},
        {"parameters": [{"$ref": "#/components/parameters/Round"}]},
        {"requestBody": {"content": {"application/json": {"schema": {"$ref": "o.yaml#/S"}}}}},
        {"requestBody": {"$ref": "#/components/requestBodies/None"}},
        {"parameters": ["id"]},
    ]
    paths = {f"/b{n}": {"get": operation} for n, operation in enumerate(bad)}
    round_trip = {"Round": {"$ref": "#/components/parameters/Round"}}
    good = {"/g": {"get": {"operationId": "g"}}, "/r": {"$ref": "r.yaml"}, "x-note": "of us"}
    found, torn = _read({**paths, **good}, components={"parameters": round_trip})
    assert list(found) == ["g"]
    told = [str(fault) for fault in torn]
    assert told[0] == (
        "/b0: get: parameters: '#/components/parameters/None' names nothing in this document; "
        "write it out"
    )
    assert "lead back to themselves" in told[1]
    assert "'o.yaml#/S' names nothing" in told[2]
    assert len(told) == 6


def test_a_path_may_name_its_operations_elsewhere_in_the_document() -> None:
    item = {"get": {"operationId": "f", "parameters": [{"name": "q", "in": "query"}]}}
    found, torn = _read(
        {"/x": {"$ref": "#/components/pathItems/P"}}, components={"pathItems": {"P": item}}
    )
    assert found["f"]["properties"] == {"q": {}}
    assert not torn


def test_forms_and_other_bodies_are_arguments() -> None:
    fields = {
        "schema": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    }
    for kind in ("application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        found, _ = _read(_posted({kind: fields, "text/plain": {}}))
        assert found["f"] == {
            "type": "object",
            "properties": {"a": {"type": "integer"}},
            "required": ["a"],
        }
    text = {"text/plain": {"schema": {"type": "string"}}}
    assert _read(_posted(text))[0]["f"]["required"] == []
    found, _ = _read(_posted(text, required=True))
    assert found["f"]["properties"] == {"body": {"type": "string"}}
    assert found["f"]["required"] == ["body"]


def test_no_call_gives_what_only_answers_have() -> None:
    inner = {
        "type": "object",
        "properties": {"id": {"readOnly": True}, "b": {}},
        "required": ["id", "b"],
    }
    schema = {
        "type": "object",
        "properties": {"id": {"readOnly": True}, "a": {"type": "array", "items": inner}},
        "required": ["id", "a"],
    }
    found, _ = _read(_posted({"application/json": {"schema": schema}}))
    assert found["f"]["required"] == ["a"]
    assert list(found["f"]["properties"]) == ["a"]
    items = found["f"]["properties"]["a"]["items"]
    assert (list(items["properties"]), items["required"]) == (["b"], ["b"])


def test_two_arguments_of_one_name_leave_the_operation_out() -> None:
    given = [{"name": "id", "in": "path"}, {"name": "id", "in": "query"}]
    found, torn = _read({"/x/{id}": {"get": {"parameters": given}}})
    assert not found
    assert str(torn[0]) == "/x/{id}: get: two arguments are named 'id'; rename one"
    own = {"name": "id", "in": "path", "schema": {"type": "string"}}
    item = {"parameters": given[:1], "get": {"operationId": "f", "parameters": [own]}}
    assert _read({"/x/{id}": item})[0]["f"]["properties"] == {"id": {"type": "string"}}


def test_a_parameter_says_its_bounds_and_its_content() -> None:
    given = [
        {"name": "n", "in": "query", "type": "integer", "minimum": 1, "x-own": 2},
        {
            "name": "o",
            "in": "query",
            "content": {"application/json": {"schema": {"type": "object"}}},
        },
    ]
    found, _ = _read({"/x": {"get": {"operationId": "f", "parameters": given}}})
    assert found["f"]["properties"] == {
        "n": {"type": "integer", "minimum": 1},
        "o": {"type": "object"},
    }
