"""Milestones that were not reached explain a failure only where the scores are of this chat."""

from typing import Any

import pytest

from seal.core import Goal, Milestone, Plan, Score, Step, Stop, Task, Trajectory
from seal.core.conditions import Called
from seal.evaluation import attribution_steps
from seal.evaluation.attribution_evidence import Decision, Evidence
from seal.evaluation.attribution_steps import first_world_step
from seal.evaluation.goals import TaskChat

PLAN = Plan((Milestone(Called("t/now", {})),))
TASK = Task("a", "b", (Goal("Do it", plans=(PLAN,)),), metadata={"match": "clean"})
CHAT = Trajectory(
    "a",
    0,
    steps=(
        Step(0, "user_simulator", "execution_manager", "Do it"),
        Step(1, "execution_manager", "user_simulator", "Done", turn=1),
    ),
    offered=((),),
    stops=(Stop("done"),),
    answers=("Done",),
)


def evidence(mapping: Any, **whole: Any) -> Evidence:
    """Return what a chat and its scores show."""
    details = {"plan": 0, "match": "clean", **whole}
    scores = {
        "similarity": Score("a", 0, 0, "similarity", 0.0, details=details),
        "milestone_similarity": Score(
            "a", 0, 0, "milestone_similarity", 0.0, details={"mapping": mapping}
        ),
    }
    return Evidence(TaskChat(TASK, CHAT, {}), 0, scores, Decision("unsolved", "pass_rate"), ())


def test_a_milestone_that_was_not_reached_is_the_cause() -> None:
    found = first_world_step(evidence([[0, 1, 0.0]]))
    assert found is not None
    assert (found.stage, found.cause) == ("not_called", "no_call")


@pytest.mark.parametrize(
    ("mapping", "whole"),
    [
        ([[0, 1, 0.0]], {"plan": 1}),
        ([[0, 1, 0.0]], {"plan": "0"}),
        ([[0, 1, 0.0]], {"match": "other"}),
        ([[0, 7, 0.0]], {}),
        ([[3, 1, 0.0]], {}),
        ([[0, 1]], {}),
        ([[0, "1", 0.0]], {}),
        ("x", {}),
        (None, {}),
    ],
)
def test_scores_of_another_plan_or_chat_explain_nothing(mapping: Any, whole: Any) -> None:
    assert first_world_step(evidence(mapping, **whole)) is None


def test_an_error_of_ours_is_no_attribution(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise TypeError("ours")

    monkeypatch.setattr(attribution_steps, "unmet", broken)
    with pytest.raises(TypeError, match="ours"):
        first_world_step(evidence([[0, 1, 0.0]]))
