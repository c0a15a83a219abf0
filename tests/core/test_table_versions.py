"""Tests of `seal.core.table_versions`: stored tables come back, and rows are shared."""

import random
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import pytest
from linear import linear

from seal.core import DataError, Step, Trajectory
from seal.core.records import decode, encode, read_records, to_plain, write_records
from seal.core.table_versions import SMALL, SharedRows, TableReader, Version, joined, pieces


def rows_of(count: int) -> list[dict]:
    return [{"id": f"r{n}", "n": n % 7, "held": {"list": [n, {"of": None}]}} for n in range(count)]


def altered(rng: random.Random, rows: list[dict]) -> list[dict]:
    """Return the rows with something done to them that a tool may do."""
    rows, what = deepcopy(rows), rng.randrange(9)
    at = rng.randrange(len(rows)) if rows else 0
    if what == 0:
        rows.insert(at, {"id": f"new{rng.random()}", "n": True})
    elif what == 1 and rows:
        del rows[at : at + rng.randrange(4)]
    elif what == 2 and rows:
        rows[at]["held"] = {"list": [rng.random()]}
    elif what == 3:
        rng.shuffle(rows)
    elif what == 4:
        rows = rows_of(rng.choice([0, 3, SMALL, SMALL + 1, SMALL + 90]))
    elif what == 5 and rows:
        rows.append(rows.pop(at))
    elif what == 6 and rows:
        rows.insert(rng.randrange(len(rows)), deepcopy(rows[at]))
    elif what == 7 and rows:
        rows[at]["n"] = rng.choice([1, 1.0, True, None, "1"])
    elif rows:
        rows[at] = dict(reversed(rows[at].items()))
    return rows


def chat_of(rng: random.Random, share: bool) -> Trajectory:
    """Return a chat whose tables change at random; with `share`, equal rows are one object."""
    tables = {"big": rows_of(SMALL + rng.randrange(60)), "small": rows_of(5), "none": []}
    shared = {name: SharedRows(Version(rows)) for name, rows in tables.items()}
    steps = [Step(0, "user", "agent", "Hi", state=tables)]
    for number in range(1, 12):
        changed = {}
        for name in rng.sample(sorted(tables), rng.randrange(3)):
            rows = altered(rng, tables[name])
            if share:
                rows = shared[name].version(shared[name].rows(rows, dict))
            changed[name] = rows
        tables = {**tables, **changed}
        steps.append(Step(number, "agent", "user", "Done", state=changed or None))
    return Trajectory("t", 0, tuple(steps))


@pytest.mark.parametrize("share", [False, True])
@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_tables_of_any_change_are_read_as_they_were(
    share: bool, beside: bool, seed: int, tmp_path: Path
) -> None:
    chat = chat_of(random.Random(seed), share)
    folder = tmp_path if beside else None

    line = encode(chat, beside=folder)
    read = decode(line, Trajectory, beside=folder)

    assert to_plain(read) == to_plain(chat)
    assert [str(step) for step in read.steps] == [str(step) for step in chat.steps]
    assert encode(read, beside=folder) == line


@pytest.mark.parametrize("seed", range(20))
def test_pieces_use_each_row_before_once(seed: int) -> None:
    rng = random.Random(seed)
    before = rows_of(30)
    after = altered(rng, altered(rng, before))

    told = pieces(before, after)

    used = [place for one in told if isinstance(one, list) for place in range(*one)]
    assert len(used) == len(set(used))
    assert joined(before, told) == after


def test_one_change_is_told_by_one_row() -> None:
    before = rows_of(1000)
    after = [*before[:500], {"id": "other"}, *before[501:]]
    assert pieces(before, after) == [[0, 500], {"id": "other"}, [501, 1000]]
    assert pieces(before, [*before[1:], before[0]]) == [[1, 1000], [0, 1]]


def test_large_tables_stand_once_beside_the_chats(tmp_path: Path) -> None:
    path, rows = tmp_path / "trajectories.jsonl", rows_of(SMALL + 1)
    chats = [
        Trajectory("t", trial, (Step(0, "user", "agent", state={"big": rows, "small": rows[:2]}),))
        for trial in range(3)
    ]

    write_records(path, chats)

    (kept,) = (tmp_path / "beginnings").iterdir()
    assert rows[-1]["id"].encode() not in path.read_bytes()
    assert rows[1]["id"].encode() in path.read_bytes()
    read = list(read_records(path, Trajectory))
    assert [to_plain(one) for one in read] == [to_plain(one) for one in chats]
    assert read[0].steps[0].state["big"] is read[2].steps[0].state["big"]
    kept.rename(kept.with_suffix(".gone"))
    with pytest.raises(DataError, match=r"line 1: .* cannot be read.*bring the folder back"):
        list(read_records(moved(path), Trajectory))


def moved(path: Path) -> Path:
    """Return the file under the name of another folder, of which nothing was read before."""
    out = path.parent / "elsewhere" / path.name
    out.parent.mkdir()
    out.write_bytes(path.read_bytes())
    return out


def test_a_beginning_that_was_changed_is_refused(tmp_path: Path) -> None:
    chat = Trajectory("t", 0, (Step(0, "user", "agent", state={"big": rows_of(SMALL + 1)}),))
    line = encode(chat, beside=tmp_path)
    (kept,) = (tmp_path / "beginnings").iterdir()
    kept.write_bytes(kept.read_bytes().replace(b"r7", b"r8"))
    with pytest.raises(DataError, match="was changed; bring it back, or play the run again"):
        decode(line, Trajectory, beside=tmp_path)
    with pytest.raises(DataError, match="stands in another file"):
        decode(line, Trajectory)


@pytest.mark.parametrize(
    ("told", "fault"),
    [
        ("all", "expected a map of tables, got 'all'"),
        ({"t": 3}, "expected a list of rows, a beginning or pieces, got 3"),
        ({"t": [1]}, r"expected a list of rows, a beginning or pieces, got \[1\]"),
        ({"t": {"pieces": 3}}, "expected pieces of a table, got 3"),
        ({"t": {"pieces": [[0, 1]]}}, r"a range of the 0 rows before, got \[0, 1\]"),
        ({"t": {"pieces": [[True, False]]}}, "a range of the 0 rows before"),
        ({"t": {"beginning": "../../etc/passwd"}}, "expected the name of a beginning"),
        ({"t": {"beginning": "0" * 32}}, "cannot be read, which holds how a table begins"),
    ],
)
def test_what_tells_of_no_table_is_refused(told: object, fault: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=fault):
        TableReader(tmp_path).tables(told)


def test_a_short_file_tells_of_no_endless_table() -> None:
    reader = TableReader()
    reader.tables({"t": rows_of(3)})
    with pytest.raises(DataError, match="pieces of a table of 3 rows tell of more of them"):
        reader.tables({"t": {"pieces": [[0, 3], [0, 3]]}})


def test_equal_rows_and_versions_are_one_object() -> None:
    begun = Version([{"a": 1}, {"b": [None]}])
    shared = SharedRows(begun)
    same = shared.rows(deepcopy(list(begun)), dict)
    assert shared.version(same) is begun
    others = [{"a": True}, {"a": 1.0}, {"b": [float("nan")]}, {"b": (None,)}]
    found = shared.rows(others, dict)
    assert all(row is not one for row in found for one in same)
    assert [type(row["a"]) for row in found[:2]] == [bool, float]


def test_copies_share_nothing_with_their_version_nor_with_each_other() -> None:
    row = {"held": [{"n": 1}]}
    version = Version([row, row])
    one, other = version.copies()
    one["held"][0]["n"] = 2
    assert (other, row) == ({"held": [{"n": 1}]}, {"held": [{"n": 1}]})


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: rows.append({"id": "new"}),
        lambda rows: rows.pop(),
        lambda rows: rows.sort(key=lambda row: -row["n"]),
        lambda rows: rows[3].clear(),
        lambda rows: rows[2]["held"]["list"].append("spoilt"),
        lambda rows: rows[1].update(n={1}),
        lambda rows: rows[1].update(n=1.0),
    ],
)
def test_whatever_was_done_to_copies_is_told(change: Callable[[list[dict]], object]) -> None:
    version = Version(rows_of(4))
    copies = version.copies()
    assert version.is_written_as(copies)
    change(copies)
    assert not version.is_written_as(copies)
    assert list(version) == rows_of(4)


def test_a_deep_copy_may_be_changed() -> None:
    version = Version(rows_of(2))
    held = deepcopy({"one": version, "same": version})
    assert held["one"] is held["same"]
    held["one"][0]["held"]["list"].append("mine")
    held["one"].pop()
    assert list(version) == rows_of(2)


def test_what_a_reader_changed_is_not_read_by_the_next(tmp_path: Path) -> None:
    chat = Trajectory("t", 0, (Step(0, "user", "agent", state={"big": rows_of(SMALL + 1)}),))
    line = encode(chat, beside=tmp_path)
    for change in (list.pop, lambda rows: rows[0].update(n={1}), lambda rows: rows[1].clear()):
        change(decode(line, Trajectory, beside=tmp_path).steps[0].state["big"])
        assert to_plain(decode(line, Trajectory, beside=tmp_path)) == to_plain(chat)


def test_rows_unlike_those_of_another_table_are_found_in_linear_time() -> None:
    def unlike(rows: int) -> None:
        one, other = Version(rows_of(rows)), Version(rows_of(rows)[::-1])
        assert one.unlike(other) == []
        assert len(one.unlike(Version([{"n": n} for n in range(rows)]))) == rows

    linear(unlike, 20_000)


def test_rows_are_unlike_by_how_they_are_written() -> None:
    rows = [{"a": 1}, {"a": 1.0}, {"a": 1}, {"b": 2, "a": 1}]
    assert Version(rows).unlike(Version([{"a": True}, {"a": 1.0}])) == [rows[0], rows[3]]
    assert Version(rows).unlike(Version([{"a": 1, "b": 2}, {"a": 1}])) == [rows[1], rows[3]]


def test_many_versions_of_one_table_are_read_in_linear_time() -> None:
    rows, reader = rows_of(200), TableReader()
    reader.tables({"t": rows})

    def last_of(versions: int) -> dict:
        for number in range(versions):
            read = reader.tables({"t": {"pieces": [[0, 199], {"id": number}]}})
        return read

    linear(last_of, 4_000)
    assert last_of(4_000)["t"] == [*rows[:-1], {"id": 3_999}]


def test_a_large_table_with_what_is_no_json_is_refused_as_a_record_is(tmp_path: Path) -> None:
    rows: list[dict] = [*rows_of(SMALL), {"n": {1}}]
    chat = Trajectory("t", 0, (Step(0, "user", "agent", state={"big": rows}),))
    for beside in (None, tmp_path):
        with pytest.raises(DataError, match=r"schema 'trajectory/1' cannot be written: .*set"):
            encode(chat, beside=beside)
