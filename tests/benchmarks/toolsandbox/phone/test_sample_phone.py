"""The scenarios of `phone` that ship: those of its sample, and those that templates made."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from goal_scenarios import assert_compiled, called

import seal
from seal.benchmarks.toolsandbox import PHONE, SAMPLE
from seal.benchmarks.toolsandbox.phone import TOOLS
from seal.pools.pool import load_pool

POOL = load_pool(PHONE.folder)
TASKS = {task.id: task for task in POOL.tasks()}
MADE = [task for task in TASKS.values() if "template" in task.tags]


@pytest.mark.slow
def test_the_pool_is_what_its_files_compile_to(tmp_path: Path) -> None:
    assert_compiled("phone", SAMPLE.folder / "authored", PHONE.folder, tmp_path / "pool")


def test_the_scenarios_that_were_written_are_those_of_the_sample() -> None:
    written = {name: task for name, task in TASKS.items() if task not in MADE}
    sample = {task.id: task for task in load_pool(SAMPLE.folder).tasks()}

    assert written.keys() == sample.keys() and len(written) == 53
    for name, task in written.items():
        own = sample[name]
        goals = [replace(goal, reference=()) for goal in task.goals]
        assert goals == [replace(goal, reference=()) for goal in own.goals], name
        assert called(task) == called(own), name
        assert (task.initial_state, task.persona) == (own.initial_state, own.persona), name
        assert task.metadata == own.metadata and own.tags.items() <= task.tags.items(), name


def test_gold_is_five_to_fifteen_calls_of_many_templates() -> None:
    templates = Counter(str(task.tags["template"]) for task in MADE)
    twists = Counter(str(task.tags["twist"]) for task in MADE)

    assert len(MADE) == len(TASKS) - 53 >= 100
    assert len(templates) >= 20 and max(templates.values()) <= 8
    assert len(twists) >= 15 and twists["none"] <= len(MADE) / 4
    assert len({frozenset(called(task)) for task in MADE}) >= 60
    assert all(5 <= len(called(task)) <= 15 for task in MADE)
    difficulties = Counter(task.tags["difficulty"] for task in TASKS.values())
    assert min(difficulties[name] for name in ("easy", "medium", "hard")) >= 10


def test_agents_are_offered_ten_to_all_tools_that_are_not_the_users() -> None:
    agents = {name for name in TOOLS if not name.startswith("phone/user/")}

    assert {tool.id for tool in POOL.tools()} == agents
    for task in MADE:
        offered = task.goals[0].offered
        assert offered is not None and 10 <= len(offered) <= 33, task.id
        assert agents >= {*offered} >= {*called(task)}, task.id


def test_no_two_scenarios_ask_the_same_and_the_pool_is_small() -> None:
    assert len({task.goals[0].text for task in TASKS.values()}) == len(TASKS)
    assert sum(path.stat().st_size for path in PHONE.folder.iterdir()) < 300_000


@pytest.mark.parametrize(("model", "solved"), [("oracle", 158), ("lexical", 7)])
def test_gold_solves_all_and_the_floor_what_lacks_information(tmp_path, model, solved) -> None:
    run = seal.run("phone", model=model, baselines=False, out=tmp_path / "run")

    right = [s.task_id for s in run.folder.scores() if s.metric == "pass_rate" and s.value == 1.0]
    assert len(right) == solved
    assert model == "oracle" or not {task.id for task in MADE} & {*right}


def test_lint_finds_nothing() -> None:
    assert seal.lint("phone").findings == ()
