"""Records of a file by their key."""

import pytest
from report_runs import task

from seal.core.errors import DataError
from seal.core.records import encode, write_records
from seal.core.types import Task
from seal.report.chat_records import RecordLookup


def by_group(path):
    return RecordLookup(path, Task, lambda fields: fields["tags"].get("group"))


def test_records_are_found_by_key_in_their_order(tmp_path):
    tasks = [task(f"own/{n}", tags={"group": "even" if n % 2 == 0 else "odd"}) for n in range(5)]
    write_records(tmp_path / "tasks.jsonl", [*tasks, task("own/x", tags={})])

    found = by_group(tmp_path / "tasks.jsonl")

    assert found.get("even") == [tasks[0], tasks[2], tasks[4]]
    assert found.get("odd") == [tasks[1], tasks[3]]
    assert found.get("none") == found.get(None) == []


def test_a_file_that_does_not_exist_has_no_records(tmp_path):
    assert by_group(tmp_path / "tasks.jsonl").get("even") == []


def test_a_torn_last_line_and_blank_ones_are_left_out(tmp_path):
    line = encode(task("own/a", tags={"group": "g"}))
    (tmp_path / "tasks.jsonl").write_bytes(b"\n" + line + b"\n" + line[:50])

    assert [one.id for one in by_group(tmp_path / "tasks.jsonl").get("g")] == ["own/a"]


LINES = [b"{\n", b"[]\n", b"\xff\n", b'{"tags": {"group": ["g"]}}\n']


@pytest.mark.parametrize("line", LINES)
def test_a_line_that_no_record_can_have_is_named(tmp_path, line):
    (tmp_path / "tasks.jsonl").write_bytes(encode(task("own/a")) + line)

    with pytest.raises(DataError, match=r"tasks\.jsonl, line 2"):
        by_group(tmp_path / "tasks.jsonl")


def test_a_line_that_is_no_record_is_named_when_it_is_asked_for(tmp_path):
    (tmp_path / "tasks.jsonl").write_bytes(b'{"tags": {"group": "g"}}\n')

    with pytest.raises(DataError, match=r"tasks\.jsonl, line 1"):
        by_group(tmp_path / "tasks.jsonl").get("g")
