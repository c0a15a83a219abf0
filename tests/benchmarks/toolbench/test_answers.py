import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import every_case
from toolbench_sources import (
    CALL,
    GIVE_UP,
    finish,
    good_tree,
    heard,
    nodes,
    observation,
    said,
    tree,
)

from seal.benchmarks.toolbench.answers import read_final_answer, read_tree
from seal.core import DataError


def test_a_valid_run_is_read_from_its_last_chain() -> None:
    run = read_tree(good_tree())
    (move,) = run.moves
    assert (move.name, move.arguments, move.thought) == (CALL, '{"is_id": 12}', "I look.")
    assert (run.answer, run.finish, run.steps_from) == ("At noon.", "give_answer", "train_messages")


def test_finish_is_no_call_and_thoughts_before_it_are_kept() -> None:
    run = read_tree(
        tree(
            said("Finish", "{", "Not yet."),
            said(CALL, "{}", "Now."),
            said("Finish", finish(), "Done."),
        )
    )
    assert [(m.name, m.thought) for m in run.moves] == [(CALL, "Not yet.\nNow.")]
    assert run.closing == "Done."


def test_messages_that_urge_the_search_on_are_no_part_of_the_run() -> None:
    urged = {"role": "user", "content": "try something else", "valid": False}
    run = read_tree(tree(urged, said(CALL, "{}"), heard(CALL, observation("x")), urged))
    assert len(run.moves) == 1
    assert run.moves[0].observation == observation("x")


def test_calls_of_one_message_share_a_reply_and_repeated_ids_keep_their_order() -> None:
    calls = [
        {"id": "same", "function": {"name": CALL, "arguments": text}} for text in ("{}", '{"a":1}')
    ]
    answers = [
        {"role": "tool", "tool_call_id": "same", "content": text} for text in ("first", "second")
    ]
    run = read_tree(tree({"role": "assistant", "content": None, "tool_calls": calls}, *answers))
    assert [(m.reply, m.observation) for m in run.moves] == [(1, "first"), (1, "second")]


def test_a_result_without_a_call_is_counted() -> None:
    assert read_tree(tree(heard(CALL, "x"))).orphans == 1


def test_an_invalid_chain_is_read_from_its_last_try() -> None:
    record = tree(train_messages=[], valid_data=False, final_answer="")
    del record["tree"]
    last = nodes(("Thought", "I look."), ("Action", CALL), ("Action Input", "{}", observation("x")))
    record["trys"] = [{"chain": nodes(("Action", "other"))}, {"chain": last}]
    run = read_tree(record)
    assert [(m.name, m.thought, m.observation) for m in run.moves] == [
        (CALL, "I look.", observation("x"))
    ]
    assert (run.steps_from, run.finish, run.valid) == ("last_try", None, False)


def test_an_invalid_search_is_read_in_the_order_of_expansion() -> None:
    record = tree(valid_data=False, final_answer="")
    del record["answer_generation"]["train_messages"]
    root, *_ = nodes(("Action Input", ""))
    for name in ("first", "second"):
        (action,) = nodes(("Action", name))
        action["children"] = nodes(("Action Input", "{}", observation(name)))
        root["children"].append(action)
    record["tree"]["tree"] = root
    run = read_tree(record)
    assert [m.name for m in run.moves] == ["first", "second"]
    assert run.steps_from == "tree"


def test_giving_up_is_no_answer() -> None:
    run = read_tree(
        tree(said("Finish", GIVE_UP, "No way."), final_answer=GIVE_UP, finish_type="give_up")
    )
    assert (run.answer, run.finish, run.closing) == (None, "give_up", "No way.")


@every_case(
    ("text", "answer"),
    [
        ("", (None, False)),
        (None, (None, False)),
        ("Plain words.", ("Plain words.", False)),
        (finish("Yes."), ("Yes.", False)),
        (GIVE_UP, (None, True)),
        ('{"return_type": "give_answer"}', (None, False)),
        ('{"return_type": "give_answer", "final_answer": {"a": 1}}', ('{"a":1}', False)),
        (
            '{\n  "return_type": "give_answer",\n  "final_answer": "One\\n\\"two\\" and',
            ('One\n"two" and', False),
        ),
        ('{"return_type": "give_answer", "final_answer": "say "hi" to \\', ('say "hi" to ', False)),
        ("[1]", ("[1]", False)),
    ],
)
def test_a_final_answer_is_read_in_every_form_that_occurs(text, answer) -> None:
    assert read_final_answer(text) == answer


def test_a_long_observation_that_is_no_json_was_cut() -> None:
    long = observation("x" * 2000)
    whole, cut = (
        read_tree(tree(said(CALL, "{}"), heard(CALL, text))).moves[0].observation_cut
        for text in (long, long[:1024] + "...")
    )
    assert (whole, cut) == (False, True)


@pytest.mark.parametrize(
    ("record", "named"),
    [
        ([], "expected an object"),
        ({"tree": {}}, "answer_generation"),
        (tree(query=None), "query"),
        (tree(function="f"), "function"),
        (tree({"role": "assistant", "function_call": {"arguments": "{}"}}), "has no name"),
        (tree("text"), "expected an object"),
        ({"answer_generation": {"query": "q", "function": []}}, "trys"),
        ({"answer_generation": {"query": "q", "function": []}, "trys": [{"chain": [3]}]}, "node 0"),
        ({"answer_generation": {"query": "q", "function": []}, "tree": {"tree": []}}, "tree"),
    ],
)
def test_a_malformed_tree_is_an_error_that_names_the_field(record, named: str) -> None:
    with pytest.raises(DataError, match=named):
        read_tree(record)


def test_what_a_model_nested_deep_is_read() -> None:
    deep = "[" * 400 + "]" * 400
    answered = json.dumps({"return_type": "give_answer", "final_answer": 0}).replace("0", deep)
    assert "nested deeper" in (read_final_answer(answered)[0] or "")


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(JSON_VALUES, JSON_VALUES)
def test_any_json_is_a_run_or_a_clear_error(message, node) -> None:
    records = [tree(message), {"answer_generation": message}, message]
    last_try = tree(train_messages=[])
    del last_try["tree"]
    records.append({**last_try, "trys": [{"chain": [node]}]})
    for record in records:
        try:
            run = read_tree(record)
        except DataError as error:
            assert str(error)
        else:
            assert all(isinstance(move.name, str) for move in run.moves)


@given(st.text(), st.dictionaries(st.text(), st.text()))
def test_what_a_run_says_is_read_back(answer: str, arguments: dict[str, str]) -> None:
    text = json.dumps(arguments)
    run = read_tree(tree(said(CALL, text), heard(CALL, answer), final_answer=finish(answer)))
    assert run.moves[0].arguments == text
    assert run.moves[0].observation == answer
    assert run.answer == (answer or None)


@pytest.mark.parametrize("messages", [3.5, {"0": []}, "chain", True])
def test_messages_that_are_no_list_are_told(messages):
    with pytest.raises(DataError, match="train_messages"):
        read_tree(tree(train_messages=messages))
