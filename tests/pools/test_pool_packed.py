"""A pool whose tasks are packed is read as the plain one is, and a damaged one is told."""

import gzip
import tracemalloc
from pathlib import Path

import pytest
from small_pools import TOOLS, contents, play, write_pool

import seal
from seal.core import DataError
from seal.core.secrets import InOpen
from seal.pools import imports
from seal.pools.importer import tasks_of
from seal.pools.lint_findings import asked_by
from seal.pools.pool import load_pool


def packed(folder: Path) -> Path:
    """Return a small pool after its tasks were packed."""
    plain = write_pool(folder) / "tasks.jsonl"
    (folder / "tasks.jsonl.gz").write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    return folder


def test_packed_tasks_are_those_that_were_packed(tmp_path: Path) -> None:
    plain, pool = write_pool(tmp_path / "plain"), packed(tmp_path / "packed")
    one, other = load_pool(plain), load_pool(pool)

    assert tuple(other.tasks()) == tuple(other.tasks_if_any()) == tuple(one.tasks())
    assert (other.digest, other.made_of) == (one.digest, one.made_of)
    assert asked_by(pool) == asked_by(plain)
    assert seal.lint(pool).findings == seal.lint(plain).findings
    assert "2.0 EUR" not in InOpen([tasks_of(pool)])
    assert "sunny in Oslo" in InOpen([tasks_of(pool)])


def test_a_run_of_a_packed_pool_is_that_of_the_plain_one(tmp_path: Path) -> None:
    play(write_pool(tmp_path / "plain"), tmp_path / "one", model="oracle")
    play(packed(tmp_path / "packed"), tmp_path / "other", model="oracle")

    tasks = [(tmp_path / name / "tasks.jsonl").read_bytes() for name in ("one", "other")]
    assert tasks[0] == tasks[1]
    assert contents(tmp_path / "one") == contents(tmp_path / "other")


def test_plain_tasks_go_before_packed_ones_and_an_import_replaces_both(tmp_path: Path) -> None:
    pool = packed(tmp_path / "pool")
    (pool / "import.json").write_text("{}")
    write_pool(pool, tuple(load_pool(pool).tasks())[:1])
    assert len(tuple(load_pool(pool).tasks())) == 1

    tasks = tuple(load_pool(packed(tmp_path / "other")).tasks())
    imports.write_pool("other", lambda source, notes: iter((*TOOLS, *tasks)), None, pool)
    assert not (pool / "tasks.jsonl.gz").exists()
    assert len(tuple(load_pool(pool).tasks())) == 4


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (gzip.compress(b"\n" * 99)[:-9], r"tasks\.jsonl\.gz: no whole gzip file: .*ended"),
        (b'{"schema":"task/1"}\n', r"tasks\.jsonl\.gz: no whole gzip file: Not a gzipped file"),
        (gzip.compress(b"{}\n"), r"tasks\.jsonl\.gz, line 1: no field 'schema'"),
        (
            gzip.compress((b" " * 4095 + b"\n") * 2**15),
            r"tasks\.jsonl\.gz: \d+ bytes unpack to more than 67108864",
        ),
        (gzip.compress(b"[" * 2**27), r"tasks\.jsonl\.gz, line 1: it unpacks to more than"),
    ],
    ids=["cut", "plain", "no task", "a bomb of lines", "a bomb of one line"],
)
def test_a_damaged_file_is_told_and_a_bomb_is_never_laid_out(tmp_path, content, told) -> None:
    pool = packed(tmp_path / "pool")
    (pool / "tasks.jsonl.gz").write_bytes(content)

    tracemalloc.start()
    with pytest.raises(DataError, match=told):
        tuple(load_pool(pool).tasks())
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 2**26
