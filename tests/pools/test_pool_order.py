"""`--limit` takes tasks that stand for all: a larger limit holds a smaller; `--first` the head."""

import json
import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import seal
from seal.api.benchmarks import load_pool
from seal.core import Goal, Task, UsageError
from seal.pools.pool import ORDER, prefix

PLAYED = {"model": "oracle", "baselines": False}
VALUES = st.one_of(st.booleans(), st.integers(0, 2), st.sampled_from(["", "a", "b"]), st.none())
POOLS = st.lists(st.dictionaries(st.sampled_from("xyz"), VALUES), max_size=40).map(
    lambda tags: [Task(f"t-{n}", "b", (Goal("Hi."),), tags=each) for n, each in enumerate(tags)]
)


@given(POOLS, st.integers(0, 45), st.integers(0, 45), st.randoms(use_true_random=False))
def test_a_larger_limit_holds_a_smaller_in_whatever_order_tasks_stand(
    tasks: list[Task], one: int, other: int, chance: random.Random
) -> None:
    shuffled = chance.sample(tasks, len(tasks))
    few, many = prefix(tasks, min(one, other)), prefix(shuffled, max(one, other))
    assert few <= many
    assert (len(few), len(many)) == tuple(min(n, len(tasks)) for n in sorted((one, other)))


@pytest.mark.parametrize("limit", [16, 20, 32, 40])
def test_a_few_tasks_have_each_tag_about_as_often_as_all(limit: int) -> None:
    pool = load_pool("sample")
    every, few = list(pool.tasks()), list(pool.tasks(limit=limit))
    for tag in ("group", "multi_tool", "multi_step", "dependent", "parallel"):
        shares = Counter(str(task.tags[tag]) for task in every)
        found = Counter(str(task.tags[tag]) for task in few)
        for value, count in shares.items():
            assert abs(found[value] - limit * count / len(every)) < 2


def test_chosen_tasks_are_of_those_selected_and_stand_in_the_order_of_the_file() -> None:
    pool = load_pool("sample")
    order = [task.id for task in pool.tasks()]
    chosen = [task.id for task in pool.tasks({"group": "single"}, limit=9)]
    single = [task.id for task in pool.tasks({"group": "single"})]
    assert chosen == [task for task in order if task in set(chosen)]
    assert set(chosen) < set(single)
    assert chosen != single[:9]
    assert [task.id for task in pool.tasks({"group": "single"}, first=9)] == single[:9]


def test_limit_and_first_exclude_each_other() -> None:
    with pytest.raises(UsageError, match=r"--limit and --first .* give one"):
        seal.run("sample", limit=2, first=2)


def test_run_json_names_the_order_and_a_run_grows_to_the_whole(tmp_path: Path) -> None:
    def grown(resume: bool = True, **chosen: int) -> tuple[dict[str, object], set[str]]:
        run = seal.run("sample", out=tmp_path / "run", resume=resume, **PLAYED, **chosen)
        measure = json.loads((tmp_path / "run/run.json").read_bytes())["measure"]
        told = {name: measure[name] for name in ("limit", "first", "order") if name in measure}
        return told, {task.id for task in run.folder.tasks()}

    told, few = grown(False, limit=2)
    assert told == {"limit": 2, "order": ORDER}
    _, more = grown(limit=5)
    assert few < more
    with pytest.raises(UsageError, match=r"measure.limit: was 5, is 4"):
        grown(limit=4)
    with pytest.raises(UsageError, match=r"measure.first: was None, is 60"):
        grown(first=60)
    told, every = grown()
    assert told == {"limit": None}
    assert len(every) == 80


def test_the_head_of_the_file_grows_too_and_is_no_prefix_of_the_order(tmp_path: Path) -> None:
    ids = [task.id for task in load_pool("sample").tasks()]
    for count in (2, 3):
        run = seal.run("sample", out=tmp_path / "run", resume=count > 2, first=count, **PLAYED)
        assert [task.id for task in run.folder.tasks()] == ids[:count]
    with pytest.raises(UsageError, match=r"measure.limit: was None, is 5"):
        seal.run("sample", out=tmp_path / "run", resume=True, limit=5, **PLAYED)


def test_retrieval_asks_the_same_tasks_as_a_run_and_names_the_order(tmp_path: Path) -> None:
    settings = {"out": tmp_path / "out", "cache_dir": tmp_path / "cache"}
    found = seal.retrieve("sample", "tfidf", 5, limit=4, **settings).content["protocol"]
    assert (found["limit"], found["order"]) == (4, ORDER)
    assert "order" not in seal.retrieve("sample", "bm25", 5, cache="off").content["protocol"]
