import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolbench_sources import CALL, GIVE_UP, converted, finish

from seal.benchmarks.toolbench.answers import read_converted
from seal.core import DataError

TEXTS = st.text(st.characters(codec="utf-8"), max_size=60)


def spoken(name: str, arguments: str, response: str) -> dict[str, str]:
    return {"name": name, "arguments": arguments, "response": response}


def cut(message: dict[str, str]) -> str:
    return str(message)[:100]


def test_messages_as_objects_are_read_whole() -> None:
    run = read_converted(
        converted(
            ("assistant", "I look."),
            ("tool", spoken(CALL, '{"is_id": 12}', '{"error": "", "response": 1}')),
            ("tool", spoken("Finish", finish(), "")),
            final_answer=finish(),
        )
    )
    (move,) = run.moves
    assert (move.name, move.arguments, move.thought) == (CALL, '{"is_id": 12}', "I look.")
    assert not move.observation_cut
    assert (run.answer, run.finish) == ("At noon.", "give_answer")


def test_a_message_cut_in_its_response_keeps_its_arguments() -> None:
    message = cut(spoken("find", '{"place": "Oban"}', '{"error": "", "response": "' + "x" * 90))
    (move,) = read_converted(converted(("tool", message))).moves
    assert (move.arguments, move.arguments_cut) == ('{"place": "Oban"}', False)
    assert move.observation_cut
    assert move.observation.startswith('{"error": "", "resp')


def test_a_message_cut_right_after_its_arguments_keeps_them() -> None:
    arguments = json.dumps(
        {"q": "y" * (100 - len("{'name': 'find', 'arguments': '{\"q\": \"\"}',"))}
    )
    message = cut(spoken("find", arguments, "z"))
    (move,) = read_converted(converted(("tool", message))).moves
    assert message.endswith("',")
    assert (move.arguments, move.arguments_cut, move.observation) == (arguments, False, "")


def test_a_message_cut_in_its_arguments_keeps_what_is_left() -> None:
    message = cut(spoken("find", json.dumps({"text": "line\n" * 40}), "z"))
    (move,) = read_converted(converted(("tool", message))).moves
    assert move.arguments_cut
    assert move.observation_cut
    assert move.arguments.startswith('{"text": "line\\nline')


def test_a_message_cut_in_its_name_keeps_the_start() -> None:
    (move,) = read_converted(converted(("tool", cut(spoken("n" * 120, "{}", ""))))).moves
    assert move.name == "n" * 90
    assert move.arguments_cut


def test_cut_thoughts_are_counted_and_the_whole_final_answer_counts() -> None:
    run = read_converted(
        converted(("assistant", "w" * 100), ("tool", str(spoken("Finish", GIVE_UP, ""))))
    )
    assert (run.texts_cut, run.finish, run.answer) == (1, "give_up", None)


def test_a_run_without_finish_ran_out() -> None:
    assert read_converted(converted(("tool", spoken(CALL, "{}", "x")))).finish is None


def test_branches_are_read_one_after_the_other() -> None:
    record = converted(("tool", spoken("first", "{}", "x")))
    node = {"role": "tool", "message": spoken("second", "{}", "y"), "next": []}
    record["answer"]["answer_details"][0]["next"].append(node)
    assert [move.name for move in read_converted(record).moves] == ["first", "second"]


def test_arguments_written_as_an_object_become_text() -> None:
    message = {"name": CALL, "arguments": {"is_id": 1}, "response": None}
    (move,) = read_converted(converted(("tool", message))).moves
    assert (move.arguments, move.observation) == ('{"is_id":1}', None)


@pytest.mark.parametrize(
    ("record", "named"),
    [
        ([], "expected an object"),
        ({"query": "q", "answer": {}}, "answer_details"),
        (converted() | {"available_tools": None}, "available_tools"),
        (converted() | {"query": 3}, "query"),
        (converted(("tool", "short text")), "has no name"),
        (converted(("tool", {"arguments": "{}"})), "has no name"),
        (converted((3, "x")), "has no role"),
        (converted() | {"available_tools": ["f"]}, "has no name"),
        (
            {**converted(), "answer": {"answer_details": [{"role": "user", "next": 5}]}},
            "expected a list",
        ),
    ],
)
def test_a_malformed_entry_is_an_error_that_names_the_field(record, named: str) -> None:
    with pytest.raises(DataError, match=named):
        read_converted(record)


@given(st.text("abcdef_", min_size=1, max_size=40), TEXTS, TEXTS, st.integers(0, 200))
def test_whatever_is_left_of_a_message_is_read_as_it_was(
    name: str, arguments: str, response: str, length: int
) -> None:
    """Cut at 100 characters or not at all: names and unmarked arguments are true."""
    message = str(spoken(name, arguments, response))
    left = message if len(message) < 100 else message[:100]
    (move,) = read_converted(converted(("tool", left))).moves
    assert move.name == name
    assert (
        arguments.startswith(move.arguments) if move.arguments_cut else move.arguments == arguments
    )
    assert (
        response.startswith(move.observation)
        if move.observation_cut
        else move.observation == response
    )
    assert move.observation_cut == (left != message)


@given(TEXTS.map(lambda text: text.ljust(100, "x")[:100]))
def test_any_text_is_a_move_or_a_clear_error(text: str) -> None:
    for message in (text, "{'name': '" + text[10:]):
        try:
            read_converted(converted(("tool", message)))
        except DataError as error:
            assert "has no name" in str(error)
