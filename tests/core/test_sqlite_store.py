"""A file of answers that is damaged, full or only readable keeps what it holds, and says so."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import seal
from seal.core import DataError, InfrastructureError, OutageError, UsageError
from seal.core.sqlite_store import DamagedStoreError, SqliteAnswers
from seal.core.store import Store, open_store
from seal.simulator_cache.exchange import verify

PAGE_BYTES = 4096
READER = """
import sys
from seal.core import UsageError
from seal.core.store import open_store
with open_store(sys.argv[1]) as store:
    print(store.reads_only, store.get("key 7"))
    try:
        store.put("new", {"a": 1})
    except Exception as error:
        print(error)
try:
    open_store(sys.argv[1], writes=True)
except UsageError as error:
    print(error)
"""


def filled(folder: Path, entries: int = 200) -> Path:
    with open_store(folder) as store:
        store.put_each({f"key {n}": {"text": f"{n} " * 100} for n in range(entries)})
    return folder / "answers.sqlite"


def damage(path: Path, page: int) -> None:
    with path.open("r+b") as file:
        file.seek(page * PAGE_BYTES)
        file.write(b"\xff" * PAGE_BYTES)


@pytest.mark.parametrize("page", [3, 10, 20])
def test_what_lies_on_sound_pages_is_saved(page: int, tmp_path: Path) -> None:
    path = filled(tmp_path)
    damage(path, page)
    with open_store(tmp_path) as store:
        with pytest.raises(DamagedStoreError, match="cache verify POOL --repair` then saves"):
            verify(store, {})
        assert "malformed" in store.outage
        report = verify(store, {}, repair=True)
        assert report.saved is not None
        assert 100 < report.saved < 200
        assert report.checked == report.saved
        assert (report.damaged, report.sound, store.outage) == ([], False, "")
        kept = {entry.key: entry.value for entry in store.entries()}
        assert all(kept[key] == {"text": f"{key[4:]} " * 100} for key in kept)
        assert store.put("new", {"a": 1}) == {"a": 1}
    assert path.with_name("answers.sqlite.damaged").is_file()
    with open_store(tmp_path) as store:
        assert verify(store, {}, repair=True).saved is None


@pytest.mark.parametrize("page", [0, 1, 2])
def test_rows_are_saved_whatever_became_of_the_pages_that_lead_to_them(
    page: int, tmp_path: Path
) -> None:
    path = filled(tmp_path)
    with path.open("r+b") as file:  # the first page is the schema's, after 100 bytes of the header
        file.seek(page * PAGE_BYTES + 100 * (page == 0))
        file.write(b"\xff" * (PAGE_BYTES - 100))
    with open_store(tmp_path) as store:
        report = verify(store, {}, repair=True)
        assert report.saved == 200
        kept = {entry.key: entry.value for entry in store.entries()}
        assert kept == {f"key {n}": {"text": f"{n} " * 100} for n in range(200)}


def cut(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2 + 100)


def overwrite(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"\xff" * 16)


@pytest.mark.parametrize(("harm", "least"), [(cut, 50), (overwrite, 200)])
@pytest.mark.parametrize("has_log", [False, True])
def test_of_a_file_that_sqlite_refuses_the_rest_is_saved(
    harm: Callable[[Path], None], least: int, has_log: bool, tmp_path: Path
) -> None:
    path = filled(tmp_path)
    if has_log:
        path.with_name("answers.sqlite-wal").write_bytes(b"\xff" * 5000)
    harm(path)
    with open_store(tmp_path) as store:
        with pytest.raises(DamagedStoreError, match="cache verify POOL --repair` then saves"):
            store.get("key 7")
        report = verify(store, {}, repair=True)
        assert report.saved is not None
        assert least <= report.saved <= 200
        kept = {entry.key: entry.value for entry in store.entries()}
        assert len(kept) == report.saved
        assert all(kept[key] == {"text": f"{key[4:]} " * 100} for key in kept)
    assert {each.name.partition("-")[0] for each in tmp_path.iterdir()} == {
        "answers.sqlite",
        "answers.sqlite.damaged",
    }


def test_a_place_that_nobody_asks_for_rows_is_neither_made_nor_looked_at(tmp_path: Path) -> None:
    folder = tmp_path / "none"
    with open_store(folder, if_asked=True) as store:
        assert (store.outage, store.location) == ("", str(folder / "answers.sqlite"))
    assert not folder.exists()
    (tmp_path / "answers.sqlite").write_text("something else " * 100)
    with open_store(tmp_path, if_asked=True) as store, pytest.raises(DataError, match="no answer"):
        store.get("key")


def test_a_run_that_keeps_nothing_needs_no_place_for_it(tmp_path: Path) -> None:
    (tmp_path / "answers.sqlite").write_text("something else " * 100)
    how = {"limit": 1, "baselines": False, "retriever": "tfidf", "cache_dir": tmp_path}
    with pytest.raises(DataError, match="no answer store"):
        seal.run("sample", out=tmp_path / "kept", **how)
    assert seal.run("sample", out=tmp_path / "run", cache="off", **how).exit_code == 0
    again = seal.score(tmp_path / "run", cache_dir=tmp_path)
    assert again.summary["tasks"] == 1


def test_a_run_on_a_damaged_store_is_played_again_when_it_is_mended(tmp_path: Path) -> None:
    path = filled(tmp_path)
    cut(path)
    how = {"limit": 1, "baselines": False, "retriever": "tfidf", "cache_dir": tmp_path}
    with pytest.raises(OutageError, match=r"saves what can be read\. Then play again\.$"):
        seal.run("sample", out=tmp_path / "run", **how)


def test_a_file_that_others_use_is_not_salvaged(tmp_path: Path) -> None:
    path = filled(tmp_path)
    with Store(path, timeout=0.1) as store, Store(path) as other:
        other._table._asked(lambda c: c.execute("BEGIN IMMEDIATE"))  # type: ignore[attr-defined]
        with pytest.raises(InfrastructureError, match=r"is in use: .* stop its runs first"):
            store.salvage()
    assert not path.with_name("answers.sqlite.damaged").exists()


def test_a_disk_that_takes_no_further_byte_is_told_with_its_repair(tmp_path: Path) -> None:
    code = f"from seal.core.store import Store; Store({str(tmp_path / 'answers.sqlite')!r})"
    command = f"ulimit -f 1; exec {sys.executable} -c {shlex.quote(code)}"
    ended = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    assert re.search(r"opened: .*; make room.*; give another --cache-dir", ended.stderr)


class Full(SqliteAnswers):
    """A file that may not grow, as on a full disk: SQLite's own error."""

    def _connect(self):
        connection = super()._connect()
        connection.execute("PRAGMA max_page_count = 8")
        return connection


def test_a_full_disk_ends_a_run_at_once(tmp_path: Path) -> None:
    table = Full(tmp_path / "answers.sqlite", 1)
    rows = [(b"%d" % n, b"model", b"x" * 1000, b"now", b"sum") for n in range(100)]
    with pytest.raises(InfrastructureError, match="disk is full; free some space there"):
        table.insert(rows)
    assert "disk is full" in table.outage
    table.close()


def as_reader() -> list[str]:
    """Return what begins a command that obeys the modes of files, also as root."""
    if os.getuid():
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("root may write everywhere, and there is no setpriv")
    return ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]


def test_a_file_that_can_only_be_read_is_read(tmp_path: Path) -> None:
    path = filled(tmp_path / "cache")
    for each in (path, path.parent):
        each.chmod(0o555)
    try:
        command = [*as_reader(), sys.executable, "-c", READER, str(path.parent)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    finally:
        path.parent.chmod(0o755)
    found, kept, refused = done.stdout.splitlines()
    assert found == f"True { ({'text': '7 ' * 100}) }"
    assert "can only be read; give another --cache-dir to keep answers" in kept
    assert "play with --cache replay or --cache off" in refused


def test_a_database_of_a_server_is_not_salvaged_here() -> None:
    pytest.importorskip("psycopg")
    from seal.core.postgres_store import PostgresAnswers

    table = PostgresAnswers.__new__(PostgresAnswers)
    table.location = "postgresql://host/answers"
    with pytest.raises(UsageError, match="its server's own tools"):
        table.salvage()


def test_a_file_that_is_deleted_amid_its_use_ends_that_with_the_repair(tmp_path: Path) -> None:
    path = filled(tmp_path / "cache", 2)
    with open_store(path.parent) as store:
        store.get("key 1")
        shutil.rmtree(path.parent)
        with pytest.raises(InfrastructureError, match="was deleted while it was in use; start"):
            store.put("new", {"a": 1})
        assert "was deleted" in store.outage
        path.parent.mkdir()
        store.close()
    with open_store(path.parent) as store:
        path.unlink()
        with pytest.raises(InfrastructureError, match="was deleted while it was in use; start"):
            store.get("key 1")
