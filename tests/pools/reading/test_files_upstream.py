"""Upstream's files and names, as every importer reads them."""

import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seal.core import DataError, Tool
from seal.pools.reading.files import (
    LeftOut,
    expect,
    field_of,
    find,
    function_name,
    json_file,
    json_lines,
    json_records,
    named,
    parse_json,
    refuse_deep,
    tool_id,
    utf8_text,
)
from seal.pools.reading.records import TaskIds, ToolTable


def written(folder: Path, content: str | bytes, name: str = "data.json") -> Path:
    path = folder / name
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize("text", ['[{"a": 1}]', '\ufeff[{"a": 1}]', '{"a": 1}\n\n', '{"a": 1}'])
def test_records_come_from_an_array_or_from_lines(tmp_path: Path, text: str) -> None:
    assert [value for _, value in json_records(written(tmp_path, text))] == [{"a": 1}]


def test_a_record_tells_its_place(tmp_path: Path) -> None:
    assert [p.place for p in json_lines(written(tmp_path, "1\n\n2\n", "a.jsonl"))] == [
        f"{tmp_path / 'a.jsonl'}, line 1",
        f"{tmp_path / 'a.jsonl'}, line 3",
    ]
    assert next(json_records(written(tmp_path, "[5]"))).place.endswith("data.json, record 0")


def test_what_other_writers_leave_is_read(tmp_path: Path) -> None:
    text = '\ufeff{"n": NaN, "half": "\\ud83d"}'
    assert json_file(written(tmp_path, text)) == {"n": None, "half": "?"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b'{"a": [1, 2', "cut or damaged"),
        ('{"a": "é"}'.encode("latin-1"), "byte 0xe9 at offset 7 .*another encoding"),
        ('{"a": 1}'.encode("utf-16"), "byte 0xff at offset 0 .*UTF-16"),
        ('{"a": 1}'.encode("utf-16-le"), "holds null bytes; it looks like UTF-16"),
        ('{"a": 1}\n'.encode("utf-16-be"), "holds null bytes; it looks like UTF-16"),
        (b"\x8fPK\0\0\x03\xff", "byte 0x8f at offset 0 .*it looks like no text: is it packed"),
        (b'{"a": "\0"}', "holds null bytes; it looks like no text"),
        (b'{"a": 1}\n{"a": 2}\n', "this is JSON Lines"),
        (b"[" * 5000, "not JSON"),
    ],
)
def test_a_file_that_is_no_json_is_told_by_place_and_repair(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = written(tmp_path, content)
    with pytest.raises(DataError, match=rf"{re.escape(str(path))}.*{message}"):
        json_file(path)


def test_a_bad_line_is_told_by_its_number(tmp_path: Path) -> None:
    path = written(tmp_path, '{"a": 1}\n{"a": ')
    with pytest.raises(DataError, match=r"line 2: not JSON"):
        list(json_lines(path))


def test_random_bytes_are_told_in_letters_that_can_be_shown(tmp_path: Path) -> None:
    path = written(tmp_path, random.Random(1).randbytes(3000))
    with pytest.raises(DataError) as told:
        json_file(path)
    assert str(told.value).isprintable()
    assert "UTF-16" not in str(told.value)


def test_text_that_is_not_utf8_is_told_by_its_byte() -> None:
    assert utf8_text(b"\xef\xbb\xbfa", "x") == "a"
    with pytest.raises(DataError, match=r"x: not UTF-8: byte 0xe9 at offset 1"):
        utf8_text(b"a\xe9", "x")


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ([1], "expected an object with 'id'"),
        ({"ID": 1}, "the field 'id' is missing; the record has: 'ID'"),
        ({"id": True}, "id: expected a whole number, got True"),
        ({"id": "1"}, "id: expected a whole number, got '1'"),
    ],
)
def test_a_wrong_field_is_told_by_name(record: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        field_of(record, "id", int)


def test_a_deep_record_is_refused_by_field() -> None:
    deep: Any = 1
    for _ in range(300):
        deep = [deep]
    with pytest.raises(DataError, match=r"a\.0\.0.*nested deeper"):
        refuse_deep({"a": deep})


def test_a_wrong_folder_says_what_it_holds(tmp_path: Path) -> None:
    written(tmp_path, "x", "notes.txt")
    with pytest.raises(DataError, match=r"holds notes\.txt; apibench expects \*\.json"):
        find(tmp_path, ["*.json"], "apibench")
    assert find(tmp_path / "notes.txt", ["*.json"], "apibench") == [tmp_path / "notes.txt"]
    (tmp_path / "deep").mkdir()
    inner = written(tmp_path / "deep", "1")
    assert find(tmp_path, ["*.json", "data.*"], "apibench") == [inner]


@given(st.text())
def test_a_function_name_is_one_that_servers_allow(text: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", function_name(text))


def test_function_names_stay_apart_where_they_are_cut() -> None:
    assert function_name("get weather.now") == "get_weather_now"
    names = {function_name("a" * 100), function_name("b" + "a" * 99)}
    assert len(names) == 2


def test_a_tool_id_has_three_parts() -> None:
    assert tool_id("b", "a/b", " ") == "b/a_b/_"


def test_the_same_document_counts_once_and_another_gets_a_digest() -> None:
    table = ToolTable()
    first = table.add(Tool("b/t/a", "a", "one", source={"file": "x"}))
    again = table.add(Tool("b/t/a", "a", "one", source={"file": "y"}))
    other = table.add(Tool("b/t/a", "a", "two"))
    assert first == again == "b/t/a"
    assert re.fullmatch(r"b/t/a#[0-9a-f]{8}", other)
    assert table.add(Tool("b/t/a", "a", "two")) == other
    assert (table.duplicates, table.variants, len(table)) == (2, 1, 2)
    assert [tool.id for tool in table] == [first, other]
    assert table[other].description == "two"


def test_a_task_id_never_stands_twice() -> None:
    counts: Counter[str] = Counter()
    ids = TaskIds(counts)
    assert ids.add("1", "a b") == "1"
    with pytest.raises(LeftOut):
        ids.add("1", "a b")
    assert ids.add("1", "c").startswith("1#")
    assert ids.add("2", "a  b") == "2"
    assert (ids.repeated, counts) == (1, {"duplicates": 1})


@given(st.recursive(st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(), st.lists))
def test_any_json_is_read_as_json_reads_it(value: Any) -> None:
    assert parse_json(json.dumps(value, ensure_ascii=False).encode("utf-8"), "x") == value


def test_a_value_is_expected_in_one_way_whatever_is_read() -> None:
    assert expect([1], list, "calls") == [1]
    with pytest.raises(DataError, match=r"^calls: expected a list, got 3$"):
        expect(3, list, "calls")
    with pytest.raises(DataError, match=r"^expected one JSON object, got \[\]$"):
        expect([], dict, what="one JSON object")
    with pytest.raises(DataError, match=r"^n: expected a whole number, got True$"):
        expect(True, int, "n")


def test_what_a_name_stands_for_is_looked_up_in_one_way() -> None:
    assert named({"a": 1}, "a", "column") == 1
    with pytest.raises(DataError, match=r"^row 2: no column 'b'; known: a\."):
        named({"a": 1}, "b", "column", "row 2")
