"""How a dialogue's classes end, by a stand-in of the peer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from bfcl_peer import stand_in
from bfcl_sources import BfclShelf, answer, function, said

import seal
from seal.benchmarks.bfcl.world import VARIABLE
from seal.pools.pool import load_pool
from seal.runs.finished import rescore
from seal.runs.settings import ScoreSettings

Calls = Sequence[tuple[str, Mapping[str, Any]]]
"""Names and arguments."""
A_TO_B = ("move", {"source": "a", "destination": "b"})
B_TO_C = ("move", {"source": "b", "destination": "c"})
A_TO_C = ("move", {"source": "a", "destination": "c"})
READ = ("copy", {"file": "a"})


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BfclShelf:
    """A dialogue of three turns, the last one without gold, and its stand-in.

    Its configuration tells of a class that it does not have, as some of BFCL's do.
    """
    made = BfclShelf(tmp_path)
    moving = function("move", source="string", destination="string")
    made.write(
        "multi_turn_func_doc/gorilla_file_system.json", moving, function("copy", file="string")
    )
    item = {
        "id": "multi_turn_base_0",
        "question": [said("Move it."), said("Move it on."), said("Thanks.")],
        "initial_config": {"GorillaFileSystem": {}, "TravelAPI": {"budget": 1}},
        "involved_classes": ["GorillaFileSystem"],
    }
    truth = answer(item["id"], ["move('a', 'b')"], ["move('b', 'c')"], [])
    made.category("multi_turn_base", [item], [truth])
    (tmp_path / "peer").mkdir()
    monkeypatch.setenv(VARIABLE, str(stand_in(tmp_path / "peer", made.source)))
    made.imported()
    return made


def calling(turns: Mapping[str, Calls]) -> Callable[[str, Sequence[Any]], str]:
    """An agent that makes these calls, by what the user says."""

    def agent(request: str, tools: Sequence[Any]) -> str:
        named = {tool.__name__: tool for tool in tools}
        for name, given in turns[request]:
            try:
                named[name](**given)
            except Exception as error:
                assert str(error)
        return "Done."

    return agent


def verdicts(run: seal.Run, metric: str = "pass_rate") -> list[float | None]:
    return [score.value for score in run.folder.scores() if score.metric == metric]


def test_the_last_turn_with_gold_calls_asks_for_the_end(shelf: BfclShelf) -> None:
    (task,) = shelf.tasks()
    plans = [plan for goal in task.goals for plan in goal.plans or ()]
    kinds = [[node.condition.kind for node in plan.milestones] for plan in plans]
    assert kinds == [["called"], ["called", "ends_as"]]
    assert task.goals[1].asks_for_end and plans[1].milestones[1].after == (0,)
    assert task.tags["parallel"] is False


@pytest.mark.parametrize(
    ("turns", "ends", "bfcl"),
    [
        ([[A_TO_B], [B_TO_C]], 1, 1),
        ([[A_TO_B], [READ, B_TO_C]], 1, 1),
        ([[A_TO_B, B_TO_C], [READ]], 1, 0),
        ([[A_TO_C], []], 1, 0),
        ([[], [A_TO_B, B_TO_C]], 1, 0),
        ([[A_TO_B], []], 0, 0),
        ([[A_TO_B], [B_TO_C, ("move", {"source": "c", "destination": "d"})]], 0, 0),
        ([[A_TO_B], [("move", {"source": "b", "destination": "d"})]], 0, 0),
    ],
)
def test_the_end_decides_a_dialogue_and_the_leaderboard_looks_at_each_turn(
    shelf: BfclShelf, tmp_path: Path, turns: list[Calls], ends: int, bfcl: int
) -> None:
    agent = calling(dict(zip(("Move it.", "Move it on.", "Thanks."), [*turns, []], strict=True)))
    told: Any = {"agent": agent, "environment": "bfcl", "baselines": False}
    run = seal.run(str(shelf.out), out=tmp_path / "run", **told)
    assert verdicts(run)[1] == ends
    assert verdicts(run, "similarity") == [None, ends, None]
    assert verdicts(run, "calls_right")[1] == ends
    rescore(run.folder.path, ScoreSettings(match="bfcl"))
    assert verdicts(run, "calls_right")[1] == bfcl


def test_missions_and_calls_are_measured_beside_the_end(shelf: BfclShelf, tmp_path: Path) -> None:
    told: Any = {"model": "oracle", "environment": "bfcl", "baselines": False}
    run = seal.run(str(shelf.out), out=tmp_path / "run", **told)
    assert verdicts(run, "calls_right")[:2] == verdicts(run, "call_f1")[:2] == [1, 1]
    assert verdicts(run, "mission_accuracy")[:2] == [1, 1]
    made = [step.call.arguments for step, _ in next(run.folder.trajectories()).calls() if step.call]
    assert made == [A_TO_B[1], B_TO_C[1]]


def test_a_turn_in_a_chat_of_its_own_ends_as_gold_goes_on(shelf: BfclShelf, tmp_path: Path) -> None:
    for number, (last, right) in enumerate([([B_TO_C], 1), ([], 0), ([READ], 0)]):
        agent = calling({"Move it.": [], "Move it on.": last, "Thanks.": []})
        told: Any = {"agent": agent, "environment": "bfcl", "history": "gold", "baselines": False}
        run = seal.run(str(shelf.out), out=tmp_path / str(number), **told)
        assert verdicts(run)[1] == right


@pytest.mark.parametrize(
    ("last", "stage", "cause", "evidence"),
    [
        ([("move", {"source": "b", "destination": "d"})], "wrong_argument", "value", "root: exp"),
        ([], "not_called", "no_call", "move was due and never called"),
    ],
)
def test_explain_tells_what_the_classes_lack(
    shelf: BfclShelf, tmp_path: Path, last: Calls, stage: str, cause: str, evidence: str
) -> None:
    agent = calling({"Move it.": [A_TO_B], "Move it on.": last, "Thanks.": []})
    told: Any = {"agent": agent, "environment": "bfcl", "baselines": False}
    run = seal.run(str(shelf.out), out=tmp_path / "run", **told)
    (one,) = [one for found in seal.explain(run).content["stages"] for one in found["examples"]]
    assert (one["stage"], one["cause"], one["goal"]) == (stage, cause, 1)
    assert evidence in one["evidence"]
    assert one["reason"] == "the world does not end as gold leaves it"


def test_a_dialogue_whose_gold_is_not_all_known_asks_for_no_end(tmp_path: Path) -> None:
    made = BfclShelf(tmp_path)
    moving = function("move", source="string")
    made.write("multi_turn_func_doc/gorilla_file_system.json", moving)
    item = {
        "id": "multi_turn_base_0",
        "question": [said("Sort it."), said("Move it.")],
        "initial_config": {"GorillaFileSystem": {}},
        "involved_classes": ["GorillaFileSystem"],
    }
    truth = answer(item["id"], ["sort('a')"], ["move('a')"])
    made.category("multi_turn_base", [item], [truth])
    (task,) = made.tasks()
    assert not any(goal.asks_for_end for goal in task.goals)
    assert load_pool(made.out).report["counts"]["dialogues_without_end"] == 1
