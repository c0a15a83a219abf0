"""`seal cache`: the store of answers, carried and checked."""

import json
import sqlite3
from pathlib import Path

import pytest

from seal.core.store import FILE_NAME, Store

UPSTREAM = {'{"location": "Oslo"}': {"error": "", "response": {"degrees": 3}}}
"""One answer, as StableToolBench's cache has it."""


@pytest.fixture
def upstream(tmp_path: Path) -> tuple[object, ...]:
    """The words that import StableToolBench's answer of a tool of the sample."""
    path = tmp_path / "upstream" / "Weather" / "skywatch" / "current.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(UPSTREAM))
    return ("cache", "import", "upstream", "--pool", "sample", "--json")


def test_upstream_answers_are_read_once(seal, upstream: tuple[object, ...]) -> None:
    first = json.loads(seal(*upstream).stdout)
    assert (first["imported"], first["known"]) == (1, 0)
    second = json.loads(seal(*upstream, "--format", "stabletoolbench").stdout)
    assert (second["imported"], second["known"]) == (0, 1)


def test_a_damaged_entry_is_found_and_removed(
    called, upstream: tuple[object, ...], tmp_path: Path
) -> None:
    called(*upstream)
    with sqlite3.connect(tmp_path / "cache" / FILE_NAME) as connection:
        connection.execute("UPDATE entries SET value = replace(value, 'Oslo', 'Rome')")
    connection.close()
    found = called("cache", "verify", "sample", "--json")
    assert found.returncode == 1
    assert len(json.loads(found.stdout)["damaged"]) == 1
    assert called("cache", "verify", "sample", "--repair").returncode == 1
    assert called("cache", "verify", "sample").returncode == 0
    with Store(tmp_path / "cache" / FILE_NAME) as store:
        assert store.stats().entries == {}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "seal cache --help"),
        (["stat"], "seal cache --help"),
        (["merge", "nowhere"], "seal cache merge is gone: machines share one store by SEAL_CACHE"),
        (["export", "x"], "seal cache export is gone: a store is one file, answers.sqlite"),
        (["import", "nowhere"], "nowhere"),
        (["import", ".", "--format", "seal"], "'seal' is gone: a store is one file"),
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


def test_a_folder_of_which_nothing_can_be_used_is_one_clear_error(
    called, upstream: tuple[object, ...], tmp_path: Path
) -> None:
    (tmp_path / "upstream" / "Weather" / "skywatch" / "current.json").write_text("no")
    failed = called(*upstream)
    assert (failed.returncode, failed.stdout) == (2, "")
    assert failed.stderr.count("\n") == 1
    assert "nothing of upstream could be imported: 1 x" in failed.stderr


def test_answers_that_are_known_beside_bad_files_are_no_error(
    called, upstream: tuple[object, ...], tmp_path: Path
) -> None:
    (tmp_path / "upstream" / "Weather" / "skywatch" / "forecast.json").write_text("no")
    for imported in (1, 0):
        done = called(*upstream)
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
