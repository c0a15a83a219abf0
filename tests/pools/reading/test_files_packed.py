"""Packed files unpack as far as can be trusted, and names in data stay in their folder."""

import gzip
import os
from pathlib import Path

import pytest

from seal.core import DataError
from seal.core.files import lines_of, within
from seal.pools.reading.files import json_lines
from seal.pools.reading.tables import parquet_records, rows


def packed(folder: Path, content: bytes) -> Path:
    path = folder / "tasks.jsonl.gz"
    path.write_bytes(gzip.compress(content))
    return path


def test_a_packed_file_is_read_as_a_plain_one_is(tmp_path: Path) -> None:
    content = b'{"id": 1}\n\n{"id": 2}'
    plain = tmp_path / "tasks.jsonl"
    plain.write_bytes(content)

    found = [placed.value for placed in json_lines(packed(tmp_path, content))]

    assert found == [placed.value for placed in json_lines(plain)] == [{"id": 1}, {"id": 2}]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ((b"[" + b" " * 4093 + b"]\n") * 2**15, r"bytes unpack to more than 67108864; .*gunzip"),
        (b"[" + b"[]," * 2**23, r"line 1: it unpacks to more than 16777216 bytes; .*gunzip"),
    ],
    ids=["many lines", "a long line"],
)
def test_a_packed_file_is_not_unpacked_beyond_measure(tmp_path, content, told) -> None:
    with pytest.raises(DataError, match=told):
        list(lines_of(packed(tmp_path, content)))


def test_a_cut_packed_file_is_told(tmp_path: Path) -> None:
    path = packed(tmp_path, b"{}\n" * 1000)
    path.write_bytes(path.read_bytes()[:-9])

    with pytest.raises(DataError, match="no whole gzip file"):
        list(lines_of(path))


def test_a_parquet_file_of_one_value_repeated_is_not_unpacked_beyond_measure(tmp_path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "corpus.parquet"
    text = pyarrow.array(["x" * 2**16]).dictionary_encode()
    many = pyarrow.DictionaryArray.from_arrays([0] * 2**12, text.dictionary)
    parquet.write_table(pyarrow.table({"text": many}), path)
    assert path.stat().st_size < 2**14

    with pytest.raises(DataError, match=r"unpack to more than 67108864; .*as JSON Lines"):
        list(parquet_records(path))


@pytest.mark.parametrize("name", ["..", "../run", "a/../../b", "/etc", "", "a\0b", 7, None])
def test_a_name_in_data_does_not_leave_its_folder(tmp_path: Path, name: object) -> None:
    with pytest.raises(DataError, match="no name of what lies in this folder"):
        within(tmp_path, name)


def test_a_name_in_data_may_lead_below_its_folder(tmp_path: Path) -> None:
    assert within(tmp_path, "size-10/run") == tmp_path / "size-10" / "run"


@pytest.mark.parametrize("name", ["q.jsonl.gz", "q.parquet", "q.arrow", "q.jsonl", "q.csv"])
def test_a_pipe_that_is_named_as_a_table_is_not_waited_for(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises((DataError, OSError), match="it is a pipe, and no file"):
        list(rows(tmp_path / name))
