"""Records on disk: lines, files, torn tails."""

import json
import os
import threading
import tracemalloc
from dataclasses import replace

import orjson
import pytest
from core_strategies import halves, records, tasks, texts, trajectories_of, wild_values
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from looped import every_case

from seal.core import (
    DataError,
    Execution,
    Goal,
    Milestone,
    Plan,
    Ranking,
    Score,
    Step,
    Task,
    Tool,
    ToolCall,
    ToolResult,
    Trajectory,
    UsageError,
    write_records,
)
from seal.core.conditions import Argument, Called, Condition
from seal.core.files import AtomicFile, repair_tail
from seal.core.records import (
    SCHEMAS,
    decode,
    encode,
    from_plain,
    read_records,
    repair_of,
    to_plain,
)

TASK = Task("1", "b", (Goal("Go", (Plan((Milestone(Called("t", {"x": Argument((1,))})),)),)),))


def calling(arguments, **fields):
    step = Step(0, "m", "e", call=ToolCall("call_0", "f", arguments), **fields)
    return Trajectory("t", 0, (step,))


def deep(levels):
    value = {"end": True}
    for _ in range(levels):
        value = {"a": value}
    return value


@given(records)
def test_every_record_is_read_as_it_was_written(record):
    line = encode(record)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert decode(line, type(record)) == record


@given(records)
def test_plain_values_are_the_record_too(record):
    plain = to_plain(record)
    assert from_plain(plain, type(record)) == record
    assert encode(record) == b'{"schema":"%s",' % SCHEMAS[type(record)].encode() + (
        orjson.dumps(plain)[1:] + b"\n"
    )


@given(trajectories_of(st.one_of(wild_values, halves)))
def test_whatever_a_model_said_is_written_and_read_and_then_stays(trajectory):
    line = encode(trajectory)
    once = decode(line, Trajectory)
    assert encode(once) == line
    assert decode(encode(once), Trajectory) == once


@pytest.mark.parametrize("kind", SCHEMAS)
def test_a_line_names_its_schema(kind):
    examples = {
        Tool: Tool("a", "a"),
        Task: TASK,
        Ranking: Ranking("1", 0, "q", (("a", 0.5),)),
        Trajectory: calling({}),
        Score: Score("1", 0, 0, "recall@10", None),
    }
    assert json.loads(encode(examples[kind]))["schema"] == SCHEMAS[kind]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("half \ud800 a pair", "half \ufffd a pair"),
        ("\ud83d\ude00", "😀"),
        ("天" * 100_000, "天" * 100_000),
        ("\x00\u2028\r\n", "\x00\u2028\r\n"),
        (10**30, 10**30),
        (-(2**63), -(2**63)),
        (10**400, 10**400),
        pytest.param(10**5000, None, id="too long"),
        (float("nan"), None),
    ],
)
def test_a_model_may_say_anything(said, kept):
    read = decode(encode(calling({"x": said})), Trajectory)
    assert read.steps[0].call.arguments == {"x": kept}


@pytest.mark.parametrize("levels", [100, 1000, 100_000])
def test_a_model_may_nest_as_deep_as_it_likes(levels):
    read = decode(encode(calling({"x": deep(levels), "y": 1})), Trajectory)
    arguments = read.steps[0].call.arguments
    assert arguments["y"] == 1
    assert (arguments["x"] == deep(levels)) == (levels == 100)


def test_names_with_half_a_pair_are_written_too():
    step = Step(
        0,
        "m",
        "e",
        "\ud800",
        result=ToolResult("\ud801", "\ud802", {"\ud803": "\ud804"}, ["\ud805"], Execution("t", {})),
        state={"ta\ud806ble": [{"\ud807": 10**25}]},
    )
    text = encode(Trajectory("t", 0, (step,))).decode()
    assert text.count("\ufffd") == 8


def test_a_value_that_is_no_json_is_a_clear_error():
    with pytest.raises(DataError, match=r"schema 'trajectory/1' cannot be written.*set"):
        encode(calling({"x": {1, 2}}))


def test_tuples_among_json_values_come_back_as_lists():
    assert decode(encode(calling({"x": (1, (2,))})), Trajectory).steps[0].call.arguments == {
        "x": [1, [2]]
    }


@every_case(
    ("change", "text"),
    [
        (b"{oops", "not JSON"),
        (b"", "not JSON"),
        (b'"\\ud800"', "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 2000, "not JSON"),
        (b"[1]", "expected an object, got list"),
        (b"{}", "no field 'schema', expected 'task/1': SEAL did not write this file; make a pool"),
        (b'{"schema":"tool/1"}', "schema 'tool/1', expected 'task/1': the file is of another kind"),
        (b'{"schema":["task/1"]}', "schema ['task/1'], expected"),
        (b'{"schema":"task/1"}', "id: the field is missing"),
        ({"id": 5}, "id: expected a text, got 5"),
        ({"goals": None}, "goals: expected a list, got None"),
        ({"goals": [{}]}, "goals.0.text: the field is missing"),
        ({"goals": [{"text": "x", "plans": [{"milestones": 1}]}]}, "goals.0.plans.0.milestones: "),
        ({"tags": ["x"]}, "tags: expected an object, got ['x']"),
        ({"split": "x" * 9999, "id": ["y" * 9999]}, "id: expected a text"),
    ],
)
def test_a_bad_line_names_field_and_value(change, text):
    line = change if isinstance(change, bytes) else _changed(change)
    with pytest.raises(DataError) as caught:
        decode(line, Task)
    assert text in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (
            {"kind": "caled", "tool": "t"},
            "no condition kind; known: all_of, asked, call_refused, called, ",
        ),
        ({"tool": "t"}, "no condition kind"),
        ({"kind": ["called"]}, "no condition kind"),
        (None, "no condition kind"),
        ("called", "no condition kind"),
        ({"kind": "called"}, "called: tool: the field is missing"),
        (
            {"kind": "called", "tool": "t", "arguments": {"x": {"values": [1], "optional": 1}}},
            "called: arguments.x.optional: expected true or false, got 1",
        ),
        (
            {"kind": "called", "tool": "t", "arguments": {"x": {"values": 1}}},
            "called: arguments.x.values: expected a list, got 1",
        ),
    ],
)
def test_a_bad_condition_names_its_place(condition, text, monkeypatch):
    shipped = {k: c for k, c in Condition.known.items() if c.__module__.startswith("seal.")}
    monkeypatch.setattr(Condition, "known", shipped)
    goal = {"text": "x", "plans": [{"milestones": [{"condition": condition}]}]}
    with pytest.raises(DataError) as caught:
        decode(_changed({"goals": [goal]}), Task)
    assert str(caught.value).startswith("goals.0.plans.0.milestones.0.condition: ")
    assert text in str(caught.value)


def test_a_file_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "new" / "tasks.jsonl"
    written = [replace(TASK, id=str(n)) for n in range(5)]
    assert write_records(path, iter(written)) == 5
    assert list(read_records(path, Task)) == written
    assert _files(path.parent) == ["tasks.jsonl"]


@pytest.mark.parametrize(
    ("bad", "line", "text"),
    [
        (b"{oops}\n", 3, "not JSON"),
        (b'{"schema":"tool/1"}\n', 3, "schema 'tool/1'"),
        (b"\n\n" + b'{"schema":"task/1","id":"x"}\n', 5, "benchmark: the field is missing"),
    ],
)
def test_a_bad_line_of_a_file_is_named_by_file_and_number(tmp_path, bad, line, text):
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(encode(TASK) * 2 + bad + encode(TASK))
    reading = read_records(path, Task)
    assert [next(reading), next(reading)] == [TASK, TASK]
    with pytest.raises(DataError) as caught:
        list(reading)
    assert str(caught.value).startswith(f"{path}, line {line}: ")
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("field", "said", "told"),
    [
        ("trial", "1", "trial: expected a whole number, got '1'"),
        ("trial", True, "trial: expected a whole number, got True"),
        ("value", "1", "value: expected a number, got '1'"),
        ("weight", True, "weight: expected a number, got True"),
    ],
)
def test_numbers_of_a_record_are_numbers(field, said, told):
    fields = to_plain(Score("t", 0, 0, "pass_rate", 1.0)) | {field: said}
    with pytest.raises(DataError, match=told):
        decode(json.dumps({"schema": "score/1"} | fields), Score)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda path: None, r"no file .*tasks\.jsonl"),
        (lambda path: path.mkdir(), r"tasks\.jsonl is a folder, and no file"),
    ],
)
def test_a_file_that_is_not_there_is_named(tmp_path, make, told):
    path = tmp_path / "tasks.jsonl"
    make(path)
    with pytest.raises(DataError, match=told):
        list(read_records(path, Task))


def test_blank_lines_and_windows_line_ends_are_passed_over(tmp_path):
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(b"\n  \n" + encode(TASK).replace(b"\n", b"\r\n") + b"\r\n" + encode(TASK))
    assert list(read_records(path, Task)) == [TASK, TASK]


def test_an_empty_file_has_no_records(tmp_path):
    path = tmp_path / "tasks.jsonl"
    assert write_records(path, []) == 0
    assert list(read_records(path, Task)) == []


def test_reading_and_writing_hold_one_record_at_a_time(tmp_path):
    path = tmp_path / "tools.jsonl"
    tool = Tool("a", "a", "x" * 100_000)
    list(read_records(_written(tmp_path / "warm.jsonl", tool), Tool))
    tracemalloc.start()
    try:
        assert write_records(path, (tool for _ in range(200))) == 200
        assert sum(1 for _ in read_records(path, Tool)) == 200
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert path.stat().st_size > 20_000_000
    assert peak < 3_000_000


def test_a_record_that_fails_leaves_the_old_file(tmp_path):
    path = _written(tmp_path / "tasks.jsonl", TASK)

    def failing():
        yield replace(TASK, id="new")
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        write_records(path, failing())
    assert list(read_records(path, Task)) == [TASK]
    assert _files(tmp_path) == ["tasks.jsonl"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_a_file_appears_whole_or_not_at_all(tmp_path, error):
    path = tmp_path / "x"
    with pytest.raises(error), AtomicFile(path) as file:
        file.write(b"half")
        raise error
    assert _files(tmp_path) == []


def test_until_the_block_ends_the_old_file_stands(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"old")
    with AtomicFile(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"


def test_a_target_that_cannot_be_replaced_leaves_nothing_behind(tmp_path):
    path = tmp_path / "folder"
    path.mkdir()
    with pytest.raises(OSError), AtomicFile(path) as file:
        file.write(b"x")
    assert _files(tmp_path) == ["folder"]


def test_a_device_or_a_pipe_is_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(UsageError, match="is a device or a pipe; give the path of a file"):
        write_records(pipe, [])
    assert pipe.is_fifo() and _files(tmp_path) == ["pipe"]


def test_of_several_writers_one_whole_file_stays(tmp_path):
    path, barrier = tmp_path / "x", threading.Barrier(4)

    def write(letter):
        barrier.wait()
        for _ in range(10):
            with AtomicFile(path) as file:
                for _ in range(50):
                    file.write(letter * 1000)

    crew = [threading.Thread(target=write, args=(letter,)) for letter in (b"a", b"b", b"c", b"d")]
    for thread in crew:
        thread.start()
    for thread in crew:
        thread.join()
    content = path.read_bytes()
    assert len(content) == 50_000
    assert len(set(content)) == 1
    assert _files(tmp_path) == ["x"]


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(tasks, min_size=1, max_size=3), st.data())
def test_any_beginning_of_a_file_is_repaired_to_its_whole_lines(tmp_path, written, data):
    path = tmp_path / "t.jsonl"
    lines = [encode(task) for task in written]
    whole = b"".join(lines)
    length = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:length])
    kept = [t for i, t in enumerate(written) if sum(map(len, lines[: i + 1])) <= length]
    cut = repair_tail(path)
    assert cut == length - sum(map(len, lines[: len(kept)]))
    assert list(read_records(path, Task)) == kept
    assert repair_tail(path) == 0


@pytest.mark.parametrize("tail", [0, 1, 65_535, 65_536, 65_537, 200_000])
@pytest.mark.parametrize("head", [b"", b"one line\n", b"a\n" * 50_000])
def test_a_tail_of_any_length_is_cut(tmp_path, head, tail):
    path = tmp_path / "t"
    path.write_bytes(head + b"x" * tail)
    assert repair_tail(path) == tail
    assert path.read_bytes() == head


def test_a_file_that_is_not_there_needs_no_repair(tmp_path):
    assert repair_tail(tmp_path / "none") == 0
    assert _files(tmp_path) == []


@given(texts)
def test_an_id_of_any_text_stays(text):
    assert decode(encode(Tool(text, text)), Tool).id == text


def _changed(fields):
    return orjson.dumps({**orjson.loads(encode(TASK)), **fields})


def _written(path, record):
    write_records(path, [record])
    return path


def _files(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    ("name", "kind", "told"),
    [
        ("tools.jsonl", Tool, "bring back the file, or have it written anew by the run's own "),
        ("trajectories.jsonl", Trajectory, "delete the line, and play its chat again by the run's"),
        ("scores.jsonl", Score, "write it anew: `seal score "),
    ],
)
@pytest.mark.parametrize("line", ["{", "{}", '{"schema": "pool/9"}'])
def test_a_damaged_or_missing_file_is_named_with_its_repair(tmp_path, name, kind, told, line):
    for is_run in (False, True):
        folder = tmp_path / str(is_run)
        folder.mkdir()
        repair = told if is_run else "import it again, or bring back the file"
        if is_run:
            (folder / "run.json").write_text("{}")
        with pytest.raises(DataError) as missing:
            list(read_records(folder / name, kind))
        (folder / name).write_text(line)
        with pytest.raises(DataError) as damaged:
            list(read_records(folder / name, kind))
        for error in (missing.value, damaged.value):
            assert str(folder / name) in str(error)
            assert repair in str(error)
            assert ("--resume --out" in str(error)) == (is_run and name != "scores.jsonl")


def test_the_floor_of_a_run_is_repaired_with_the_run(tmp_path):
    (tmp_path / "floor").mkdir()
    for folder in (tmp_path, tmp_path / "floor"):
        (folder / "run.json").write_text("{}")
    for name in ("trajectories.jsonl", "scores.jsonl"):
        assert repair_of(tmp_path / "floor" / name).rstrip("`").endswith(f" {tmp_path}")
