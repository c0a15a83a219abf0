"""Answers of models beside BFCL's questions: result/ and score/ of both versions, and bad files."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import seal
from seal.core import SealError, UsageError
from seal.pools.imports import import_benchmark
from seal.pools.pool import load_pool
from seal.runs.finished import import_run

TIDE = {
    "name": "port.tide",
    "description": "Tells the tide.",
    "parameters": {
        "type": "dict",
        "properties": {"port": {"type": "string", "description": "Its name."}},
        "required": ["port"],
    },
}
ASKED = {"simple_0": "How high is the tide in Oban?", "simple_1": "And the tide in Leith?"}
PORTS = {"simple_0": "Oban", "simple_1": "Leith"}
FIRST = "gorilla_openfunctions_v1_test_simple"
NATIVE = {"id": "simple_0", "result": [{"port_tide": '{"port": "oban"}'}], "latency": 0.5}
NATIVE |= {"input_token_count": 40, "output_token_count": 7}


def write(path: Path, *lines: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def questions(folder: Path) -> Path:
    asked = [{"id": name, "question": text, "function": TIDE} for name, text in ASKED.items()]
    gold = [
        {"id": name, "ground_truth": {"port.tide": {"port": [port]}}}
        for name, port in PORTS.items()
    ]
    write(folder / "questions" / f"{FIRST}.json", *asked)
    write(folder / "questions" / "possible_answer" / f"{FIRST}.json", *gold)
    return folder / "questions"


def answers(folder: Path, model: str, *lines: Any, name: str = f"{FIRST}_result.json") -> None:
    write(folder / "result" / model / name, *lines)


def imported(folder: Path, of: Path | None = None) -> tuple[dict[str, Any], Any]:
    report = import_benchmark(
        "bfcl", folder / "questions", folder / "pool", answers=str(of or folder)
    )
    return report.to_json(), load_pool(folder / "pool")


def chats(folder: Path, model: str) -> dict[str, Any]:
    path = folder / "pool" / "recorded" / model / "trajectories.jsonl"
    return {chat["task_id"]: chat for chat in map(json.loads, path.read_text().splitlines())}


def test_each_model_becomes_a_recording_with_its_calls_texts_and_tokens(tmp_path: Path) -> None:
    questions(tmp_path)
    answers(tmp_path, "gpt-4o-2024-05-13-FC", NATIVE, {"id": "simple_1", "result": "It is high."})
    answers(tmp_path, "gpt-4o-2024-05-13", {"id": "simple_0", "result": "[port.tide(port='Oban')]"})
    report, pool = imported(tmp_path)
    assert report["recordings"] == {"gpt-4o-2024-05-13": 1, "gpt-4o-2024-05-13-FC": 2}
    assert [task.goals[0].text for task in pool.tasks()] == list(ASKED.values())
    native = chats(tmp_path, "gpt-4o-2024-05-13-FC")
    (step,) = [one for one in native["simple_0"]["steps"] if one["call"]]
    assert step["call"]["tool"] == "bfcl/python/port.tide"
    assert step["call"]["arguments"] == {"port": "oban"}
    assert (step["usage"]["tokens_in"], step["usage"]["tokens_out"]) == (40, 7)
    assert native["simple_0"]["provenance"]["latency_s"] == 0.5
    assert native["simple_1"]["answers"] == ["It is high."]
    assert "no list of native calls" in native["simple_1"]["provenance"]["unreadable"]
    prompted = chats(tmp_path, "gpt-4o-2024-05-13")["simple_0"]
    assert [one["call"]["name"] for one in prompted["steps"] if one["call"]] == ["port.tide"]
    assert report["answers"]["gpt-4o-2024-05-13-FC"] == {
        "answers": 2,
        "unreadable": 1,
        "verdicts_that_differ": 0,
    }


def test_the_present_form_with_suites_and_a_model_that_nobody_knows(tmp_path: Path) -> None:
    item = {
        "id": "simple_python_0",
        "question": [[{"role": "user", "content": ASKED["simple_0"]}]],
        "function": [TIDE],
    }
    gold = {"id": "simple_python_0", "ground_truth": [{"port.tide": {"port": ["Oban"]}}]}
    write(tmp_path / "questions" / "BFCL_v4_simple_python.json", item)
    write(tmp_path / "questions" / "possible_answer" / "BFCL_v4_simple_python.json", gold)
    given = {"id": "simple_python_0", "result": "[port.tide(port='Oban')]"}
    answers(tmp_path, "mine", given, name="non_live/BFCL_v4_simple_python_result.json")
    answers(tmp_path, "mine", {"id": "x"}, name="multi_turn/BFCL_v4_multi_turn_base_result.json")
    write(
        tmp_path / "score" / "mine" / "non_live" / "BFCL_v4_simple_python_score.json",
        {"accuracy": 1.0, "correct_count": 1, "total_count": 1},
    )
    report, _ = imported(tmp_path)
    assert report["answers"]["mine"] == {
        "answers": 1,
        "dialect_by_form": 1,
        "files_of_other_categories": 1,
        "verdicts": 1,
        "verdicts_that_differ": 0,
    }


@pytest.mark.parametrize(
    ("wrong", "differ"),
    [([], 1), ([{"id": 1, "valid": False}], 0), ([{"id": 9, "prompt": {"id": "simple_0"}}], 0)],
)
def test_verdicts_of_the_leaderboard_are_held_against_ours(
    wrong: list[Any], differ: int, tmp_path: Path
) -> None:
    questions(tmp_path)
    false = {**NATIVE, "result": [{"port_tide": '{"port": "Leith"}'}]}
    answers(tmp_path, "gpt-4o-2024-05-13-FC", false)
    score = tmp_path / "score" / "gpt-4o-2024-05-13-FC" / "simple_score.json"
    right = 2 - len(wrong)
    write(score, {"accuracy": right / 2, "correct_count": right, "total_count": 2}, *wrong)
    for of in (tmp_path, tmp_path / "result", tmp_path / "result" / "gpt-4o-2024-05-13-FC"):
        report = import_benchmark(
            "bfcl", tmp_path / "questions", tmp_path / f"pool-{of.name}", answers=str(of)
        ).to_json()
        counts = report["answers"]["gpt-4o-2024-05-13-FC"]
        assert (counts["verdicts"], counts["verdicts_that_differ"]) == (1, differ)
        told = "\n".join(report.get("remarks", ()))
        assert (
            "1 verdict of the leaderboard not those of --match bfcl: simple_0" in told
        ) == differ


def test_bad_answers_are_left_out_with_their_reasons(tmp_path: Path) -> None:
    questions(tmp_path)
    path = tmp_path / "result" / "gpt-4o-2024-05-13-FC" / f"{FIRST}_result.json"
    write(path, NATIVE, NATIVE, {"id": "simple_9", "result": []}, {"id": "simple_1"}, [1])
    path.write_text(path.read_text() + '{"id": "simple_1", "resu')
    report, _ = imported(tmp_path)
    assert report["recordings"] == {"gpt-4o-2024-05-13-FC": 1}
    assert report["dropped"] == {
        "answers_given_twice": 1,
        "answers_without_task": 1,
        "malformed_record": 3,
    }
    told = "\n".join(report["malformed"])
    assert "line 2: the id 'simple_0' stood before" in told
    assert "line 4: no field 'result'; is it a file of answers?" in told
    assert "line 6: not JSON" in told


def test_a_folder_without_answers_is_named_with_the_repair(tmp_path: Path) -> None:
    questions(tmp_path)
    with pytest.raises(UsageError, match=r"holds no answers: expected result/MODEL/BFCL_v4_"):
        imported(tmp_path)
    assert not (tmp_path / "pool" / "tasks.jsonl").exists()


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([], "0 wrong answers, but no line of counts"),
        ([{"accuracy": 0.5, "correct_count": 1, "total_count": 2}], "0 wrong answers, but 1 by"),
    ],
)
def test_verdicts_of_a_file_that_was_cut_are_left_out(
    lines: list[Any], told: str, tmp_path: Path
) -> None:
    questions(tmp_path)
    answers(tmp_path, "gpt-4o-2024-05-13-FC", NATIVE)
    write(tmp_path / "score" / "gpt-4o-2024-05-13-FC" / "simple_score.json", *lines)
    report, _ = imported(tmp_path)
    assert "verdicts" not in report["answers"]["gpt-4o-2024-05-13-FC"]
    assert report["dropped"]["verdicts_in_part"] == 1
    assert told in report["malformed"][0]


@pytest.mark.skipif(os.name != "posix", reason="other systems have no such names")
def test_a_model_whose_folder_is_no_text_is_imported(tmp_path: Path) -> None:
    questions(tmp_path)
    answers(tmp_path, os.fsdecode(b"m\xff"), NATIVE)
    report, _ = imported(tmp_path)
    assert report["answers"]["m\ufffd"]["answers"] == 1


def test_answers_of_one_model_become_a_run_to_score(tmp_path: Path) -> None:
    questions(tmp_path)
    answers(tmp_path, "gpt-4o-2024-05-13-FC", NATIVE, {"id": "simple_1", "result": []})
    import_run("bfcl", tmp_path / "questions", tmp_path / "run", {"answers": str(tmp_path)})
    seal.score(tmp_path / "run", match="bfcl")
    scores = map(json.loads, (tmp_path / "run" / "scores.jsonl").read_text().splitlines())
    right = {one["task_id"]: one["value"] for one in scores if one["metric"] == "calls_right"}
    assert right == {"simple_0": 1.0, "simple_1": 0.0}
    with pytest.raises(UsageError, match=r"of whom\? .*-T answers=FOLDER/result/MODEL"):
        import_run("bfcl", tmp_path / "questions", tmp_path / "one")
    answers(tmp_path, "gpt-4o-2024-05-13", NATIVE)
    with pytest.raises(SealError, match="expected one, for a run is of one"):
        import_run("bfcl", tmp_path / "questions", tmp_path / "two", {"answers": str(tmp_path)})


def test_real_answers_have_the_verdicts_of_the_leaderboard(seal_data: Path, tmp_path: Path) -> None:
    folder = seal_data / "bfcl_runs" / "upstream_form"
    if not folder.is_dir():
        pytest.skip(f"no answers of real models: there is no {folder}")
    of = folder / "result" / "gpt-4o-mini-2024-07-18"
    report = import_benchmark("bfcl", folder / "questions", tmp_path / "pool", answers=str(of))
    counts = report.to_json()["answers"]["gpt-4o-mini-2024-07-18"]
    assert counts == {
        "answers": 1389,
        "other_questions": 0,
        "unreadable": 5,
        "verdicts": 1389,
        "verdicts_that_differ": 0,
    }
