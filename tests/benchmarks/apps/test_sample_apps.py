"""The scenarios of `apps` that ship: proved, solved by gold, and not by the floor."""

from collections import Counter
from pathlib import Path

import pytest
from goal_scenarios import assert_compiled, called

import seal
from seal.benchmarks.apps import APPS
from seal.benchmarks.toolsandbox.scenarios.files import read_authored
from seal.benchmarks.toolsandbox.scenarios.importer import import_scenarios
from seal.core.conditions import BREACHES
from seal.environments.world import WorldSetup, build_worlds
from seal.pools.importer import RIGHT, WRONG
from seal.pools.imports import write_pool
from seal.pools.mutants import mutants
from seal.pools.pool import load_pool

AUTHORED = read_authored(APPS.folder / "authored")
TASKS = {task.id: task for task in load_pool(APPS.folder).tasks()}
MADE = [task for task in TASKS.values() if "template" in task.tags]
WORLDS = {"shop", "bank", "calendar", "mail", "files", "travel"}


@pytest.mark.slow
def test_the_pool_is_what_its_files_compile_to(tmp_path: Path) -> None:
    assert_compiled("apps", APPS.folder / "authored", APPS.folder, tmp_path / "pool")


@pytest.mark.slow
def test_wrong_sequences_break_most_rules_of_the_worlds(tmp_path: Path) -> None:
    authored = APPS.folder / "authored"
    write_pool("apps", import_scenarios, authored, tmp_path, benchmark="apps")
    pool = load_pool(tmp_path)

    rules = Counter()
    for chat in pool.recorded(WRONG):
        rules.update({told["rule"] for told in chat.provenance[BREACHES]})
    assert len(rules) >= 20, rules
    assert not any(chat.provenance[BREACHES] for chat in pool.recorded(RIGHT))
    assert seal.lint(tmp_path).findings == ()


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "a_new_event_with_a_guest-10",
        "at_home_for_a_delivery-2",
        "forward_an_invoice-33",
        "pay_somebody-19",
        "remind_me_to_pay-121",
    ],
)
def test_who_and_when_are_not_told_wrong(name: str) -> None:
    report = mutants([TASKS[name]], lambda world: build_worlds(world, WorldSetup()))

    assert report.survivors == []


def test_gold_is_five_to_fifteen_calls_and_briefs_hide_who_writes() -> None:
    for task in TASKS.values():
        assert 5 <= len(called(task)) <= 15, task.id
        assert task.persona["facts"]["date of birth"]["value"] not in task.goals[0].text
    for scenario in AUTHORED.scenarios:
        assert scenario.right and len(scenario.wrong) >= 3, scenario.id
        assert any(not isinstance(one, str) for one in scenario.wrong), scenario.id


def test_tasks_tell_the_policy_and_begin_as_their_world() -> None:
    count = Counter(str(task.world) for task in TASKS.values())
    told = {name: build_worlds(name, WorldSetup()).told for name in count}

    for task in TASKS.values():
        assert task.system == told[task.world]
        assert task in MADE or set(task.initial_state or ()) <= {"orders", "products"}
    assert {part for name in count for part in name.split("+")} == WORLDS


def test_no_template_stands_behind_much_and_a_third_of_gold_is_of_two_worlds() -> None:
    templates = Counter(str(task.tags["template"]) for task in MADE)
    worlds = [{tool.partition("/")[0] for tool in called(task)} & WORLDS for task in TASKS.values()]

    assert len(MADE) == len(TASKS) - len(AUTHORED.scenarios) == 210
    assert len(templates) >= 40
    assert max(templates.values()) <= 0.04 * len(TASKS)
    assert len({frozenset(called(task)) for task in TASKS.values()}) >= 120
    assert sum(len(of) > 1 for of in worlds) >= len(TASKS) / 3
    difficulties = Counter(task.tags["difficulty"] for task in TASKS.values())
    assert min(difficulties[name] for name in ("easy", "medium", "hard")) >= 10


def test_no_two_scenarios_ask_the_same_and_the_pool_is_small() -> None:
    assert len({task.goals[0].text for task in TASKS.values()}) == len(TASKS)
    size = sum(path.stat().st_size for path in APPS.folder.rglob("*.json*"))
    assert size < 3_000_000


@pytest.mark.parametrize(("model", "low", "high"), [("oracle", 270, 270), ("lexical", 0, 0)])
def test_gold_solves_all_and_the_floor_few(tmp_path, model: str, low: int, high: int) -> None:
    run = seal.run("apps", model=model, baselines=False, out=tmp_path / "run")

    solved = sum(s.value == 1.0 for s in run.folder.scores() if s.metric == "pass_rate")
    assert low <= solved <= high


def test_lint_finds_nothing() -> None:
    assert seal.lint("apps").findings == ()
