"""The checker's rules, each broken once, and the planner's JSON."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_speakers import (
    FORECAST,
    TOOLS,
    WEATHER,
    assignment,
    call,
    end,
    question,
    says,
    write_decision,
)

from seal.benchmarks.mmtb.generation_scene import (
    Action,
    Decision,
    Exchange,
    Round,
    Scene,
    final_answer,
    read_decision,
)
from seal.benchmarks.mmtb.generation_team import check_decision, check_results
from seal.core import DataError, ToolResult
from seal.core.validation import CallValidator

OFFERED = {name: TOOLS[name] for name in (WEATHER, FORECAST)}
VALIDATOR = CallValidator({tool.id: tool for tool in OFFERED.values()})
CALLED = Round((call(),), ({"temperature": 7},))
ASKED = Exchange(question(WEATHER, ["location"]), "Where?", "Turku")


def scene(kind: str = "multi", *events: Round | Exchange) -> Scene:
    return Scene(assignment(kind), OFFERED, (), "How is it in Turku?", events)


def rules(text: str, kind: str = "multi", *events: Round | Exchange) -> list[str]:
    return [found.rule for found in check_decision(text, scene(kind, *events), VALIDATOR)]


def test_right_decisions_break_no_rule():
    assert rules(says(call(), call(location="Lisbon"))) == []
    assert rules(says(question(WEATHER, ["location"])), "clarify") == []
    assert rules(says(call()), "clarify", ASKED) == []
    assert rules(end(), "multi", CALLED, CALLED) == []
    assert rules(end("chat"), "chat") == []
    assert rules(f"```json\n{end()}\n```", "single", CALLED) == []


def ask(tool, missing) -> Action:
    return Action(
        question("", ()).name, {"tool_name": tool, "missing_required_parameters": missing}
    )


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("no JSON", "invalid_json"),
        ("[]", "invalid_json"),
        (
            '{"Mission_Finish": "maybe", "Thought": "", "Plan": "", "Action_List": []}',
            "invalid_json",
        ),
        ('{"Mission_Finish": "no", "Plan": "", "Action_List": []}', "invalid_json"),
        (says(call()).replace('{"location":"Turku"}', '"Turku"'), "invalid_json"),
        (says(call(), plan="The simulator will answer."), "backstage"),
        (says(call(), thought="Then I call prepare_to_answer."), "backstage"),
        (says(call(), thought="The Checker was right."), "backstage"),
        (says(), "no_action"),
        (says(call(), final_answer("tool")), "mixed_actions"),
        (says(call()).replace('"no"', '"yes"'), "unfinished"),
        (says(Action("weather", {})), "unknown_tool"),
        (says(call(city="Turku")), "unknown_argument"),
        (says(call(units="metric")), "missing_argument"),
        (says(call(location=" ")), "empty_argument"),
        (says(call(location=7)), "wrong_type"),
        (says(call(location="Turku", units="kelvin")), "invalid_value"),
        (says(ask("weather", ["location"])), "unknown_tool"),
        (says(ask(WEATHER, ["units"])), "unfit_question"),
        (says(ask(WEATHER, [])), "unfit_question"),
        (says(ask(WEATHER, "location")), "unfit_question"),
        (says(Action("prepare_to_answer", {"answer_type": "words"})), "unfit_answer"),
        (says(call(), call(location=f"the place of {WEATHER}")), "dependent_actions"),
        (says(call(), call(location="<city of the user>")), "dependent_actions"),
        (says(call(), call(location="Lisbon"), plan="Serially 2 times."), "serial_at_once"),
    ],
)
def test_each_rule_rejects_what_breaks_it(text, rule):
    found = check_decision(text, scene("clarify", ASKED, CALLED), VALIDATOR)
    assert rule in [rejection.rule for rejection in found]
    assert all(rejection.text for rejection in found)


def test_no_chat_follows_right_after_a_result():
    assert rules(end("chat"), "single", CALLED) == ["unfit_answer"]


def test_a_word_that_the_tools_use_may_be_used():
    tools = {WEATHER: replace(TOOLS[WEATHER], description="Simulate the weather.")}
    decision = says(call(), plan="Simulate the weather of Turku.")
    assert check_decision(decision, replace(scene(), tools=tools), VALIDATOR) == []


@pytest.mark.parametrize(
    ("kind", "text", "events"),
    [
        ("single", says(call(), call(location="Lisbon")), ()),
        ("single", says(call()), (CALLED,)),
        ("single", end("chat"), ()),
        ("single", says(question(WEATHER, ["location"])), ()),
        ("multi", end(), (CALLED,)),
        ("multi", says(question(WEATHER, ["location"])), ()),
        ("chat", says(call()), ()),
        ("clarify", says(call()), ()),
        ("clarify", end("chat"), (ASKED,)),
    ],
)
def test_a_mission_has_the_calls_and_questions_of_its_type(kind, text, events):
    assert rules(text, kind, *events) == ["another_type"]


def test_results_are_as_many_as_calls_and_none_failed():
    right, wrong = ToolResult("a", "7", value=7), ToolResult("b", "", {"message": "asleep"})
    assert check_results(1, [right]) == []
    assert [found.rule for found in check_results(2, [right])] == ["result_count"]
    (failed,) = check_results(2, [right, wrong])
    assert (failed.rule, failed.text) == ("failed_call", "A call failed: asleep")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)
actions = st.builds(
    Action, st.text(max_size=8), st.dictionaries(st.text(max_size=4), json_values), st.text()
)
decisions = st.builds(
    Decision, st.booleans(), st.text(), st.text(), st.lists(actions, max_size=3).map(tuple)
)


@given(decisions)
def test_a_written_decision_is_read_back(decision):
    assert read_decision(write_decision(decision)) == decision


@given(st.text() | json_values.map(str) | decisions.map(lambda d: write_decision(d)[:-3]))
def test_whatever_a_planner_says_is_checked_without_a_crash(text):
    assert check_decision(text, scene(), VALIDATOR)
    with pytest.raises(DataError):
        read_decision(text)


@given(decisions)
def test_every_decision_of_right_form_gets_a_verdict(decision):
    for found in check_decision(write_decision(decision), scene(), VALIDATOR):
        assert found.rule != "invalid_json"
