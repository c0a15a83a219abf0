"""Each tool of the phone: what it returns, changes and refuses, in this order."""

import json
from math import inf, nan
from pathlib import Path

import pytest
from looped import every_case
from phones import FRIEND, OWNER, REMINDER, START, needs, new_phone

from seal.benchmarks.toolsandbox.phone import TOOL_IDS, TOOLS, tools

needs("phonenumbers", "pint", "holidays", "geopy")

BO = {"name": "Cy Dahl", "phone_number": "+4670000003"}
LATER = START + 60.0
UNITS = {"from_unit": "km", "to_unit": "mm"}
CURRENCIES = {"from_currency_code": "EUR", "to_currency_code": "USD"}
DAY = {"month": 1, "day": 1, "hour": 0, "minute": 0, "second": 0}


def test_names_types_and_required_arguments_are_the_originals(seal_data: Path):
    folder = seal_data / "toolsandbox"
    facts = json.loads((folder / "tool_schema_facts.json").read_bytes())["json_types"]
    meta = json.loads((folder / "tools_meta.json").read_bytes())
    ours = {tool.name: tool.parameters for tool in tools()}
    assert list(ours) == list(TOOL_IDS) == meta["tool_order"]
    for name, fact in facts.items():
        types = {arg: {"json_type": p["type"]} for arg, p in ours[name]["properties"].items()}
        assert types == fact["args"], name
        assert ours[name]["required"] == fact["required"], name
    modules = {name: tool_id.split("/")[1] for name, tool_id in TOOL_IDS.items()}
    assert modules == {**meta["tool_module"], "end_conversation": "user"}


def test_every_tool_and_argument_is_described():
    for tool in tools():
        assert tool.description.endswith("."), tool.name
        for name, schema in tool.parameters["properties"].items():
            assert schema.get("description", "").endswith("."), (tool.name, name)


def test_every_tool_says_what_it_depends_on():
    for tool in TOOLS.values():
        assert tool.effects.checks is not None, tool.document.name
        assert tool.effects.changes is not None, tool.document.name


# Address book


def test_a_contact_is_added_at_the_end():
    phone = new_phone()
    new = phone.value("add_contact", **BO)
    row = {"person_id": new, **BO, "relationship": None, "is_self": False}
    assert phone.tables["contacts"] == [OWNER, FRIEND, row]


def test_adding_a_contact_checks_types_then_number_then_owner():
    phone = new_phone()
    assert phone.kind("add_contact", name="A") == "TypeError"
    assert phone.kind("add_contact", **{**BO, "name": 1}) == "TypeError"
    assert phone.kind("add_contact", **{**BO, "phone_number": 5}) == "TypeError"
    bad = {"name": "A", "phone_number": "555", "is_self": True}
    assert phone.kind("add_contact", **bad) == "NumberParseException"
    assert phone.kind("add_contact", **BO, is_self=True) == "DuplicateError"
    alone = new_phone(contacts=[FRIEND])
    alone.value("add_contact", **BO, is_self=True)


def test_a_changed_contact_moves_to_the_end():
    phone = new_phone()
    assert phone.value("modify_contact", person_id="p0", name="Ada") is None
    assert phone.tables["contacts"] == [FRIEND, {**OWNER, "name": "Ada"}]


def test_changing_a_contact_checks_number_then_fields_then_owner_then_person():
    phone = new_phone()
    assert phone.kind("modify_contact", person_id="p1", relationship=None) == "TypeError"
    assert phone.kind("modify_contact", person_id="x", phone_number="5") == "NumberParseException"
    assert phone.kind("modify_contact", person_id="x") == "ValueError"
    assert phone.kind("modify_contact", person_id="x", is_self=True) == "DuplicateError"
    assert phone.kind("modify_contact", person_id="x", is_self=False) == "NoDataError"
    phone.value("modify_contact", person_id="p0", is_self=True)
    twice = new_phone(contacts=[FRIEND, FRIEND])
    assert twice.kind("modify_contact", person_id="p1", name="B") == "DuplicateError"


def test_a_contact_is_removed():
    phone = new_phone()
    assert phone.kind("remove_contact", person_id=1) == "TypeError"
    assert phone.kind("remove_contact", person_id="x") == "NoDataError"
    phone.value("remove_contact", person_id="p0")
    assert phone.tables["contacts"] == [FRIEND]


@pytest.mark.parametrize(
    ("criteria", "found"),
    [
        ({"person_id": "p1"}, ["p1"]),
        ({"person_id": None}, []),
        ({"name": "bo"}, ["p1"]),
        ({"name": "zzz"}, []),
        ({"relationship": "friends"}, ["p1"]),
        ({"phone_number": "+4670000001"}, ["p0"]),
        ({"phone_number": "+46 70000001"}, []),
        ({"is_self": False}, ["p1"]),
        ({"is_self": True, "name": "bo"}, []),
    ],
)
def test_contacts_are_found_by_all_criteria(criteria, found):
    people = new_phone().value("search_contacts", **criteria)
    assert [row["person_id"] for row in people] == found


def test_searching_contacts_needs_a_criterion_and_checks_types_late():
    phone = new_phone()
    assert phone.kind("search_contacts") == "ValueError"
    assert phone.kind("search_contacts", name=5) == "TypeError"
    assert phone.kind("search_contacts", phone_number="abc") == "NumberParseException"
    assert phone.kind("search_contacts", bogus=1) == "TypeError"


# Messages


def test_a_message_is_sent_from_the_owner():
    phone = new_phone(clock={"start": START, "first": 2})
    new = phone.value("send_message_with_phone_number", phone_number="+4670000002", content="hi")
    assert phone.tables["messages"] == [
        {
            "message_id": new,
            "sender_person_id": "p0",
            "sender_phone_number": "+4670000001",
            "recipient_person_id": "p1",
            "recipient_phone_number": "+4670000002",
            "content": "hi",
            "creation_timestamp": START + 2,
        }
    ]
    phone.value("send_message_with_phone_number", phone_number="+4670000009", content="")
    assert phone.tables["messages"][1]["recipient_person_id"] is None


def test_sending_checks_types_then_number_then_service_then_owner():
    phone = new_phone(settings={"cellular": False}, contacts=[FRIEND])
    name = "send_message_with_phone_number"
    assert phone.kind(name, phone_number=5, content="x") == "TypeError"
    assert phone.kind(name, phone_number="nope", content="x") == "NumberParseException"
    assert phone.kind(name, phone_number="+46701", content="x") == "ConnectionError"
    phone.value("set_cellular_service_status", on=True)
    assert phone.kind(name, phone_number="+46701", content="x") == "DuplicateError"


def test_messages_are_found_by_all_criteria():
    phone = new_phone()
    for content in ("buy milk", "milk is sold out", "see you"):
        phone.value("send_message_with_phone_number", phone_number="+46701", content=content)
    found = phone.value("search_messages", content="milk")
    assert {row["content"] for row in found} == {"buy milk", "milk is sold out"}
    assert phone.value("search_messages", content="milk", message_id="x") == []
    assert len(phone.value("search_messages", creation_timestamp_lowerbound=START)) == 3
    assert phone.value("search_messages", creation_timestamp_upperbound=START - 1) == []
    assert len(phone.value("search_messages", sender_person_id="p0")) == 3


def test_a_fuzzy_search_finds_five_at_most_the_likest_first():
    rows = [{**REMINDER, "reminder_id": str(n), "content": f"call Bo {n}"} for n in range(7)]
    phone = new_phone(reminders=rows)
    found = phone.value("search_reminder", content="call Bo 6")
    assert [len(found), found[0]["reminder_id"]] == [5, "6"]


def test_searching_messages_checks_types_then_numbers_and_times():
    phone = new_phone()
    assert phone.kind("search_messages", content=3) == "TypeError"
    assert phone.kind("search_messages", sender_phone_number=None) == "TypeError"
    assert phone.kind("search_messages", sender_phone_number="x") == "NumberParseException"
    assert phone.kind("search_messages", creation_timestamp_lowerbound=0.0) == "ValueError"
    assert phone.kind("search_messages", creation_timestamp_upperbound=3e9) == "ValueError"
    assert phone.kind("search_messages") == "ValueError"


# Reminders


def test_a_reminder_is_added_at_the_end():
    phone = new_phone()
    new = phone.value("add_reminder", content="x", reminder_timestamp=LATER, latitude=1)
    assert phone.tables["reminders"][1] == {
        "reminder_id": new,
        "content": "x",
        "creation_timestamp": START,
        "reminder_timestamp": LATER,
        "latitude": 1,
        "longitude": None,
    }


def test_adding_a_reminder_checks_types_then_ranges():
    phone = new_phone()

    def kind(**arguments):
        return phone.kind(
            "add_reminder", **{"content": "x", "reminder_timestamp": LATER, **arguments}
        )

    assert kind(reminder_timestamp="1", latitude=91.0) == "TypeError"
    assert kind(content=None) == "TypeError"
    assert kind(reminder_timestamp=True) == "ValueError"
    assert kind(latitude=91.0) == "ValueError"
    assert kind(longitude=-181) == "ValueError"


def test_a_changed_reminder_moves_to_the_end_and_counts_as_new():
    second = {**REMINDER, "reminder_id": "r1", "latitude": 1.0}
    phone = new_phone(reminders=[second, REMINDER], clock={"start": START, "first": 9})
    phone.value("modify_reminder", reminder_id="r1", latitude=None)
    changed = {**second, "latitude": None, "creation_timestamp": START + 9}
    assert phone.tables["reminders"] == [REMINDER, changed]


def test_changing_a_reminder_checks_types_then_ranges_then_fields_then_which():
    phone = new_phone()
    assert phone.kind("modify_reminder", reminder_id="x", content=None) == "TypeError"
    assert phone.kind("modify_reminder", reminder_id="x", reminder_timestamp=5.0) == "ValueError"
    assert phone.kind("modify_reminder", reminder_id="x") == "ValueError"
    assert phone.kind("modify_reminder", reminder_id="x", content="y") == "NoDataError"
    twice = new_phone(reminders=[REMINDER, REMINDER])
    assert twice.kind("modify_reminder", reminder_id="r0", content="y") == "DuplicateError"


def test_a_reminder_is_removed():
    phone = new_phone()
    assert phone.kind("remove_reminder", reminder_id="x") == "NoDataError"
    phone.value("remove_reminder", reminder_id="r0")
    assert phone.tables["reminders"] == []


@pytest.mark.parametrize(
    ("criteria", "count"),
    [
        ({"reminder_id": "r0"}, 1),
        ({"content": "plants"}, 1),
        ({"latitude": 1.0}, 0),
        ({"reminder_timestamp_lowerbound": START + 100.0}, 1),
        ({"reminder_timestamp_lowerbound": START + 100.5}, 0),
        ({"reminder_timestamp_upperbound": START + 100}, 1),
        ({"creation_timestamp_lowerbound": START}, 0),
        ({"creation_timestamp_upperbound": START, "content": "water"}, 1),
    ],
)
def test_reminders_are_found_by_all_criteria(criteria, count):
    assert len(new_phone().value("search_reminder", **criteria)) == count


def test_searching_reminders_needs_a_criterion_and_refuses_null():
    phone = new_phone()
    assert phone.kind("search_reminder") == "ValueError"
    assert phone.kind("search_reminder", latitude=None) == "TypeError"
    assert phone.kind("search_reminder", longitude=200) == "ValueError"


# Settings

SERVICES = {
    "wifi": "set_wifi_status",
    "cellular": "set_cellular_service_status",
    "location_service": "set_location_service_status",
}


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_is_switched(service):
    phone = new_phone()
    assert phone.kind(SERVICES[service], on=1) == "TypeError"
    assert phone.kind(SERVICES[service], on=None) == "TypeError"
    assert phone.kind(SERVICES[service], on=True) == "ValueError"
    phone.value(SERVICES[service], on=False)
    assert phone.tables["settings"][0][service] is False
    assert phone.value(SERVICES[service].replace("set", "get")) is False


@pytest.mark.parametrize("service", SERVICES)
def test_low_battery_mode_keeps_services_off(service):
    phone = new_phone()
    phone.value("set_low_battery_mode_status", on=True)
    settings = phone.tables["settings"][0]
    assert [settings[name] for name in SERVICES] == [False] * 3
    assert phone.value("get_low_battery_mode_status") is True
    assert phone.kind(SERVICES[service], on=True) == "PermissionError"
    assert phone.kind(SERVICES[service], on=False) == "ValueError"
    assert phone.kind("set_low_battery_mode_status", on=True) == "ValueError"
    phone.value("set_low_battery_mode_status", on=False)
    assert phone.tables["settings"][0][service] is False
    phone.value(SERVICES[service], on=True)


def test_the_place_needs_location_service_alone():
    phone = new_phone(settings={"wifi": False})
    place = {"latitude": 41.9028, "longitude": 12.4964}
    assert phone.value("get_current_location") == place
    phone.value("set_location_service_status", on=False)
    assert phone.kind("get_current_location") == "PermissionError"


def test_the_user_ends_the_conversation_once():
    phone = new_phone()
    assert phone.value("end_conversation") is None
    assert phone.kind("end_conversation") == "ValueError"


# Times


def test_a_moment_is_told_in_local_time():
    rome = new_phone(clock={"start": START, "zone": "Europe/Rome"})
    told = {"year": 2025, "month": 3, "day": 12, "hour": 15, "minute": 30, "second": 0}
    assert rome.value("timestamp_to_datetime_info", timestamp=START) == {**told, "isoweekday": 3}
    assert rome.value("datetime_info_to_timestamp", **told) == START


def test_times_that_cannot_be_are_refused():
    phone = new_phone()
    day = {"year": 2023, "month": 2, "day": 28, "hour": 1, "minute": 0, "second": 0}
    assert phone.kind("datetime_info_to_timestamp", **{**day, "day": 29}) == "ValueError"
    assert phone.kind("datetime_info_to_timestamp", **{**day, "year": 2024.0}) == "TypeError"
    assert phone.value("datetime_info_to_timestamp", **{**day, "year": 1960}) < 0
    assert phone.kind("timestamp_to_datetime_info", timestamp=1.0) == "ValueError"
    assert phone.kind("shift_timestamp", timestamp=5.0, days=1) == "ValueError"
    assert phone.kind("shift_timestamp", timestamp=START, days=1.5) == "TypeError"
    assert phone.kind("shift_timestamp", timestamp=START, weeks=10**6) == "OverflowError"
    assert phone.kind("timestamp_diff", timestamp_0=1.0, timestamp_1=START) == "ValueError"


def test_a_shift_goes_by_the_clock_on_the_wall():
    rome = new_phone(clock={"start": START, "zone": "Europe/Rome"})
    before = rome.value(
        "datetime_info_to_timestamp", year=2025, month=3, day=29, hour=12, minute=0, second=0
    )
    shifted = rome.value("shift_timestamp", timestamp=before, days=1)
    assert shifted - before == 23 * 3600  # clocks went forward in the night
    assert rome.value("timestamp_diff", timestamp_0=before, timestamp_1=shifted) == {
        "days": 1,
        "seconds": 0,
    }


def test_a_negative_difference_has_negative_days():
    difference = new_phone().value("timestamp_diff", timestamp_0=START + 0.5, timestamp_1=START)
    assert difference == {"days": -1, "seconds": 86399}


@pytest.mark.parametrize(
    ("seconds", "told"), [(3723.9, (1, 2, 3)), (90061, (1, 1, 1)), (-1.0, (23, 59, 59))]
)
def test_seconds_are_told_as_a_time_of_day(seconds, told):
    said = new_phone().value("seconds_to_hours_minutes_seconds", seconds=seconds)
    assert tuple(said.values()) == told


# Units, distances, holidays


@pytest.mark.parametrize(
    ("amount", "unit", "wanted", "converted"),
    [
        (1, "Mile", "Kilometers", 1.609344),
        (1.0, "KM", "M", 1000.0),
        (20.0, "celsius", "fahrenheit", 68.0),
        (100.0, "km/h", "mph", 62.137119),
        (1.0, "m**2", "ft^2", 10.763910),
        (1.0, "kg*m/s²", "newton", 1.0),
    ],
)
def test_units_are_converted_whatever_their_case(amount, unit, wanted, converted):
    got = new_phone().value("unit_conversion", amount=amount, from_unit=unit, to_unit=wanted)
    assert got == pytest.approx(converted)


@pytest.mark.parametrize(
    ("unit", "wanted", "kind"),
    [
        ("kg", "km", "DimensionalityError"),
        ("foo", "km", "UndefinedUnitError"),
        ("9**9**9", "m", "ValueError"),
        ("m**9**9**9", "m", "ValueError"),
        ("(9^9)^9999999", "m", "ValueError"),
        ("9⁹⁹⁹⁹⁹⁹⁹⁹", "m", "ValueError"),
        ("m" * 100, "m", "ValueError"),
    ],
)
def test_units_that_cannot_be_are_refused(unit, wanted, kind):
    assert new_phone().kind("unit_conversion", amount=1.0, from_unit=unit, to_unit=wanted) == kind


def test_distances_are_geodesic():
    phone = new_phone()
    places = {"latitude_0": 0, "longitude_0": 0, "latitude_1": 0, "longitude_1": 1}
    assert phone.value("calculate_lat_lon_distance", **places) == pytest.approx(111.319, abs=1e-3)
    wrong = {**places, "longitude_1": 181.0}
    assert phone.kind("calculate_lat_lon_distance", **wrong) == "ValueError"
    assert phone.kind("calculate_lat_lon_distance", **{**places, "latitude_0": "0"}) == "TypeError"


@pytest.mark.parametrize(
    ("name", "year", "day"),
    [
        ("Christmas", None, 1766620800.0),
        ("independence", 2024, 1720051200.0),
        ("day", 2025, 1766620800.0),
        ("xmas", 2025, None),
        ("", 2025, None),
        ("Juneteenth", 2000, None),
    ],
)
def test_holidays_are_found_by_a_part_of_their_name(name, year, day):
    given = {} if year is None else {"year": year}
    assert new_phone().value("search_holiday", holiday_name=name, **given) == day


def test_holidays_need_wifi_after_types():
    phone = new_phone(settings={"wifi": False})
    assert phone.kind("search_holiday", holiday_name=5) == "TypeError"
    assert phone.kind("search_holiday", holiday_name="x", year=2025.0) == "TypeError"
    assert phone.kind("search_holiday", holiday_name="Christmas") == "ConnectionError"


@every_case(
    ("name", "arguments", "kind", "told"),
    [
        ("search_contacts", {"phone_number": []}, "TypeError", "a phone number is a text"),
        ("search_contacts", {"phone_number": 5}, "TypeError", "a phone number is a text"),
        ("search_contacts", {"phone_number": None}, "NumberParseException", "None"),
        ("search_contacts", {"name": 5}, "TypeError", "name: expected a text, got int"),
        ("search_contacts", {"relationship": {}}, "TypeError", "expected a text, got dict"),
        ("seconds_to_hours_minutes_seconds", {"seconds": inf}, "ValueError", "finite"),
        ("seconds_to_hours_minutes_seconds", {"seconds": nan}, "ValueError", "finite"),
        ("seconds_to_hours_minutes_seconds", {"seconds": 1e30}, "ValueError", "years"),
        ("seconds_to_hours_minutes_seconds", {"seconds": 1e12}, "ValueError", "years"),
        ("shift_timestamp", {"timestamp": START, "days": 10**12}, "OverflowError", "years"),
        ("shift_timestamp", {"timestamp": START, "days": 10**8}, "OverflowError", "years"),
        ("unit_conversion", {"amount": inf, **UNITS}, "ValueError", "amount must be a finite"),
        ("unit_conversion", {"amount": 1e308, **UNITS}, "ValueError", "in the wanted unit"),
        ("convert_currency", {"amount": nan, **CURRENCIES}, "ValueError", "finite"),
        ("datetime_info_to_timestamp", {"year": 10**30, **DAY}, "ValueError", "calendar"),
    ],
)
def test_arguments_beyond_all_bounds_are_failures_that_say_so(name, arguments, kind, told):
    error = new_phone()(name, **arguments).error
    assert error["kind"] == kind
    assert told in error["message"]
