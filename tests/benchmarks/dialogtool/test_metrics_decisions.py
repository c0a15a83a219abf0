"""Awareness, selection and execution of dialogues: every rule by a case worked by hand."""

import pytest
from dialogue_plays import (
    BOOK,
    FIND,
    MEDIA,
    MOVIES,
    TOOLS,
    TWIN,
    call,
    due,
    other,
    play,
    scores,
    task,
    turn,
    unread,
)
from looped import every_case

from seal.benchmarks.dialogtool.metrics import NAMES, Dialogue
from seal.core import Goal, Step, ToolResult, UsageError
from seal.evaluation.goals import rules_named

ACTIONS = {
    "any tool action where an API is due": (due("offer"), "[inform_count(two)]", 1, 0),
    "the action itself": (due("offer"), "[offer(Nopa)]", 1, 1),
    "an unknown action counts as a tool's": (due("offer"), "[search(it)]", 1, 0),
    "no tool action where one is due": (due("offer"), "[inform(it)]", 0, 0),
    "an alternative is no tool action": (due("offer"), "[offer_alts(it)]", 0, 0),
    "a question where arguments are missing": (
        due("request", missing=["city"]),
        "[request(city)]",
        1,
        1,
    ),
    "another tool action there": (due("request", missing=["city"]), "[offer(it)]", 1, 0),
    "the action where none is due": (other("inform"), "[inform(address)]", 1, 1),
    "an action that contains it": (other("inform"), "[inform_count(two)]", 1, 0),
    "another action": (other("inform"), "[goodbye(bye)]", 0, 0),
    "any tool action where gold confirms": (other("confirm"), "[notify_success(done)]", 1, 0),
    "no other action where gold confirms": (other("confirm"), "[req_more(else)]", 0, 0),
    "in any case": (other("goodbye"), "[GOODBYE(bye)]", 1, 1),
    "without brackets": (other("goodbye"), "I choose goodbye.", 1, 1),
    "nothing": (other("goodbye"), "", 0, 0),
    "no action where a tool is due": (due("offer"), "I do not know.", 0, 0),
}


@every_case(("goal", "said", "lenient", "exact"), ACTIONS.values(), ids=ACTIONS)
def test_awareness(goal, said, lenient, exact):
    found = scores(goal, turn(awareness=said))
    assert (found["awareness"].value, found["awareness_exact"].value) == (lenient, exact)


def test_awareness_tells_which_way_it_failed():
    missed = scores(due("offer"), turn(awareness="[inform(it)]"))["awareness"]
    needless = scores(other("inform"), turn(awareness="[offer(it)]"))["awareness"]
    assert missed.details == {"act": "offer", "said": "inform", "error": "tool_missed"}
    assert needless.details == {"act": "inform", "said": "offer", "error": "no_tool_due"}


NONE = other("inform")
WANTED = due("offer", city="Bern")
RIGHT = call(FIND, city="Bern")
SELECTIONS = {
    # goal, calls, value, weight, exact, recall, errors
    "the API that is due": (WANTED, [RIGHT], 1, 1, 1, 1, None),
    "rightly none": (NONE, [], 1, 1, 1, None, None),
    "one too many": (NONE, [RIGHT], 0, 1, 0, None, ["unnecessary_call"]),
    "missing": (WANTED, [], 0, 1, 0, 0, ["missing_call"]),
    "another API": (WANTED, [call(BOOK)], 0, 1, 0, 0, ["api_error"]),
    "one of the same name in another app": (
        due("offer", MOVIES),
        [call(MEDIA)],
        0,
        1,
        0,
        0,
        ["api_error"],
    ),
    "its other service": (WANTED, [call(TWIN)], 1, 1, 0, 1, None),
    "its name without an app": (due("offer", MOVIES), [call("findmovies")], 1, 1, 0, 1, None),
    "its name with another app": (
        due("offer", MOVIES),
        [call("Media: findmovies")],
        0,
        1,
        0,
        0,
        ["api_error"],
    ),
    "one that cannot be read": (WANTED, [unread()], 0, 1, 0, 0, ["parse_error"]),
    "none due, one that cannot be read": (NONE, [unread()], 0, 1, 0, None, ["parse_error"]),
    "the right one and another": (
        WANTED,
        [call(BOOK), RIGHT],
        0.5,
        2,
        0,
        1,
        ["unnecessary_call"],
    ),
    "the right one twice": (WANTED, [RIGHT, RIGHT], 0.5, 2, 0, 1, ["unnecessary_call"]),
    "a wrong one and one that cannot be read": (
        WANTED,
        [unread(), call(BOOK)],
        0,
        2,
        0,
        0,
        ["api_error", "parse_error"],
    ),
}


@every_case(
    ("goal", "calls", "value", "weight", "exact", "recall", "errors"),
    SELECTIONS.values(),
    ids=SELECTIONS,
)
def test_selection(goal, calls, value, weight, exact, recall, errors):
    found = scores(goal, turn(requester="", calls=calls))
    assert (found["selection"].value, found["selection"].weight) == (value, weight)
    assert found["selection"].details.get("errors") == errors
    assert found["selection_exact"].value == exact
    assert found["selection_recall"].value == recall


def test_selection_names_the_apis_that_were_not_needed():
    found = scores(NONE, turn(calls=[RIGHT, call("eat")]))["selection"]
    assert found.details["unnecessary"] == ["Restaurants: findrestaurants", "eat"]
    found = scores(WANTED, turn(calls=[RIGHT, call(BOOK)]))["selection"]
    assert found.details["api"] == "Restaurants: findrestaurants"
    assert found.details["unnecessary"] == ["Restaurants: reserverestaurant"]


@pytest.mark.parametrize(
    ("said", "calls", "named"),
    [
        ("[Restaurants]", [], True),
        ("[restaurants]\nbut no API", [], True),
        ("[Movies]", [], False),
        ("", [call(BOOK)], True),
        ("", [call("Restaurants: eat")], True),
        ("", [call(MEDIA)], False),
        ("", [], False),
    ],
)
def test_an_app_may_be_right_where_the_api_is_not(said, calls, named):
    found = scores(WANTED, turn(requester=said, calls=calls))["selection"]
    assert (found.value, found.details["app"]) == (0, named)


FULL = due("offer", city=("Corte Madera", "corte madera"), seats=2, outdoor=True)
ASKING = due("request", missing=("time", "date"), city="Bern")
EXECUTIONS = {
    # goal, given arguments, lenient, exact, error as published
    "the very values": (FULL, {"city": "Corte Madera", "seats": 2, "outdoor": True}, 1, 1, None),
    "a variant": (FULL, {"city": "corte madera", "seats": 2, "outdoor": True}, 1, 1, None),
    "texts": (FULL, {"city": "Corte Madera", "seats": "2", "outdoor": "true"}, 1, 0, None),
    "contains gold": (FULL, {"city": "Corte Madera, CA", "seats": 2, "outdoor": True}, 1, 0, None),
    "contained in gold": (FULL, {"city": "madera", "seats": 2, "outdoor": True}, 1, 0, None),
    "1 in 10": (FULL, {"city": "Corte Madera", "seats": 12, "outdoor": True}, 1, 0, None),
    "more": (
        FULL,
        {"city": "Corte Madera", "seats": 2, "outdoor": True, "tip": "x"},
        1,
        0,
        None,
    ),
    "less": (FULL, {"city": "Corte Madera", "seats": 2}, 0, 0, "argument_matching_error"),
    "other": (
        FULL,
        {"city": "Oakland", "seats": 2, "outdoor": True},
        0,
        0,
        "argument_matching_error",
    ),
    "all are asked for": (ASKING, {"city": "Bern", "time": "?", "date": "?"}, 1, 1, None),
    "one is asked for": (ASKING, {"city": "Oslo", "time": "?"}, 1, 0, None),
    "none is asked for": (
        ASKING,
        {"city": "Bern", "time": "10:00"},
        0,
        0,
        "missing_argument_error",
    ),
    "another is asked for": (ASKING, {"city": "?"}, 0, 0, "missing_argument_error"),
}


@every_case(("goal", "given", "lenient", "exact", "error"), EXECUTIONS.values(), ids=EXECUTIONS)
def test_execution(goal, given, lenient, exact, error):
    found = scores(goal, turn(calls=[call(FIND, **given)]))
    assert (found["execution"].value, found["execution_exact"].value) == (lenient, exact)
    assert found["execution"].details.get("error") == error


def test_execution_is_counted_where_an_api_was_due_and_one_was_requested():
    wrong = scores(WANTED, turn(calls=[call(BOOK, city="Bern")]))["execution"]
    assert (wrong.value, wrong.details["error"]) == (0, "api_error")
    for goal, calls, reason in (
        (NONE, [RIGHT], "no API is due"),
        (WANTED, [], "no API was requested"),
        (WANTED, [unread()], "no API was requested"),
    ):
        found = scores(goal, turn(requester="", calls=calls))["execution"]
        assert (found.value, found.reason) == (None, reason)


SERVED = {
    "it was refused": (WANTED, RIGHT, {"kind": "missing_argument", "message": "no"}, 0),
    "it is to ask": (ASKING, call(FIND, city="Bern", time="?"), {"kind": "missing_argument"}, 1),
    "an outage": (WANTED, RIGHT, {"kind": "service", "message": "Too many requests"}, 1),
    "nothing was recorded": (WANTED, RIGHT, {"kind": "not_recorded", "message": "unknown"}, 1),
    "it was served": (WANTED, RIGHT, None, 1),
}


@every_case(("goal", "made", "error", "value"), SERVED.values(), ids=SERVED)
def test_a_refused_request_was_not_executed_and_one_that_no_service_took_was(
    goal, made, error, value
):
    result = Step(1, "executor", "requester", result=ToolResult(made.id, "[]", error))
    found = scores(goal, [*turn(calls=[made]), result])
    assert found["execution"].value == value
    assert found["execution"].details.get("error") == (None if value else "refused")
    assert found["selection"].value == 1


def test_arguments_are_told_apart_by_what_is_wrong_with_them():
    goal = due("offer", city="Bern", check_in_date="2019-03-01", from_station="A", seats=2)
    given = {"city": "Oslo", "check_in_date": "the 1st", "from_station": "B", "tip": 1}
    found = scores(goal, turn(calls=[call(FIND, **given)]))["execution"].details
    assert found["missing"] == ["seats"] and found["extra"] == ["tip"]
    assert found["mismatch"] == ["city", "check_in_date", "from_station"]
    assert (found["dates"], found["places"]) == (1, 2)


def test_exact_rules_make_the_plain_names_exact():
    steps = turn(awareness="[inform_count(two)]", calls=[call(FIND, city="Bern, CH")])
    lenient, exact = (scores(WANTED, steps, match) for match in ("lenient", "exact"))
    assert [lenient[name].value for name in ("awareness", "execution")] == [1, 1]
    assert [exact[name].value for name in ("awareness", "execution")] == [0, 0]
    assert exact["awareness_exact"].value == lenient["awareness_exact"].value == 0


def test_a_role_that_is_not_seated_has_no_score_and_one_that_is_silent_is_wrong():
    found = scores(WANTED, turn(awareness="[offer(it)]"))
    assert found["selection"].value is None and found["bleu"].value is None
    assert found["selection"].reason == "the role is not seated: requester"
    both = Dialogue().score(
        task(WANTED, WANTED), play(turn(0, awareness="[offer(it)]", calls=[RIGHT]), []), TOOLS
    )
    values = {(s.goal, s.metric): s.value for s in both}
    assert values[1, "awareness"] == values[1, "selection"] == 0
    told = scores(WANTED, turn(awareness="[offer(it)]"), seated=["requester"])
    assert told["selection"].value == 0


def test_a_failure_of_the_infrastructure_is_no_score():
    found = Dialogue().score(task(WANTED), play([], error="no server"), TOOLS)
    assert {score.value for score in found} == {None}
    assert {score.metric for score in found} == set(NAMES)


def test_other_benchmarks_have_no_such_scores():
    plain = task(Goal("do it", plans=()), Goal("x", labels={"task": "creation"}))
    assert Dialogue().score(plain, play([], []), TOOLS) == []


def test_the_rules_are_chosen_by_name():
    assert rules_named("exact").dialogue == "exact"
    assert rules_named("lenient").dialogue == rules_named(None).dialogue == "lenient"
    with pytest.raises(UsageError, match="clean, exact, lenient, mmtb, toolsandbox, got 'near'"):
        rules_named("near")
