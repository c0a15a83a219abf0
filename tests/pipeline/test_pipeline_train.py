"""Splits, near-duplicates, and whole trainings of small models."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_pools import write_pool

import seal
from seal.core.errors import DataError, UnknownNameError, UsageError
from seal.core.types import Goal, Task, Tool
from seal.pipeline.journal import Lock
from seal.pipeline.training.settings import TrainSettings
from seal.pipeline.training.splits import asked_of, near_duplicates, split
from seal.pipeline.training.train import train_retriever
from seal.retrievers.training import plain

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
    assert [(near.train.task_id, near.test.task_id) for near in found] == [
        ("t3", "t9"),
        ("t4", "t9"),
    ]
    assert found[0].ratio == 100
    assert 80 <= found[1].ratio < 100
    assert near_duplicates(train, [], 80) == []


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"held_out": 0.0}, "--held-out 0.0: expected a share between 0 and 1"),
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
        ({"split": "half"}, "known: given, query, tool"),
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


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """A pool where each topic's word is written alike in queries and in one tool's document."""
    return write_pool(tmp_path / "toy", TASKS, TOOLS)


@pytest.fixture
def train(base: Path, toy: Path, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Train on the toy pool into `out`."""

    def call(
        pool: Path = toy, out: str = "out", test_on: Any = (), resume: bool = False, **settings: Any
    ) -> dict[str, Any]:
        given = {"base": str(base), "steps": 30, "batch_size": 8, "learning_rate": 0.1, "k": (1, 3)}
        asked = TrainSettings(**{**given, "device": "cpu", **settings})
        return train_retriever(pool, tmp_path / out, asked, test_on, resume)

    return call


def test_a_trained_model_finds_more_and_is_a_retriever(
    train: Callable[..., dict[str, Any]], toy: Path, tmp_path: Path
) -> None:
    foreign = write_pool(tmp_path / "foreign")
    record = train(test_on=[foreign])

    assert json.loads((tmp_path / "out" / "training.json").read_text()) == record
    assert not (tmp_path / "out" / "checkpoints").exists()
    before, after, *others = record["results"]
    assert (before["retriever"], after["retriever"]) == ("before", "after")
    assert after["metrics"]["recall@1"]["mean"] > before["metrics"]["recall@1"]["mean"]
    assert after["queries"] == 8
    assert [entry["in_source"] for entry in record["results"]] == [True, True, False, False]
    gap = record["gap"]["recall@3"]["after"]
    assert gap["in_source"] == after["metrics"]["recall@3"]["mean"]
    assert gap["foreign"] == others[1]["metrics"]["recall@3"]["mean"]
    assert gap["gap"] == pytest.approx(gap["in_source"] - gap["foreign"])

    found = seal.retrieve(toy, f"dense,model={tmp_path / 'out'}", k=3)
    assert found["results"][0]["in_source"] is True
    assert found["retrievers"][0]["trained_on"] == "toy"


def test_the_record_says_what_was_trained(train: Callable[..., dict[str, Any]], toy: Path) -> None:
    record = train(seed=3, split="tool", held_out=0.25)
    pool = seal.load_pool(toy)
    assert (record["pool"], record["pool_digest"]) == (pool.name, pool.digest)
    assert record["template"] == "tool_api_description"
    assert record["seed"] == 3
    ids = sorted(record["split"]["train"] + record["split"]["test"])
    assert ids == sorted(task.id for task in TASKS)
    assert len(record["split"]["held_out_tools"]) == 2
    counts = record["counts"]
    assert (counts["pairs"], counts["tools_trained"], counts["held_out_tools"]) == (30, 6, 2)
    assert record["hyper_parameters"]["steps"] == 30
    assert record["versions"]["sentence-transformers"]
    assert record["gap"] is None
    assert [entry["step"] for entry in record["losses"]] == list(range(3, 31, 3))


def test_near_duplicates_are_told_and_dropped_when_asked(
    train: Callable[..., dict[str, Any]],
) -> None:
    told = train(out="told", threshold=75, steps=2)
    dropped = train(out="dropped", threshold=75, steps=2, drop_near_duplicates=True)
    near = told["near_duplicates"]
    assert near["train_queries"] == dropped["near_duplicates"]["dropped"] > 0
    assert near["dropped"] == 0
    assert near["examples"][0]["ratio"] >= near["examples"][-1]["ratio"] >= 75
    assert dropped["counts"]["pairs"] == told["counts"]["pairs"] - near["train_queries"]


def test_a_given_split_never_trains_on_a_test_text(
    train: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    tasks = [replace(t, split="train" if n < 32 else "test") for n, t in enumerate(TASKS)]
    repeated = replace(TASKS[0], id="again", split="test")
    pool = write_pool(tmp_path / "given", [*tasks, repeated], TOOLS)
    record = train(pool, split="given", steps=2)
    assert record["near_duplicates"]["same_text"] == 1
    assert record["near_duplicates"]["dropped"] == 1
    assert record["counts"]["pairs"] == 31


def test_an_interrupted_training_goes_on_under_equal_settings_alone(
    base: Path, toy: Path, tmp_path: Path
) -> None:
    settings = TrainSettings(
        base=str(base), steps=6, batch_size=8, learning_rate=0.1, checkpoint_every=2, device="cpu"
    )

    def interrupt(stage: str, done: int, total: int) -> None:
        if done == 5:
            raise KeyboardInterrupt

    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        train_retriever(toy, out, settings, progress=interrupt)
    assert not (out / "training.json").exists()
    with pytest.raises(UsageError, match="--resume goes on with one"):
        train_retriever(toy, out, settings)
    with pytest.raises(UsageError, match="seed: was 0, is 1"):
        train_retriever(toy, out, replace(settings, seed=1), resume=True)

    told: list[tuple[str, int, int]] = []
    with Lock(out / "checkpoints"), pytest.raises(UsageError, match="another process"):
        train_retriever(toy, out, settings, resume=True)
    record = train_retriever(
        toy, out, settings, resume=True, progress=lambda *step: told.append(step)
    )
    assert told[:2] == [("steps", 5, 6), ("steps", 6, 6)]
    whole = train_retriever(toy, tmp_path / "whole", settings)
    weights = [(folder / "model.safetensors").read_bytes() for folder in (out, tmp_path / "whole")]
    assert weights[0] == weights[1]
    assert record["losses"] == whole["losses"]
    assert train_retriever(toy, out, settings, resume=True) == record
    foreign = write_pool(tmp_path / "foreign")
    with pytest.raises(UsageError, match="was not tested on foreign; measure it there by"):
        train_retriever(toy, out, settings, [foreign], resume=True)


@pytest.mark.parametrize(
    ("tasks", "says"),
    [
        ([replace(TASKS[0], goals=(Goal("x"),))], "none of 1 tasks names the tools"),
        (TASKS[:1], "no task is left for training of 1"),
        (TASKS[:2], "1 pairs of a query and a tool to train on"),
        ([task(n, f"number {n}", "rain") for n in range(9)], "queries that need different tools"),
    ],
)
def test_a_pool_with_too_little_to_train_on_is_refused(
    train: Callable[..., dict[str, Any]], tmp_path: Path, tasks: list[Task], says: str
) -> None:
    pool = write_pool(tmp_path / "small", tasks, TOOLS)
    with pytest.raises(DataError) as failed:
        train(pool)
    assert says in str(failed.value)
    assert not (tmp_path / "out").exists()


def test_what_cannot_begin_says_so_before_anything_is_written(
    train: Callable[..., dict[str, Any]], toy: Path, tmp_path: Path
) -> None:
    with pytest.raises(UnknownNameError, match="nowhere"):
        train(test_on=["nowhere"])
    with pytest.raises(UsageError, match="that is the training pool"):
        train(test_on=[toy])
    with pytest.raises(UnknownNameError, match="document template"):
        train(template="nmae")
    with pytest.raises(UsageError, match="no sentence-transformers model"):
        train(base=str(tmp_path / "toy"))
    with pytest.raises(UsageError, match="--max-length 9"):
        train(max_length=9)
    assert not (tmp_path / "out").exists()


def test_a_folder_with_something_else_is_left_alone(
    train: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").touch()
    with pytest.raises(UsageError, match="exists and is not empty"):
        train()
    with pytest.raises(UsageError, match="holds no training to go on with"):
        train(resume=True)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine"]
