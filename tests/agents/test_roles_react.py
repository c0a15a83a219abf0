"""The style `react`: thoughts said to oneself, at most three in a row, at no cost of turns."""

import json

import pytest
from test_conversation import NEWS, call, hold

from seal.agents.conversation import ChatLimits
from seal.agents.teams import DIRECT, FULL, SINGLE
from seal.core import Completion, Request

MANAGER = "execution_manager"


def react(script: object, team=DIRECT, **options):
    """Hold a chat whose manager thinks."""
    return hold({MANAGER: script}, team.seat(MANAGER, "react"), **options)


def said(*texts: str) -> list[Completion]:
    return [Completion(text) for text in texts]


def own(chat) -> list[str]:
    """Return what the manager said to itself."""
    return [step.content for step in chat.steps if step.author == step.recipient == MANAGER]


@pytest.mark.parametrize("team", [FULL, DIRECT])
def test_a_thought_is_a_step_of_its_own_and_no_report(team):
    script = [*said("Thought: Rome it is."), Completion(calls=(call(city="Rome"),)), *said("Sun.")]
    chat, model, _ = react(script, team)
    assert own(chat) == ["Thought: Rome it is."]
    assert [s.call.arguments for s in chat.steps if s.call] == [{"city": "Rome"}]
    assert [stop.reason for stop in chat.stops] == ["done"]
    assert "Thought" not in (chat.answers[0] or "")
    second = model.of(MANAGER)[1].messages
    assert [(m.role, m.content) for m in second[-2:]] == [
        ("assistant", "Thought: Rome it is."),
        ("user", "Go on."),
    ]


def test_a_thought_beside_a_call_is_kept_with_it():
    script = [Completion("Thought: now.", (call(city="Rome"),)), *said("Sun.")]
    chat, _, _ = react(script)
    assert own(chat) == []
    assert next(step.content for step in chat.steps if step.call) == "Thought: now."


def test_the_final_answer_is_what_follows_on_its_marker():
    chat, _, _ = react(said("Thought: I know.\nFinal Answer: It is sunny."))
    assert chat.answers == ["It is sunny."]


def test_thoughts_cost_no_turn():
    script = [*said("Thought: a", "Thought: b"), Completion(calls=(call(city="Rome"),))]
    script += said("Thought: c", "Thought: d", "Sun.")
    chat, _, _ = react(script, limits=ChatLimits(max_turns=2))
    assert [stop.reason for stop in chat.stops] == ["done"]
    assert len(own(chat)) == 4


def test_a_fourth_thought_in_a_row_is_a_step_that_cannot_be_read():
    script = said("Thought: a", "Thought: b", "Thought: c", "Thought: d", "Sun.")
    chat, model, _ = react(script)
    assert own(chat) == ["Thought: a", "Thought: b", "Thought: c"]
    (step,) = [step for step in chat.steps if step.call]
    assert (step.call.name, step.call.arguments, step.call.raw) == ("", None, "Thought: d")
    assert step.recipient == "executor"
    fourth = model.of(MANAGER)[3].messages
    assert fourth[-1].content.startswith("You have thought enough.")


def test_after_a_call_thoughts_are_counted_anew():
    script = said("Thought: a", "Thought: b", "Thought: c")
    script += [Completion(calls=(call(city="Rome"),)), *said("Thought: d", "Thought: e", "Sun.")]
    chat, _, _ = react(script)
    assert len(own(chat)) == 5
    assert len([step for step in chat.steps if step.call]) == 1


def test_a_model_that_thinks_forever_is_ended_by_its_turns():
    count = iter(range(1000))

    def think(request: Request) -> Completion:
        return Completion(f"Thought: {next(count)}")

    chat, model, _ = react(think, limits=ChatLimits(max_turns=10))
    assert [stop.reason for stop in chat.stops] == ["max_turns"]
    assert len(model.of(MANAGER)) == 40
    assert len([step for step in chat.steps if step.call]) == 10


def test_a_model_that_thinks_the_same_forever_repeats_itself():
    chat, model, _ = react(said("Thought: hm"))
    assert [stop.reason for stop in chat.stops] == ["repeated"]
    assert len(model.of(MANAGER)) == 3


def test_in_a_team_of_one_reply_thoughts_come_before_it():
    chat, _, _ = react([*said("Thought: a"), Completion(calls=(call(),))], SINGLE)
    assert own(chat) == ["Thought: a"]
    assert len([step for step in chat.steps if step.call]) == 1


def test_a_plain_manager_takes_a_thought_for_its_report():
    chat, _, _ = hold({MANAGER: said("Thought: a")}, DIRECT)
    assert chat.answers == ["Thought: a"]


def test_the_record_of_thoughts_is_plain_json():
    chat, _, _ = react(said("Thought: a", "Sun."), given=(NEWS,))
    assert json.loads(json.dumps([step.content for step in chat.steps]))[1] == "Thought: a"
