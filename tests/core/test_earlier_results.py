"""Gold arguments that are results of earlier calls: what they are, what is right, what is wrong."""

import pytest
from linear import linear

import seal
from seal.core import Milestone, Plan, UsageError
from seal.core.conditions import Called
from seal.core.earlier_results import (
    Lacking,
    Made,
    faults,
    goal_in_chat,
    in_chat,
    joined,
    lacking,
    part_at,
    result_value,
    undeclared,
    waits,
)
from seal.core.records import decode, encode
from seal.core.types import Task

FIND = Called.exact("find", {"who": "Lena"})
USE = Called.exact("use", {"order": seal.result_of(1, "orders.0.id")})
ORDERS = {"orders": [{"id": "K-7", "sum": 3}]}


def made(*calls):
    return [Made(*call) for call in calls]


def accepted(call, value):
    return call.accepts({"order": value})


def test_the_result_of_this_chat_is_right_and_nothing_else():
    _, use = in_chat([FIND, USE], made(("find", {"who": "Lena"}, ORDERS)))
    assert accepted(use, "K-7")
    assert not any(accepted(use, other) for other in ("API_call_0", "K-8", seal.result_of(1), None))


def test_before_the_earlier_call_no_value_is_right_not_even_the_reference_itself():
    _, use = in_chat([FIND, USE], [])
    assert waits(use) and not waits(FIND)
    assert not accepted(use, seal.result_of(1, "orders.0.id"))


def test_the_result_of_a_wrong_call_counts_where_there_is_no_right_one():
    other = ("find", {"who": "Tom"}, {"orders": [{"id": "T-1"}]})
    right = ("find", {"who": "Lena"}, ORDERS)
    (_, alone), (_, beside) = (in_chat([FIND, USE], made(*m)) for m in ([other], [other, right]))
    assert accepted(alone, "T-1") and not accepted(beside, "T-1") and accepted(beside, "K-7")


def test_results_stand_within_lists_and_maps_and_a_chain_has_each_its_own():
    pair = Called.exact("pair", {"order": {"ids": [seal.result_of(1), seal.result_of(2, "x")]}})
    twice = Called.exact("twice", {"order": seal.result_of(1)})
    calls = [Called.exact("a", {}), Called.exact("b", {"order": seal.result_of(1)}), pair, twice]
    chat = made(("a", {}, 5), ("b", {"order": 5}, {"x": [6]}))
    *_, third, fourth = in_chat(calls, chat)
    assert accepted(third, {"ids": [5, [6]]}) and not accepted(third, {"ids": [5, 6]})
    assert accepted(fourth, 5)


def test_any_result_of_a_call_that_is_made_again_is_right():
    chat = made(*(("find", {"who": "Lena"}, {"orders": [{"id": n}]}) for n in (1, 2)))
    _, use = in_chat([FIND, USE], chat)
    assert accepted(use, 1) and accepted(use, 2) and not accepted(use, 3)


@pytest.mark.parametrize(
    ("value", "path", "part"),
    [
        (ORDERS, "", ORDERS),
        (ORDERS, "orders.0.sum", 3),
        ([[1, 2]], "0.1", 2),
        ({"0": "key"}, "0", "key"),
        ({"a": None}, "a", None),
    ],
)
def test_a_path_leads_through_maps_and_lists(value, path, part):
    assert part_at(value, path) == part


@pytest.mark.parametrize(
    "path",
    ["order", "orders.1.id", "orders.-1", "orders.0.id.x", "orders.a", "orders." + "9" * 5000],
)
def test_a_path_that_the_result_lacks_names_the_first_part_that_is_not_there(path):
    with pytest.raises(Lacking, match="has no '"):
        part_at(ORDERS, path)


def test_a_right_call_whose_result_lacks_the_part_is_told_and_a_wrong_one_is_not():
    goal = seal.ask("Use it.", FIND, USE).goals[0]
    told = lacking(goal, made(("find", {"who": "Lena"}, {"orders": []})))
    assert "'find'" in told and "has no '0'" in told and "mend the path" in told
    assert lacking(goal, made(("find", {"who": "Tom"}, {"orders": []}))) == ""
    assert lacking(goal, made(("find", {"who": "Lena"}, ORDERS))) == ""


def test_a_result_is_json_a_simulators_response_or_its_text():
    assert result_value('{"error": "", "response": {"id": 7}}') == {"id": 7}
    assert result_value('{"error": "none", "response": ""}')["error"] == "none"
    assert (result_value("[1]"), result_value("plain")) == ([1], "plain")


@pytest.mark.parametrize("number", [0, -1, True, "1", 1.5])
def test_what_is_no_number_of_a_call_is_refused(number):
    with pytest.raises(
        UsageError, match=r"expected (the number of an earlier call|a whole number)"
    ):
        seal.result_of(number)


def test_faults_name_each_reference_that_cannot_be():
    late = [Called.exact("a", {"x": seal.result_of(2)}), Called.exact("b", {})]
    own = [Called.exact("a", {"x": seal.result_of(1)})]
    none = [Called.exact("a", {"x": seal.result_of(3)}), Called.exact("b", {})]
    odd = [Called.exact("a", {"x": {"$result_of": 0}})]
    extra = [Called.exact("a", {"x": {"$result_of": 1, "route": "id"}})]
    found = [next(faults(calls)) for calls in (late, own, none, odd, extra)]
    assert "does not come before it" in found[0] and "does not come before it" in found[1]
    assert "there are 2" in found[2]
    assert all('write {"$result_of": 1, "path"' in one for one in found[3:])
    assert list(faults([FIND, USE], [ORDERS, None])) == list(faults([FIND, USE])) == []
    (lack,) = faults([FIND, USE], [{"orders": []}, None])
    assert "'orders.0.id' of the result of call 1, which has no '0'; mend the path" in lack


def test_a_declared_result_has_the_path_or_names_what_it_lacks():
    item = {"type": "object", "properties": {"id": {"type": "string"}}}
    schema = {"type": "object", "properties": {"orders": {"type": "array", "items": item}}}
    assert [undeclared(schema, p) for p in ("", "orders.0.id", "orders.0.no", "no.0")] == [
        *("", "", "no", "no")
    ]
    assert undeclared(None, "x") == undeclared({"type": "object"}, "x") == ""
    assert undeclared({**schema, "additionalProperties": True}, "no") == ""


def test_sequences_that_are_joined_keep_whose_results_they_take():
    both = joined([[FIND, USE], [FIND, USE]])
    assert both[3].canonical_arguments() == {"order": seal.result_of(3, "orders.0.id")}
    assert both[:2] == [FIND, USE]


def test_a_task_is_written_and_read_with_its_references():
    task = seal.ask("Use it.", FIND, USE, id="t")
    again = decode(encode(task), Task)
    assert again == task
    assert again.goals[0].plans[0].calls()[1] == USE


def test_a_call_comes_after_those_whose_results_it_takes():
    (plan,) = seal.ask("Use it.", FIND, Called.exact("other", {}), USE).goals[0].plans
    assert [node.after for node in plan.milestones] == [(), (), (0,)]


def test_a_goal_that_takes_no_result_is_itself():
    goal = seal.ask("Find her.", FIND).goals[0]
    assert goal_in_chat(goal, made(("find", {"who": "Lena"}, ORDERS))) is goal


def test_a_model_that_writes_a_reference_is_not_read_as_one():
    nodes = (Milestone(FIND), Milestone(Called.exact("use", {"order": "K-7"}), (0,)))
    goal = seal.ask("Use it.", FIND).goals[0]
    chat = made(("find", {"who": seal.result_of(9)}, ORDERS))
    assert in_chat(Plan(nodes).calls(), chat)[1].accepts({"order": "K-7"})
    assert lacking(goal, chat) == ""


def test_many_results_of_many_calls_are_read_in_linear_time():
    uses = [Called.exact("use", {"order": [seal.result_of(1, "orders.0.id")] * 50})] * 20

    def read(calls):
        chat = made(*(("find", {"who": "Lena"}, {"orders": [{"id": n}]}) for n in range(calls)))
        in_chat([FIND, *uses], chat)

    linear(read, 2000)
