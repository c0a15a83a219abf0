"""Error patterns beside gold, and as scores: denominators, plans, planted faults."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import permutations
from typing import Any

import pytest
from chats import MANAGER, goal, gold, plan, task
from hypothesis import given
from hypothesis import strategies as st
from looped import every_case

from seal.core import (
    Goal,
    Plan,
    Score,
    Step,
    Stop,
    Tool,
    ToolCall,
    ToolResult,
    Trajectory,
    UsageError,
)
from seal.core.call_formats import form_of
from seal.core.conditions import Argument, Asked, Called, Replied
from seal.core.state_conditions import CallRefused, StateHas
from seal.evaluation import REGISTRY
from seal.evaluation.calls import Calls
from seal.evaluation.error_patterns import diagnose
from seal.evaluation.goals import no_gold
from seal.evaluation.pattern_details import (
    choose,
    compare_plan,
    compare_plans,
    expected_words,
    value_words,
)
from seal.evaluation.pattern_scores import (
    NAMES,
    PATTERNS,
    ErrorPatterns,
    IndependentMinima,
    RepeatedAnyhow,
)
from seal.evaluation.scoring import build_metrics

ARGUMENT = {"type": "integer"}
TOOLS = {
    f"b/t/{name}": Tool(
        f"b/t/{name}",
        name,
        parameters={"type": "object", "properties": {"x": ARGUMENT, "y": ARGUMENT}},
    )
    for name in "abc"
}
TOOLS["b/t/n"] = Tool(
    "b/t/n",
    "n",
    parameters={"type": "object", "properties": {"x": ARGUMENT}, "required": ["x"]},
)

Spec = tuple[str, Any]


def chat(*calls: Spec, told: bool = False, goal: int = 0, first: int = 0) -> Trajectory:
    """One call a turn; calls that are no valid ones are answered by an error where told."""
    steps: list[Step] = []
    for number, (name, arguments) in enumerate(calls):
        made = number + first // 2
        tool = f"b/t/{name}" if f"b/t/{name}" in TOOLS else None
        given_arguments = arguments if isinstance(arguments, dict) else None
        call = ToolCall(f"call_{made}", name, given_arguments, "", tool)
        error = {"kind": "wrong_type", "message": "no"} if told else None
        result = ToolResult(call.id, "x", error)
        steps += [
            Step(2 * made, MANAGER, "executor", call=call, turn=2 * made, goal=goal),
            Step(2 * made + 1, "executor", MANAGER, result=result, turn=2 * made + 1, goal=goal),
        ]
    return Trajectory("t", 0, tuple(steps), stops=(Stop("done"),), answers=("ok",))


def a(x: Any = 1, **more: Any) -> Called:
    return gold("b/t/a", {"x": x, **more})


def b(x: Any = 1) -> Called:
    return gold("b/t/b", {"x": x})


OPTIONAL = Argument((2,), optional=True)
ANYTHING = Argument(None, optional=True)
LEFT_OUT = Argument((), optional=True)
EITHER = Argument((1, 5))

COUNTS: list[tuple[list[Called], list[Spec], int, int]] = [
    # gold, made, IAC, IAV
    ([a()], [("a", {"x": 1})], 0, 0),
    ([a()], [], 1, 0),
    ([a()], [("b", {"x": 1})], 1, 0),
    ([a()], [("a", {"x": 2})], 0, 1),
    ([a()], [("a", {})], 0, 1),
    ([a()], [("a", {"x": 1, "y": 1})], 0, 1),
    ([a()], [("a", {"x": 2}), ("a", {"x": 1})], 0, 0),
    ([a()], [("a", {"x": 1}), ("a", {"x": 1})], 0, 0),
    ([a()], [("a", {"x": 1.0})], 0, 0),
    ([a()], [("a", {"x": "1"})], 1, 0),
    ([a()], [("a", {"x": True})], 1, 0),
    ([a()], [("a", None)], 1, 0),
    ([a(), a()], [("a", {"x": 1})], 1, 0),
    ([a(), a()], [("a", {"x": 1}), ("a", {"x": 1})], 0, 0),
    ([a(1), a(2)], [("a", {"x": 1})], 1, 0),
    ([a(1), a(2)], [("a", {"x": 3})], 1, 1),
    ([a(1), a(2)], [("a", {"x": 2}), ("a", {"x": 1})], 0, 0),
    ([a(1), a(2)], [("a", {"x": 1}), ("a", {"x": 1})], 0, 1),
    ([a(1), a(2)], [("a", {"x": 1}), ("a", {"x": 3})], 0, 1),
    ([a(1), a(2)], [("a", {"x": 3}), ("a", {"x": 4})], 0, 2),
    ([a(1), a(2), b()], [("a", {"x": 1}), ("a", {"x": 2})], 1, 0),
    ([a(1), b(1)], [("b", {"x": 1}), ("a", {"x": 1})], 0, 0),
    ([a(1), b(1)], [("a", {"x": 2})], 1, 1),
    # one call serves one gold call, and the matching is the largest
    ([a(EITHER), a(1)], [("a", {"x": 1}), ("a", {"x": 5})], 0, 0),
    ([a(EITHER), a(5)], [("a", {"x": 1}), ("a", {"x": 5})], 0, 0),
    ([a(EITHER), a(EITHER)], [("a", {"x": 1})], 1, 0),
    ([a(EITHER), a(1)], [("a", {"x": 5}), ("a", {"x": 5})], 0, 1),
    # optional arguments
    ([a(y=OPTIONAL)], [("a", {"x": 1})], 0, 0),
    ([a(y=OPTIONAL)], [("a", {"x": 1, "y": 2})], 0, 0),
    ([a(y=OPTIONAL)], [("a", {"x": 1, "y": 3})], 0, 1),
    ([a(x=OPTIONAL)], [("a", {})], 0, 0),
    ([a(y=ANYTHING)], [("a", {"x": 1})], 0, 0),
    ([a(y=ANYTHING)], [("a", {"x": 1, "y": 3})], 0, 0),
    ([a(y=ANYTHING)], [("a", {"x": 2, "y": 3})], 0, 1),
    ([a(y=LEFT_OUT)], [("a", {"x": 1})], 0, 0),
    ([a(y=LEFT_OUT)], [("a", {"x": 1, "y": 3})], 0, 1),
    ([gold("b/t/a")], [("a", {"y": 7})], 0, 0),
    ([gold("b/t/a", {})], [("a", {"y": 7})], 0, 1),
    # what is no valid call was not made
    ([gold("b/t/n", {"x": 1})], [("n", {})], 1, 0),
    ([gold("b/t/n", {"x": 1})], [("n", {}), ("n", {"x": 1})], 0, 0),
    ([a()], [("a", {"z": 1})], 1, 0),
    ([a()], [("finish", {"x": 1})], 1, 0),
]


@every_case(("wanted", "made", "missing", "wrong"), COUNTS)
def test_missing_and_wrong_calls_are_counted_apart(
    wanted: list[Called], made: list[Spec], missing: int, wrong: int
) -> None:
    found = diagnose(chat(*made), TOOLS)
    for order in permutations(wanted):
        compared = compare_plan(plan(*order), 0, found)
        assert (compared.missing, compared.wrong, compared.gold) == (missing, wrong, len(wanted))


PLANS: list[tuple[list[list[Called]], list[Spec], tuple[int, int, int], tuple[int, int]]] = [
    # plans, made, joint (plan, IAC, IAV), independent (IAC, IAV)
    ([[a()], [b()]], [("b", {"x": 1})], (1, 0, 0), (0, 0)),
    ([[a()], [b()]], [], (0, 1, 0), (1, 0)),
    ([[a(2)], [b(), b(2)]], [("a", {"x": 1})], (0, 0, 1), (0, 0)),
    ([[b(), b(2)], [a(2)]], [("a", {"x": 1})], (1, 0, 1), (0, 0)),
    ([[a(2)], [a(1)]], [("a", {"x": 1})], (1, 0, 0), (0, 0)),
    ([[a(2)], [a(3)]], [("a", {"x": 1})], (0, 0, 1), (0, 1)),
    ([[a(), b()], [a(2), a(3)]], [("a", {"x": 2})], (1, 1, 0), (1, 0)),
    ([[], [a()]], [], (0, 0, 0), (0, 0)),
    ([[a(), b()], []], [("a", {"x": 1})], (1, 0, 0), (0, 0)),
]


@pytest.mark.parametrize(("plans", "made", "joint", "independent"), PLANS)
def test_one_plan_explains_a_goal_unless_minima_are_asked_for(
    plans: list[list[Called]],
    made: list[Spec],
    joint: tuple[int, int, int],
    independent: tuple[int, int],
) -> None:
    found = diagnose(chat(*made), TOOLS)
    golds = [plan(*calls) for calls in plans]
    chosen = choose(golds, found)
    assert (chosen.plan, chosen.missing, chosen.wrong) == joint
    compared = compare_plans(golds, found)
    assert (
        tuple(min(getattr(c, of) for c in compared) for of in ("missing", "wrong")) == independent
    )
    if made:
        apart = scores(goal(*golds), chat(*made), IndependentMinima())
        assert tuple(score.details["errors"] for score in apart.values()) == independent


def test_a_gold_call_says_why_it_was_not_made() -> None:
    wanted = plan(a(), b(), gold("b/t/c", {"x": 1, "y": 2}))
    found = diagnose(chat(("b", {"z": 1}), ("c", {"x": 1, "y": 3})), TOOLS)
    compared = compare_plan(wanted, 0, found)
    assert [(f.pattern, f.milestone, f.cause, f.step) for f in compared.findings] == [
        ("IAC", 0, "not_called", None),
        ("IAC", 1, "rejected", 0),
        ("IAV", 2, "wrong_value", 2),
    ]
    (fault,) = compared.findings[2].faults
    assert (fault.name, fault.expected, fault.received) == ("y", (2,), 3)


def test_a_fault_is_told_alike_whether_the_schema_or_gold_tells_of_it() -> None:
    wanted = goal(plan(a(), gold("b/t/c", {"x": 1, "y": 2})))
    found = scores(wanted, chat(BAD["iat"], ("c", {"x": 1, "y": 3})))
    schema, beside = (found[name].details["findings"][0]["faults"][0] for name in ("iat", "iav"))
    assert schema.keys() == beside.keys() == {"kind", "name", "expected", "received"}
    assert beside == {"kind": "value", "name": "y", "expected": "2", "received": "3"}


def test_a_fault_is_told_in_words_and_its_names_are_whole() -> None:
    names = [f"get_work_by_{number:02}" for number in range(20)]
    tools = {f"b/t/{name}": Tool(f"b/t/{name}", name) for name in names}
    played = replace(chat(("nobody", {})), offered=(tuple(tools),))
    (found,) = [s for s in ErrorPatterns().score(task(goal()), played, tools) if s.metric == "ifn"]
    (fault,) = found.details["findings"][0]["faults"]
    shown, left = fault["expected"].rsplit(" and ", 1)
    assert shown.split(", ") == names[:12] and left == "8 more"
    assert fault["received"] == "nobody"


@every_case(
    ("value", "told"),
    [
        (["a", "b-c"], "a, b-c"),
        ((2, "2", "two words", True, None), "2, '2', 'two words', true, null"),
        ([], "nothing"),
        ({"type": "string", "enum": ["é"]}, 'type: string, enum: ["é"]'),
        ("integer", "integer"),
        ("true", "'true'"),
        ("", "''"),
        ("\ud800", "'\\ud800'"),
        ({"x": "\ud800"}, "x: '\\ud800'"),
        (["n" * 300, "m"], "'nnn"),
        ([{(1, 2): 3}], "{(1, 2): 3}"),
        ([reduce(lambda inner, _: [inner], range(5000), 1)], "[[["),
    ],
)
def test_expected_values_are_words(value: Any, told: str) -> None:
    assert expected_words(value).startswith(told)
    expected_words(value).encode()


@given(st.lists(st.text(st.sampled_from("ab_"), min_size=1, max_size=40), min_size=1))
def test_every_name_is_shown_whole_or_counted(names: list[str]) -> None:
    told, _, left = expected_words(names).partition(" and ")
    shown = told.split(", ")
    assert shown == [value_words(name) for name in names[: len(shown)]]
    assert len(names) - len(shown) == int(left.removesuffix(" more") or 0)
    assert len(told) <= 200


def test_an_empty_name_is_nothing() -> None:
    found = scores(goal(plan()), chat(("", {})))["ife"]
    assert found.details["findings"][0]["faults"][0]["received"] == "nothing"


WHY: list[tuple[Goal, str]] = [
    (Goal("x"), "no gold calls annotated"),
    (Goal("x", ()), "the goal has no plan"),
    (goal(plan()), "no call was needed"),
    (goal(plan(Asked())), "no call was needed"),
    (goal(plan(StateHas("t", ()))), "the plan asks of the world, not of calls"),
    (goal(plan(StateHas("t", ())), plan(a())), ""),
    (goal(plan(StateHas("t", ()), a(), Replied())), ""),
    (goal(plan(gold("seal/chat/end_conversation", {}))), "no call was needed"),
]


@pytest.mark.parametrize(("wanted", "reason"), WHY)
def test_a_goal_without_gold_calls_says_why(wanted: Goal, reason: str) -> None:
    assert no_gold(wanted) == reason
    found = scores(wanted, chat(("a", {"x": 1})))
    assert (found["iac"].value is None) == bool(reason)
    assert found["iav"].details.get("without_gold", "") == reason
    assert all(found[name].value == 1.0 for name in PATTERNS if name != "iac")


def test_milestones_that_are_calls_count_beside_those_of_the_world() -> None:
    mixed = goal(plan(StateHas("t", ()), a(), Replied()))
    assert value(mixed, chat(("a", {"x": 1})), "iac") == 1.0
    assert value(mixed, chat(), "iac_upstream") == 0.0


def scores(
    wanted: Goal, played: Trajectory, metric: ErrorPatterns | None = None
) -> Mapping[str, Score]:
    found = (metric or ErrorPatterns()).score(task(wanted), played, TOOLS)
    return {score.metric: score for score in found}


def value(wanted: Goal, played: Trajectory, name: str) -> float | None:
    return scores(wanted, played)[name].value


RIGHT: list[Spec] = [("a", {"x": 1}), ("b", {"x": 1})]
BOTH = goal(plan(a(), b()))
BAD: Mapping[str, Spec] = {
    "ife": ("a", None),
    "ifn": ("nobody", {"x": 1}),
    "ian": ("a", {"z": 1}),
    "iat": ("a", {"x": "1"}),
    "iav": ("n", {}),
}
PLANTED: Mapping[str, list[Spec]] = {
    **{name: [bad, *RIGHT] for name, bad in BAD.items()},
    "rac": [RIGHT[0], *RIGHT],
    "iac": RIGHT[:1],
}


@pytest.mark.parametrize("name", PATTERNS)
def test_a_planted_fault_lowers_its_own_pattern_alone(name: str) -> None:
    found = scores(BOTH, chat(*PLANTED[name]))
    lowered = {pattern for pattern in PATTERNS if found[pattern].value != 1.0}
    assert lowered == {name}
    assert found[name].value == 0.9
    assert found["iac_upstream"].value == (0.5 if name == "iac" else 1.0)


def test_replacing_one_value_lowers_iav_alone() -> None:
    found = scores(BOTH, chat(("a", {"x": 7}), RIGHT[1]))
    assert {p: found[p].value for p in PATTERNS if found[p].value != 1.0} == {"iav": 0.9}
    assert found["iav"].details["of_gold"] == 0.5
    assert found["all_gold_calls"].value == 0.0


def test_what_is_right_scores_1_everywhere() -> None:
    found = scores(BOTH, chat(*RIGHT))
    assert {p: found[p].value for p in PATTERNS} == dict.fromkeys(PATTERNS, 1.0)
    assert tuple(found) == NAMES
    assert found["all_gold_calls"].value == found["finished"].value == 1.0
    assert found["recovery"].value is None


@pytest.mark.parametrize(("errors", "expected"), [(1, 0.9), (3, 0.7), (10, 0.0), (40, 0.0)])
def test_errors_are_shared_by_the_budget_and_never_below_0(errors: int, expected: float) -> None:
    found = scores(goal(plan()), chat(*[BAD["iat"]] * errors))["iat"]
    assert found.value == pytest.approx(expected)
    assert (found.details["errors"], found.details["calls"]) == (errors, errors)
    assert len(found.details["findings"]) == min(errors, 20)


def test_a_smaller_budget_weighs_each_error_more() -> None:
    played = chat(BAD["ifn"])
    assert scores(goal(plan()), played, ErrorPatterns(budget=4))["ifn"].value == 0.75
    for budget in (0, -1, 2.5, True):
        with pytest.raises(UsageError, match="step budget"):
            ErrorPatterns(budget=budget)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("told", "expected"), [({"max_turns": 2}, 0.5), ({}, 0.9), ({"max_turns": "2"}, 0.9)]
)
def test_the_budget_is_what_the_trajectory_tells_unless_one_is_given(
    told: dict[str, Any], expected: float
) -> None:
    played = replace(chat(BAD["ifn"]), provenance=told)
    assert scores(goal(plan()), played)["ifn"].value == expected
    assert scores(goal(plan()), played, ErrorPatterns(budget=4))["ifn"].value == 0.75


def test_calls_that_were_repaired_to_be_read_are_counted_and_no_errors() -> None:
    (plain,) = form_of("action").read('Action: a\nAction Input: {"x": 1}').calls
    (mended,) = form_of("action").read("Action: a\nAction Input: {'x': 1").calls
    calls = [replace(made, id=f"call_{n}", tool="b/t/a") for n, made in enumerate((plain, mended))]
    steps = [Step(n, MANAGER, "executor", call=made) for n, made in enumerate(calls)]
    played = Trajectory("t", 0, tuple(steps), stops=(Stop("done"),), answers=("ok",))
    found = scores(goal(plan(a())), played)["ife"]
    assert (found.value, found.details["errors"]) == (1.0, 0)
    assert found.details["repaired"] == {"calls": 1, "closed": 1, "python_literal": 1}
    assert "repaired" not in scores(goal(plan(a())), chat(("a", {"x": 1})))["ife"].details


def test_missing_calls_are_shares_of_the_budget_by_the_paper_and_of_gold_by_its_code() -> None:
    found = scores(goal(plan(a(1), a(2), a(3), b())), chat(("a", {"x": 1})))
    assert (found["iac"].value, found["iac"].weight) == (pytest.approx(0.7), 1)
    assert (found["iac_upstream"].value, found["iac_upstream"].weight) == (0.25, 4)
    assert found["iac_upstream"].details == {"errors": 3, "gold": 4}


def test_a_pattern_of_calls_says_nothing_where_no_call_was_made() -> None:
    found = scores(BOTH, chat())
    told = {p: (found[p].value, found[p].reason) for p in PATTERNS}
    nothing = dict.fromkeys(PATTERNS, (None, "no call was made"))
    assert told == nothing | {"iac": (0.8, "")}
    assert found["iac_upstream"].value == 0.0


def test_toolscan_s_own_rule_counts_goals_without_calls_as_0_under_names_of_its_own() -> None:
    (metric,) = build_metrics(["toolscan"], REGISTRY)
    names = [f"toolscan_{name}" for name in (*PATTERNS, "success")]
    for played, value in ((chat(), 0.0), (chat(*RIGHT), 1.0)):
        found = {s.metric: s.value for s in metric.score(task(BOTH), played, TOOLS)}
        assert found == dict.fromkeys(names, value)


@pytest.mark.parametrize("played", [chat(), chat(*RIGHT)])
def test_a_goal_that_needs_no_call_has_no_toolscan_value_whatever_is_done(played) -> None:
    (metric,) = build_metrics(["toolscan"], REGISTRY)
    scores = metric.score(task(Goal("x", plans=(Plan(),))), played, TOOLS)
    assert {(s.value, s.reason) for s in scores} == {(None, "no call was needed")}


def test_toolscan_s_success_is_the_mean_of_all_seven_of_a_finished_goal() -> None:
    (metric,) = build_metrics(["toolscan"], REGISTRY)

    def success(wanted: Goal, played: Trajectory) -> Score:
        return {s.metric: s for s in metric.score(task(wanted), played, TOOLS)}["toolscan_success"]

    half = chat(RIGHT[0], BAD["iat"])
    assert success(BOTH, half).value == pytest.approx((0.5 + 0.9 + 5) / 7)
    assert success(BOTH, replace(half, answers=(None,))).value == 0.0
    without_gold = success(Goal("x"), half)
    assert (without_gold.value, without_gold.reason) == (None, "no gold calls annotated")


@pytest.mark.parametrize(("kind", "errors"), [("NumberParseException", 1), ("NoDataError", 0)])
def test_a_value_that_the_tool_itself_refuses_is_an_invalid_value(kind: str, errors: int) -> None:
    played = chat(("a", {"x": 7}))
    refused = ToolResult(
        played.steps[0].call.id if played.steps[0].call else "", "", {"kind": kind, "message": ""}
    )
    steps = (played.steps[0], Step(1, "executor", MANAGER, result=refused))
    found = scores(Goal("x"), replace(played, steps=steps))["iav"]
    assert found.details["errors"] == errors
    assert found.value == pytest.approx(1 - errors / 10)
    if errors:
        assert found.details["findings"][0]["refusal"] == kind


def refused(played: Trajectory, *kinds: str) -> Trajectory:
    """The chat with an error of a kind in place of each result; empty: the result stays."""
    steps = list(played.steps)
    for number, kind in enumerate(kinds):
        step = steps[2 * number + 1]
        if kind and step.result is not None:
            error = replace(step.result, error={"kind": kind, "message": ""})
            steps[2 * number + 1] = replace(step, result=error)
    return replace(played, steps=tuple(steps))


def test_a_call_that_came_too_early_has_no_invalid_value() -> None:
    played = refused(chat(RIGHT[0], RIGHT[1], RIGHT[0]), "ValueError")
    found = scores(goal(plan(a())), played)
    assert (found["iav"].value, found["recovery"].value) == (1.0, None)
    assert found["recovery"].reason == "tools said no, which is no error pattern"


@pytest.mark.parametrize("wanted", [a(), CallRefused("b/t/a", {"x": Argument((1,))})])
def test_values_that_gold_has_are_right_though_their_call_came_too_early(wanted: Called) -> None:
    played = refused(chat(RIGHT[0]), "ValueError")  # and is never repeated
    found = scores(goal(plan(wanted)), played)
    assert (found["iav"].value, found["recovery"].value) == (1.0, None)
    assert found["iac"].details["errors"] == (not wanted.refused)
    matched = Calls().score(task(goal(plan(wanted))), played, TOOLS)
    assert {s.metric: s.value for s in matched}["param_acc_matched"] == found["iav"].value


def test_a_value_that_the_tool_refuses_and_gold_has_otherwise_is_one_error() -> None:
    found = scores(goal(plan(a(3))), refused(chat(("a", {"x": 7})), "ValueError"))
    assert (found["iav"].details["errors"], found["iac"].details["errors"]) == (1, 0)
    (told,) = found["iav"].details["findings"]
    assert (told["step"], told["cause"]) == (0, "wrong_value")


def test_recovery_counts_a_value_that_the_tool_refused_until_it_takes_one() -> None:
    calls: list[Spec] = [("a", {"x": number}) for number in (1, 2, 3)]
    mended = scores(goal(plan(a(3))), refused(chat(*calls), "ValueError", "ValueError"))
    assert (mended["iav"].details["errors"], mended["recovery"].value) == (2, 1.0)
    assert mended["recovery"].details["calls"] == [2, 1]
    other = scores(goal(plan(a(3))), refused(chat(*calls), "NoDataError", "NoDataError"))
    assert (other["iav"].value, other["recovery"].value) == (1.0, None)


def test_repetitions_of_invalid_calls_count_where_asked_for() -> None:
    played = chat(BAD["iat"], BAD["iat"], *RIGHT, RIGHT[0])
    assert scores(BOTH, played)["rac"].value == 0.9
    assert scores(BOTH, played)["rac"].details["repeated"] == {"valid": 1, "all": 2}
    assert scores(BOTH, played, RepeatedAnyhow())["rac_all"].value == 0.8
    assert scores(BOTH, played)["iat"].value == 0.8


def test_independent_minima_have_names_of_their_own() -> None:
    either = goal(plan(a(2)), plan(b(), b(2)))
    found = scores(either, chat(("a", {"x": 1})), IndependentMinima())
    assert (found["iac_independent"].value, found["iav_independent"].value) == (1.0, 1.0)
    assert value(either, chat(("a", {"x": 1})), "iav") == 0.9


def test_further_metrics_add_to_the_default_ones_without_repeating_them() -> None:
    metrics = build_metrics(["repeated_anyhow", "independent_minima"], REGISTRY)
    names = [
        score.metric
        for metric in metrics
        for score in metric.score(task(BOTH), chat(*RIGHT), TOOLS)
    ]
    assert names == ["rac_all", "iac_independent", "iav_independent"]


def test_goals_are_scored_each_by_itself() -> None:
    first, second = chat(*RIGHT), chat(BAD["ian"], RIGHT[0], goal=1, first=4)
    played = replace(
        first,
        steps=first.steps + second.steps,
        stops=(Stop("done"), Stop("max_turns")),
        answers=("ok", None),
    )
    found = ErrorPatterns().score(task(BOTH, goal(plan(a())), goal(plan(b()))), played, TOOLS)
    table = {(s.goal, s.metric): s.value for s in found}
    assert [table[g, "ian"] for g in range(3)] == [1.0, 0.9, None]
    assert [table[g, "iac"] for g in range(3)] == [1.0, 1.0, 0.9]
    assert [table[g, "iac_upstream"] for g in range(3)] == [1.0, 1.0, 0.0]
    assert [table[g, "rac"] for g in range(3)] == [1.0, 1.0, None]
    assert [table[g, "finished"] for g in range(3)] == [1.0, 0.0, 0.0]


def test_recovery_is_of_errors_that_were_told() -> None:
    told, silent = chat(BAD["iat"], told=True), chat(RIGHT[0], first=2)
    found = scores(BOTH, replace(told, steps=told.steps + silent.steps))["recovery"]
    assert found.value == 1.0
    assert found.details == {
        "told": 1,
        "repaired": 1,
        "calls": [1],
        "first": {"pattern": "IAT", "step": 0},
        "transitions": {"IAT>IAC": 1},
    }
    unheard = scores(BOTH, chat(BAD["iat"]))["recovery"]
    assert (unheard.value, unheard.reason) == (None, "the agent was told of no error")
    assert unheard.details["first"] == {"pattern": "IAT", "step": 0}


def test_arguments_that_upstream_cut_leave_iav_open_and_iac_known() -> None:
    call = ToolCall("call_0", "a", None, '{"x', "b/t/a")
    cut = {"kind": "truncated", "message": "", "upstream": "", "cut": ["arguments"]}
    steps = (
        Step(0, MANAGER, "executor", call=call),
        Step(1, "executor", MANAGER, result=ToolResult("call_0", "x", cut)),
    )
    found = scores(goal(plan(a())), Trajectory("t", 0, steps, stops=(Stop("done"),)))
    assert (found["iac"].value, found["ife"].value) == (1.0, 1.0)
    assert (found["iav"].value, found["iav"].reason) == (None, "arguments were cut upstream")


@pytest.mark.parametrize("wanted", [Goal("x"), goal(plan()), goal(plan(gold("b/t/n")))])
def test_missing_arguments_are_scored_where_there_is_no_gold(wanted: Goal) -> None:
    found = scores(wanted, chat(BAD["iav"], ("a", {"x": 7})))["iav"]
    assert (found.value, found.details["errors"], found.details["calls"]) == (0.9, 1, 2)
    assert found.details["without_gold"]
    assert found.details["findings"][0]["pattern"] == "IAV"


def test_what_the_infrastructure_failed_on_is_not_scored() -> None:
    played = replace(chat(BAD["ian"]), stops=(Stop("error", "no server"),))
    found = ErrorPatterns().score(task(BOTH), played, TOOLS)
    assert {score.value for score in found} == {None}


@pytest.mark.parametrize(
    ("stop", "answer", "expected"),
    [
        ("done", "yes", 1.0),
        ("user_ended", "yes", 1.0),
        ("done", None, 0.0),
        ("done", "", 0.0),
        ("max_turns", "yes", 0.0),
        ("repeated", None, 0.0),
    ],
)
def test_finished_is_ended_with_an_answer(stop: Any, answer: str | None, expected: float) -> None:
    played = replace(chat(), stops=(Stop(stop),), answers=(answer,))
    assert value(BOTH, played, "finished") == expected


SERVED: list[tuple[Sequence[str], float]] = [
    ([""], 1.0),
    (["Unsubscribed error..."], 0.0),
    (["", "Unsubscribed error..."], 0.5),
    (["", "Message error...", "", "API not working error..."], 0.75),
]


@pytest.mark.parametrize(("said", "expected"), SERVED)
def test_dead_services_lower_no_pattern(said: Sequence[str], expected: float) -> None:
    played = chat(*[("a", {"x": n}) for n in range(len(said))])
    failures = {f"call_{n}": text for n, text in enumerate(said) if text}
    steps = [
        replace(s, result=replace(s.result, error={"kind": "service", "message": m}))
        if s.result and (m := failures.get(s.result.call_id))
        else s
        for s in played.steps
    ]
    found = scores(goal(plan()), replace(played, steps=tuple(steps)))
    assert found["service_answers"].value == expected
    assert all(found[p].value == 1.0 for p in PATTERNS if found[p].value is not None)
