"""Machine checks of dialogues: the sample passes, and each fault is found and named."""

from dataclasses import dataclass, replace

import pytest

from seal.benchmarks.mmtb import SAMPLE
from seal.benchmarks.mmtb.generation_scene import Fault, Validation, leans, said_of
from seal.core import (
    JSON,
    CacheMissError,
    Goal,
    ModelError,
    Plan,
    Response,
    SealError,
    SimulatorError,
    Task,
    Tool,
)
from seal.core.conditions import Argument, Called
from seal.pools.pool import load_pool
from seal.simulator_cache.simulators import Template

POOL = load_pool(SAMPLE.folder)
TOOLS = {tool.id: tool for tool in POOL.tools()}
TASKS = list(POOL.tasks())
GOLD = {task.id: task for task in TASKS}


class Recorded:
    """A simulator that answers as the gold of a task of the sample."""

    identity = "recorded/1"

    def __init__(self, task: Task) -> None:
        milestones = (m for goal in GOLD[task.id].goals for m in goal.plans[0].milestones)
        self._gold = [m for m in milestones if isinstance(m.condition, Called)]

    def respond(self, tool: Tool, arguments: dict[str, JSON]) -> Response:
        gold = [(m, first_values(m.condition)) for m in self._gold if m.condition.tool == tool.id]
        fitting = [
            (len(given), milestone.result)
            for milestone, given in gold
            if all(arguments.get(name) == value for name, value in given.items())
        ]
        if not fitting:
            raise SimulatorError("no answer fits")
        return Response(max(fitting, key=lambda one: one[0])[1])


def first_values(called: Called) -> dict[str, JSON]:
    return {name: argument.listed[0] for name, argument in called.arguments.items()}


def kinds(task: Task) -> set[str]:
    return {fault.reason for fault in faults(task)}


def faults(task: Task) -> list[Fault]:
    return Validation(TOOLS, Recorded(task)).faults(task)


def first(**labels) -> tuple[Task, int]:
    """Return the first task with a mission of such labels, and the mission's position."""
    return next(
        (task, number)
        for task in TASKS
        for number, goal in enumerate(task.goals)
        if labels.items() <= goal.labels.items()
    )


def with_goal(task: Task, number: int, goal: Goal) -> Task:
    return replace(task, goals=(*task.goals[:number], goal, *task.goals[number + 1 :]))


def with_milestone(task: Task, number: int, **changed) -> Task:
    """Change the first gold call of a mission."""
    goal = task.goals[number]
    milestones = list(goal.plans[0].milestones)
    place = next(n for n, m in enumerate(milestones) if isinstance(m.condition, Called))
    milestones[place] = replace(milestones[place], **changed)
    return with_goal(task, number, replace(goal, plans=(Plan(tuple(milestones)),)))


@pytest.mark.parametrize("task", TASKS[::5], ids=lambda task: task.id)
def test_the_sample_is_valid(task: Task) -> None:
    assert faults(task) == []


def test_a_tool_that_is_not_offered_is_found() -> None:
    task, number = first(type="single")
    other = next(tool for tool in TOOLS if tool not in task.goals[number].offered)

    wrong = with_milestone(task, number, condition=Called(other, {}))

    assert "unknown_tool" in kinds(wrong)
    assert "unknown_tool" in kinds(with_milestone(task, number, condition=Called("no/tool", {})))


def test_arguments_that_no_schema_takes_are_found() -> None:
    task, number = first(type="single")
    tool = task.goals[number].relevant[0]

    wrong = Called(tool, {"mood": Argument(("sunny",))})

    assert kinds(with_milestone(task, number, condition=wrong)) == {"invalid_call"}


def test_a_cycle_and_an_empty_mission_are_found() -> None:
    task, number = first(type="single")

    assert "cyclic_dependencies" in kinds(with_milestone(task, number, after=(1,)))
    empty = replace(task.goals[number], plans=(Plan(),))
    assert kinds(with_goal(task, number, empty)) == {"empty_mission"}


def test_an_observation_that_the_simulator_does_not_give_is_found() -> None:
    task, number = first(type="single")

    found = faults(with_milestone(task, number, result={"said": "nothing"}))

    assert found[0].reason == "another_observation"
    assert found[0].mission == number


def test_another_simulator_answers_otherwise() -> None:
    task, _ = first(type="single")

    assert {fault.reason for fault in Validation(TOOLS, Template()).faults(task)} == {
        "another_observation"
    }


def test_a_simulator_without_an_answer_is_a_fault_and_one_whose_server_failed_an_error() -> None:
    task, _ = first(type="single")

    found = Validation(TOOLS, Failing(SimulatorError("no answer fits"))).faults(task)
    assert {fault.reason for fault in found} == {"another_observation"}
    for failure in (ModelError("the server is gone"), CacheMissError("nothing stored")):
        with pytest.raises(type(failure)):
            Validation(TOOLS, Failing(failure)).faults(task)


@dataclass
class Failing:
    """A simulator that answers nothing."""

    error: SealError
    identity: str = "failing/1"

    def respond(self, tool: Tool, arguments: dict[str, JSON]) -> Response:
        raise self.error


def test_a_mission_that_the_oracle_does_not_solve_is_found() -> None:
    task, number = first(type="single")
    goal = task.goals[number]

    misled = [
        replace(step, call=replace(step.call, arguments={})) if step.call else step
        for step in goal.reference
    ]

    wrong = with_goal(task, number, replace(goal, reference=tuple(misled)))

    assert kinds(wrong) == {"unsolved"}


def test_a_question_for_what_was_said_is_found() -> None:
    task, number = first(type="clarify", mission=0)
    answer = task.persona["replies"][number][-1]
    goal = task.goals[number]

    told = with_goal(task, number, replace(goal, text=f"{goal.text} {answer}"))

    assert kinds(told) & {"nothing_missing", "said_before"}


@pytest.mark.parametrize("relation", ["implicit", "ellipsis", "memory"])
def test_a_mission_that_would_do_alone_leans_on_nothing(relation: str) -> None:
    task, number = first(type="single", relation=relation)
    goal, said = task.goals[number], said_of(task, number)
    values = " ".join(text for mission in said.earlier for text in mission)

    alone = replace(goal, text=f"{goal.text} {values}")

    assert leans(goal, said, relation == "memory")
    assert not leans(alone, said_of(with_goal(task, number, alone), number))


def test_memory_must_reach_beyond_the_last_mission() -> None:
    task, number = first(type="single", relation="memory")
    last, goal = task.goals[number - 1], task.goals[number]
    said = said_of(task, number)
    values = " ".join(text for mission in said.earlier[:-1] for text in mission)

    near = with_goal(task, number - 1, replace(last, text=f"{last.text} {values}"))

    assert leans(goal, said, far=True)
    assert not leans(goal, said_of(near, number), far=True)
