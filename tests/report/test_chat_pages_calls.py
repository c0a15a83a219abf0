"""Gold calls beside made ones, calls on one line, and the first error of a chat."""

from __future__ import annotations

from dataclasses import replace

import pytest
from linear import linear
from report_runs import WEATHER, chat, task, texts_of

from seal.core import Goal, Milestone, Plan, Step, Task, ToolCall, ToolResult, Trajectory
from seal.core.conditions import Argument, Called
from seal.report.chat_pages import (
    annotate,
    call_line,
    calls_beside_gold,
    chat_pieces,
    first_error,
)
from seal.report.transcript import outline, render_transcript


def asked(*cities: str) -> Task:
    gold = [Milestone(Called(WEATHER.id, {"city": Argument((city,))})) for city in cities]
    return with_goal(Goal("The weather?", (Plan(tuple(gold)),)))


def with_goal(goal: Goal) -> Task:
    return replace(task("own/a"), goals=(goal,))


def played(*cities: str, error: str = "") -> Trajectory:
    steps = [Step(0, "user_simulator", "execution_manager", "The weather?")]
    for place, city in enumerate(cities):
        call = ToolCall(f"call_{place}", "weather_now", {"city": city}, tool=WEATHER.id)
        fault = {"kind": error} if error and place == len(cities) - 1 else None
        answer = ToolResult(call.id, "{}", error=fault)
        at = len(steps)
        steps.append(Step(at, "execution_manager", "executor", call=call))
        steps.append(Step(at + 1, "executor", "execution_manager", "{}", result=answer))
    return replace(chat("own/a"), steps=tuple(steps))


def marks(told: Task, one: Trajectory) -> list[tuple[str, int | None]]:
    return [(row.mark, row.step) for row in calls_beside_gold(told, one)[0]]


@pytest.mark.parametrize(
    ("gold", "made", "found"),
    [
        (("Paris",), ("Paris",), [("right", 1)]),
        (("Paris",), (), [("missing", None)]),
        (("Paris", "Rome"), ("Rome", "Oslo"), [("wrong argument", 3), ("right", 1)]),
        (("Paris",), ("Rome", "Paris", "Bonn"), [("right", 3), ("extra", 1), ("extra", 5)]),
        ((), ("Rome",), [("extra", 1)]),
    ],
)
def test_each_call_is_marked_beside_its_gold(gold, made, found) -> None:
    assert marks(asked(*gold), played(*made)) == found


def test_what_is_wrong_stands_beside_the_call() -> None:
    (wrong, missing), *_ = calls_beside_gold(asked("Paris", "Rome"), played("Oslo"))
    assert (wrong.mark, wrong.why) == ("wrong argument", 'city is "Oslo", expected "Paris"')
    assert (missing.gold, missing.made) == (f'{WEATHER.id}(city="Rome")', "")
    ((refused,),) = calls_beside_gold(asked("Paris"), played("Paris", error="not_found"))
    assert (refused.mark, refused.why) == ("right", "refused")


def test_goals_without_gold_calls_have_no_rows() -> None:
    assert calls_beside_gold(with_goal(Goal("Hello")), played("Rome")) == [[]]


def test_the_page_and_the_transcript_have_the_marks_and_the_places() -> None:
    told, one = asked("Paris", "Rome"), played("Paris", "Oslo", error="timeout")
    shown = "".join(chat_pieces(one, annotate(told, one)))
    assert texts_of(shown, "span", "mark-word") == ["right", "wrong argument"]
    assert texts_of(shown, "p", "jumps") == ["First error: step 4 First call off gold: step 3"]
    assert texts_of(shown, "p", "line") == [
        '1weather_now(city="Paris") ok',
        '3weather_now(city="Oslo") timeout',
    ]
    assert 'data-of="3"' in shown
    lines = render_transcript(told, one, {}).plain.split("\n")
    assert 'goal 1 call right, step 1: weather_now(city="Paris")' in lines
    assert any(line.startswith("goal 1 call wrong argument, step 3: ") for line in lines)


def test_the_outline_has_a_row_for_each_message_and_call() -> None:
    rows = outline(played("Paris", "Oslo", error="timeout")).rows
    assert [row[1:] for row in rows] == [
        ("user_simulator", "The weather?", ""),
        ("execution_manager", 'weather_now(city="Paris")', "ok"),
        ("execution_manager", 'weather_now(city="Oslo")', "timeout"),
    ]


def test_the_first_error_is_a_failed_call_or_one_that_cannot_be_read() -> None:
    assert first_error(played("Paris")) is None
    assert first_error(played("Paris", "Oslo", error="timeout")) == 4
    unread = Step(0, "execution_manager", "executor", call=ToolCall("c", "f", None, raw="{"))
    assert first_error(replace(played(), steps=(unread,))) == 0


def test_a_call_on_one_line_is_cut_and_takes_linear_time() -> None:
    assert call_line(ToolCall("c", "f", None, raw="{x")) == "f({x)"
    long = ToolCall("c", "f", {"a": "x" * 200_000, "b": ["y"] * 20_000})
    assert len(call_line(long)) <= 121
    linear(lambda size: call_line(ToolCall("c", "f", {"a": "x" * size, "b": ["y"] * size})), 99_000)
