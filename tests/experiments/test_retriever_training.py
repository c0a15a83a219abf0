"""Splits, near-duplicates, and whole trainings of small models."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_pools import write_pool

import seal
from seal.api import load_pool
from seal.core import DataError, Goal, Lock, Task, Tool, UnknownNameError, UsageError
from seal.experiments import (
    TrainSettings,
    asked_of,
    near_duplicates,
    split,
    train_retriever,
    without,
)
from seal.report import training_tables
from seal.retrievers import load_model, plain

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


@given(some_tasks, st.sampled_from(["query", "tool"]), st.floats(0.05, 0.95), st.integers(0, 5))
def test_no_text_and_no_held_out_tool_stands_on_both_sides(
    tasks: tuple[Task, ...], kind: Any, held_out: float, seed: int
) -> None:
    try:
        parts = split(tasks, kind, held_out, seed)
    except DataError:
        return
    ids = [task.id for task in (*parts.train, *parts.test, *parts.left_out)]
    assert sorted(ids) == sorted(task.id for task in tasks)
    texts, tests = ({plain(q.text) for q in asked_of(p)} for p in (parts.train, parts.test))
    assert texts.isdisjoint(tests)
    trained = {tool for query in asked_of(parts.train) for tool in query.tools}
    assert trained.isdisjoint(parts.held_out_tools)
    assert parts == split(tasks, kind, held_out, seed)


def test_a_share_of_the_tasks_is_held_out() -> None:
    parts = split(TASKS, "query", 0.25, 0)
    assert (len(parts.train), len(parts.test), parts.left_out) == (30, 10, ())
    assert parts.test != split(TASKS, "query", 0.25, 1).test


def test_test_tasks_are_those_that_need_a_held_out_tool() -> None:
    tasks = (*TASKS, task(90, "rain and gold", "rain", "gold"))
    parts = split(tasks, "tool", 0.25, 0)
    held = set(parts.held_out_tools)
    assert len(held) == 2
    for part, expected in ((parts.train, False), (parts.test, True)):
        assert {bool(held & set(t.goals[0].relevant)) for t in part} == {expected}


def test_the_benchmarks_own_split_is_honoured() -> None:
    names = ("train", "test", "dev", "")
    tasks = [replace(task, split=names[n % 4]) for n, task in enumerate(TASKS)]
    parts = split(tasks, "given", 0.2, 0)
    assert {task.split for task in parts.train} == {"train"}
    assert {task.split for task in parts.test} == {"test", "dev"}
    assert {task.split for task in parts.left_out} == {""}


def test_a_pool_without_two_splits_has_none_to_honour() -> None:
    with pytest.raises(UsageError, match="there are: test 40"):
        split([replace(task, split="test") for task in TASKS], "given", 0.2, 0)
    with pytest.raises(UsageError, match="there are: none"):
        split(TASKS, "given", 0.2, 0)


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


def test_a_task_without_some_of_its_queries_keeps_the_others() -> None:
    goals = (Goal("rain?", relevant=("a",)), Goal("hello"), Goal("gold?", relevant=("b",)))
    tasks = [Task("two", "toy", goals), Task("one", "toy", goals[:2])]
    gone = [query for query in asked_of(tasks) if query.goal == 0]
    assert without(tasks, gone) == (replace(tasks[0], goals=goals[1:]),)
    assert without(tasks, []) == tuple(tasks)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"held_out": 0.0}, "--held-out 0.0: expected a number above 0 and below 1"),
        ({"held_out": 1}, "--held-out 1"),
        ({"k": (0, 5)}, "--cutoffs 0: expected a whole number of at least 1"),
        ({"k": ()}, "--cutoffs"),
        ({"steps": 0}, "--steps 0"),
        ({"steps": 5, "epochs": 2.0}, "--epochs 2.0: expected steps or epochs"),
        ({"epochs": float("nan")}, "--epochs nan"),
        ({"batch_size": 1}, "--batch-size 1: expected a whole number of at least 2"),
        ({"learning_rate": 0.0}, "--learning-rate 0.0"),
        ({"max_length": 0}, "--max-length 0"),
        ({"threshold": 101.0}, "--threshold 101.0"),
        ({"split": "half"}, "known: benchmark, given, query, tool"),
        ({"device": "gpu"}, "known: cpu, cuda"),
    ],
)
def test_settings_that_no_training_can_have_are_refused(
    settings: dict[str, Any], says: str
) -> None:
    with pytest.raises(UsageError) as failed:
        TrainSettings(**settings)
    assert says in str(failed.value)


def test_steps_follow_from_epochs() -> None:
    assert TrainSettings(batch_size=10).steps_for(25) == 3
    assert TrainSettings(batch_size=10, epochs=0.1).steps_for(5) == 1
    assert TrainSettings(steps=7).steps_for(25) == 7
    assert TrainSettings().checkpoints_for(32) == 3


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of random vectors of words, which knows nothing of what they mean."""
    for package in ("sentence_transformers", "datasets", "accelerate"):
        pytest.importorskip(package, reason="needs the extra 'training'")
    import torch
    from tiny_models import write_static

    torch.set_num_threads(1)  # more of them wait for each other on a busy machine
    texts = [*(tool.description for tool in TOOLS), *(t.goals[0].text for t in TASKS)]
    return write_static(tmp_path_factory.mktemp("models") / "base", texts)


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pool where each topic's word is written alike in queries and in one tool's document."""
    return write_pool(tmp_path_factory.mktemp("pools") / "toy", TASKS, TOOLS)


Train = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def settings(base: Path) -> dict[str, Any]:
    """Of short trainings; two steps are enough where what is learned is not looked at."""
    rates = {"batch_size": 8, "learning_rate": 0.1}
    return {"base": str(base), "steps": 2, **rates, "k": (1, 3), "device": "cpu"}


@pytest.fixture
def train(settings: dict[str, Any], toy: Path, tmp_path: Path) -> Train:
    """Train on the toy pool into `out`."""

    def call(
        pool: Path = toy, out: str = "out", test_on: Any = (), resume: bool = False, **changes: Any
    ) -> dict[str, Any]:
        asked = TrainSettings(**{**settings, **changes})
        return train_retriever([pool], tmp_path / out, asked, test_on, resume)

    return call


@dataclass(frozen=True)
class Finished:
    """A finished training on the toy pool, tested on three foreign pools."""

    folder: Path
    settings: TrainSettings
    pools: tuple[Path, ...]
    record: dict[str, Any]


@pytest.fixture(scope="module")
def finished(
    settings: dict[str, Any], toy: Path, tmp_path_factory: pytest.TempPathFactory
) -> Finished:
    folder = tmp_path_factory.mktemp("finished")
    asked = TrainSettings(
        **{**settings, "steps": 60}, seed=3, split="tool", held_out=0.25, threshold=95
    )
    trained = split(TASKS, "tool", 0.25, 3).train
    first, second, third = (query.text for query in asked_of(trained)[:3])
    copied = [task(n, text, "rain") for n, text in enumerate((first.upper(), second, third + "s"))]
    two = task(7, first, "rain")
    two = replace(
        two, goals=(*two.goals, Goal("something else entirely", relevant=two.goals[0].relevant))
    )
    pools = (
        write_pool(folder / "apart"),
        write_pool(folder / "copied", copied, TOOLS),
        write_pool(folder / "shared", [*copied, two, task(8, "drizzle tomorrow", "rain")], TOOLS),
    )
    record = train_retriever([toy], folder / "out", asked, pools)
    return Finished(folder / "out", asked, pools, record)


def entries_of(record: dict[str, Any], pool: str) -> list[dict[str, Any]]:
    return [entry for entry in record["results"] if entry["pool"] == pool]


def test_a_trained_model_finds_more_and_is_a_retriever(finished: Finished, toy: Path) -> None:
    record = finished.record
    assert json.loads((finished.folder / "training.json").read_text()) == record
    assert not (finished.folder / "checkpoints").exists()
    before, after = entries_of(record, "toy")
    assert (before["retriever"], after["retriever"]) == ("before", "after")
    assert after["metrics"]["mrr@3"]["mean"] > before["metrics"]["mrr@3"]["mean"]
    assert after["queries"] == 10
    assert [entry["in_source"] for entry in record["results"]] == [True] * 2 + [False] * 6

    found = seal.retrieve(toy, f"dense,model={finished.folder}", k=3).content
    assert found["results"][0]["in_source"] is True
    assert found["retrievers"][0]["trained_on"] == "toy"


def test_foreign_queries_that_stand_in_training_are_counted_and_left_out(
    finished: Finished,
) -> None:
    record = finished.record
    pools = record["near_duplicates"]["pools"]
    names = ("queries", "same_text", "near", "left_out")
    assert {entry["pool"]: tuple(entry[name] for name in names) for entry in pools} == {
        "toy": (10, 0, 2, 0),
        "apart": (4, 0, 0, 0),
        "copied": (3, 2, 3, 3),
        "shared": (6, 3, 4, 4),
    }
    names = ("tools", "tools_trained", "unseen")
    assert {entry["pool"]: tuple(entry[name] for name in names) for entry in pools} == {
        "toy": (2, 0, 10),
        "apart": (1, 0, 4),
        "copied": (0, 0, 0),
        "shared": (1, 0, 2),
    }
    example = pools[2]["examples"][0]
    assert example["ratio"] == 100
    assert example["test_text"] == example["train_text"].upper()
    assert [entry["queries"] for entry in entries_of(record, "shared")] == [2, 2]


def test_a_pool_of_which_nothing_is_left_enters_no_gap(finished: Finished) -> None:
    record = finished.record
    for entry in entries_of(record, "copied"):
        assert entry["unavailable"] == "3 queries, all in training or nearly so"
        assert entry["metrics"] == {}
    gap = record["gap"]["recall@3"]["after"]
    own, apart, shared = (
        entries_of(record, pool)[1]["metrics"]["recall@3"]["mean"]
        for pool in ("toy", "apart", "shared")
    )
    assert gap["in_source"] == own
    assert gap["foreign"] == pytest.approx((apart + shared) / 2)
    assert gap["gap"] == pytest.approx(own - gap["foreign"])


def test_the_tables_say_what_was_left_out(finished: Finished) -> None:
    from rich.console import Console

    console = Console(width=80, record=True, file=StringIO())
    for part in training_tables(finished.record):
        console.print(part)
    said = console.export_text()
    rows = [line.replace("│", " ").split() for line in said.splitlines()]
    assert ["copied", "3", "2", "3", "3", "0", "0"] in rows
    assert ["copied", "0", "n/a", "n/a"] in rows
    assert "trained on 0 of 2 tools that the test in the source needs" in said
    assert "copied: n/a, 3 queries, all in training" in said
    assert "recall@3 in its source less foreign sources" in said
    assert max(map(len, said.splitlines())) <= 80


@pytest.mark.parametrize(
    ("count", "kind", "said"),
    [
        (0, "query", "none left out"),
        (8, "query", "8 left out (without a text that needs a tool)"),
        (8, "given", "needs a tool, or that the benchmark puts in no split)"),
    ],
)
def test_the_first_line_says_why_tasks_are_left_out(
    finished: Finished, count: int, kind: str, said: str
) -> None:
    record = finished.record
    counts = {**record["counts"], "left_out_tasks": count}
    split = {**record["split"], "kind": kind}

    assert next(training_tables({**record, "counts": counts, "split": split})).endswith(said)


def test_the_record_says_what_was_trained(finished: Finished, toy: Path) -> None:
    record = finished.record
    pool = load_pool(toy)
    [source] = record["sources"]
    assert record["pool"] == source["pool"] == pool.name
    assert source["pool_digest"] == pool.digest
    assert record["template"] == "tool_api_description"
    assert record["seed"] == 3
    ids = sorted(source["train"] + source["test"])
    assert ids == sorted(task.id for task in TASKS)
    assert len(source["held_out_tools"]) == 2
    counts = record["counts"]
    assert (counts["pairs"], counts["tools_trained"], counts["held_out_tools"]) == (30, 6, 2)
    assert record["hyper_parameters"]["steps"] == 60
    assert record["versions"]["sentence-transformers"]
    assert [entry["step"] for entry in record["losses"]] == list(range(6, 61, 6))


def test_a_finished_training_is_returned_as_it_is(
    finished: Finished, toy: Path, tmp_path: Path
) -> None:
    def again(pools: Sequence[Path]) -> dict[str, Any]:
        return train_retriever([toy], finished.folder, finished.settings, pools, resume=True)

    assert again(finished.pools) == finished.record
    other = write_pool(tmp_path / "other", [task(1, "gold?", "gold")], TOOLS)
    with pytest.raises(UsageError, match="was not tested on other; measure it there by"):
        again([other])


def test_near_duplicates_are_told_and_dropped_when_asked(train: Train) -> None:
    told = train(out="told", threshold=75)
    dropped = train(out="dropped", threshold=75, drop_near_duplicates=True)
    near = told["near_duplicates"]
    assert near["train_queries"] == dropped["near_duplicates"]["dropped"] > 0
    assert near["dropped"] == 0
    assert near["examples"][0]["ratio"] >= near["examples"][-1]["ratio"] >= 75
    assert near["pools"][0]["near"] > 0 == dropped["near_duplicates"]["pools"][0]["near"]
    assert dropped["counts"]["pairs"] == told["counts"]["pairs"] - near["train_queries"]
    assert told["gap"] is None


def test_a_split_by_query_tells_that_its_tools_were_trained_on(train: Train) -> None:
    record = train()
    own = record["near_duplicates"]["pools"][0]
    assert (own["tools_trained"], own["unseen"]) == (own["tools"], 0)
    said = [part for part in training_tables(record) if isinstance(part, str)]
    assert "so it says nothing of new tools: --split tool holds tools out" in said


def test_tools_are_counted_and_not_their_documents(train: Train, tmp_path: Path) -> None:
    twins = [replace(TOOLS[0], id="toy/twin/get"), *TOOLS]
    asked = [*TASKS, *(task(n, f"{text} the twin", "twin") for n, text in enumerate(WORDS, 90))]
    record = train(write_pool(tmp_path / "twins", asked, twins))
    assert record["counts"]["tools_trained"] == 9


def test_a_given_split_never_trains_on_a_test_text(train: Train, tmp_path: Path) -> None:
    tasks = [replace(t, split="train" if n < 32 else "test") for n, t in enumerate(TASKS)]
    repeated = replace(TASKS[0], id="again", split="test")
    pool = write_pool(tmp_path / "given", [*tasks, repeated], TOOLS)
    record = train(pool, split="given")
    assert record["near_duplicates"]["same_text"] == 1
    assert record["near_duplicates"]["dropped"] == 1
    assert record["counts"]["pairs"] == 31


def interrupt_at(stage: str, done: int) -> Callable[[str, int, int], None]:
    def told(now: str, count: int, total: int) -> None:
        if (now, count) == (stage, done):
            raise KeyboardInterrupt

    return told


def test_an_interrupted_training_goes_on_under_equal_settings_alone(
    settings: dict[str, Any], toy: Path, tmp_path: Path
) -> None:
    asked = TrainSettings(**{**settings, "steps": 6, "checkpoint_every": 2})
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        train_retriever([toy], out, asked, progress=interrupt_at("steps", 5))
    with pytest.raises(UsageError, match="--resume goes on with one"):
        train_retriever([toy], out, asked)
    with pytest.raises(UsageError, match="seed: was 0, is 1"):
        train_retriever([toy], out, replace(asked, seed=1), resume=True)
    with Lock(out / "checkpoints"), pytest.raises(UsageError, match="another process"):
        train_retriever([toy], out, asked, resume=True)

    told: list[tuple[str, int, int]] = []
    record = train_retriever(
        [toy], out, asked, resume=True, progress=lambda *step: told.append(step)
    )
    assert told[:2] == [("steps", 5, 6), ("steps", 6, 6)]
    whole = train_retriever([toy], tmp_path / "whole", asked)
    weights = [(folder / "model.safetensors").read_bytes() for folder in (out, tmp_path / "whole")]
    assert weights[0] == weights[1]
    assert record["losses"] == whole["losses"]


def test_the_folder_is_no_model_before_it_is_measured(
    settings: dict[str, Any], toy: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    asked = TrainSettings(**settings)
    with pytest.raises(KeyboardInterrupt):
        train_retriever([toy], out, asked, progress=interrupt_at("pools", 1))
    assert [path.name for path in out.iterdir()] == ["checkpoints"]
    found = seal.retrieve(toy, f"dense,model={out}", k=3).content
    assert "no sentence-transformers model" in found["results"][0]["unavailable"]
    train_retriever([toy], out, asked, resume=True)
    assert load_model(str(out), "cpu")


@pytest.mark.parametrize(
    ("tasks", "says"),
    [
        ([replace(TASKS[0], goals=(Goal("x"),))], "none of 1 task names the tools"),
        (TASKS[:1], "no task is left for training of 1"),
        (TASKS[:2], "1 pair of a query and a tool to train on"),
        ([task(n, f"number {n}", "rain") for n in range(9)], "queries that need different tools"),
    ],
)
def test_a_pool_with_too_little_to_train_on_is_refused(
    train: Train, tmp_path: Path, tasks: list[Task], says: str
) -> None:
    pool = write_pool(tmp_path / "small", tasks, TOOLS)
    with pytest.raises(DataError) as failed:
        train(pool)
    assert says in str(failed.value)
    assert not (tmp_path / "out").exists()


def test_what_cannot_begin_says_so_before_anything_is_written(
    train: Train, toy: Path, tmp_path: Path
) -> None:
    with pytest.raises(UnknownNameError, match="nowhere"):
        train(test_on=["nowhere"])
    with pytest.raises(UsageError, match="the same pool as toy, which is named already"):
        train(test_on=[toy])
    with pytest.raises(UnknownNameError, match="document template"):
        train(template="nmae")
    with pytest.raises(UsageError, match="no sentence-transformers model"):
        train(base=str(toy))
    with pytest.raises(UsageError, match="--max-length 9"):
        train(max_length=9)
    assert not (tmp_path / "out").exists()


def test_a_folder_with_something_else_is_left_alone(train: Train, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").touch()
    with pytest.raises(UsageError, match="exists and is not empty"):
        train()
    with pytest.raises(UsageError, match="holds no training to go on with"):
        train(resume=True)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine"]


def test_a_map_over_a_retriever_is_refused_by_what_is_needed(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="base 'tfidf' is a retriever, and a map"):
        seal.train_retriever("sample", out=tmp_path / "map", trains="map", base="tfidf")
