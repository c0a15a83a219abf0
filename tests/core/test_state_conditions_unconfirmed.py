"""Calls that the user must have confirmed."""

from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from looped import every_case

from seal.core import Milestone, Plan, Step, ToolCall, ToolResult
from seal.core.conditions import Condition
from seal.core.consent import row_of
from seal.core.records import to_plain
from seal.core.state_conditions import Unconfirmed
from seal.core.statements import Sense, states
from seal.evaluation.plans import measure_plan

AGENT, USER, EXECUTOR = "execution_manager", "user_simulator", "executor"
FIVE_PM = 1_741_798_800.0
"""2025-03-12T17:00:00Z."""
TABLES = {
    "contacts": [
        {"person_id": "p1", "name": "Bo Ek", "relationship": "friend"},
        {"person_id": "p2", "name": "Cleo Ek", "relationship": "friend"},
    ]
}
ASK = "Shall I send 'Dinner at 8' to +46 70 02?"
SEND = {"phone_number": "+467002", "content": "Dinner at 8"}


def chat(*what: str | dict[str, Any] | Exception, tool: str = "send") -> list[Step]:
    """Return a chat: a text of the user begins with `<`; an exception fails the call before it."""
    steps: list[Step] = []
    for number, one in enumerate(what):
        place, call_id = len(steps), f"call_{number}"
        if isinstance(one, str):
            ends = (USER, AGENT) if one.startswith("<") else (AGENT, USER)
            steps.append(Step(place, *ends, one.removeprefix("<"), state=TABLES))
        elif isinstance(one, dict):
            call = ToolCall(call_id, tool, one, tool=f"p/{tool}")
            failed = number + 1 < len(what) and isinstance(what[number + 1], Exception)
            error = {"kind": "ConnectionError", "message": "off"} if failed else None
            result = ToolResult(call_id, "", error)
            steps.append(Step(place, AGENT, EXECUTOR, call=call, state=TABLES))
            steps.append(Step(place + 1, EXECUTOR, AGENT, result=result, state=TABLES))
    return steps


def unconfirmed(steps: list[Step], zone: str = "UTC") -> list[int]:
    condition = Unconfirmed(("p/send",), zone).among(steps)
    return [step.index for step in steps if condition.similarity(step, {})]


def test_a_call_that_nobody_was_asked_about_is_unconfirmed():
    assert unconfirmed(chat("<Text Bo 'Dinner at 8', +467002", SEND)) == [1]


def test_a_call_is_confirmed_where_the_answer_to_its_arguments_affirms():
    assert unconfirmed(chat("<Text Bo", ASK, "<Yes, go ahead", SEND)) == []


@pytest.mark.parametrize("answer", ["No", "Yes, but later", "Hm", "Yes?", "Yes, at 9"])
def test_another_answer_confirms_nothing(answer):
    assert unconfirmed(chat("<Text Bo", ASK, f"<{answer}", SEND)) == [3]


@pytest.mark.parametrize(
    ("answer", "at"), [("Yes, Bo.", []), ("yes, bo", []), ("Yes, Cleo.", [3]), ("Yes, Bob.", [3])]
)
def test_a_name_in_the_answer_must_stand_for_what_was_asked_about(answer, at):
    numbers = {"p1": "+46 70-02", "p2": "+46 70-03"}
    rows = [{**row, "phone_number": numbers[row["person_id"]]} for row in TABLES["contacts"]]
    told = [replace(s, state={"contacts": rows}) for s in chat("<Hi", ASK, f"<{answer}", SEND)]
    assert unconfirmed(told) == at


@pytest.mark.parametrize("answer", ["Yes, at 5 pm", "Yes, 17:00 please", "Yes, 5:00 p.m."])
def test_a_moment_may_be_confirmed_by_another_spelling(answer):
    at = {"content": "Dinner", "reminder_timestamp": FIVE_PM}
    assert unconfirmed(chat("<Hi", "Dinner, at 17:00, right?", f"<{answer}", at)) == []
    assert unconfirmed(chat("<Hi", "Dinner, at 17:00, right?", "<Yes, at 6 pm", at)) == [3]


def test_a_choice_is_confirmed_for_what_was_chosen():
    both = "Shall I send 'Dinner at 8' to +46 70 02 or to +46 70 03?"
    assert unconfirmed(chat("<Hi", both, "<Yes", SEND)) == [3]
    assert unconfirmed(chat("<Hi", both, "<Yes, the second", SEND)) == [3]
    assert unconfirmed(chat("<Hi", both, "<Yes, +46 70 03", SEND)) == [3]
    assert unconfirmed(chat("<Hi", both, "<Yes, +46 70 02", SEND)) == []


def test_changed_arguments_need_another_confirmation():
    nine = {**SEND, "content": "Dinner at 9"}
    again = "Then 'Dinner at 9', to +467002?"
    assert unconfirmed(chat("<Text Bo", ASK, "<Yes", nine)) == [3]
    assert unconfirmed(chat("<Text Bo", ASK, "<Make it 9", again, "<ok", nine)) == []


def test_the_last_answer_about_the_arguments_decides():
    assert unconfirmed(chat("<Hi", ASK, "<Yes", ASK, "<No", SEND)) == [5]
    assert unconfirmed(chat("<Hi", ASK, "<No", ASK, "<Yes", SEND)) == []


def test_words_in_between_end_a_confirmation_only_where_they_call_it_off():
    between = "Is there anything you want to add first?"
    assert unconfirmed(chat("<Hi", ASK, "<Yes", between, "<No", SEND)) == []
    assert unconfirmed(chat("<Hi", ASK, "<Yes", between, "<Wait, hold on", SEND)) == [5]


def test_a_question_for_a_fact_confirms_nothing_and_ends_no_confirmation():
    fact = "Who sent 'Dinner at 8' to +46 70 02 before?"
    assert unconfirmed(chat("<Hi", ASK, "<Yes", fact, "<Nobody", SEND)) == []
    assert unconfirmed(chat("<Hi", fact, "<Yes", SEND)) == [3]


def test_a_confirmation_is_good_for_one_call_that_did_not_fail():
    assert unconfirmed(chat("<Hi", ASK, "<Yes", SEND, SEND)) == [5]
    assert unconfirmed(chat("<Hi", ASK, "<Yes", SEND, OSError(), SEND)) == []


def test_other_tools_need_no_confirmation_and_no_arguments_still_need_a_question():
    assert unconfirmed(chat("<Hi", {}, tool="read")) == []
    assert unconfirmed(chat("<Yes", {})) == [1]
    assert unconfirmed(chat("<Hi", "Shall I?", "<Yes", {})) == []


@every_case(
    ("text", "value", "stated"),
    [
        ("Remove Bo Ek?", "p1", True),
        ("Remove your friend?", "p1", False),
        ("Remove Cleo Ek?", "p1", False),
        ("To +46 (70) 02-33", "+46700233", True),
        ("It says: dinner,\nat EIGHT!", "Dinner at eight", True),
        ("dinners at eight", "Dinner at eight", False),
        ("It costs 40,000 now", 40000, True),
        ("It costs 400000", 40000, False),
        ("Turn wifi off?", False, True),
        ("Turn wifi off?", True, False),
        ("Shall I switch on wifi?", True, True),
        ("Wifi on and cellular off, then?", True, True),
        ("Wifi on and cellular off, then?", False, True),
        ("Is he your own contact: yes or no?", True, True),
        ("is_self: true", True, True),
        ("The reminder is on Tuesday", True, False),
        ("I set it on the 5th, turn up on Friday", True, False),
        ("There is no contact of that name", False, False),
        ("Low battery mode is not enabled", True, False),
        ("Low battery mode isn't enabled", False, True),
        ("It costs " + "7" * 400, int("7" * 400), True),
        ("It costs 7", int("7" * 400), False),
        ("It costs " + "7" * 400, 7, False),
        ("Today at 5 p.m.?", FIVE_PM, True),
        ("At 17:00?", FIVE_PM, True),
        ("At 5:00?", FIVE_PM, False),
        ("At 7 pm?", FIVE_PM, False),
        ("晚餐八点，发给小李", "晚餐八点", True),
        ("Nothing", None, True),
        ("Both a and b", {"x": ["a", {"y": "b"}]}, True),
        ("Only a", ["a", "b"], False),
    ],
)
def test_what_a_text_states(text, value, stated):
    sense = Sense(stands_for=partial(row_of, tables=TABLES))
    assert states(text, value, sense) is stated


def test_times_are_told_in_a_zone():
    at = {"content": "Dinner", "reminder_timestamp": FIVE_PM}
    steps = chat("<Hi", "Dinner, at 6 pm, right?", "<Right", at)
    assert unconfirmed(steps) == [3]
    assert unconfirmed(steps, "Europe/Stockholm") == []


@pytest.mark.parametrize("match", ["clean", "toolsandbox"])
def test_as_a_minefield_it_voids_the_score(match):
    plan = Plan((), (Milestone(Unconfirmed(("p/send",))),))
    refused = measure_plan(plan, chat("<Text Bo", ASK, "<No", SEND, "Sent"), match)
    allowed = measure_plan(plan, chat("<Text Bo", ASK, "<Yes", SEND, "Sent"), match)
    assert (refused.similarity, refused.minefields[0].index) == (0.0, 3)
    assert allowed.similarity == 1.0


def test_it_is_plain_data():
    written = to_plain(Plan((), (Milestone(Unconfirmed(("p/send",), "Europe/Rome")),)))
    condition = written["minefields"][0]["condition"]
    assert condition == {"kind": "unconfirmed", "tools": ["p/send"], "zone": "Europe/Rome"}
    assert from_plain_condition(condition) == Unconfirmed(("p/send",), "Europe/Rome")


def from_plain_condition(fields: dict[str, Any]) -> Condition:
    from pydantic import TypeAdapter

    return TypeAdapter(Condition).validate_python(fields)
