"""LiveMCPBench: tools by server, recorded runs and searches, what people and judges said."""

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from livemcp_sources import RUN, runs, tools, write_source

from seal.core import FIND_TOOLS, DataError, UnknownNameError, UsageError
from seal.experiments.judging import audit_run
from seal.pools.imports import import_benchmark
from seal.pools.pool import load_pool
from seal.report.judge_sections import judge_section
from seal.report.lanes import lanes_of
from seal.runs.finished import import_run, rescore
from seal.runs.run import RunFolder
from seal.runs.settings import ScoreSettings


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_source(tmp_path / "upstream")


@pytest.fixture
def run(source: Path, tmp_path: Path) -> RunFolder:
    import_run("livemcpbench", source, tmp_path / "run")
    return RunFolder(tmp_path / "run")


def test_tools_of_one_name_are_kept_apart_by_server(source: Path, tmp_path: Path) -> None:
    import_benchmark("livemcpbench", source, tmp_path / "pool")
    found = [(tool.id, tool.name, tool.category) for tool in load_pool(tmp_path / "pool").tools()]

    assert found == [
        ("livemcpbench/harbour/search", "harbour_search", "harbour"),
        ("livemcpbench/harbour/high_tide", "high_tide", "harbour"),
        ("livemcpbench/charts/search", "charts_search", "charts"),
        ("livemcpbench/charts/read_line", "read_line", "charts"),
        ("livemcpbench/disk 1/write_file", "write_file", "disk 1"),
    ]


def test_relevant_are_the_annotators_tools_and_unknown_names_are_told(
    source: Path, tmp_path: Path
) -> None:
    report = import_benchmark("livemcpbench", source, tmp_path / "pool")
    ferry, tide, chart = (task.goals[0] for task in load_pool(tmp_path / "pool").every_task())

    # Nothing tells whose `search` the ferry needs; `read_line` tells whose the chart needs.
    assert ferry.relevant == ("livemcpbench/harbour/search", "livemcpbench/charts/search")
    assert chart.relevant == ("livemcpbench/charts/search", "livemcpbench/charts/read_line")
    assert (tide.relevant, tide.answers) == (("livemcpbench/harbour/high_tide",), ())
    assert chart.answers == ("shoal",)
    assert report.facts["unknown_tools"] == ["save"]
    assert report.facts["counts"]["named_tools_of_several_servers"] == 1


def test_a_search_is_a_call_of_find_tools_and_a_ranking(run: RunFolder) -> None:
    ferry, tide, _ = run.trajectories()
    searched, called = (step.call for step, _ in ferry.calls() if step.call)

    assert (searched.name, searched.tool) == ("find_tools", FIND_TOOLS)
    (ranking,) = ferry.rankings
    assert ranking.query == "server: sea\ntool: ferries"
    assert [tool for tool, _ in ranking.hits] == [
        "livemcpbench/harbour/search",
        "livemcpbench/harbour/high_tide",
    ]
    assert (called.name, called.arguments) == ("harbour_search", {"query": "Oban"})
    assert tide.rankings[0].hits == ranking.hits  # of a text that was cut


def test_results_are_what_the_servers_answered(run: RunFolder) -> None:
    results = {
        (trajectory.task_id.rpartition("/")[2], number): answered.result
        for trajectory in run.trajectories()
        for number, (_, answered) in enumerate(trajectory.calls())
        if answered is not None and answered.result is not None
    }

    assert results["ferry", 1].value == {"leaves": "9:40"}
    assert results["ferry", 1].error is None
    assert results["chart", 1].error == {"kind": "service", "message": "line: expected a number"}
    assert results["tide", 1].error is not None
    assert results["tide", 1].error["kind"] == "unknown_tool"
    assert results["tide", 2].error == {"kind": "service", "message": "Tool call timed out."}


def test_a_recorded_run_is_played_as_it_was(source: Path, run: RunFolder, tmp_path: Path) -> None:
    import seal

    import_benchmark("livemcpbench", source, tmp_path / "pool")
    played = seal.run(
        tmp_path / "pool", model=f"recorded:{RUN}", simulator="recorded", retrieve="on-demand",
        retriever="bm25", baselines=False,
    )  # fmt: skip

    recorded = {chat.task_id: chat for chat in run.trajectories()}
    for chat in played.folder.trajectories():
        assert chat.answers == recorded[chat.task_id].answers
        assert [step.call and step.call.arguments for step, _ in chat.calls()] == [
            step.call and step.call.arguments for step, _ in recorded[chat.task_id].calls()
        ]


def test_queries_of_the_agent_are_tasks_of_their_own(source: Path, tmp_path: Path) -> None:
    import_benchmark("livemcpbench", source, tmp_path / "pool", queries="route")
    ferry, tide, _ = load_pool(tmp_path / "pool").every_task()

    assert (ferry.id, ferry.goals[0].text) == (
        "livemcpbench/ferry/0",
        "server: sea\ntool: ferries",
    )
    assert ferry.goals[0].relevant == ("livemcpbench/harbour/search",)
    assert ferry.goals[0].offered == (
        "livemcpbench/harbour/search",
        "livemcpbench/harbour/high_tide",
    )
    assert tide.goals[0].relevant == ("livemcpbench/harbour/high_tide",)


def test_judges_are_held_against_people_and_against_each_other(
    run: RunFolder, source: Path
) -> None:
    rescore(run.path, ScoreSettings(verdicts=source / "evaluator" / "output"))
    found = audit_run(run, source / "baseline" / "annotation" / f"{RUN}.json")["pass_rate"]

    mild, strict = found["people"]["judges"]
    assert [mild["judge"], strict["judge"]] == ["mild", "strict"]
    assert (mild["agreement"], mild["over"], mild["under"]) == (0.666667, 1, 0)
    assert (strict["agreement"], strict["over"], strict["under"]) == (0.666667, 0, 1)
    assert (strict["kappa"], mild["kappa"]) == (0.4, 0.0)
    (pair,) = found["people"]["pairs"]
    assert (pair["only"], pair["only_other"], pair["p"], pair["p_holm"]) == (1, 1, 1.0, 1.0)
    wrong = {goal["task"]: goal["wrong"] for goal in found["people"]["goals"]}
    assert wrong == {"livemcpbench/ferry": ["strict"], "livemcpbench/tide": ["mild"]}
    page = str(judge_section(lanes_of([run])))
    assert "each judge against people" in page
    assert "0 of 1 pair of judges differ in how often they are right" in page


def test_files_of_judges_may_lie_in_one_folder_packed(run: RunFolder, tmp_path: Path) -> None:
    for judge, label in (("a", "success"), ("b", "failure")):
        records = [{"task_id": one["task_id"], "judge": label} for one in runs()]
        packed = gzip.compress(json.dumps(records).encode())
        (tmp_path / "judges").mkdir(exist_ok=True)
        (tmp_path / "judges" / f"{judge}.json.gz").write_bytes(packed)
    summary = rescore(run.path, ScoreSettings(verdicts=tmp_path / "judges"))

    assert summary["judging"]["pass_rate"]["judges"] == ["a", "b"]
    assert summary["judging"]["pass_rate"]["votes"] == 2


def test_labels_of_people_are_verdicts_too(run: RunFolder, source: Path) -> None:
    labels = source / "baseline" / "annotation"
    assert (
        rescore(run.path, ScoreSettings(verdicts=labels))["metrics"]["pass_rate"]["mean"]
        == 0.666667
    )


def spoilt(source: Path, name: str, change: Any) -> Path:
    path = next(source.rglob(name))
    records = json.loads(path.read_text())
    change(records)
    path.write_text(json.dumps(records))
    return path


@pytest.mark.parametrize("calls", [5.0, {"id": "1"}, "route"])
def test_a_run_whose_calls_are_no_list_is_malformed(
    source: Path, tmp_path: Path, calls: Any
) -> None:
    def change(records: Any) -> None:
        said = next(m for m in records[0]["messages"] if m["role"] == "assistant")
        said["tool_calls"] = calls

    spoilt(source / "baseline", f"{RUN}.json", change)
    report = import_benchmark("livemcpbench", source, tmp_path / "pool")

    assert report.dropped["malformed_record"] >= 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda all: all[0].update(response="Another."), "1 of 3 answers are not those of"),
        (lambda all: all[0].pop("judge"), "the field 'task_success' is missing"),
        (lambda all: all.append(all[0]), "task 'ferry' stood before"),
        (lambda all: all.clear(), "no verdicts"),
    ],
)  # fmt: skip
def test_verdicts_that_cannot_be_are_refused(
    run: RunFolder, source: Path, change: Any, said: str
) -> None:
    (folder,) = (source / "evaluator" / "output").glob("mild")
    spoilt(folder, f"{RUN}.json", change)
    with pytest.raises(DataError, match=said):
        rescore(run.path, ScoreSettings(verdicts=folder))


def test_a_source_without_one_recording_makes_no_run(source: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds the recordings none; expected one"):
        import_run("livemcpbench", source, tmp_path / "run", {"queries": "route"})
    assert not (tmp_path / "run").exists()


def test_a_record_that_cannot_be_read_is_left_out_and_counted(source: Path, tmp_path: Path) -> None:
    spoilt(source, "tools.json", lambda all: all.append(tools()[0]))
    spoilt(source, "all_annotations.json", lambda all: all[1].pop("Question"))
    report = import_benchmark("livemcpbench", source, tmp_path / "pool")

    assert report.dropped == {"duplicate_tool": 2, "malformed_record": 1, "runs_without_task": 1}
    assert (report.tools, report.tasks) == (5, 2)
    with pytest.raises(UnknownNameError, match="value of -T queries 'rout'"):
        import_benchmark("livemcpbench", source, tmp_path / "pool", queries="rout")


def test_upstreams_files_have_the_published_counts(seal_data: Path, tmp_path: Path) -> None:
    folder = seal_data / "livemcpbench"
    report = import_benchmark("livemcpbench", folder, tmp_path / "pool")

    assert (report.tasks, report.tools, report.dropped) == (95, 527, {})
    assert len({tool.category for tool in load_pool(tmp_path / "pool").tools()}) == 70
    counts = report.facts["counts"]
    assert (counts["named_tools"], counts["named_tools_unknown"]) == (256, 5)
    assert (counts["runs"], counts["searches"], counts["calls"]) == (95, 283, 531)
    queries = import_benchmark("livemcpbench", folder, tmp_path / "queries", queries="route")
    assert queries.tasks == 283


@pytest.mark.slow
def test_the_table_of_human_agreement_is_reproduced(seal_data: Path, tmp_path: Path) -> None:
    from sklearn.metrics import cohen_kappa_score

    folder = seal_data / "livemcpbench"
    import_run("livemcpbench", folder, tmp_path / "run")
    run = RunFolder(tmp_path / "run")
    rescore(run.path, ScoreSettings(verdicts=folder / "judges"))
    (people,) = folder.glob("claude-*.json.gz")
    found = audit_run(run, people)["pass_rate"]["people"]

    with (folder / "human_agreement.csv").open() as lines:
        published = {row.pop("Model"): row for row in csv.DictReader(lines)}
    assert round(100 * found["solved_of_reference"], 2) == float(
        published.pop("human")["success_rate"]
    )
    ours = {
        judge["judge"]: {
            "human_agreement": str(round(100 * judge["agreement"], 2)),
            "success_rate": str(round(100 * judge["solved"], 2)),
        }
        for judge in found["judges"]
    }
    assert ours == published
    labelled = json.loads(gzip.decompress(people.read_bytes()))
    right = {one["task_id"]: one["task_success"] == "success" for one in labelled}
    for judge in found["judges"]:
        packed = (folder / "judges" / f"{judge['judge']}.json.gz").read_bytes()
        records = json.loads(gzip.decompress(packed))
        said = {one["task_id"]: "success" in one["judge"].lower() for one in records}
        expected = cohen_kappa_score([said[task] for task in right], list(right.values()))
        assert judge["kappa"] == pytest.approx(expected, abs=1e-6)
        assert judge["low"] < judge["kappa"] < judge["high"]
    sure = [(p["judge"], p["other"]) for p in found["pairs"] if p["p_holm"] < 0.05]
    assert sure == [
        ("openai_gpt-4.1-mini", "deepseek_deepseek-r1-0528"),
        ("qwen25_72b_int4_instruct", "deepseek_deepseek-r1-0528"),
    ]
