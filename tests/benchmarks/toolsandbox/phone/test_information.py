"""The tools that ask the web, and who answers them."""

import json
from pathlib import Path

import pytest
from phones import Phone, called, new_phone, task

from seal.benchmarks.toolsandbox.phone import TOOL_IDS
from seal.benchmarks.toolsandbox.phone.device import RecordedWeb, recorded_web
from seal.benchmarks.toolsandbox.phone.world import phone as phones
from seal.core import (
    DataError,
    Execution,
    OptionError,
    Response,
    Step,
    ToolResult,
    Trajectory,
    UsageError,
)
from seal.environments.world import WorldSetup

HERE = {"latitude": 41.9028, "longitude": 12.4964}
ASKING = {
    "search_lat_lon": {"latitude": 1.0, "longitude": 2.0},
    "search_location_around_lat_lon": {"location": "x", "latitude": 1.0, "longitude": 2.0},
    "search_weather_around_lat_lon": {"latitude": 1.0, "longitude": 2.0},
    "search_stock": {"query": "x"},
    "convert_currency": {"amount": 1, "from_currency_code": "USD", "to_currency_code": "EUR"},
}


def web_file(tmp_path: Path, *records: dict) -> str:
    path = tmp_path / "web.json"
    path.write_text(json.dumps(records))
    return str(path)


class Told:
    """A simulator that says what it was asked, and counts."""

    identity = "told/1"

    def __init__(self, error: str = "") -> None:
        self.error = error
        self.asked = []

    def respond(self, tool, arguments):
        self.asked.append(tool.name)
        return Response([tool.name, arguments], self.error)


def simulated(simulator, **changes):
    setup = WorldSetup(options={"web": "simulator"}, simulator=lambda: simulator)
    return phones(setup).open(task(**changes), 0)


def test_the_shipped_answers_serve_every_tool():
    phone = new_phone()
    assert phone.value("search_lat_lon", **HERE).startswith("Via dei Serpenti")
    places = phone.value("search_location_around_lat_lon", location="pharmacy")
    assert places[0].keys() == {
        "name",
        "full_address",
        "phone_number",
        "latitude",
        "longitude",
        "city",
    }
    assert phone.value("search_stock", query="Pellicano Foods")["symbol"] == "PLCN"
    euros = {"from_currency_code": "usd", "to_currency_code": "EUR"}
    assert phone.value("convert_currency", amount=8, **euros) == 7.0


def test_weather_has_metric_names_and_units_of_one_day():
    phone = new_phone()
    now = phone.value("search_weather_around_lat_lon")
    assert (now["current_temperature"], now["max_temperature"]) == (9.5, 12.0)
    assert (now["temperature_unit"], now["distance_unit"]) == ("Celsius", "Kilometer")
    assert not [name for name in now if name.endswith(("_c", "_f", "_kph", "_mph", "_km"))]
    later = phone.value("search_weather_around_lat_lon", days=2, **HERE)
    assert (later["max_temperature"], later["condition"]["text"]) == (14.0, "Sunny")
    assert "current_temperature" not in later
    assert phone.value("search_weather_around_lat_lon", days=3) is None


@pytest.mark.parametrize("name", ASKING)
def test_what_is_not_recorded_is_an_error_that_says_so(name):
    asked = {"convert_currency": {"to_currency_code": "INR"}}.get(name, {})
    result = new_phone()(name, **{**ASKING[name], **asked})
    assert result.error == {
        "kind": "not_recorded",
        "message": f"No answer of {name} to this question was recorded.",
    }


def test_what_is_not_recorded_is_simulated_where_asked_for_and_says_so():
    told = Told()
    setup = WorldSetup(unrecorded="simulate", simulator=lambda: told)
    phone = Phone(phones(setup).open(task(), 0))
    result = phone("search_stock", query="zzz")
    assert (result.value, result.unrecorded) == (["search_stock", {"query": "zzz"}], "simulate")
    held = phone("search_stock", query="NRVL")
    assert (held.value["symbol"], held.unrecorded, told.asked) == ("NRVL", "", ["search_stock"])
    with pytest.raises(UsageError, match="--unrecorded simulate: this run has no simulator"):
        phones(WorldSetup(unrecorded="simulate"))


def test_that_nothing_was_recorded_is_no_failure_for_which_calls_change_places():
    batch = [called("set_wifi_status", 0, on=True), called("search_stock", 1, query="zzz")]
    results = new_phone(settings={"wifi": False}).world.call(batch)
    assert [(r.call_id, (r.error or {}).get("kind")) for r in results] == [
        ("call_1", "ConnectionError"),
        ("call_0", None),
    ]


def test_what_is_not_recorded_is_not_known_by_the_published_rule():
    phone = new_phone(unrecorded="empty")
    assert phone("search_stock", query="zzz").unrecorded == "empty"
    inr = {"amount": 1, "from_currency_code": "USD", "to_currency_code": "INR"}
    assert phone("convert_currency", **inr).unrecorded == "empty"
    assert phone.value("search_lat_lon", latitude=0, longitude=0) is None
    assert phone.value("search_location_around_lat_lon", location="zzz") == []
    assert phone.value("search_weather_around_lat_lon", latitude=0.0, longitude=0.0) is None
    assert phone.value("search_stock", query="zzz") is None
    inr = {"amount": 1, "from_currency_code": "USD", "to_currency_code": "INR"}
    assert phone.kind("convert_currency", **inr) == "RuntimeError"


@pytest.mark.parametrize("name", ASKING)
def test_every_tool_that_asks_the_web_needs_wifi(name):
    phone = new_phone(settings={"wifi": False})
    assert phone.kind(name, **ASKING[name]) == "ConnectionError"


@pytest.mark.parametrize(
    "name", ["search_location_around_lat_lon", "search_weather_around_lat_lon"]
)
def test_a_point_is_checked_before_location_service_before_wifi(name):
    base = {"location": "x"} if "location" in name else {}
    phone = new_phone(settings={"wifi": False, "location_service": False})
    assert phone.kind(name, **base, latitude="1") == "TypeError"
    assert phone.kind(name, **base, latitude=1.0) == "ValueError"
    assert phone.kind(name, **base, latitude=100.0, longitude=0.0) == "ValueError"
    assert phone.kind(name, **base) == "PermissionError"
    assert phone.kind(name, **base, latitude=1, longitude=2) == "ConnectionError"


def test_days_are_checked_between_location_service_and_wifi():
    phone = new_phone(settings={"wifi": False, "location_service": False})
    assert phone.kind("search_weather_around_lat_lon", days=-1) == "PermissionError"
    there = {"latitude": 1.0, "longitude": 1.0}
    assert phone.kind("search_weather_around_lat_lon", days=-1, **there) == "ValueError"
    assert phone.kind("search_weather_around_lat_lon", days=1.0, **there) == "TypeError"


def test_currencies_are_checked_between_types_and_wifi():
    phone = new_phone(settings={"wifi": False})

    def kind(**arguments):
        return phone.kind("convert_currency", **{**ASKING["convert_currency"], **arguments})

    assert kind(amount="1", from_currency_code="XXX") == "TypeError"
    assert kind(from_currency_code="XXX") == "ValueError"
    assert kind(to_currency_code="dollar") == "ValueError"
    assert kind(from_currency_code="usd") == "ConnectionError"


def test_the_most_exact_record_answers(tmp_path: Path):
    def record(result, **params):
        return {"endpoint": "search", "params": params, "response": {"data": {"stock": result}}}

    path = web_file(
        tmp_path,
        record([{"symbol": "ANY"}]),
        record([{"symbol": "X:NY"}], query="x"),
        record([{"symbol": "LATE"}], query="x"),
    )
    phone = new_phone({"web": path})
    assert phone.value("search_stock", query="x") == {"symbol": "X"}
    assert phone.value("search_stock", query="y") == {"symbol": "ANY"}


@pytest.mark.parametrize("raw", [None, 5, [], {}, {"data": None}, {"results": [], "result": []}])
def test_answers_of_another_shape_are_no_answers(tmp_path: Path, raw):
    endpoints = ("ReverseGeocode", "searchmaps.php", "forecast.json", "search", "convert")
    records = [{"endpoint": name, "params": {}, "response": raw} for name in endpoints]
    phone = new_phone({"web": web_file(tmp_path, *records)})
    for name, arguments in ASKING.items():
        result = phone(name, **arguments)
        assert result.value in (None, []), name


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "expected a JSON list"),
        ("{}", "got dict; expected a JSON list"),
        ('[{"endpoint": "search"}]', "record 0: expected"),
        ('[{"endpoint": 1, "params": {}, "response": 1}]', "record 0: expected"),
    ],
)
def test_a_file_that_holds_no_answers_is_refused(tmp_path: Path, text, words):
    path = tmp_path / "web.json"
    path.write_text(text)
    with pytest.raises(DataError, match=words):
        recorded_web(path)
    with pytest.raises(DataError, match="No such file"):
        recorded_web(tmp_path / "none.json")


def test_a_simulator_answers_where_the_option_says_so():
    world = simulated(Told())
    asked = Phone(world)
    assert asked.value("search_location_around_lat_lon", location="x") == [
        "search_location_around_lat_lon",
        {"location": "x", **HERE},
    ]
    assert Phone(simulated(Told("down"))).kind("search_stock", query="x") == "ConnectionError"
    off = Phone(simulated(Told(), settings={"wifi": False}))
    assert off.kind("search_stock", query="x") == "ConnectionError"


def test_a_simulator_is_asked_once_for_equal_questions_of_a_chat():
    simulator = Told()
    world = simulated(simulator)
    calls = [
        called("search_stock", 0, query="x"),
        called("set_wifi_status", 1, on=False),
    ]
    assert [r.call_id for r in world.call(calls)] == ["call_1", "call_0"]
    assert simulator.asked == ["search_stock"]


def test_options_of_the_web_that_cannot_be_are_refused():
    with pytest.raises(UsageError, match="this run has no simulator"):
        phones(WorldSetup(options={"web": "simulator"}))
    with pytest.raises(OptionError, match="-T web=5: expected a file"):
        phones(WorldSetup(options={"web": 5}))
    with pytest.raises(OptionError, match="Did you mean 'web'"):
        phones(WorldSetup(options={"wep": "x"}))


def test_the_identity_follows_from_the_answers(tmp_path: Path):
    mine = {"endpoint": "search", "params": {}, "response": 1}
    setups = [
        WorldSetup(),
        WorldSetup(options={"web": web_file(tmp_path, mine)}),
        WorldSetup(options={"web": "simulator"}, simulator=Told),
    ]
    assert len({json.dumps(phones(setup).identity()) for setup in setups}) == 3
    assert isinstance(recorded_web(), RecordedWeb)


def test_keys_of_stored_answers_are_those_of_the_questions_asked():
    tool = TOOL_IDS["search_weather_around_lat_lon"]
    missing = {"days": 0, "latitude": None, "longitude": None}
    steps = (
        Step(0, "user_simulator", "x", state={"settings": [HERE]}),
        Step(1, "executor", "x", result=ToolResult("c", "", executed=Execution(tool, missing))),
        Step(2, "executor", "x", result=ToolResult("c", "", executed=Execution("other", {}))),
    )
    setup = WorldSetup(
        options={"web": "simulator"},
        simulator=Told,
        keys_of_call=lambda simulator, document, arguments: [f"{document.name} {arguments}"],
    )
    played = Trajectory("t", 0, steps)
    expected = {**missing, **HERE}
    assert phones(setup).keys_of(played) == {f"search_weather_around_lat_lon {expected}"}
    assert phones(WorldSetup()).keys_of(played) == set()
