import pytest
from looped import every_case
from toolbench_sources import api, function

from seal.benchmarks.toolbench.tools import ApiTable
from seal.core import DataError


def only(table: ApiTable):
    (tool,) = table
    return tool


def test_a_document_becomes_a_tool_with_a_schema() -> None:
    table = ApiTable()
    tool_id = table.add_document(api("High Water"), "q.json")
    tool = only(table)
    assert tool_id == tool.id == "toolbench/tide_tables/high_water"
    assert tool.name == "high_water_for_tide_tables"
    assert tool.parameters == {
        "type": "object",
        "properties": {
            "is_id": {"type": "integer", "description": "the harbour", "examples": [12]},
            "unit": {"type": "string", "default": "metre"},
        },
        "required": ["is_id"],
        "additionalProperties": False,
    }
    assert tool.source == {
        "tool": "Tide Tables",
        "api": "High Water",
        "method": "GET",
        "file": "q.json",
        "arguments": {"is_id": "id", "unit": "Unit"},
    }


@every_case(
    ("kind", "default", "expected"),
    [
        ("NUMBER", "5", {"type": "integer", "default": 5}),
        ("NUMBER", 5.0, {"type": "integer", "default": 5}),
        ("NUMBER", "5.5", {"type": "integer", "examples": ["5.5"]}),
        ("NUMBER", "9" * 30, {"type": "integer", "examples": ["9" * 30]}),
        ("NUMBER", True, {"type": "integer", "examples": [True]}),
        ("BOOLEAN", "True", {"type": "boolean", "default": True}),
        ("BOOLEAN", "maybe", {"type": "boolean", "examples": ["maybe"]}),
        ("STRING", 5, {"type": "string", "default": "5"}),
        ("STRING", "", {"type": "string"}),
        ("ENUM", ["a"], {"type": "string", "default": '["a"]'}),
        ("DATE (YYYY-MM-DD)", None, {"type": "string"}),
    ],
)
def test_a_default_has_the_type_that_the_rule_gives(kind, default, expected) -> None:
    table = ApiTable()
    optional = [{"name": "x", "type": kind, "description": "", "default": default}]
    table.add_document(api("A", required_parameters=[], optional_parameters=optional), "q.json")
    assert only(table).parameters["properties"]["x"] == expected


def test_equal_documents_are_one_tool_and_the_first_known_shape_stays() -> None:
    table = ApiTable()
    first = table.add_document(api("A"), "q.json")
    second = table.add_document(api("A", template_response={"at": "str"}), "other.json")
    assert first == second
    assert only(table).returns == {"at": "str"}


def test_another_document_under_the_same_id_gets_a_digest_and_a_name_of_its_own() -> None:
    table = ApiTable()
    table.add_document(api("A"), "q.json")
    variant = table.add_document(api("A", category_name="Sea"), "q.json")
    base, digest = variant.split("#")
    assert base == "toolbench/tide_tables/a"
    assert len(digest) == 8
    assert len({tool.name for tool in table}) == 2
    assert table.variants == table.renamed == 1


def test_names_that_the_cut_makes_equal_are_told_apart_but_found_by_the_rule() -> None:
    table = ApiTable()
    long = "endless name of a service " * 4
    ids = [table.add_document(api(f"{word} {long}"), "q.json") for word in ("New", "Old")]
    names = [tool.name for tool in table]
    assert len(set(names)) == 2
    assert all(len(name) <= 64 for name in names)
    assert list(table.by_rule_name(ids).values()) == [t for t in table if t.id == ids[0]]


def test_a_tool_is_found_without_the_prefix_of_its_leading_digit() -> None:
    table = ApiTable()
    tool_id = table.add_document(api("Moon", tool="7Timer"), "q.json")
    named = table.by_rule_name([tool_id])
    assert sorted(named) == ["moon_for_7timer", "moon_for_get_7timer"]


def test_a_description_of_100_kilobytes_stays_whole() -> None:
    table = ApiTable()
    table.add_document(api("A", api_description="tide " * 20_000), "q.json")
    assert len(only(table).description) == 100_000


def test_dots_blanks_and_cjk_make_valid_distinct_ids() -> None:
    table = ApiTable()
    for name in ("v1.0 / find", "查询 天气", "???", "!!!"):
        table.add_document(api(name, tool="风 service.io"), "q.json")
    assert [tool.id.rpartition("/")[0] for tool in table] == ["toolbench/风_service_io"] * 4
    assert len({tool.id for tool in table}) == 4


def test_a_function_means_the_document_of_its_name() -> None:
    table = ApiTable()
    tool_id = table.add_document(api("High Water"), "q.json")
    assert table.add_function(function("high_water_for_tide_tables"), "run.json") == tool_id
    assert table.add_function({"name": "Finish"}, "run.json") is None


def test_a_function_without_a_document_becomes_a_tool() -> None:
    table = ApiTable()
    text = {"type": "string", "description": "place", "example_value": "Oban"}
    tool_id = table.add_function(function("find_for_pier_for_two", place=text), "run.json")
    tool = only(table)
    assert tool_id == "toolbench/two/find_for_pier"
    assert tool.description == "about find_for_pier_for_two"
    assert tool.parameters["properties"]["place"] == {
        "type": "string",
        "description": "place",
        "examples": ["Oban"],
    }
    assert tool.parameters["required"] == ["place"]


@pytest.mark.parametrize(
    ("broken", "named"),
    [
        ({"api_name": "x"}, "category_name"),
        (api("A", required_parameters=None), "required_parameters"),
        (api("A", optional_parameters=[{"type": "STRING"}]), "has no name"),
        (api("A", category_name=3), "category_name"),
        ("text", "expected an object with 'category_name', got 'text'"),
        (api("A") | {"api_name": ["a"]}, "api_name"),
    ],
)
def test_a_broken_document_is_an_error_that_names_the_field(broken, named: str) -> None:
    with pytest.raises(DataError, match=named):
        ApiTable().add_document(broken, "q.json")
