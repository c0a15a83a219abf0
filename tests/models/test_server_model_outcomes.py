"""Every end, error and status through every wire: what is the server's is never an answer."""

import json
import re
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from servers import Answer, ModelServer, answer, failure, installed
from wire_answers import (
    chat,
    chat_parts,
    events,
    google,
    message,
    message_parts,
    response,
    response_parts,
)

from seal.core import Message, ModelError, Request, RequestError, Tool, ToolCall
from seal.core.call_formats import repairs_of
from seal.core.outcomes import fault_in, finish_of, is_known, may_pass, refusal_of
from seal.core.servers import Standing
from seal.core.store import Store
from seal.models.cached_model import CachedModel
from seal.models.spec import build_model

TOOL = Tool("t", "weather", "Weather", {"type": "object", "properties": {"city": {}}})
ASK = Request((Message("user", "Weather in Bern?"),), (TOOL,))
TRIES = 2
ARGUMENTS = '{"city": "Bern"}'


@dataclass(frozen=True)
class Wire:
    """How one wire is asked, and what its server sends."""

    model: str
    whole: Callable[..., Answer]
    parts: Callable[..., list[Any]] | None = None
    """Events of a stream; None: it is asked for a whole answer."""
    calls: str = "tool_calls"
    done: bool = False
    """Whether its streams end with `[DONE]`."""

    def ends(self, words=None, arguments=None, word=None) -> Answer:
        if self.parts is None:
            return self.whole(words, arguments, word)
        return events(*self.parts(words, arguments, word), done=self.done)


def shown(made):
    return lambda *given: answer(made(*given))


CHAT, LITE = "openai/m,base_url={}/v1", "litellm/openai/m,base_url={}/v1"
RESPONSES, CLAUDE = f"{CHAT},api=responses", "anthropic/m,base_url={}"
GEMINI = "gemini/gemini-2.5-flash,base_url={}"
WIRES = {
    "chat": Wire(f"{CHAT},stream=false", chat),
    "chat, streamed": Wire(CHAT, chat, chat_parts, done=True),
    "responses": Wire(f"{RESPONSES},stream=false", shown(response)),
    "responses, streamed": Wire(RESPONSES, shown(response), response_parts),
}
if installed("google.genai"):
    WIRES["gemini"] = Wire(f"{GEMINI},stream=false", shown(google))
    WIRES["gemini, streamed"] = Wire(GEMINI, shown(google), lambda *given: [google(*given)])
if installed("anthropic"):
    WIRES["anthropic"] = Wire(f"{CLAUDE},stream=false", shown(message), calls="tool_use")
    WIRES["anthropic, streamed"] = Wire(CLAUDE, shown(message), message_parts, calls="tool_use")
QUICK = f",first_wait_s=0.0001,max_wait_s=0.001,max_tries={TRIES}"


class Served:
    """One server for all answers, and a model for each wire: starting takes longer than a test."""

    def __init__(self) -> None:
        self.given = answer({})
        self.server = ModelServer(lambda request: self.given)
        self.models: dict[str, Any] = {}

    def model(self, wire):
        if wire.model not in self.models:
            self.models[wire.model] = self._built(wire)
        found = self.models[wire.model]
        found.share(lambda known: Standing())  # no fault before says that the server is down
        return found

    @contextmanager
    def fresh(self, wire):
        """Give a model that has learnt nothing of its server yet."""
        model = self._built(wire)
        yield model
        getattr(model._server._connection(), "close", int)()

    def _built(self, wire):
        return build_model(wire.model.format(self.server.root) + QUICK)


@pytest.fixture(scope="module", autouse=True)
def served():
    with pytest.MonkeyPatch.context() as patch:
        for name in ("OPENAI", "ANTHROPIC", "GOOGLE"):
            patch.setenv(f"{name}_API_KEY", "key-of-tests")
        SERVED.append(Served())
        with SERVED[0].server:
            yield
            for model in SERVED[0].models.values():
                getattr(model._server._connection(), "close", int)()
        SERVED.clear()


SERVED: list[Served] = []


def asked(wire, given):
    """Return what a model of a wire makes of an answer, and how often its server was asked."""
    (served,) = SERVED
    served.given, before = given, len(served.server.received)
    try:
        found = served.model(wire).complete(ASK)
    except ModelError as error:
        found = error
    return found, len(served.server.received) - before


def is_fault(outcome):
    found, count = outcome
    passing = isinstance(found, ModelError) and not isinstance(found, RequestError)
    return passing and count == TRIES


BROKEN = "error server_error error_finish cancelled aborted abort timeout failed overloaded"
ODD = (
    "load unload other unknown pause_turn OTHER LANGUAGE MISSING_THOUGHT_SIGNATURE"
    " MALFORMED_RESPONSE UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS FINISH_REASON_UNSPECIFIED"
    " function_call_filter:UNEXPECTED_TOOL_CALL"
)
every_wire = pytest.mark.parametrize("wire", WIRES.values(), ids=WIRES)


@every_wire
def test_no_word_for_a_fault_with_nothing_said_is_an_answer(wire):
    for word in f"{BROKEN} {ODD}".split():
        assert is_fault(asked(wire, wire.ends(None, None, word))), word


@every_wire
def test_a_word_that_names_a_fault_is_one_whatever_was_said(wire):
    for word in f"{BROKEN} network_error insufficient_system_resource".split():
        assert is_fault(asked(wire, wire.ends("The weath", None, word))), word


words = st.text("abcdefghijklmnopqrstuvwxyz_:", min_size=1, max_size=20)


@every_wire
@given(word=words)
def test_a_word_that_nobody_knows_is_a_fault_where_nothing_is_said(wire, word):
    if not is_known(finish_of(word)) and finish_of(word):
        assert is_fault(asked(wire, wire.ends(None, None, word)))


@every_wire
def test_a_word_that_nobody_knows_amid_a_call_is_a_fault(wire):
    if "gemini" in wire.model or (wire.parts is None and "anthropic" in wire.model):
        return  # arguments are objects there
    for word in ("weekend", "max_time"):
        assert is_fault(asked(wire, wire.ends("I look.", '{"ci', word))), word


@every_wire
def test_an_unknown_word_after_an_answer_stands_in_the_record(wire):
    found, _ = asked(wire, wire.ends("Sunny.", None, "WEEKEND"))
    assert (found.content, found.finish_reason) == ("Sunny.", "weekend")


@every_wire
def test_an_answer_that_says_that_it_calls_and_has_no_call_is_the_servers(wire):
    if wire.model.startswith(RESPONSES) or wire.model.startswith(GEMINI):
        return  # they have no word for calls
    for said in (None, "", "Let me see."):
        assert is_fault(asked(wire, wire.ends(said, None, wire.calls)))


@every_wire
def test_numbers_that_are_none_are_no_words_of_a_model(wire):
    word = "end_turn" if wire.calls == "tool_use" else "stop"
    for noise in ("!" * 300, "G" * 32, "?" * 99, "<think>" + "@" * 300, f"<think>\n{'#' * 64}\n"):
        found, count = asked(wire, wire.ends(noise, None, word))
        assert is_fault((found, count)) and "its numbers are NaN" in str(found)
    for said in ("Sunny" + "!" * 300, "!" * 9, "G#" * 99, "0" * 99):
        assert asked(wire, wire.ends(said, None, word))[0].content == said


@every_wire
def test_a_notice_of_a_gateway_is_no_answer(wire):
    word = "end_turn" if wire.calls == "tool_use" else "stop"
    begun = "The account behind this API key doesn't have enough credits."
    for notice in (f"{begun} Please top up.", "API call failed after 3 retries: HTTP 429"):
        found, count = asked(wire, wire.ends(notice, None, word))
        assert is_fault((found, count)) and notice in str(found)
    for said in (f"He wrote: {begun}", "The account behind this order is closed."):
        assert asked(wire, wire.ends(said, None, word))[0].content == said


@every_wire
def test_a_prompt_that_a_server_cuts_is_told_once(wire, caplog):
    word = "end_turn" if wire.calls == "tool_use" else "stop"
    SERVED[0].given = counted(wire.ends("Hm?", None, word), 5)
    told = (("Weather? " * 800, 0), ("Weather? " * 1000, 1), ("Weather? " * 2000, 1))
    with SERVED[0].fresh(wire) as model:
        for words, count in told:
            assert model.complete(Request((Message("user", words),))).content == "Hm?"
            assert len(caplog.messages) == count
    assert "counts 3 tokens in a prompt of 9000 characters: does it cut" in caplog.text


LOOKED = (
    *ASK.messages,
    Message("assistant", "", calls=(ToolCall("a", "weather", {"city": "Bern"}),)),
    Message("tool", '{"sky": "clear"}', call_id="a"),
)


@every_wire
@pytest.mark.parametrize(
    ("messages", "first", "second", "told"),
    [
        (LOOKED, 3974, 2051, 1),
        (LOOKED, 3974, 3900, 0),
        (LOOKED[:2], 3974, 2051, 0),
        ((*LOOKED, Message("user", "And in Oslo?")), 3974, 2051, 0),  # thinking may be left out
        ((Message("user", "Weather in Rome?"), *LOOKED[1:]), 3974, 2051, 0),
    ],
)
def test_fewer_tokens_of_a_prompt_that_goes_on_are_told(
    wire, messages, first, second, told, caplog
):
    given = counted(wire.ends("Hm?", None, "end_turn" if wire.calls == "tool_use" else "stop"), 5)
    with SERVED[0].fresh(wire) as model:
        for request, tokens in ((ASK, first), (replace(ASK, messages=messages), second)):
            SERVED[0].given = with_prompt(given, tokens)
            assert model.complete(request).content == "Hm?"
    assert len(caplog.messages) == told
    assert told == caplog.text.count("counts 2051 tokens in a prompt that goes on with one of 3974")


def with_prompt(given, tokens):
    """Return an answer with the tokens that its server counts in the prompt."""
    body = given.body.decode()
    for name in ("prompt_tokens", "input_tokens", "promptTokenCount"):
        body = re.sub(rf'"{name}": \d+', f'"{name}": {tokens}', body)
    return Answer(body.encode(), headers=given.headers)


KEPT = {
    "cf-aig-cache-status": ("MISS", "HIT"),
    "x-portkey-cache-status": ("SEMANTIC MISS", "SEMANTIC HIT"),
    "X-Cache-Status": ("Bypass", "Hit"),
    "x-litellm-cache-key": ("", "9f"),
}


@every_wire
@pytest.mark.parametrize("name", KEPT)
def test_an_answer_of_a_gateways_cache_is_told_once(wire, name, caplog):
    given = wire.ends("Sunny.", None, "end_turn" if wire.calls == "tool_use" else "stop")
    with SERVED[0].fresh(wire) as model:
        for value, count in zip((*KEPT[name], KEPT[name][1]), (0, 1, 1), strict=True):
            SERVED[0].given = replace(
                given, headers=given.headers | ({name: value} if value else {})
            )
            assert model.complete(ASK).content == "Sunny."
            assert len(caplog.messages) == count
    told = f"gives answers of a cache ({name.lower()}: {KEPT[name][1]})"
    assert told in caplog.text and "another --cache-dir" in caplog.text


def changed(given, old, new):
    """Return an answer with other words in its body."""
    body = given.body.replace(old.encode(), new.encode())
    assert body != given.body
    return Answer(body, headers=given.headers)


@every_wire
def test_a_call_without_a_name_is_the_servers(wire):
    whole = wire.ends(None, ARGUMENTS, wire.calls)
    left = '"name": "weather\\" />\\n<parameter name=\\"city\\">Bern"'
    for nameless in ('"name": ""', '"name": null', '"nothing": 1', left):
        assert is_fault(asked(wire, changed(whole, '"name": "weather"', nameless))), nameless


TOKENS = {"prompt_tokens": 3, "input_tokens": 3, "promptTokenCount": 3}


def counted(given, count):
    """Return an answer with the tokens that its server counts, in the words of every wire."""
    told = {"completion_tokens": count, "output_tokens": count, "candidatesTokenCount": count}
    usage = json.dumps(TOKENS | told)
    body = given.body.decode().replace('"usage": null', f'"usage": {usage}')
    for first in ('"choices":', '"candidates":', '"id": "r",'):
        body = body.replace(first, f'"usage": {usage}, "usageMetadata": {usage}, {first}')
    return Answer(body.encode(), headers=given.headers)


@every_wire
def test_nothing_said_is_the_models_where_tokens_are_counted_and_the_servers_where_none(wire):
    word = "end_turn" if wire.calls == "tool_use" else "stop"
    for said in ("", None):
        nothing = wire.ends(said, None, word)
        assert is_fault(asked(wire, counted(nothing, 0)))
        assert is_fault(asked(wire, nothing))  # as a server that counts nothing at all
        found, _ = asked(wire, counted(nothing, 5))
        assert (found.content, found.usage.tokens_out) == ("", 5)
    found, _ = asked(wire, counted(wire.ends("Sunny.", None, word), 0))
    assert found.content == "Sunny."


@every_wire
def test_words_of_no_token_are_the_servers_where_it_counts_those_of_others(wire):
    word = "end_turn" if wire.calls == "tool_use" else "stop"
    said = wire.ends("HTTP 429: try again later", None, word)
    with SERVED[0].fresh(wire) as model:
        for count in (0, 9):
            SERVED[0].given = counted(said, count)
            assert model.complete(ASK).content.startswith("HTTP 429")
        SERVED[0].given = counted(said, 0)
        with pytest.raises(ModelError, match="counts no token of them"):
            model.complete(ASK)


@every_wire
def test_arguments_of_two_calls_in_one_text_are_two_calls_or_the_servers_fault(wire):
    if "gemini" in wire.model or (wire.parts is None and "anthropic" in wire.model):
        return  # arguments are objects there
    glued = wire.ends(None, ARGUMENTS + '{"city": "Oslo"}', wire.calls)
    found, _ = asked(wire, glued)
    assert [call.arguments for call in found.calls] == [{"city": "Bern"}, {"city": "Oslo"}]
    assert is_fault(asked(wire, wire.ends(None, ARGUMENTS + '{"pings": 2}', wire.calls)))
    again, _ = asked(wire, wire.ends(None, ARGUMENTS * 2, wire.calls))
    assert [call.arguments for call in again.calls] == [{"city": "Bern"}]
    cut, _ = asked(wire, wire.ends(None, ARGUMENTS + '{"ci', wire.calls))
    assert [call.arguments for call in cut.calls] == [None]


TOLD = {
    "closed": '{"city": "Bern"',
    "trailing_text": '{"city": "Bern"}<|im_end|>',
    "arguments_as_text": json.dumps(ARGUMENTS),
    "code_fence": f"```json\n{ARGUMENTS}\n```",
    "python_literal": "{'city': 'Bern'}",
    "said_again": ARGUMENTS * 2,
    "entities": ARGUMENTS.replace('"', "&quot;"),
}


@every_wire
def test_arguments_are_read_as_those_of_a_text_are_and_the_repair_is_told(wire):
    if "gemini" in wire.model or (wire.parts is None and "anthropic" in wire.model):
        return  # arguments are objects there
    for repair, written in TOLD.items():
        (call,) = asked(wire, wire.ends(None, written, wire.calls))[0].calls
        assert (call.arguments, call.raw) == ({"city": "Bern"}, written)
        assert repairs_of(call) == (repair,)
    for after in ("<|eot_id|>", "}", "\n</tool_call>", "\nOK, done."):
        (call,) = asked(wire, wire.ends(None, ARGUMENTS + after, wire.calls))[0].calls
        assert repairs_of(call) == ("trailing_text",)
    (call,) = asked(wire, wire.ends(None, f"\ufeff{ARGUMENTS}", wire.calls))[0].calls
    assert call.arguments == {"city": "Bern"}


@every_wire
def test_arguments_that_no_parser_took_apart_are_the_servers(wire):
    if "gemini" in wire.model or (wire.parts is None and "anthropic" in wire.model):
        return  # arguments are objects there
    for written in (
        '{"city": "Be\nI answer now.</think>\nrn"}',
        "<parameter=city>\nBern\n</parameter>",
        "<arg_key>city</arg_key><arg_value>Bern</arg_value>",
        '{city: <|"|>Bern<|"|>}',
        ARGUMENTS[1:],
        ARGUMENTS[2:],
    ):
        found, count = asked(wire, wire.ends(None, written, wire.calls))
        assert is_fault((found, count)) and "or take --format json" in str(found)
    for written in ('{"city": "a <b>', '{"city" = <think about it>}', "city: Bern", "Bern}"):
        (call,) = asked(wire, wire.ends(None, written, wire.calls))[0].calls
        assert call.arguments is None or call.raw == written
    word = "max_output_tokens" if "responses" in wire.model else "length"
    (call,) = asked(wire, wire.ends(None, '{"city": "Be</think>', word))[0].calls
    assert call.arguments is None


@every_wire
def test_letters_that_a_gateway_broke_in_arguments_are_its_fault(wire):
    (served,) = SERVED
    written = '{"city": "Z\ufffd\ufffdrich"}'
    found = asked(wire, wire.ends(None, written, wire.calls))
    assert is_fault(found) and "'weather' (U+FFFD); take -M stream=false" in str(found[0])
    assert asked(wire, wire.ends("Z\ufffdrich", None, "stop"))[1] == 1
    told = replace(ASK, messages=(Message("user", "Weather in Z\ufffdrich?"),))
    served.given = wire.ends(None, written, wire.calls)
    (call,) = served.model(wire).complete(told).calls
    assert call.arguments == {"city": "Z\ufffd\ufffdrich"}


@every_wire
def test_a_call_that_the_limit_cut_is_not_closed(wire):
    if "gemini" in wire.model or (wire.parts is None and "anthropic" in wire.model):
        return  # arguments are objects there
    word = "max_output_tokens" if "responses" in wire.model else "length"
    cut = [wire.ends(None, ARGUMENTS[:-1], word)]
    # vLLM says `tool_calls` of what its limit cut
    cut.append(counted(wire.ends(None, ARGUMENTS[:-1], wire.calls), 8192))
    for one in cut:
        (call,) = asked(wire, one)[0].calls
        assert (call.arguments, call.raw) == (None, ARGUMENTS[:-1])
    (call,) = asked(wire, counted(wire.ends(None, ARGUMENTS[:-1], wire.calls), 9))[0].calls
    assert call.arguments == {"city": "Bern"}


@every_wire
def test_an_answer_of_as_many_tokens_as_it_may_have_was_cut_whatever_its_server_says(wire):
    if "gemini" in wire.model:
        wire = replace(wire, model=f"{wire.model},max_output_tokens=4096")  # else it has none
    word = "end_turn" if wire.calls == "tool_use" else "stop"
    for said in ("The weather is very", ""):
        found, count = asked(wire, counted(wire.ends(said, None, word), 8192))
        assert (found.content, found.finish_reason, count) == (said, "length", 1)
        assert found.truncated
        assert asked(wire, counted(wire.ends(said, None, word), 4000))[0].finish_reason == "stop"
    found, _ = asked(wire, counted(wire.ends(None, ARGUMENTS, wire.calls), 8192))
    assert (len(found.calls), found.finish_reason) == (1, "tool_calls")  # it is whole
    said = "gpt-x unable to complete request: max_output_tokens"
    assert asked(wire, failure(500, said))[0].finish_reason == "length"


_DIED = '"error": {"code": 502, "message": "Upstream died"}'
BESIDE = (
    ('"finish_reason": "WORD"', f'"finish_reason": "WORD", {_DIED}'),
    ('"content": "The weath"', f'"content": "The weath", {_DIED}'),
    ('"tool_calls": [', f'{_DIED}, "tool_calls": ['),
    ('"error": null', _DIED),
    ('"candidates":', f'{_DIED}, "candidates":'),
    ('"type": "message", "role"', f'{_DIED}, "type": "message", "role"'),
    ('"delta": {"stop_reason"', f'"delta": {{{_DIED}, "stop_reason"'),
)
"""What a body holds, and the same with an error beside the answer."""


@every_wire
def test_an_error_beside_an_answer_is_the_servers_fault(wire):
    word = {"tool_use": "end_turn"}.get(wire.calls, "stop")
    tried = 0
    for words, arguments, ended in (("The weath", None, word), (None, ARGUMENTS, wire.calls)):
        whole = wire.ends(words, arguments, ended)
        for old, new in BESIDE:
            old, new = (text.replace("WORD", ended) for text in (old, new))
            if old in whole.body.decode():
                assert is_fault(asked(wire, changed(whole, old, new))), new
                tried += 1
    assert tried > 1
    found, _ = asked(wire, wire.ends("The weath", None, word))
    assert found.content == "The weath"


@every_wire
def test_a_call_that_comes_again_under_its_id_is_one_and_the_record_tells_it(wire):
    def twice(given, begun=False):
        lines = given.body.decode()
        found = re.search(r'\{"(?:type|id|functionCall)"[^[]*?weather.*?\}{1,3}(?=\])', lines)
        call = found[0].replace('"name": "weather"', '"name": "weather", "id": "a"')
        if "responses" in wire.model:
            call = call.replace('"id": "a"', '"id": "a", "call_id": "a"')
        first = call.replace(json.dumps(ARGUMENTS), '""') if begun else call
        return Answer(lines.replace(found[0], f"{first}, {call}").encode(), headers=given.headers)

    if wire.parts is not None:
        return  # other shapes, in the tests of streams
    for begun in (False, True):  # LocalAI begins it at one index, and tells it at the next
        (call,) = asked(wire, twice(wire.ends(None, ARGUMENTS, wire.calls), begun))[0].calls
        assert call.arguments == {"city": "Bern"} and repairs_of(call) == ("said_again",)


@pytest.mark.skipif("anthropic, streamed" not in WIRES, reason="no extra anthropic")
def test_blocks_of_one_index_are_blocks_of_their_own():
    wire = WIRES["anthropic, streamed"]
    started, *first = wire.parts(None, ARGUMENTS, None)[:-1]
    second = [*map(tuple, json.loads(json.dumps(first).replace("Bern", "Oslo")))]
    second[0][1]["content_block"]["id"] = "b"
    stop = ("content_block_stop", {"type": "content_block_stop", "index": 0})
    for between in ([], [stop], [stop, stop]):
        blocks = [started, *first, *between, *second, *wire.parts(None, None, "tool_use")[1:]]
        found, _ = asked(wire, events(*blocks, done=False))
        assert [call.arguments for call in found.calls] == [{"city": "Bern"}, {"city": "Oslo"}]


@pytest.mark.skipif("anthropic, streamed" not in WIRES, reason="no extra anthropic")
def test_pieces_of_a_block_that_no_event_began_count():
    wire = WIRES["anthropic, streamed"]
    said = [one for one in wire.parts("Sunny.", None, "end_turn") if "start" not in one[0][8:]]
    assert asked(wire, events(*said, done=False))[0].content == "Sunny."


@pytest.mark.skipif("gemini" not in WIRES, reason="no extra gemini")
def test_arguments_after_a_name_without_any_are_its_own():
    def content(*calls, word="STOP"):
        parts = [{"functionCall": call} for call in calls]
        return {"candidates": [{"content": {"parts": parts}, "finishReason": word}]}

    late = [{"name": "weather", "args": {}}, {"args": {"city": "Bern"}}]
    late += [{"name": "weather"}, {"args": {}}]
    found, _ = asked(WIRES["gemini"], answer(content(*late)))
    assert [call.arguments for call in found.calls] == [{"city": "Bern"}, {}]
    streamed = events(*(content(one, word=None) for one in late), content(), done=False)
    found, _ = asked(WIRES["gemini, streamed"], streamed)
    assert [call.arguments for call in found.calls] == [{"city": "Bern"}, {}]
    for call in found.calls:
        assert repairs_of(call) == ()  # the tool wants none
    partial = {"partialArgs": [{"jsonPath": "$.city", "stringValue": "Bern"}]}
    told = content({"name": "weather", "willContinue": True}, partial, {})
    assert is_fault(asked(WIRES["gemini"], answer(told)))


@every_wire
def test_an_answer_without_an_end_is_the_servers(wire):
    for said in (None, "") if wire.parts is None else (None, "", "The weath"):
        assert is_fault(asked(wire, wire.ends(said, None, None))), said


@every_wire
def test_answers_stay_the_models(wire):
    for said, arguments, word in (
        ("Sunny.", None, "stop"),
        (None, ARGUMENTS, wire.calls),
        ("I look.", ARGUMENTS, "stop"),
    ):
        if word == "stop" and wire.calls == "tool_use":
            word = "end_turn"
        found, count = asked(wire, wire.ends(said, arguments, word))
        assert (found.content, count) == (said or "", 1)
        assert [call.arguments for call in found.calls] == [{"city": "Bern"}] * bool(arguments)


@every_wire
def test_filters_and_limits_count_beside_the_score(wire):
    for word, finish in (
        ("content_filter", "content_filter"),
        ("content_filter: PROHIBITED_CONTENT", "content_filter"),
        ("MODEL_ARMOR", "content_filter"),
        ("MAX_TOKENS", "length"),
        ("MALFORMED_FUNCTION_CALL", "unreadable"),
    ):
        assert asked(wire, wire.ends(None, None, word))[0].finish_reason == finish


ERRORS = {
    "error": {"error": {"message": "out of memory", "code": 500}},
    "a text": {"error": "worker crashed"},
    "in a list": [{"error": {"message": "internal", "status": "INTERNAL"}}],
    "object": {"object": "error", "message": "out of memory"},
    "type": {"type": "error", "message": "out of memory"},
    "a code": {"error_code": 50001, "text": "high traffic"},
    "MiniMax's": {"base_resp": {"status_code": 1013, "status_msg": "internal error"}},
    "words alone": {"code": 503, "message": "upstream is gone"},
    "FastAPI's": {"detail": "worker died"},
    "an event": ("error", {"message": "upstream timed out"}),
}


@every_wire
def test_an_error_amid_an_answer_is_one_in_whatever_form(wire):
    for form, error in ERRORS.items():
        if wire.parts is None:
            error = error[1] if isinstance(error, tuple) else error
            assert is_fault(asked(wire, answer(error))), form
            continue
        before = wire.parts("The weath", None, None)
        for after in ([], wire.parts("er", None, "stop")[-1:]):
            given = events(*before, error, *after, done=wire.done)
            assert is_fault(asked(wire, given)), form


@every_wire
def test_the_words_of_the_provider_behind_a_gateway_are_told(wire):
    inner = {"error": {"message": "out of memory"}}
    for raw, told in (("upstream died", "upstream died"), (inner, "out of memory"), (3, "")):
        error = {"message": "Provider returned error", "code": 502, "metadata": {"raw": raw}}
        given = [answer({"error": error}), Answer(answer({"error": error}).body, 502)]
        if wire.parts is not None:
            given.append(events(*wire.parts("The weath", None, None), {"error": error}))
        for one in given:
            outcome = asked(wire, one)
            assert is_fault(outcome) and told in str(outcome[0]), one

    window = json.dumps({"error": {"message": "This model's maximum context length is 9 tokens."}})
    error = {
        "message": "Stream error occurred",
        "code": "error",
        "value": {"error_message": window},
    }
    begun = [] if wire.parts is None else wire.parts("The weath", None, None)
    one = events(*begun, {"error": error}) if begun else answer({"error": error})
    found, count = asked(wire, one)
    assert (getattr(found, "refusal", found), count) == ("context_overflow", 1)


def test_an_event_named_error_may_hold_no_json():
    wire = WIRES["chat, streamed"]
    said = events(*wire.parts("The weath", None, None)).body + b"event: error\ndata: oh no\n\n"
    given = Answer(said + b"data: [DONE]\n\n", headers={"Content-Type": "text/event-stream"})
    assert is_fault(asked(wire, given))


statuses = st.integers(400, 599)
said = st.sampled_from(
    [
        "Too many tokens, please wait before trying again.",
        "Tool inputs must be JSON objects.",
        "This model's maximum context length is 10 tokens.",
        "prompt is too long: 20 tokens > 10 maximum",
        "Unknown parameter: 'content_filter'",
        "Output blocked by content filtering policy",
        "no",
    ]
)
codes = st.sampled_from(["", "context_length_exceeded", "content_filter", "server_error", "x"])


@every_wire
@given(status=statuses, words=said, code=codes)
def test_no_status_is_an_answer_and_few_are_the_models_own(wire, status, words, code):
    found, count = asked(wire, failure(status, words, type=code))
    assert isinstance(found, ModelError)
    refusal = refusal_of(status, words, code)
    assert getattr(found, "refusal", None) == refusal
    assert refusal is None or status in (400, 403, 413, 422, 451, 500)
    assert count == (TRIES if may_pass(status) and refusal is None else 1)


@every_wire
def test_no_fault_is_kept(wire, tmp_path):
    (served,) = SERVED
    model = served.model(wire)
    with Store(tmp_path / "answers.sqlite") as store:
        served.given = wire.ends(None, None, "load")
        with pytest.raises(ModelError):
            CachedModel(model, store, model.identity).complete(ASK)
        served.given = wire.ends("Sunny.", None, "STOP")
        assert CachedModel(model, store, model.identity).complete(ASK).content == "Sunny."


def test_the_table_of_ends():
    assert fault_in("stop", False, 0) and not fault_in("length", False, 0)
    assert not fault_in("stop", False, 0, tokens=0, thought=True)
    assert not fault_in("", True, 0) and not fault_in("weekend", True, 0)
    assert fault_in("tool_calls", True, 0) and not fault_in("tool_calls", False, 1)
    assert fault_in("", False, 0) and fault_in("", False, 1, readable=False)
    assert fault_in("weekend", True, 1, readable=False) and not fault_in("weekend", True, 1)
    assert fault_in("error_finish", True, 1)
    assert fault_in("stop", True, 1, named=False)
    assert not fault_in("length", False, 1, named=False)  # the limit cut it
    assert fault_in("stop", False, 0, tokens=0) and not fault_in("stop", False, 0, tokens=2)
    assert not fault_in("content_filter", False, 0, tokens=0)
    assert fault_in("stop", True, 0, tokens=0, counts=True)
    assert not fault_in("stop", True, 1, tokens=0, counts=True)
    assert not fault_in("stop", True, 0, tokens=0)
