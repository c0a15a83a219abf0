"""The first stage that explains a failed goal, rule by rule."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from looped import every_case

from seal.benchmarks.dialogtool.metrics import cause_of
from seal.benchmarks.dialogtool.tool_life import decided_by
from seal.core import (
    Goal,
    Milestone,
    Plan,
    Ranking,
    Score,
    Step,
    Stop,
    Task,
    Tool,
    ToolCall,
    ToolResult,
    Trajectory,
)
from seal.core.conditions import Argument, Asked, Called, Replied
from seal.evaluation.attribution import MEANINGS, ORDER, Cause, attribute, decide, listed

MANAGER, EXECUTOR, USER = "execution_manager", "executor", "user_simulator"
FIND, BOOK, RATE = "own/find", "own/book", "own/rate"


def tool(name: str) -> Tool:
    properties = {"city": {"type": "string"}, "nights": {"type": "integer"}}
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return Tool(f"own/{name}", name, parameters=schema)


TOOLS = {t.id: t for t in map(tool, ("find", "book", "rate"))}


def called(tool_id: str, **arguments: Any) -> Milestone:
    return Milestone(Called(tool_id, {k: Argument((v,)) for k, v in arguments.items()}))


def goal(*milestones: Milestone, **fields: Any) -> Goal:
    return Goal("Book a room in Porto.", **{"plans": (Plan(milestones),), **fields})


TWO = goal(called(FIND, city="Porto"), called(BOOK, city="Porto", nights=2))
ONE = goal(called(FIND, city="Porto"))


def call(name: str, error: dict[str, Any] | None = None, **arguments: Any) -> tuple[Any, ...]:
    return name, error, arguments


def chat(
    *calls: tuple[Any, ...], answer: str | None = "There you are.", **fields: Any
) -> Trajectory:
    steps = [Step(0, USER, MANAGER, "Book a room in Porto.")]
    for number, (name, error, arguments) in enumerate(calls):
        made = ToolCall(f"call_{number}", name, arguments, tool=f"own/{name}")
        made = made if made.tool in TOOLS else replace(made, tool=None)
        result = ToolResult(made.id, '{"room": "R-17"}', error, {"room": "R-17"})
        steps.append(Step(len(steps), MANAGER, EXECUTOR, call=made, turn=len(steps)))
        steps.append(Step(len(steps), EXECUTOR, MANAGER, result=result, turn=len(steps)))
    if answer is not None:
        steps.append(Step(len(steps), MANAGER, USER, answer, turn=len(steps)))
    defaults = {"offered": (tuple(TOOLS),), "stops": (Stop("done"),), "answers": (answer,)}
    return Trajectory("t", 0, tuple(steps), **{**defaults, **fields})


def scored(label: str = "unsolved", reason: str = "") -> list[Score]:
    details = {"label": label, "stage": 1, "reason": reason}
    return [Score("t", 0, 0, "pass_rate", float(label == "solved"), details=details)]


def why(asked: Goal, played: Trajectory, scores: list[Score] | None = None) -> Cause:
    task = Task("t", "own", (asked,))
    told = scores or scored()
    ((_, cause),) = attribute(task, played, TOOLS, told, decided_by=decided_by, cause_of=cause_of)
    assert cause is not None
    return cause


def stage(asked: Goal, played: Trajectory, label: str = "unsolved") -> tuple[str, str]:
    found = why(asked, played, scored(label))
    return found.stage, found.cause


RIGHT = (call("find", city="Porto"), call("book", city="Porto", nights=2))
LOCKED = {"kind": "api", "message": "locked"}


def test_names_in_a_row_are_all_told_once() -> None:
    assert listed(["a", "b", "a", "c", "d", "e"]) == "a, b, c, d, e"
    assert listed(["a", "b", "c", "d"], "or") == "a or b or c or d"


def test_every_stage_has_a_meaning_in_its_order() -> None:
    assert tuple(MEANINGS) == ORDER


def test_a_solved_goal_has_no_attribution() -> None:
    ((decision, found),) = attribute(Task("t", "own", (ONE,)), chat(), TOOLS, scored("solved"))
    assert (decision.state, found) == ("solved", None)


def test_a_goal_without_verdict_is_no_failure() -> None:
    ((decision, found),) = attribute(Task("t", "own", (ONE,)), chat(), TOOLS, [])
    assert (decision.state, decision.reason, found) == ("unscored", "not scored", None)


def test_a_broken_chat_is_the_infrastructures() -> None:
    broken = chat(stops=(Stop("error", "the server answered 503"),), answers=(None,))
    assert stage(ONE, broken) == ("infrastructure", "chat")


def test_a_broken_judge_is_the_infrastructures() -> None:
    score = Score("t", 0, 0, "pass_rate", None, reason="infrastructure: judge: timed out")
    assert why(ONE, chat(), [score]).cause == "judge"


@pytest.mark.parametrize(
    ("offered", "cause", "passed"),
    [((RATE, FIND), "not_offered", 1), ((RATE,), "not_offered", 0)],
)
def test_a_gold_tool_that_was_not_offered(offered: Any, cause: str, passed: int) -> None:
    found = why(TWO, chat(*RIGHT, offered=(offered,)))
    assert (found.stage, found.cause, found.passed, found.of) == ("not_retrieved", cause, passed, 2)
    assert found.partly == (passed == 1)
    assert (" were not among" in found.said) == (passed == 0)


def test_a_tool_below_the_cut_off_is_told_from_one_that_is_not_in_the_pool() -> None:
    ranked = (Ranking("t", 0, "q", ((RATE, 1.0),)),)
    assert stage(ONE, chat(offered=((RATE,),), rankings=ranked))[1] == "below_cutoff"
    assert stage(goal(called("own/gone")), chat(offered=((RATE,),)))[1] == "not_in_pool"
    found = why(ONE, chat(offered=((),), rankings=(Ranking("t", 0, "q", ()),)))
    assert found.cause == "no_tool_matched"
    assert found.said == "find was not offered: the retriever found no tool that matches"


def test_tools_that_earlier_goals_brought_are_told_from_those_of_this_one() -> None:
    ranked = tuple(Ranking("t", n, "q", ((tool, 1.0),)) for n, tool in enumerate((RATE, BOOK)))
    played = chat(offered=((RATE,), (RATE, BOOK)), rankings=ranked, stops=(Stop("done"),) * 2)
    scores = [replace(score, goal=1) for score in scored()]
    _, (_, cause) = attribute(Task("t", "own", (TWO, ONE)), played, TOOLS, scores)
    assert cause is not None
    assert cause.said == "find was not among the 2 tools offered, 1 of them for earlier goals"


def test_any_plan_whose_tools_were_offered_is_enough() -> None:
    either = replace(ONE, plans=(*(ONE.plans or ()), Plan((called(RATE, city="Porto"),))))
    assert stage(either, chat(offered=((RATE,),)))[0] == "not_called"


@every_case(
    ("calls", "expected"),
    [
        ((), ("not_called", "no_call")),
        (RIGHT[:1], ("not_called", "stopped_early")),
        ((call("rate", city="Porto"),), ("wrong_tool", "other_tool")),
        ((call("search", city="Porto"),), ("wrong_tool", "unknown_name")),
        ((call("find", city="Lisbon"), RIGHT[1]), ("wrong_argument", "value")),
        ((call("find"), RIGHT[1]), ("wrong_argument", "missing")),
        ((call("find", city=3), RIGHT[1]), ("wrong_argument", "wrong_type")),
        ((call("find", LOCKED, city="Porto"), RIGHT[1]), ("tool_error", "api")),
        ((call("find", city="Lisbon"), call("rate")), ("wrong_argument", "value")),
        ((call("find", LOCKED, city="Porto"), call("rate")), ("tool_error", "api")),
        (RIGHT, ("answer", "judged")),
    ],
)
def test_the_first_gold_call_that_was_not_done_explains(calls: Any, expected: Any) -> None:
    assert stage(TWO, chat(*calls)) == expected


@pytest.mark.parametrize("stop", ["crashed", "context_overflow"])
def test_a_chat_that_was_cut_short_says_so(stop: Any) -> None:
    played = chat(answer=None, stops=(Stop(stop),))
    assert stage(TWO, played) == ("not_called", stop)


def test_an_error_that_a_later_call_mends_explains_nothing() -> None:
    calls = (call("find", LOCKED, city="Porto"), *RIGHT)
    assert stage(TWO, chat(*calls))[0] == "answer"


def test_a_second_call_of_a_gold_tool_that_is_missing() -> None:
    twice = goal(called(FIND, city="Porto"), called(FIND, city="Faro"))
    found = why(twice, chat(call("find", city="Porto")))
    assert (found.stage, found.cause, found.partly) == ("not_called", "too_few", True)


def test_a_wrong_argument_says_which_expected_and_received() -> None:
    found = why(ONE, chat(call("find", city="Lisbon")))
    assert (found.name, found.expected, found.received, found.step) == (
        "city", "Porto", "Lisbon", 1
    )  # fmt: skip


@every_case(
    ("asked", "made", "said"),
    [
        (
            goal(called(BOOK, city="Porto", nights=2)),
            call("book", city="Lisbon", nights=3),
            "book: value city: expected 'Porto', received 'Lisbon'; "
            "value nights: expected 2, received 3",
        ),
        (
            goal(called(BOOK, city="Porto", nights=2)),
            call("book", city=3, nights="two"),
            "book: wrong_type city: expected 'Porto', received 3; "
            "wrong_type nights: expected 2, received 'two'",
        ),
        (
            goal(called(BOOK, **{f"a{place}": 1 for place in range(7)})),
            call("book"),
            "book: "
            + "; ".join(f"missing a{place}: expected 1, received nothing" for place in range(5))
            + "; 2 more",
        ),
    ],
)
def test_all_wrong_arguments_of_a_call_are_named(asked: Goal, made: Any, said: str) -> None:
    assert why(asked, chat(made)).said == said


def test_a_rejected_argument_is_shown_beside_gold() -> None:
    found = why(ONE, chat(call("find", {"kind": "wrong_type", "message": "no"}, city=3)))
    assert (found.cause, found.expected, found.received) == ("wrong_type", "Porto", 3)


def test_a_call_that_gold_accepts_and_that_ran_is_right_whatever_its_schema_says() -> None:
    asked = goal(called(FIND, town="Porto"))
    assert stage(asked, chat(call("find", town="Porto")))[0] == "answer"


def test_a_call_that_was_never_answered_is_not_blamed() -> None:
    played = chat(*RIGHT)
    unanswered = replace(played, steps=tuple(s for s in played.steps if s.result is None))
    assert stage(TWO, unanswered)[0] == "answer"


def test_a_call_without_recorded_answer_is_the_infrastructures() -> None:
    error = {"kind": "not_recorded", "message": "nothing was recorded"}
    assert stage(ONE, chat(call("find", error, city="Porto"))) == ("infrastructure", "unrecorded")


@pytest.mark.parametrize(
    ("answer", "stop", "cause"),
    [
        (None, "done", "no_answer"),
        (None, "max_turns", "max_turns"),
        ("I am sorry, I cannot do that.", "done", "refused"),
        ("Book a room in Porto.", "done", "repeats_request"),
    ],
)
def test_giving_up_after_all_gold_calls(answer: Any, stop: Any, cause: str) -> None:
    assert stage(TWO, chat(*RIGHT, answer=answer, stops=(Stop(stop),))) == ("gave_up", cause)


def test_an_answer_that_contradicts_a_result() -> None:
    asked = replace(ONE, answers=("47",))
    played = chat(call("find", city="Porto"), answer="It costs 99 euros.")
    steps = tuple(
        replace(s, result=replace(s.result, content="47", value=47)) if s.result else s
        for s in played.steps
    )
    assert stage(asked, replace(played, steps=steps)) == ("answer", "contradicts")


@pytest.mark.parametrize("label", ["unsolved", "unsure"])
def test_an_answer_that_states_nothing_of_the_results(label: str) -> None:
    found = why(replace(TWO, answers=("R-17",)), chat(*RIGHT), scored(label))
    assert (found.stage, found.cause, found.expected) == ("answer", "omits", "R-17")


def test_alternatives_are_named_together_and_one_of_them_is_enough() -> None:
    asked = replace(TWO, answers=("R-17", "R-18"), any_answer=True)

    found = why(asked, chat(*RIGHT), scored("unsolved"))
    assert (found.cause, found.expected) == ("omits", "R-17 or R-18")
    assert stage(asked, chat(*RIGHT, answer="It is R-18."))[1] != "omits"


def test_a_goal_that_nothing_decides_is_undecided_and_no_failure() -> None:
    unsure = [replace(scored("unsure")[0], value=None)]
    task = Task("t", "own", (TWO,))
    ((decision, attribution),) = attribute(task, chat(*RIGHT), TOOLS, unsure)
    assert (decision.state, decision.metric, attribution) == ("undecided", "pass_rate", None)


def test_a_call_where_no_tool_was_needed() -> None:
    asked = goal(Milestone(Replied(("60",))))
    assert stage(asked, chat(call("rate"))) == ("wrong_tool", "none_needed")


ASKED_FIRST = goal(
    called(RATE, city="Porto"),
    Milestone(Asked()),
    replace(called(BOOK, city="Porto"), after=(1,)),
)


@every_case(
    ("asked", "calls", "expected"),
    [
        (
            goal(Milestone(Asked()), called(FIND, city="Porto")),
            "find",
            ("wrong_argument", "not_asked"),
        ),
        (goal(Milestone(Asked())), "find", ("wrong_argument", "not_asked")),
        (ASKED_FIRST, "rate book", ("wrong_argument", "not_asked")),
        (ASKED_FIRST, "rate", ("not_called", "stopped_early")),
        (ASKED_FIRST, "rate find", ("wrong_tool", "other_tool")),
        (
            goal(Milestone(Asked()), called(FIND, city="Porto")),
            "rate",
            ("wrong_tool", "other_tool"),
        ),
        (goal(Milestone(Asked()), called(FIND, city="Porto")), "", ("not_called", "no_call")),
    ],
)
def test_a_question_that_was_due_is_missed_by_the_call_that_needed_it(
    asked: Goal, calls: str, expected: Any
) -> None:
    assert stage(asked, chat(*(call(name, city="Porto") for name in calls.split()))) == expected


RELEVANT = Goal("Book a room in Porto.", relevant=(FIND, BOOK))
DEAD = {"kind": "service", "message": "Unsubscribed error..."}


@every_case(
    ("calls", "expected"),
    [
        ((), ("not_called", "no_call")),
        ((call("rate"),), ("wrong_tool", "other_tool")),
        ((call("rate", DEAD),), ("tool_error", "unsubscribed")),
        ((call("find", DEAD),), ("tool_error", "unsubscribed")),
        ((call("find", DEAD, city=3),), ("tool_error", "unsubscribed")),
        ((call("find", LOCKED, city=3),), ("wrong_argument", "wrong_type")),
        ((call("search"),), ("wrong_tool", "unknown_name")),
        ((call("search"), call("find", DEAD)), ("tool_error", "unsubscribed")),
        ((call("find"),), ("unexplained", "no_evidence")),
        ((call("find"), call("book")), ("unexplained", "no_evidence")),
    ],
)
def test_without_gold_calls_only_what_is_certain_explains(calls: Any, expected: Any) -> None:
    assert stage(RELEVANT, chat(*calls)) == expected


@every_case(
    ("calls", "expected"),
    [
        ((), ("not_retrieved", "not_offered")),
        ((call("find"),), ("not_retrieved", "not_offered")),
        ((call("rate", DEAD),), ("not_retrieved", "not_offered")),
        ((call("find", DEAD),), ("tool_error", "unsubscribed")),
        ((call("find", DEAD), call("find")), ("not_retrieved", "not_offered")),
    ],
)
def test_a_relevant_tool_that_failed_tells_more_than_one_that_was_not_offered(
    calls: Any, expected: Any
) -> None:
    assert stage(RELEVANT, chat(*calls, offered=((FIND, RATE),))) == expected


def test_without_gold_a_goal_is_unexplained() -> None:
    assert stage(Goal("Book a room in Porto."), chat()) == ("unexplained", "no_evidence")


@pytest.mark.parametrize(("step", "expected"), [(0, "user"), (9, "wrong_argument")])
def test_the_user_explains_what_came_after_its_error(step: int, expected: str) -> None:
    flag = {"flag": "outside_brief", "step": step, "said": "I am Bo", "facts": ["Bo"]}
    audit = Score("t", 0, 0, "user_hallucination", 1.0, details={"flags": [flag]})
    found = why(ONE, chat(call("find", city="Lisbon")), [*scored(), audit])
    assert found.stage == expected


@pytest.mark.parametrize(
    ("judged", "metric", "state"),
    [
        (scored("solved"), "pass_rate", "solved"),
        (
            [Score("t", 0, 0, "pass_rate", None, details={"label": "unsure"})],
            "pass_rate",
            "undecided",
        ),
        ([], "mission_accuracy", "unsolved"),
    ],
)
def test_the_metric_of_the_headline_decides_goals_of_calls_and_missions_too(
    judged: list[Score], metric: str, state: str
) -> None:
    by_calls = [Score("t", 0, 0, name, 0.0) for name in ("mission_accuracy", "calls_right")]
    mission = replace(ONE, labels={"type": "single"})
    for asked in (ONE, mission):
        told = [*judged, *by_calls]
        ((decision, _),) = attribute(Task("t", "own", (asked,)), chat(), TOOLS, told)
        assert (decision.metric, decision.state) == (metric, state)


def test_another_metric_may_decide() -> None:
    fac = Score("t", 0, 0, "fac", 0.0)
    task = Task("t", "own", (ONE,))
    told = [*scored("solved"), fac]
    ((decision, cause),) = attribute(task, chat(), TOOLS, told, metric="fac")
    assert cause is not None
    assert decision.metric == "fac"


def test_a_turn_of_a_dialogue_is_explained_by_what_was_decided() -> None:
    turn = replace(ONE, labels={"kind": "call", "act": "call_api"})
    missed = Score("t", 0, 0, "awareness", 0.0, details={"error": "tool_missed"})
    assert why(turn, chat(), [missed]).stage == "not_called"


def test_a_request_that_its_tool_refused_is_an_error_of_the_tool_and_no_wrong_argument() -> None:
    turn = replace(ONE, labels={"kind": "call", "act": "call_api"})
    told = [Score("t", 0, 0, name, 1.0) for name in ("awareness", "selection")]
    told.append(Score("t", 0, 0, "execution", 0.0, details={"error": "refused"}))
    played = chat(call("find", {"kind": "not_confirmed", "message": "ask first"}, city="Porto"))
    found = why(turn, played, told)
    assert (found.stage, found.cause) == ("tool_error", "not_confirmed")


def test_a_turn_of_which_one_score_was_lost_is_neither_solved_nor_failed() -> None:
    goal = Goal("Hi", labels={"kind": "action", "act": "goodbye"})
    scores = {name: Score("t", 0, 0, name, 1.0) for name in ("awareness", "selection")}
    lost = Score("t", 0, 0, "execution", None, reason="infrastructure: metric execution: down")
    chat = Trajectory("t", 0, ())
    assert decide(goal, "", scores, decided_by=decided_by).state == "solved"
    without = {**scores, "execution": lost}
    assert decide(goal, chat, without, decided_by=decided_by).state == "error"
    wrong = {**scores, "awareness": Score("t", 0, 0, "awareness", 0.0), "execution": lost}
    assert decide(goal, chat, wrong, decided_by=decided_by).state != "solved"
