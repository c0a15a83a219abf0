"""Types and relations of missions: by label, else as gold implies."""

from typing import Any

import pytest
from looped import every_case

from seal.core import Goal, Milestone, Plan, Step, Task
from seal.core.conditions import Argument, Asked, Called
from seal.core.state_conditions import StateHas
from seal.evaluation.goals import is_dialogue
from seal.evaluation.mission_labels import implied_relation, implied_type, mission_type, relation
from seal.pools.lookup import open_pool


def call(**arguments: Any) -> Called:
    return Called("t", {name: Argument((value,)) for name, value in arguments.items()})


def goal(text: str, *conditions: Any, **more: Any) -> Goal:
    return Goal(text, (Plan(tuple(map(Milestone, conditions))),), **more)


def leans(*goals: Goal, **task: Any) -> str | None:
    return relation(Task("t", "b", goals, **task), len(goals) - 1)


@every_case(
    ("mission", "kind"),
    [
        (goal("x", Called("a")), "single"),
        (goal("x", Called("a"), Called("a")), "multi"),
        (goal("x"), "chat"),
        (goal("x", Asked(), Called("a")), "clarify"),
        (goal("x", labels={"missing": True}), "clarify"),
        (Goal("x", relevant=("a", "b")), "multi"),
        (Goal("x", relevant=("a", "b"), any_relevant=True), "single"),
        (goal("x", StateHas("t", ({"a": 1},))), None),
        (Goal("x"), None),
        (Goal("x", ()), None),
    ],
)
def test_gold_implies_the_type(mission: Goal, kind: str | None) -> None:
    assert implied_type(mission) == mission_type(mission) == kind


def test_a_label_goes_before_what_gold_implies() -> None:
    labelled = goal("x", Called("a"), labels={"type": "multi"})
    assert (mission_type(labelled), implied_type(labelled)) == ("multi", "single")
    assert mission_type(goal("x", Called("a"), labels={"type": "another"})) == "single"


def test_a_mission_leans_on_the_one_that_says_what_it_leaves_out() -> None:
    first = goal("Move report.pdf to temp", call(source="report.pdf"))
    other = goal("What is the time?")
    sort = goal("Sort it", call(file="report.pdf"))
    assert leans(first, sort) == "near"
    assert leans(first, other, sort) == "far"
    assert leans(first, goal("Sort report.pdf", call(file="report.pdf"))) is None
    assert leans(other, sort) is None
    assert leans(sort) is None


def test_a_mission_leans_on_what_was_found_and_on_what_the_user_answered() -> None:
    found = Step(0, "executor", "execution_manager", '{"id": "K-77"}')
    first = goal("Find the order", Called("t"), reference=(found,))
    assert leans(first, goal("Cancel it", call(order="K-77"))) == "near"
    asked = {"replies": [["In Bergen."], []]}
    there = goal("And tomorrow there?", call(city="Bergen"))
    assert leans(goal("Weather?", Asked()), there, persona=asked) == "near"


@pytest.mark.parametrize("value", [True, 7, "b", None, ""])
def test_values_that_recur_by_chance_relate_nothing(value: Any) -> None:
    first = goal(f"It is {value}; b, true and 7", call(x=value))
    assert leans(first, goal("Again", call(x=value))) is None


def test_a_dialogue_with_relations_of_its_own_keeps_them() -> None:
    first = goal("Move report.pdf", call(source="report.pdf"))
    sort = goal("Sort it", call(file="report.pdf"))
    named = goal("And so on", labels={"relation": "memory"})
    task = Task("t", "b", (first, sort, named))
    assert [relation(task, number) for number in range(3)] == [None, None, "memory"]
    assert implied_relation(task, 1) == "near"


def test_goals_are_a_dialogue_where_they_are_several_or_labelled() -> None:
    assert not is_dialogue(Task("t", "b", (goal("x"),)))
    assert is_dialogue(Task("t", "b", (goal("x"), goal("y"))))
    assert is_dialogue(Task("t", "b", (goal("x", labels={"type": "chat"}),)))


@pytest.mark.slow
def test_the_rules_agree_with_the_labels_of_the_missions_sample() -> None:
    """Types all agree. Of 135 related missions with calls all are found; chats have no calls."""
    pool = open_pool("mmtb-sample")
    goals = [goal for task in pool.tasks() for goal in task.goals]
    assert all(goal.labels["type"] == implied_type(goal) for goal in goals)
    marked = [
        (goal.labels["relation"], implied_relation(task, number))
        for task in pool.tasks()
        for number, goal in enumerate(task.goals)
        if "relation" in goal.labels
    ]
    assert (sum(found is not None for _, found in marked), len(marked)) == (135, 180)
    memory = [found for label, found in marked if label == "memory" and found]
    assert (memory.count("far"), len(memory)) == (29, 30)
