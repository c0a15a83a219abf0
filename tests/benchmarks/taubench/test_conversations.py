"""Recorded conversations as runs: they are made again, scored, and bad records are told."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from taubench_checkout import brought, conversation, said, write_checkout

import seal
from seal.benchmarks.taubench.world import TAUBENCH
from seal.core import SealError, Trajectory
from seal.pools.imports import import_benchmark
from seal.pools.pool import load_pool
from seal.runs.finished import import_run

CANCEL = ("cancel_booking", {"key": "B1"})
DONE = '{"user_id": "ann", "status": "cancelled"}'
ENDED = said("user", "Thanks. ###STOP###")
SOLVED = [
    said("user", "Cancel my booking B1."),
    said("assistant", "A moment.", CANCEL, ("book", {"key": "B7"})),
    brought("cancel_booking", DONE),
    said("assistant", "It is cancelled."),
    ENDED,
]
TRANSFER = [
    said("user", "Cancel B9."),
    said("assistant", None, ("transfer_to_human_agents", {"summary": "B9"})),
    brought("transfer_to_human_agents", "Transfer successful"),
]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = write_checkout(tmp_path / "checkout")
    monkeypatch.syspath_prepend(str(made))
    return made


def written(checkout: Path, *records: Any) -> dict[str, Any]:
    path = checkout / "clerk.json"
    path.write_text(json.dumps(records), "utf-8")
    return {"answers": str(path), "allow_code": (TAUBENCH.package,)}


def imported(checkout: Path, *records: Any) -> tuple[dict[str, Any], list[Trajectory]]:
    out = checkout.parent / "pool"
    report = import_benchmark("taubench", checkout, out, **written(checkout, *records))
    chats = [chat for name in report.recordings for chat in load_pool(out).recorded(name)]
    return report.to_json(), chats


def test_a_run_is_scored_by_state_and_words(checkout: Path, tmp_path: Path) -> None:
    nothing = [said("user", "Cancel B1."), said("assistant", "Done."), ENDED]
    cut = SOLVED[:-1]
    options = written(
        checkout,
        conversation(0, 0, 1.0, *SOLVED),
        conversation(0, 1, 0.0, *nothing),
        conversation(2, 0, 1.0, *TRANSFER),
        conversation(2, 1, 0.0, *cut),
    )
    report = import_run("taubench", checkout, tmp_path / "run", options)
    told = report.facts["conversations"]["clerk"]
    assert told["conversations"] == 4 and told["calls"] == 3 and told["results_that_differ"] == 0
    run = seal.score(tmp_path / "run")
    assert {task.id for task in run.folder.tasks()} == {"taubench/airline/0", "taubench/airline/2"}
    found = {(s.task_id[-1], s.trial): s for s in run.folder.scores() if s.metric == "reward"}
    chats = {(c.task_id[-1], c.trial): c for c in run.folder.trajectories()}
    assert {key: score.value for key, score in found.items()} == {
        key: chat.provenance["reward"] for key, chat in chats.items()
    }
    assert found["0", 1].reason == "the data do not end as after gold: bookings, users"
    assert run.folder.manifest()["measure"]["trials"] == 2
    told = seal.explain(run).content
    assert told["decided_by"] == {"reward": 4} and told["solved"] == 2


def test_steps_tell_who_said_what_and_what_changed(checkout: Path) -> None:
    _, (chat,) = imported(checkout, conversation(0, 0, 1.0, *SOLVED))
    assert [(s.author, s.recipient, s.content) for s in chat.steps] == [
        ("user_simulator", "execution_manager", "Cancel my booking B1."),
        ("execution_manager", "executor", "A moment."),
        ("executor", "execution_manager", DONE),
        ("execution_manager", "user_simulator", "It is cancelled."),
        ("user_simulator", "execution_manager", "Thanks."),
    ]
    assert chat.steps[2].state == {
        "bookings": [{"key": "B1", "user_id": "ann", "status": "cancelled"}],
        "users": [{"key": "ann", "paid": 95}],
    }
    assert chat.stops[0].reason == "user_ended" and chat.answers == ("It is cancelled.",)


def test_results_that_come_out_otherwise_are_counted_and_kept(checkout: Path) -> None:
    other = [*SOLVED[:2], brought("cancel_booking", "cancelled"), *SOLVED[3:]]
    report, (chat,) = imported(checkout, conversation(0, 0, 1.0, *other))
    assert report["conversations"]["clerk"]["results_that_differ"] == 1
    assert chat.steps[2].content == "cancelled"


def test_a_recording_can_be_played_again(checkout: Path, tmp_path: Path) -> None:
    imported(checkout, conversation(0, 0, 1.0, *SOLVED))
    run = seal.run(
        str(tmp_path / "pool"),
        model="recorded:clerk",
        first=1,
        baselines=False,
        allow_code=(TAUBENCH.package,),
        out=tmp_path / "run",
    )
    assert run["reward"].mean == 1.0


def test_bad_records_are_left_out_and_counted(checkout: Path) -> None:
    failed = {"task_id": 0, "trial": 1, "reward": 0, "info": {"error": "x"}, "traj": []}
    torn = conversation(0, 2, 1.0, brought("cancel_booking", DONE))
    whole = conversation(0, 0, 1.0, *SOLVED)
    stranger = {**conversation(0, 3, 1.0, *SOLVED), "task_id": 9}
    report, chats = imported(checkout, whole, whole, failed, torn, stranger, {"task_id": "0"})
    assert len(chats) == 1
    assert report["dropped"] == {
        "given_twice": 1,
        "conversations_that_failed": 1,
        "conversations_without_task": 1,
        "malformed_record": 2,
    }
    assert any("a message of a tool without a call before it" in one for one in report["malformed"])


@pytest.mark.parametrize("trial", [-1, 2**70])
def test_a_trial_beyond_all_runs_is_left_out(checkout: Path, trial: int) -> None:
    whole, odd = (conversation(0, number, 1.0, *SOLVED) for number in (0, trial))
    report, chats = imported(checkout, whole, odd)
    assert [chat.trial for chat in chats] == [0]
    assert report["dropped"] == {"malformed_record": 1}
    assert "expected 0 to 999,999" in report["malformed"][0]


@pytest.mark.parametrize("part", ["actions", "outputs"])
@pytest.mark.parametrize("value", ["x", True, {"": None}, [None], 2**70])
def test_gold_of_another_kind_is_other_gold(checkout: Path, part: str, value: Any) -> None:
    record = deepcopy(conversation(0, 0, 1.0, *SOLVED))
    record["info"]["task"][part] = value
    report, (chat,) = imported(checkout, record)
    assert report["conversations"]["clerk"]["other_gold"] == 1
    assert chat.trial == 0


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, "of whom\\? Name a file of conversations"),
        ({"answers": "nowhere.json", "allow_code": (TAUBENCH.package,)}, "nowhere.json"),
        ({"answers": "clerk.json"}, "allow it: --allow-code tau_bench"),
    ],
)
def test_what_cannot_be_is_told(
    checkout: Path, tmp_path: Path, options: dict[str, Any], told: str
) -> None:
    with pytest.raises(SealError, match=told):
        import_run("taubench", checkout, tmp_path / "run", options)
    assert not (tmp_path / "run").exists()


def test_a_torn_file_is_told(checkout: Path, tmp_path: Path) -> None:
    options = written(checkout, conversation(0, 0, 1.0, *SOLVED))
    path = Path(options["answers"])
    path.write_text(path.read_text("utf-8")[:-40], "utf-8")
    with pytest.raises(SealError, match=r"clerk\.json"):
        import_run("taubench", checkout, tmp_path / "run", options)
