"""What roles caught and caused, where they call for themselves before they speak."""

import pytest

from seal.core import Goal, Milestone, Plan, Step, Task, ToolCall, ToolResult, Trajectory
from seal.core.conditions import Argument, Called
from seal.experiments.explanation import RoleWork

GOLD = Plan((Milestone(Called("b/w", {"city": Argument(("Rome",))})),))
TASK = Task("t", "b", (Goal("Rome?", (GOLD,), answers=("sunny",)),))


def called(place: int, author: str, city: str, to: str = "") -> list[Step]:
    """Return the steps of a call and its result."""
    call_id = f"call_{place}"
    call = ToolCall(call_id, "w", {"city": city}, tool="b/w")
    result = ToolResult(call_id, "?", {"message": "no such city"} if city != "Rome" else None)
    return [
        Step(place, author, "executor", call=call, turn=place),
        Step(place + 1, "executor", to or author, result=result, turn=place + 1),
    ]


def worked(*steps: Step) -> RoleWork:
    work = RoleWork()
    chat = Trajectory("t", 0, (Step(0, "user_simulator", "execution_manager"), *steps))
    work.add(TASK, chat)
    return work


@pytest.mark.parametrize(("city", "outcome"), [("Rome", "passed"), ("Oslo", "missed")])
@pytest.mark.parametrize("tried", [None, "Rome", "Oslo"])
def test_a_verifier_is_measured_by_what_it_saw_not_by_what_it_tried(city, outcome, tried):
    seen = called(1, "execution_manager", city, "verifier")
    own = called(3, "verifier", tried) if tried else []
    said = Step(5, "verifier", "execution_manager", "accepted", turn=5)

    found = worked(*seen, *own, said).roles["verifier"]
    assert {name: found.count(name) for name in found.places if found.count(name)} == {outcome: 1}


@pytest.mark.parametrize("tried", [None, "Oslo"])
def test_a_checker_is_measured_by_the_answer_not_by_what_it_tried(tried):
    answer = Step(1, "orchestrator", "checker", "It is sunny.", turn=1)
    own = called(2, "checker", tried) if tried else []
    said = Step(4, "checker", "user_simulator", "solved: right", turn=4)
    gold = called(5, "execution_manager", "Rome")

    without = worked(*gold, answer, said).roles["checker"]
    found = worked(*gold, answer, *own, said).roles["checker"]
    counts = {name: found.count(name) for name in found.places}
    assert counts == {name: without.count(name) for name in without.places}
    assert sum(counts.values()) == 1


def test_a_plan_of_which_nothing_is_handed_on_counts_for_nothing():
    plan = Step(1, "planner", "orchestrator", "Look Rome up.", turn=1)
    answer = Step(2, "orchestrator", "user_simulator", "It is sunny.", turn=2)
    found = worked(plan, answer).roles["planner"]
    assert not any(map(found.count, found.places))
