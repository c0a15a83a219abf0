from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mobiles import (
    ADD,
    ALARMS,
    BALANCE,
    RECORDED,
    RESERVE,
    ROWS,
    TABLES,
    TOOLS,
    called_goal,
    dialogue,
    write_recorded,
)

from seal.benchmarks.dialogtool.dialogues import call_key
from seal.benchmarks.dialogtool.world import Mobile, Mobiles
from seal.core import DataError, Goal, OptionError, Step, Task, ToolCall, ToolResult
from seal.core.validation import CallValidator
from seal.environments.world import WorldSetup, build_worlds

LOOK = {"city": "Oakville", "cuisine": "Thai"}
BOOK = {"restaurant_name": "Lark", "city": "Oakville", "time": "19:30"}


def opened(folder: Path, task: Task | None = None, goal: int = 0, **options: Any) -> Mobile:
    setup = WorldSetup(options=options, tools=TOOLS, folder=write_recorded(folder))
    world = build_worlds("mobile", setup).open(task or dialogue(Goal("Hello")), 0)
    assert isinstance(world, Mobile)
    world.begin(goal)
    return world


def call(world: Mobile, tool: str, arguments: dict[str, Any] | None, raw: str = "") -> ToolResult:
    known = tool if tool in TOOLS else None
    name = TOOLS[tool].name if known else tool
    return world.call([ToolCall("call_0", name, arguments, raw, known)])[0]


def say(world: Mobile, author: str, text: str) -> None:
    other = "user_simulator" if author != "user_simulator" else "responder"
    world.hear(Step(0, author, other, text))


def test_the_dialogues_own_answer_comes_before_that_of_others(tmp_path: Path) -> None:
    task = dialogue(called_goal("Find Thai food", TABLES, LOOK, [ROWS[0]]))
    result = call(opened(tmp_path, task), TABLES, LOOK)
    assert result.value == [ROWS[0]]
    assert json.loads(result.content) == [ROWS[0]]
    assert call(opened(tmp_path), TABLES, LOOK).value == [ROWS[1], ROWS[0]]


def test_equal_calls_bring_the_nth_answer_and_that_of_the_goal_played(tmp_path: Path) -> None:
    task = dialogue(
        called_goal("a", TABLES, LOOK, [ROWS[0]]),
        called_goal("b", TABLES, LOOK, [ROWS[1]]),
        Goal("c"),
    )
    world = opened(tmp_path, task, 2)
    assert call(world, TABLES, LOOK).value == [ROWS[1]], "both were made before this goal"
    world = opened(tmp_path, task, 1)
    assert call(world, TABLES, LOOK).value == [ROWS[1]]
    world = opened(tmp_path, dialogue(Goal("x"), *task.goals), 0)
    answers = [call(world, TABLES, LOOK).value for _ in range(3)]
    assert answers == [[ROWS[0]], [ROWS[1]], [ROWS[1]]]


def test_case_defaults_and_dontcare_ask_for_the_same(tmp_path: Path) -> None:
    world = opened(tmp_path)
    written = {"city": " oakville ", "cuisine": "THAI", "live_music": "dontcare"}
    assert call_key(TOOLS[TABLES], written) == call_key(TOOLS[TABLES], LOOK)
    assert call_key(TOOLS[RESERVE], BOOK) == call_key(TOOLS[RESERVE], {**BOOK, "party_size": 2})
    assert call(world, TABLES, {"city": " oakville ", "cuisine": "THAI"}).value


def test_what_was_never_recorded_is_refused_and_not_invented(tmp_path: Path) -> None:
    result = call(opened(tmp_path), TABLES, {"city": "Oakville", "cuisine": "Greek"})
    assert result.error is not None and result.error["kind"] == "not_recorded"
    assert result.value is None and result.executed is None


def test_an_unknown_value_or_a_missing_one_runs_nothing(tmp_path: Path) -> None:
    world = opened(tmp_path)
    for arguments in ({"city": "Oakville", "cuisine": "?"}, {"city": "Oakville"}):
        result = call(world, TABLES, arguments)
        assert result.error is not None and result.error["kind"] == "missing_argument"
        assert "cuisine" in result.content and result.executed is None
    optional = call(world, TABLES, {**LOOK, "live_music": "?"})
    assert optional.error is not None and "live_music" in optional.content


@pytest.mark.parametrize(
    ("tool", "arguments", "kind"),
    [
        (TABLES, {**LOOK, "stars": 3}, "unknown_argument"),
        (TABLES, {**LOOK, "live_music": "maybe"}, "wrong_type"),
        (TABLES, None, "unparsable_arguments"),
        ("nothing", {}, "unknown_tool"),
    ],
)
def test_invalid_calls_are_rejected_by_rule(
    tmp_path: Path, tool: str, arguments: dict[str, Any] | None, kind: str
) -> None:
    result = call(opened(tmp_path), tool, arguments)
    assert result.error is not None and result.error["kind"] == kind


def test_a_login_is_asked_of_every_call(tmp_path: Path) -> None:
    account = {"user": "kim", "pin": "4711", "account": "savings"}
    for way in ("exact", "filter"):
        world = opened(tmp_path, mobile=way)
        assert call(world, BALANCE, account).value == [{"account": "savings", "balance": 120.5}]
        without = call(world, BALANCE, {"account": "savings"})
        assert without.error is not None and without.error["kind"] == "missing_argument"
        wrong = call(world, BALANCE, {**account, "pin": "0000"})
        assert wrong.error is not None
        assert wrong.error["kind"] == ("unauthorised" if way == "filter" else "not_recorded")


def test_filtering_takes_required_arguments_and_optional_ones_when_given(tmp_path: Path) -> None:
    world = opened(tmp_path, mobile="filter")
    assert call(world, TABLES, LOOK).value == ROWS[:2]
    assert call(world, TABLES, {**LOOK, "live_music": False}).value == [ROWS[1]]
    assert call(world, TABLES, {"city": "dontcare", "cuisine": "greek"}).value == [ROWS[2]]
    assert call(world, TABLES, {"city": "Rome", "cuisine": "Thai"}).value == []
    unknown = call(opened(tmp_path, mobile="filter", confirm=False), ADD, {"new_alarm_time": "6"})
    assert unknown.error is not None and unknown.error["kind"] == "not_recorded"


def test_a_booking_needs_the_confirmation_of_just_its_arguments(tmp_path: Path) -> None:
    task = dialogue(
        called_goal("Book it", RESERVE, BOOK, [{**BOOK, "date": "2019-03-01", "party_size": 2}])
    )
    world = opened(tmp_path, task)
    refused = call(world, RESERVE, BOOK)
    assert refused.error is not None and refused.error["kind"] == "not_confirmed"
    say(world, "responder", "Shall I book a table at Lark in Oakville at 7:30 pm?")
    say(world, "user_simulator", "Yes, please.")
    other = call(world, RESERVE, {**BOOK, "time": "20:30"})
    assert other.error is not None and other.error["kind"] == "not_confirmed"
    assert world.states()[-1] == {"bookings": []}
    made = call(world, RESERVE, BOOK)
    assert made.error is None and made.executed is not None
    assert [row["arguments"] for row in world.states()[-1]["bookings"]] == [BOOK]


@pytest.mark.parametrize(
    ("told", "answer"),
    [
        ("Shall I book a table at Lark in Oakville?", "Yes."),
        ("Shall I book a table at Lark in Oakville at 7:30 pm?", "No, wait."),
        ("Shall I book a table at Lark in Oakville at 7:30 pm?", "Yes, but at Moss."),
        ("Nice weather today.", "Yes."),
    ],
)
def test_any_other_answer_confirms_nothing(tmp_path: Path, told: str, answer: str) -> None:
    world = opened(tmp_path)
    say(world, "responder", told)
    say(world, "user_simulator", answer)
    result = call(world, RESERVE, BOOK)
    assert result.error is not None and result.error["kind"] == "not_confirmed"


def test_the_recorded_user_confirms_by_label_and_confirmation_can_be_left_out(
    tmp_path: Path,
) -> None:
    row = {**BOOK, "date": "2019-03-01", "party_size": 2}
    goal = called_goal("Yes", RESERVE, BOOK, [row], confirmed={**BOOK, "party_size": 2})
    assert call(opened(tmp_path, dialogue(goal)), RESERVE, BOOK).value == [row]
    bare = dialogue(called_goal("Yes", RESERVE, BOOK, [row]))
    assert call(opened(tmp_path, bare), RESERVE, BOOK).error is not None
    assert call(opened(tmp_path, bare, confirm=False), RESERVE, BOOK).value == [row]


def test_a_booking_shows_in_later_look_ups(tmp_path: Path) -> None:
    added = {"new_alarm_time": "06:15", "new_alarm_name": "Train"}
    task = dialogue(called_goal("Set it", ADD, added, [added], confirmed=added))
    world = opened(tmp_path, task)
    assert call(world, ALARMS, {}).value == RECORDED["apis"][ALARMS]["rows"]  # type: ignore[index]
    assert call(world, ADD, added).error is None
    shown = call(world, ALARMS, {}).value
    assert shown == [
        {"alarm_time": "07:00", "alarm_name": "Run"},
        {"alarm_time": "06:15", "alarm_name": "Train"},
    ]


def test_filtering_books_what_a_look_up_of_the_app_finds(tmp_path: Path) -> None:
    content = {
        **RECORDED,
        "apis": {**RECORDED["apis"], RESERVE: {"rows": [], "calls": []}},  # type: ignore[dict-item]
    }
    setup = WorldSetup(
        options={"mobile": "filter", "confirm": False},
        tools=TOOLS,
        folder=write_recorded(tmp_path, content),
    )
    world = build_worlds("mobile", setup).open(dialogue(Goal("x")), 0)
    assert isinstance(world, Mobile)
    assert call(world, RESERVE, BOOK).value == [BOOK]
    assert call(world, RESERVE, {**BOOK, "restaurant_name": "Nowhere"}).value == []
    assert len(world.states()[-1]["bookings"]) == 1


@given(
    city=st.text(max_size=12),
    cuisine=st.sampled_from(["Thai", "Greek", "dontcare"]),
    music=st.sampled_from([None, True, False]),
)
def test_equal_calls_bring_equal_rows_that_fit(
    tmp_path_factory: pytest.TempPathFactory, city: str, cuisine: str, music: bool | None
) -> None:
    world = opened(tmp_path_factory.mktemp("m"), mobile="filter")
    arguments = {"city": city, "cuisine": cuisine} | (
        {} if music is None else {"live_music": music}
    )
    first, second = call(world, TABLES, arguments), call(world, TABLES, arguments)
    assert first == second
    for row in first.value or ():
        assert music is None or row["live_music"] is music
        assert cuisine in ("dontcare", row["cuisine"])


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"mobile": "exakt"}, "exact, filter"),
        ({"mobil": "exact"}, "Did you mean 'mobile'"),
        ({"confirm": "yes"}, "true or false"),
    ],
)
def test_options_that_cannot_be_are_refused(options: dict[str, Any], text: str) -> None:
    with pytest.raises(OptionError, match=text):
        build_worlds("mobile", WorldSetup(options=options, tools=TOOLS))


@pytest.mark.parametrize(
    "content",
    [
        [],
        {"version": 2, "apis": {}},
        {"version": 1},
        {"version": 1, "apis": {TABLES: {"rows": [], "calls": [[{}, [3], False]]}}},
        {"version": 1, "apis": {TABLES: {"rows": [], "calls": [[{}]]}}},
        {"version": 1, "apis": {TABLES: []}},
    ],
)
def test_malformed_recordings_are_named(tmp_path: Path, content: Any) -> None:
    write_recorded(tmp_path, content)
    with pytest.raises(DataError, match=r"mobile\.json"):
        build_worlds("mobile", WorldSetup(tools=TOOLS, folder=tmp_path))


def test_the_identity_tells_recordings_and_ways_apart(tmp_path: Path) -> None:
    write_recorded(tmp_path)
    ways = [{}, {"mobile": "filter"}, {"confirm": False}]
    named = [
        build_worlds("mobile", WorldSetup(options=way, tools=TOOLS, folder=tmp_path)).identity()
        for way in ways
    ]
    named.append(
        Mobiles(CallValidator(TOOLS), build_worlds("mobile", WorldSetup()).recordings).identity()
    )  # type: ignore[attr-defined]
    assert len({json.dumps(one) for one in named}) == len(named)
