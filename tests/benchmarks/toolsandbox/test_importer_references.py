"""Gold steps of scenarios from conversations that were recorded of them, and the oracle's play."""

from pathlib import Path

import pytest
from toolsandbox_sources import (
    STATE,
    conversation,
    graph,
    scenario,
    scrambled,
    traced,
    write,
    write_conversations,
)

from seal import run
from seal.core import Score, Task
from seal.core.records import read_records
from seal.pools.imports import import_benchmark
from seal.pools.pool import load_pool

SCRAMBLED = scrambled(
    "wifi_on_names", "TOOL_NAME_SCRAMBLED", seen="setting_7", real="set_wifi_status"
)  # fmt: skip


FOUND = "Done."
"""The last words of gold that no recording shows, and that is found in the world."""
WHOLE = {
    **STATE,
    "SETTING": [
        {
            "device_id": "d",
            "cellular": True,
            "wifi": False,
            "location_service": True,
            "low_battery_mode": False,
            "latitude": 1.5,
            "longitude": 2.5,
        }
    ],
}


def imported(tmp_path: Path, *conversations, **options) -> list[Task]:
    write(tmp_path / "source", scenario(initial_state=WHOLE), {**SCRAMBLED, "initial_state": WHOLE})
    if conversations:
        write_conversations(tmp_path / "source", *conversations)
    import_benchmark("toolsandbox", tmp_path / "source", tmp_path / "pool", **options)
    return list(load_pool(tmp_path / "pool").tasks())


def test_the_gold_is_the_agents_part_of_the_conversation_that_plays_it(tmp_path):
    task, _ = imported(tmp_path, conversation("chatty"), conversation())
    call, result, reply = task.goals[0].reference
    assert call.call is not None
    assert (call.call.tool, call.call.arguments) == ("phone/setting/set_wifi_status", {"on": True})
    assert result.result is not None
    assert result.result.call_id == call.call.id
    assert reply.content == "Wifi is on"


def test_gold_calls_name_the_tools_as_they_are_offered(tmp_path):
    _, task = imported(tmp_path, conversation())
    called = task.goals[0].reference[0].call
    assert called is not None
    assert (called.tool,) == task.goals[0].offered
    tool = next(t for t in load_pool(tmp_path / "pool").tools() if t.id == called.tool)
    assert called.name == tool.name != "set_wifi_status"


def test_the_conversation_in_another_order_is_gold_where_upstream_gives_that_alone_1(tmp_path):
    short = conversation(expected={"similarity": 0.8})
    (task, _) = imported(tmp_path, short)
    assert task.goals[0].reference[-1].content == FOUND
    other = conversation("alt_topo", expected={"similarity": 1.0})
    other["messages"][3]["content"] = "It is on"
    (task, _) = imported(tmp_path, other, short)
    assert task.goals[0].reference[-1].content == "It is on"
    (task, _) = imported(tmp_path, other, conversation(expected={"similarity": 1.0}))
    assert task.goals[0].reference[-1].content == "Wifi is on"


def test_a_scenario_that_does_not_offer_a_gold_tool_has_no_reference(tmp_path):
    tools = {**scenario()["tools"], "agent_tools": [["get_wifi_status", "get_wifi_status"]]}
    write(tmp_path / "source", scenario(), scenario("wifi_on_without", tools=tools))
    write_conversations(tmp_path / "source", conversation())
    import_benchmark("toolsandbox", tmp_path / "source", tmp_path / "pool")
    own, without = load_pool(tmp_path / "pool").tasks()
    assert (len(own.goals[0].reference), without.goals[0].reference) == (3, ())


def test_gold_that_is_found_serves_where_a_recorded_one_calls_what_is_not_offered(tmp_path):
    beyond = conversation()
    for message in beyond["messages"]:
        if message.get("tool_call"):
            message["tool_call"]["name"] = "set_cellular_service_status"
            message["agent_tool_name"] = "set_cellular_service_status"
        message.pop("tool_trace", None)
    (task, _) = imported(tmp_path, beyond)
    call = task.goals[0].reference[0].call
    assert call is not None and call.name == "set_wifi_status"


@pytest.mark.parametrize("variant", ["chatty", "wrong_order"])
def test_no_other_conversation_is_gold(tmp_path, variant):
    tasks = imported(tmp_path, conversation(variant))
    assert [task.goals[0].reference[-1].content for task in tasks] == [FOUND, FOUND]


def test_a_malformed_conversation_is_left_out_and_counted(tmp_path):
    write(tmp_path / "source", scenario())
    write_conversations(tmp_path / "source", conversation(messages=5), conversation())
    report = import_benchmark("toolsandbox", tmp_path / "source", tmp_path / "pool")
    assert report.dropped == {"malformed_record": 1}
    (task,) = load_pool(tmp_path / "pool").tasks()
    assert len(task.goals[0].reference) == 3


def test_the_oracle_plays_what_has_a_reference_and_skips_what_has_none(tmp_path):
    imported(tmp_path, conversation())
    settings = {"model": "oracle", "team": "direct", "baselines": False}
    played = run(tmp_path / "pool", out=tmp_path / "run", **settings)
    assert (played.summary.get("skipped", 0), played.summary["errors"]) == (0, 0)

    asks = graph(traced("get_wifi_status"))  # which it does not offer
    write(tmp_path / "bare", scenario(initial_state=WHOLE, milestones=asks))
    report = import_benchmark("toolsandbox", tmp_path / "bare", tmp_path / "none")
    assert report.facts["without_gold"] == {"wifi_on": "it does not offer get_wifi_status"}
    played = run(tmp_path / "none", out=tmp_path / "bare/run", **settings)
    assert (played.summary["skipped"], played.summary["errors"]) == (1, 0)


@pytest.mark.slow
@pytest.mark.no_cover
def test_on_the_real_scenarios_the_oracle_has_1_wherever_a_recording_plays_the_gold(
    seal_data, tmp_path
):
    import_benchmark("toolsandbox", seal_data / "toolsandbox", tmp_path / "pool")
    result = run(
        tmp_path / "pool",
        out=tmp_path / "run",
        model="oracle",
        team="direct",
        baselines=False,
        select={"augmentation": "all_tools"},
        world_options={"web": str(seal_data / "toolsandbox/web_fixtures.json")},
    )
    short = {
        score.task_id.removesuffix("_all_tools")
        for score in read_records(tmp_path / "run/scores.jsonl", Score)
        if score.metric == "similarity" and score.value != pytest.approx(1)
    }
    assert result.summary["errors"] == 0
    assert not short
