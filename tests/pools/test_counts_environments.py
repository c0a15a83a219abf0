"""Environments of a pool: what belongs to which, means, and names with pseudo actions."""

from pathlib import Path

import pytest

from seal.benchmarks.sample import SAMPLE
from seal.core import Goal, Milestone, Plan, Task, Tool
from seal.core.conditions import Called
from seal.pools.counts import count_environments, environments_of
from seal.pools.imports import import_benchmark
from seal.pools.pool import load_pool
from seal.pools.reading.files import function_name


def tool(name: str, category: str = "sea", **source: object) -> Tool:
    return Tool(f"own/{name}", name, category=category, source=dict(source))


TOOLS = (tool("get_tide"), tool("get_tide_table"), tool("get_wind", "sky"))


def task(*called: str, **fields: object) -> Task:
    plan = Plan(tuple(Milestone(Called(f"own/{name}", {})) for name in called))
    return Task("one", "own", (Goal("What?", (plan,), **fields),))  # type: ignore[arg-type]


def test_queries_belong_to_the_environment_of_their_gold_tools() -> None:
    tasks = [task("get_tide", "get_tide"), task("get_tide", "get_tide_table"), task("get_wind")]
    sea, sky = count_environments(TOOLS, tasks, {})

    assert (sea.name, sea.tools, sea.queries) == ("sea", 2, 2)
    assert (sea.gold_calls, sea.gold_tools) == (2.0, 1.5)
    assert (sky.queries, sky.similarity_strict) == (1, None)


def test_a_query_of_several_environments_belongs_to_none() -> None:
    found = count_environments(TOOLS, [task("get_tide", "get_wind")], {})

    assert [one.queries for one in found] == [0, 0]


def test_a_query_without_gold_calls_belongs_to_what_is_offered() -> None:
    abstaining = task(offered=("own/get_wind",))
    sea, sky = count_environments(TOOLS, [abstaining], {})

    assert (sea.queries, sky.queries) == (0, 1)
    assert sky.gold_calls is None


def test_alternatives_are_one_tool_of_a_query() -> None:
    either = Goal("What?", relevant=("own/get_tide", "own/get_tide_table"), any_relevant=True)
    (sea, _) = count_environments(TOOLS, [Task("one", "own", (either,))], {})

    assert (sea.queries, sea.gold_tools) == (1, 1.0)


def test_pseudo_actions_count_among_the_names_alone() -> None:
    plain, _ = count_environments(TOOLS, [], {})
    (sea, _) = count_environments(TOOLS, [], {"sea": ["finish", "finish"]})

    assert plain.similarity_strict == 0.0
    assert (sea.tools, sea.pseudo_actions) == (2, 2)
    # get tide | get tide table | finish | finish: 2/3, 0 four times, 1
    assert sea.similarity_strict == pytest.approx((2 / 3 + 1) / 6)


def test_a_name_that_was_shortened_for_servers_counts_in_full() -> None:
    long = "get_" + "tide_" * 15 + "height"
    shortened = Tool("own/long", function_name(long), category="sea", source={"api": long})
    tools = [tool("get_height"), shortened]
    (sea,) = count_environments(tools, [], {})
    assert sea.similarity_stopwords == pytest.approx(1 / 2)


def test_every_domain_of_the_sample_is_an_environment() -> None:
    pool = load_pool(SAMPLE.folder)
    found = environments_of(pool)

    assert [one.name for one in found] == sorted({tool.category for tool in pool.tools()})
    assert sum(one.tools for one in found) == 65


def test_a_pool_without_tasks_has_environments_too(seal_data: Path, tmp_path: Path) -> None:
    import_benchmark("toolscan", seal_data / "toolscan", tmp_path / "pool")
    found = {one.name: one for one in environments_of(load_pool(tmp_path / "pool"))}

    assert len(found) == 18
    assert round(found["food"].similarity_strict or 0, 3) == 0.561
    assert round(found["tools"].similarity_strict or 0, 3) == 0.162
    assert all(one.queries == 0 for one in found.values())
