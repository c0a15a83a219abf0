"""The scenarios that ship: as they were written, varied, and each provable."""

from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest
from looped import every_case

from seal.benchmarks.toolsandbox import SAMPLE
from seal.benchmarks.toolsandbox.phone import TOOLS
from seal.benchmarks.toolsandbox.scenarios.files import CATEGORIES, read_authored
from seal.benchmarks.toolsandbox.scenarios.importer import import_scenarios
from seal.core import Task
from seal.core.conditions import Called, parts
from seal.evaluation.goals import TaskChat
from seal.evaluation.pass_rates import PassRate
from seal.pools.importer import RIGHT, WRONG
from seal.pools.imports import write_pool
from seal.pools.pool import load_pool

POOL = load_pool(SAMPLE.folder)
TASKS: dict[str, Task] = {task.id: task for task in POOL.tasks()}
AUTHORED = read_authored(SAMPLE.folder / "authored")
TOOLS_BY_ID = {tool.id: tool for tool in POOL.tools()}
RECORDED = [f"recorded/{name}/trajectories.jsonl" for name in (RIGHT, WRONG)]
SHIPPED = ("tools.jsonl", "tasks.jsonl", "import.json", *RECORDED)


@pytest.mark.slow
def test_the_pool_is_what_the_authored_files_compile_to(tmp_path: Path) -> None:
    name, authored = SAMPLE.name, SAMPLE.folder / "authored"

    write_pool(name, import_scenarios, authored, tmp_path / "pool", benchmark=name)

    for file in SHIPPED:
        shipped = (SAMPLE.folder / file).read_bytes()
        assert (tmp_path / "pool" / file).read_bytes() == shipped, f"compile again: {file}"


def test_every_category_has_at_least_five_scenarios() -> None:
    counts = Counter(tag for task in TASKS.values() for tag in CATEGORIES if task.tags[tag])

    assert len(TASKS) >= 40
    assert all(counts[category] >= 5 for category in CATEGORIES), counts


def test_the_agents_tools_are_all_offered_somewhere() -> None:
    offered = {tool for task in TASKS.values() for tool in task.goals[0].offered}
    agents = {id for id in TOOLS if not id.startswith("phone/user")}
    never = {id.rpartition("/")[2] for id in agents - offered}

    assert never == set()


def test_no_two_scenarios_ask_the_same() -> None:
    requests = [task.goals[0].text for task in TASKS.values()]

    assert len(set(requests)) == len(requests)
    assert len({text.split()[0] for text in requests}) > 20  # one template would begin alike


@every_case("scenario", AUTHORED.scenarios, ids=lambda scenario: scenario.id)
def test_every_gold_step_is_of_an_offered_tool_and_ends_with_words(scenario) -> None:
    reference = TASKS[scenario.id].goals[0].reference
    called = {step.call.tool for step in reference if step.call}

    assert called <= set(TASKS[scenario.id].goals[0].offered)
    assert reference[-1].recipient == "user_simulator"


@pytest.mark.parametrize(
    "task",
    [task for task in TASKS.values() if task.tags["insufficient_information"]],
    ids=lambda task: task.id,
)
def test_insufficient_information_asks_to_say_what_is_missing_and_forbids_to_guess(task) -> None:
    (goal,) = task.goals
    (plan,) = goal.plans

    assert [slot.type for slot in goal.tells] == ["lack"]
    forbidden = [part for node in plan.minefields for part in parts(node.condition)]
    assert {type(part) for part in forbidden} == {Called}
    assert not any(task.tags[tag] for tag in CATEGORIES if tag != "insufficient_information")


@pytest.mark.parametrize("name", [RIGHT, WRONG])
def test_the_right_sequences_solve_their_scenarios_and_the_wrong_ones_do_not(name: str) -> None:
    recorded = list(POOL.recorded(name))

    for trajectory in recorded:
        chat = TaskChat(TASKS[trajectory.task_id], trajectory, TOOLS_BY_ID)
        (score,) = PassRate().of(chat)
        assert (score.value == 1.0) is (name == RIGHT), trajectory.provenance["why"]
    assert name == RIGHT or {trajectory.task_id for trajectory in recorded} == set(TASKS)


def _slots(tells: Any) -> list[Any]:
    """Return what a scenario tells: a text, a list, or a map of names to values."""
    if isinstance(tells, dict):
        return [*tells.values()]
    return [tells] if isinstance(tells, str) else [*tells]


def _has_to_be_told(slot: Any) -> bool:
    return not (isinstance(slot, dict) and slot.get("optional"))


def test_each_scenario_that_has_something_to_tell_has_right_and_wrong_answers() -> None:
    # An optional slot only says what must not be told wrong.
    answered = 0
    for one in AUTHORED.scenarios:
        texts = [[t for t in tried if isinstance(t, str)] for tried in (one.right, one.wrong)]
        enough = min(map(len, texts)) >= 2
        assert enough or not any(map(_has_to_be_told, _slots(one.tells))), one.id
        answered += enough and bool(one.tells)
    assert answered == 36


def test_nothing_of_the_shipped_files_says_where_it_was_made() -> None:
    for file in SHIPPED:
        assert b"/home/" not in (SAMPLE.folder / file).read_bytes()
    report = orjson.loads((SAMPLE.folder / "import.json").read_bytes())
    assert report["benchmark"] == SAMPLE.name
