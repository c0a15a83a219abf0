"""The language of an import, as the command line takes it."""

import json
from pathlib import Path

import pytest
from mmtb_sources import SINGLE, record, write_records

from seal.cli.dispatch import main


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "records.jsonl"
    write_records(path, record(SINGLE))
    return path


def test_language_is_short_for_the_task_option(source: Path, tmp_path: Path, capsys) -> None:
    words = ["import", "mmtb", str(source), "--out", str(tmp_path / "pool"), "--json"]
    assert main([*words, "--language", "en"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert main([*words, "-T", "language=en"]) == 0
    assert json.loads(capsys.readouterr().out)["digest"] == first["digest"]


@pytest.mark.parametrize(
    ("benchmark", "more", "told"),
    [
        ("mmtb", ["-T", "language=zh"], "--language en and -T language=zh: give one"),
        ("bfcl", [], "no option -T of bfcl 'language'"),
    ],
)
def test_a_language_that_cannot_be_meant_is_refused(
    source: Path, tmp_path: Path, capsys, benchmark: str, more: list[str], told: str
) -> None:
    words = ["import", benchmark, str(source), "--out", str(tmp_path / "pool")]
    assert main([*words, "--language", "en", *more]) == 2
    assert told in capsys.readouterr().err
