import json

import pytest
from looped import every_case

from seal.core import Tool, UnknownNameError, UsageError
from seal.retrievers.base import DOCUMENT_LIMIT, TEMPLATES, documents, names, shortened_document

TOOL = Tool(
    "toy/weather/air_quality#0a1b2c3d",
    "air_quality_for_weather",
    "Pollution of the air.",
    {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Name of the city"},
            "days": {"type": "integer", "default": 3},
        },
        "required": ["city"],
    },
    category="Environment",
    returns={"pm10": "number"},
)


def test_names_come_from_the_source_else_from_the_id_without_its_digest():
    upstream = Tool("toy/a/b", "b_for_a", source={"tool": "Air Lab", "api": "getB"})

    assert names(upstream) == ("Air Lab", "getB")
    assert names(TOOL) == ("weather", "air_quality")
    assert names(Tool("plain", "shown")) == ("", "shown")


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("tool_api_description", "weather air_quality: Pollution of the air."),
        ("name", "air_quality_for_weather"),
        ("name_description", "air_quality_for_weather: Pollution of the air."),
        (
            "full",
            "weather air_quality: Pollution of the air. Category: Environment. "
            "Parameters: city Name of the city; days.",
        ),
        (lambda tool: tool.category, "Environment"),
        ("seal.retrievers.base:name", "air_quality_for_weather"),
    ],
)
def test_a_template_is_a_name_a_dotted_path_or_a_function(template, text):
    assert documents([TOOL], template) == [text]


def test_the_toolbench_template_holds_parameters_and_response_as_json():
    [text] = documents([TOOL], "toolbench")
    head, _, rest = text.partition(", required_params: ")
    required, _, rest = rest.partition(", optional_params: ")
    optional, _, returns = rest.partition(", return_schema: ")

    assert head == "Environment, weather, air_quality, Pollution of the air."
    assert json.loads(required) == [
        {"name": "city", "type": "STRING", "description": "Name of the city", "default": ""}
    ]
    assert json.loads(optional)[0]["default"] == 3
    assert json.loads(returns) == {"pm10": "number"}


def test_a_tool_named_like_its_api_is_named_once():
    assert documents([Tool("toy/radio/radio", "radio", "Plays.")]) == ["radio: Plays."]


@pytest.mark.parametrize("template", TEMPLATES.names())
def test_a_huge_description_is_cut(template):
    tool = Tool("toy/a/b", "b", "word " * 20_000)

    assert len(documents([tool], template)[0]) <= DOCUMENT_LIMIT


def test_huge_parameters_are_cut_too():
    schema = {"properties": {"x": {"description": "y" * 100_000}}, "required": None}

    assert len(documents([Tool("toy/a/b", "b", parameters=schema)], "full")[0]) == DOCUMENT_LIMIT


@every_case("template", TEMPLATES.names())
@every_case("properties", [None, [], {"x": None}, {"x": {"type": ["a", "b"]}}])
def test_odd_schemas_make_a_document_all_the_same(template, properties):
    tool = Tool("toy/a/b", "b", parameters={"properties": properties, "required": None})

    assert isinstance(documents([tool], template)[0], str)


def test_a_cut_falls_on_a_blank_where_there_is_one():
    assert shortened_document("one two three", 9) == "one two"
    assert shortened_document("one two", 7) == "one two"
    assert shortened_document("天气预报和空气", 4) == "天气预报"


def test_an_unknown_template_lists_the_known_ones():
    with pytest.raises(UnknownNameError, match="name_description"):
        documents([TOOL], "nam")


def test_a_template_that_is_no_function_is_refused():
    with pytest.raises(UsageError, match="no function"):
        documents([TOOL], 3)
