"""`seal cache`: the store of answers, carried and checked."""

import json
import sqlite3
from pathlib import Path

import pytest

from seal.core.store import FILE_NAME, Store

ENTRY = {
    "key": "0" * 64,
    "tool": "sample/none/none",
    "arguments": {"city": "Oslo"},
    "response": {"degrees": 3},
    "error": "",
    "simulator": "template",
    "prompt_version": "1",
    "seed": 0,
    "created": "2025-01-01T00:00:00+00:00",
}


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    """A file as `seal cache export` writes it."""
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps(ENTRY) + "\n")
    return path


def test_answers_travel_from_store_to_file_to_store(seal, exported: Path, tmp_path: Path) -> None:
    first = json.loads(seal("cache", "import", exported, "--json").stdout)
    assert (first["imported"], first["known"]) == (1, 0)
    second = json.loads(seal("cache", "import", exported, "--json").stdout)
    assert (second["imported"], second["known"]) == (0, 1)
    out = seal("cache", "export", "out.jsonl", "--json")
    assert json.loads(out.stdout) == {"exported": 1, "damaged": 0}
    assert json.loads((tmp_path / "out.jsonl").read_text()) == ENTRY


def test_stores_are_merged_by_folder(called, exported: Path, tmp_path: Path) -> None:
    called("cache", "import", exported, "--cache-dir", "other")
    merged = called("cache", "merge", "other", "--json")
    assert json.loads(merged.stdout)["imported"] == 1
    stats = json.loads(called("cache", "stats", "--json").stdout)
    assert sum(stats["entries"].values()) == 1
    assert stats["place"] == str(tmp_path / "cache" / FILE_NAME)


def test_a_damaged_entry_is_found_and_removed(called, exported: Path, tmp_path: Path) -> None:
    called("cache", "import", exported)
    with sqlite3.connect(tmp_path / "cache" / FILE_NAME) as connection:
        connection.execute("UPDATE entries SET value = replace(value, 'Oslo', 'Rome')")
    connection.close()
    found = called("cache", "verify", "sample", "--json")
    assert found.returncode == 1
    assert json.loads(found.stdout)["damaged"] == [ENTRY["key"]]
    assert called("cache", "verify", "sample", "--repair").returncode == 1
    assert called("cache", "verify", "sample").returncode == 0
    with Store(tmp_path / "cache" / FILE_NAME) as store:
        assert store.stats().entries == {}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "seal cache --help"),
        (["stat"], "seal cache --help"),
        (["merge", "nowhere"], "nowhere"),
        (["import", "nowhere"], "nowhere"),
        (["import", ".", "--format", "stabletoolbench"], "--pool"),
        (["verify", "nothing-here"], "nothing-here"),
    ],
)
def test_what_cannot_be_done_is_one_clear_line(called, words: list[str], says: str) -> None:
    failed = called("cache", *words)
    assert failed.returncode == 2
    assert says in failed.stderr
    assert failed.stderr.count("\n") == 1


def test_a_file_that_is_no_store_is_refused(called, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / FILE_NAME).write_text("not a database, but quite long enough " * 9)
    failed = called("cache", "stats")
    assert failed.returncode == 2
    assert FILE_NAME in failed.stderr


def test_a_file_of_which_nothing_can_be_used_is_one_clear_error(called, tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text("no\n{}\nno\n")
    failed = called("cache", "import", "bad.jsonl")
    assert (failed.returncode, failed.stdout) == (2, "")
    assert failed.stderr.count("\n") == 1
    assert "2 x not JSON, first bad.jsonl, line 1; 1 x no key" in failed.stderr


def test_answers_that_are_known_beside_bad_lines_are_no_error(
    called, exported: Path, tmp_path: Path
) -> None:
    with exported.open("a") as file:
        file.write("no\n")
    for imported in (1, 0):
        done = called("cache", "import", exported, "--json")
        assert done.returncode == 0
        assert json.loads(done.stdout)["imported"] == imported


def test_a_cache_folder_that_cannot_be_made_is_a_usage_error(called, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for words in (("cache", "stats"), ("run", "--limit", "1", "--no-baselines")):
        failed = called(*words, "--cache-dir", "file/cache")
        assert failed.returncode == 2
        said = "--cache-dir: 'file/cache' is no path: it lies in a file, which is no folder"
        assert said in failed.stderr
        assert failed.stderr.count("\n") == 1
