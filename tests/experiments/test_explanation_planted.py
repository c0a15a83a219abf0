"""One fault planted at each stage of the shipped samples: every failed task is attributed to it."""

from pathlib import Path
from typing import Any

import planted_faults as faults
import pytest
from planted_faults import Planted

import seal
from seal.models.given_answers import ScriptedModel

SOME = 6
"""Tasks of a quick run, of which at least half fail where a fault is planted."""

CASES: dict[str, dict[str, Any]] = {
    "infrastructure": {"model": Planted(faults.breaks_down)},
    "not_retrieved": {"model": Planted(faults.omits_results), "retriever": faults.WithoutGold},
    "user": {
        "pool": "toolsandbox-sample",
        "model": Planted(faults.asks_back),
        "retriever": None,
        "role_models": {"user_simulator": ScriptedModel(faults.leaves_at_once)},
    },
    "not_called": {"model": Planted(faults.calls_nothing)},
    "wrong_tool": {"model": Planted(faults.calls_another_tool)},
    "wrong_argument": {"model": Planted(faults.gives_another_value)},
    "tool_error": {
        "model": Planted(faults.omits_results),
        "roles": {"executor": faults.BrokenExecutor()},
    },
    "gave_up": {"model": Planted(faults.gives_up)},
    "answer": {"model": Planted(faults.omits_results)},
}
"""Stage to the settings of a run that fails there; else the oracle plays, with oracle retrieval."""


def explained(folder: Path, limit: int | None, **settings: Any) -> dict[str, Any]:
    asked = {"retriever": "oracle", "baselines": False, "first": limit, **settings}
    run = seal.run(asked.pop("pool", "sample"), out=folder / "run", **asked)
    return seal.explain(run).content


@pytest.mark.slow
@pytest.mark.parametrize("stage", CASES)
@pytest.mark.no_cover
def test_every_failed_task_is_attributed_to_the_planted_stage(tmp_path: Path, stage: str) -> None:
    found = explained(tmp_path, None, **CASES[stage])
    assert {row["stage"] for row in found["attributions"]} == {stage}
    assert found["errors" if stage == "infrastructure" else "failed"] >= SOME / 2


def test_what_a_judge_is_unsure_of_is_undecided_only_where_gold_says_nothing(
    tmp_path: Path,
) -> None:
    judge = ScriptedModel(faults.undecided)
    found = explained(
        tmp_path,
        SOME,
        model=Planted(faults.faultless),
        judge="llm",
        role_models={"judge": judge},
    )
    assert (found["undecided"], found["failed"]) == (1, SOME - 1)
    assert sum(found["decided_by"].values()) == SOME - 1


def test_where_nothing_is_planted_nothing_fails(tmp_path: Path) -> None:
    found = explained(tmp_path, SOME, model=Planted(faults.faultless))
    assert (found["solved"], found["failed"], found["attributions"]) == (SOME, 0, [])


def test_a_wrong_argument_is_told_with_what_was_expected_and_received(tmp_path: Path) -> None:
    found = explained(tmp_path, 1, model=Planted(faults.gives_another_value))
    (row,) = found["attributions"]
    assert row["name"] == "start_date"
    assert row["received"] == f"{row['expected']} 2"
    (stage,) = (stage for stage in found["stages"] if stage["goals"])
    (example,) = stage["examples"]
    assert "location='Bristol'" in example["gold"][0]
    assert "location='Bristol 2'" in example["calls"][0]
