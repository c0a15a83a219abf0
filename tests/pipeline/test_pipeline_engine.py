"""What an engine refuses before anything is played, and what its chats are told."""

from pathlib import Path

import pytest

import seal
from seal.core.errors import UnknownNameError, UsageError
from seal.core.protocols import Completion
from seal.core.types import ToolCall


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
