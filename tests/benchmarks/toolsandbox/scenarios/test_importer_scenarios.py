"""Authored scenarios: read, proved by their own sequences, refused with place and repair."""

import json
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from seal.benchmarks.toolsandbox.scenarios.files import timed
from seal.core import DataError, Task
from seal.core.state_conditions import EndsAs
from seal.environments.chat_world import World
from seal.environments.world import Worlds, toolbox
from seal.pools.imports import import_benchmark
from seal.pools.lint import lint
from seal.pools.pool import load_pool

WORLDS = {
    "home": {
        "kind": "phone",
        "clock": {"start": "@2025-11-18T10:30", "zone": "Europe/Lisbon", "step": 2},
        "demonstration": [{"role": "user", "content": "Hello"}, {"role": "end", "content": ""}],
        "tables": {
            "settings": [{"device_id": "d", "cellular": True, "wifi": True,
                          "location_service": True, "low_battery_mode": False}],
            "contacts": [
                {"person_id": "me", "name": "Ana", "phone_number": "+351900000001",
                 "is_self": True},
                {"person_id": "bo", "name": "Bo", "phone_number": "+351900000002",
                 "is_self": False},
            ],
            "messages": [],
            "reminders": [],
        },
    }
}  # fmt: skip
SCENARIO: dict[str, Any] = {
    "id": "tell_bo",
    "categories": ["multiple_tool", "single_turn"],
    "world": "home",
    "tools": ["search_contacts", "send_message_with_phone_number", "set_wifi_status"],
    "persona": {"goal": "Tell Bo hello."},
    "request": "Say hello to Bo",
    "milestones": [
        {"name": "found", "calls": {"search_contacts": {"name": "Bo"}}},
        {
            "name": "sent",
            "calls": {"send_message_with_phone_number": {"phone_number": "+351900000002"}},
        },
        {"name": "told", "asks": ["else"]},
    ],
    "tells": {"who": "Bo"},
    "ignore": ["messages.message_id", "messages.creation_timestamp"],
    "gold": [
        {"do": {"search_contacts": {"name": "Bo"}}, "keep": "people"},
        {
            "do": {
                "send_message_with_phone_number": {
                    "phone_number": "{people.0.phone_number}",
                    "content": "Hello",
                }
            }
        },
        {"say": "{people.0.name} has your message. Anything else?"},
    ],
    "wrong": [{"why": "does nothing", "steps": [{"say": "Bo knows. Anything else?"}]}],
}


def write(folder: Path, *scenarios: Any, worlds: Any = WORLDS) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "worlds.json").write_text(json.dumps({"worlds": worlds}))
    (folder / "scenarios.json").write_text(json.dumps({"scenarios": list(scenarios)}))
    return folder


def changed(*path: Any, to: Any) -> dict[str, Any]:
    """Return the scenario with one value changed; `...` as the last of the path appends."""
    scenario = deepcopy(SCENARIO)
    *above, last = path
    holder: Any = scenario
    for key in above:
        holder = holder[key]
    if last is ...:
        holder.append(to)
    else:
        holder[last] = to
    return scenario


def compiled(tmp_path: Path, scenario: Any, **options: Any) -> Task:
    source = write(tmp_path / "authored", scenario)
    import_benchmark("scenarios", source, tmp_path / "pool", **options)
    (task,) = load_pool(tmp_path / "pool").tasks()
    return task


def refusal(tmp_path: Path, *scenarios: Any, worlds: Any = WORLDS) -> str:
    source = write(tmp_path / "authored", *scenarios, worlds=worlds)
    with pytest.raises(DataError) as caught:
        import_benchmark("scenarios", source, tmp_path / "pool")
    assert not (tmp_path / "pool").exists()
    return str(caught.value)


def test_a_scenario_becomes_a_task_of_its_world(tmp_path: Path) -> None:
    task = compiled(tmp_path, SCENARIO, benchmark="mine")

    assert (task.id, task.benchmark, task.world) == ("tell_bo", "mine", "phone")
    assert task.metadata["clock"] == {"start": 1763461800.0, "zone": "Europe/Lisbon", "step": 2}
    assert task.persona == {
        "goal": "Tell Bo hello.",
        "demonstration": WORLDS["home"]["demonstration"],
    }
    true = {name for name, value in task.tags.items() if value is True}
    assert true == {"multiple_tool", "single_turn"}
    assert (task.tags["group"], task.tags["augmentation"]) == ("tell_bo", "no_distraction_tools")
    assert task.goals[0].offered == (
        "phone/contact/search_contacts",
        "phone/messaging/send_message_with_phone_number",
        "phone/setting/set_wifi_status",
    )
    assert task.goals[0].relevant == task.goals[0].offered[:2]
    assert task.initial_state["contacts"][0]["relationship"] is None  # cells left out are null


def test_the_reference_is_the_gold_sequence_as_it_was_run(tmp_path: Path) -> None:
    reference = compiled(tmp_path, SCENARIO).goals[0].reference

    assert [s.call.arguments for s in reference if s.call] == [
        {"name": "Bo"},
        {"phone_number": "+351900000002", "content": "Hello"},
    ]
    assert [s.content for s in reference if s.author == "user_simulator"] == ["Say hello to Bo"]
    assert reference[-1].content == "Bo has your message. Anything else?"
    assert all(s.result.error is None for s in reference if s.result)
    assert all(s.state is None for s in reference)


def test_right_and_wrong_sequences_are_recordings_with_their_reasons(tmp_path: Path) -> None:
    compiled(tmp_path, {**SCENARIO, "right": ["Bo has it. Else?"]})
    pool = load_pool(tmp_path / "pool")

    (wrong,), (right,) = pool.recorded("wrong"), pool.recorded("right")

    assert wrong.provenance["why"] == "does nothing"
    assert wrong.answers == ("Bo knows. Anything else?",)
    assert (right.provenance["why"], *right.answers) == ("Bo has it. Else?", "Bo has it. Else?")
    assert [step.call.name for step in right.steps if step.call] == SCENARIO["tools"][:2]


def test_a_milestone_follows_the_one_above_and_the_end_is_the_last(tmp_path: Path) -> None:
    found, sent, told, end = compiled(tmp_path, SCENARIO).goals[0].plans[0].milestones

    assert [m.after for m in (found, sent, told, end)] == [(), (0,), (1,), ()]
    assert isinstance(end.condition, EndsAs)


def test_an_argument_may_be_near_enough(tmp_path: Path) -> None:
    reminder = {"content": "Rest", "reminder_timestamp": "@2025-11-18T12:00"}
    scenario = {
        **SCENARIO,
        "tools": ["add_reminder"],
        "tells": [],
        "ignore": ["reminders.reminder_id", "reminders.creation_timestamp"],
        "milestones": [
            {
                "calls": {"add_reminder": {"reminder_timestamp": "@2025-11-18T12:00"}},
                "within": {"reminder_timestamp": 60},
            },
        ],
        "gold": [
            {"do": {"add_reminder": {**reminder, "reminder_timestamp": 1763467230}}},
            {"say": "I remind you."},
        ],
    }

    (condition,) = compiled(tmp_path, scenario).goals[0].plans[0].milestones[0].condition.conditions

    (row,) = condition.rows
    assert row["calls"][0]["arguments"] == {"reminder_timestamp": 1763467200.0}
    assert condition.columns["calls"].tolerances == {"reminder_timestamp": 60}


@pytest.mark.parametrize(
    ("tables", "expected"),
    [
        ({"settings": {"wifi": False}}, ("settings", 0, "wifi", False)),
        ({"contacts": {"bo": {"name": "Bob"}}}, ("contacts", 1, "name", "Bob")),
        ({"contacts": {"cy": {"name": "Cy"}}}, ("contacts", 2, "person_id", "cy")),
        ({"contacts": {"me": None}}, ("contacts", 0, "person_id", "bo")),
    ],
)
def test_a_scenario_changes_its_world(tmp_path: Path, tables: Any, expected: Any) -> None:
    scenario = {
        **SCENARIO,
        "with": tables,
        "milestones": [],
        "tells": {"type": "term", "value": "here"},
        "gold": [{"say": "I am here."}],
    }

    state = compiled(tmp_path, scenario).initial_state

    table, row, column, value = expected
    assert state[table][row][column] == value


BO = {"name": "Bo"}
SEND = "send_message_with_phone_number"
UNNAMED = [{"calls": {"search_contacts": BO}}, {"after": ["x"], "asks": []}]
FAULTS = [
    (changed("id", to="a\x00b\n../x"), "id: 'a\\x00b\\n../x' holds a line break or another"),
    (
        changed("tools", ..., to="search_contacts"),
        "tools: 'search_contacts' stands 2 times; name it once",
    ),
    (changed("with", to={"settings": {"wlan": True}}), "with.settings: no column 'wlan'; known: "),
    (
        changed("with", to={"contacts": {"name": "Bo"}}),
        "with.contacts: the base world has 2 rows of it, and cells alone change a table of one",
    ),
    (
        changed("milestones", to=UNNAMED),
        "milestones.1: after: no node 'x', for none has a name yet; give the one that is meant",
    ),
    (
        changed("milestones", 2, "happens", to="rings"),
        "milestones.2 (told): happens: the world 'phone' has no events; play in one that has, "
        "such as phone_with_timers",
    ),
    (
        changed("with", to={"contacts": {"x": {"person_id": "bo"}}}),
        "contacts.2: person_id 'bo' stands twice",
    ),
    (
        changed("with", to={"settings": {"low_battery_mode": True, "wifi": False}}),
        "settings.0: low_battery_mode is true, which keeps cellular, wifi, location_service off, "
        "and cellular, location_service is true",
    ),
    (
        changed("with", to={"settings": {"latitude": 999}}),
        "settings.0: latitude must be between -90.0 and 90.0, got 999",
    ),
    (changed("categories", to=["single_call"]), "categories: no category 'single_call'"),
    (changed("categories", to=[]), "categories: expected at least one of"),
    (changed("world", to="hoem"), "world: no world 'hoem'; known: home. Did you mean 'home'?"),
    (changed("colour", to="red"), "colour: there is no such field"),
    (changed("tools", to=["serch_contacts"]), "tools: no tool of the world 'serch_contacts'"),
    (changed("tools", to=["end_conversation"]), "no tool of the world 'end_conversation'"),
    (changed("withheld", to=["nope"]), "withheld: no tool of the world 'nope'"),
    (changed("request", to=" "), "request: expected a text, got an empty one"),
    (changed("wrong", to=[]), "wrong: expected at least one wrong sequence"),
    (changed("persona", "mood", to="fine"), "persona: no part of a persona 'mood'"),
    (changed("persona", "facts", to=[]), "persona.facts: expected a mapping"),
    (changed("with", to={"calls": {}}), "with.calls: the world 'home' has no such table"),
    (changed("with", to={"contacts": {"cy": None}}), "with.contacts.cy: expected an object"),
    (changed("with", to={"messages": {"m": {}}}), "with.messages: the table is empty"),
    (
        changed("with", to={"settings": {"wifi": "no"}}),
        "with.settings.wifi: expected true or false, got 'no'",
    ),
    (changed("clock", to={"zone": "Mars/Base"}), "clock: 'No time zone found with key Mars/Base'"),
    (changed("clock", to={"start": "@2025-13-18T10:30"}), "clock: '@2025-13-18T10:30': month must"),
    (changed("milestones", 0, "after", to=["told"]), "the nodes form a cycle"),
    (changed("milestones", 0, "after", to=["tolt"]), "milestones.0 (found): after: no node 'tolt'"),
    (changed("milestones", 2, "name", to="sent"), "milestones.2: the name 'sent' is taken"),
    (changed("milestones", ..., to={"name": "empty"}), "milestones.3 (empty): it asks for nothing"),
    (
        changed("milestones", 0, "calls", to={"call": BO}),
        "milestones.0 (found): calls: no tool of the",
    ),
    (
        changed("milestones", 0, "attempts", to="hack"),
        "milestones.0 (found): attempts: no tool of the",
    ),
    (changed("milestones", 0, "within", to={"name": "far"}), "within.name: expected a number"),
    (changed("milestones", 2, "within", to={"name": 1}), "within: there is no calls"),
    (
        changed("milestones", 0, "calls", to={"search_contacts": {"nam": "Bo"}}),
        "milestones.0 (found): calls: no argument of search_contacts 'nam'; known: is_self, name,",
    ),
    (
        changed("milestones", 0, "calls", to={"search_contacts": {"name": 5}}),
        "milestones.0 (found): calls.search_contacts.name: Argument 'name' of search_contacts: "
        "expected type 'string', got 5",
    ),
    (
        changed("milestones", 0, "within", to={"nam": 1}),
        "milestones.0 (found): within: no argument of search_contacts 'nam'",
    ),
    (changed("milestones", 0, "within", to={"name": -1}), "within.name: expected a number from 0"),
    (
        changed("gold", 0, to={"do": {"search_contacts": {"nam": "Bo"}}, "keep": "people"}),
        "gold.0.do: no argument of search_contacts 'nam'",
    ),
    (changed("with", to={"contacts": {"bo": {"nam": "B"}}}), "with.contacts.bo: no column 'nam'"),
    (
        changed("milestones", 1, "calls", SEND, "content", to="Good night"),
        "milestones.1 (sent) is met by 0 at most, at step 5: message.calls.content: expected "
        "\"Good night\", found \"Hello\"",
    ),
    (changed("gold", 0, to={"do": {"search_contact": BO}}), "gold.0: no offered tool"),
    (changed("gold", 0, to={"do": {}, "say": "?"}), "gold.0: expected one of do, say and hear"),
    (changed("gold", 0, "keep", to="men"), "gold.1: no kept result 'people'; known: men"),
    (changed("gold", 2, "say", to="{people.3.name}"), "gold.2: {people.3.name}: no '3' in"),
    (changed("gold", to=[{"hear": "Hi"}]), "gold: the agent never speaks to the user"),
    (changed("gold", 2, "say", to="Done."), "gold: milestones.2 (told) is met by 0 at most, at"),
    (
        changed("wrong", 0, "steps", to=SCENARIO["gold"]),
        "wrong.0: it solves the task as gold does (does nothing); name what it lacks",
    ),
    (
        changed("right", to=["Bo has it."]),
        "right.0: milestones.2 (told) is met by 0 at most, at step 5: asked is not met",
    ),
    (changed("right", to=["Anything else?"]), "right.0: who: the answer does not state 'Bo'"),
    (changed("wrong", 0, to="Bo has it. Else?"), "wrong.0: it solves the task as gold does"),
    (changed("tells", to={"who": "Al"}), "gold: who: the answer does not state 'Al'"),
    (changed("tells", to={"who": {"value": 5, "unit": "ells"}}), "tells 5: unknown unit 'ells'"),
    (changed("right", to=[{"steps": [{"hear": "?"}]}]), "right.0.steps: the agent never speaks"),
    (changed("told", to={"right": []}), "told is gone: write its texts into `right` and `wrong`"),
    (
        changed("milestones", 2, "tells", to=["Bo"]),
        "milestones.2.tells is gone: name each value in `tells` of the scenario",
    ),
    (
        changed("milestones", 2, "tells_any", to=["Bo"]),
        'milestones.2.tells_any is gone: write `tells` of the scenario: {"value": ..., "also"',
    ),
    (
        changed("milestones", 2, "refuses", to=[]),
        'milestones.2.refuses is gone: write `tells` of the scenario: {"type": "lack"',
    ),
    (
        changed("milestones", 1, "state", to={"messages": {"added": [{"content": "Hello"}]}}),
        "milestones.1.state is gone: leave it out: the calls of `gold` that change something",
    ),
    (
        changed("milestones", 0, "take", to={"of": "sent", "value": "result_days"}),
        "milestones.0.take is gone: write the values into `calls`, or name in `tells` what",
    ),
    (
        changed("minefields", to=[{"untrue": True}]),
        "minefields.0.untrue is gone: leave it out: every answer is held against what was done",
    ),
    (
        changed("tells", to=[]),
        "milestones.0 (found): calls: search_contacts only reads, and nothing that the scenario "
        "tells comes of it; leave it out, or name in `tells` what it is read for",
    ),
    (
        changed("minefields", to=[{"attempts": "search_contacts"}]),
        "gold: minefields.0 is met by step 1",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("scenario", "fault"), FAULTS, ids=[fault for _, fault in FAULTS])
def test_a_fault_names_file_scenario_and_field(tmp_path: Path, scenario: Any, fault: str) -> None:
    told = refusal(tmp_path, scenario)

    assert fault in told
    assert f"scenarios.json, scenario {scenario['id']!r}: " in told
    assert "?." not in told


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_number_that_is_none_is_refused_with_its_place(tmp_path: Path, number: str) -> None:
    source = write(tmp_path / "authored", changed("with", to={"settings": {"latitude": 12.5}}))
    file = source / "scenarios.json"
    file.write_text(file.read_text().replace("12.5", number))

    with pytest.raises(DataError) as caught:
        import_benchmark("scenarios", source, tmp_path / "pool")

    place = f"scenarios.json, scenarios.0.with.settings.latitude: {number} is "
    assert place in str(caught.value)


def test_a_world_of_two_rows_of_settings_is_refused(tmp_path: Path) -> None:
    worlds = deepcopy(WORLDS)
    worlds["home"]["tables"]["settings"] *= 2

    assert "settings has 2 rows; expected one row only" in refusal(
        tmp_path, SCENARIO, worlds=worlds
    )
    told = refusal(tmp_path, changed("with", to={"settings": {"wifi": False}}), worlds=worlds)
    assert "with.settings: the base world has 2 rows of it" in told


@pytest.mark.parametrize(
    ("fact", "fault"),
    [
        ({"ask": ["which"]}, "persona.facts.service: expected a value, or "),
        ({"value": "wifi", "aks": ["which"]}, "persona.facts.service: expected a value, or "),
        ({"value": {"name": "wifi"}}, "persona.facts.service: expected a value to say"),
        ({"value": "wifi", "ask": [1]}, "persona.facts.service.ask: expected a text or a list"),
        (" ", "persona.facts.service: expected a value to say"),
        (None, "persona.facts.service: expected a value to say"),
    ],
)
def test_a_fact_that_no_user_could_say_is_refused(tmp_path: Path, fact: Any, fault: str) -> None:
    told = refusal(tmp_path, changed("persona", "facts", to={"service": fact}))

    assert f"scenario 'tell_bo': {fault}" in told


@pytest.mark.parametrize("replies", [[], ["Yes."], [["Yes."], ["No."]], [["Yes.", 1]]])
def test_replies_are_of_the_one_goal_of_a_scenario(tmp_path: Path, replies: Any) -> None:
    told = refusal(tmp_path, changed("persona", "replies", to=replies))

    assert "scenario 'tell_bo': persona.replies: expected [[TEXT, ...]]" in told


def asked(persona: Any, heard: str) -> dict[str, Any]:
    """Return the scenario with a question before its gold, to which the user answers."""
    scenario = changed("persona", to=persona)
    scenario["gold"][:0] = [{"say": "Which Bo do you mean?"}, {"hear": heard}]
    return scenario


def remarks(tmp_path: Path, scenario: Any) -> tuple[str, ...]:
    source = write(tmp_path / "authored", scenario)
    return import_benchmark("scenarios", source, tmp_path / "pool").remarks


@pytest.mark.parametrize(
    "persona",
    [
        {"facts": {"person": {"value": "Bo from work", "ask": "which Bo"}}},
        {"replies": [["Bo from work"]]},
    ],
)
def test_what_the_scripted_user_says_is_heard_without_a_remark(
    tmp_path: Path, persona: Any
) -> None:
    assert remarks(tmp_path, asked(persona, "Bo from work")) == ()
    assert "remarks" not in json.loads((tmp_path / "pool" / "import.json").read_text())


@pytest.mark.parametrize(
    ("persona", "said"),
    [
        ({"facts": {"Bo": "my brother"}}, "says 'my brother'"),
        ({}, 'says "I don\'t know."'),
        ({"replies": [[]]}, "ends the conversation"),
    ],
)
def test_what_the_scripted_user_does_not_say_is_remarked_on(
    tmp_path: Path, persona: Any, said: str
) -> None:
    (remark,) = remarks(tmp_path, asked(persona, "Bo from work"))

    assert (
        f"scenario 'tell_bo': gold.1.hear: hears 'Bo from work' where the scripted user {said};"
        in remark
    )
    assert json.loads((tmp_path / "pool" / "import.json").read_text())["remarks"] == [remark]


def test_a_user_that_was_not_spoken_to_says_nothing(tmp_path: Path) -> None:
    scenario = deepcopy(SCENARIO)
    scenario["gold"].insert(0, {"hear": "Bo from work"})

    (remark,) = remarks(tmp_path, scenario)

    assert "gold.0.hear: hears 'Bo from work' where the scripted user waits to be spoken" in remark


def test_the_ids_of_scenarios_and_names_of_worlds_are_unique(tmp_path: Path) -> None:
    assert "scenario 'tell_bo': stands in" in refusal(tmp_path, SCENARIO, SCENARIO)

    (tmp_path / "authored" / "more.json").write_text(json.dumps({"worlds": WORLDS}))
    assert "the world 'home' stands twice" in refusal(tmp_path, SCENARIO)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("[]", 'expected {"worlds": {...}, "scenarios": [...]}, got []'),
        ('{"scenario": []}', 'expected {"worlds"'),
        ('{"scenarios": {}}', "scenarios: expected a list"),
        ('{"worlds": []}', "worlds: expected an object"),
        ('{"scenarios": [7]}', "scenarios.0: record: expected an object, got 7"),
        ('{"scenarios": ', "not JSON"),
        ("", "empty"),
        ('{"worlds": {}, "worlds": {}}', "other.json: the key 'worlds' stands twice"),
        (
            '{"scenarios": [{"id": "a", "with": {"settings": {"wifi": true, "wifi": false}}}]}',
            "other.json, scenarios.0.with.settings: the key 'wifi' stands twice in a map"
            "; keep one of them",
        ),
    ],
)
def test_a_file_of_another_form_is_refused(tmp_path: Path, content: str, fault: str) -> None:
    source = write(tmp_path / "authored", SCENARIO)
    (source / "other.json").write_text(content)

    with pytest.raises(DataError) as caught:
        import_benchmark("scenarios", source, tmp_path / "pool")

    assert "other.json" in str(caught.value)
    assert fault in str(caught.value)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (
            {"kind": "fone"},
            "kind: no world 'fone'; known: bank, bfcl, calendar, files, lookups, mail, mcp, ",
        ),
        (
            {"tables": {"settings": [{"wifi": "no"}]}},
            "tables.settings.0.wifi: expected true or false, got 'no'",
        ),
        (
            {"tables": {"settings": [{"wifi": True}]}},
            "tables.settings.0: the column 'cellular' is left out; expected true or false",
        ),
        (
            {"tables": {"settings": [{"wlan": True}]}},
            "tables.settings.0: no column 'wlan'",
        ),
    ],
)
def test_a_fault_of_a_world_names_its_file_the_scenario_and_the_field(
    tmp_path: Path, change: Any, fault: str
) -> None:
    told = refusal(tmp_path, SCENARIO, worlds={"home": {**WORLDS["home"], **change}})

    assert fault in told
    assert "scenarios.json, scenario 'tell_bo': world" in told
    assert "worlds.json, world 'home'" in told


def test_a_folder_without_scenarios_is_refused(tmp_path: Path) -> None:
    assert "holds no scenarios" in refusal(tmp_path)


PLAIN: dict[str, Any] = {
    **SCENARIO,
    "milestones": [],
    "tells": [],
    "ignore": ["messages.message_id", "messages.creation_timestamp"],
    "wrong": ["I could not send it."],
}
"""Without milestones: the world must end as the calls of gold leave it."""
HELLO = {"phone_number": "+351900000002", "content": "Hello"}


def sent(content: str) -> list[Any]:
    call = {SEND: {**HELLO, "content": content}}
    return [{"steps": [{"do": call}, {"say": "It is sent."}]}]


def test_the_calls_of_gold_that_change_something_are_the_wanted_end(tmp_path: Path) -> None:
    (node,) = compiled(tmp_path, PLAIN).goals[0].plans[0].milestones

    assert isinstance(node.condition, EndsAs)
    ((call,),) = node.condition.sequences
    assert (call.tool, call.canonical_arguments()) == (f"phone/messaging/{SEND}", HELLO)
    assert node.condition.ignore == ("messages.message_id", "messages.creation_timestamp")


def test_a_text_stands_last_where_gold_need_tell_nothing(tmp_path: Path) -> None:
    tells = {"who": {"value": "Bo", "optional": True}}
    gold = [{"say": "To Bo?"}, {"hear": "Yes."}, *PLAIN["gold"]]
    compiled(tmp_path, {**PLAIN, "tells": tells, "gold": gold, "right": ["Bo has it."]})

    (right,) = load_pool(tmp_path / "pool").recorded("right")
    said = [step.content for step in right.steps if step.call is None and step.result is None]
    assert said[-1] == "Bo has it."
    assert "To Bo?" in said


def test_other_calls_may_lead_to_that_end(tmp_path: Path) -> None:
    compiled(tmp_path, {**PLAIN, "right": sent("Hello")})

    (right,) = load_pool(tmp_path / "pool").recorded("right")
    assert [step.call.name for step in right.steps if step.call] == [SEND]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"ignore": ["mesages.message_id"]}, "ignore: no table 'mesages'"),
        ({"ignore": ["messages.id"]}, "ignore: messages.id: no column 'id'"),
        ({"cells": {"messages.text": "text"}}, "cells: messages.text: no column 'text'"),
        ({"cells": {"messages.content": "txt"}}, "cells: messages.content: unknown type 'txt'"),
        ({"cells": {"messages": "text"}}, "cells: expected TABLE.COLUMN, got 'messages'"),
    ],
)
def test_what_may_differ_names_what_there_is(tmp_path: Path, change: Any, fault: str) -> None:
    assert f"scenario 'tell_bo': {fault}" in refusal(tmp_path, {**PLAIN, **change})


def test_lint_plays_right_and_wrong_sequences_against_gold_that_was_changed(tmp_path: Path) -> None:
    compiled(tmp_path, {**PLAIN, "right": sent("Hello")})
    tasks = tmp_path / "pool" / "tasks.jsonl"

    before = lint(tmp_path / "pool").counts()
    tasks.write_text(tasks.read_text().replace('"Hello"', '"Bye"'))
    after = lint(tmp_path / "pool").findings

    assert "misjudged" not in before
    (finding,) = [one for one in after if one.kind == "misjudged"]
    assert finding.message == (
        "task 'tell_bo': right 0: not solved: the world does not end as gold leaves it"
    )


def test_an_end_of_other_calls_is_wanted_where_it_is_named(tmp_path: Path) -> None:
    told = refusal(tmp_path, {**PLAIN, "end": [{SEND: {**HELLO, "content": "Bye"}}]})

    assert "gold: the world does not end as gold leaves it: messages.content" in told
    assert 'expected "Bye", found "Hello"' in told


def test_cells_of_a_type_are_compared_by_what_they_say(tmp_path: Path) -> None:
    greeting = {**PLAIN, "right": sent("hello!")}

    assert "right.0: the world does not end as gold leaves it: messages.content" in refusal(
        tmp_path, greeting
    )
    compiled(tmp_path, {**greeting, "cells": {"messages.content": "text"}})


def test_what_a_world_makes_anew_is_to_be_ignored(tmp_path: Path) -> None:
    told = refusal(tmp_path, {**PLAIN, "ignore": ["messages.creation_timestamp"]})

    assert "ignore: messages.message_id is another in each chat; name it here" in told


def test_an_end_takes_no_id_that_was_made_in_one_chat(tmp_path: Path) -> None:
    scenario = {
        **PLAIN,
        "tools": ["add_contact", "modify_contact"],
        "ignore": ["contacts.person_id"],
        "gold": [
            {"do": {"add_contact": {"name": "Cy", "phone_number": "+351900000003"}}, "keep": "cy"},
            {"do": {"modify_contact": {"person_id": "{cy}", "relationship": "friend"}}},
            {"say": "Cy is saved."},
        ],
    }
    cy = {"name": "Cy", "phone_number": "+351900000003", "relationship": "friend"}

    told = refusal(tmp_path, scenario)

    assert "end: in another chat the gold call modify_contact(" in told
    assert "name as `end` calls that do not take it" in told
    compiled(tmp_path, {**scenario, "end": [{"add_contact": cy}]})


def test_a_text_stands_for_what_gold_says_as_it_has_told_all(tmp_path: Path) -> None:
    scenario = {
        **PLAIN,
        "tells": {"who": "Bo"},
        "gold": [
            {"do": {"search_contacts": {"name": "Bo"}}},
            {"say": "Is it Bo?"},
            {"say": "Then it is for Bo."},
            {"do": {SEND: HELLO}},
            {"say": "Done."},
        ],
        "right": ["I write to Bo."],
    }

    compiled(tmp_path, scenario)

    (right,) = load_pool(tmp_path / "pool").recorded("right")
    spoken = [step.content for step in right.steps if step.author == "execution_manager"]
    assert [text for text in spoken if text] == ["Is it Bo?", "I write to Bo.", "Done."]


def test_the_webs_answers_can_be_ones_own(tmp_path: Path) -> None:
    answers = tmp_path / "web.json"
    record = {"endpoint": "convert", "params": {}, "response": {"result": {"rate": 3.0}}}
    answers.write_text(json.dumps([record]))
    scenario = {
        **SCENARIO,
        "tools": ["convert_currency"],
        "milestones": [],
        "tells": 6,
        "gold": [
            {"do": {"convert_currency": {"amount": 2, "from_currency_code": "EUR",
                                         "to_currency_code": "JPY"}}, "keep": "yen"},
            {"say": "{yen}"},
        ],
    }  # fmt: skip

    task = compiled(tmp_path, scenario, web=str(answers))

    assert task.goals[0].reference[-1].content == "6.0"


def test_times_are_told_in_the_zone_of_the_clock() -> None:
    from zoneinfo import ZoneInfo

    zone = ZoneInfo("America/Denver")

    found = timed({"a": ["@2025-07-08T14:05", "@2025-07-08T14:05:30", "@noon"]}, zone, "here")

    assert found == {"a": [1752005100.0, 1752005130.0, "@noon"]}


def switch(world: World, room: str, on: bool) -> None:
    """Turn a lamp on or off."""
    others = [row for row in world.rows("lamps") if row["room"] != room]
    world.put("lamps", [*others, {"room": room, "on": on}])


LAMPS = Worlds(name="lamps", tools=toolbox("lamps", [switch]), tables={"lamps": []})


def test_a_world_of_ones_own_can_be_played(tmp_path: Path) -> None:
    base = {"kind": f"{__name__}:LAMPS", "tables": {"lamps": [{"room": "hall", "on": False}]}}
    lit = {"do": {"switch": {"room": "hall", "on": True}}}
    scenario = {
        "id": "light",
        "categories": ["single_tool"],
        "world": "house",
        "tools": ["switch"],
        "persona": {},
        "request": "Light!",
        "gold": [lit, {"say": "Done."}],
        "wrong": [{"why": "does nothing", "steps": [{"say": "Done."}]}],
    }
    source = write(tmp_path / "authored", scenario, worlds={"house": base})

    with pytest.raises(DataError, match="scenario 'light': kind names the world"):
        import_benchmark("scenarios", source, tmp_path / "pool")
    import_benchmark("scenarios", source, tmp_path / "pool", allow_code=(__name__,))

    (task,) = load_pool(tmp_path / "pool").tasks()
    assert (task.world, task.initial_state) == (base["kind"], base["tables"])


def test_equal_files_give_equal_bytes(tmp_path: Path) -> None:
    source = write(tmp_path / "authored", SCENARIO, {**SCENARIO, "id": "again"})
    first = import_benchmark("scenarios", source, tmp_path / "one")
    second = import_benchmark("scenarios", source, tmp_path / "two")

    assert replace(first) == second
