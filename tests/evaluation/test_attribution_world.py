"""Milestones that were not reached explain a failure only where the scores are of this chat."""

from pathlib import Path
from typing import Any

import pytest

import seal
from seal.core import Goal, Milestone, Plan, Score, Step, Stop, Task, Trajectory
from seal.core.conditions import Called
from seal.environments.chat_world import World
from seal.environments.world import Worlds, toolbox
from seal.evaluation import attribution_steps
from seal.evaluation.attribution import Decision, Evidence
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


def spend(bank: World, account: str, amount: int) -> str:
    """Spend an amount of money of an account."""
    rows = bank.rows("accounts")
    changed = [{**r, "balance": r["balance"] - amount * (r["id"] == account)} for r in rows]
    bank.put("accounts", changed)
    return "spent"


ACCOUNTS = [{"id": "a", "balance": 100}, {"id": "b", "balance": 50}]
SPENDING = Worlds(name="bank", tools=toolbox("bank", [spend]), tables={"accounts": ACCOUNTS})
FIVE = seal.ends_as(seal.called("spend", account="a", amount=5))
ROWS = seal.FinalState("accounts", ({"id": "a", "balance": 95}, {"id": "b", "balance": 50}))
EFFECT, VALUE = ("wrong_tool", "extra_effect"), ("wrong_argument", "value")


@pytest.mark.parametrize(
    ("gold", "made", "cause", "step"),
    [
        (FIVE, [("a", 5), ("a", 5)], EFFECT, 3),
        (ROWS, [("a", 5), ("a", 5)], EFFECT, 3),
        (FIVE, [("a", 6), ("a", 5)], EFFECT, 1),
        (FIVE, [("b", 1), ("a", 5)], EFFECT, 1),
        (ROWS, [("b", 1), ("a", 5)], EFFECT, 1),
        (ROWS, [("a", 5), ("b", 1)], EFFECT, 3),
        (seal.ends_as(), [("a", 6)], EFFECT, 1),
        (FIVE, [("a", 6)], VALUE, 1),
        (ROWS, [("a", 6)], VALUE, 1),
    ],
)
def test_an_end_that_a_call_more_spoils_is_an_extra_effect(
    gold: Any, made: Any, cause: tuple[str, str], step: int, tmp_path: Path
) -> None:
    def agent(request: str, tools: Any) -> str:
        for account, amount in made:
            tools[0](account=account, amount=amount)
        return "Done."

    bench = seal.Benchmark("bank", environment=SPENDING, tasks=[seal.ask("Spend.", gold)])
    run = seal.run(bench, agent=agent, baselines=False, out=tmp_path / "run")
    (told,) = (one for s in seal.explain(run).content["stages"] for one in s["examples"])
    assert ((told["stage"], told["cause"]), told["step"]) == (cause, step)
