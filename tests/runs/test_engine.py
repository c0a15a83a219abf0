"""What an engine refuses before anything is played, and what its chats are told."""

import os
from pathlib import Path

import pytest

import seal
from seal.core import Completion, ToolCall, UnknownNameError, UsageError


def test_a_model_for_a_role_that_nobody_plays_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"no role in team full 'plannner'.*'planner'"):
        seal.run("sample", out=tmp_path / "run", role_models={"plannner": "lexical"})


def test_retrieval_per_step_needs_somebody_who_hands_on_steps(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"per-step needs the role orchestrator.*--team full"):
        seal.run("sample", out=tmp_path / "run", team="direct", retrieve="per-step")


class Misspeller:
    def complete(self, request):
        if any(message.role == "tool" for message in request.messages) or not request.tools:
            return Completion("There is no such tool.")
        return Completion(calls=(ToolCall("", f"{request.tools[0].name}x", {}),))


def test_a_misspelt_tool_is_answered_with_the_nearest_offered_one(tmp_path: Path) -> None:
    played = seal.run("sample", out=tmp_path / "run", model=Misspeller(), limit=1, baselines=False)

    (trajectory,) = played.folder.trajectories()
    (result,) = [step.result for step in trajectory.steps if step.result]
    called = next(step.call.name for step in trajectory.steps if step.call)
    assert result.error["kind"] == "unknown_tool"
    assert result.error["nearest"] == called.removesuffix("x")
    assert len(result.error["expected"]) == 10


def test_rankings_of_steps_are_as_long_as_the_cut_offs(tmp_path: Path) -> None:
    played = seal.run(
        "sample", out=tmp_path / "run", retrieve="per-step", top_k=2, limit=1, baselines=False
    )

    (ranking,) = played.folder.rankings()
    (trajectory,) = played.folder.trajectories()
    assert (len(ranking.hits), len(trajectory.offered[0])) == (10, 2)


class Leaking:
    def reply(self, chat):
        raise ValueError(f"the client said: bad key {os.environ['OPENAI_API_KEY']}")


def test_a_key_that_a_plug_in_repeats_is_in_no_file(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-distinctive-9f8e7d6c")

    played = seal.run("sample", out=tmp_path / "run", roles={"planner": Leaking}, limit=1)

    assert "bad key ***" in next(iter(played.summary["crashes"]))
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 10
    assert not any(b"distinctive" in path.read_bytes() for path in files)


def test_a_model_that_plays_tasks_neither_judges_nor_simulates(tmp_path: Path) -> None:
    for setting in ({"judge": "llm"}, {"simulator": "llm"}, {"role_models": {"judge": "oracle"}}):
        with pytest.raises(UsageError, match="plays tasks and cannot be the"):
            seal.run("sample", out=tmp_path / "run", **setting)
