"""Gold that is found in the world: it meets all milestones, or why there is none is told."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from toolsandbox_checkout import write_checkout

import seal
from seal.benchmarks.toolsandbox.gold_search import Found, found_gold
from seal.benchmarks.toolsandbox.phone.device import BEGINNING, web_everywhere
from seal.benchmarks.toolsandbox.phone.world import phones_of
from seal.core import Goal, Milestone, Plan, Task
from seal.core.conditions import MESSAGE
from seal.core.state_conditions import AllOf, DependsOn, StateHas, StateUnchanged
from seal.core.table_matching import Column
from seal.pools.imports import import_benchmark
from seal.pools.pool import load_pool

CLOCK = {"start": 1_741_789_800.0, "zone": "UTC", "first": 5, "step": 1.25}
OFF = {
    "device_id": "d",
    "cellular": False,
    "wifi": False,
    "location_service": False,
    "low_battery_mode": True,
    "latitude": 46.9,
    "longitude": 7.4,
}
ADA = {
    "person_id": "ada",
    "name": "Ada",
    "phone_number": "+15550100",
    "relationship": "friend",
    "is_self": False,
}
ME = {**ADA, "person_id": "me", "name": "Me", "phone_number": "+15550199", "is_self": True}


def found(*nodes: Iterable[Any], after: Any = None) -> Found:
    """Return what is found for milestones, each after the one before."""
    made = [
        Milestone(AllOf(tuple(node)), (after or {}).get(n, (n - 1,) if n else ()))
        for n, node in enumerate(nodes)
    ]
    state = {**BEGINNING, "settings": [OFF], "contacts": [ADA, ME]}
    goal = Goal("Do it.", plans=(Plan(tuple(made)),), offered=())
    task = Task(
        "t", "toolsandbox", (goal,), initial_state=state, metadata={"clock": CLOCK}, world="phone"
    )
    web, _ = web_everywhere(Path("nowhere"))
    phones = phones_of(web)
    return found_gold(task, lambda one: phones.open(one, 0, []))


def called(name: str, group: str, **arguments: Any) -> StateHas:
    call = {"tool": f"phone/{group}/{name}", "arguments": arguments}
    row = {"author": "executor", "calls": [call]}
    return StateHas(MESSAGE, (row,), columns=CALLS)


CALLS = {"calls": Column("calls")}


def told(text: str) -> StateHas:
    row = {"author": "agent", "recipient": "user_simulator", "content": text}
    return StateHas(MESSAGE, (row,), columns={"content": Column("rouge_l")})


def on(**settings: bool) -> StateHas:
    return StateHas("settings", (settings,))


def moves(gold: Found) -> list[Any]:
    """Return calls and words in their order."""
    return [
        (s.call.name, s.call.arguments) if s.call else s.content
        for s in gold.steps
        if s.result is None
    ]


def test_settings_calls_and_words_are_found_in_order() -> None:
    gold = found(
        [on(low_battery_mode=False)], [on(wifi=True)], [told("Wifi is on.")], after={2: (0, 1)}
    )
    assert moves(gold) == [
        ("set_low_battery_mode_status", {"on": False}),
        ("set_wifi_status", {"on": True}),
        "Wifi is on.",
    ]


def test_an_order_that_the_tools_refuse_is_left_for_another() -> None:
    where = {"latitude": 46.9, "longitude": 7.4}
    weather = called("search_weather_around_lat_lon", "rapid_api_search_tools", days=0, **where)
    gold = found([weather], [on(wifi=True)], [on(low_battery_mode=False)], after={1: (), 2: ()})
    names = [move[0] for move in moves(gold)[:-1]]
    assert names.index("set_low_battery_mode_status") < names.index("set_wifi_status")
    assert names[-1] == "search_weather_around_lat_lon"


def test_results_are_used_and_told_as_the_milestones_ask() -> None:
    row = {"calls": [{"tool": "phone/utilities/timestamp_diff", "arguments": {}}]}
    first = DependsOn(0, (row,), "result_as_timestamp_0", "calls", CALLS)
    second = DependsOn(1, (row,), "result_as_timestamp_1", "calls", CALLS)
    said = {"author": "agent", "recipient": "user_simulator", "content": "It is {days} days."}
    gold = found(
        [called("get_current_timestamp", "utilities")],
        [called("search_holiday", "utilities", holiday_name="Christmas Day", year=2025)],
        [first, second],
        [DependsOn(2, (said,), "result_days", "content", {"content": Column("rouge_l")})],
        [on(wifi=True)],
        [on(low_battery_mode=False)],
        after={1: (4,), 2: (0, 1), 4: (5,), 5: ()},
    )
    assert moves(gold)[-1] == "It is 287 days."


@pytest.mark.parametrize(
    ("measure", "row", "call"),
    [
        ("removal", {"person_id": "ada"}, ("remove_contact", {"person_id": "ada"})),
        (
            "update",
            {**ADA, "relationship": "boss"},
            ("modify_contact", {"person_id": "ada", "relationship": "boss"}),
        ),
        (
            "addition",
            {"name": "Bo", "phone_number": "+15550101", "relationship": None},
            ("add_contact", {"name": "Bo", "phone_number": "+15550101"}),
        ),
    ],
)
def test_rows_come_go_and_change_by_the_calls_of_the_phone(
    measure: Any, row: dict[str, Any], call: tuple[str, Any]
) -> None:
    kept = StateUnchanged("reminders", -1, "toolsandbox")
    gold = found([StateHas("contacts", (row,), measure, -1), kept])
    assert moves(gold) == [call, "Done."]


@pytest.mark.parametrize(
    ("nodes", "why"),
    [
        ([[StateHas("contacts", ({"person_id": "bo"},), "removal", -1)]], "a tool refuses: NoData"),
        ([[on(wifi=True)]], "a tool refuses: PermissionError"),
        ([[told("One.")], [told("Two."), told("Three.")]], "no call of the phone meets"),
        ([[called("fly", "utilities")]], "fly"),
        (
            [[told("Off.")], [on(low_battery_mode=False)], [told("On.")]],
            "its user has to ask again after words",
        ),
        ([], "no milestone says what is to be done"),
        (
            [[on(low_battery_mode=False)], [StateUnchanged("settings", -1, "toolsandbox")]],
            "no call of the phone meets its milestones",
        ),
    ],
)
def test_why_there_is_no_gold_is_told(nodes: list[list[Any]], why: str) -> None:
    gold = found(*nodes)
    assert gold.steps == ()
    assert why in gold.why


def test_the_search_is_bounded() -> None:
    wanted = [[told(f"Word {n}.")] for n in range(9)] + [[told("a."), told("b.")]]
    gold = found(*wanted, after=dict.fromkeys(range(9), ()) | {9: tuple(range(9))})
    assert gold.why == "400 tries did not meet its milestones"


def test_the_oracle_plays_an_import_from_a_checkout_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEAL_CACHE_DIR", str(tmp_path / "cache"))
    checkout = write_checkout(tmp_path / "ToolSandbox")
    report = import_benchmark("toolsandbox", checkout, tmp_path / "pool")
    assert report.facts["gold"] == {"recorded": 0, "found": 2}
    run = seal.run(tmp_path / "pool", model="oracle", baselines=False, out=tmp_path / "run")
    assert run["similarity"].mean == 1.0
    played = load_pool(tmp_path / "pool").tasks()
    assert any(task.goals[0].reference for task in played)


def test_gold_that_is_found_names_scrambled_tools_as_they_are_offered(tmp_path: Path) -> None:
    checkout = write_checkout(tmp_path / "ToolSandbox")
    import_benchmark("toolsandbox", checkout, tmp_path / "pool")
    name = "wifi_on_3_distraction_tools_tool_name_scrambled"
    task = next(one for one in load_pool(tmp_path / "pool").tasks() if one.id == name)
    (call,) = (step.call for step in task.goals[0].reference if step.call)
    assert (call.name, call.tool) == ("setting_8", "phone/setting/set_wifi_status~names")
    assert replace(call, name="", tool=None).arguments == {"on": True}
