"""Look-ups in a pool: tasks and tools by id, by a part of it, and by words."""

from pathlib import Path
from typing import Any

import pytest

import seal
from seal.core import DataError, UnknownNameError, UsageError
from seal.pools.catalogue import reader_of_verdicts
from seal.pools.pool import StoredPool


def tool(name: str, description: str) -> dict[str, str]:
    return {"name": name, "description": description}


@pytest.fixture
def pool() -> StoredPool:
    tools = [
        tool("find_flight", "Find a flight between two towns."),
        tool("find_train", "Find a train."),
        tool("book", "Book what was found."),
    ]
    tasks = [
        seal.ask("A flight to Oban", seal.called("find_flight"), seal.called("book"), id="f-12"),
        seal.ask("A train to Oban", seal.called("find_train"), id="f-123"),
        seal.ask("Hello", needs_no_tool=True, id="chat"),
    ]
    bench = seal.Benchmark("trips", tools=tools, tasks=tasks)
    pool = bench.pool()
    pool.keep = bench  # type: ignore[attr-defined]
    return pool


def test_tasks_and_tools_are_found_by_id_name_or_a_part_of_the_id(pool: StoredPool) -> None:
    assert pool.task("f-12").id == "f-12"
    assert pool.task("ch").id == "chat"
    assert pool.tool("trips/book") == pool.tool("book") == pool.tool("trips/bo")


def test_what_fits_several_or_none_is_told_with_the_closest(pool: StoredPool) -> None:
    with pytest.raises(UsageError, match="'f' fits 2 tasks: f-12, f-123; give more of the id"):
        pool.task("f")
    with pytest.raises(UnknownNameError, match=r"no tool 'find_flihgt'; .*'trips/find_flight'"):
        pool.tool("find_flihgt")


def test_the_tools_of_a_task_are_those_of_its_gold_not_those_that_are_offered(pool) -> None:
    assert [one.name for one in pool.tools_of("f-12")] == ["find_flight", "book"]
    assert pool.tools_of("chat") == ()
    assert len(pool.task("chat").goals[0].offered or ()) == 3


def test_words_find_tools_and_tasks_best_first(pool: StoredPool) -> None:
    (best, *others) = pool.search("which flight", 3)

    assert (best.id, best.text) == ("trips/find_flight", "Find a flight between two towns.")
    assert all(hit.score <= best.score for hit in others)
    assert [hit.id for hit in pool.search("train", of="tasks")] == ["f-123"]
    assert pool.search("zebra") == ()


@pytest.mark.parametrize(
    "given", [{"k": 0}, {"k": "many"}, {"k": 1.5}, {"of": "chats"}, {"words": 3}]
)
def test_what_cannot_be_searched_is_refused(pool: StoredPool, given: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        pool.search(**{"words": "train", **given})


@pytest.mark.parametrize("look_up", ["task", "tool", "tools_of"])
def test_an_id_that_is_no_text_is_refused(pool: StoredPool, look_up: str) -> None:
    with pytest.raises(UsageError, match="id: expected a text, got 3"):
        getattr(pool, look_up)(3)


def test_recorded_verdicts_that_are_not_there_are_told_as_missing() -> None:
    with pytest.raises(DataError, match="nope: there is no such file or folder; give the recorded"):
        reader_of_verdicts("sample")(Path("nope"))
