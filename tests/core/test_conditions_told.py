"""What the agent tells its user."""

import pytest

from seal.core import Step, ToolCall
from seal.core.conditions import USER
from seal.core.state_conditions import Refused, Told


def told(content, *all_of, any_of=(), author="execution_manager", recipient=USER, call=None):
    return Told(all_of, any_of).similarity(Step(0, author, recipient, content, call), {})


@pytest.mark.parametrize(
    ("content", "texts", "share"),
    [
        ("It costs 36.5 euros.", ["36.5"], 1.0),
        ("It costs 136.5 euros.", ["36.5"], 0.0),
        ("SOFIA  lacerda called", ["Sofia Lacerda"], 1.0),
        ("You get 40,000 yen", ["40000"], 1.0),
        ("You get 4,00 yen", ["400"], 0.0),
        ("At two, in Rome", ["two", "Oslo"], 0.5),
        ("Anything", [], 1.0),
        ("It came from +351707200300.", ["+351707200300"], 1.0),
    ],
)
def test_texts_occur_as_whole_words(content, texts, share):
    assert told(content, *texts) == share


def test_one_of_several_texts_is_enough_and_none_is_not():
    assert told("It is off.", any_of=("disabled", "off")) == 1.0
    assert told("It is on.", "it", any_of=("disabled", "off")) == 0.0


@pytest.mark.parametrize(
    "step",
    [
        {"author": "user_simulator", "recipient": "execution_manager"},
        {"author": "execution_manager", "recipient": "orchestrator"},
        {"author": "executor", "recipient": "user_simulator"},
        {"recipient": "executor", "call": ToolCall("call_0", "off", {})},
    ],
)
def test_only_the_agents_words_to_the_user_count(step):
    assert told("It is off.", "off", **step) == 0.0


def test_the_full_teams_orchestrator_is_the_agent_too():
    assert told("It is off.", "off", author="orchestrator") == 1.0


def test_silence_tells_nothing():
    assert told("  ") == 0.0


@pytest.mark.parametrize(
    ("content", "share"),
    [
        ("You are at 1420 Larkspur Street.", 1.0),
        ("It isn't 1420 Larkspur Street", 0.0),
        ("Is it 1420 Larkspur Street?", 0.0),
    ],
)
def test_what_is_denied_or_asked_is_not_told(content, share):
    assert told(content, "1420 Larkspur Street") == share


def test_a_day_is_told_however_it_is_written():
    assert told("It falls on 1 Sept 2025.", "September 1") == 1.0


@pytest.mark.parametrize(
    ("content", "refused"),
    [
        ("I have no access to your contacts.", 1.0),
        ("Who is she in your contacts?", 1.0),
        ("I need an entry in your contacts.", 1.0),
        ("I can't do that.", 0.0),
        ("Your contacts are all well.", 0.0),
        ("", 0.0),
    ],
)
def test_a_refusal_or_question_names_what_is_missing(content, refused):
    step = Step(0, "execution_manager", USER, content)
    assert Refused(("contacts", "number")).similarity(step, {}) == refused
    assert Refused(()).similarity(Step(0, "executor", USER, "I can't."), {}) == 0.0
