"""Splits of a pool for training: no tool and no query stands on both sides."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_pools import write_pool

import seal
from seal.api.benchmarks import export, load_pool
from seal.core import DataError, Goal, Milestone, Plan, Task, Tool, UnknownNameError, UsageError
from seal.core.conditions import Called
from seal.experiments.splits import SplitSettings, asked_of, near_duplicates, plain, split_tasks

TOPICS = ("rain", "gold", "music", "trains", "soup", "chess", "tigers", "paint")
WORDS = ("tell me about", "what is new with", "find the best", "compare prices of", "explain")
TOOLS = tuple(Tool(f"toy/{t}/get", f"get_{t}", f"{t.upper()} and nothing else.") for t in TOPICS)


def task(number: int, text: str, *topics: str, **changes: Any) -> Task:
    goal = Goal(text, relevant=tuple(f"toy/{topic}/get" for topic in topics))
    return replace(Task(f"t{number}", "toy", (goal,)), **changes)


TASKS = tuple(
    task(number, f"{words} {topic}", topic)
    for number, (words, topic) in enumerate((w, t) for w in WORDS for t in TOPICS)
)

some_tasks = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), st.sets(st.sampled_from(TOPICS), max_size=3)),
    min_size=2,
    max_size=30,
).map(lambda drawn: tuple(task(n, *((text, *sorted(t)))) for n, (text, t) in enumerate(drawn)))


def needed(tasks: Sequence[Task]) -> set[str]:
    return {tool for query in asked_of(tasks) for tool in query.tools}


@given(some_tasks, st.sampled_from(["query", "tool"]), st.floats(0.05, 0.95), st.integers(0, 5))
def test_no_text_and_no_tool_that_is_held_out_stands_on_both_sides(
    tasks: tuple[Task, ...], by: Any, test: float, seed: int
) -> None:
    settings = SplitSettings(by=by, test=test, seed=seed)
    try:
        parts = split_tasks(tasks, settings)
    except (DataError, UsageError):
        return
    left = [task for those in parts.left_out.values() for task in those]
    ids = [task.id for task in (*parts.train, *parts.test, *left)]
    assert sorted(ids) == sorted(task.id for task in tasks)
    texts, tests = ({plain(q.text) for q in asked_of(p)} for p in (parts.train, parts.test))
    assert texts.isdisjoint(tests)
    if by == "tool":
        assert needed(parts.train).isdisjoint(needed(parts.test))
        assert needed(parts.train).isdisjoint(parts.held_out_tools)
        assert needed(parts.test) <= {*parts.held_out_tools}
    assert parts == split_tasks(tasks, settings)


@pytest.mark.parametrize("by", ["query", "tool"])
def test_no_training_query_of_a_pool_is_nearly_a_test_query(by: Any) -> None:
    tasks = [*load_pool("mmtb-sample").tasks()]
    parts = split_tasks(tasks, SplitSettings(by=by, threshold=75.0))
    assert by == "tool" or parts.left_out["near a test query"]
    assert near_duplicates(asked_of(parts.train), asked_of(parts.test), 75) == []
    if by == "tool":
        assert needed(parts.train).isdisjoint(needed(parts.test))


@pytest.mark.parametrize(("test", "count"), [(0.25, 10), (None, 8), (3, 3), (0.001, 1)])
def test_a_share_or_a_number_of_the_tasks_is_held_out(test: Any, count: int) -> None:
    parts = split_tasks(TASKS, SplitSettings(test=test, threshold=100.0))
    assert (len(parts.train), len(parts.test), parts.left_out) == (40 - count, count, {})
    assert parts.test != split_tasks(TASKS, SplitSettings(test=test, seed=1)).test


@pytest.mark.parametrize(("train", "count"), [(0.25, 10), (7, 7)])
def test_training_tasks_are_drawn_where_fewer_are_wanted(train: Any, count: int) -> None:
    parts = split_tasks(TASKS, SplitSettings(train=train, threshold=100.0))
    assert (len(parts.train), len(parts.test)) == (count, 8)
    assert [*parts.left_out] == ["more than wanted for training"]


def test_test_tasks_need_held_out_tools_alone_and_mixed_ones_are_left_out() -> None:
    tasks = (*TASKS, task(90, "rain and gold", "rain", "gold"))
    parts = split_tasks(tasks, SplitSettings(by="tool", test=1))
    (held,) = parts.held_out_tools
    assert needed(parts.test) == {held}
    mixed = {t.id for t in parts.left_out.get("need tools of both parts", ())}
    assert mixed == ({"t90"} if held in ("toy/rain/get", "toy/gold/get") else set())


def test_a_tool_that_gold_calls_counts_as_needed() -> None:
    plans = (Plan((Milestone(Called("toy/gold/get")),)),)
    calling = {one.id for one in TASKS if "rain" in one.goals[0].text}
    tasks = [
        replace(one, goals=(replace(one.goals[0], plans=plans),)) if one.id in calling else one
        for one in TASKS
    ]
    held = set()
    for seed in range(20):
        parts = split_tasks(tasks, SplitSettings(by="tool", test=1, seed=seed))
        held.update(parts.held_out_tools)
        mixed = {one.id for one in parts.left_out.get("need tools of both parts", ())}
        assert mixed == (calling if "toy/gold/get" in parts.held_out_tools else set())
    assert "toy/gold/get" in held


def test_the_benchmarks_own_split_is_honoured() -> None:
    names = ("train", "test", "dev", "")
    tasks = [replace(one, split=names[n % 4]) for n, one in enumerate(TASKS)]
    parts = split_tasks(tasks, SplitSettings(by="given", threshold=100.0))
    assert {one.split for one in parts.train} == {"train"}
    assert {one.split for one in parts.test} == {"test", "dev"}
    assert {one.split for one in parts.left_out["in no split of the benchmark's"]} == {""}


def test_a_given_split_loses_training_tasks_that_repeat_a_test_text() -> None:
    tasks = [replace(one, split="train" if n < 32 else "test") for n, one in enumerate(TASKS)]
    repeated = replace(TASKS[0], id="again", split="test")
    parts = split_tasks([*tasks, repeated], SplitSettings(by="given", threshold=100.0))
    assert parts.left_out == {"near a test query": (tasks[0],)}


def test_a_pool_without_two_splits_has_none_to_honour() -> None:
    with pytest.raises(UsageError, match="there are: test 40"):
        split_tasks([replace(one, split="test") for one in TASKS], SplitSettings(by="given"))
    with pytest.raises(UsageError, match="there are: none"):
        split_tasks(TASKS, SplitSettings(by="given"))


def test_near_duplicates_are_the_likest_first() -> None:
    train = asked_of([task(1, "Find the best soup!"), task(2, "Is it raining?", "rain")])
    train += asked_of([task(3, "Find the best soup", "soup"), task(4, "Find a best soup", "soup")])
    test = asked_of([task(9, "find the best, soup", "soup"), task(8, "Play chess.", "chess")])
    found = near_duplicates(train, test, 80)
    assert [(near.query.task_id, near.other.task_id) for near in found] == [
        ("t3", "t9"),
        ("t4", "t9"),
    ]
    assert found[0].ratio == 100
    assert 80 <= found[1].ratio < 100
    assert near_duplicates(train, [], 80) == []


def test_queries_are_the_same_by_their_words() -> None:
    assert plain("Is it  raining?") == plain("is it raining")
    assert plain("?!") == "?!"


@pytest.mark.parametrize(
    ("settings", "error", "says"),
    [
        ({"by": "tools"}, UnknownNameError, "known: given, query, tool. Did you mean 'tool'"),
        ({"by": 3}, UnknownNameError, "no value of by '3'"),
        (
            {"test": 0},
            UsageError,
            "test=0: expected a share above 0 and below 1, or a whole number",
        ),
        ({"test": 1.0}, UsageError, "test=1.0: expected a share above 0 and below 1"),
        ({"test": -0.5}, UsageError, "test=-0.5: expected"),
        ({"train": 0.0}, UsageError, "train=0.0: expected"),
        ({"train": float("nan")}, UsageError, "train=nan: expected"),
        ({"test": True}, UsageError, "test: expected a whole number, a number or None"),
        ({"test": 40}, UsageError, "test=40: of 40 tasks at most 39 can be taken"),
        ({"by": "tool", "test": 8}, UsageError, "test=8: of 8 tools at most 7 can be taken"),
        ({"train": 39}, UsageError, "train=39: of 40 tasks at most 32 can be taken"),
        ({"by": "given", "test": 5}, UsageError, "test=5: the benchmark's own split says it"),
        ({"by": "given"}, UsageError, "by='given': the pool's tasks must be of 'train'"),
        ({"threshold": 0.0}, UsageError, "threshold=0.0: expected a number above 0, at most 100"),
        ({"threshold": 101.0}, UsageError, "threshold=101.0"),
        ({"seed": 1 << 70}, UsageError, "expected a whole number of at most 18 digits"),
        ({"held_out": 0.2}, UnknownNameError, "no setting 'held_out'"),
    ],
)
def test_what_no_split_can_have_is_refused(
    settings: dict[str, Any], error: type[Exception], says: str, tmp_path: Path
) -> None:
    pool = write_pool(tmp_path / "toy", TASKS, TOOLS)
    with pytest.raises(error) as failed:
        seal.split(pool, out=tmp_path / "out", **{"threshold": 100.0, **settings})
    assert says in str(failed.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("tasks", "says"),
    [
        ([replace(TASKS[0], goals=(Goal("x"),))], "none of 1 task names the tools"),
        ([TASKS[0], replace(TASKS[0], id="again")], "no task is left for training"),
        (
            [task(n, f"number {n}", *TOPICS[:4]) for n in range(9)],
            "by='tool': no task is left for testing; change test, seed or by",
        ),
    ],
)
def test_a_pool_with_too_little_to_split_is_refused(
    tmp_path: Path, tasks: list[Task], says: str
) -> None:
    pool = write_pool(tmp_path / "small", tasks, TOOLS)
    with pytest.raises(DataError) as failed:
        seal.split(pool, "tool" if len(tasks) == 9 else "query", out=tmp_path / "out")
    assert says in str(failed.value)
    assert not (tmp_path / "out").exists()


def test_one_task_is_too_few(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"test=0\.2: of 1 task at most 0 can be taken"):
        seal.split(write_pool(tmp_path / "one", TASKS[:1], TOOLS))


def test_the_parts_are_pools_that_other_functions_take(tmp_path: Path) -> None:
    parts = seal.split("sample", by="tool", out=tmp_path / "parts", seed=3)

    train, test = (load_pool(tmp_path / "parts" / part) for part in ("train", "test"))
    assert (train.name, test.name) == ("sample", "sample")
    assert test.tools() == load_pool("sample").tools()
    held = {*parts["sources"][0]["held_out_tools"]}
    assert held
    assert held.isdisjoint(tool.id for tool in train.tools())
    assert needed([*test.tasks()]) <= held
    counts = parts["counts"]
    found = seal.retrieve(parts.test, "tfidf", k=5)
    assert found.content["pools"][0]["tasks"] == counts["test_tasks"]
    made = export(parts.train, "triplets", tmp_path / "triplets")
    assert made.counts["triplets"] >= counts["train_tasks"]
    written = json.loads((tmp_path / "parts" / "training.json").read_text())
    assert written == parts.content
    lines = repr(parts).splitlines()
    assert lines[0] == "sample, split by tool"
    assert "<td>train</td>" in parts._repr_html_()
    assert any(line.startswith("left out, without a query that needs a tool: ") for line in lines)


def test_a_split_is_written_again_alike_and_nothing_else_is_replaced(tmp_path: Path) -> None:
    def contents() -> dict[str, bytes]:
        return {str(file): file.read_bytes() for file in sorted(out.rglob("*.json*"))}

    out = tmp_path / "parts"
    seal.split("sample", out=out)
    before = contents()
    seal.split("sample", seed=1, out=out)
    assert contents() != before
    seal.split("sample", out=out)
    assert contents() == before
    (out / "mine.txt").touch()
    with pytest.raises(UsageError, match="holds something else than a split"):
        seal.split("sample", out=out)


def test_a_folder_without_a_benchmark_is_split_in_a_temporary_folder(tmp_path: Path) -> None:
    parts = seal.split(write_pool(tmp_path / "my toy", TASKS, TOOLS), threshold=100.0)
    assert (parts.test, parts.folder.is_dir()) == (parts.folder / "test", True)
    assert len(list(load_pool(parts.test).tasks())) == 8


def test_its_record_marks_what_a_model_was_trained_on(tmp_path: Path) -> None:
    parts = seal.split("sample", out=tmp_path / "parts")
    counts = parts["counts"]
    model = f"dense,model={tmp_path / 'parts'}"

    def measured(pool: Any, **settings: Any) -> list[Any]:
        (entry,) = seal.retrieve(pool, model, k=5, **settings).content["results"]
        return [entry.get("in_source"), entry.get("training_queries")]

    assert measured("sample") == [True, counts["train_tasks"]]
    assert measured(parts.test) == [True, 0]
    assert measured("toolscan-sample") == [False, None]
    kept = seal.retrieve("sample", "tfidf", k=5, held_out=parts.folder)
    apart = seal.retrieve(parts.test, "tfidf", k=5)
    assert kept["recall@5"].mean == apart["recall@5"].mean
