"""Augmented pools played: what a tool does is not changed by how it is presented."""

from pathlib import Path

import pytest
from small_pools import WEATHER, play, write_pool

from seal.core import Execution, Response, Tool, ToolCall
from seal.models.given_answers import ScriptedModel
from seal.pools.augmentation import augment_stored, parse_augmentations
from seal.pools.pool import load_pool
from seal.runs.call_handling import Unscrambled


@pytest.fixture
def augmented(tmp_path: Path) -> Path:
    write_pool(tmp_path / "small")
    what = ["distraction=2", "distraction=2,names", "distraction=2,argument-types"]
    augment_stored(load_pool(tmp_path / "small"), tmp_path / "augmented", parse_augmentations(what))
    return tmp_path / "augmented"


def test_the_oracle_reaches_the_ceiling_under_every_augmentation(augmented: Path, tmp_path: Path):
    summary = play(augmented, tmp_path / "run", model="oracle").summary
    for metric in ("pass_rate", "call_f1", "param_acc_gold"):
        by = summary["metrics"][metric]["by"]
        means = {name: entry["mean"] for name, entry in by.items() if "augmentation=" in name}
        assert len(means) == 3
        assert set(means.values()) == {1.0}


def test_a_scrambled_call_is_checked_and_answered_as_the_originals(augmented: Path, tmp_path: Path):
    asked: list[Tool] = []

    class Asked:
        identity = "asked/1"

        def respond(self, tool: Tool, arguments: dict) -> Response:
            asked.append(tool)
            return Response("fine")

    name = "small_2"  # weather, the last of the category's three names
    calls = [{"name": name, "arguments": {"city": city}} for city in (3, "Paris")]
    model = ScriptedModel({"execution_manager": [{"calls": calls}, "ok"], "*": ["ok"]})
    select = {"augmentation": "2_distraction_tools_tool_name_scrambled"}
    settings = {"model": model, "simulator": Asked(), "cache": "off", "select": select, "limit": 1}
    played = play(augmented, tmp_path / "run", **settings)
    (trajectory,) = played.folder.trajectories()
    results = [step.result for step in trajectory.steps if step.result]
    assert [result.error and result.error["kind"] for result in results] == ["wrong_type", None]
    assert results[1].executed == Execution(WEATHER.id, {"city": "Paris"})
    assert asked == [WEATHER]
    assert {call.call.tool for call, _ in trajectory.calls()} == {f"{WEATHER.id}~names"}


def test_simulated_answers_are_the_same_under_every_name(augmented: Path, tmp_path: Path):
    answers = {}
    for scrambled in ("", "_tool_name_scrambled", "_arg_type_scrambled"):
        name = "small_2" if "name" in scrambled else "weather"
        call = {"name": name, "arguments": {"city": "Quito"}}
        model = ScriptedModel({"execution_manager": [{"calls": [call]}, "ok"], "*": ["ok"]})
        settings = {"select": {"augmentation": f"2_distraction_tools{scrambled}"}, "limit": 1}
        played = play(augmented, tmp_path / f"run{scrambled}", model=model, **settings)
        (trajectory,) = played.folder.trajectories()
        answers[scrambled] = [step.content for step in trajectory.steps if step.result]
    assert answers[""] == answers["_tool_name_scrambled"] == answers["_arg_type_scrambled"]


def test_tools_that_are_retrieved_are_scrambled_too(tmp_path: Path):
    write_pool(tmp_path / "small")
    augment_stored(load_pool(tmp_path / "small"), tmp_path / "out", parse_augmentations(["names"]))
    played = play(tmp_path / "out", tmp_path / "run", model="oracle", retriever="oracle", top_k=1)
    assert played.summary["metrics"]["call_recall"]["mean"] == 1.0
    assert {id for t in played.folder.trajectories() for id in t.offered[0]} == {
        f"{WEATHER.id}~names"
    }


def test_other_calls_pass_as_they_are() -> None:
    class Echo:
        def call(self, calls):
            return list(calls)

        def states(self):
            return ({"t": []},)

    inner = Unscrambled(Echo(), {"b~names": WEATHER})
    plain, unknown = ToolCall("call_0", "a", {}, tool="a"), ToolCall("call_1", "x", {})
    scrambled = ToolCall("call_2", "b_0", {}, tool="b~names")
    assert inner.call([plain, unknown]) == [plain, unknown]
    assert [call.tool for call in inner.call([scrambled])] == [WEATHER.id]
    assert inner.states() == ({"t": []},)
    inner.tick()  # no clock: nothing happens
