"""The catalogue and the counts of Table 1."""

from collections.abc import Sequence
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import every_case

from seal.benchmarks.sample import SAMPLE
from seal.core import Goal, Milestone, Plan, Task, Tool, UnknownNameError
from seal.core.conditions import Argument, Called, Replied
from seal.pools.catalogue import STAGES, Card, PaperCounts, catalogue, find_entry, stages
from seal.pools.counts import GOLD_KINDS, PoolCounts, count_pool, gold_kinds, is_multi_step
from seal.pools.importer import REGISTRY
from seal.pools.pool import load_pool

ENTRIES = list(catalogue().values())
SHIPPED = (
    "sample",
    "apps",
    "phone",
    "toolsandbox-sample",
    "toolscan-sample",
    "mmtb-sample",
    "dialogtool-sample",
)


def goal(calls: Sequence[str] = (), relevant: Sequence[str] = (), **options) -> Goal:
    milestones = tuple(Milestone(Called(tool, {"a": Argument((1,))})) for tool in calls)
    plans = (Plan(milestones),) if calls else None
    return Goal("Do it.", plans, relevant=tuple(relevant), **options)


def task(*goals: Goal) -> Task:
    return Task("t", "b", goals)


@every_case("entry", ENTRIES, ids=lambda entry: entry.name)
def test_an_entry_says_all_that_a_user_needs(entry: Card) -> None:
    assert entry.title
    assert entry.about.endswith(".")
    assert entry.licence
    assert entry.where
    assert set(entry.gold) <= {*GOLD_KINDS, "verdicts"}
    assert (entry.paper_counts is None) == (entry.difference == "")
    assert entry.importer is None or entry.importer in REGISTRY.names()
    assert entry.importer or entry.status or entry.name in SHIPPED
    ours = entry.name in SHIPPED
    assert ours or entry.repository or entry.importer in (None, "apigen", "beir", "scenarios")


def test_what_is_not_fetched_is_told_by_the_commands_that_get_it() -> None:
    others = [entry for entry in ENTRIES if entry.importer and entry.name not in SHIPPED]
    typed = [entry for entry in others if not (entry.files and entry.commit)]
    without = [entry.name for entry in typed if f"seal import {entry.importer}" not in entry.where]

    assert without == ["scenarios"]  # the user's own


def test_every_importer_is_in_the_catalogue_and_names_are_distinct() -> None:
    names = [name for entry in ENTRIES for name in (entry.name, *entry.aliases)]

    assert len(names) == len(set(names))
    assert {entry.importer for entry in ENTRIES} >= set(REGISTRY._ours)


def test_a_benchmark_is_found_by_its_alias_and_an_unknown_one_names_the_closest() -> None:
    assert find_entry("sgd") is find_entry("dialogtool")
    with pytest.raises(UnknownNameError, match="Did you mean 'apibench'"):
        find_entry("apibnch")


def test_the_command_names_importer_and_options() -> None:
    entry = replace(find_entry("sgd"), options={"set": "test"})

    assert entry.command == "seal import dialogtool SOURCE --out POOL -T set=test"
    assert find_entry("sample").command is None


def test_stages_follow_from_the_gold() -> None:
    assert list(stages(("relevant",))) == list(STAGES)
    assert stages(("calls", "turns")) == {
        "retrieval": "",
        "calls": "gold",
        "arguments": "",
        "state": "",
        "conversation": "gold",
        "final answer": "judge",
    }
    assert stages(("answers",))["final answer"] == "gold"
    assert set(stages(()).values()) == {""}


def test_a_worked_pool_is_counted_as_the_paper_counts() -> None:
    tools = [Tool(name, name) for name in "abcde"]
    tasks = [
        task(goal(["a", "a"], ["a"])),  # two calls of one tool: multi-step
        task(goal(["a"], ["a", "b"])),  # gold calls decide: one call
        task(goal(relevant=["b", "c"])),  # no gold calls: two tools
        task(goal(relevant=["c", "d"], any_relevant=True)),  # alternatives: one tool
        task(goal()),
        task(goal(["d"]), goal(["d"])),  # a query each
    ]

    counts = count_pool(tools, tasks)

    assert counts == PoolCounts(
        tasks=6,
        queries=7,
        multi_step=2,
        tools_per_query=pytest.approx((1 + 2 + 2 + 1 + 1 + 1) / 6),
        tools_with_queries=4,
        tools=5,
        gold={"relevant": 4, "calls": 3, "arguments": 3, "state": 0, "turns": 1, "answers": 0},
    )


def test_a_pool_without_labels_has_no_mean() -> None:
    counts = count_pool([], [task(goal())])

    assert (counts.tools_per_query, counts.tools_with_queries, counts.tools) == (None, 0, 0)


def test_a_goal_without_a_text_is_no_query() -> None:
    assert count_pool([], [task(Goal(" "))]).queries == 0


def test_gold_is_told_by_what_a_task_has() -> None:
    chat = task(replace(goal(), plans=(Plan((Milestone(Replied(("70",))),)),), answers=("70",)))
    unsure = task(replace(goal(), plans=(Plan((Milestone(Called("a")),)),)))
    spoken = replace(task(goal()), persona={"wants": "a taxi"})

    assert gold_kinds(chat) == {"answers"}
    assert gold_kinds(unsure) == {"calls"}
    assert gold_kinds(spoken) == {"turns"}


def test_the_sample_is_counted_as_its_tags_say() -> None:
    pool = load_pool(SAMPLE.folder)
    tasks = list(pool.tasks())

    counts = count_pool(pool.tools(), tasks)

    assert (counts.queries, counts.tools) == (80, 65)
    assert counts.multi_step == sum(t.tags["multi_step"] is True for t in tasks)
    assert {kind for kind, count in counts.gold.items() if count} == set(find_entry("sample").gold)


names = st.lists(st.sampled_from("abcdef"), max_size=4)


@given(st.lists(st.tuples(names, names, st.booleans()), max_size=12), st.randoms())
def test_counts_are_bounded_and_know_no_order(drawn, random) -> None:
    tasks = [task(goal(calls, relevant, any_relevant=any_)) for calls, relevant, any_ in drawn]
    tools = [Tool(name, name) for name in "abcdef"]

    counts = count_pool(tools, tasks)
    random.shuffle(tasks)

    assert count_pool(tools, tasks) == replace(
        counts, tools_per_query=pytest.approx(counts.tools_per_query)
    )
    assert 0 <= counts.multi_step <= counts.queries == len(tasks)
    assert counts.tools_with_queries <= counts.tools
    assert counts.multi_step == sum(is_multi_step(t.goals[0]) for t in tasks)
    assert counts.tools_per_query is None or 1 <= counts.tools_per_query <= 6


def test_the_papers_columns_are_those_that_are_counted() -> None:
    assert {field.name for field in fields(PaperCounts)} <= {f.name for f in fields(PoolCounts)}
