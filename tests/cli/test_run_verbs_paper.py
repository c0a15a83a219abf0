"""`seal paper`: the tables of a paper from the command line."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import seal
from seal.cli.dispatch import main
from seal.pools.counts import environments_of
from seal.pools.lookup import open_pool


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with a run of two benchmarks whose papers have tables, and one of another."""
    folder = tmp_path_factory.mktemp("paper")
    for bench in ("toolscan-sample", "mmtb-sample", "sample"):
        out = folder / bench
        seal.run(bench, limit=4, baselines=False, out=out, cache_dir=folder / "cache")
    return folder


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")


def told(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    assert main(["paper", *map(str, words)]) == 0
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    assert main(["paper", *map(str, words)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


def test_a_name_alone_lists_its_tables_with_what_each_is_made_of(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shown = told(capsys, "toolscan")
    assert "table-4" in shown
    assert "seal run toolscan" in shown
    found = json.loads(told(capsys, "dialogtool", "--json"))
    names = [each["name"] for each in found["tables"]]
    assert [f"table-{n}" for n in range(1, 9)] == [n for n in names if n.startswith("table")]


def test_a_table_without_a_folder_has_the_published_rows(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    found = json.loads(told(capsys, "toolscan", "--table", "table-4", "--json"))
    (table,) = found["tables"]
    assert len(table["rows"]) == 13
    assert {row["whose"] for row in table["rows"]} == {"published"}
    assert told(capsys, "toolsandbox", "--out", tmp_path / "t.txt").startswith("text: ")
    assert (tmp_path / "t.txt").read_text().count("ToolSandbox, Table") == 11


def test_runs_stand_below_the_published_rows(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = told(capsys, "toolscan", runs / "toolscan-sample", "--table", "table-4")
    assert "GPT-4-0125" in shown
    assert "here, stand-in" in shown
    assert "minus GPT-4-0125" not in shown
    assert "they are of toolscan-sample, not those of the paper" in shown
    rows = json.loads(told(capsys, "toolscan", runs / "toolscan-sample", "--json"))
    (table,) = (each for each in rows["tables"] if each["name"] == "table-4")
    assert (table["rows"][-1]["whose"], table["rows"][-1]["what"]) == ("here", "stand-in")


def test_patterns_have_examples_and_what_the_agent_was_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run = tmp_path / "slips"
    settings: dict[str, Any] = {"model_options": {"slips": 0.5}, "baselines": False}
    seal.run("toolscan-sample", limit=12, feedback="on", out=run, cache_dir=tmp_path, **settings)
    found = json.loads(told(capsys, "toolscan", run, "--json"))
    tables = {each["name"]: each["rows"] for each in found["tables"]}
    patterns = {row["name"]: row["figures"] for row in tables["table-2"]}
    assert list(patterns) == ["IAC", "RAC", "IAV", "IFE", "IAT", "IAN", "IFN"]
    assert patterns["IFN"]["errors"] >= 1
    assert "unknown_tool" in patterns["IFN"]["example"]
    feedback = {row["name"]: row["figures"] for row in tables["table-9"]}
    assert "There is no tool named" in feedback["IFN"]["what the agent is told"]
    summary = json.loads((run / "summary.json").read_bytes())["metrics"]
    ours = next(row["figures"] for row in tables["table-4"] if row["whose"] == "here")
    assert ours["IFN"] == summary["toolscan_ifn"]["mean"]
    assert ours["Success Rate"] == summary["toolscan_success"]["mean"]


def test_a_run_of_the_phone_stands_in_every_table_of_its_paper(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    seal.run("toolsandbox-sample", limit=4, baselines=False, out=run, cache_dir=tmp_path)
    found = json.loads(told(capsys, "toolsandbox", run, "--json"))
    tables = {each["name"]: each for each in found["tables"]}
    # The sample asks nothing of the columns of Table 7.
    assert list(tables) == [f"table-{n}" for n in (*range(1, 7), 8, 9, 11)]
    (size,) = (row for row in tables["table-4"]["rows"] if row["whose"] == "here")
    summary = json.loads((run / "summary.json").read_bytes())["metrics"]
    assert size["figures"]["Avg Turns"] == pytest.approx(summary["turn_count"]["mean"])
    assert size["figures"]["Avg Tool calls"] == pytest.approx(summary["calls"]["mean"])
    assert size["figures"]["Test cases"] == 4
    assert size["figures"]["Tools"] == 34
    (asked,) = (row for row in tables["table-1"]["rows"] if row["whose"] == "here")
    assert set(asked["figures"]) == {"State Dependency", "Conversational", "Interactive"}


def test_an_environment_has_one_similarity_of_names(
    runs: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    shutil.copytree(runs / "toolscan-sample", run)
    pool = open_pool("toolscan-sample")
    counted = {one.name: one.similarity_strict for one in environments_of(pool)}

    def shown() -> dict[str, Any]:
        words = (run, "--table", "figure-similarity", "--json")
        (table,) = json.loads(told(capsys, "toolscan", *words))["tables"]
        return {row["name"]: row["figures"].get("J_avg strict") for row in table["rows"]}

    found = shown()
    assert found == {name: pytest.approx(counted[name]) for name in found}
    manifest = json.loads((run / "run.json").read_bytes())
    del manifest["pseudo_actions"]  # as earlier versions wrote it
    (run / "run.json").write_text(json.dumps(manifest))
    assert set(shown().values()) <= {None}


def test_dialogues_are_counted_in_the_tasks_that_are_there(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pool = tmp_path / "pool"
    shutil.copytree(open_pool("dialogtool-sample").folder, pool)
    lines = (pool / "tasks.jsonl").read_bytes().splitlines(keepends=True)
    some = [line for line in lines if json.loads(line).get("metadata", {}).get("turns")][:5]
    (pool / "tasks.jsonl").write_bytes(b"".join(some))
    found = json.loads(told(capsys, "dialogtool", pool, "--json"))
    (table,) = (each for each in found["tables"] if each["name"] == "table-2")
    ours = {row["name"]: row["figures"] for row in table["rows"] if row["whose"] == "pool"}
    assert set(ours["# of Dialogues"].values()) == {5}
    turns = sum(json.loads(line)["metadata"]["turns"] for line in some)
    assert set(ours["# of Turns"].values()) == {turns}


def test_missions_of_another_benchmark_stand_in_the_table_of_data_sets(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = json.loads(told(capsys, "mmtb", runs / "sample", "--json"))
    assert [each["name"] for each in found["tables"]] == ["table-1"]
    ours = found["tables"][0]["rows"][-1]
    assert (ours["whose"], ours["figures"]["missions"] > 0) == ("here", True)


def test_a_folder_that_is_given_twice_stands_once(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = runs / "toolscan-sample"
    assert told(capsys, "toolscan", run, run) == told(capsys, "toolscan", run)


def test_every_table_of_missions_is_there_and_the_heat_map_has_colours(
    runs: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run = runs / "mmtb-sample"
    found = json.loads(told(capsys, "mmtb", run, "--json"))
    names = [each["name"] for each in found["tables"]]
    assert names == ["table-1", "table-2", "table-3", "table-4", "figure-8", "heat-map"]
    assert told(capsys, "mmtb", run, "--out", tmp_path / "t.html").startswith("html: ")
    assert "heat heat-" in (tmp_path / "t.html").read_text()
    told(capsys, "mmtb", run, "--out", tmp_path / "t.tex")
    assert (tmp_path / "t.tex").read_text().count(r"\begin{table") == 6
    told(capsys, "mmtb", run, "--out", tmp_path / "t.txt")
    assert "Accuracy by type" in (tmp_path / "t.txt").read_text()


def test_any_pool_stands_in_the_tables_of_the_seal_paper(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = told(capsys, "seal", runs / "sample")
    assert "40,399" in shown
    assert "without table-3, ToolBench" in shown


def test_a_run_of_another_benchmark_is_refused(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(capsys, "toolscan", runs / "mmtb-sample")
    assert "is of mmtb-sample and stands in no table of toolscan" in said


def test_names_that_there_are_not_are_refused_with_those_there_are(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = runs / "toolscan-sample"
    assert "known: apigen, dialogtool" in refused(capsys, "nonsuch")
    assert "declares no tables of a paper" in refused(capsys, "sample", runs / "sample")
    assert "Did you mean 'table-3'" in refused(capsys, "toolscan", run, "--table", "table-33")


def test_a_damaged_folder_is_refused_with_the_repair(
    runs: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    shutil.copytree(runs / "toolscan-sample", run)
    (run / "summary.json").write_text("{")
    assert f"seal score {run}" in refused(capsys, "toolscan", run)
    (run / "summary.json").unlink()
    assert f"seal score {run}" in refused(capsys, "toolscan", run)
    shutil.copytree(runs / "mmtb-sample", tmp_path / "bare")
    (tmp_path / "bare" / "tools.jsonl").unlink()
    assert "without table-1" in told(capsys, "mmtb", tmp_path / "bare")
    assert "holds neither a run nor a pool" in refused(capsys, "toolscan", tmp_path)


@pytest.mark.slow
def test_the_counts_of_the_real_scenarios_are_the_papers(
    seal_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seal.import_benchmark("toolsandbox", seal_data / "toolsandbox", tmp_path / "pool")
    found = json.loads(told(capsys, "toolsandbox", tmp_path / "pool", "--json"))
    (table,) = (each for each in found["tables"] if each["name"] == "table-6")
    assert len(table["rows"]) == 3 * 7
    assert differences(table) == {0}
    for name, rows in (("table-7", 16), ("table-8", 17)):
        (table,) = (each for each in found["tables"] if each["name"] == name)
        assert len(table["rows"]) == 3 * rows
        assert differences(table) == {0}
        ours = [row["figures"] for row in table["rows"] if row["whose"] == "pool"]
        assert all(it["Associated Milestone Count"] == 8 * it["of bases"] for it in ours)


def differences(table: dict[str, Any]) -> set[float]:
    """Return what ours differ by from the published figures."""
    rows = (row["figures"] for row in table["rows"] if row["whose"].startswith("minus "))
    return {value for row in rows for value in row.values()}


def test_a_sweep_stands_below_the_published_pool_sizes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    metrics = {"recall@10": {"mean": 0.9}, "pass_rate": {"mean": 0.5}}
    entry = {"size": 50, "top_k": 10, "queries": 43.0, "metrics": metrics}
    origin = {"benchmark": "toolbench"}
    content = {"protocol": {}, "origin": origin, "rows": [], "results": [entry]}
    (tmp_path / "sweep.json").write_text(json.dumps(content))
    recall = "API retrieval recall@10"
    for name in ("toolbench", "seal"):
        found = json.loads(told(capsys, name, tmp_path, "--json"))
        table, figure = found["tables"]
        ours = [row for row in table["rows"] if row["whose"] == tmp_path.name]
        assert [(row["name"], row["figures"][recall]) for row in ours] == [("50 APIs", 0.9)]
        assert figure["name"] == "figure-4"
    assert "stands in no table of apigen" in refused(capsys, "apigen", tmp_path)


def test_a_sweep_of_any_benchmark_has_the_layout_of_table_3(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    entry = {"size": 20, "top_k": 5, "queries": 8, "metrics": {"pass_rate": {"mean": 0.25}}}
    content = {"protocol": {}, "origin": {"benchmark": "sample"}, "rows": [], "results": [entry]}
    (tmp_path / "sweep.json").write_text(json.dumps(content))
    found = json.loads(told(capsys, "seal", tmp_path, "--json"))
    assert [each["title"].partition(",")[0] for each in found["tables"]] == ["Other benchmarks"] * 2
    (row,) = found["tables"][0]["rows"]
    assert (row["name"], row["figures"]["Pass rate"]) == ("20 APIs", 0.25)


def test_an_experiment_in_retrieval_stands_in_figure_2(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    seal.retrieve(["sample"], retrievers=["bm25"], k=[5], out=tmp_path / "found")
    found = json.loads(told(capsys, "seal", tmp_path / "found", "--json"))
    (figure,) = found["tables"]
    assert (figure["name"], figure["rows"][0]["name"]) == ("figure-2", "bm25")


def test_a_life_of_tools_fills_the_tables_of_dialogues(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    seal.run("dialogtool-sample", limit=4, baselines=False, out=run, cache_dir=tmp_path / "cache")
    found = json.loads(told(capsys, "dialogtool", run, "--json"))
    tables = {each["name"]: each for each in found["tables"]}
    ours = tables["table-3"]["rows"][-1]["figures"]
    assert tables["table-3"]["rows"][-1]["what"] == "stand-in, judged by rules"
    summary = json.loads((run / "summary.json").read_bytes())["metrics"]
    assert ours["Awareness"] == pytest.approx(100 * summary["awareness"]["mean"])
    assert ours["Role"] == summary["role"]["mean"]
    lacking = "lexical lacks Human: ratings: seal annotate export RUN"
    assert any(note.startswith(lacking) for note in tables["table-3"]["notes"])
    headings = ["T.", "No T.", "Rec.", "API.", "Unn.", "missing call", "wrong API", "app"]
    assert list(tables["table-4"]["rows"][-1]["figures"]) == headings
    by_turns = {row["name"]: row["whose"] for row in tables["table-5"]["rows"]}
    assert set(by_turns) == {"10", "20", "30", "40"}


def test_an_ablation_is_a_run_a_condition(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "feedback"
    seal.ablate("feedback", "toolscan-sample", limit=2, out=out, cache_dir=tmp_path / "cache")
    shown = told(capsys, "toolscan", out, "--table", "table-4")
    assert "lexical (on)" in shown
    assert "lexical (off)" in shown
