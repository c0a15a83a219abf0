"""Call and argument metrics against hand-worked values."""

from itertools import permutations
from typing import Any

import pytest
from chats import MANAGER, by_name, exchange, goal, gold, plan, task, trajectory
from hypothesis import given
from hypothesis import strategies as st
from looped import every_case

from seal.core import Goal, Plan, Score, Step, ToolResult
from seal.core.conditions import Argument, Asked
from seal.core.state_conditions import CallRefused
from seal.evaluation.calls import ARGUMENT_METRICS, CALL_METRICS, NAMES, Calls, best_pairs, compare

A1 = ("a", {"x": 1})
A2 = ("a", {"x": 2})
B = ("b", {})
MEASURED = (*CALL_METRICS, *ARGUMENT_METRICS)


def scores(wanted: Goal, calls: list[Any], **fields: Any) -> dict[str, Score]:
    return by_name(Calls(), task(wanted), trajectory(exchange(calls), **fields))


def values(wanted: Goal, calls: list[Any]) -> list[float | None]:
    found = scores(wanted, calls)
    return [None if (v := found[n].value) is None else round(v, 4) for n in MEASURED]


ONE = goal(plan(gold("a", {"x": 1})))
TWO = goal(plan(gold("a", {"x": 1}), gold("b", {})))
REPEATED = goal(plan(gold("a", {"x": 1}), gold("a", {"x": 2})))
LONG = goal(plan(gold("a", {"x": 1, "y": "s", "z": [1, 2]})))
OPTIONAL = goal(plan(gold("a", {"x": 1, "y": Argument((0,), optional=True)})))
ANY_OF = goal(plan(gold("a", {"x": Argument((1, "one"))})))
UNTYPED = goal(plan(gold("a"), gold("b")))
MIXED = goal(plan(gold("a"), gold("b", {"x": 1})))
CHOICE = goal(plan(gold("a", {"x": 1}), gold("b", {})), plan(gold("c", {"x": 1})))

# Columns: recall, precision, F1, recall at N, exact/gold, exact/paired, name F1, value accuracy.
TABLE = [
    ("the call itself", ONE, [A1], [1, 1, 1, 1, 1, 1, 1, 1]),
    ("no call", ONE, [], [0, 0, 0, 0, 0, None, None, None]),
    ("another tool", ONE, [B], [0, 0, 0, 0, 0, None, None, None]),
    ("a wrong value", ONE, [A2], [1, 1, 1, 1, 0, 0, 1, 0]),
    ("1.0 is 1", ONE, [("a", {"x": 1.0})], [1, 1, 1, 1, 1, 1, 1, 1]),
    ("True is not 1", ONE, [("a", {"x": True})], [1, 1, 1, 1, 0, 0, 1, 0]),
    ("'1' is not 1", ONE, [("a", {"x": "1"})], [1, 1, 1, 1, 0, 0, 1, 0]),
    ("null is not 1", ONE, [("a", {"x": None})], [1, 1, 1, 1, 0, 0, 1, 0]),
    ("a missing argument", ONE, [("a", {})], [1, 1, 1, 1, 0, 0, 0, None]),
    ("an argument besides", ONE, [("a", {"x": 1, "u": 1})], [1, 1, 1, 1, 0, 0, 0.6667, 1]),
    ("another name", ONE, [("a", {"X": 1})], [1, 1, 1, 1, 0, 0, 0, None]),
    ("unparsable", ONE, [("a", None)], [1, 1, 1, 1, 0, 0, 0, None]),
    ("repeated", ONE, [A1, A1], [1, 0.5, 0.6667, 1, 1, 1, 1, 1]),
    ("second try right", ONE, [A2, A1], [1, 0.5, 0.6667, 1, 1, 1, 1, 1]),
    ("a detour first", ONE, [B, A1], [1, 0.5, 0.6667, 0, 1, 1, 1, 1]),
    ("an unknown tool", ONE, [("", {"x": 1}), A1], [1, 0.5, 0.6667, 0, 1, 1, 1, 1]),
    ("both", TWO, [A1, B], [1, 1, 1, 1, 1, 1, 1, 1]),
    ("both, other order", TWO, [B, A1], [1, 1, 1, 1, 1, 1, 1, 1]),
    ("one of two", TWO, [A1], [0.5, 1, 0.6667, 0.5, 0.5, 1, 1, 1]),
    ("no arguments to compare", TWO, [B], [0.5, 1, 0.6667, 0.5, 0.5, 1, None, None]),
    ("one of two, wrong", TWO, [A2], [0.5, 1, 0.6667, 0.5, 0, 0, 1, 0]),
    ("repeats are distinct", REPEATED, [A1], [0.5, 1, 0.6667, 0.5, 0.5, 1, 1, 1]),
    ("repeats swapped", REPEATED, [A2, A1], [1, 1, 1, 1, 1, 1, 1, 1]),
    ("repeats half right", REPEATED, [A1, A1], [1, 1, 1, 1, 0.5, 0.5, 1, 0.5]),
    ("a third repeat", REPEATED, [A1, A1, A2], [1, 0.6667, 0.8, 1, 1, 1, 1, 1]),
    ("two of three values", LONG, [("a", {"x": 1, "y": "t", "z": [1, 2]})],
     [1, 1, 1, 1, 0, 0, 1, 0.6667]),
    ("lists have an order", LONG, [("a", {"x": 1, "y": "s", "z": [2, 1]})],
     [1, 1, 1, 1, 0, 0, 1, 0.6667]),
    ("case counts", LONG, [("a", {"x": 1, "y": "S", "z": [1, 2]})],
     [1, 1, 1, 1, 0, 0, 1, 0.6667]),
    ("the better of two calls is paired", LONG, [("a", {"x": 1}), ("a", {"x": 1, "y": "s"})],
     [1, 0.5, 0.6667, 1, 0, 0, 0.8, 1]),
    ("optional left out", OPTIONAL, [("a", {"x": 1})], [1, 1, 1, 1, 1, 1, 1, 1]),
    ("optional right", OPTIONAL, [("a", {"x": 1, "y": 0})], [1, 1, 1, 1, 1, 1, 1, 1]),
    ("optional wrong", OPTIONAL, [("a", {"x": 1, "y": 5})], [1, 1, 1, 1, 0, 0, 1, 0.5]),
    ("first of the accepted", ANY_OF, [("a", {"x": 1})], [1, 1, 1, 1, 1, 1, 1, 1]),
    ("second of the accepted", ANY_OF, [("a", {"x": "one"})], [1, 1, 1, 1, 1, 1, 1, 1]),
    ("none of the accepted", ANY_OF, [("a", {"x": "two"})], [1, 1, 1, 1, 0, 0, 1, 0]),
    ("names alone are gold", UNTYPED, [A1], [0.5, 1, 0.6667, 0.5] + [None] * 4),
    ("some without gold arguments", MIXED, [A1, ("b", {"x": 2})], [1, 1, 1, 1, 0.5, 0.5, 1, 0]),
    ("first plan", CHOICE, [A1, B], [1, 1, 1, 1, 1, 1, 1, 1]),
    ("second plan", CHOICE, [("c", {"x": 1})], [1, 1, 1, 1, 1, 1, 1, 1]),
    ("the plan with right arguments", CHOICE, [A1, ("c", {"x": 2})],
     [0.5, 0.5, 0.5, 0.5, 0.5, 1, 1, 1]),
    ("the plan with more calls found", CHOICE, [A2, ("c", {"x": 2})],
     [1, 0.5, 0.6667, 0, 0, 0, 1, 0]),
]  # fmt: skip


@every_case(("wanted", "calls", "expected"), [row[1:] for row in TABLE],
                         ids=[row[0] for row in TABLE])  # fmt: skip
def test_call_metrics_equal_hand_worked_values(
    wanted: Goal, calls: list[Any], expected: list[float | None]
) -> None:
    assert values(wanted, calls) == expected
    found = scores(wanted, calls)
    measured = (found["call_precision"], found["call_recall"], found["param_acc_gold"])
    right = all(one.value in (1.0, None) for one in measured)
    assert found["calls_right"].value == float(right)
    assert bool(found["calls_right"].reason) != right
    assert (found["abstention"].value, found["abstention"].reason) == (None, "a call was needed")


def test_goal_without_annotation_is_undefined_and_never_zero() -> None:
    found = scores(Goal("do it"), [A1])
    assert {s.value for s in found.values()} == {None}
    assert {s.reason for s in found.values()} == {"no gold calls annotated"}


@pytest.mark.parametrize(("calls", "fits"), [([], 1.0), ([A1], 0.0)])
def test_who_makes_no_call_where_none_is_needed_abstains_and_has_no_metric_of_calls(
    calls: list[Any], fits: float
) -> None:
    found = scores(goal(plan(Asked())), calls)
    assert found["abstention"].value == found["calls_right"].value == fits
    assert len(found["abstention"].details["extra"]) == len(calls)
    for name in MEASURED:
        assert (found[name].value, found[name].reason) == (None, "no call was needed")


def test_no_tool_plan_beside_a_tool_plan_counts_where_nothing_was_called() -> None:
    either = goal(plan(gold("a", {"x": 1})), Plan())
    assert scores(either, [])["abstention"].value == 1.0
    assert scores(either, [A1])["param_acc_gold"].value == 1.0


def test_a_cut_call_that_may_be_right_is_no_verdict() -> None:
    steps = [*exchange([("a", None)]), cut_result("call_0", CUT)]
    found = by_name(Calls(), task(ONE), trajectory(steps))["calls_right"]
    assert (found.value, found.reason) == (None, "arguments were cut upstream")
    besides = by_name(Calls(), task(TWO), trajectory(steps))["calls_right"]
    assert (besides.value, besides.reason) == (0.0, "1 gold call missing, 1 with wrong arguments")


def test_infrastructure_failure_is_no_score() -> None:
    found = scores(ONE, [A1], stop="error")
    assert {s.value for s in found.values()} == {None}
    assert found["call_recall"].reason == "infrastructure: server down"


def test_limit_reached_is_scored_as_it_stands() -> None:
    assert scores(TWO, [A1], stop="max_turns")["call_recall"].value == 0.5


CUT = {"kind": "truncated", "message": "", "upstream": "", "cut": ["arguments", "response"]}


def cut_result(call_id: str, error: dict[str, Any]) -> Step:
    return Step(9, "executor", MANAGER, result=ToolResult(call_id, "", error))


def test_cut_arguments_are_not_scored_but_the_call_is() -> None:
    steps = [*exchange([("a", None)]), cut_result("call_0", CUT)]
    found = by_name(Calls(), task(ONE), trajectory(steps))
    assert found["call_recall"].value == 1.0
    assert found["param_acc_gold"].value is None
    assert found["param_acc_gold"].reason == "arguments were cut upstream"


def test_cut_arguments_without_a_result_are_known_by_the_count() -> None:
    found = scores(ONE, [("a", None)], provenance={"truncated": {"arguments": 1}})
    assert found["param_acc_gold"].value is None


@pytest.mark.parametrize("cut", [["response"], []])
def test_unparsable_arguments_are_scored_where_only_the_response_was_cut(cut: list[str]) -> None:
    steps = [*exchange([("a", None)]), cut_result("call_0", {**CUT, "cut": cut})]
    found = by_name(Calls(), task(ONE), trajectory(steps))
    assert found["param_acc_gold"].value == 0.0


def test_user_and_harness_tools_are_no_api_calls() -> None:
    steps = exchange([("seal/chat/find_tools", {"query": "x"}), A1])
    found = by_name(Calls(), task(ONE), trajectory(steps))
    assert found["call_precision"].value == 1.0


def test_details_name_gold_position_call_and_both_values() -> None:
    found = scores(goal(plan(Asked(), gold("a", {"x": 1, "y": 2}), gold("b", {}))),
                   [("a", {"x": 5, "z": 1}), ("c", {})])  # fmt: skip
    assert found["call_recall"].details["missing"] == [{"gold": 2, "tool": "b"}]
    assert [e["call"] for e in found["call_precision"].details["extra"]] == ["call_1"]
    problems = found["param_acc_gold"].details["findings"]
    assert [(p["gold"], p["call"], p["name"], p["problem"]) for p in problems] == [
        (1, "call_0", "y", "missing"),
        (1, "call_0", "x", "value"),
        (1, "call_0", "z", "unexpected"),
    ]
    assert (problems[1]["expected"], problems[1]["received"]) == ((1,), 5)


def test_weights_are_denominators() -> None:
    found = scores(TWO, [A1, A1, B])
    assert [found[n].weight for n in NAMES] == [2, 3, 5, 2, 2, 2, 2, 1, 1, 0]


def test_goals_are_scored_apart() -> None:
    steps = exchange([A1]) + exchange([B], position=1, first=5)
    rows = Calls().score(task(ONE, ONE), trajectory(steps), {})
    assert [s.value for s in rows if s.metric == "call_recall"] == [1.0, 0.0]


def test_a_goal_that_was_never_played_counts_as_not_called() -> None:
    rows = Calls().score(task(ONE, ONE), trajectory(exchange([A1])), {})
    assert [s.value for s in rows if s.metric == "param_acc_gold"] == [1.0, 0.0]


def test_thousands_of_repeated_calls_are_paired_at_once() -> None:
    found = scores(REPEATED, [A1] * 4000 + [A2])
    assert found["param_acc_gold"].value == 1.0
    assert found["call_precision"].value == pytest.approx(2 / 4001)


ARGUMENTS = st.dictionaries(st.sampled_from("xyz"), st.integers(0, 2), max_size=3)
CALL = st.tuples(st.sampled_from("abc"), ARGUMENTS)
CALLS = st.lists(CALL, max_size=5)


def called(specs: list[Any]) -> Plan:
    return plan(*(gold(tool, arguments) for tool, arguments in specs))


@given(CALLS, CALLS)
def test_every_value_is_in_range_and_arguments_never_beat_recall(wanted: Any, made: Any) -> None:
    found = scores(goal(called(wanted)), made)
    assert all(0 <= s.value <= 1 for s in found.values() if s.value is not None)
    exact, recall = found["param_acc_gold"].value, found["call_recall"].value
    assert exact is None or recall is None or exact <= recall
    at_n = found["call_recall_at_n"].value
    assert at_n is None or recall is None or at_n <= recall


@given(CALLS, st.permutations(range(5)))
def test_a_perfect_trajectory_scores_one_in_any_order(wanted: Any, order: list[int]) -> None:
    made = [wanted[i] for i in order if i < len(wanted)]
    assert {s.value for s in scores(goal(called(wanted)), made).values()} <= {1.0, None}


@pytest.mark.slow
@given(CALLS, CALLS, st.randoms())
def test_order_of_calls_never_matters_but_for_the_first_n(wanted: Any, made: Any, rng: Any) -> None:
    shuffled = rng.sample(made, len(made))
    before, after = scores(goal(called(wanted)), made), scores(goal(called(wanted)), shuffled)
    for name in set(NAMES) - {"call_recall_at_n"}:
        assert before[name].value == after[name].value


@given(st.lists(ARGUMENTS, min_size=1, max_size=4), st.lists(ARGUMENTS, min_size=1, max_size=4))
def test_pairs_have_as_many_exact_calls_as_brute_force(wanted: Any, made: Any) -> None:
    table = [[compare(gold("a", w), m) for m in made] for w in wanted]
    pairs = best_pairs(table)
    small, large = sorted((len(wanted), len(made)))
    transposed = table if len(wanted) <= len(made) else [list(c) for c in zip(*table, strict=True)]
    best = max(
        tuple(map(sum, zip(*(transposed[i][j].rank for i, j in enumerate(p)), strict=True)))
        for p in permutations(range(large), small)
    )
    found = tuple(map(sum, zip(*(table[i][j].rank for i, j in pairs), strict=True)))
    assert len(pairs) == small
    assert found == best


@pytest.mark.parametrize("names", ["ab", "ba"])
def test_of_plans_that_calls_meet_equally_one_with_which_nothing_is_amiss_counts(
    names: str,
) -> None:
    a, b = gold("a", {}), gold("b", {})
    either = goal(plan(a, b), plan(b, a), labels={"in_order": True})
    assert scores(either, [(name, {}) for name in names])["calls_right"].value == 1
    refused = exchange([("a", {})], [ValueError("no")])
    tried = goal(plan(a), plan(CallRefused("a", {})))
    found = Calls().score(task(tried), trajectory(refused), {})
    assert {s.metric: s.value for s in found}["calls_right"] == 1
