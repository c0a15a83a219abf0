"""Conditions of the world and of messages, as plans hold them."""

from dataclasses import replace
from typing import Any

import pytest
from looped import every_case

from seal.core import Execution, Goal, Milestone, Plan, Step, Task, ToolCall, ToolResult
from seal.core.conditions import MESSAGE, Called, Condition, Replied
from seal.core.records import decode, encode
from seal.core.state_conditions import (
    COLUMNS,
    EXTRACTORS,
    AllOf,
    DependsOn,
    StateHas,
    StateUnchanged,
    message_row,
)
from seal.core.table_matching import Column

SAID = Step(4, "orchestrator", "user_simulator", "It is 18.0 degrees")
ASKED = Step(0, "user_simulator", "orchestrator", "How warm is it?")


def world(step: Step, **tables: Any) -> Step:
    return replace(step, state=tables)


def answer(value: Any, tool: str = "t", error: Any = None, **arguments: Any) -> Step:
    result = ToolResult("call_0", str(value), error, value, Execution(tool, arguments))
    return Step(3, "executor", "execution_manager", str(value), result=result)


def test_a_message_is_a_row_of_the_parties_that_speak() -> None:
    row = message_row(SAID, COLUMNS)
    assert (row["author"], row["recipient"]) == ("agent", "user_simulator")
    assert row["content"] == "It is 18.0 degrees"
    assert {row[name] for name in ("calls", "call_id", "name", "error")} == {None}


def test_an_answer_tells_the_call_that_ran() -> None:
    row = message_row(answer(7, x=1), COLUMNS)
    assert (row["author"], row["recipient"], row["call_id"]) == ("executor", "agent", "call_0")
    assert row["calls"] == [{"tool": "t", "arguments": {"x": 1}, "result": 7}]


def test_a_failed_call_is_no_call_but_an_error() -> None:
    failed = answer(None, error={"kind": "NoDataError", "message": "nobody"})
    row = message_row(failed, COLUMNS)
    assert (row["calls"], row["error"]) == (None, "nobody")


@pytest.mark.parametrize(
    ("call", "content"),
    [
        (ToolCall("c", "f_3", {"x": "ü", "y": None}, tool="p/m/add~names"), 'add(x="ü", y=null)'),
        (ToolCall("c", "f", None, "{oops"), "f({oops)"),
    ],
)
def test_a_call_without_text_is_written_by_its_own_name(call: ToolCall, content: str) -> None:
    step = Step(1, "execution_manager", "executor", call=call)
    assert message_row(step, COLUMNS)["content"] == content
    assert message_row(replace(step, content="print(1)"), COLUMNS)["content"] == "print(1)"


def test_a_message_is_as_wanted() -> None:
    wanted = StateHas(
        MESSAGE,
        ({"author": "agent", "content": "It is 18 degrees"},),
        columns={"content": Column("rouge_l")},
    )
    said = 2 * 4 / (4 + 5)
    assert wanted.similarity(SAID, {}) == pytest.approx(said**0.5)
    assert wanted.similarity(ASKED, {}) == 0


def test_rows_are_compared_with_those_of_the_step_referred_to() -> None:
    added = StateHas("notes", ({"text": "b"},), "addition", since=0)
    before, now = world(ASKED, notes=[{"text": "a"}]), [{"text": "a"}, {"text": "b"}]
    assert added.similarity(world(SAID, notes=now), {0: before}) == 1
    assert added.similarity(world(SAID, notes=now), {0: world(ASKED, notes=now)}) == 0
    assert added.references() == {0}


def test_a_table_that_the_world_lacks_is_without_rows() -> None:
    assert StateHas("notes", ()).similarity(SAID, {}) == 1
    assert StateHas("notes", ({"text": "a"},)).similarity(SAID, {}) == 0


def test_a_guardrail_holds_while_nothing_happens() -> None:
    guard = StateUnchanged("notes", since=-1)
    first = world(ASKED, notes=[{"text": "a"}])
    assert guard.similarity(world(SAID, notes=[{"text": "a"}]), {-1: first}) == 1
    assert guard.similarity(world(SAID, notes=[]), {-1: first}) == 0
    assert StateUnchanged("notes").similarity(world(SAID, notes=[]), {-1: first}) == 1


@every_case(
    ("name", "result", "values"),
    [
        ("result_as_timestamp_0", 5.5, [{"timestamp_0": 5.5}]),
        ("result_as_timestamp_1", 5.5, [{"timestamp_1": 5.5}]),
        ("result_as_reminder_timestamp_lowerbound", 5, [{"reminder_timestamp_lowerbound": 5}]),
        ("result_days", {"days": 3, "seconds": 1}, [{"days": 3}]),
        (
            "result_lat_lon",
            {"latitude": 1, "longitude": 2, "x": 3},
            [{"latitude": 1, "longitude": 2}],
        ),
        ("result_current_temperature_as_amount", {"current_temperature": 7}, [{"amount": 7}]),
        ("result_min_temperature_as_amount", {"min_temperature": 7}, [{"amount": 7}]),
        (
            "result_as_temperature_text",
            7.25,
            [{"temperature": text} for text in ("7", "7.2", "7.25", "7.250")],
        ),
        (
            "result_as_min_temperature_text",
            -1,
            [{"min_temperature": text} for text in ("-1", "-1.0", "-1.00", "-1.000")],
        ),
        (
            "weather_current_temperature_text",
            {"current_temperature": 8},
            [{"temperature": text} for text in ("8", "8.0", "8.00", "8.000")],
        ),
    ],
)
def test_an_extractor_takes_values_from_a_call(name: str, result: Any, values: Any) -> None:
    assert EXTRACTORS[name]({"tool": "t", "arguments": {}, "result": result}) == values


def test_every_extractor_is_tested() -> None:
    cases = test_an_extractor_takes_values_from_a_call.cases  # type: ignore[attr-defined]
    assert {case["name"] for case in cases} == set(EXTRACTORS)


def told(text: str, extractor: str = "weather_current_temperature_text") -> DependsOn:
    columns = {"content": Column("contains")}
    return DependsOn(0, ({"content": text},), extractor, "content", columns)


def test_a_message_tells_what_an_earlier_call_brought() -> None:
    weather = answer({"current_temperature": 18})
    assert told("is {temperature} degrees").similarity(SAID, {0: weather}) == 1
    assert (
        told("is {temperature} degrees").similarity(SAID, {0: answer({"current_temperature": 9})})
        == 0
    )


@pytest.mark.parametrize("step", [answer("cold"), answer({}), ASKED])
def test_a_call_of_another_shape_tells_nothing(step: Step) -> None:
    assert told("is {temperature} degrees").similarity(SAID, {0: step}) == 0


def test_a_placeholder_without_a_value_is_no_match() -> None:
    assert told("{nothing}").similarity(SAID, {0: answer({"current_temperature": 18})}) == 0


@pytest.mark.parametrize(("given", "right"), [(5.0, 1), (9.0, 1), (7.0, 0)])
def test_a_later_call_uses_the_earlier_value_or_the_wanted_one(given: float, right: float) -> None:
    wanted = {"tool": "diff", "arguments": {"timestamp_0": 9.0, "timestamp_1": 1.0}}
    depends = DependsOn(
        0, ({"calls": [wanted]},), "result_as_timestamp_0", "calls", {"calls": Column("calls")}
    )
    used = answer(0, "diff", timestamp_0=given, timestamp_1=1.0)
    assert depends.similarity(used, {0: answer(5.0)}) == right
    assert depends.similarity(used, {0: ASKED}) == 0


def test_several_conditions_make_a_geometric_mean_that_guardrails_only_void() -> None:
    half = Replied(("It", "never"))
    kept, broken = StateUnchanged("a", -1), StateUnchanged("b", -1)
    reached = {-1: world(ASKED, a=[], b=[{"x": 1}])}
    step = world(SAID, a=[], b=[])
    assert AllOf((half, Replied(), kept)).similarity(step, reached) == pytest.approx(0.5**0.5)
    assert AllOf((half, kept)).similarity(step, reached) == 0.5
    assert AllOf((Replied(), broken)).similarity(step, reached) == 0
    assert AllOf((kept,)).similarity(step, reached) == AllOf(()).similarity(step, reached) == 1


def test_conditions_change_their_rules_and_keep_the_rest() -> None:
    plan = (
        StateHas("a", ({"x": 1},), "update", 0, {"x": Column("close", "inf")}),
        StateUnchanged("b", 0),
        DependsOn(0, ({"content": "{days}"},), "result_days", "content"),
        Called("t"),
    )
    changed = AllOf(plan).under("toolsandbox")
    assert [getattr(part, "match", None) for part in changed.conditions] == [
        "toolsandbox",
        "toolsandbox",
        "toolsandbox",
        None,
    ]
    assert changed.under("clean") == AllOf(plan)


def test_what_a_condition_reads_is_known() -> None:
    parts: tuple[Condition, ...] = (StateHas("a", (), since=1), StateUnchanged("b", -1))
    assert AllOf(parts).references() == {1, -1}
    assert AllOf((*parts, Condition())).references() is None


def test_equal_versions_of_a_table_are_looked_at_once() -> None:
    notes, other = [{"text": "a"}], [{"text": "a"}]
    guard = StateUnchanged("notes", -1)
    reached = {-1: world(ASKED, notes=notes)}
    one = guard.looks_at(world(SAID, notes=notes), reached)
    assert one == guard.looks_at(world(ASKED, notes=notes), reached)
    assert one != guard.looks_at(world(ASKED, notes=other), reached)


def test_a_plan_of_the_world_is_written_and_read_equal() -> None:
    node = AllOf(
        (
            StateHas("a", ({"x": None},), "addition", -1, {"x": Column("close", 0.5)}),
            StateUnchanged("b", 0, "toolsandbox"),
            DependsOn(0, ({"content": "{days}"},), "result_days", "content"),
            AllOf((Called("t"),)),
        )
    )
    task = Task("1", "mine", (Goal("g", (Plan((Milestone(Called("t")), Milestone(node, (0,)))),)),))
    assert decode(encode(task), Task) == task
