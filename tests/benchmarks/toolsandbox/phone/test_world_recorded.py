"""Single calls recorded from the original: 34 tools in five worlds."""

import ast
import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from phones import START, Phone, called, needs

from seal.benchmarks.toolsandbox.phone.world import phone
from seal.core import Task
from seal.environments.world import WorldSetup

needs("phonenumbers", "pint", "holidays", "geopy")

TABLES = {
    "SETTING": "settings",
    "CONTACT": "contacts",
    "MESSAGING": "messages",
    "REMINDER": "reminders",
}
NEW = ("add_contact", "add_reminder", "send_message_with_phone_number")
"""Tools that return a new id, which is opaque."""
UNRECORDED = 11
"""Records of answers of the web that the file of web answers lacks."""


def ours(tables: dict[str, Any]) -> dict[str, Any]:
    return {TABLES[name]: rows for name, rows in tables.items()}


def raw_answer(record: dict[str, Any]) -> dict[str, Any]:
    """Return what the web said, inferred from what the tool made of it: it is nowhere recorded."""
    asked, said = record["arguments"], record["trace"]["result"]
    match record["tool"]:
        case "search_lat_lon":
            params = {"location": f"{asked['latitude']},{asked['longitude']}"}
            return answer("ReverseGeocode", params, {"results": [{"address": said}]})
        case "search_location_around_lat_lon":
            params = {"query": asked["location"]}
            if "latitude" in asked:
                params |= {"lat": asked["latitude"], "lng": asked["longitude"]}
            places = [{**place, "business_id": "b", "photos": []} for place in said]
            return answer("searchmaps.php", params, {"data": places})
        case "search_stock":
            stock = {**said, "symbol": f"{said['symbol']}:{said['exchange']}"}
            return answer("search", {"query": asked["query"]}, {"data": {"stock": [stock]}})
        case "convert_currency":
            params = {"amount": asked["amount"], "from": "USD", "to": "EUR"}
            return answer("convert", params, {"result": {"convertedAmount": said}})
    days = asked["days"]
    params = {"days": days + 1, "q": f"{said['lat']}, {said['lon']}"}
    metric = {
        "max_temperature": "maxtemp_c",
        "min_temperature": "mintemp_c",
        "average_temperature": "avgtemp_c",
        "max_wind_speed": "maxwind_kph",
        "average_visibility_distance": "avgvis_km",
        "average_humidity": "avghumidity",
    }
    day = {"condition": said["condition"], "maxtemp_f": 0.0}
    day |= {raw: said[name] for name, raw in metric.items()}
    forecast = {"day": day, "astro": {name: said[name] for name in ("sunrise", "sunset")}}
    place = {name: said[name] for name in ("name", "country", "lat", "lon", "tz_id")}
    days_before = [{"day": {"maxtemp_c": -1.0}}] * days
    weather = {"location": place, "forecast": {"forecastday": [*days_before, forecast]}}
    return answer("forecast.json", params, weather)


def answer(endpoint: str, params: dict[str, Any], response: Any) -> dict[str, Any]:
    return {"endpoint": endpoint, "params": params, "response": response}


def known(record: dict[str, Any], recorded: list[dict[str, Any]]) -> bool:
    """Tell whether the web's answer behind a record is in the file, or there is none."""
    asked, trace = record["arguments"], record["trace"]
    here = (37.334606, -122.009102)
    place = (asked.get("latitude", here[0]), asked.get("longitude", here[1]))
    params = {
        "search_lat_lon": {"language": "en", "location": f"{place[0]},{place[1]}"},
        "search_stock": {"query": asked.get("query")},
        "search_location_around_lat_lon": {
            "query": asked.get("location"),
            "lat": place[0],
            "lng": place[1],
            "limit": 4,
            "country": "us",
            "lang": "en",
        },
        "search_weather_around_lat_lon": {
            "q": f"{place[0]}, {place[1]}",
            "days": asked.get("days", 0) + 1,
        }
        if isinstance(asked.get("days", 0), int)
        else None,
        "convert_currency": {
            "amount": asked.get("amount"),
            "from": str(asked.get("from_currency_code")).upper(),
            "to": str(asked.get("to_currency_code")).upper(),
        },
    }.get(record["tool"])
    if params is None or trace is None or not trace["result"]:
        return True
    return any(one["params"] == params for one in recorded)


@pytest.fixture(scope="module")
def calls(seal_data: Path) -> list[dict[str, Any]]:
    with gzip.open(seal_data / "toolsandbox" / "tool_calls.jsonl.gz", "rt") as lines:
        return list(map(json.loads, lines))


@pytest.fixture(scope="module")
def web(calls, seal_data: Path, tmp_path_factory) -> str:
    """A file of the recorded answers and those inferred for calls whose answer it lacks."""
    recorded = json.loads((seal_data / "toolsandbox" / "web_fixtures.json").read_bytes())
    lacking = [record for record in calls[1:] if not known(record, recorded)]
    assert len(lacking) == UNRECORDED
    path = tmp_path_factory.mktemp("web") / "web.json"
    path.write_text(json.dumps([*recorded, *map(raw_answer, lacking)]))
    return str(path)


def test_every_recorded_call_has_its_result_failure_trace_and_world(calls, web):
    worlds = {name: ours(tables) for name, tables in calls[0]["worlds"].items()}
    factory = phone(WorldSetup(options={"web": web}, unrecorded="empty"))
    agreed, differing = Counter(), []
    for record in calls[1:]:
        begun = worlds[record["world"]]
        task = Task("t", "b", (), initial_state=begun, metadata={"clock": {"start": START}})
        difference = compare(record, Phone(factory.open(task, 0)), begun)
        agreed[difference is None] += 1
        if difference is not None:
            differing.append((record["world"], record["tool"], record["arguments"], difference))
    assert differing == []
    assert agreed[True] == 350


def compare(record: dict[str, Any], phone: Phone, begun: dict[str, Any]) -> Any:
    """Return what differs from the record; None: nothing."""
    (result,) = phone.world.call([called(record["tool"], **record["arguments"])])
    expected = {**begun, **ours(record["state_after"])}
    if record["exception"] is not None:
        kind = record["exception"].partition(":")[0].rpartition(".")[2]
        if result.error is None or result.error["kind"] != kind:
            return kind, result
        return None if phone.tables == expected else phone.tables
    trace, text = record["trace"], record["reply_text"]
    if record["tool"] in NEW:
        new, text = ast.literal_eval(text), result.content
        expected = json.loads(json.dumps(expected).replace(new, str(result.value)))
        trace = {**trace, "result": result.value}
    ran = result.executed
    if result.content != text or ran is None or result.value != trace["result"]:
        return text, result
    if ran.arguments != trace["arguments"] or not ran.tool.endswith(f"/{trace['tool_name']}"):
        return trace, ran
    if phone.tables != expected:
        return expected, phone.tables
    ended = record.get("conversation_active_after") is False
    return None if phone.world.ended is ended else "ended"
