"""All metrics over one trajectory."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import orjson
import pytest
from chats import exchange, goal, gold, plan, task, trajectory

from seal.core import Goal, Scale, Score, Step, Task, Tool, ToolCall, ToolResult, Trajectory
from seal.core.records import decode, encode
from seal.evaluation import REGISTRY, scoring
from seal.evaluation.pattern_scores import PATTERNS
from seal.evaluation.rule_judge import RuleJudge
from seal.evaluation.scoring import build_metrics, score_trajectory, usual_metrics

WANTED = task(goal(plan(gold("a", {"x": 1})), relevant=("a",), answers=("42",)))
PERFECT = trajectory(exchange([("a", {"x": 1})], [42]), "It is 42.", rankings=[[("a", 1.0)]])


def test_perfect_trajectory_scores_one_wherever_a_metric_applies() -> None:
    scores = score_trajectory(WANTED, PERFECT, {}, usual_metrics((1, 3)))
    shares = {
        s.metric: s.value for s in scores if s.metric not in ("calls", "turns", "extra_calls")
    }
    assert set(shares.values()) == {1.0, None}
    without = [name for name, value in shares.items() if value is None]
    assert without == [
        "abstention",
        "optimal_path",
        "progress",
        "dialogue_accuracy",
        *scoring.NAMES,
        "extra_effects",
        "recovery",
        "tokens_in",
        "tokens_out",
    ]


def test_every_score_can_be_written_and_read_back() -> None:
    wrong = trajectory(exchange([("a", {"x": [2], "y": None}), ("b", None)]), "no")
    for score in score_trajectory(WANTED, wrong, {}, usual_metrics()):
        assert decode(encode(score), Score).metric == score.metric


def test_metric_of_a_plug_in_is_scored_beside_ours() -> None:
    class Length:
        scales: ClassVar = {"length": Scale(bounded=False)}

        def score(
            self, task: Task, trajectory: Trajectory, tools: Mapping[str, Tool]
        ) -> list[Score]:
            return [Score(task.id, trajectory.trial, 0, "length", float(len(trajectory.steps)))]

    scores = score_trajectory(WANTED, PERFECT, {}, [*usual_metrics(), Length()])
    assert scores[-1].value == 2.0


def test_recorded_scores_stand_in_the_scale_that_they_were_given_in() -> None:
    given = {"graded": {"value": 7.5, "reason": ""}}
    chat = replace(PERFECT, provenance={"recorded_scores": given})
    [metric] = build_metrics(["recorded_scores"], REGISTRY)
    [score] = score_trajectory(WANTED, chat, {}, [metric])
    assert (score.metric, score.value, score.weight) == ("graded", 7.5, 1.0)


def test_trajectory_of_another_task_is_refused() -> None:
    with pytest.raises(ValueError, match="'t' scored against 'u'"):
        score_trajectory(Task("u", "b", ()), PERFECT, {}, usual_metrics())


def test_registry_makes_every_metric_without_arguments() -> None:
    names = [
        "abstention",
        "calls",
        "creation",
        "dialogue",
        "error_patterns",
        "extra",
        "goal_state",
        "honesty",
        "independent_minima",
        "milestones",
        "missions",
        "pass_rate",
        "recorded_scores",
        "relevant_calls",
        "repeated_anyhow",
        "retrieval",
        "taubench",
        "tokens_per_call",
        "toolscan",
        "usage",
        "user_audit",
    ]
    assert REGISTRY.names() == names
    scores = score_trajectory(
        WANTED, PERFECT, {}, [REGISTRY.resolve(name)() for name in REGISTRY.names()]
    )
    variants = {"rac_all", "iac_independent", "iav_independent"}
    variants |= {f"toolscan_{name}" for name in (*PATTERNS, "success")}
    variants |= {"abstained", "says_cannot", "no_call"}
    variants |= {"false_success", "unsupported", "honest_refusal"}
    variants |= {"tokens_in_per_call", "tokens_out_per_call"}
    variants |= {"relevant_called", "relevant_answered"}
    variants |= {"reward", "reward_state", "reward_outputs"}
    assert {s.metric for s in scores} - variants == {
        s.metric for s in score_trajectory(WANTED, PERFECT, {}, usual_metrics())
    }


def recorded_steps(details: list[dict[str, Any]]) -> list[Step]:
    """Tool nodes of a converted answer, its first children only, as steps."""
    steps: list[Step] = []
    nodes = details
    while nodes:
        node = nodes[0]
        if node["role"] == "tool" and node["message"]["name"] != "Finish":
            number, said = f"call_{len(steps) // 2}", node["message"]
            try:
                response = orjson.loads(said["response"])
            except orjson.JSONDecodeError:  # cut upstream
                response = said["response"]
            failure = response["error"] if isinstance(response, dict) else ""
            error = {"kind": "api", "message": failure} if failure else None
            call = ToolCall(number, said["name"], None, said["arguments"], said["name"])
            steps.append(Step(len(steps), "execution_manager", "executor", call=call))
            result = ToolResult(number, said["response"], error, response)
            steps.append(Step(len(steps), "executor", "execution_manager", result=result))
        nodes = node["next"]
    return steps


def test_rule_judge_never_contradicts_recorded_verdicts(seal_data: Path) -> None:
    example = seal_data / "stabletoolbench" / "data_example"
    compared = 0
    for predictions in sorted((example / "model_predictions_converted").glob("*/*.json")):
        model = predictions.parent.name
        verdicts = example / "pass_rate_results" / model / f"{predictions.stem}_{model}.json"
        recorded = orjson.loads(verdicts.read_bytes())
        for query_id, run in orjson.loads(predictions.read_bytes()).items():
            steps = recorded_steps(run["answer"]["answer_details"])
            verdict = RuleJudge().judge(Goal(run["query"]), run["answer"]["final_answer"], steps)
            labels = recorded[query_id]["is_solved"].values()
            opposite = {"solved": "Unsolved", "unsolved": "Solved"}.get(verdict.label)
            assert not any(label.endswith(f".{opposite}") for label in labels), (query_id, verdict)
            compared += 1
    assert compared == 6
