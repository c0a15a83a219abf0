"""Smaller pools: sizes, what they hold, and what is asked of them."""

import random
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from looped import every_case

from seal.core import (
    DataError,
    Goal,
    Milestone,
    Plan,
    SealError,
    Step,
    Task,
    Tool,
    ToolCall,
    UnknownNameError,
    UsageError,
)
from seal.core.conditions import Called
from seal.pools.imports import import_benchmark
from seal.pools.pool import load_pool
from seal.pools.samples import DISTRACTORS, QUERIES, PoolSample, need_of, sample_pools


def tool(number: int, service: str = "s") -> Tool:
    return Tool(f"b/{service}/{number:03}", f"tool_{number}")


def ids(*numbers: int) -> tuple[str, ...]:
    return tuple(tool(number).id for number in numbers)


def task(name: str, *goals: Goal) -> Task:
    return Task(name, "b", goals)


def needing(name: str, *numbers: int) -> Task:
    return task(name, Goal("find", relevant=ids(*numbers)))


def calling(*numbers: int) -> Plan:
    return Plan(tuple(Milestone(Called(name)) for name in ids(*numbers)))


TOOLS = tuple(tool(number) for number in range(40))
PAIRS = tuple(needing(f"t{n:02}", 2 * n, 2 * n + 1) for n in range(15))


def neighbours(needed: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """Find the tools of the next numbers the most alike."""
    return {name: [f"b/s/{int(name[-3:]) + step:03}" for step in (1, 2, 3)] for name in needed}


def draw(sizes: list[int], samples: int = 1, seed: int = 0, **fields: Any) -> list[PoolSample]:
    tools, tasks = fields.pop("tools", TOOLS), fields.pop("tasks", PAIRS)
    if fields.get("distractors") == "nearest":
        fields["neighbours"] = neighbours
    return list(sample_pools(tools, tasks, sizes, samples, seed, **fields))


def held(sample: PoolSample) -> set[str]:
    return {tool.id for tool in sample.tools}


def asked(sample: PoolSample) -> list[str]:
    return [task.id for task in sample.tasks]


NUMBERS = st.integers(0, 11)
PLANS = st.lists(NUMBERS, max_size=2).map(lambda numbers: calling(*numbers))
GOALS = st.builds(
    Goal,
    st.just("find"),
    relevant=st.lists(NUMBERS, max_size=4).map(lambda numbers: ids(*numbers)),
    any_relevant=st.booleans(),
    offered=st.none() | st.lists(NUMBERS, max_size=5).map(lambda numbers: ids(*numbers)),
    plans=st.none()
    | st.lists(
        st.lists(NUMBERS, max_size=2).map(lambda numbers: calling(*numbers)), max_size=2
    ).map(tuple),
)
TASKS = st.lists(st.lists(GOALS, min_size=1, max_size=2), min_size=1, max_size=8).map(
    lambda goals: [task(f"t{n}", *some) for n, some in enumerate(goals)]
)
PROTOCOL = st.fixed_dictionaries(
    {
        "distractors": st.sampled_from(DISTRACTORS),
        "queries": st.sampled_from(QUERIES),
        "nested": st.booleans(),
    }
)


@given(TASKS, st.sets(st.integers(1, 12), min_size=1, max_size=4), PROTOCOL, st.integers(0, 9))
def test_every_sample_keeps_the_protocol(
    tasks: list[Task], sizes: set[int], protocol: dict[str, Any], seed: int
) -> None:
    tools = TOOLS[:12]
    try:
        samples = draw(list(sizes), 2, seed, tools=tools, tasks=tasks, **protocol)
    except UsageError:
        assume(False)
    assert [(s.sample, s.size) for s in samples] == [(n, k) for n in (0, 1) for k in sorted(sizes)]
    for sample in samples:
        assert len(held(sample)) == len(sample.tools) == sample.size
        assert set(sample.seeds) <= set(asked(sample))
        served = {t.id for t in tasks if any(g.relevant for g in t.goals)}
        served = {t.id for t in tasks if t.id in served and need_of(t).met(held(sample))}
        expected = served if protocol["queries"] == "closure" else set(sample.seeds)
        assert set(asked(sample)) == expected <= served
        for each in sample.tasks:
            assert named(each) <= held(sample)
    if protocol["nested"]:
        for small, large in pairwise(samples):
            assert small.sample != large.sample or held(small) <= held(large)
    mixed = random.Random(seed)
    again = draw(
        mixed.sample(sorted(sizes), len(sizes)),
        2,
        seed,
        tools=mixed.sample(tools, len(tools)),
        tasks=mixed.sample(tasks, len(tasks)),
        **protocol,
    )
    assert again == samples
    assert [s.digest for s in again] == [s.digest for s in samples]


def named(each: Task) -> set[str]:
    tools: set[str] = set()
    for goal in each.goals:
        tools |= {*goal.relevant, *(goal.offered or ())}
        for plan in goal.plans or ():
            tools |= {call.tool for call in plan.calls()}
    return tools


def test_pool_is_filled_by_queries_before_distractors() -> None:
    (sample,) = draw([10])
    assert len(sample.seeds) == 5
    assert asked(sample) == sorted(sample.seeds)


def test_query_that_overflows_is_passed_over() -> None:
    tasks = [needing("large", 0, 1, 2, 3), needing("small", 9)]
    for seed in range(10):
        (sample,) = draw([3], seed=seed, tasks=tasks)
        assert sample.seeds == ("small",)


def test_fixed_queries_see_only_distractors_grow() -> None:
    for nested in (True, False):
        samples = draw([4, 8, 40], samples=3, queries="fixed", nested=nested)
        for small, middle, large in zip(samples[::3], samples[1::3], samples[2::3], strict=True):
            assert small.seeds == middle.seeds == large.seeds
            assert asked(small) == asked(middle) == asked(large) == sorted(small.seeds)


def test_seeds_leave_out_what_the_pool_happens_to_serve() -> None:
    tasks = [needing("both", 0, 1), needing("first", 0), needing("second", 1)]
    (seeds,) = draw([2], queries="seeds", tasks=tasks)
    (closure,) = draw([2], tasks=tasks)
    assert asked(seeds) == sorted(closure.seeds)
    assert len(asked(seeds)) < len(asked(closure)) == 3


def test_size_of_the_whole_pool_takes_all_of_it() -> None:
    (sample,) = draw([40])
    assert (sample.tools, sample.tasks) == (TOOLS, PAIRS)


def test_samplings_and_seeds_differ_and_do_not_depend_on_their_number() -> None:
    three = draw([10], samples=3)
    assert len({s.digest for s in three}) == 3
    assert draw([10], samples=2) == three[:2]
    assert draw([10], seed=1)[0].digest != three[0].digest


def test_sizes_drawn_anew_do_not_depend_on_the_others() -> None:
    assert draw([10, 20], nested=False)[1:] == draw([20], nested=False)


def test_apis_of_the_same_service_come_first() -> None:
    tools = [tool(n, service) for n in range(5) for service in "pqr"]
    wanted = task("t", Goal("find", relevant=("b/q/003",)))
    (sample,) = draw([5], tools=tools, tasks=[wanted], distractors="same_tool")
    assert held(sample) == {f"b/q/{n:03}" for n in range(5)}
    (larger,) = draw([6], tools=tools, tasks=[wanted], distractors="same_tool")
    assert held(sample) < held(larger)


def test_nearest_neighbours_come_first_best_first_and_then_chance() -> None:
    wanted = task("t", Goal("find", relevant=ids(10, 38)))
    (sample,) = draw([4], tasks=[wanted], distractors="nearest")
    assert held(sample) == set(ids(10, 11, 38, 39))
    (larger,) = draw([7], tasks=[wanted], distractors="nearest")
    assert held(larger) > set(ids(10, 11, 12, 13, 38, 39))


def test_one_alternative_serves_and_the_others_are_taken_out() -> None:
    either = task("t", Goal("find", relevant=ids(1, 2, 3), any_relevant=True))
    found = {
        draw([1], seed=seed, tasks=[either])[0].tasks[0].goals[0].relevant for seed in range(20)
    }
    assert found == {ids(1), ids(2), ids(3)}


def test_pool_serves_all_goals_of_a_task() -> None:
    two = task("t", Goal("one", relevant=ids(1)), Goal("two", relevant=ids(2, 3)))
    assert held(draw([3], tasks=[two])[0]) == set(ids(1, 2, 3))


def test_task_keeps_what_its_pool_can_play() -> None:
    reference = (Step(0, "a", "b", call=ToolCall("call_0", "x", {}, tool=ids(9)[0])),)
    mine = Milestone(Called(ids(9)[0]))
    whole = Goal(
        "find",
        plans=(Plan(calling(1).milestones, (mine,)), calling(8, 9)),
        offered=ids(7, 1),
        relevant=ids(1),
        reference=reference,
    )
    (sample,) = draw([1], tasks=[task("t", whole)])
    assert sample.tasks[0].goals == (
        Goal("find", plans=(calling(1),), offered=ids(1), relevant=ids(1)),
    )
    assert draw([40], tasks=[task("t", whole)])[0].tasks == (task("t", whole),)


def test_gold_calls_beside_the_relevant_tools_are_needed_too() -> None:
    both = task("t", Goal("find", plans=(calling(1, 2),), relevant=ids(1)))
    assert held(draw([2], tasks=[both])[0]) == set(ids(1, 2))


@every_case(
    ("fields", "text"),
    [
        ({"sizes": []}, "pool sizes of at least 1, got none"),
        ({"sizes": [0, 5]}, "pool sizes of at least 1, got 0"),
        ({"sizes": [41]}, "pool size 41 is beyond the pool, which has 40 tools"),
        ({"sizes": [1]}, "a pool of 1 tool serves no query; one of 2 surely serves some"),
        ({"samples": 0}, "samples must be at least 1, got 0"),
        ({"tasks": []}, "no task has relevant tools"),
        ({"tasks": [task("t", Goal("chat"))]}, "no task has relevant tools"),
        ({"distractors": "near"}, "no kind of distractors 'near'; known: nearest"),
        ({"queries": "seed"}, "no set of queries 'seed'.*Did you mean 'seeds'"),
    ],
)
def test_what_cannot_be_drawn_is_refused(fields: dict[str, Any], text: str) -> None:
    with pytest.raises(UsageError, match=text):
        draw(**{"sizes": [10], **fields})


@pytest.mark.parametrize(
    ("fields", "error", "text"),
    [
        ({"tools": (*TOOLS, TOOLS[3])}, DataError, "tool id 'b/s/003' stands twice"),
        ({"tasks": (*PAIRS, PAIRS[3])}, DataError, "task id 't03' stands twice"),
        ({"tools": TOOLS[:5]}, DataError, "task 't02' needs the tool 'b/s/005'"),
        ({"queries": "all"}, UnknownNameError, "known: closure, fixed, seeds"),
    ],
)
def test_records_that_contradict_each_other_are_refused(
    fields: dict[str, Any], error: type[SealError], text: str
) -> None:
    with pytest.raises(error, match=text):
        draw([4], **fields)


def test_nearest_without_neighbours_is_refused() -> None:
    with pytest.raises(UsageError, match="give neighbours="):
        sample_pools(TOOLS, PAIRS, [4], 1, 0, distractors="nearest")


def test_stabletoolbench_is_drawn_to_size(seal_data: Path, tmp_path: Path) -> None:
    source = seal_data / "stabletoolbench"
    if not source.is_dir():
        pytest.skip(f"no StableToolBench at {source}")
    import_benchmark("toolbench", source, tmp_path / "pool")
    pool = load_pool(tmp_path / "pool")
    tasks = list(pool.tasks())
    sizes = [50, 500, len(pool.tools())]
    small, middle, whole = sample_pools(pool.tools(), tasks, sizes, 1, 0)
    assert [len(s.tools) for s in (small, middle, whole)] == sizes
    assert 10 <= len(small.tasks) < len(middle.tasks) < len(whole.tasks) == len(tasks)
