"""Milestones drafted from gold sequences."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from seal.benchmarks.toolsandbox import (
    SAMPLE,
    Draft,
    Made,
    draft_task,
    import_trajectories,
    made_calls,
    referred,
)
from seal.core import DataError, Goal, Step, Task, Tool, ToolCall, Trajectory
from seal.environments import WorldSetup, build_worlds
from seal.evaluation import check_plan, measure_plan, view
from seal.experiments import leaves
from seal.pools import Notes, StoredPool, import_benchmark, load_pool

for library in ("phonenumbers", "pint", "holidays", "geopy", "rapidfuzz"):
    pytest.importorskip(library, reason=f"{library} comes with the extra worlds")

WHOLLY = pytest.approx(1.0, abs=1e-6)


@pytest.fixture(scope="module")
def sample() -> StoredPool:
    return load_pool(SAMPLE.folder)


@pytest.fixture(scope="module")
def tools(sample: StoredPool) -> dict[str, Tool]:
    return {tool.id: tool for tool in sample.tools()}


@pytest.fixture(scope="module")
def drafts(sample: StoredPool, tools: dict[str, Tool]) -> dict[str, tuple[Task, Draft]]:
    """Task's id to the task and its draft."""
    return {task.id: (task, only(draft_task(task, tools))) for task in sample.tasks()}


def the(sample: StoredPool, name: str) -> Task:
    return next(task for task in sample.tasks() if task.id == name)


def seen(task: Task) -> tuple[Step, ...]:
    """Return the gold sequence as milestones see it, done in the world."""
    played = referred(task, build_worlds(task.world, WorldSetup()))
    return view(played, 0, task.initial_state, "clean")


def without(steps: Sequence[Step], one: Made) -> list[Step]:
    """Return a sequence as if one of its calls had not been made."""
    left = []
    for place, step in enumerate(steps):
        tables = dict(step.state or {})
        for table in one.changes:
            if place >= one.answered and tables[table] == one.after[table]:
                tables[table] = one.before[table]
        if place not in (one.asked, one.answered):
            left.append(replace(step, state=tables))
    return left


def states_left_out(steps: Sequence[Step]) -> Iterator[list[Step]]:
    return (without(steps, one) for one in made_calls(steps) if one.changes)


def test_every_shipped_scenario_is_met_wholly_by_its_own_draft(drafts):
    changing = 0
    for task, draft in drafts.values():
        check_plan(draft.plan, task.initial_state)
        assert draft.similarity == WHOLLY, task.id
        for shorter in states_left_out(seen(task)):
            changing += 1
            assert measure_plan(draft.plan, shorter).similarity < 0.999, task.id
    assert changing >= 30


def recorded(seal_data: Path, variant: str) -> Iterator[tuple[Task, Trajectory, dict[str, Tool]]]:
    source = seal_data / "toolsandbox" / "vectors_public.jsonl.gz"
    if not source.is_file():
        pytest.skip(f"no {source.name} under SEAL_DATA")
    tools: dict[str, Tool] = {}
    task = None
    for record in import_trajectories(source, Notes()):
        if isinstance(record, Tool):
            tools[record.id] = record
        elif isinstance(record, Task):
            task = record
        elif task is not None and task.tags["variant"] == variant:
            yield task, record.trajectory, tools


@pytest.mark.slow
def test_every_real_gold_sequence_is_met_wholly_by_its_own_draft(seal_data):
    count = changing = 0
    for task, trajectory, tools in recorded(seal_data, "oracle"):
        (draft,) = draft_task(task, tools, trajectory)
        assert draft.similarity == WHOLLY, task.id
        steps = view(trajectory, 0, task.initial_state, "clean")
        for shorter in states_left_out(steps):
            changing += 1
            assert measure_plan(draft.plan, shorter).similarity < 0.999, task.id
        count += 1
    assert count == 91
    assert changing >= 60


def test_every_shipped_wrong_sequence_is_rejected_by_the_draft_of_the_gold_one(sample, drafts):
    rejected = 0
    for trajectory in sample.recorded("wrong"):
        task, draft = drafts[trajectory.task_id]
        steps = view(trajectory, 0, task.initial_state, "clean")
        similarity = measure_plan(draft.plan, steps).similarity
        assert similarity < 0.999, (task.id, trajectory.provenance["why"])
        rejected += 1
    assert (rejected, len(drafts)) == (58, 53)


def test_a_changed_row_is_asked_for_whole(drafts):
    _, draft = drafts["francs_in_airplane_mode"]
    (node,) = [node for node in draft.milestones() if node["name"] == "set_wifi_status"]
    ((row,),) = [node["state"]["settings"]["updated"]]
    services = {name: row[name] for name in ("wifi", "cellular", "location_service")}
    assert services == {"wifi": True, "cellular": False, "location_service": True}


def drafted(sample: StoredPool, tools: dict[str, Tool], name: str) -> dict[str, dict]:
    (draft,) = draft_task(the(sample, name), tools)
    return {node["name"]: node for node in draft.milestones()}


def test_used_results_become_calls_and_changes_become_states(sample, tools):
    nodes = drafted(sample, tools, "dinner_at_eight")
    assert nodes == {
        "search_contacts": {
            "name": "search_contacts",
            "after": [],
            "calls": {"search_contacts": {"relationship": "brother"}},
        },
        "send_message_with_phone_number": {
            "name": "send_message_with_phone_number",
            "after": ["search_contacts"],
            "state": {
                "messages": {
                    "added": [
                        {
                            "sender_phone_number": "+351912004417",
                            "recipient_phone_number": "+351914550218",
                            "content": "Dinner is at eight",
                        }
                    ]
                }
            },
        },
        "reply": {
            "name": "reply",
            "after": ["send_message_with_phone_number"],
            "tells": ["Duarte Nogueira"],
        },
    }


def test_an_edge_follows_from_what_a_call_needs_of_the_world(sample, tools):
    nodes = drafted(sample, tools, "text_priya_on_low_battery")
    assert nodes["set_cellular_service_status"]["after"] == ["set_low_battery_mode_status"]
    assert nodes["send_message_with_phone_number"]["after"] == [
        "search_contacts",
        "set_cellular_service_status",
    ]


def test_tables_that_a_parallel_milestone_changes_are_not_guarded(sample, tools):
    nodes = drafted(sample, tools, "text_priya_on_low_battery")
    assert nodes["search_contacts"]["guards"] == ["contacts", "messages", "reminders"]
    assert "guards" not in nodes["set_low_battery_mode_status"]


def test_changes_of_one_table_are_each_measured_since_the_one_before(sample, tools):
    state = drafted(sample, tools, "half_an_hour_earlier_after_all")["modify_reminder"]["state"]
    assert state == {
        "reminders": {
            "updated": [
                {
                    "content": "Defrost the soup",
                    "reminder_timestamp": "@2025-11-19T16:30",
                    "latitude": None,
                    "longitude": None,
                }
            ],
            "by": {"reminder_timestamp": {"close": 60.0}},
            "since": "add_reminder",
        }
    }


def test_what_a_message_rounds_was_used(sample, tools):
    nodes = drafted(sample, tools, "tomorrow_in_fahrenheit")
    assert nodes["reply"]["tells"] == ["92.3"]
    assert nodes["unit_conversion"]["after"] == ["search_weather_around_lat_lon"]


def test_an_event_becomes_a_milestone_between_its_cause_and_what_is_done_about_it(tmp_path):
    authored = (SAMPLE.folder / "limits") / "timers.json"
    import_benchmark("scenarios", authored, tmp_path / "pool")
    pool = load_pool(tmp_path / "pool")
    task = the(pool, "leave_when_it_rings")
    draft = only(draft_task(task, {tool.id: tool for tool in pool.tools()}))
    assert draft.similarity == WHOLLY
    after = {node["name"]: node["after"] for node in draft.milestones()}
    assert after == {
        "set_timer": [],
        "event": ["set_timer"],
        "send_message_with_phone_number": ["event"],
        "reply": ["send_message_with_phone_number"],
    }
    assert [node.happens for node in draft.nodes if node.happens] == ["The timer 'leave' rings."]
    for trajectory in pool.recorded("wrong"):
        if trajectory.task_id == task.id:
            steps = view(trajectory, 0, task.initial_state, "clean")
            assert measure_plan(draft.plan, steps).similarity < 0.999


def spoken(text: str) -> Trajectory:
    steps = (
        Step(0, "user_simulator", "execution_manager", "Hi", turn=0),
        Step(1, "execution_manager", "user_simulator", text, turn=1),
    )
    return Trajectory("t", 0, steps)


def test_words_without_results_are_compared_as_a_whole():
    draft = only(draft_task(Task("t", "b", (Goal("Hi"),)), {}, spoken("Hello there.")))
    assert draft.milestones() == [{"name": "reply", "after": [], "says": "Hello there."}]
    assert draft.similarity == WHOLLY


def test_a_number_that_no_float_holds_is_no_evidence():
    assert list(leaves([10**400, 7])) == [7.0]
    assert list(leaves(-(10**400))) == []


def only(drafts: list[Draft]) -> Draft:
    (draft,) = drafts
    return draft


def test_nothing_can_be_drafted_from_nothing():
    with pytest.raises(DataError, match="nothing was said to the user"):
        draft_task(Task("t", "b", (Goal("Hi"),)), {}, spoken(" "))
    with pytest.raises(DataError, match="no goal has a reference; play it"):
        draft_task(Task("t", "b", (Goal("Hi"),)), {})


def test_a_reference_that_cannot_be_done_is_told(sample, tools):
    task = the(sample, "dinner_at_eight")
    broken = ToolCall("call_0", "search_contacts", {"name": "{who}"}, tool="phone/contact/x")
    step = Step(1, "execution_manager", "executor", call=broken, turn=1)
    goal = replace(task.goals[0], reference=(task.goals[0].reference[0], step))
    with pytest.raises(DataError, match="reference: 0: no kept result 'who'"):
        draft_task(replace(task, goals=(goal,)), tools)
