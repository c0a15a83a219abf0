import string
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from seal.core import SimulatorError, Tool
from seal.simulator_cache.shapes import response_schema
from seal.simulator_cache.simulators import Template

NAMES = st.sampled_from(["id", "city", "price", "createdAt", "x", "items", "Größe", "user name"])


def numbers() -> st.SearchStrategy[dict]:
    return st.builds(
        lambda kind, low, span, exclusive: {
            "type": kind,
            "exclusiveMinimum" if exclusive else "minimum": low,
            "maximum": low + span,
        },
        st.sampled_from(["integer", "number"]),
        st.integers(-1000, 1000),
        st.integers(1, 500),
        st.booleans(),
    )


def strings() -> st.SearchStrategy[dict]:
    lengths = st.builds(
        lambda low, span: {"type": "string", "minLength": low, "maxLength": low + span},
        st.integers(0, 30),
        st.integers(0, 30),
    )
    formats = st.sampled_from(["date", "date-time", "email", "uri", "uuid", "ipv4", "odd"])
    patterns = st.sampled_from(
        [r"^[A-Z]{3}$", r"^\d{4}-\d{2}$", r"^(?:north|south)+$", r"a+b?c*", r"^#[0-9a-f]{6}$"]
    )
    return (
        lengths
        | formats.map(lambda f: {"type": "string", "format": f})
        | patterns.map(lambda p: {"type": "string", "pattern": p})
    )


LEAVES = (
    numbers()
    | strings()
    | st.just({"type": "boolean"})
    | st.just({"type": "null"})
    | st.just({})
    | st.builds(lambda f: {"type": "integer", "multipleOf": f}, st.integers(1, 12))
    | st.lists(st.text(string.ascii_letters) | st.integers(), min_size=1, max_size=3).map(
        lambda values: {"enum": values}
    )
    | st.just({"const": {"fixed": [1, "a"]}})
)


def objects(inner: st.SearchStrategy[dict]) -> st.SearchStrategy[dict]:
    return st.builds(
        lambda properties, required, closed: {
            "type": "object",
            "properties": properties,
            "required": sorted(properties if closed else set(properties) & required),
            "additionalProperties": not closed,
        },
        st.dictionaries(NAMES, inner, max_size=4),
        st.sets(NAMES, max_size=3),
        st.booleans(),
    )


def arrays(inner: st.SearchStrategy[dict]) -> st.SearchStrategy[dict]:
    return st.builds(
        lambda items, low, span: {
            "type": "array",
            "items": items,
            "minItems": low,
            "maxItems": low + span,
        },
        inner,
        st.integers(0, 5),
        st.integers(0, 5),
    )


SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: (
        objects(inner)
        | arrays(inner)
        | st.lists(inner, min_size=1, max_size=3).map(lambda options: {"anyOf": options})
        | st.builds(lambda options: {"type": "object", "properties": {"x": options}}, inner)
    ),
    max_leaves=12,
).map(lambda schema: {"type": "object", "properties": {"answer": schema}, "required": ["answer"]})

ARGUMENTS = st.dictionaries(
    NAMES, st.text(max_size=5) | st.integers(-9, 9) | st.booleans(), max_size=3
)


def tool(returns=None, **fields) -> Tool:
    return Tool("lab/weather/now", "now_for_weather", returns=returns, **fields)


@given(schema=SCHEMAS, arguments=ARGUMENTS)
@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_an_answer_is_true_to_any_response_schema(schema, arguments):
    answer = Template().respond(tool(schema), arguments).response
    Draft202012Validator(schema).validate(answer)


@pytest.mark.slow
@given(
    template=st.recursive(
        st.sampled_from(
            ["str", "int", "float", "bool", "NoneType", "empty list", "list of int with length 4"]
        ),
        lambda inner: (
            st.dictionaries(NAMES, inner, min_size=1, max_size=4)
            | st.dictionaries(NAMES, inner, min_size=1, max_size=3).map(
                lambda fields: [{**fields, "_list_length": 7}]
            )
        ),
        max_leaves=10,
    ),
    arguments=ARGUMENTS,
)
@settings(max_examples=150, deadline=None)
def test_an_answer_is_true_to_any_upstream_type_template(template, arguments):
    answer = Template().respond(tool(template), arguments).response
    schema = response_schema(template)
    assert schema is not None
    Draft202012Validator(schema).validate(answer)


@given(arguments=ARGUMENTS, returns=SCHEMAS)
@settings(max_examples=50, deadline=None)
def test_the_order_of_arguments_never_matters(arguments, returns):
    turned = dict(reversed(arguments.items()))
    first = Template().respond(tool(returns), arguments)
    assert first == Template().respond(tool(returns), turned)


def test_a_type_template_gives_values_of_the_types_it_names():
    template = {
        "roll": "empty list",
        "subtotal": "int",
        "tags": ["list of str with length 2"],
        "rows": [{"price": "float", "sold": "bool", "_list_length": 40}],
        "next": "NoneType",
    }
    answer = Template().respond(tool(template), {}).response
    assert answer["roll"] == []
    assert isinstance(answer["subtotal"], int)
    assert [type(tag) for tag in answer["tags"]] == [str, str]
    assert [set(row) for row in answer["rows"]] == [{"price", "sold"}] * 3
    assert isinstance(answer["rows"][0]["price"], (int, float))
    assert isinstance(answer["rows"][0]["sold"], bool)
    assert answer["next"] is None


def test_a_field_named_like_an_argument_repeats_it():
    template = {"cityName": "str", "location": {"zip": "str"}, "days": "int", "mood": "str"}
    arguments = {"city_name": "Oslo", "zip": 1234, "days": "three", "mood": None}
    answer = Template().respond(tool(template), arguments).response
    assert answer["cityName"] == "Oslo"
    assert answer["location"]["zip"] == "1234"
    assert isinstance(answer["days"], int)
    assert isinstance(answer["mood"], str)


def test_an_echo_that_breaks_the_schema_is_not_written():
    schema = {"type": "object", "properties": {"unit": {"type": "string", "enum": ["C", "F"]}}}
    assert Template().respond(tool(schema), {"unit": "F"}).response == {"unit": "F"}
    assert Template().respond(tool(schema), {"unit": "K"}).response["unit"] in ("C", "F")


def test_equal_calls_get_equal_answers_and_other_calls_others():
    template = {"temperature": "float", "station": "str", "code": "int"}
    one = Template().respond(tool(template), {"city": "Oslo"})
    assert one == Template().respond(tool(template), {"city": "Oslo"})
    assert one != Template().respond(tool(template), {"city": "Lima"})
    assert one != Template(seed=1).respond(tool(template), {"city": "Oslo"})


def test_an_example_gives_its_own_shape():
    example = {"name": "Quill", "stock": 40, "open": True, "tags": ["a", "b"], "price": 2.5}
    answer = Template().respond(tool(example), {}).response
    assert answer["name"] == "Quill"
    assert isinstance(answer["stock"], int) and 20 <= answer["stock"] <= 60
    assert isinstance(answer["open"], bool)
    assert len(answer["tags"]) == 2


def test_a_template_cut_off_in_its_text_gives_what_is_whole():
    cut = '{"status": "str", "rows": [{"price": "float", "na'
    answer = Template().respond(tool(cut), {}).response
    assert isinstance(answer["status"], str)
    assert isinstance(answer["rows"][0]["price"], (int, float))


def test_a_tool_without_a_shape_answers_from_its_return_description():
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}}
    prose = "The current temperature of the city in Celsius."
    answer = Template().respond(tool(prose, parameters=parameters), {"city": "Oslo"}).response
    assert answer["city"] == "Oslo"
    assert isinstance(answer["temperature"], (int, float))
    answer = Template().respond(tool("Whether the shop is open."), {}).response
    assert isinstance(answer["result"], bool)


def told(name: str, /, **arguments: Any) -> Any:
    return Template().respond(Tool(f"shop/{name}", name), arguments).response


def test_a_tool_whose_words_imply_nothing_answers_with_its_arguments_and_no_result():
    assert told("frobnicate", knob=3) == {"knob": 3, "result": None}
    assert told("convert_currency", amount=3) == {"amount": 3, "result": None}


def test_the_name_of_a_tool_implies_what_it_returns():
    order = told("get_order", order_id="7")
    prices = told("list_prices", category="pens", max_price=20)["prices"]
    weather = told("get_weather_by_city", city="Oslo")

    assert order["order_id"] == "7" and order["status"] in ("processing", "shipped", "delivered")
    assert told("get_order_status", order_id="7") == {"order_id": "7", "status": order["status"]}
    assert told("cancel_order", order_id="7", reason="late") == {
        "order_id": "7",
        "reason": "late",
        "status": "cancelled",
    }
    assert len(prices) > 1 and all(5 <= one["price"] <= 20 and one["name"] for one in prices)
    assert len({one["currency"] for one in prices}) == 1
    assert weather.keys() == {"city", "condition", "temperature", "humidity"}
    assert told("create_ticket", title="Leak").keys() == {"title", "ticket_id", "status"}
    assert isinstance(told("is_open")["result"], bool)


def test_amounts_add_up_and_later_dates_are_later():
    line = {name: {"type": "number"} for name in ("unit_price", "subtotal")}
    lines = {
        "type": "array",
        "items": {"type": "object", "properties": {"quantity": {"type": "integer"}, **line}},
    }
    text, number = {"type": "string"}, {"type": "number"}
    days = {"order_date": text, "delivery_date": text}
    shape = {"items": lines, "shipping": number, "total": number, **days}
    for order_id in "1234567":
        returns = {"type": "object", "properties": shape}
        answer = Template().respond(tool(returns), {"order_id": order_id}).response
        amounts = [one["subtotal"] for one in answer["items"]]
        assert amounts == [round(one["unit_price"] * one["quantity"], 2) for one in answer["items"]]
        assert answer["total"] == round(sum(amounts) + answer["shipping"], 2)
        assert answer["order_date"] <= answer["delivery_date"]


def test_a_schema_that_refers_to_itself_ends():
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "parts": {"$ref": "#/$defs/parts"}},
        "$defs": {"parts": {"type": "array", "minItems": 0, "items": {"$ref": "#"}}},
    }
    Draft202012Validator(schema).validate(Template().respond(tool(schema), {}).response)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": False}, "required": ["a"]},
        {"type": "integer", "minimum": 5, "maximum": 4},
        {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]},
        {"type": "string", "pattern": r"^(?=x)y$"},
        {"type": "number", "minimum": 10**400},
    ],
)
def test_a_schema_that_no_answer_fits_is_named_with_the_repair(schema):
    with pytest.raises(SimulatorError, match=r"lab/weather/now .*correct `returns`"):
        Template().respond(tool(schema), {})


@pytest.mark.parametrize(
    "returns",
    [
        {"type": "str", "title": "str", "status": "int"},
        {"type": "object", "properties": 3},
        {"type": "object", "$ref": "https://example.org/schema.json"},
        "{broken",
        "[]",
        [],
        3,
        "",
    ],
)
def test_odd_shapes_are_no_obstacle(returns):
    assert Template().respond(tool(returns), {}).error == ""


@pytest.mark.parametrize("kind", ["integer", "number"])
@pytest.mark.parametrize(
    ("arguments", "least", "most"),
    [
        ({"max_height": 5}, 0, 5),
        ({"max_height": -10}, -15, -10),
        ({"min_height": 1e6}, 1e6, 2e6),
        ({"min_height": 9, "max_height": 4}, 2, 4),
    ],
)
def test_a_limit_of_an_argument_beyond_the_usual_range_is_kept(kind, arguments, least, most):
    returns = {"type": "object", "properties": {"height": {"type": kind}}, "required": ["height"]}
    tool = Tool("garden/plants/search", "search_plants", returns=returns)
    assert least <= Template().respond(tool, arguments).response["height"] <= most
