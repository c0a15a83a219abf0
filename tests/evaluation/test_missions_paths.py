"""Missions against all their paths, the original's verdicts, and whatever a model may do."""

import json
import random
from collections import Counter
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from looped import every_case
from mission_plays import (
    ANSWER,
    ASK,
    SAID,
    answer,
    changed,
    listed_paths,
    missions,
    names_of,
    names_of_turns,
    next_names,
    node,
    played,
    plays,
    repeated,
    turn,
    undecided,
)
from plain_missions import judge, read_graph

from seal.benchmarks.mmtb.published_rules import groups
from seal.core import DataError, UnknownNameError
from seal.evaluation import mission_gold as gold
from seal.evaluation import missions as missions_of
from seal.evaluation.argument_pairs import EXACT, Placed, place_all

TOY = [
    node("a", x=0),
    node("b", x=1),
    node("c", 1, x=2),
    node("d", 0, 2, x=3),
    answer(3),
]


@pytest.fixture(scope="module")
def vectors(seal_data: Path) -> list[dict[str, Any]]:
    """The original's verdicts."""
    path = seal_data / "mmtb" / "vectors" / "missions.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()]


# -- against the original's verdicts


def test_where_names_differ_the_definition_agrees_with_the_original(
    vectors: list[dict[str, Any]],
) -> None:
    for record in vectors:
        if record["class"] in ("repeat", "clarify_open"):
            continue
        got, expected = judge(record["nodes"], record["steps"]), record["expect"]
        for name in ("label", "is_optimal", "n_paths", "min_length", "n_optimal_paths"):
            assert getattr(got, name) == expected[name], (record["id"], name)


def test_the_original_s_rules_agree_with_the_original(vectors: list[dict[str, Any]]) -> None:
    same = ("label", "is_optimal", "n_paths", "min_length", "n_optimal_paths")
    renamed = {"completed": "progress_completed", "total": "progress_total"}
    names = {name: name for name in (*same, "param_label", "multi_kind", "error_type")} | renamed
    for record in vectors:
        got, expected = judge(record["nodes"], record["steps"], "mmtb"), record["expect"]
        for ours, theirs in names.items():
            assert getattr(got, ours) == expected[theirs], (record["id"], ours)


def test_the_original_s_subsets_are_those_of_its_paths(vectors: list[dict[str, Any]]) -> None:
    for record in vectors:
        paths = record["expect"].get("paths")
        if paths is None:
            continue
        graph = read_graph(record["nodes"])
        first = {tuple(path[0]) for path in paths}
        assert {nodes for nodes, _ in groups(graph, 0)} == first, record["id"]


# -- against all paths


@settings(max_examples=150, deadline=None)
@given(plays())
def test_the_verdict_is_that_of_all_paths_listed(play: Any) -> None:
    nodes, turns = play
    paths = [names_of(nodes, path) for path in listed_paths(nodes)]
    done = names_of_turns(turns)
    verdict = judge(nodes, turns, scorer="exact")
    right = max(
        next((i for i, (a, b) in enumerate(zip(path, done, strict=False)) if a != b), len(done))
        for path in paths
    )
    assert (verdict.label == "correct") == (done in paths)
    assert verdict.steps == right
    assert verdict.is_optimal == (done in paths and len(done) == min(map(len, paths)))
    assert verdict.min_length == min(map(len, paths))
    if verdict.label == "error":
        assert Counter(verdict.legal_next) == next_names(nodes, done[:right])


@settings(max_examples=80, deadline=None)
@given(missions())
def test_the_counts_are_those_of_all_paths_listed(nodes: Any) -> None:
    lengths = [len(path) for path in listed_paths(nodes)]
    verdict = judge(nodes, [])
    assert (verdict.n_paths, verdict.n_optimal_paths) == (
        len(lengths),
        lengths.count(min(lengths)),
    )


@settings(max_examples=80, deadline=None)
@given(missions(), st.data())
def test_every_path_with_gold_arguments_is_accepted_and_its_arguments_too(
    nodes: Any, data: Any
) -> None:
    path = data.draw(st.sampled_from(list(listed_paths(nodes))))
    verdict = judge(nodes, played(nodes, path), scorer="exact")
    assert (verdict.label, verdict.param_label) == ("correct", "correct")
    assert (verdict.completed, verdict.regret) == (len(nodes), len(path) - verdict.min_length)


@settings(max_examples=60, deadline=None)
@given(plays())
def test_the_original_accepts_nothing_that_the_definition_refuses(play: Any) -> None:
    nodes, turns = play
    if judge(nodes, turns, "mmtb", scorer="exact").label == "correct":
        assert judge(nodes, turns, scorer="exact").label == "correct"


# -- cases


def test_several_nodes_at_once_are_optimal_where_the_chain_is_kept() -> None:
    verdict = judge(TOY, played(TOY, [[1], [0, 2], [3], [4]]))
    assert (verdict.label, verdict.is_optimal, verdict.regret) == ("correct", True, 0)
    assert (verdict.n_paths, verdict.n_optimal_paths, verdict.multi_kind) == (5, 2, "cs")


def test_one_after_the_other_is_right_and_a_step_longer() -> None:
    verdict = judge(TOY, played(TOY, [[1], [0], [2], [3], [4]]))
    assert (verdict.label, verdict.is_optimal, verdict.regret) == ("correct", False, 1)


def test_the_first_divergence_names_what_would_have_been_right() -> None:
    verdict = judge(TOY, [turn(TOY[0]), turn(TOY[2])])
    assert (verdict.label, verdict.divergence, verdict.legal_next) == ("error", 1, ("b",))
    assert (verdict.completed, verdict.total, verdict.error_type) == (1, 5, "early stop")


def test_repeated_names_may_come_in_part_which_the_original_refuses() -> None:
    nodes = [node("a", x=0), node("a", x=1), node("a", x=2), answer(0, 1, 2)]
    turns = [turn(nodes[1]), turn(nodes[0], nodes[2]), SAID]
    assert judge(nodes, turns).param_label == "correct"
    assert judge(nodes, turns, "mmtb").label == "error"


def test_arguments_tell_which_of_one_name_was_called() -> None:
    nodes = [node("a", x=0), node("a", x=1), node("b", 1), answer(0, 2)]
    verdict = judge(nodes, [turn(nodes[1]), turn(nodes[0], nodes[2]), SAID])
    assert [(pair.turn, pair.node) for pair in verdict.pairs] == [(0, 1), (1, 0), (1, 2)]
    assert verdict.param_label == "correct"


def test_a_dependent_call_before_the_one_it_needs_has_wrong_arguments() -> None:
    nodes = [node("a", x=0), node("a", 0, x=1), answer(1)]
    verdict = judge(nodes, [turn(nodes[1]), turn(nodes[0]), SAID])
    assert (verdict.label, verdict.param_label) == ("correct", "error")
    assert (verdict.error_type, verdict.completed) == ("param value error", 1)


def test_the_most_calls_are_accepted_where_the_first_best_fit_would_lose_one() -> None:
    nodes = [node("a", x=1, y=1, z=1, w=1), node("a", x=1, y=1, z=1, w=2), answer(0, 1)]
    calls = [node("a", x=1, y=1, z=1, w=3), node("a", x=0, y=1, z=1, w=1)]
    turns = [turn(calls[0]), turn(calls[1]), SAID]
    clean, original = judge(nodes, turns), judge(nodes, turns, "mmtb")
    assert (clean.param_label, original.param_label) == ("correct", "error")
    assert [pair.node for pair in clean.pairs] == [1, 0]


def test_the_earliest_bad_call_names_the_error() -> None:
    nodes = [node("a", x=1), node("b", 0, y=True), answer(1)]
    turns = [turn(node("a", x="1")), turn(node("b", y=False)), SAID]
    for match in ("clean", "mmtb"):
        verdict = judge(nodes, turns, match)
        assert (verdict.param_label, verdict.error_type) == ("error", "type error")
        assert verdict.is_optimal


def test_schemas_tell_what_is_required_and_what_is_a_default() -> None:
    nodes = [node("a", x=1), answer(0)]
    schema = {
        "type": "object",
        "properties": {"x": {"type": "integer"}, "n": {"type": "integer", "description": "is 10"}},
        "required": ["x"],
    }
    tools = {"a": schema}
    right = judge(nodes, [turn(node("a", x=1, n=10)), SAID], tools=tools)
    wrong = judge(nodes, [turn(node("a", n=10)), SAID], tools=tools)
    assert (right.param_label, wrong.error_type) == ("correct", "miss required params")


@every_case(
    ("turns", "error"),
    [
        ([], "reject tool calling"),
        ([SAID], "reject tool calling"),
        ([{}], "reject tool calling"),
        ([{"tool_calls": "a(x=0)"}], "reject tool calling"),
        ([{"tool_calls": [{"arguments": {}}]}], "reject tool calling"),
        ([turn(TOY[1]), SAID], "call the wrong function"),
        ([turn(node("not_in_list"))], "function name hallucination"),
        ([turn(node(ANSWER))], "function name hallucination"),
        ([turn(node("e"))], "call the wrong function"),
        ([turn(TOY[0]), turn(TOY[0])], "redundant tool calling"),
        ([turn(TOY[1]), turn(TOY[3])], "early stop"),
        ([turn(*TOY[:4])], "early stop"),
        ([turn(*TOY[:4], *TOY[:4])], "redundant tool calling"),
    ],
)
def test_what_a_model_gets_wrong_has_a_name(turns: list[Any], error: str) -> None:
    for match in ("clean", "mmtb"):
        verdict = judge(TOY, turns, match)
        assert (verdict.label, verdict.param_label) == ("error", "error")
        assert verdict.error_type == error


def test_a_tool_that_was_not_offered_is_no_tool() -> None:
    tools = {name: {"type": "object", "properties": {}} for name in "abcd"}
    assert judge(TOY, [turn(node("e"))], tools=tools).error_type == "function name hallucination"


def test_a_chat_needs_no_tool() -> None:
    chat = [answer()]
    assert judge(chat, [SAID]).is_optimal
    verdict = judge(chat, [turn(node("a")), SAID])
    assert verdict.error_type == "call function without reject"
    assert verdict.legal_next == (ANSWER,)


def test_a_question_comes_before_what_it_is_asked_for() -> None:
    nodes = [node(ASK), node("a", 0, x=1), answer(1)]
    assert judge(nodes, [SAID, turn(nodes[1]), SAID]).label == "correct"
    verdict = judge(nodes, [turn(nodes[1]), SAID])
    assert (verdict.legal_next, verdict.divergence) == ((ASK,), 0)
    assert verdict.error_type == "missing information in tool calling"


def test_a_text_beside_calls_has_no_meaning() -> None:
    assert judge([*TOY[:1], answer(0)], [{**turn(TOY[0]), **SAID}, SAID]).label == "correct"


def test_the_answer_ends_the_mission_though_gold_lets_it_come_first() -> None:
    nodes = [node("a"), answer()]
    assert judge(nodes, [SAID]).label == "error"
    assert judge(nodes, [SAID], "mmtb").label == "correct"
    assert judge(nodes, [turn(nodes[0]), SAID]).is_optimal


def test_the_original_marks_no_question_as_asked() -> None:
    nodes = [node(ASK), node("a", x=1), answer(0, 1)]
    assert judge(nodes, [SAID, SAID, SAID], "mmtb").label == "correct"
    assert judge(nodes, [SAID, SAID, SAID]).label == "error"


def test_the_original_raises_for_a_text_after_the_end() -> None:
    verdict = judge([node(ASK)], [SAID, SAID], "mmtb")
    assert (verdict.label, verdict.exception) == ("exception", "KeyError")


def test_arguments_that_cannot_be_compared_fail_the_calls_in_the_original() -> None:
    nodes = [node("a", x=1), answer(0)]
    turns = [{"tool_calls": [{"name": "a", "arguments": "{x: 1}"}]}, SAID]
    original, clean = judge(nodes, turns, "mmtb"), judge(nodes, turns)
    assert (original.param_label, original.error_type) == ("error", "redundant tool calling")
    assert (clean.param_label, clean.error_type) == ("error", "malformed arguments")


def test_gold_without_an_answer_ends_with_a_turn_without_calls() -> None:
    nodes = [node("a"), node("b")]
    for end in ([], [SAID]):
        assert judge(nodes, [turn(*nodes), *end]).is_optimal
    verdict = judge(nodes, [turn(*nodes), turn(nodes[0])])
    assert (verdict.label, verdict.error_type) == ("error", "redundant tool calling")


@pytest.mark.parametrize(
    ("deps", "kind"),
    [
        ([[]], None),
        ([[], []], "combine"),
        ([[], [0]], "serial"),
        ([[], [], [1]], "cs"),
        ([[], [0], []], "cs"),
    ],
)
def test_the_kind_of_a_mission(deps: list[list[int]], kind: str | None) -> None:
    nodes = [node(f"t{i}", *before) for i, before in enumerate(deps)]
    assert judge([*nodes, answer(*range(len(nodes)))], []).multi_kind == kind


# -- bad input


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([], "no nodes"),
        ([node("a", 1), node("b", 0)], "cycle"),
        ([node("a", 0)], "cannot depend on itself"),
        ([node("a", 3)], "node 0: deps: expected positions of nodes, 0 to 0, got 3"),
        ([node("a"), node("b", 0, 0)], "each position once"),
        ([{"deps": []}], "node 0: name: expected a text, got None"),
        ([{"name": "a", "arguments": []}], "arguments: expected an object"),
        ([{"name": "a", "deps": "0"}], "deps: expected a list"),
        (["a"], "node 0: expected an object"),
    ],
)
def test_gold_that_cannot_be_is_refused(nodes: list[Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        judge(nodes, [])


def test_unknown_rules_and_steps_that_are_none_are_refused() -> None:
    with pytest.raises(UnknownNameError, match=r"no match 'clena'.*mean 'clean'"):
        judge(TOY, [], "clena")  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="no scorer"):
        judge(TOY, [], scorer="loose")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="step 0: expected an object"):
        judge(TOY, ["a"])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("nodes", "steps", "tools", "message"),
    [
        (TOY, None, None, "steps: expected a list of the model's outputs, got None"),
        (TOY, "stop", None, "steps: expected a list"),
        (None, [], None, "nodes: expected a list of gold calls, got None"),
        (TOY, [], ["a"], "tools: expected JSON Schemas by name"),
        (TOY, [], {"a": None}, "tools: a: expected a JSON Schema, got None"),
    ],
)
def test_what_is_no_mission_at_all_is_refused(
    nodes: Any, steps: Any, tools: Any, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        judge(nodes, steps, tools=tools)


@pytest.mark.parametrize("match", ["clean", "mmtb"])
def test_arguments_nested_beyond_all_bounds_are_refused_in_gold_and_wrong_in_a_call(
    match: Any,
) -> None:
    deep: dict[str, Any] = {}
    for _ in range(3000):
        deep = {"x": deep}
    with pytest.raises(DataError, match="node 0: arguments: nested more than 50 levels deep"):
        judge([node("a", **deep)], [turn(node("a", **deep))], match)
    verdict = judge([node("a", x=1), answer(0)], [turn(node("a", **deep)), SAID])
    assert (verdict.label, verdict.error_type) == ("correct", "malformed arguments")


# -- names that repeat


@settings(max_examples=150, deadline=None)
@given(
    st.randoms(use_true_random=False),
    st.integers(1, 12),
    st.sampled_from([0.03, 0.1, 0.2, 0.5]),
    st.integers(1, 10),
    st.integers(1, 3),
)
def test_gold_calls_in_any_legal_order_and_groups_are_right(
    drawn: random.Random, count: int, density: float, values: int, names: int
) -> None:
    nodes, turns = repeated(drawn, count, density, values, names)
    verdict = judge(nodes, turns)
    assert (verdict.label, verdict.param_label, verdict.undecided) == ("correct", "correct", "")
    assert (verdict.completed, verdict.cut) == (count, False)


@pytest.mark.parametrize("count", [20, 30, 40])
def test_gold_calls_are_right_in_missions_too_large_to_follow_every_way(count: int) -> None:
    for seed in range(20):
        drawn = random.Random(seed * 100 + count)
        values, names = drawn.choice([3, 5, 10]), drawn.choice([1, 2])
        nodes, turns = repeated(drawn, count, drawn.choice([0.05, 0.1, 0.2]), values, names)
        verdict = judge(nodes, turns)
        assert (verdict.label, verdict.param_label) == ("correct", "correct"), (seed, count)


def best_by_listing(nodes: Any, turns: Any) -> tuple[int, int | None]:
    """Return the turns that can be right, and the most exact calls of a way to the end."""
    states: dict[frozenset[int], int] = {frozenset(): 0}
    for number, done in enumerate(turns):
        following: dict[frozenset[int], int] = {}
        calls = done["tool_calls"]
        for state, exact in states.items():
            ready = [
                n for n in range(len(nodes)) if n not in state and {*nodes[n]["deps"]} <= state
            ]
            for chosen in permutations(ready, len(calls)):
                pairs = [(nodes[n], call) for n, call in zip(chosen, calls, strict=True)]
                if all(gold["name"] == call["name"] for gold, call in pairs):
                    more = sum(gold["arguments"] == call["arguments"] for gold, call in pairs)
                    after = state | {*chosen}
                    following[after] = max(following.get(after, 0), exact + more)
        if not following:
            return number, None
        states = following
    return len(turns), states.get(frozenset(range(len(nodes))))


@settings(max_examples=200, deadline=None)
@given(
    st.randoms(use_true_random=False),
    st.integers(1, 6),
    st.sampled_from([0.1, 0.2, 0.4]),
    st.lists(
        st.sampled_from(["swap", "repeat", "drop", "merge", "split", "other", "x"]), max_size=3
    ),
)
def test_no_verdict_differs_from_that_of_all_ways_listed(
    drawn: random.Random, count: int, density: float, changes: list[str]
) -> None:
    nodes, turns = repeated(drawn, count, density, 3, 2)
    for change in changes:
        at = drawn.randrange(len(turns))
        if change == "x":
            call = drawn.choice(turns[at]["tool_calls"])
            turns[at] = {"tool_calls": [{**call, "arguments": {"x": drawn.randrange(3)}}]}
        else:
            turns = changed(turns, at, change) or turns
    steps, exact = best_by_listing(nodes, turns)
    verdict = judge(nodes, turns, scorer="exact")
    assert (verdict.steps, verdict.undecided) == (steps, "")
    assert (verdict.label == "correct") == (exact is not None)
    assert (verdict.param_label == "correct") == (exact == count)
    if exact is not None:
        assert verdict.completed == exact


def test_a_verdict_that_could_be_otherwise_says_so() -> None:
    verdict = judge(*undecided(), scorer="exact")
    assert (verdict.label, verdict.param_label) == ("correct", "error")
    assert (verdict.undecided, verdict.cut) == ("param_label", True)


def test_a_search_that_ends_early_says_so() -> None:
    nodes = [*(node("a", x=i) for i in range(4)), *(node("b", i, x=i) for i in range(4))]
    graph = read_graph(nodes)
    turns = [[0b1111], [0b1111, 0b1111], [0b1111], [0b11110000] * 4]
    assert place_all(graph, turns).nodes == [(0,), (1, 2), (3,), (4, 5, 6, 7)]
    assert place_all(graph, turns, most=5) == Placed([], False)
    assert place_all(graph, [[0b1111], [0b11110000] * 2]) == Placed([], True)


# -- sizes


def independent(count: int) -> list[Any]:
    return [*(node(f"t{i}") for i in range(count)), answer(*range(count))]


def test_independent_tools_have_as_many_paths_as_the_fubini_numbers_say() -> None:
    numbers = [1, 3, 13, 75, 541, 4683, 47293, 545835, 7087261, 102247563]
    assert [judge(independent(n), []).n_paths for n in range(1, 11)] == numbers


def test_eight_tools_are_counted_though_no_two_are_alike() -> None:
    nodes = [*(node(f"t{i}") for i in range(8)), *(node(f"u{i}", i) for i in range(8))]
    assert judge(independent(8), []).n_paths == 545835
    assert judge(nodes, []).n_paths == 14623910308237


def test_too_many_sets_have_no_number_but_a_reason() -> None:
    nodes = [node(f"t{i}") for i in range(22)] + [node(f"u{i}", i) for i in range(22)]
    verdict = judge(nodes, [])
    assert (verdict.n_paths, verdict.n_optimal_paths) == (None, None)
    assert verdict.no_counts == "more than 1,000,000 sets of finished nodes"


def test_the_original_s_paths_are_counted_to_a_bound_too() -> None:
    verdict = judge(independent(24), [], "mmtb")
    assert (verdict.n_paths, "steps" in verdict.no_counts) == (None, True)


@pytest.mark.parametrize("same", [False, True])
@pytest.mark.parametrize("density", [0.0, 0.03, 0.08])
def test_forty_nodes_of_one_name_are_decided(density: float, same: bool) -> None:
    nodes, turns = repeated(random.Random(1), 40, density, 1 if same else 3, 1)
    verdict = judge(nodes, turns)
    assert (verdict.label, verdict.param_label) == ("correct", "correct")


@pytest.mark.parametrize("names", [40, 8])
def test_forty_nodes_are_decided(names: int) -> None:
    drawn = random.Random(names)
    nodes = [
        node(f"t{i % names}", *sorted(drawn.sample(range(i), min(i, drawn.randint(0, 2)))), x=i)
        for i in range(39)
    ]
    nodes.append(answer(*range(39)))
    turns = [turn(nodes[i]) for i in range(39)]
    right = judge(nodes, [*turns, SAID])
    assert (right.label, right.param_label) == ("correct", "correct")
    wrong = judge(nodes, [*turns[:20], *turns[30:], SAID])
    assert wrong.label == "error"
    assert wrong.legal_next


# -- gold without calls


def test_gold_without_calls_is_judged_alike_without_a_look_at_arguments() -> None:
    chance = random.Random(1)
    called = ("a", "b", gold.ASK, gold.ANSWER, missions_of.NOT_OFFERED)
    orders: list[tuple[list[str], list[list[int]]]] = [
        ([gold.ANSWER], [[]]),
        ([gold.ASK], [[]]),
        ([gold.ASK, gold.ANSWER], [[], [0]]),
        ([gold.ASK, gold.ANSWER], [[], []]),
    ]

    def drawn() -> gold.Turn:
        if chance.random() < 0.4:
            return gold.Turn(text=chance.choice(["", "Which one?"]))
        calls = (
            gold.Call(chance.choice(called), chance.choice([{}, {"x": 1}, "bad"]))
            for _ in range(chance.randint(1, 3))
        )
        return gold.Turn(tuple(calls))

    labels: Counter[Any] = Counter()
    for _ in range(3000):
        names, deps = chance.choice(orders)
        graph = gold.checked_graph(names, [{} for _ in names], deps, [None] * len(names))
        turns = [drawn() for _ in range(chance.randint(0, 4))]
        offered = chance.choice([None, {}, {"a": {}}])
        found = missions_of.verdict_on(graph, turns, missions_of.CLEAN, offered, "exact")
        whole = missions_of.CLEAN.judge(graph, [*turns, gold.Turn()], offered, EXACT)
        assert found == whole
        labels[found.error_type] += 1
    assert len(labels) > 4
