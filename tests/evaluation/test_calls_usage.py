"""Calls, turns and tokens of a goal."""

from chats import MANAGER, by_name, exchange, goal, task, trajectory

from seal.core import Step, Usage
from seal.evaluation.calls import UsageMetrics

CALLS = exchange([("a", {}), ("b", {})], [1, 2])
INSIDE = Step(9, MANAGER, "orchestrator", "found it", turn=2)
FINAL = Step(10, "orchestrator", "user_simulator", "done", turn=3)


def test_parallel_calls_are_one_turn_and_messages_inside_the_agent_none() -> None:
    found = by_name(UsageMetrics(), task(goal()), trajectory([*CALLS, INSIDE, FINAL]))
    assert (found["calls"].value, found["turns"].value) == (2.0, 2.0)


def test_final_response_that_nobody_passed_on_is_a_turn() -> None:
    found = by_name(UsageMetrics(), task(goal()), trajectory([*CALLS, INSIDE]))
    assert found["turns"].value == 2.0


def test_no_final_response_is_no_turn() -> None:
    found = by_name(UsageMetrics(), task(goal()), trajectory(CALLS, answer=None))
    assert found["turns"].value == 1.0


def test_tokens_are_those_of_the_agent() -> None:
    steps = [
        Step(0, "user_simulator", "orchestrator", "hi", usage=Usage(100, 100)),
        Step(1, MANAGER, "executor", usage=Usage(5, 2)),
        Step(2, "orchestrator", "user_simulator", usage=Usage(7, 1, estimated=True)),
    ]
    found = by_name(UsageMetrics(), task(goal()), trajectory(steps))
    assert (found["tokens_in"].value, found["tokens_out"].value) == (12.0, 3.0)
    assert found["tokens_in"].details == {"estimated": True}


def test_tokens_that_nobody_counted_are_undefined() -> None:
    found = by_name(UsageMetrics(), task(goal()), trajectory(CALLS))
    assert found["tokens_in"].value is None
    assert found["tokens_in"].reason == "no tokens were counted"
