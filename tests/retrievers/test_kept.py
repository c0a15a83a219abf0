"""A second start opens what the first one built."""

import errno
import os
from dataclasses import replace

import numpy as np
import pytest

from seal.core import Pool, Query, Tool
from seal.core.files import AtomicFile
from seal.retrievers import kept
from seal.retrievers.build import build_retriever, rank
from seal.retrievers.postings import Chunks

ASKED = [Query("weather in Bern"), Query("getUserName"), Query("天气"), Query("")]


@pytest.fixture(params=["bm25", "tfidf", "hybrid,parts=tfidf+bm25"])
def kind(request):
    return request.param


@pytest.fixture
def pool(tmp_path, monkeypatch):
    """Of few tools, kept like a large one."""
    monkeypatch.setattr(kept, "_LEAST", 1)
    texts = ["Weather in Bern", "get_user_name of a user", "天气 预报", "the", "rain \ud800"]
    tools = tuple(Tool(f"toy/t/{i}", f"t{i}", text) for i, text in enumerate(texts))
    return Pool(tools, cache_dir=tmp_path / "indexes")


def files(pool):
    return sorted(pool.cache_dir.glob("*.arrays"))


def found(kind, pool):
    return rank(build_retriever(kind, pool), ASKED, 3)


def test_a_second_start_builds_nothing_and_finds_the_same(kind, pool, monkeypatch):
    alone = found(kind, replace(pool, cache_dir=None))
    assert found(kind, pool) == alone
    before = [path.stat().st_mtime_ns for path in files(pool)]

    def refuse(*_):
        raise AssertionError("built again")

    monkeypatch.setattr(Chunks, "__init__", refuse)
    assert found(kind, pool) == alone
    assert [path.stat().st_mtime_ns for path in files(pool)] == before


def test_other_tools_have_a_file_of_their_own(kind, pool):
    found(kind, pool)
    one = len(files(pool))

    other = replace(pool, tools=(*pool.tools[1:], replace(pool.tools[0], description="snow")))

    assert found(kind, other) == found(kind, replace(other, cache_dir=None))
    assert len(files(pool)) == 2 * one


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[: len(data) // 2],
        lambda data: b"",
        lambda data: data[:200] + bytes([data[200] ^ 1]) + data[201:],
        lambda data: data.replace(b"seal-arrays/1", b"seal-arrays/0"),
        lambda data: b"[]\n" + data,
    ],
    ids=["half-written", "empty", "a bit", "another version", "a line"],
)
def test_what_is_damaged_or_foreign_is_told_and_made_again(kind, damage, pool, caplog):
    expected = found(kind, pool)
    sound = [path.read_bytes() for path in files(pool)]
    for path, data in zip(files(pool), sound, strict=True):
        path.write_bytes(damage(data))

    assert found(kind, pool) == expected
    assert "it is built again" in caplog.text
    assert [path.read_bytes() for path in files(pool)] == sound


def test_a_sound_file_of_another_version_or_other_tools_is_made_again(pool, tmp_path):
    path = tmp_path / "x.arrays"
    kept.write_arrays(path, "mine", {"a": np.arange(3), "b": np.zeros(0, dtype=np.uint8)})
    arrays = kept.read_arrays(path, "mine")
    assert (arrays["a"] == np.arange(3)).all()
    assert not arrays["b"].size
    with pytest.raises(kept.DataError, match="another version or for other tools"):
        kept.read_arrays(path, "other")
    kept.write_signed(path, lambda write: write(b"[1]\n"))
    with pytest.raises(kept.DataError, match="does not start with a line of seal-arrays"):
        kept.read_arrays(path, "mine")


def test_a_full_disk_is_told_and_nothing_is_lost(kind, pool, monkeypatch, caplog):
    def full(self):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(AtomicFile, "__enter__", full)
    assert found(kind, pool) == found(kind, replace(pool, cache_dir=None))
    assert "is not kept in" in caplog.text
    assert "No space left on device" in caplog.text
    assert files(pool) == []


def test_a_small_pool_leaves_no_file(pool, monkeypatch):
    monkeypatch.setattr(kept, "_LEAST", len(pool.tools) + 1)
    found("bm25", pool)

    assert not pool.cache_dir.exists()
