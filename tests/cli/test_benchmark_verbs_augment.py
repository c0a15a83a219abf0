"""`seal augment`, and the statistics of `seal benchmarks toolsandbox`, as processes."""

import json
from pathlib import Path

import pytest


def test_an_augmented_copy_is_written_and_can_be_played(seal, tmp_path: Path) -> None:
    words = ["--augment", "distraction=3,names", "--augment", "distraction=all", "--out", "pool"]
    done = seal("augment", "sample", *words, "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["augmentations"] == {
        "3_distraction_tools_tool_name_scrambled": 72,
        "all_tools": 80,
    }
    assert json.loads((tmp_path / "pool" / "import.json").read_bytes()) == report


def test_the_report_of_augmented_tasks_shows_them_by_augmentation(seal, tmp_path: Path) -> None:
    seal("augment", "sample", "--augment", "distraction=3,names", "--out", "pool")
    words = ["--model", "oracle", "--no-baselines", "--limit", 3, "--out", "run"]
    played = seal("run", "pool", *words)
    assert played.returncode == 0, played.stderr
    assert "TNS, tool names scrambled" in (tmp_path / "run" / "report.html").read_text()


def test_only_the_same_augmentation_is_replaced(seal, tmp_path: Path) -> None:
    words = ["augment", "sample", "--out", "pool", "--augment"]
    assert [seal(*words, "distraction=3").returncode for _ in range(2)] == [0, 0]
    before = (tmp_path / "pool" / "import.json").read_bytes()

    other = seal(*words, "distraction=4")
    another = seal("augment", "toolsandbox-sample", *words[2:], "distraction=3")

    for failed in (other, another):
        assert (failed.returncode, failed.stdout) == (2, "")
        assert "augmented by 3_distraction_tools: choose a new folder" in failed.stderr
    assert (tmp_path / "pool" / "import.json").read_bytes() == before


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["sample", "--augment", "naems"], "Did you mean 'names'?"),
        (["sample", "--augment", "distraction=-3"], "expected a number of tools from 0, or all"),
        (["sample", "--augment", "names", "--augment", "descriptions"], "in one way only"),
        (["smaple", "--augment", "names"], "Did you mean 'sample'?"),
        (["sample"], "Missing option '--augment'"),
    ],
)
def test_what_cannot_be_augmented_is_one_clear_line(seal, words: list[str], told: str) -> None:
    failed = seal("augment", *words, "--out", "pool")
    assert (failed.returncode, failed.stdout) == (2, "")
    assert told in failed.stderr
    assert failed.stderr.count("\n") == 1


@pytest.mark.slow
def test_the_statistics_of_scenarios_stand_beside_the_benchmark(seal, seal_data: Path) -> None:
    data = {"SEAL_DATA": str(seal_data)}
    shown = seal("benchmarks", "toolsandbox", **data).stdout
    assert "give --run RUN" in shown
    assert "message.calls" in shown
    select = ["--select", "group=get_wifi", "--select", "augmentation=all_tools"]
    played = seal("run", "toolsandbox", *select, "--no-baselines", "--out", "run", **data)
    assert played.returncode == 0, played.stderr
    told = seal("benchmarks", "toolsandbox", "--run", "run", "--json", **data).stdout
    figures = json.loads(told)["figures"]
    assert (figures["scenarios"], figures["bases"]) == (1032, 129)
    assert figures["turns"] > 0


def test_the_statistics_of_a_pool_folder_need_no_upstream_files(seal, tmp_path: Path) -> None:
    assert seal("augment", "toolsandbox-sample", "--augment", "toolsandbox", "--out", "pool")
    told = json.loads(seal("benchmarks", "pool", "--json").stdout)
    assert (told["benchmark"], told["counts"]["tasks"]) == ("toolsandbox-sample", 424)
    tools = told["figures"]["tools_by_augmentation"]
    assert tools["all_tools"] > tools["10_distraction_tools"] > tools["no_distraction_tools"]
    shown = seal("benchmarks", "pool").stdout
    assert "tools offered, over all augmentations" in shown
    assert "tools offered, by augmentation" in shown
    (tmp_path / "empty").mkdir()
    failed = seal("benchmarks", "empty")
    assert (failed.returncode, "is no pool" in failed.stderr) == (2, True)


def test_without_files_there_are_no_statistics_and_it_says_so(seal) -> None:
    shown = " ".join(seal("benchmarks", "toolsandbox").stdout.split())
    assert "no statistics: no files under SEAL_DATA; set it to the folder that holds" in shown
    assert "name the pool: seal benchmarks POOL" in shown
    assert json.loads(seal("benchmarks", "sgd", "--json").stdout)["figures"] is None


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--run", "run"], "--run needs the benchmark that was played"),
        (["sgd", "--run", "run"], "dialogtool has no statistics of runs"),
        (["toolsandbox", "--run", "nowhere"], "nowhere is no run folder"),
    ],
)
def test_a_run_that_cannot_be_counted_is_one_clear_line(seal, words: list[str], told: str) -> None:
    failed = seal("benchmarks", *words)
    assert failed.returncode == 2
    assert told in failed.stderr
