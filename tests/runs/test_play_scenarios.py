"""The shipped scenarios played: by the oracle, word for word with the scripted user, and others."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from servers import Answer, ModelServer, Received, calls, text

from seal.benchmarks.toolsandbox import SAMPLE
from seal.core import Task, Trajectory
from seal.models.given_answers import ScriptedModel
from seal.pools.augmentation import augment_stored, parse_augmentations
from seal.pools.pool import load_pool
from seal.runs.play import RunResult, run
from seal.runs.settings import RunSettings

NAME = SAMPLE.name
USER = "user_simulator"


def settings(cache: Path, **changes: Any) -> RunSettings:
    return RunSettings(
        **{"pool": NAME, "team": "direct", "baselines": False, "cache_dir": cache, **changes}
    )


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    """All scenarios, played by the oracle with the scripted user."""
    folder = tmp_path_factory.mktemp("oracle")
    return run(settings(folder / "cache", model="oracle"), folder / "run")


def similarities(result: RunResult) -> dict[str, float | None]:
    return values(result, "similarity")


def verdicts(result: RunResult) -> dict[str, float | None]:
    return values(result, "pass_rate")


def values(result: RunResult, metric: str) -> dict[str, float | None]:
    lines = (result.folder.path / "scores.jsonl").read_text().splitlines()
    scores = [json.loads(line) for line in lines]
    return {
        f"{score['task_id']} {score['trial']}": score["value"]
        for score in scores
        if score["metric"] == metric
    }


def spoken(steps: Any) -> list[str]:
    return [step.content for step in steps if step.author == USER and step.call is None]


def test_the_oracle_keeps_to_every_milestone(played: RunResult) -> None:
    assert played.exit_code == 0
    assert set(similarities(played).values()) == {1.0}
    assert played.summary["stop_reasons"] == {"user_ended": 53}
    assert played.summary["metrics"]["pass_rate"]["mean"] == 1.0


def test_the_scripted_user_says_what_the_reference_has(played: RunResult) -> None:
    tasks: dict[str, Task] = {task.id: task for task in played.folder.tasks()}
    for trajectory in played.folder.trajectories():
        reference = tasks[trajectory.task_id].goals[0].reference
        assert spoken(trajectory.steps) == spoken(reference), trajectory.task_id


@pytest.mark.slow
def test_two_processes_leave_the_same_bytes(played: RunResult, tmp_path: Path) -> None:
    again = run(
        settings(
            tmp_path / "cache",
            model="oracle",
            processes=2,
            workers=2,
            select={"multiple_turn": "true"},
        ),
        tmp_path / "run",
    )

    for name in ("trajectories.jsonl", "scores.jsonl"):
        ours = (again.folder.path / name).read_bytes().splitlines()
        ids = {json.loads(line)["task_id"] for line in ours}
        theirs = (played.folder.path / name).read_bytes().splitlines()
        assert len(ids) == 10
        assert ours == [line for line in theirs if json.loads(line)["task_id"] in ids], name


DEPENDENT = ("half_an_hour_earlier_after_all", "new_colleague_and_a_hello", "which_joana")
"""Calls that take a new id, and questions that the user answers."""


@pytest.mark.parametrize("task", DEPENDENT)
@pytest.mark.parametrize("team", ["direct", "full"])
def test_ids_that_are_made_anew_reach_later_calls(tmp_path: Path, task: str, team: str) -> None:
    result = run(
        settings(
            tmp_path / "cache", model="oracle", team=team, seed=7, trials=2, select={"group": task}
        ),
        tmp_path / "run",
    )

    assert list(similarities(result).values()) == [1.0, 1.0]


def test_augmented_tools_change_nothing_for_the_oracle(tmp_path: Path) -> None:
    pool = load_pool(SAMPLE.folder)
    augmentations = parse_augmentations(["distraction=3,names", "distraction=all"])
    augment_stored(pool, tmp_path / "pool", augmentations)

    result = run(
        settings(
            tmp_path / "cache",
            pool=tmp_path / "pool",
            model="oracle",
            select={"insufficient_information": "true"},
        ),
        tmp_path / "run",
    )

    assert len(similarities(result)) == 18
    assert set(similarities(result).values()) == {1.0}


@pytest.mark.slow
def test_wrong_sequences_play_too_and_none_solves_its_scenario(tmp_path: Path) -> None:
    result = run(settings(tmp_path / "cache", model="recorded:wrong", trials=3), tmp_path / "run")

    assert result.summary["errors"] == 0
    assert set(verdicts(result).values()) == {0.0, None}


@pytest.mark.slow
def test_right_sequences_play_too_and_solve_their_scenarios(tmp_path: Path) -> None:
    result = run(settings(tmp_path / "cache", model="recorded:right", trials=2), tmp_path / "run")

    assert result.summary["errors"] == 0
    assert set(verdicts(result).values()) == {1.0}


def test_who_only_says_that_it_is_done_solves_nothing(tmp_path: Path) -> None:
    idle = ScriptedModel(["Done."] * 9)
    result = run(
        settings(tmp_path / "cache", model=idle, roles={USER: "scripted"}), tmp_path / "run"
    )

    assert result.summary["errors"] == 0
    assert set(verdicts(result).values()) == {0.0}


def test_lexical_scores_between_nothing_and_the_oracle(tmp_path: Path) -> None:
    result = run(settings(tmp_path / "cache", model="lexical"), tmp_path / "run")

    mean = result.summary["metrics"]["similarity"]["mean"]
    assert result.summary["errors"] == 0
    assert 0 < mean < 0.9


JOANA = "+351962741305"


def which_joana(request: Received) -> Answer:
    """Play agent and user of `which_joana`; each knows its side of the conversation alone."""
    messages = request.body["messages"]
    tools = [tool["function"]["name"] for tool in request.body["tools"]]
    last = messages[-1]
    if tools == ["end_conversation"]:
        if "Which" in last["content"]:
            return text("The friend of course, Joana Pires.")
        return calls(("end_conversation", {}))
    told = [message for message in messages if message["role"] == "tool"]
    if not told:
        return calls(("search_contacts", {"name": "Joana"}))
    if len(told) == 1 and last["role"] == "tool":
        assert JOANA in last["content"]
        return text("There are two: Joana Pires and Joana Mesquita. Which Joana?")
    if len(told) == 1:
        assert "Joana Pires" in last["content"]
        words = {"phone_number": JOANA, "content": "I'll be ten minutes late"}
        return calls(("send_message_with_phone_number", words))
    return text("Joana Pires knows that you'll be late.")


def test_a_server_plays_agent_and_user(
    tmp_path: Path, model_server: Callable[..., ModelServer]
) -> None:
    server = model_server(which_joana)
    result = run(
        settings(
            tmp_path / "cache",
            model="openai/local",
            base_url=server.url,
            select={"group": "which_joana"},
        ),
        tmp_path / "run",
    )

    (trajectory,) = result.folder.trajectories()
    assert similarities(result) == {"which_joana 0": 1.0}
    assert [stop.reason for stop in trajectory.stops] == ["user_ended"]
    assert route(trajectory) == [
        "user_simulator: text",
        "execution_manager: search_contacts",
        "executor: result",
        "execution_manager: text",
        "user_simulator: text",
        "execution_manager: send_message_with_phone_number",
        "executor: result",
        "execution_manager: text",
        "user_simulator: end_conversation",
        "executor: result",
    ]
    prompts = [json.dumps(received.body) for received in server.received]
    users = [prompt for prompt in prompts if '"end_conversation"' in prompt]
    assert all(JOANA not in prompt for prompt in users)  # what the tools say is not the user's
    assert any("not the neighbour" in prompt for prompt in users)


def route(trajectory: Trajectory) -> list[str]:
    kinds = [
        step.call.name if step.call else "result" if step.result else "text"
        for step in trajectory.steps
    ]
    return [f"{s.author}: {kind}" for s, kind in zip(trajectory.steps, kinds, strict=True)]


def test_the_worlds_changes_stand_in_the_steps(played: RunResult) -> None:
    by_id = {trajectory.task_id: trajectory for trajectory in played.folder.trajectories()}

    changed = [set(step.state) for step in by_id["text_priya_on_low_battery"].steps if step.state]

    every = {"settings", "contacts", "messages", "reminders"}
    assert changed == [every, {"settings"}, {"settings"}, {"messages"}]


def test_an_agent_that_only_refuses_solves_what_cannot_be_done(tmp_path: Path) -> None:
    refusing = ScriptedModel(["I am sorry, that is beyond me."] * 9)
    result = run(
        settings(
            tmp_path / "cache",
            model=refusing,
            roles={USER: "scripted"},
            select={"insufficient_information": "true"},
        ),
        tmp_path / "run",
    )

    assert result.summary["errors"] == 0
    assert set(verdicts(result).values()) == {1.0}
