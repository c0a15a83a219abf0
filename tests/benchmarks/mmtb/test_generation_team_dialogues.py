"""Dialogues made by five roles in chats, and the tasks that they become."""

import pytest
from scripted_speakers import TOOLS, Failing, Script, call, end, make, says

from seal.benchmarks.mmtb.generation_team import task_of
from seal.core import DataError, InfrastructureError, ModelError
from seal.core.conditions import Asked, Called, Replied

KINDS = ("single", "multi", "chat", "clarify")


@pytest.fixture(scope="module")
def made():
    return make(Script(), *KINDS)


@pytest.fixture(scope="module")
def task(made):
    return task_of(made, {tool.id: tool for tool in TOOLS.values()}, "en")


def test_a_mission_of_each_type_becomes_a_goal_of_that_type(task):
    assert [goal.labels["type"] for goal in task.goals] == list(KINDS)
    assert [goal.labels.get("relation") for goal in task.goals] == [None, *["implicit"] * 3]
    conditions = [[type(m.condition) for m in goal.plans[0].milestones] for goal in task.goals]
    assert conditions == [
        [Called, Replied],
        [Called, Called, Replied],
        [Replied],
        [Asked, Called, Replied],
    ]


def test_calls_at_once_are_parallel_and_the_answer_comes_after_all(task):
    assert [m.after for m in task.goals[1].plans[0].milestones] == [(), (), (0, 1)]
    assert task.goals[1].labels["leaf"] == "parallel"


def test_equal_calls_bring_equal_observations(task):
    first, again = (task.goals[n].plans[0].milestones[0].result for n in (0, 1))
    assert first == again
    assert first


def test_roles_speak_in_turn_and_later_chats_go_on_from_earlier_ones(made):
    authors = [[step.author for step in take.chat.steps] for take in made.takes]
    decided = ["planner", "checker", "agent"]
    called = [*decided, "executor", "checker"]
    assert authors[0] == ["user_simulator", *called, *decided]
    assert authors[3] == ["user_simulator", *decided, "user_simulator", *called, *decided]
    steps = [step for take in made.takes for step in take.chat.steps]
    assert [step.index for step in steps] == list(range(len(steps)))


def dropped(script: Script, *kinds: str, **fields) -> tuple[int, str]:
    drop = make(script, *(kinds or ("single",)), **fields).dropped
    return (drop.mission, drop.reason)


def test_a_rejected_decision_goes_back_with_its_reasons_and_is_made_again():
    heard = []

    def decisions(scene):
        heard.append(scene.rejections)
        return ["no JSON", says(call()), end()] if not scene.events else ["", end()]

    made = make(Script(decisions), "single")
    assert made.dropped is None
    (rejection,) = made.takes[0].rejections
    assert rejection.startswith("invalid_json: expected one JSON object")
    assert heard == [(), (rejection,), ()]


def test_three_rejected_decisions_drop_the_dialogue_and_keep_what_was_made_before():
    script = Script(lambda scene: ["{"] * 3 if scene.past else [says(call()), end()])
    made = make(script, "single", "single", "chat")
    assert (made.dropped.mission, made.dropped.reason) == (1, "invalid_json")
    assert len(made.takes) == 2
    assert len(made.missions) == 1
    assert len(made.takes[1].rejections) == 3


def test_a_simulator_without_an_answer_three_times_drops_the_dialogue():
    script = Script(lambda scene: [says(call())] * 3)
    assert dropped(script, simulator=Failing()) == (0, "failed_call")


def test_a_mission_of_another_type_than_wanted_is_dropped_at_once():
    made = make(Script(lambda scene: [end("chat")]), "single")
    assert made.dropped.reason == "another_type"
    assert "0 questions and 0 calls" in made.dropped.text
    assert len(made.takes[0].rejections) == 1


@pytest.mark.parametrize(
    ("script", "kind", "reason"),
    [
        (Script(wordings=()), "single", "no_request"),
        (Script(wordings=(" ",)), "single", "no_request"),
        (Script(texts={"ask": " "}), "clarify", "no_question"),
        (Script(texts={"answer": ""}), "clarify", "no_answer"),
        (Script(texts={"reply": "\n"}), "single", "no_reply"),
    ],
)
def test_a_role_without_a_word_drops_the_dialogue(script, kind, reason):
    assert dropped(script, kind) == (0, reason)


def test_missions_without_an_end_are_cut_off():
    assert dropped(Script(lambda scene: [says(call())] * 99), "multi") == (0, "too_long")


def test_words_that_speakers_cannot_work_with_drop_the_dialogue():
    def decisions(scene):
        raise DataError("this request is none of mine")

    assert dropped(Script(decisions)) == (0, "unusable_words")


def test_a_failure_of_the_infrastructure_is_no_drop():
    def decisions(scene):
        raise ModelError("the server is gone")

    with pytest.raises(InfrastructureError, match="the server is gone"):
        make(Script(decisions), "single")


def test_what_is_chosen_is_what_the_user_says_and_all_wordings_are_kept():
    made = make(Script(), "single", choose=lambda scene, wordings: "And Turku? ")
    (take,) = made.takes
    assert take.candidates == ("How is it in Turku?", "Turku weather, please.")
    assert take.mission.text == "And Turku?"


def test_kept_missions_are_not_made_again(made):
    again = make(Script(), *KINDS, kept=made.takes[:2])
    assert again == made
