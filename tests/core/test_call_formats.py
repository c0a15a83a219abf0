"""Calls in a model's text: what is read, what is repaired and told, what cannot be read."""

import json

import pytest
from core_strategies import json_values, texts
from hypothesis import given
from hypothesis import strategies as st
from linear import linear
from looped import every_case

from seal.core import ToolCall
from seal.core.call_formats import form_of, parse_call, repairs_of
from seal.core.text_formats import objects_in, read_object

ACTION, JSON = form_of("action"), form_of("json")
OFFERED = ("weather", "news")
BERN = {"city": "Bern"}


def read(form, text, cut=False):
    """Return the words, and (name, arguments, repairs) of each call."""
    found = form.read(text, OFFERED, cut)
    return found.content, [(call.name, call.arguments, repairs_of(call)) for call in found.calls]


RIGHT_ACTIONS = {
    "two lines": ('Action: weather\nAction Input: {"city": "Bern"}', ""),
    "a thought before": (
        'Thought: I need it.\nAction: weather\nAction Input: {"city": "Bern"}\n',
        "Thought: I need it.",
    ),
    "a map over several lines": ('Action: weather\nAction Input: {\n "city":\n "Bern"\n}', ""),
}


@pytest.mark.parametrize(("text", "words"), RIGHT_ACTIONS.values(), ids=RIGHT_ACTIONS)
def test_a_right_action_is_read_without_a_repair(text, words):
    assert read(ACTION, text) == (words, [("weather", BERN, ())])
    assert ACTION.read(text).calls[0].raw == ""


REPAIRED_ACTIONS = {
    "brace": ('Action: weather\nAction Input: {"city": "Bern"', "closed"),
    "quote and brace": ('Action: weather\nAction Input: {"city": "Bern', "closed"),
    "python": ("Action: weather\nAction Input: {'city': 'Bern'}", "python_literal"),
    "fence": ('Action: weather\nAction Input: ```json\n{"city": "Bern"}\n```', "code_fence"),
    "text after": ('Action: weather\nAction Input: {"city": "Bern"} please', "trailing_text"),
    "bold": ('**Action:** weather\n**Action Input:** {"city": "Bern"}', "markup"),
    "quoted name": ('Action: `weather`\nAction Input: {"city": "Bern"}', "markup"),
    "no marker": ('weather with Action Input: {"city": "Bern"}', "no_marker"),
    "own result": (
        'Action: weather\nAction Input: {"city": "Bern"}\nObservation: sunny\nFinal Answer: sun',
        "invented_observation",
    ),
}


@pytest.mark.parametrize(("text", "repair"), REPAIRED_ACTIONS.values(), ids=REPAIRED_ACTIONS)
def test_what_is_repaired_in_an_action_is_told_and_kept(text, repair):
    assert read(ACTION, text) == ("", [("weather", BERN, (repair,))])
    assert ACTION.read(text, OFFERED).calls[0].raw == text


def test_the_form_of_toolscan_on_one_line_is_right():
    text = 'Action: weather with Action Input: {"city": "Bern"}'
    assert read(ACTION, text) == ("", [("weather", BERN, ())])


def test_an_input_that_is_not_written_is_none_and_told():
    assert read(ACTION, "Action: news\nAction Input:") == ("", [("news", {}, ("no_input",))])


def test_several_repairs_are_all_told():
    text = "**Action:** weather\nAction Input: ```\n{'city': 'Bern'"
    assert read(ACTION, text)[1] == [
        ("weather", BERN, ("markup", "code_fence", "python_literal", "closed"))
    ]


def test_several_actions_are_several_calls():
    text = (
        'Action: weather\nAction Input: {"city": "Bern"}\n\n'
        "Thought: and the news\nAction: news\nAction Input: {}"
    )
    assert read(ACTION, text) == (
        "Thought: and the news",
        [("weather", BERN, ()), ("news", {}, ())],
    )


UNREAD_ACTIONS = {
    "no input": ("Action: weather", "weather"),
    "no action": ('Action Input: {"city": "Bern"}', ""),
    "a list": ("Action: weather\nAction Input: [1, 2]", "weather"),
    "a number": ("Action: weather\nAction Input: 7", "weather"),
    "a text": ('Action: weather\nAction Input: "Bern"', "weather"),
    "words": ("Action: weather\nAction Input: the city of Bern", "weather"),
    "a call": ("Action: weather\nAction Input: __import__('os').getcwd()", "weather"),
    "a set": ("Action: weather\nAction Input: {'city'}", "weather"),
    "bytes": ("Action: weather\nAction Input: {'city': b'Bern'}", "weather"),
    "infinity": ("Action: weather\nAction Input: {'x': 1e999}", "weather"),
    "a number as key": ("Action: weather\nAction Input: {1: 2}", "weather"),
    "crossed brackets": ('Action: weather\nAction Input: {"city": ["Bern"}]', "weather"),
    "a name on two lines": ('Action: weather\nof\nAction Input: {"city": "Bern"}', "weather"),
    "no name": ('Action:\nAction Input: {"city": "Bern"}', ""),
    "too deep": (f'Action: weather\nAction Input: {{"a": {"[" * 200}{"]" * 200}}}', "weather"),
}


@every_case(("text", "name"), UNREAD_ACTIONS.values(), ids=UNREAD_ACTIONS)
def test_an_action_that_cannot_be_read_is_a_call_without_arguments_that_keeps_its_text(text, name):
    (call,) = ACTION.read(text, OFFERED).calls
    assert (call.name, call.arguments, call.raw) == (name, None, text)
    assert ACTION.write(call) == text


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("It is sunny.", "It is sunny."),
        ("Thought: I know.\nFinal Answer: It is sunny.\nAnd warm.", "It is sunny.\nAnd warm."),
        ('Action: finish\nAction Input: {"answer": "sunny"}', "sunny"),
        ('Action: Finish\nAction Input: {"result": {"sky": "sunny", "t": 7}}', "sunny, 7"),
        ("Action: finish\nAction Input: sunny", "sunny"),
        ("Take action: go.", "Take action: go."),
        ("", ""),
    ],
)
def test_words_and_what_only_finishes_are_no_calls(text, answer):
    assert read(ACTION, text) == (answer, [])


def test_finish_is_a_call_where_such_a_tool_is_offered():
    text = 'Action: finish\nAction Input: {"answer": "sunny"}'
    assert ACTION.read(text, ["finish"]).calls[0].arguments == {"answer": "sunny"}


def test_finish_beside_other_calls_is_passed_over():
    text = 'Action: weather\nAction Input: {"city": "Bern"}\nAction: finish\nAction Input: {}'
    assert read(ACTION, text) == ("", [("weather", BERN, ())])


CALL = '{"name": "weather", "arguments": {"city": "Bern"}}'
RIGHT_JSON = {
    "alone": (CALL, ""),
    "members in another order": ('{"arguments": {"city": "Bern"}, "name": "weather"}', ""),
    "in words": (f"I look it up: {CALL} now", "I look it up:\nnow"),
    "a list of one": (f"[{CALL}]", ""),
}


@pytest.mark.parametrize(("text", "words"), RIGHT_JSON.values(), ids=RIGHT_JSON)
def test_a_right_object_is_read_without_a_repair(text, words):
    assert read(JSON, text) == (words, [("weather", BERN, ())])


REPAIRED_JSON = {
    "braces": ('{"name": "weather", "arguments": {"city": "Bern', ("closed",)),
    "python": ("{'name': 'weather', 'arguments': {'city': 'Bern'}}", ("python_literal",)),
    "fence": (f"```json\n{CALL}\n```", ("code_fence",)),
    "another key": ('{"name": "weather", "parameters": {"city": "Bern"}}', ("other_key",)),
    "a text in it": (
        json.dumps({"name": "weather", "arguments": json.dumps(BERN)}),
        ("arguments_as_text",),
    ),
    "a key twice": (
        '{"name": "weather", "arguments": {"city": "Thun", "city": "Bern"}}',
        ("repeated_argument",),
    ),
    "a key twice in Python": (
        "{'name': 'weather', 'arguments': {'city': 'Thun', 'city': 'Bern'}}",
        ("python_literal", "repeated_argument"),
    ),
    "a key twice in a text": (
        json.dumps({"name": "weather", "arguments": '{"city": "Thun", "city": "Bern"}'}),
        ("arguments_as_text", "repeated_argument"),
    ),
}


@pytest.mark.parametrize(("text", "repairs"), REPAIRED_JSON.values(), ids=REPAIRED_JSON)
def test_what_is_repaired_in_an_object_is_told_and_kept(text, repairs):
    assert read(JSON, text) == ("", [("weather", BERN, repairs)])
    assert JSON.read(text).calls[0].raw == text


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        ('{"a": 1, "a": 2}', {"a": 2}),
        ('{"a": {"b": 1, "b": 2}}', {"a": {"b": 2}}),
        ('{"name": "x", "name": "f", "arguments": {}}', {"name": "f", "arguments": {}}),
        ('{"a": 1, "a": 1e4}', {"a": 10_000.0}),
    ],
)
def test_a_native_call_that_names_an_argument_twice_is_repaired_too(arguments, value):
    call = parse_call("f", arguments)
    assert call == ToolCall("", "f", value, arguments)
    assert repairs_of(call) == ("repeated_argument",)
    assert repairs_of(parse_call("f", '{"a": "a:1, a:2", "b": {"a": 1}}')) == ()


@pytest.mark.parametrize("between", ["\n", " ", ",\n", " and then "])
def test_several_objects_are_several_calls(between):
    text = f'{CALL}{between}{{"name": "news", "arguments": {{}}}}'
    assert read(JSON, text)[1] == [("weather", BERN, ()), ("news", {}, ())]


UNREAD_JSON = {
    "a list": ('{"name": "weather", "arguments": [1]}', "weather"),
    "a number": ('{"name": "weather", "arguments": 7}', "weather"),
    "a text that is no map": ('{"name": "weather", "arguments": "Bern"}', "weather"),
    "no name": ('{"arguments": {"city": "Bern"}}', ""),
    "a name that is none": ('{"name": 7, "arguments": {}}', ""),
    "another protocol": ('{"tool": "weather", "args": {"city": "Bern"}}', ""),
    "crossed brackets": ('{"name": "weather", "arguments": {"city": ["Bern"}]}', "weather"),
    "a bare word": ('{"name": "weather", "arguments": {"city": Bern}}', "weather"),
}


@pytest.mark.parametrize(("text", "name"), UNREAD_JSON.values(), ids=UNREAD_JSON)
def test_an_object_that_cannot_be_read_is_a_call_without_arguments_that_keeps_its_text(text, name):
    (call,) = JSON.read(text, OFFERED).calls
    assert (call.name, call.arguments, call.raw) == (name, None, text)


@pytest.mark.parametrize(
    "text",
    [
        "It is sunny.",
        '{"temperature": 17}',
        '{"name": "Bern", "people": 134000}',
        "[1, 2]",
        "{",
        "",
    ],
)
def test_other_texts_are_words_in_json_too(text):
    assert read(JSON, text) == (text, [])


def test_an_object_that_finishes_is_the_answer():
    assert read(JSON, '{"name": "finish", "arguments": {"answer": "sunny"}}') == ("sunny", [])


@pytest.mark.parametrize("form", [ACTION, JSON])
def test_a_text_that_was_cut_off_is_not_closed(form):
    written = form.write(ToolCall("", "weather", BERN)).partition('n"}')[0]
    assert form.read(written).calls[0].arguments == {"city": "Ber"}
    assert form.read(written, cut=True).calls[0].arguments is None


@pytest.mark.parametrize("form", [ACTION, JSON])
@given(
    name=st.from_regex(r"[\w./-]{1,20}", fullmatch=True),
    arguments=st.dictionaries(texts, json_values(), max_size=3),
)
def test_what_a_form_writes_it_reads_back(form, name, arguments):
    found = form.read(form.write(ToolCall("", name, arguments)), [name])
    assert [(call.name, call.raw) for call in found.calls] == [(name, "")]
    assert json.dumps(found.calls[0].arguments) == json.dumps(json.loads(json.dumps(arguments)))


MARKS = ("Action:", "Action Input:", "Observation:", "Thought:", "Final Answer:", "<think>")
SYNTAX = ("{", "}", "[", "]", "(", "'", '"', "\\", ",", "```", "\n", " with ", '{"name":')
VALUES = ("weather", "finish", "1e999", "\ud800", "-" * 50, '"arguments":', "</think>", CALL)
PIECES = st.lists(
    st.one_of(st.text(max_size=8), st.sampled_from((*MARKS, *SYNTAX, *VALUES))), max_size=14
).map("".join)


@pytest.mark.parametrize("form", [ACTION, JSON])
@given(text=PIECES, cut=st.booleans())
def test_no_text_raises_and_every_call_can_be_written(form, text, cut):
    found = form.read(text, OFFERED, cut)
    for call in found.calls:
        assert call.arguments is not None or call.raw
        json.dumps(call.arguments, allow_nan=False)
        form.write(call).encode()
        assert repairs_of(call) or call.arguments is None or not call.raw


@given(text=PIECES, cut=st.booleans())
def test_a_map_is_read_or_is_none_and_never_raises(text, cut):
    found = read_object(text, cut)
    assert found.value is None or isinstance(found.value, dict)


@pytest.mark.parametrize("form", [ACTION, JSON])
@pytest.mark.parametrize(
    "piece",
    ['{"name":', "{", "Action:\n", 'Action: w\nAction Input: {"a": "', "w with Action Input:"],
)
def test_a_hostile_text_is_read_in_linear_time(form, piece):
    linear(lambda times: form.read(piece * times, OFFERED), 200_000 // len(piece))


def test_objects_are_found_wherever_they_stand_in_a_text():
    text = 'Well: {note} {"a": {"b": 1}}, then {"c": 2}{' + "{" * 20_000
    assert list(objects_in(text)) == [{"a": {"b": 1}}, {"c": 2}]


@pytest.mark.no_cover
def test_objects_are_looked_for_in_linear_time():
    for piece in ("{", '{"', '{"a":"', "{'a': "):
        assert list(objects_in(piece * 1000)) == []
        linear(lambda times, piece=piece: list(objects_in(piece * times)), 200_000 // len(piece))
    assert list(objects_in("{ \n}{u'a': 1}{'b': 2}{{}")) == [{}, {"a": 1}, {"b": 2}, {}]


def test_objects_of_a_judge_may_hold_line_breaks_and_pythons_quotes():
    solved = {"verdict": "solved", "reason": "It rains.\nSo it is."}
    for text in (
        '{"verdict": "solved", "reason": "It rains.\nSo it is."}',
        "So: {'verdict': 'solved', 'reason': 'It rains.\\nSo it is.'}",
        '{oops {"verdict": "solved", "reason": "It rains.\\nSo it is.",}}',
    ):
        assert list(objects_in(text)) == [solved]
