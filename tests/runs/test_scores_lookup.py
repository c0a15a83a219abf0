"""Records of a file by their key, and scores that many lines say."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_runs import task

from seal.core import DataError, Score, Task, write_records
from seal.core.records import decode, encode
from seal.report.lanes import scores_so_far
from seal.runs.scores import RecordLookup, ScoreLines, Tail


def by_group(path):
    return RecordLookup(path, Task, lambda task: task.tags.get("group"))


def test_records_are_found_by_key_in_their_order(tmp_path):
    tasks = [task(f"own/{n}", tags={"group": "even" if n % 2 == 0 else "odd"}) for n in range(5)]
    write_records(tmp_path / "tasks.jsonl", [*tasks, task("own/x", tags={})])

    found = by_group(tmp_path / "tasks.jsonl")

    assert found.get("even") == [tasks[0], tasks[2], tasks[4]]
    assert found.get("odd") == [tasks[1], tasks[3]]
    assert found.get("none") == []


def test_a_file_that_does_not_exist_has_no_records(tmp_path):
    assert by_group(tmp_path / "tasks.jsonl").get("even") == []


def test_a_torn_last_line_and_blank_ones_are_left_out(tmp_path):
    line = encode(task("own/a", tags={"group": "g"}))
    (tmp_path / "tasks.jsonl").write_bytes(b"\n" + line + b"\n" + line[:50])

    assert [one.id for one in by_group(tmp_path / "tasks.jsonl").get("g")] == ["own/a"]


LINES = [b"{\n", b"[]\n", b"null\n", b"\xff\n", b'{"tags": {"group": "g"}}\n']


@pytest.mark.parametrize("line", LINES)
def test_a_line_that_no_record_can_have_is_named(tmp_path, line):
    (tmp_path / "tasks.jsonl").write_bytes(encode(task("own/a")) + line)

    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(DataError, match=r"tasks\.jsonl, line 2.* --resume --out "):
        by_group(tmp_path / "tasks.jsonl")


def test_lines_that_stand_apart_are_found_together(tmp_path):
    groups = ("a", "a", "b", "a", "b", "b")
    tasks = [task(f"own/{n}", tags={"group": group}) for n, group in enumerate(groups)]
    write_records(tmp_path / "tasks.jsonl", tasks)

    found = by_group(tmp_path / "tasks.jsonl")

    assert found.get("a") == [tasks[0], tasks[1], tasks[3]]
    assert found.get("b") == [tasks[2], tasks[4], tasks[5]]


PLACES = st.builds(Score, st.text(max_size=3), st.integers(0, 1), st.integers(0, 1), st.just("m"))
SAID = st.builds(
    lambda place, metric, value, reason: replace(
        place, metric=metric, value=value, reason=reason, details={"metric": [reason]}
    ),
    PLACES,
    st.sampled_from(["m", 'a"b', ',"metric":']),
    st.sampled_from([None, 0.5]),
    st.text('r,"metric:', max_size=12),
)


def turned(line: bytes) -> bytes:
    """Return a line whose fields stand in another order."""
    return json.dumps(dict(sorted(json.loads(line).items()))).encode()


@pytest.mark.parametrize(
    ("field", "number"),
    [("trial", 10**400), ("trial", -1), ("goal", 2**40), ("value", 1e308), ("weight", -1e101)],
)
def test_a_score_of_a_number_that_none_can_be_is_refused(field, number):
    right = json.loads(encode(Score("a", 0, 0, "m", 0.5)))
    with pytest.raises(DataError, match=rf"^{field} .{{1,110}}: expected a"):
        ScoreLines().decode(json.dumps({**right, field: number}).encode())


@given(st.lists(SAID, max_size=12))
def test_what_many_lines_say_is_read_as_each_line_says_it(scores):
    lines = ScoreLines()
    for score in (*scores, *scores):
        for line in (encode(score), turned(encode(score))):
            assert lines.decode(line) == decode(line, Score) == score


@pytest.mark.parametrize(
    "place",
    [
        b'{"schema":"score/1","task_id":"a","trial":0',
        b'{"schema":"score/2","task_id":"a","trial":0,"goal":0',
        b'{"schema":"score/1","task_id":3,"trial":0,"goal":0',
    ],
)
def test_a_line_that_says_what_another_said_of_no_goal_is_refused(place):
    lines, right = ScoreLines(), Score("a", 0, 0, "m", 0.5)
    said = encode(right).partition(b',"metric":')[2]

    assert lines.decode(encode(right)) == right
    with pytest.raises(DataError):
        lines.decode(place + b',"metric":' + said)


def test_only_scores_of_the_wanted_metrics_are_read(make_run):
    scores = [
        Score("a", 0, 0, name, 1.0, reason="pass_rate") for name in ("pass_rate", "pass", 'x"')
    ]
    run = make_run("run", scores=scores)

    assert list(scores_so_far(run, ["pass_rate", 'x"'])) == [scores[0], scores[2]]


@pytest.mark.parametrize("whole", [False, True])
def test_scores_of_a_goal_are_found_and_a_damaged_one_is_named_when_asked_for(tmp_path, whole):
    scores = [Score(task, 0, goal, name, 1.0) for task in "ab" for goal in (0, 1) for name in "mn"]
    path = tmp_path / "scores.jsonl"
    write_records(path, scores)

    found = RecordLookup(path, Score, lambda score: score.task_id, whole)
    assert [found.get(task) for task in "ab"] == [scores[:4], scores[4:]]
    assert (list(found), found.torn) == (["a", "b"], False)

    path.write_bytes(path.read_bytes().replace(b'"metric":"n","value":1.0', b'"metric":"n"', 1))
    with pytest.raises(DataError, match=r"scores\.jsonl, line 2: .*; import it again"):
        RecordLookup(path, Score, lambda score: score.task_id, whole).get("a")
    with pytest.raises(DataError, match=r"scores\.jsonl, line 2: .*; import it again"):
        list(Tail(path, Score, whole=whole).read())


def test_a_torn_score_of_a_goal_is_told(tmp_path):
    path = tmp_path / "scores.jsonl"
    write_records(path, [Score("a", 0, 0, name, 1.0) for name in "mn"])
    path.write_bytes(path.read_bytes()[:-10])

    found = RecordLookup(path, Score, lambda score: score.task_id, whole=True)

    assert [score.metric for score in found.get("a")] == ["m"]
    assert found.torn
