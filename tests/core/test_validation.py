"""Calls checked by rule, and environments that only valid calls reach."""

import threading
from dataclasses import asdict

import orjson
import pytest
from core_strategies import json_values, maps, texts, wild_values
from hypothesis import given
from hypothesis import strategies as st
from linear import linear
from looped import every_case

from seal.core import (
    Execution,
    InfrastructureError,
    Step,
    Tool,
    ToolCall,
    ToolResult,
    Trajectory,
    validation,
)
from seal.core.environment import Validated
from seal.core.records import decode, encode
from seal.core.schemas import schema_validator
from seal.core.validation import CallError, CallValidator, error_result

WEATHER = Tool(
    "w/weather/current",
    "get_weather",
    parameters={
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer", "default": 3, "minimum": 1},
            "unit": {"type": "string", "enum": ["C", "F"], "default": "C"},
            "limit": {"type": "number"},
            "detail": {"type": "boolean"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "place": {
                "type": "object",
                "properties": {"lat": {"type": "number"}, "name": {"type": ["string", "null"]}},
                "required": ["lat"],
                "additionalProperties": False,
            },
            "date": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        },
        "required": ["city"],
    },
)


def call(arguments, tool=WEATHER.id, name="get_weather", call_id="call_0", raw=""):
    return ToolCall(call_id, name, arguments, raw, tool)


def check(arguments, schema=None, **fields):
    tool = WEATHER if schema is None else Tool(WEATHER.id, WEATHER.name, parameters=schema)
    return CallValidator({tool.id: tool}).check(call(arguments, **fields), ["get_weather"])


def kind(arguments, schema=None):
    error = check(arguments, schema)
    return error.kind if error else None


@pytest.mark.parametrize(
    "arguments",
    [
        {"city": "Oslo"},
        {"city": "", "days": 2, "unit": "F", "limit": 1, "detail": False, "tags": []},
        {"city": "北京 😀", "days": 1.0, "limit": 2.5, "tags": ["a", "b"]},
        {"city": "x", "place": {"lat": 1, "name": None}, "date": None},
        {"city": "x" * 100_000},
    ],
)
def test_a_valid_call_has_no_error(arguments):
    assert check(arguments) is None


def test_an_unknown_tool_names_the_offered_and_the_closest():
    error = check({}, tool=None, name="get_wether")
    assert error == CallError(
        "unknown_tool",
        "get_wether",
        "There is no tool named 'get_wether'. Did you mean get_weather?",
        ["get_weather"],
        "get_wether",
        "get_weather",
    )


def test_a_tool_that_left_the_pool_is_unknown():
    assert check({}, tool="w/weather/gone").kind == "unknown_tool"


def test_arguments_that_are_no_object_come_before_an_unknown_tool():
    error = check(None, tool=None, raw='{"city": ' + "x" * 5000)
    assert (error.kind, error.expected) == ("unparsable_arguments", "a JSON object")
    assert error.received == '{"city": ' + "x" * 991
    assert error.message == "The arguments of 'get_weather' are not a JSON object."


def test_an_unknown_argument_names_the_known_and_the_closest():
    error = check({"town": "Oslo", "dayz": 2})
    assert (error.kind, error.name, error.nearest) == ("unknown_argument", "town", None)
    error = check({"City": "Oslo"})
    assert (error.name, error.received, error.nearest) == ("City", "City", "city")
    assert error.expected == sorted(WEATHER.parameters["properties"])
    assert "it takes: city, days, unit" in error.message
    assert error.message.endswith("Did you mean 'city'?")


def test_a_missing_argument_says_what_it_should_be():
    error = check({"days": 1})
    assert error == CallError(
        "missing_argument",
        "city",
        "get_weather needs the argument 'city', which is missing.",
        {"type": "string"},
    )


@every_case(
    ("arguments", "name", "kind", "expected", "received"),
    [
        ({"city": 5}, "city", "wrong_type", "string", 5),
        ({"city": None}, "city", "wrong_type", "string", None),
        ({"city": "x", "days": "3"}, "days", "wrong_type", "integer", "3"),
        ({"city": "x", "days": 1.5}, "days", "wrong_type", "integer", 1.5),
        ({"city": "x", "days": True}, "days", "wrong_type", "integer", True),
        ({"city": "x", "days": 0}, "days", "invalid_value", 1, 0),
        ({"city": "x", "limit": True}, "limit", "wrong_type", "number", True),
        ({"city": "x", "detail": 1}, "detail", "wrong_type", "boolean", 1),
        ({"city": "x", "detail": "true"}, "detail", "wrong_type", "boolean", "true"),
        ({"city": "x", "unit": "K"}, "unit", "invalid_value", ["C", "F"], "K"),
        ({"city": "x", "tags": "a"}, "tags", "wrong_type", "array", "a"),
        ({"city": "x", "tags": ["a", 1, 2]}, "tags.1", "wrong_type", "string", 1),
        ({"city": "x", "place": {"lat": "1"}}, "place.lat", "wrong_type", "number", "1"),
        ({"city": "x", "place": {}}, "place", "missing_argument", ["lat"], {}),
        ({"city": "x", "place": {"lat": 1, "lng": 2}}, "place", "unknown_argument", False, ...),
        ({"city": "x", "date": 5}, "date", "wrong_type", ..., 5),
    ],
)
def test_a_wrong_value_names_place_expected_and_received(arguments, name, kind, expected, received):
    error = check(arguments)
    assert (error.kind, error.name) == (kind, name)
    assert expected is ... or error.expected == expected
    assert received is ... or error.received == received
    assert error.message.startswith(f"Argument {name!r} of get_weather: ")


def test_messages_show_values_as_they_are():
    assert check({"city": 5}).message == (
        "Argument 'city' of get_weather: expected type 'string', got 5."
    )
    assert "'lat' is a required property" in check({"city": "x", "place": {}}).message


def test_names_come_before_values_and_unknown_ones_before_missing_ones():
    assert kind({"days": "x", "town": 1}) == "unknown_argument"
    assert kind({"days": "x"}) == "missing_argument"
    assert kind({"days": "x", "city": 1}) == "wrong_type"


def test_of_several_wrong_values_the_first_path_is_reported():
    wrong = {"unit": 1, "city": 2, "tags": [3], "days": "x"}
    assert check(wrong).name == "city"
    assert check(dict(reversed(wrong.items()))) == check(wrong)
    assert check({"city": "x", "unit": 5}).kind == "invalid_value"  # enum before type, by name


def test_what_no_value_is_right_for_is_named():
    schema = {"type": "object", "properties": {"city": {"type": "string"}, "days": False}}
    told = check({"city": "Bern", "days": 3}, schema)
    assert (told.name, "Argument 'days' of get_weather" in told.message) == ("days", True)


def test_messages_stay_short():
    name = "n" * 100_000
    errors = [
        check({}, tool=None, name=name),
        check(None, name=name),
        check({name: 1}),
        check({"city": [name] * 50}),
        check({"city": "x", "tags": {name: {name: 1}}}),
        check({"city": "x", "place": {"lat": 1, name: 2}}),
    ]
    assert all(len(error.message) < 700 for error in errors)


@every_case(
    ("schema", "arguments", "expected"),
    [
        ({}, {}, None),
        ({}, {"x": 1}, "unknown_argument"),
        ({"type": "object"}, {"x": 1}, "unknown_argument"),
        ({"type": "dict"}, {}, None),
        ({"properties": None}, {"x": 1}, "unknown_argument"),
        ({"properties": []}, {}, None),
        ({"properties": {"x": None}}, {"x": 1}, None),
        ({"properties": {"x": "string"}}, {"x": 1}, None),
        ({"properties": {"x": {}}, "required": ["y"]}, {}, "missing_argument"),
        ({"properties": {"x": {}}, "required": ["y"]}, {"y": 1}, None),
        (
            {"properties": {"x": {}}, "required": ["y"], "additionalProperties": False},
            {"y": [1]},
            None,
        ),
        ({"properties": {"x": {}}, "required": True}, {}, None),
        ({"properties": {"x": {}}, "required": [None, 3, "x"]}, {}, "missing_argument"),
        ({"properties": {"x": {"type": "any"}}}, {"x": [1]}, None),
        ({"properties": {"x": {"type": "float", "required": True}}}, {"x": "1"}, None),
        ({"properties": {"x": {"type": ["string", "null"]}}}, {"x": None}, None),
        ({"properties": {"x": {"type": "string", "enum": []}}}, {"x": "a"}, None),
        ({"properties": {"x": {"enum": [1, "a", None]}}}, {"x": None}, None),
        ({"properties": {"x": {"enum": [1]}}}, {"x": 1.0}, None),
        ({"properties": {"x": {"enum": [1]}}}, {"x": True}, "invalid_value"),
        ({"properties": {"x": {"$ref": "#/$defs/none"}}}, {"x": 1}, None),
        ({"properties": {"x": {"$ref": "#/properties/x"}}}, {"x": 1}, None),
        ({"properties": {"x": {"allOf": [{"$ref": "#/properties/x"}]}}}, {"x": 1}, None),
        ({"properties": {"x": False}}, {"x": 1}, "invalid_value"),
        ({"properties": {"x": {}}, "additionalProperties": True}, {"y": 1}, None),
        ({"additionalProperties": {"type": "string"}}, {"y": "a"}, None),
        ({"additionalProperties": {"type": "string"}}, {"y": 1}, "wrong_type"),
        ({"patternProperties": {"^x_": {"type": "string"}}}, {"x_a": 1}, "wrong_type"),
        (
            {"patternProperties": {"^x_": {}}, "additionalProperties": False},
            {"y": 1},
            "unknown_argument",
        ),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"required": ["x"]}}}, {}, "missing_argument"),
        ({"allOf": [{"properties": {"x": {"type": "string"}}}]}, {"x": 1}, "wrong_type"),
    ],
)
def test_odd_and_broken_schemas_have_a_clear_outcome(schema, arguments, expected):
    assert kind(arguments, schema) == expected


@given(json_values(), st.dictionaries(texts, wild_values, max_size=3))
def test_no_call_fails_the_check(schema_value, arguments):
    schema = {"properties": dict.fromkeys(arguments, schema_value)}
    error = check(arguments, schema)
    assert error is None or error.message


@given(maps(json_values()), maps(json_values()))
def test_a_rejection_can_be_written_and_read(properties, arguments):
    error = check(arguments, {"properties": properties, "required": list(properties)})
    if error is None:
        return
    result = error_result(call(arguments), error)
    step = Step(0, "executor", "manager", result.content, result=result)
    read = decode(encode(Trajectory("t", 0, (step,))), Trajectory).steps[0].result
    assert read.error["kind"] == error.kind


@pytest.mark.parametrize("levels", [50, 51, 100, 1000, 100_000])
def test_arguments_nested_too_deep_are_rejected(levels):
    schema = {"properties": {"x": {"$ref": "#/$defs/list"}}}
    schema["$defs"] = {"list": {"type": "array", "items": {"$ref": "#/$defs/list"}}}
    value = []
    for _ in range(levels - 2):
        value = [value]
    error = check({"x": value}, schema)
    if levels == 50:
        assert error is None
    else:
        assert (error.kind, error.expected) == ("invalid_value", "at most 50 levels")
        assert error.message == "The arguments of get_weather are nested deeper than 50 levels."
        assert encode(Trajectory("t", 0, (Step(0, "m", "e", call=call({"x": value})),)))


def test_a_rejection_is_told_as_json():
    error = CallError("unknown_tool", "天\ud800", "There is no tool named '天\ud800'.")
    result = error_result(call({}, call_id="call_7"), error)
    assert result.call_id == "call_7"
    assert result.executed is None
    assert result.error == asdict(error)
    told = {"error": "There is no tool named '天\ufffd'.", "response": ""}
    assert orjson.loads(result.content) == told


def test_schemas_are_built_once_a_tool(monkeypatch):
    built = []

    def building(schema):
        built.append(schema)
        return schema_validator(schema)

    monkeypatch.setattr(validation, "schema_validator", building)
    tools = {name: Tool(name, "f", parameters=WEATHER.parameters) for name in "ab"}
    validator = CallValidator(tools)
    assert built == []
    for name in "abab":
        assert validator.check(call({"city": "x"}, name)) is None
    assert built == []  # right at a glance
    for name in "abab":
        assert validator.check(call({"city": "x", "days": 3}, name)) is None
    assert len(built) == 2


def test_threads_share_a_validator():
    tools = {
        str(n): Tool(str(n), "f", parameters={"properties": {"x": {"enum": [n]}}})
        for n in range(50)
    }
    validator, wrong = CallValidator(tools), []
    barrier = threading.Barrier(4)

    def work():
        barrier.wait()
        for name in tools:
            good, bad = call({"x": int(name)}, name), call({"x": -1}, name)
            if validator.check(good) or not validator.check(bad):
                wrong.append(name)

    crew = [threading.Thread(target=work) for _ in range(4)]
    for thread in crew:
        thread.start()
    for thread in crew:
        thread.join()
    assert wrong == []


def test_defaults_are_filled_in_and_never_overwrite():
    validator = CallValidator({WEATHER.id: WEATHER})
    assert validator.with_defaults(call({"city": "x"})) == {"city": "x", "days": 3, "unit": "C"}
    assert validator.with_defaults(call({"unit": "F"})) == {"days": 3, "unit": "F"}


@pytest.mark.parametrize("schema", [{}, {"properties": None}, {"properties": {"x": "y"}}])
def test_odd_schemas_have_no_defaults(schema):
    validator = CallValidator({WEATHER.id: Tool(WEATHER.id, "f", parameters=schema)})
    assert validator.with_defaults(call({"x": 1})) == {"x": 1}


class World:
    """Runs calls in an order of its own."""

    def __init__(self, order=lambda results: results):
        self.order = order
        self.batches = []

    def call(self, calls):
        self.batches.append([c.id for c in calls])
        return self.order([self.run(c) for c in calls])

    def run(self, made):
        return ToolResult(made.id, made.arguments["city"], executed=Execution("t", made.arguments))

    def states(self):
        return [{"batches": [{"ids": ids} for ids in self.batches]}]


def validated(world):
    return Validated(world, CallValidator({WEATHER.id: WEATHER}), ["get_weather"])


MIXED = [
    call({"city": "a"}, call_id="call_0"),
    call({"city": 5}, call_id="call_1"),
    call({"city": "c"}, call_id="call_2"),
    call(None, call_id="call_3", raw="{"),
    call({"city": "e"}, call_id="call_4"),
]


def test_only_valid_calls_reach_the_environment_all_together():
    world = World()
    results = validated(world).call(MIXED)
    assert world.batches == [["call_0", "call_2", "call_4"]]
    assert [r.call_id for r in results] == ["call_0", "call_1", "call_2", "call_3", "call_4"]
    assert [r.content for r in results if r.error is None] == ["a", "c", "e"]
    assert [r.error["kind"] for r in results if r.error] == ["wrong_type", "unparsable_arguments"]
    assert [r.executed is None for r in results] == [False, True, False, True, False]


def test_each_result_stays_with_its_call_when_others_ran_first():
    results = validated(World(lambda results: results[::-1])).call(MIXED)
    assert [r.call_id for r in results] == ["call_4", "call_1", "call_2", "call_3", "call_0"]
    assert {r.call_id: r.content for r in results if not r.error} == {
        "call_0": "a",
        "call_2": "c",
        "call_4": "e",
    }


@given(st.lists(st.booleans(), max_size=6), st.randoms(use_true_random=False))
def test_every_call_gets_its_own_result_in_whatever_order_they_ran(valid, random):
    calls = [
        call({"city": f"call_{n}" if good else n}, call_id=f"call_{n}")
        for n, good in enumerate(valid)
    ]
    results = validated(World(lambda results: random.sample(results, len(results)))).call(calls)
    found = {result.call_id: result for result in results}
    assert found.keys() == {c.id for c in calls}
    assert len(results) == len(calls)
    for made, good in zip(calls, valid, strict=True):
        assert (found[made.id].error is None) == good
        assert not good or found[made.id].content == made.id


def test_results_without_ids_are_taken_in_the_order_of_the_calls():
    world = World(lambda results: [ToolResult("", r.content) for r in results])
    results = validated(world).call(MIXED)
    assert [(r.call_id, r.content) for r in results if r.error is None] == [
        ("call_0", "a"),
        ("call_2", "c"),
        ("call_4", "e"),
    ]


def test_calls_with_equal_ids_are_told_apart_by_their_place():
    calls = [call({"city": "a"}, call_id=""), call({}, call_id=""), call({"city": "b"}, call_id="")]
    results = validated(World()).call(calls)
    assert [bool(r.error) for r in results] == [False, True, False]
    assert [r.content for r in results if r.error is None] == ["a", "b"]


@pytest.mark.parametrize(
    "order",
    [
        lambda results: results[:-1],
        lambda results: [],
        lambda results: [*results, results[0]],
        lambda results: [results[0]] * len(results),
        lambda results: [ToolResult("other", "x"), *results[1:]],
        lambda results: [ToolResult("", "x"), *results[1:]],
    ],
)
def test_results_that_fit_no_call_are_a_failure_of_the_environment(order):
    with pytest.raises(InfrastructureError, match="expected one result for each call"):
        validated(World(order)).call(MIXED)


def test_the_environment_is_not_asked_when_every_call_is_wrong():
    world = World()
    results = validated(world).call([call({}), call({"x": 1}, call_id="call_1")])
    assert [r.error["kind"] for r in results] == ["missing_argument", "unknown_argument"]
    assert world.batches == []
    assert validated(world).call([]) == []


def test_the_state_is_the_inner_environments():
    world = World()
    environment = validated(world)
    environment.call(MIXED[:1])
    assert environment.states() == [{"batches": [{"ids": ["call_0"]}]}]


def test_after_a_rejection_the_world_is_as_it_was_before_it():
    environment = validated(World())
    assert environment.states() == [{"batches": []}]
    environment.call(MIXED)
    ran = {"batches": [{"ids": ["call_0", "call_2", "call_4"]}]}
    assert environment.states() == [ran, ran, ran, ran, ran]
    environment.call([call({"city": 5}, call_id="call_5")])
    assert environment.states() == [ran]
    environment.call([])
    assert environment.states() == [ran]


def test_rejections_between_changes_keep_the_state_between_them():
    class Counting(World):
        def __init__(self):
            super().__init__()
            self.after = [{"n": []}]

        def run(self, made):
            self.after.append({"n": [{"id": made.id}]})
            return super().run(made)

        def call(self, calls):
            self.after = []
            return super().call(calls)

        def states(self):
            return self.after

    environment = validated(Counting())
    environment.call(MIXED)
    ids = [state["n"][0]["id"] if state["n"] else None for state in environment.states()]
    assert ids == ["call_0", "call_0", "call_2", "call_2", "call_4"]


def test_an_environment_without_state_has_none_behind_the_rules():
    class Stateless(World):
        def states(self):
            return ()

    environment = validated(Stateless())
    environment.call(MIXED)
    assert not environment.states()
    environment.tick()


def test_time_is_told_to_a_world_that_has_a_clock():
    class Ticking(World):
        ticks = 0

        def tick(self):
            self.ticks += 1

    world = Ticking()
    environment = validated(world)
    environment.call(MIXED)
    environment.tick()
    assert (world.ticks, len(environment.states())) == (1, 1)


def test_faults_are_all_that_is_wrong_each_once() -> None:
    tool = Tool(
        "b/t/a",
        "a",
        parameters={
            "type": "object",
            "properties": {"x": {"type": "integer"}, "y": {"enum": ["u"]}, "z": {}},
            "required": ["z", "w"],
            "additionalProperties": False,
        },
    )
    call = ToolCall("call_0", "a", {"p": 1, "q": 2, "x": "1", "y": "v"}, tool="b/t/a")
    found = list(CallValidator({tool.id: tool}).faults(call))
    assert [(f.kind, f.name) for f in found] == [
        ("unknown_argument", "p"),
        ("unknown_argument", "q"),
        ("missing_argument", "z"),
        ("missing_argument", "w"),
        ("wrong_type", "x"),
        ("invalid_value", "y"),
    ]


@pytest.mark.parametrize("given", [[1], "x", 3, [["x", 1]]])
def test_arguments_that_are_no_map_are_unparsable(given) -> None:
    validator = CallValidator({"b/t/a": Tool("b/t/a", "a")})
    found = validator.check(ToolCall("call_0", "a", given, tool="b/t/a"))
    assert found is not None and found.kind == "unparsable_arguments"


def test_a_fault_is_told_shortly_however_many_arguments_a_tool_takes():
    names = {f"p{n}": {} for n in range(3000)}
    tool = Tool(
        id="t", name="t", description="", parameters={"type": "object", "properties": names}
    )
    check = CallValidator({"t": tool}).check
    error = check(ToolCall("c", "t", {"\x85" * 200_000: 1}, tool="t"))
    linear(lambda size: check(ToolCall("c", "t", {"\x85" * size: 1}, tool="t")), 200_000)
    assert error is not None
    assert error.message.startswith("t takes no argument '\\x85")
    assert error.message.endswith("and 2950 more.")
    assert len(error.message) < 1000
