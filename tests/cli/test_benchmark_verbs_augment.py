"""`seal augment`, and what `seal benchmarks` tells of a pool, as processes."""

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


def test_what_a_pool_folder_holds_needs_no_upstream_files(seal, tmp_path: Path) -> None:
    assert seal("augment", "toolsandbox-sample", "--augment", "toolsandbox", "--out", "pool")
    told = json.loads(seal("benchmarks", "pool", "--json").stdout)
    assert (told["benchmark"], told["counts"]["tasks"]) == ("toolsandbox-sample", 424)
    assert "tools_with_queries" in seal("benchmarks", "pool").stdout
    (tmp_path / "empty").mkdir()
    failed = seal("benchmarks", "empty")
    assert (failed.returncode, "is no pool" in failed.stderr) == (2, True)


def test_the_option_that_went_says_what_replaces_it(seal) -> None:
    failed = seal("benchmarks", "toolsandbox", "--run", "run")
    assert failed.returncode == 2
    assert "--run is gone from 'seal benchmarks': 'seal paper toolsandbox RUN'" in failed.stderr
