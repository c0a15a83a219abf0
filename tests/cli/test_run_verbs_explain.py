"""`seal explain` from the command line."""

import json
from pathlib import Path

import pytest

import seal
from seal.cli.dispatch import main


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("explain")
    seal.run(limit=12, baselines=False, out=folder / "run", cache_dir=folder / "cache")
    return folder / "run"


def test_it_prints_the_waterfall_and_examples(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", str(run)]) == 0
    printed = capsys.readouterr().out
    assert "why goals failed" in printed
    assert "decided by pass_rate 12" in printed
    assert "evidence: " in printed


def test_json_is_one_object(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(run), "--json", "--examples", "0"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["goals"] == 12
    assert not any(row["examples"] for row in found["stages"])


def test_a_folder_that_is_no_run_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", str(tmp_path)]) == 2
    assert "no run folder" in capsys.readouterr().err
