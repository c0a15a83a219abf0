"""A run explained from its files alone, whole, torn, moved or mixed up."""

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import seal
from seal.core import DataError, Goal, Ranking, Task, Trajectory, UsageError
from seal.core.text import counted
from seal.experiments.explanation import Needs, explain_run
from seal.report import explanation
from seal.report.experiments import explanation_tables
from seal.report.explanation import lost_notes, lost_tools, notes, section
from seal.report.lanes import lanes_of
from seal.report.table_forms import terminal_text
from seal.runs.run import RunFolder


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("explained")
    seal.run(limit=12, baselines=False, out=folder / "run", cache_dir=folder / "cache")
    return folder / "run"


@pytest.fixture
def run(played: Path, tmp_path: Path) -> RunFolder:
    """A copy of the run, moved elsewhere, of its files alone."""
    (tmp_path / "moved").mkdir()
    for file in played.glob("*.json*"):
        (tmp_path / "moved" / file.name).write_bytes(file.read_bytes())
    return RunFolder.open(tmp_path / "moved")


def lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines(keepends=True)


def put(path: Path, kept: list[str]) -> None:
    path.write_text("".join(kept), "utf-8")


def stages(found: dict[str, Any]) -> dict[str, int]:
    return {row["stage"]: row["goals"] for row in found["stages"] if row["goals"]}


def test_a_waterfall_ends_with_what_is_solved(run: RunFolder) -> None:
    found = explain_run(run)
    assert found["goals"] == 12
    assert found["stages"][-1]["left"] == found["solved"] + found["undecided"]
    assert sum(row["goals"] for row in found["stages"]) == found["failed"] + found["errors"]
    assert len(found["attributions"]) == found["failed"] + found["errors"]
    for row in found["stages"]:
        assert row["share"] == pytest.approx(row["goals"] / 12, abs=1e-6)
        assert row["low"] <= row["share"] <= row["high"]
        assert sum(row["causes"].values()) == row["goals"]
        assert len(row["examples"]) == min(3, row["goals"])


def test_equal_runs_are_explained_alike(run: RunFolder) -> None:
    assert json.dumps(explain_run(run)) == json.dumps(explain_run(run))


def test_examples_are_of_as_many_causes_as_there_are(run: RunFolder) -> None:
    for row in explain_run(run)["stages"]:
        shown = {example["cause"] for example in row["examples"]}
        assert len(shown) == min(3, len(row["causes"]))


def test_the_order_of_the_files_does_not_matter(run: RunFolder) -> None:
    before = stages(explain_run(run))
    for name in ("tasks.jsonl", "trajectories.jsonl", "scores.jsonl"):
        put(run.path / name, lines(run.path / name)[::-1])
    assert stages(explain_run(run)) == before


def test_a_run_without_scores_says_how_to_get_them(run: RunFolder) -> None:
    run.scores_path.unlink()
    with pytest.raises(DataError, match=r"not scored.*seal score"):
        explain_run(run)


def test_a_run_without_chats_has_nothing_to_explain(run: RunFolder) -> None:
    put(run.trajectories_path, [])
    with pytest.raises(DataError, match=r"holds no chat.*seal run"):
        explain_run(run)


def test_chats_that_are_missing_are_counted(run: RunFolder) -> None:
    put(run.trajectories_path, lines(run.trajectories_path)[:10])
    found = explain_run(run)
    assert (found["goals"], found["excluded"]) == (10, {"not played": 2})


def test_trials_that_are_missing_are_named_apart_from_tasks(run: RunFolder) -> None:
    chats = [json.loads(line) for line in lines(run.trajectories_path)]
    again = [json.dumps(chat | {"trial": 1}) + "\n" for chat in chats[:3]]
    put(run.trajectories_path, [*lines(run.trajectories_path)[:4], *again])
    manifest = json.loads((run.path / "run.json").read_text("utf-8"))
    for trials in ({"trials": 2}, {"trials": None}):
        measure = manifest["measure"] | trials
        run.write_json("run.json", manifest | {"measure": measure})
        found = explain_run(run)
        assert found["missing"]["tasks"] == [chat["task_id"] for chat in chats[4:]]
        assert found["missing"]["trials"] == [{"task": chats[3]["task_id"], "trial": 1}]
        assert found["excluded"]["not played"] == 16
        assert found["excluded"]["trial not played"] == 1
    told = "\n".join(notes(found))
    assert f"missing from the run: 8 tasks: {chats[4]['task_id']}, " in told
    assert f"1 trials of other tasks: {chats[3]['task_id']} trial 1" in told


def test_variants_of_a_task_are_drawn_together(run: RunFolder) -> None:
    apart = explain_run(run, "mission_accuracy")
    tasks = [json.loads(line) for line in lines(run.path / "tasks.jsonl")]
    for place, task in enumerate(tasks):
        task["metadata"] = {**task["metadata"], "base": f"family-{place // 6}"}
    put(run.path / "tasks.jsonl", [json.dumps(task) + "\n" for task in tasks])
    found = explain_run(run, "mission_accuracy")
    assert (apart["tasks"], apart["clusters"]) == (12, 12)
    assert (found["tasks"], found["clusters"]) == (12, 2)
    assert [r["share"] for r in found["stages"]] == [r["share"] for r in apart["stages"]]
    assert [r["low"] for r in found["stages"]] != [r["low"] for r in apart["stages"]]
    assert "12 tasks in 2 families" in "\n".join(notes(found))


def test_goals_without_scores_are_counted(run: RunFolder) -> None:
    first = json.loads(lines(run.scores_path)[0])["task_id"]
    put(run.scores_path, [s for s in lines(run.scores_path) if f'"{first}"' not in s])
    found = explain_run(run)
    assert (found["goals"], found["excluded"]) == (11, {"not scored": 1})


@pytest.mark.parametrize("name", ["trajectories.jsonl", "scores.jsonl", "tasks.jsonl"])
def test_a_torn_last_line_is_counted_and_the_rest_explained(run: RunFolder, name: str) -> None:
    whole = (run.path / name).read_bytes()
    (run.path / name).write_bytes(whole[:-30])
    found = explain_run(run)
    assert found["goals"] in (11, 12)
    assert found["excluded"][f"torn last line: {name}"] == 1


@pytest.mark.parametrize("name", ["trajectories.jsonl", "scores.jsonl", "tasks.jsonl"])
def test_a_damaged_line_is_named(run: RunFolder, name: str) -> None:
    kept = lines(run.path / name)
    put(run.path / name, [kept[0], "{}\n", *kept[1:]])
    with pytest.raises(DataError, match=rf"{name}, line 2"):
        explain_run(run)


def test_scores_of_another_run_are_refused(run: RunFolder) -> None:
    score = json.loads(lines(run.scores_path)[0])
    put(run.scores_path, [json.dumps(score | {"task_id": "elsewhere"}) + "\n"])
    with pytest.raises(DataError, match=r"of another run.*seal score"):
        explain_run(run)


def test_a_metric_that_nobody_scored_is_refused(run: RunFolder) -> None:
    with pytest.raises(UsageError, match=r"no goal .* value of the metric 'fac'"):
        explain_run(run, metric="fac")


def test_another_metric_decides(run: RunFolder) -> None:
    found = explain_run(run, metric="call_recall")
    assert found["decided_by"].keys() == {"call_recall"}
    assert found["excluded"]


def test_a_tool_is_lost_for_goals_for_which_a_retriever_was_asked(run: RunFolder) -> None:
    chats = [json.loads(line) for line in lines(run.trajectories_path)]
    chats[0]["offered"] = [[]]
    chats[1] |= {"offered": [[]], "rankings": []}
    put(run.trajectories_path, [json.dumps(chat) + "\n" for chat in chats])
    lost, needed, relevant = Counter[str](), Counter[str](), {t.id: t.goals[0] for t in run.tasks()}
    for chat in (chats[0], *chats[2:]):
        tools = set(relevant[chat["task_id"]].relevant)
        needed.update(tools)
        lost.update(tools.difference(chat["offered"][0]))
    rows = seal.explain(run).tools_lost
    assert {row.tool: (row.lost, row.needed) for row in rows} == {
        tool: (count, needed[tool]) for tool, count in lost.items()
    }
    assert f"{rows[0].lost} of {rows[0].needed}" in lost_tools(explain_run(run)).rows[0]


@pytest.mark.parametrize(
    ("offered", "hits", "told"),
    [
        (
            ["a b", "a b"],
            ["a b", "b a"],
            ["no tool that gold needs was below the cut-off of 2, in 2 "],
        ),
        (
            ["a b", "a b c"],
            ["a b", "c d a"],
            ["had a tool from an earlier goal of the chat alone: 1 "],
        ),
        (["a", "a b"], ["a", "b"], ["lacked a tool: 1 of 2 ", "had a tool from an earlier goal"]),
        (["", ""], ["", ""], ["lacked a tool: 2 of 2 "]),
        ([], [], []),
    ],
)
def test_tools_that_are_lost_or_kept_from_an_earlier_goal_are_told(
    offered: list[str], hits: list[str], told: list[str]
) -> None:
    goals = tuple(Goal(text, relevant=("a", "b")) for text in ("first", "second"))
    found = (tuple((tool, 1.0) for tool in it.split()) for it in hits)
    rankings = tuple(Ranking("t", goal, "q", it) for goal, it in enumerate(found))
    chat = Trajectory(
        "t", 0, (), rankings=rankings, offered=tuple(tuple(it.split()) for it in offered)
    )
    needs = Needs(2)
    needs.add(Task("t", "own", goals), chat)
    lines = [*lost_notes({"tools_lost": needs.lost_of({}), "tools_needed": needs.told()})]
    assert len(lines) == len(told) and all(map(str.startswith, lines, told))


def test_explanations_of_every_form_say_how_many_goals_lacked_a_tool(run: RunFolder) -> None:
    why = seal.explain(run)
    needed = why.content["tools_needed"]
    told = f"lacked a tool: {needed['lost']} of {needed['goals']} goals"
    assert needed["lost"] and needed["k"] == 10
    for shown in (
        str(why),
        terminal_text(explanation_tables(why.content)),
        str(section(lanes_of([run]))),
    ):
        assert told in " ".join(shown.split())


def test_a_page_folds_the_tools_that_its_table_has_no_room_for(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = len(seal.explain(run).tools_lost)
    title = f"{lost} of {counted(lost, 'lost tool')}"
    assert title not in str(section(lanes_of([run])))
    monkeypatch.setattr(explanation, "LOST", lost - 1)
    assert title in str(section(lanes_of([run])))


def test_files_are_written_and_equal(run: RunFolder, tmp_path: Path) -> None:
    found = seal.explain(run, out=tmp_path / "out").content
    written = json.loads((tmp_path / "out" / "explanation.json").read_text("utf-8"))
    assert written["stages"] == found["stages"]
    first = (tmp_path / "out" / "figures" / "waterfall.svg").read_bytes()
    seal.explain(run, out=tmp_path / "out")
    assert (tmp_path / "out" / "figures" / "waterfall.svg").read_bytes() == first


def test_a_folder_of_something_else_is_left_alone(run: RunFolder, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("chapter 1", "utf-8")
    with pytest.raises(UsageError, match=r"holds something else.*thesis\.tex"):
        seal.explain(run, out=tmp_path / "out")


def test_each_goal_that_failed_is_a_row_of_every_form(run: RunFolder, tmp_path: Path) -> None:
    why = seal.explain(run.path, out=tmp_path / "why")
    rows = why.content["attributions"]
    frame = why.frame
    assert list(frame["task"]) == [row["task"] for row in rows] and len(rows) == len(frame) > 0
    with (tmp_path / "why" / "goals.csv").open(encoding="utf-8", newline="") as file:
        written = list(csv.DictReader(file))
    assert [(it["task"], it["stage"], it["evidence"]) for it in written] == [
        (row["task"], row["stage"], row["evidence"]) for row in rows
    ]
    with (tmp_path / "why" / "tools_lost.csv").open(encoding="utf-8", newline="") as file:
        names = [it["name"] for it in csv.DictReader(file)]
    assert names == [row.name for row in why.tools_lost]
    texts = [
        (cells[name], row[name])
        for cells, row in zip(written, rows, strict=True)
        for name in ("expected", "received")
        if isinstance(row[name], str)
    ]
    assert texts and all(cell == text for cell, text in texts)
    latex = (tmp_path / "why" / "goals.tex").read_text("utf-8")
    assert latex.count(" \\tabularnewline\n") == len(rows)
    seal.explain(run.path, out=tmp_path / "why")  # the same folder takes it again
