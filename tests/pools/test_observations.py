"""Recorded results that cannot be: each rule, what is none, and the samples that ship."""

from pathlib import Path
from typing import Any

import pytest
from linear import linear
from looped import every_case

from seal.benchmarks.mmtb import SAMPLE
from seal.core import Goal, Milestone, Plan, Task, Tool, write_records
from seal.core.conditions import Argument, Called
from seal.pools.lint import lint
from seal.pools.observations import contradictions
from seal.pools.pool import load_pool

TOOL = Tool(
    "b/s/t",
    "t",
    "Does what it says.",
    {
        "type": "object",
        "properties": {"account": {"type": "string", "enum": ["checking", "savings"]}},
    },
)


def made(given: dict[str, Any], result: Any) -> Milestone:
    arguments = {name: Argument((value,)) for name, value in given.items()}
    return Milestone(Called(TOOL.id, arguments), result=result)


def faults(*milestones: Milestone) -> list[str]:
    goals = tuple(Goal("x", (Plan((milestone,)),)) for milestone in milestones)
    return [fault for _, fault in contradictions(Task("t", "b", goals), {TOOL.id: TOOL})]


LOAN = {"principal": 120000, "annual_rate_percent": 4.5, "years": 15}
AT = {"at": "2024-05-06T18:00"}
WEEK = {"start_date": "2024-05-06", "end_date": "2024-05-13"}


@every_case(
    ("given", "result", "told"),
    [
        (LOAN, {"monthly_payment": 24.75}, "monthly_payment is 24.75"),
        (LOAN, {"monthly_payment": 917.99, "payments": 180, "total_paid": 1000}, "total_paid"),
        (LOAN, {"total_paid": 165238.2, "total_interest": 5}, "total_interest is 5"),
        ({"weight_kg": 81, "height_cm": 178}, {"bmi": 50.63}, "make 25.5"),
        ({"weight_kg": 81, "height_m": 1.78}, {"bmi": 30.0}, "make 25.5"),
        ({}, {"bmi": 50.63, "class": "underweight"}, "is called underweight"),
        ({"amount": 240}, {"rate": 4.25, "result": 98.0}, "result is 98"),
        ({"weight_kg": 70, "minutes": 60}, {"met": 7, "calories": 3}, "calories is 3"),
        ({}, {"deposited": 10, "interest_earned": 2, "final_balance": 9}, "final_balance is 9"),
        (AT, {"next_at": "2028-05-06T18:00"}, "next_at is 2028-05-06"),
        (AT, {"next_at": "2025-05-06T18:00"}, "next_at is 2025-05-06"),
        ({"date": "2024-05-06"}, {"date": "2024-05-07"}, "date is '2024-05-07'"),
        ({"party_size": 4}, {"party_size": 5}, "party_size is 5"),
        ({"public": True}, {"public": False}, "public is False"),
        ({"order_id": "SO-1"}, {"order_id": "SO-2"}, "order_id is 'SO-2'"),
        ({"account": "savings"}, {"account": "checking"}, "account is 'checking'"),
        (WEEK, {"prices": [{"date": "2024-09-17"}]}, "prices has 2024-09-17"),
        ({}, {"days": [{"day": {"low": 58.1, "high": 48.3}}]}, "low is 58.1"),
        ({}, {"start": "2024-05-06T18:00", "end": "2024-05-06T17:00"}, "before it begins"),
        ({}, {"sunrise": "06:00", "sunset": "20:00", "day_length_minutes": 26}, "length"),
        ({"duration_minutes": 30}, {"start": "10:00", "end": "11:00"}, "duration_minutes is 30"),
        (
            {},
            {"found": [{"r_id": "1", "name": "A"}, {"r_id": "1", "name": "B"}]},
            "r_id 1 is",
        ),
    ],
)
def test_a_result_that_cannot_be_is_found(given: dict[str, Any], result: Any, told: str) -> None:
    (fault,) = faults(made(given, result))
    assert told in fault


@every_case(
    ("given", "result"),
    [
        (LOAN, {"monthly_payment": 918.0, "payments": 180, "total_paid": 165240}),
        ({**LOAN, "years": 1e9}, {"monthly_payment": 5}),
        ({"principal": 900, "annual_rate_percent": 0, "years": 1}, {"monthly_payment": 75}),
        ({"weight_kg": 81, "height_cm": 0}, {"bmi": 25.6}),
        ({"weight_kg": 81, "height_cm": 178}, {"bmi": 25.6, "class": "overweight"}),
        ({"weight_kg": "81", "height_cm": 178}, {"bmi": 99}),
        ({"amount": 100}, {"rate": 0.0058, "result": 0.58}),
        (AT, {"next_at": "2025-01-02T18:00", "created_on": "2021-05-06", "at": "6 pm"}),
        ({"date": "2024-05-06"}, {"date": "2024-05-06T10:00:00Z"}),
        ({"date": "2024-99-06"}, {"update": "2020-05-06"}),
        ({"limit": 10, "max_price": 5}, {"limit": 5, "max_price": 4}),
        ({"city": "NYC"}, {"city": "New York"}),
        ({"order_id": "#so-1"}, {"order_id": "SO1"}),
        ({"account": "Savings "}, {"account": "savings"}),
        (WEEK, {"prices": [{"date": "2024-05-31"}, {"date": None}, 5]}),
        ({}, {"low": 5, "high": 5, "min": True, "max": 0}),
        ({"duration_minutes": 60}, {"start": "23:30", "end": "00:30"}),
        ({}, [1, "text", None]),
        ({}, "text"),
    ],
)
def test_what_may_be_is_no_finding(given: dict[str, Any], result: Any) -> None:
    assert faults(made(given, result)) == []


def test_one_id_has_one_name_in_a_task_unless_a_call_renames_it() -> None:
    first = made({}, {"event_id": "e1", "title": "Lunch"})
    other = made({}, {"event_id": "e1", "title": "Stand-up"})
    renamed = made({"new": "Brunch"}, {"event_id": "e1", "title": "Brunch"})
    assert faults(first, other) == ["event_id e1 is 'Stand-up', and was 'Lunch' before"]
    assert faults(first, first, renamed, renamed) == []


def test_every_pool_is_asked(tmp_path: Path) -> None:
    task = Task("t", "b", (Goal("x", (Plan((made(LOAN, {"monthly_payment": 24.75}),)),)),))
    write_records(tmp_path / "tools.jsonl", [TOOL])
    write_records(tmp_path / "tasks.jsonl", [task])
    found = [one for one in lint(tmp_path).findings if one.kind == "observations"]
    assert [one.tasks for one in found] == [("t",)]
    assert "goal 1: the result of 'b/s/t': monthly_payment is 24.75" in found[0].message


def test_the_sample_of_missions_has_none() -> None:
    pool = load_pool(SAMPLE.folder)
    tools = {tool.id: tool for tool in pool.tools()}
    assert [fault for task in pool.tasks() for fault in contradictions(task, tools)] == []


@pytest.mark.parametrize("deep", [False, True])
def test_results_of_strangers_take_linear_time(deep: bool) -> None:
    def check(count: int) -> None:
        result: Any = {"a_id": "1", "name": "A"}
        if deep:
            for _ in range(count):
                result = {"x": [result]}
        else:
            result = [{"a_id": str(n), "name": "A", "low": 1, "high": 2} for n in range(count)]
        faults(made({}, {"rows": result}))

    linear(check, 20_000 if deep else 100_000)
