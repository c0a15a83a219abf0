import json
from functools import partial

import pytest
from looped import every_case

from seal.core import http
from seal.core.http import CHAT, CutStreamError

answer_in, has_words, is_ended = (
    partial(read, form=CHAT) for read in (http.answer_in, http.has_words, http.is_ended)
)


def event(**fields):
    return f"data: {json.dumps(fields)}\n\n"


def chunk(finish=None, usage=None, **delta):
    choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
    return event(id="c1", object="chat.completion.chunk", model="m", choices=choices, usage=usage)


def part(index, id=None, name=None, arguments=None):
    function = {"name": name, "arguments": arguments}
    given = {"index": index, "id": id, "type": "function" if id else None}
    given = {key: value for key, value in given.items() if value is not None}
    return {**given, "function": {k: v for k, v in function.items() if v is not None}}


def call(id, name, arguments):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


DONE = "data: [DONE]\n\n"
USAGE = {"prompt_tokens": 3, "completion_tokens": 2}
WORDS = chunk(role="assistant", content="") + chunk(content="Sun") + chunk(content="ny.")
ENDED = chunk("stop") + event(id="c1", choices=[], usage=USAGE) + DONE
PLAIN = {
    "id": "c1",
    "object": "chat.completion",
    "model": "m",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "Sunny."},
            "finish_reason": "stop",
        }
    ],
    "usage": USAGE,
}


@every_case(
    "text",
    [
        WORDS + ENDED,
        (WORDS + ENDED).replace("\n", "\r\n"),
        (WORDS + ENDED).replace("\n", "\r"),
        (WORDS + ENDED).replace("\n\n", "\n"),
        (WORDS + ENDED).replace("data: ", "data:"),
        (WORDS + ENDED).removesuffix(DONE),
        (WORDS + ENDED).rstrip(),
        ": keep-alive\n\n" + WORDS + ": more\n\n" + ENDED,
        "event: message\nid: 1\nretry: 5\n" + WORDS + ENDED,
        "\ufeff" + WORDS + ENDED,
        (WORDS + ENDED).replace('"model": ', '\ndata: "model": '),
        json.dumps(PLAIN),
        json.dumps(PLAIN, indent=1),
    ],
    ids=range(13),
)
def test_however_a_stream_is_written_its_answer_is_that_of_a_plain_one(text):
    assert answer_in(text.encode()) == PLAIN


def said(text):
    return answer_in((text + chunk("stop") + DONE).encode())["choices"][0]["message"]


def test_words_thinking_and_refusal_grow_and_letters_beyond_ascii_stay():
    told = said(
        chunk(role="assistant", reasoning_content="Hm")
        + chunk(reasoning_content=", yes")
        + chunk(content="Grü")
        + chunk(content="ezi \u2028 你好")
        + chunk(refusal="No")
        + chunk("stop", role="assistant", content=None)
    )
    assert told == {
        "role": "assistant",
        "content": "Grüezi \u2028 你好",
        "reasoning_content": "Hm, yes",
        "refusal": "No",
    }


def test_the_whole_message_at_the_end_is_not_said_twice():
    whole = event(choices=[{"index": 0, "message": {"role": "assistant", "content": "Sunny."}}])
    assert said(WORDS + whole)["content"] == "Sunny."
    assert said(whole)["content"] == "Sunny."


ONE, TWO = call("a", "f", '{"x": 1}'), call("b", "g", "{}")


@every_case(
    ("parts", "calls"),
    [
        (
            [[part(0, "a", "f", "")], [part(0, arguments='{"x"')], [part(0, arguments=": 1}")]],
            [ONE],
        ),
        ([[part(0, "a", "f", '{"x": 1}'), part(1, "b", "g", "{}")]], [ONE, TWO]),
        (
            [[part(0, "a", "f", "")], [part(1, "b", "g", "{}")], [part(0, arguments='{"x": 1}')]],
            [ONE, TWO],
        ),
        ([[part(0, "a", "f", '{"x": 1}')], [part(0, "b", "g", "{}")]], [ONE, TWO]),
        ([[part(None, "a", "f", '{"x": 1}')], [part(None, "b", "g", "{}")]], [ONE, TWO]),
        ([[part(0, "a", "f", '{"x"')], [part(0, "a", "f", ": 1}")]], [ONE]),
        ([[part(None, "a", "f", '{"x"')], [part(None, arguments=": 1}")]], [ONE]),
        ([[part("0", "a", "f", '{"x"')], [part(-3, arguments=": 1}")]], [ONE]),
        ([[part(0, "a", "f", '{"x"')], [part(7, arguments=": 1}")]], [ONE]),
        ([[part(3, "a", "f", '{"x": 1}')]], [ONE]),
        ([[part(0, "a", "f", '{"x"')], [part(0, "z", arguments=": 1}")]], [ONE]),
        ([[part(0, "a", "f", '{"x"')], [part(0, "z", "f", ": 1}")]], [ONE]),
        ([[part(0, "a", "f", "")], [part(0, "a", "f", '{"x": 1}')]], [ONE]),
        ([[part(0, "a", "f", '{"x": 1}')], [part(0, "a", "f", "")]], [ONE]),
    ],
    ids=[
        "partial arguments",
        "two at once",
        "interleaved",
        "one index for all",
        "no index",
        "names repeated",
        "no index and partial arguments",
        "index of another type",
        "index of nobody",
        "first index is not 0",
        "another id in each part",
        "another id in each part and names repeated",
        "names repeated before arguments",
        "names repeated after arguments",
    ],
)
def test_parts_of_calls_find_their_call(parts, calls):
    assert said("".join(chunk(tool_calls=p) for p in parts))["tool_calls"] == calls


def test_calls_without_ids_and_indexes_begin_with_a_name():
    told = said(
        chunk(tool_calls=[part(None, name="f", arguments="{")])
        + chunk(tool_calls=[part(None, arguments="}")])
        + chunk(tool_calls=[part(None, name="f", arguments="{}")])
    )
    assert [c["function"] for c in told["tool_calls"]] == [{"name": "f", "arguments": "{}"}] * 2


def test_whole_calls_of_one_index_without_ids_are_calls_of_their_own():
    for names in ("fg", "ff"):
        parts = [part(0, name=name, arguments=f'{{"x": {n}}}') for n, name in enumerate(names)]
        told = said("".join(chunk(tool_calls=[one]) for one in parts))
        assert [c["function"]["name"] for c in told["tool_calls"]] == list(names)
        assert [c["function"]["arguments"] for c in told["tool_calls"]] == ['{"x": 0}', '{"x": 1}']


def test_a_name_may_come_in_pieces():
    pieces = part(0, "a", "get_"), part(0, None, "weather"), part(0, arguments="{}")
    told = said("".join(chunk(tool_calls=[one]) for one in pieces))
    assert told["tool_calls"][0]["function"] == {"name": "get_weather", "arguments": "{}"}


def test_a_reason_in_each_chunk_is_one_reason():
    for words, reason in (
        ("length length", "length"),
        ("error error", "error"),
        ("stop stop", "stop"),
        ("length stop", "length"),
        ("stop length", "length"),
    ):
        text = "".join(chunk(word, content="x") for word in words.split()) + DONE
        assert answer_in(text.encode())["choices"][0]["finish_reason"] == reason


def test_the_last_count_of_tokens_and_finish_reason_hold():
    growing = chunk(usage={"prompt_tokens": 3, "completion_tokens": 1}, content="x")
    answer = answer_in((growing + chunk("length", usage=USAGE) + DONE).encode())
    assert answer["usage"] == USAGE
    assert answer["choices"][0]["finish_reason"] == "length"


def test_an_error_within_a_stream_is_the_answer():
    error = {"error": {"message": "out of memory", "code": 500}}
    assert answer_in((WORDS + event(**error)).encode()) == error


def test_a_stream_that_ends_before_its_answer_is_told():
    with pytest.raises(CutStreamError, match="broke off"):
        answer_in(WORDS.encode())
    with pytest.raises(CutStreamError):
        answer_in(b": nothing but comments\n\n")
    with pytest.raises(CutStreamError, match="said no reason"):
        answer_in(DONE.encode())


@pytest.mark.parametrize(
    "rest", [b'data: {"choices": [{"ind', b"data: {", 'data: {"é'.encode()[:-1]]
)
@pytest.mark.parametrize("before", [WORDS.encode(), b""])
def test_a_stream_that_ends_amid_an_event_is_told_as_cut(before, rest):
    with pytest.raises(CutStreamError, match="ended amid an event"):
        answer_in(before + rest)


def test_an_error_in_a_stream_that_is_a_text_is_its_message():
    told = answer_in((WORDS + event(error="worker crashed")).encode())
    assert told == {"error": {"message": "worker crashed"}}


@pytest.mark.parametrize("text", [b"", b"<html>", b"data: {oops\n\n", b'data: "\xff"\n\n', b"\xff"])
def test_what_is_no_json_is_told(text):
    with pytest.raises(ValueError):
        answer_in(text)


def test_a_stream_says_when_nothing_follows_and_whether_words_came():
    assert is_ended((WORDS + ENDED).encode()) and is_ended(b"data: [DONE]")
    assert not is_ended(WORDS.encode()) and not is_ended(b'["[DONE]')
    assert has_words((WORDS + 'data: {"cho').encode())
    assert not has_words(chunk(role="assistant", content="").encode())
    assert not has_words(b": waiting\n\n") and not has_words(json.dumps(PLAIN).encode())


@pytest.mark.parametrize("before", [b"", b"data: "])
def test_json_of_too_many_levels_is_no_answer(before):
    with pytest.raises(ValueError, match="JSON of too many levels"):
        answer_in(before + b"[" * 200_000 + b"\n\n")
