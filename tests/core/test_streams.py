import json
from functools import partial

import pytest
from linear import linear
from looped import every_case

from seal.core import streams
from seal.core.streams import CHAT, GEMINI, RESPONSES, CutStreamError, chat_of

answer_in, has_words, is_ended = (
    partial(read, form=CHAT) for read in (streams.answer_in, streams.has_words, streams.is_ended)
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


def calls_in(*parts, offered=("get_weather", "ping")):
    """Return the calls of parts, one a chunk, to a request that offers tools."""
    text = "".join(chunk(tool_calls=[one]) for one in parts) + chunk("tool_calls") + DONE
    told = streams.answer_in(text.encode(), chat_of(offered))["choices"][0]["message"]["tool_calls"]
    return [(one["function"].get("name"), one["function"]["arguments"]) for one in told]


BERN, OSLO = '{"city": "Bern"}', '{"city": "Oslo"}'
BOTH = [("get_weather", BERN), ("get_weather", OSLO)]


def test_a_name_that_comes_after_the_arguments_is_that_of_its_call():
    late = [
        one
        for index, given in enumerate((BERN, OSLO))
        for one in (part(index, f"c{index}", None, given), part(index, None, "get_weather", ""))
    ]
    assert calls_in(*late) == BOTH
    empty_first = [
        part(0, "a", "", ""),
        part(0, None, "get_weather"),
        part(0, None, None, BERN),
        part(1, "b", "", ""),
        part(1, None, "get_weather"),
        part(1, None, None, OSLO),
    ]
    assert calls_in(*empty_first) == BOTH
    amid = part(0, "a", None, BERN[:5]), part(0, None, "get_weather", BERN[5:])
    assert calls_in(*amid) == BOTH[:1]


def test_a_name_after_whole_arguments_without_one_begins_a_call_where_it_has_its_own():
    assert calls_in(part(0, None, None, BERN), part(0, None, "get_weather", OSLO)) == [
        (None, BERN),
        ("get_weather", OSLO),
    ]


def test_pieces_of_a_name_join_where_no_tool_has_the_first_of_them():
    split = [
        one
        for index, given in enumerate((BERN, OSLO))
        for one in (part(index, f"c{index}", "get_", ""), part(index, None, "weather", given))
    ]
    assert calls_in(*split) == BOTH
    assert calls_in(*split, offered=("get_weather", "weather")) == BOTH
    three = part(0, "a", "get", ""), part(0, "a", "_wea", ""), part(0, "a", "ther", BERN)
    assert calls_in(*three) == BOTH[:1]
    two = part(0, "a", "get_", BERN), part(0, "b", "weather", OSLO)
    assert calls_in(*two, offered=("get_", "weather", "get_weather")) == [
        ("get_", BERN),
        ("weather", OSLO),
    ]


def test_names_that_are_whole_stay_calls_of_their_own_where_tools_are_offered():
    whole = [part(0, f"c{n}", "get_weather", given) for n, given in enumerate((BERN, OSLO))]
    assert calls_in(*whole) == BOTH
    assert calls_in(*({**one, "id": None} for one in whole)) == BOTH
    repeated = [part(0, "a", "get_weather", piece) for piece in (BERN[:3], BERN[3:])]
    assert calls_in(*repeated) == BOTH[:1]
    begun = [part(n, f"c{n}", "get_weather", "") for n in range(2)]
    mixed = [
        part(n, None, None, given[k])
        for k in (slice(4), slice(4, None))
        for n, given in enumerate((BERN, OSLO))
    ]
    assert calls_in(*begun, *mixed) == BOTH


def item(place, kind="function_call", **fields):
    return {"type": kind, "id": f"i{place}", **fields}


def responded(*events, output=None, ids=True):
    """Return the output of a response of which events told before its last one."""
    told = []
    for number, (name, place, fields) in enumerate(events):
        id = f"i{place}" if ids else f"other{number}"
        if "item" in fields:
            fields = {"item": {**fields["item"], "id": id}}
        else:
            fields = {**fields, "item_id": id}
        told.append(event(type=f"response.{name}", output_index=place, **fields))
    ended = {"status": "completed", "output": output}
    text = "".join(told) + event(type="response.completed", response=ended)
    return streams.answer_in(text.encode(), RESPONSES)["output"]


def call_events(place, given, done=True, filled=True):
    begun = item(place, name="get_weather", call_id=f"c{place}", arguments="")
    yield "output_item.added", place, {"item": begun}
    yield "function_call_arguments.delta", place, {"delta": given[:4]}
    yield "function_call_arguments.delta", place, {"delta": given[4:]}
    if done:
        yield "function_call_arguments.done", place, {"arguments": given}
        whole = begun | ({"arguments": given} if filled else {"name": ""})
        yield "output_item.done", place, {"item": whole}


def called(output):
    return [(one["name"], one["arguments"]) for one in output]


@pytest.mark.parametrize("ids", [True, False])
@pytest.mark.parametrize(("done", "filled"), [(False, True), (True, False), (True, True)])
def test_a_response_has_the_calls_that_its_events_told(ids, done, filled):
    told = [*call_events(0, BERN, done, filled), *call_events(1, OSLO, done, filled)]
    assert called(responded(*told, output=[], ids=ids)) == BOTH
    empty = [item(n, name="", arguments="") for n in range(2)]
    assert called(responded(*told, output=empty, ids=ids)) == BOTH
    whole = [item(n, name="get_weather", arguments=given) for n, (_, given) in enumerate(BOTH)]
    assert called(responded(*told, output=whole, ids=ids)) == BOTH


def test_a_streamed_call_counts_where_the_whole_response_has_none():
    empty = item(9, "message", content=[{"type": "text", "text": ""}])
    told = [*call_events(0, BERN, done=False)]
    told.append(("function_call_arguments.done", 0, {"arguments": BERN}))
    assert called(responded(*told, output=[empty])) == BOTH[:1]
    whole = [item(9, "message", content=[]), item(0, name="get_weather", arguments=BERN)]
    assert responded(*told, output=whole) == whole


def test_calls_of_a_response_at_one_place_are_told_by_their_ids():
    events = []
    for n, (_, given) in enumerate(BOTH):
        events += [(name, n, fields) for name, _, fields in call_events(n, given, False)]
    told = "".join(
        event(
            type=f"response.{name}",
            output_index=0,
            **(
                {"item": {**f["item"], "id": f"i{n}"}} if "item" in f else {**f, "item_id": f"i{n}"}
            ),
        )
        for name, n, f in events
    )
    ended = event(type="response.completed", response={"status": "completed", "output": []})
    assert called(streams.answer_in((told + ended).encode(), RESPONSES)["output"]) == BOTH


def test_a_response_has_the_words_that_its_events_told():
    begun = ("output_item.added", 0, {"item": item(0, "message", content=[])})
    pieces = [("output_text.delta", 0, {"delta": piece, "content_index": 0}) for piece in "ab"]
    done = ("output_text.done", 0, {"text": "ab", "content_index": 0})
    for events in ([begun, *pieces], [begun, *pieces, done], pieces, [begun, done]):
        for output in ([], None, [item(0, "message", content=[{"text": ""}])]):
            (told,) = responded(*events, output=output)
            assert (told["type"], told["content"]) == ("message", [{"text": "ab"}])
    whole = [item(0, "message", content=[{"type": "output_text", "text": "abc"}])]
    assert responded(begun, *pieces, output=whole) == whole


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


@pytest.mark.parametrize("indent", [None, 2])
def test_an_error_that_follows_the_events_and_is_none_is_the_answer(indent):
    error = {"error": {"message": "overloaded", "code": 503}}
    for one in (error, [error]):
        assert answer_in((WORDS + json.dumps(one, indent=indent) + "\n").encode()) == error
    with pytest.raises(CutStreamError, match="broke off"):
        answer_in((WORDS + '{"note": "no error"}').encode())


def test_a_stream_that_ends_before_its_answer_is_told():
    with pytest.raises(CutStreamError, match="broke off"):
        answer_in(WORDS.encode())
    with pytest.raises(CutStreamError):
        answer_in(b": nothing but comments\n\n")
    with pytest.raises(CutStreamError, match="said no reason"):
        answer_in(DONE.encode())


def test_words_after_an_end_wait_for_an_end_of_their_own():
    """CLIProxyAPI says one in events before the first word."""

    def google(finish=None, *parts):
        told = {"content": {"parts": list(parts)}, **({"finishReason": finish} if finish else {})}
        return event(candidates=[told])

    called = {"functionCall": {"name": "weather", "args": {}}}
    for form, begins, ends in (
        (CHAT, chunk("stop"), ENDED),
        (GEMINI, google("STOP"), google("STOP")),
    ):
        words = WORDS if form is CHAT else google(None, {"text": "Sunny."})
        more = chunk(tool_calls=[part(0, "a", "weather", "{}")])
        for said in (words, more if form is CHAT else google(None, called)):
            with pytest.raises(CutStreamError, match="broke off"):
                streams.answer_in((begins + said).encode(), form)
            assert streams.answer_in((begins + said + ends).encode(), form)
    assert answer_in((chunk("stop") + WORDS + DONE).encode())
    signed = google(None, {"text": "", "thoughtSignature": "c2lnbg=="})
    for rest in (signed, event(usageMetadata={})):
        assert streams.answer_in((google("STOP", {"text": "Sunny."}) + rest).encode(), GEMINI)


def test_lines_that_keep_a_connection_alive_may_stand_before_a_whole_answer():
    whole = {"choices": [{"message": {"content": "Sunny."}, "finish_reason": "stop"}]}
    for before in (": PROCESSING\n\n", ":\r\n\r\n: ping\r\n\r\n", "\ufeff: ping\n"):
        assert answer_in(f"{before}{json.dumps(whole)}".encode()) == whole
    linear(lambda times: answer_in(b": ping\n\n" * times + b"{}"), 20_000)


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


def test_pieces_that_each_repeat_what_came_before_are_one_text():
    whole = '{"from_station": "Lyon", "to": {"name": "Turin"}}'
    for pieces in (
        [whole[:9], whole[:20], whole],
        ["", "{", whole],
        ["{", whole[:30], whole[:30], whole],
        ["{", whole[1:9], whole[:20], whole[20:]],
        [whole[:9], whole[9:]],
        ['{"a": ', '{"a": 1}', "}"],  # no repetition, though it looks like one
    ):
        parts = [part(0, "a", "trains", pieces[0]), *(part(0, arguments=p) for p in pieces[1:])]
        text = "".join(chunk(tool_calls=[one]) for one in parts) + chunk("tool_calls") + DONE
        (found,) = answer_in(text.encode())["choices"][0]["message"]["tool_calls"]
        arguments = '{"a": {"a": 1}}' if pieces[0] == '{"a": ' else whole
        assert found == call("a", "trains", arguments)


SPOKEN = "Bern and Oslo are sunny."
GROWING = [SPOKEN[:size] for size in (4, 8, 13, len(SPOKEN))]


def test_a_call_in_the_old_field_comes_in_pieces_too_and_each_may_hold_those_before():
    whole = '{"city": "Bern"}'
    for pieces in ([whole[:5], whole[5:]], [whole[:5], whole[:9], whole], [whole, whole]):
        for name in ("weather", None):
            told = [{"name": name, "arguments": piece} for piece in pieces]
            told[0]["name"] = "weather"
            (found,) = said("".join(chunk(function_call=one) for one in told))["tool_calls"]
            assert found == {"function": {"name": "weather", "arguments": whole}}
    both = chunk(tool_calls=[part(0, "a", "weather", whole)], function_call=told[0])
    assert said(both)["tool_calls"] == [call("a", "weather", whole)]


def test_words_that_each_repeat_what_came_before_are_said_once():
    for name in ("content", "reasoning_content", "refusal"):
        amid = ["Bern", " and", " Oslo", SPOKEN[:17], SPOKEN[:20], SPOKEN[20:]]
        last = ["Bern", " and Oslo", " are sunny.", SPOKEN]
        for pieces in (GROWING, last, ["", *GROWING], amid):
            text = "".join(chunk(**{name: piece}) for piece in pieces)
            assert said(text)[name] == SPOKEN, (name, pieces)


@every_case(
    "pieces",
    [
        *(["1", "11", "111"], ["no", "no", "no"], ["a b c", "a b c"], ["-", "--", "- x"]),
        *(["a b c ", "a b c d"], ["a ", "b ", "a b c d"], ["a b ", "c ", "b c d"]),
    ],
)
def test_words_that_a_model_repeats_stay(pieces):
    assert said("".join(chunk(content=piece) for piece in pieces))["content"] == "".join(pieces)


def test_growing_words_of_every_form_of_stream_are_said_once():
    kind = "response.output_text.delta"
    told = [{"type": kind, "output_index": 0, "delta": piece} for piece in GROWING]
    told += [{"type": "response.completed", "response": {"status": "completed", "output": []}}]
    found = streams.answer_in("".join(event(**one) for one in told).encode(), RESPONSES)
    assert found["output"] == [{"type": "message", "content": [{"text": SPOKEN}]}]
    told = [{"candidates": [{"content": {"parts": [{"text": piece}]}}]} for piece in GROWING]
    told[-1]["candidates"][0]["finishReason"] = "STOP"
    found = streams.answer_in("".join(event(**one) for one in told).encode(), GEMINI)
    assert found["candidates"][0]["content"]["parts"] == [{"text": SPOKEN}]


def test_an_answer_that_begins_anew_amid_its_stream_is_a_failure():
    first = WORDS.replace('"c1"', '"c0"')
    for stream in (
        first,
        chunk(tool_calls=[part(0, "a", "f", '{"ci')]).replace('"c1"', '"c0"') * 2,
    ):
        whole = answer_in((stream + WORDS + ENDED).encode())
        assert whole["error"]["message"].startswith("the answer began anew amid the stream")
    own_ids = [one.replace('"c1"', f'"c{n}"') for n, one in enumerate(WORDS.split("\n\n")[:3])]
    for stream in ("\n\n".join(own_ids) + "\n\n", chunk(role="assistant", content="Sunny.")):
        assert answer_in((stream + ENDED).encode())["choices"][0]["message"]["content"] == "Sunny."
    told = [{"type": "response.created", "response": {"id": id}} for id in "ab"]
    told += [{"type": "response.completed", "response": {"status": "completed", "output": []}}]
    found = streams.answer_in("".join(event(**one) for one in told).encode(), RESPONSES)
    assert "began anew" in found["error"]["message"]


def test_pieces_that_a_server_numbers_as_choices_are_one_text():
    def numbered(*indexes, ended=("stop",)):
        ends = [None] * (len(indexes) - len(ended)) + list(ended)
        pieces = (chunk(end, content=f"{n} ") for n, end in enumerate(ends))
        placed = (one.replace('x": 0', f'x": {n}') for n, one in zip(indexes, pieces, strict=True))
        found = answer_in(("".join(placed) + event(choices=[], usage=USAGE) + DONE).encode())
        return [one["message"]["content"] for one in found["choices"]]

    assert numbered(1, 2, 3, 4) == ["0 1 2 3 "]
    assert numbered(0, 1, ended=("stop", "stop")) == ["0 ", "1 "]
    assert numbered(0, 1, 2, ended=("stop",) * 3) == ["0 ", "1 ", "2 "]
    assert numbered(0, 1, 0, 1, ended=("stop", "stop")) == ["0 2 ", "1 3 "]


def test_a_stream_of_many_calls_takes_linear_time():
    def read(calls):
        parts = (part(number, f"c{number}", "f", "{}") for number in range(calls))
        text = "".join(chunk(tool_calls=[one]) for one in parts)
        assert len(said(text)["tool_calls"]) == calls

    linear(read, 20_000)


def test_calls_that_each_come_in_growing_pieces_stay_apart():
    told = ['{"to": "Geneva"}', '{"to": "Turin"}']
    parts = [
        part(index, f"call_{index}", "trains", one[:size])
        for index, one in enumerate(told)
        for size in (4, 9, len(one))
    ]
    text = "".join(chunk(tool_calls=[one]) for one in parts) + chunk("tool_calls") + DONE
    found = answer_in(text.encode())["choices"][0]["message"]["tool_calls"]
    assert found == [call(f"call_{index}", "trains", one) for index, one in enumerate(told)]


def test_pieces_of_a_response_that_repeat_what_came_before_are_one_text():
    kind = "response.function_call_arguments.delta"
    whole = '{"city": "Bern"}'
    item = {"type": "function_call", "id": "i", "call_id": "c", "name": "weather"}
    told = [{"type": "response.output_item.added", "output_index": 0, "item": item}]
    told += [{"type": kind, "item_id": "i", "delta": whole[:size]} for size in (5, 9, 16)]
    told += [{"type": "response.completed", "response": {"status": "completed", "output": []}}]
    found = streams.answer_in("".join(event(**one) for one in told).encode(), RESPONSES)
    assert found["output"] == [{**item, "arguments": whole}]


@every_case("empty", ["data:\n\n", "data: \n\n", "data:\n", "event: ping\ndata:\n\n", "id: 3\n\n"])
def test_an_event_without_data_is_none(empty):
    for text in (empty + WORDS + ENDED, WORDS + empty + ENDED):
        assert answer_in(text.encode()) == PLAIN


def test_a_call_of_many_pieces_is_told_from_the_next_that_has_no_index():
    letters = [[part(None, arguments=letter)] for letter in "a" * 100]
    first = [[part(None, "a", "f", '{"x": "')], *letters, [part(None, arguments='"}')]]
    parts = [*first, [part(None, "b", "f", '{"x": 2}')]]
    told = said("".join(chunk(tool_calls=one) for one in parts))["tool_calls"]
    assert [json.loads(one["function"]["arguments"])["x"] for one in told] == ["a" * 100, 2]
