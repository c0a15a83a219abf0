"""Runs paired by task, trial and goal: what counts, what is left out and why."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_pools import play, write_pool

from seal.core import DataError, Goal, Score, Task, write_records
from seal.core.values import well_formed
from seal.experiments.comparison import clusters_of, differing, side_of, study
from seal.experiments.paired_scores import Side, compare
from seal.experiments.settings import CompareSettings
from seal.runs.run import RunFolder, varied_settings
from seal.runs.score_table import read_scores
from seal.runs.scores import Tail


def score(task: str, value: float | None, metric: str = "m", **fields) -> Score:
    return Score(task, fields.pop("trial", 0), 0, metric, value, **fields)


def side(folder: Path, name: str, *scores: Score) -> Side:
    write_records(folder / name / "scores.jsonl", scores)
    return Side(name, read_scores(folder / name / "scores.jsonl"), {})


def test_pairs_need_a_value_on_both_sides_and_the_rest_is_counted(tmp_path: Path) -> None:
    dead = "infrastructure: no server"
    one = side(
        tmp_path,
        "on",
        score("a", 1.0),
        score("b", 0.5),
        score("c", None, reason=dead),
        score("d", None, reason="no gold: x"),
        score("f", 1.0),
    )
    other = side(
        tmp_path,
        "off",
        score("a", 0.0),
        score("b", 0.5),
        score("c", 1.0),
        score("d", None, reason="no gold: y"),
        score("e", 1.0),
        score("f", None, reason="no gold"),
    )
    (found,) = compare(one, other, 0)
    assert (found["n"], found["tasks"], found["difference"]) == (2, 2, 0.5)
    assert (found["mean"], found["other_mean"]) == (0.75, 0.25)
    assert found["p"] == found["p_holm"] == 0.5
    assert found["excluded"] == {
        "both: no gold": 1,
        "off: no gold": 1,
        "on: error": 1,
        "on: not scored": 1,
    }


def test_trials_are_pairs_of_their_own_and_one_cluster(tmp_path: Path) -> None:
    ups = [score("a", float(trial > 0), trial=trial) for trial in range(3)]
    downs = [score("a", 0.0, trial=trial) for trial in range(4)]
    (found,) = compare(side(tmp_path, "x", *ups), side(tmp_path, "y", *downs), 0)
    assert (found["n"], found["tasks"], found["low"]) == (3, 1, None)
    assert found["excluded"] == {"x: not scored": 1}


def test_partners_are_other_tasks(tmp_path: Path) -> None:
    one = side(tmp_path, "x", score("a-u", 1.0), score("b-u", 0.0), score("c", 1.0))
    other = side(tmp_path, "y", score("a", 0.0), score("b", 0.0))
    (found,) = compare(one, other, 0, partner={"a-u": "a", "b-u": "b"})
    assert (found["n"], found["mean"], found["excluded"]) == (2, 0.5, {})


def test_a_metric_of_one_run_alone_has_no_pair_and_p_is_corrected_over_a_family(
    tmp_path: Path,
) -> None:
    tasks = [f"t{n}" for n in range(30)]
    one = side(
        tmp_path,
        "x",
        *(score(t, 1.0, m) for t in tasks for m in ("m", "n", "own")),
    )
    other = side(tmp_path, "y", *(score(t, 0.0, m) for t in tasks for m in ("m", "n")))
    found = {entry["metric"]: entry for entry in compare(one, other, 0)}
    assert (found["own"]["n"], found["own"]["p"], found["own"]["mean"]) == (0, None, None)
    assert found["own"]["excluded"] == {"y: not scored": 30}
    assert found["m"]["p_holm"] == pytest.approx(2 * found["m"]["p"])
    alone = {entry["metric"]: entry for entry in compare(one, other, 0, family=["m"])}
    assert alone["m"]["p_holm"] == alone["m"]["p"]
    assert alone["n"]["p_holm"] is None


VALUE = st.one_of(st.none(), st.sampled_from([0.0, 0.5, 1.0]))


@settings(max_examples=25)
@given(
    st.dictionaries(st.tuples(st.sampled_from("abcd"), st.integers(0, 2)), VALUE, min_size=1),
    st.dictionaries(st.tuples(st.sampled_from("abcd"), st.integers(0, 2)), VALUE, min_size=1),
)
def test_every_pair_counts_once_and_sides_are_antisymmetric(tmp_path_factory, one, other) -> None:
    folder = tmp_path_factory.mktemp("pairs")

    def made(name: str, values) -> Side:
        scores = [score(t, v, trial=n, reason="none") for (t, n), v in values.items()]
        return side(folder, name, *scores)

    left, right = made("x", one), made("y", other)
    (there,), (back,) = compare(left, right, 1, 100), compare(right, left, 1, 100)
    both = [k for k in one.keys() & other.keys() if None not in (one[k], other[k])]
    assert there["n"] == back["n"] == len(both)
    assert there["n"] + sum(there["excluded"].values()) == len(one.keys() | other.keys())
    if both:
        mean = sum(one[k] - other[k] for k in both) / len(both)
        assert there["difference"] == pytest.approx(mean, abs=1e-6) == -back["difference"]
        assert there["p"] == back["p"]


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "7",
        "{},{}",
        '{"schema":"score/1"},7',
        '{"schema":"task/1"}',
        '{"schema":"score/1","task_id":"a"}',
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "scores.jsonl"
    write_records(path, [score("a", 1.0)])
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(DataError, match=r"scores\.jsonl, line 2: "):
        read_scores(path)


@pytest.mark.parametrize("value", [2.0, -0.1])
def test_a_value_beyond_the_scale_of_its_metric_is_refused(tmp_path: Path, value: float) -> None:
    run = RunFolder(tmp_path)
    run.write_json("run.json", {})
    run.write_json(
        "summary.json",
        {"metrics": {"pass_rate": {}, "cost": {}}, "scales": {"cost": {"bounded": False}}},
    )
    write_records(
        run.scores_path, [Score("a", 0, 0, "cost", 9.0), Score("a", 0, 0, "pass_rate", 1)]
    )
    assert len(list(run.scores())) == len(read_scores(run.scores_path, run.rates()).metrics)
    write_records(run.scores_path, [score("a", value, "pass_rate")])
    told = f"value {value:g} of pass_rate: expected a number from 0 to 1; .*seal score"
    tail = Tail(run.scores_path, Score, rates=run.rates())
    for read in (lambda: list(run.scores()), lambda: side_of("a", run), lambda: list(tail.read())):
        with pytest.raises(DataError, match=told):
            read()


def test_a_value_that_is_no_number_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    with pytest.raises(DataError, match=r"no file .*: score the run with `seal score"):
        read_scores(path)
    write_records(path, [score("a", 1.0)])
    path.write_text(path.read_text().replace("1.0,", '"much",', 1))
    with pytest.raises(DataError, match="line 1"):
        read_scores(path)
    path.write_text("")
    assert list(read_scores(path).scored()) == []


@pytest.mark.parametrize(
    "rest",
    [
        '1.0,',
        '1.0,"weight":1,"reason":"","details":{"x":',
        '1.0.0,"reason":"","details":{}}',
        'null,"reason":null,"details":{}}',
    ],
)  # fmt: skip
def test_a_line_that_begins_as_a_score_is_named_where_it_is_none(tmp_path: Path, rest: str) -> None:
    path = tmp_path / "scores.jsonl"
    write_records(path, [score("a", 1.0), score("b", 1.0)])
    whole, name, _ = path.read_text().rpartition('"value":')
    path.write_text(f"{whole}{name}{rest}\n")
    with pytest.raises(DataError, match="line 2"):
        read_scores(path)


def test_two_scores_on_one_line_are_refused_and_not_one_of_them_lost(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    write_records(path, [score("a", 1.0), score("b", 1.0)])
    path.write_text(path.read_text().replace("\n", "", 1))
    with pytest.raises(DataError, match="line 1"):
        read_scores(path)


@pytest.mark.parametrize("value", [0.0, 1.0])
@pytest.mark.parametrize("apart", [1, 2_000])
def test_a_score_that_stands_twice_is_named_alike_or_not(
    tmp_path: Path, value: float, apart: int
) -> None:
    path = tmp_path / "scores.jsonl"
    between = [score(f"t{number}", 1.0) for number in range(apart)]
    write_records(path, [*between, score("t0", value), score("t0", 1.0)])
    says = rf"line {apart + 1}: scores task.* of line 1 again; .*`seal score {tmp_path}`"
    with pytest.raises(DataError, match=says):
        read_scores(path)


@settings(max_examples=30)
@given(
    st.lists(
        st.tuples(st.text(), st.text(min_size=1), st.none() | st.floats(-1e9, 1e9), st.text()),
        max_size=8,
    )
)
def test_scores_are_read_as_they_were_written_whatever_the_form_of_the_line(
    tmp_path_factory, cells
) -> None:
    written = [
        Score(task, place, 0, metric, value, reason="" if value is not None else reason)
        for place, (task, metric, value, reason) in enumerate(cells)
    ]
    path = tmp_path_factory.mktemp("scores") / "scores.jsonl"
    write_records(path, written)
    tables = [read_scores(path)]
    lines = path.read_bytes().splitlines()
    path.write_text("\n".join(json.dumps(json.loads(line)) for line in lines))
    tables.append(read_scores(path))
    assert list(tables[0].scored()) == list(tables[1].scored())
    assert tables[0].metrics == tables[1].metrics
    for one in written:
        key = (well_formed(one.task_id), one.trial, 0)
        cell = (list(tables[0].scored()).index(key), tables[0].metrics[well_formed(one.metric)])
        for table in tables:
            reason = table.reasons[table.why[cell]] if table.why[cell] >= 0 else None
            assert (reason is None) == (one.value is not None)
            assert one.value is None or table.values[cell] == one.value


def test_variants_of_one_task_are_one_cluster(tmp_path: Path) -> None:
    goal = (Goal("Do it"),)
    tasks = [
        Task("a", "b", goal),
        Task("a-u", "b", goal, metadata={"seed": "a"}),
        Task("x#1", "b", goal, metadata={"base": "x"}),
        Task("n", "b", goal, metadata={"seed": 7}),
    ]
    write_records(tmp_path / "tasks.jsonl", tasks)
    assert clusters_of(RunFolder(tmp_path)) == {"a": "a", "a-u": "a", "x#1": "x", "n": "n"}
    (tmp_path / "tasks.jsonl").write_text('{"id":"a"}\n')
    with pytest.raises(DataError, match="line 1: "):
        clusters_of(RunFolder(tmp_path))
    (tmp_path / "tasks.jsonl").unlink()
    os.mkfifo(tmp_path / "tasks.jsonl")  # is not waited for
    with pytest.raises(DataError, match="is a pipe, and no file"):
        clusters_of(RunFolder(tmp_path))


def test_real_runs_are_compared_two_by_two(tmp_path: Path, pool: Path) -> None:
    runs = {
        model: play(pool, tmp_path / model, model=model).folder
        for model in ("oracle", "lexical", "random")
    }
    asked = CompareSettings(pairs="all", metrics=("mission_accuracy", "calls"))
    found = study(runs, asked, [], [])["comparisons"]
    assert [(e["run"], e["other"], e["metric"]) for e in found][::2] == [
        ("lexical", "oracle", "mission_accuracy"),
        ("random", "oracle", "mission_accuracy"),
        ("random", "lexical", "mission_accuracy"),
    ]
    assert all(entry["n"] == 4 for entry in found)
    assert list(differing(runs)) == []


def test_what_is_measured_otherwise_is_told(tmp_path: Path, pool: Path) -> None:
    other = write_pool(tmp_path / "other")
    runs = {
        "a": play(pool, tmp_path / "a", model="random", limit=1, max_turns=4).folder,
        "b": play(other, tmp_path / "b", model="random", limit=1, max_turns=3).folder,
    }
    told = list(differing(runs, expected=["pool"]))
    assert told == ["a and b measure otherwise: max_turns is 4 and 3"]


@pytest.mark.parametrize(("file", "what"), [("tools.jsonl", "tools"), ("tasks.jsonl", "tasks")])
def test_pools_that_differ_are_told_without_digests(
    tmp_path: Path, pool: Path, file: str, what: str
) -> None:
    other = write_pool(tmp_path / "other")
    lines = (other / file).read_text().splitlines(keepends=True)
    (other / file).write_text("".join(lines[:-1]))
    runs = {
        "a": play(pool, tmp_path / "a", model="random", limit=1).folder,
        "b": play(other, tmp_path / "b", model="random", limit=1).folder,
    }
    told = list(differing(runs, expected=["pool"]))
    assert told == [f"a and b measure otherwise: the {what} of their pools differ"]


def test_values_that_begin_alike_are_told_apart_and_own_code_by_its_name(tmp_path: Path) -> None:
    long = "dense,model=" + "m" * 60 + ",batch_size="
    runs = {}
    for name, size in (("a", 16), ("b", 32)):
        folder = tmp_path / name
        folder.mkdir()
        system = {"retriever": f"{long}{size}", "agent": f"mine:solve#{size}", "top_k": 5}
        (folder / "run.json").write_text(json.dumps({"measure": {}, "system": system}))
        runs[name] = RunFolder(folder)
    found = varied_settings(runs)
    assert [*found] == ["retriever", "agent"]
    assert found["retriever"]["a"].endswith("batch_size=16") and len(found["retriever"]["a"]) < 100
    assert found["agent"] == {"a": "mine:solve#16", "b": "mine:solve#32"}
