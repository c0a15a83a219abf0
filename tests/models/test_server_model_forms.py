"""Answers whose parts have another form than their interface gives them: read, or the server's."""

import gzip
import json
import threading
from dataclasses import replace

import pytest
from servers import Answer, answer, failure, installed, text
from wire_answers import events

from seal.core import Message, ModelError, Request, RequestError, Tool
from seal.core.call_formats import repairs_of
from seal.models.spec import build_model

TOOL = Tool("t", "weather", "Weather", {"type": "object", "properties": {"city": {}}})
ASK = Request((Message("user", "Weather in Bern?"),), (TOOL,))
OVER = "Request too large for model `m` on tokens per minute (TPM)"
FUNCTION = {"name": "weather", "arguments": '{"city": "Bern"}'}
CALL = {"id": "a", "type": "function", "index": 0, "function": FUNCTION}
CHAT, RESPONSES = "openai/m,base_url={url}", "openai/m,base_url={url},api=responses"
CLAUDE, GEMINI = "anthropic/m,base_url={root}", "gemini/gemini-2.5-flash,base_url={root}"
NEEDS_CLAUDE = pytest.mark.skipif(not installed("anthropic"), reason="the extra anthropic")
NEEDS_GEMINI = pytest.mark.skipif(not installed("google.genai"), reason="the extra gemini")


@pytest.fixture
def asked(model_server, monkeypatch):
    """Return what a model makes of an answer, and how often its server was asked for it."""
    for name in ("OPENAI", "ANTHROPIC", "GOOGLE"):
        monkeypatch.setenv(f"{name}_API_KEY", "key-of-tests")

    def ask(model, given, is_stream=True):
        server = model_server(lambda request: given)
        quick = f",first_wait_s=0.0001,max_wait_s=0.001,max_tries=2,stream={json.dumps(is_stream)}"
        spec = model.format(url=server.url, root=server.root) + quick
        built = build_model(spec)
        try:
            found = built.complete(ASK)
        except ModelError as error:
            found = error
        getattr(built._server._connection(), "close", int)()
        return found, len(server.received)

    return ask


def is_fault(outcome, says=""):
    found, count = outcome
    passes = isinstance(found, ModelError) and not isinstance(found, RequestError)
    return passes and count == 2 and says in str(found)


def choice(finish="stop", **message):
    return {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}


def chat(*choices):
    return {"choices": list(choices), "usage": {"prompt_tokens": 9, "completion_tokens": 3}}


def chunk(finish=None, **delta):
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


@pytest.mark.parametrize("is_stream", [True, False])
def test_an_end_that_is_an_object_is_read_by_its_type(asked, is_stream):
    def ended(**finish):
        parts = events(chunk(content="The weath"), chunk(finish))
        return parts if is_stream else answer(chat(choice(finish, content="The weath")))

    outcome = asked(CHAT, ended(type="abort", message="Abort before prefill"), is_stream)
    assert is_fault(outcome, "broke off: abort: Abort before prefill")
    found, _ = asked(CHAT, ended(type="length", length=512), is_stream)
    assert found.finish_reason == "length" and found.content == "The weath"


@pytest.mark.parametrize("is_stream", [True, False])
def test_a_fault_that_the_provider_behind_a_gateway_names_is_one(asked, is_stream):
    """OpenRouter says `stop` of it."""

    def ended(native, finish="stop", **said):
        last = chunk(finish)
        last["choices"][0]["native_finish_reason"] = native
        whole = choice(finish, **said) | {"native_finish_reason": native}
        return events(chunk(**said), last) if is_stream else answer(chat(whole))

    cut = {**CALL, "function": FUNCTION | {"arguments": '{"city": "Be'}}
    for native in ("network_error", "error", "ERROR"):
        for said in ({"content": "The weath"}, {"content": ""}, {"tool_calls": [cut]}):
            finish = "tool_calls" if "tool_calls" in said else "stop"
            outcome = asked(CHAT, ended(native, finish, **said), is_stream)
            assert is_fault(outcome, f"broke off: {native.lower()}")
    for native in ("completed", "STOP", "end_turn", "of_tomorrow", None, 3):
        found, _ = asked(CHAT, ended(native, content="Sunny."), is_stream)
        assert (found.content, found.finish_reason) == ("Sunny.", "stop")
    found, _ = asked(CHAT, ended("incomplete", "length", content="The weath"), is_stream)
    assert found.finish_reason == "length"


@pytest.mark.parametrize(
    "content", [5, {"text": "Sunny."}, [{"type": "image_url", "image_url": {}}], [7]]
)
def test_a_content_that_nobody_can_read_is_the_servers_fault(asked, content):
    says = "its content has no part that can be read"
    assert is_fault(asked(CHAT, answer(chat(choice(content=content))), False), says)
    streamed = events(chunk(role="assistant"), chunk(content=content), chunk("stop"))
    assert is_fault(asked(CHAT, streamed), says)


@pytest.mark.parametrize("is_stream", [True, False])
@pytest.mark.parametrize(
    ("said", "repair"),
    [
        ({"content": "Done.", "tool_calls": [{"id": "", "type": "function"}]}, "--format json"),
        ({"tool_calls": [{"id": "a", "function": None}]}, "--format json"),
        ({"content": [{"type": "reference", "reference_ids": [0]}]}, "--resume"),
    ],
)
def test_what_helps_against_a_part_of_no_form_is_no_other_address(asked, said, repair, is_stream):
    parts = events(chunk(**said), chunk("stop"))
    outcome = asked(CHAT, parts if is_stream else answer(chat(choice(**said))), is_stream)
    assert is_fault(outcome, repair) and "base_url" not in str(outcome[0])


def test_a_content_of_texts_is_their_text(asked):
    found, _ = asked(CHAT, answer(chat(choice(content=["It is ", "sunny."]))), False)
    assert found.content == "It is sunny."


@pytest.mark.parametrize("is_stream", [True, False])
def test_one_call_that_stands_in_no_list_is_a_call(asked, is_stream):
    whole = answer(chat(choice("tool_calls", content=None, tool_calls=CALL)))
    pieces = [FUNCTION | {"arguments": part} for part in ('{"city": ', '"Bern"}')]
    parts = [chunk(tool_calls={**CALL, "function": one}) for one in pieces]
    found, _ = asked(CHAT, events(*parts, chunk("tool_calls")) if is_stream else whole, is_stream)
    assert [(one.name, one.arguments) for one in found.calls] == [("weather", {"city": "Bern"})]


def test_nothing_after_done_is_of_an_answer(asked):
    one, more = [chunk(content="Sunny."), chunk("stop")], [chunk(content=" More."), chunk("stop")]
    for first, second in ((events(*one), events(*more)), (events(*one), events("no chunk"))):
        body = first.body + second.body
        found, _ = asked(CHAT, Answer(body, headers=first.headers))
        assert found.content == "Sunny."


def test_of_several_answers_the_first_counts_and_it_is_told_once(asked, caplog):
    said = (choice(content="Sunny."), choice(content="Rain."))
    called = choice("tool_calls", tool_calls=[CALL])
    for given in (said, (called, choice(content="No.")), (called, called)):
        caplog.clear()
        found, _ = asked(CHAT, answer(chat(*given)), False)
        message = given[0]["message"]
        assert found.content == message.get("content", "")
        assert len(found.calls) == len(message.get("tool_calls", ()))
        assert [one for one in caplog.messages if "the first counts" in one]
    streamed = events(
        chunk(content="Sunny."),
        {"choices": [{"index": 1, "delta": {"content": "Rain."}, "finish_reason": None}]},
        chunk("stop"),
        {"choices": [{"index": 1, "delta": {}, "finish_reason": "stop"}]},
    )
    assert asked(CHAT, streamed)[0].content == "Sunny."


def test_parts_of_one_answer_in_several_choices_stay_one(asked, caplog):
    other = {**CALL, "id": "b", "function": FUNCTION | {"arguments": '{"city": "Oslo"}'}}
    parts = [choice(content="Let me look."), *(choice(tool_calls=[one]) for one in (CALL, other))]
    found, _ = asked(CHAT, answer(chat(*parts)), False)
    assert found.content == "Let me look." and len(found.calls) == 2
    assert not [one for one in caplog.messages if "the first counts" in one]


def test_odd_content_beside_calls_is_no_fault(asked):
    for content in ([{"type": "reasoning", "summary": [{"text": "Hm."}]}], [{"type": "text"}]):
        given = choice("tool_calls", content=content, tool_calls=[CALL])
        found, _ = asked(CHAT, answer(chat(given)), False)
        assert [one.name for one in found.calls] == ["weather"]


def test_blanks_in_another_choice_are_no_second_answer(asked, caplog):
    parts = [choice(content="I look."), choice("tool_calls", content="\n", tool_calls=[CALL])]
    found, _ = asked(CHAT, answer(chat(*parts)), False)
    assert len(found.calls) == 1 and found.finish_reason == "tool_calls"


def response(*output, **more):
    usage = {"input_tokens": 9, "output_tokens": 3}
    told = {"id": "r", "object": "response", "status": "completed", "usage": usage}
    return told | {"output": list(output)} | more


def test_a_message_of_a_response_may_be_a_text(asked):
    found, _ = asked(RESPONSES, answer(response({"type": "message", "content": "Sunny."})), False)
    assert found.content == "Sunny."


@pytest.mark.parametrize("kind", ["custom_tool_call", "mcp_call", "image_generation_call"])
def test_a_response_of_what_nobody_can_read_is_the_servers_fault(asked, kind):
    item = {"type": kind, "id": "i", "call_id": "c", "name": "weather", "input": "Bern"}
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]}
    for given in ([item], [thought, item]):
        assert is_fault(asked(RESPONSES, answer(response(*given)), False))
    said = {"type": "message", "content": [{"type": "output_text", "text": "Sunny."}]}
    found, _ = asked(RESPONSES, answer(response(item, said)), False)
    assert kind == "custom_tool_call" or found.content == "Sunny."


def test_a_response_may_end_by_done(asked):
    said = {"type": "message", "content": [{"type": "output_text", "text": "Sunny."}]}
    ended = {"type": "response.done", "response": response(said)}
    created = {"type": "response.created", "response": response(status="in_progress")}
    stream = events((created["type"], created), (ended["type"], ended), done=False)
    assert asked(RESPONSES, stream)[0].content == "Sunny."


@pytest.mark.parametrize("status", ["queued", "in_progress"])
def test_a_response_that_nobody_let_wait_is_the_servers_fault(asked, status):
    assert is_fault(asked(RESPONSES, answer(response(status=status)), False), f"only {status}")


def message(content, stop="end_turn"):
    usage = {"input_tokens": 9, "output_tokens": 3}
    made = {"id": "m", "type": "message", "role": "assistant", "usage": usage}
    return made | {"content": content, "stop_reason": stop}


@NEEDS_CLAUDE
def test_the_content_of_a_message_may_be_a_text(asked):
    assert asked(CLAUDE, answer(message("Sunny.")), False)[0].content == "Sunny."
    parts = [
        {"type": "message_start", "message": message("Sunny.", None)},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}},
        {"type": "message_stop"},
    ]
    stream = events(*((one["type"], one) for one in parts), done=False)
    assert asked(CLAUDE, stream)[0].content == "Sunny."


@NEEDS_CLAUDE
@pytest.mark.parametrize("content", [None, 5, [{"type": "server_tool_use", "name": "search"}]])
def test_a_message_of_what_nobody_can_read_is_the_servers_fault(asked, content):
    assert is_fault(asked(CLAUDE, answer(message(content)), False))


@NEEDS_GEMINI
@pytest.mark.parametrize(
    ("part", "says"),
    [
        ({"functionCall": {"name": "weather", "willContinue": True}}, "come in pieces"),
        ({"functionCall": {"name": "weather", "partialArgs": [{}]}}, "come in pieces"),
        ({"inlineData": {"mimeType": "image/png", "data": "AA=="}}, "no part that can be read"),
    ],
)
def test_parts_of_google_that_nobody_can_read_are_the_servers_fault(asked, part, says):
    usage = {"promptTokenCount": 9, "candidatesTokenCount": 3}
    given = {
        "candidates": [{"content": {"parts": [part]}, "finishReason": "STOP"}],
        "usageMetadata": usage,
    }
    for is_stream in (True, False):
        sent = events(given, done=False) if is_stream else answer(given)
        assert is_fault(asked(GEMINI, sent, is_stream), says)


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (424, "Request failed during generation"),
        (499, "client closed request"),
        (400, "An error occurred (ThrottlingException): Too many tokens, please wait"),
        (413, "Request too large on tokens per minute (TPM): Limit 6000, Requested 5013"),
        (400, "Internal Server Error"),
        (400, "The model has crashed without additional information. (Exit code: 1)"),
        (400, "Model unloaded."),
        (400, "Upstream service unavailable"),
        (400, 'Failed to load model "qwen/qwen3". Error: Operation canceled.'),
        (404, 'Failed to load model "qwen/qwen3". Error: Operation canceled.'),
    ],
)
def test_what_passes_is_tried_again_whatever_its_status(asked, status, said):
    code = "rate_limit_exceeded" if status == 413 else ""
    assert is_fault(asked(CHAT, failure(status, said, code=code)), said)


@pytest.mark.parametrize(
    ("status", "said", "repair"),
    [
        (403, "<html><h1>Sorry, you have been blocked</h1></html>", "from this machine"),
        (403, "Country, region, or territory not supported", "from this machine"),
        (403, "Your new team doesn't have any credits or licenses yet.", "no credit left"),
        (413, "<h1>413 Request Entity Too Large</h1>", "--top-k N"),
        (413, f"{OVER}: Limit 6000, Requested 9013", "-M max_tokens=N"),
        (429, f"{OVER}: Limit 6000, Requested 9013", "-M max_tokens=N"),
        (498, "blocked output: please adjust your prompt", "Ask who runs the server"),
        (308, "", "leads elsewhere. Is"),
        (400, "enable_thinking must be set to false for this call", "extra_body="),
        (400, "the input was truncated to 2048 tokens", "OLLAMA_CONTEXT_LENGTH"),
        (400, "Failed to initialize samplers: failed to parse grammar", "--format json"),
    ],
)
def test_a_refusal_names_a_repair_that_can_help(asked, status, said, repair):
    found, count = asked(CHAT, failure(status, said), False)
    assert repair in str(found) and count == 1
    assert "FIELD=null" not in str(found) and "to a key that" not in str(found)


@pytest.mark.parametrize(
    ("said", "repair"),
    [
        ("prompt is too long: 9000 tokens > 2048", "Give the server a larger window"),
        ("Unexpected empty grammar stack after accepting piece: =list (40972)", "--format json"),
        ("model requires more system memory (8.1 GiB) than is available", "Load the model at"),
        ('Failed to load model "qwen/qwen3". Error: Operation canceled.', "Load the model at"),
    ],
)
def test_a_fault_that_comes_again_names_its_repair(asked, said, repair):
    assert is_fault(asked(CHAT, failure(500, said)), repair)
    amid = events(chunk(content=""), {"error": {"message": said, "code": 503}})
    assert is_fault(asked(CHAT, amid), repair)


def test_a_gateway_without_a_provider_that_takes_tools_gets_them_as_text(model_server):
    def script(request):
        refused = failure(404, "No endpoints found that support tool use.")
        return refused if "tools" in request.body else text("Sunny.")

    model = build_model(f"openai/m,base_url={model_server(script).url}")
    assert model.complete(ASK).content == "Sunny."


def test_what_answers_call_a_model_is_known(model_server):
    made = text("Sunny.")
    other = Answer(made.body.replace(b"scripted", b"other"), headers=made.headers)
    model = build_model(f"openai/scripted,base_url={model_server([made, other]).url}")
    model.complete(ASK)
    assert model.named == ()
    model.complete(ASK)
    assert model.named == ("scripted", "other")


NEEDED = replace(TOOL, parameters={**TOOL.parameters, "required": ["city"]})
IN_PIECES = [
    (CHAT, ["{", '"city": ', 7, "}"], {"city": 7}),
    (CHAT, ["{", '"city": ', True, "}"], {"city": True}),
    (CHAT, ['{"city": ', ["a"], "}"], {"city": ["a"]}),
    (CHAT, ["{}", '{"city": "Bern"}'], {"city": "Bern"}),
    (CHAT, ["{}", '{"city": ', '"Bern"}'], {"city": "Bern"}),
    (RESPONSES, ["{", '"city": ', 7, "}"], {"city": 7}),
    (RESPONSES, ["{}", '{"city": ', '"Bern"}'], {"city": "Bern"}),
    (CLAUDE, ['{"city": ', 7, "}"], {"city": 7}),
    (CLAUDE, ["{}", '{"city": ', '"Bern"}'], {"city": "Bern"}),
]


def call_in(model, pieces):
    """Return the stream of an interface in which the arguments of a call come in pieces."""
    if model is CHAT:
        first, *rest = ({"index": 0, "function": {"arguments": piece}} for piece in pieces)
        named = {**CALL, "function": {"name": "weather", **first["function"]}}
        parts = [chunk(tool_calls=[one]) for one in (named, *rest)]
        return events(*parts, chunk("tool_calls"))
    if model is RESPONSES:
        begun = {"type": "function_call", "id": "f", "call_id": "c", "name": "weather"}
        started = {"type": "response.output_item.added", "output_index": 0, "item": begun}
        of = {"item_id": "f", "output_index": 0}
        named = "response.function_call_arguments"
        parts = [{"type": f"{named}.delta", **of, "delta": piece} for piece in pieces]
        ended = {"status": "completed", "output": [], "usage": {"output_tokens": 3}}
        return events(started, *parts, {"type": "response.completed", "response": ended})
    return claude({"type": "tool_use", "id": "a", "name": "weather", "input": {}}, *pieces)


def claude(block, *pieces, name="partial_json", kind="input_json_delta", stop="tool_use"):
    """Return a stream of Anthropic's with one block, whose pieces have a name and a kind."""
    deltas = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": kind, name: piece}}
        for piece in pieces
    ]
    told = {"stop_reason": stop, "stop_sequence": None}
    chunks = [
        {"type": "message_start", "message": {"role": "assistant", "content": [], "usage": {}}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        *deltas,
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": told, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    ]
    return events(*((one["type"], one) for one in chunks), done=False)


@pytest.mark.parametrize(
    ("model", "pieces", "arguments"),
    [pytest.param(*case, marks=[NEEDS_CLAUDE] * (case[0] is CLAUDE)) for case in IN_PIECES],
)
def test_pieces_of_arguments_that_are_json_and_a_placeholder_are_read(
    asked, model, pieces, arguments
):
    found, count = asked(model, call_in(model, pieces))
    assert [one.arguments for one in found.calls] == [arguments] and count == 1


def test_a_placeholder_before_whole_arguments_is_left_out(asked):
    given = {**FUNCTION, "arguments": '{}{"city": "Bern"}'}
    called = choice("tool_calls", tool_calls=[{**CALL, "function": given}])
    found, _ = asked(CHAT, answer(chat(called)), False)
    assert [one.arguments for one in found.calls] == [{"city": "Bern"}]


def test_a_number_amid_words_is_a_piece_of_them(asked):
    parts = [chunk(content=one) for one in (4, "2 is ", 42, ".")]
    assert asked(CHAT, events(*parts, chunk("stop")))[0].content == "42 is 42."
    ended = {"type": "response.completed", "response": {"status": "completed", "output": []}}
    said = [{"type": "response.output_text.delta", "delta": one} for one in (42, " it is")]
    assert asked(RESPONSES, events(*said, ended))[0].content == "42 it is"


DENIED = {"success": False, "data": {"code": "RateLimited", "details": "the day's limit"}}
WITHIN_STREAMS = [
    (CHAT, [chunk(content="Sun"), DENIED, chunk("stop")]),
    (
        RESPONSES,
        [
            {"type": "response.output_text.delta", "delta": "Sun"},
            DENIED,
            {"type": "response.completed", "response": {"status": "completed", "output": []}},
        ],
    ),
    pytest.param(
        GEMINI,
        [
            {"candidates": [{"content": {"parts": [{"text": "Sun"}]}}]},
            DENIED,
            {"candidates": [{"content": {"parts": [{"text": "."}]}, "finishReason": "STOP"}]},
        ],
        marks=NEEDS_GEMINI,
    ),
    pytest.param(
        CLAUDE,
        [
            {"type": "message_start", "message": {"content": []}},
            DENIED,
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
            {"type": "message_stop"},
        ],
        marks=NEEDS_CLAUDE,
    ),
]


@pytest.mark.parametrize(("model", "parts"), WITHIN_STREAMS)
def test_an_envelope_without_success_amid_a_stream_is_an_error(asked, model, parts):
    assert is_fault(asked(model, events(*parts)), "the day's limit (RateLimited)")


def test_more_that_is_told_of_an_error_is_no_answer(asked):
    told = {"code": 500, "message": "unsupported value: NaN", "data": {"answer": "ERROR"}}
    assert is_fault(asked(CHAT, events(told, {"code": 0, "data": True})), "unsupported value")


BY_OTHERS = pytest.param(CLAUDE, marks=NEEDS_CLAUDE), pytest.param(GEMINI, marks=NEEDS_GEMINI)


@pytest.mark.parametrize("model", [CHAT, RESPONSES, *BY_OTHERS])
def test_events_that_a_proxy_cut_or_joined_are_told_with_a_repair(asked, model):
    piece = json.dumps(chunk(content="Sunny."))
    for amid in (piece * 2, f"{piece}data: {piece}", f"{piece[:30]}\n\ndata: {piece[30:]}"):
        sent = f"data: {piece}\n\ndata: {amid}\n\n"
        told = Answer(sent.encode(), headers={"Content-Type": "text/event-stream"})
        assert is_fault(asked(model, told), "events of its stream? Take -M stream=false.")
        assert is_fault(asked(model, told, False), "Mend what stands before it.")


@pytest.mark.parametrize("model", [CHAT, *BY_OTHERS])
@pytest.mark.parametrize("status", [401, 500])
def test_what_a_gateway_packs_twice_is_read(asked, model, status):
    whole = json.dumps({"error": {"message": "the key has expired"}}).encode()
    twice = gzip.compress(gzip.compress(whole))
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    for sent, says in (
        (twice, "the key has expired"),
        (gzip.compress(b"\x1f\x8b\0oops"), "7 bytes that are no text"),
    ):
        assert says in str(asked(model, Answer(sent, status, headers))[0])
    if model is CHAT:
        plain = json.dumps(chat(choice(content="Sunny."))).encode()
        sent = Answer(gzip.compress(gzip.compress(plain)), 200, headers)
        assert asked(CHAT, sent, False)[0].content == "Sunny."


def test_the_words_of_a_stream_without_an_answer_are_told(asked):
    odd = {"error parsing tool call": "invalid character 'c'"}
    assert is_fault(asked(CHAT, events(chunk(content=""), odd)), "invalid character 'c'")


@NEEDS_CLAUDE
@pytest.mark.parametrize(
    "sent",
    [
        claude({"type": "text", "text": ""}, "", "", stop="end_turn"),
        claude({"type": "text", "text": ""}, "Sun", "ny.", stop="end_turn"),
        claude(
            {"type": "tool_use", "id": "a", "name": "weather", "input": {}},
            '{"city": "Bern"}',
            name="text",
            kind="text_delta",
        ),
    ],
)
def test_pieces_in_a_block_of_another_kind_are_the_servers_fault(asked, sent):
    assert is_fault(asked(CLAUDE, sent), "pieces of one kind came in a block of another")


@NEEDS_CLAUDE
def test_an_empty_piece_beside_words_is_no_fault(asked):
    block = {"type": "text", "text": "Sunny."}
    assert asked(CLAUDE, claude(block, "", stop="end_turn"))[0].content == "Sunny."


@NEEDS_GEMINI
@pytest.mark.parametrize("content", [{"parts": {"text": "Sunny."}}, {"parts": "Sunny."}, "Sunny."])
def test_parts_of_google_in_no_list_are_read(asked, content):
    given = {"candidates": [{"content": content, "finishReason": "STOP"}]}
    assert asked(GEMINI, events(given, done=False))[0].content == "Sunny."


@pytest.mark.parametrize("given", [None, ""])
def test_a_call_of_whose_arguments_nothing_came_is_counted_as_repaired(model_server, given):
    sent = {**CALL, "function": {**FUNCTION, "arguments": given}}
    called = answer(chat(choice("tool_calls", tool_calls=[sent])))
    model = build_model(f"openai/m,base_url={model_server([called] * 2).url},stream=false")
    for tool, repairs in ((NEEDED, ("no_input",)), (TOOL, ())):
        (call,) = model.complete(replace(ASK, tools=(tool,))).calls
        assert call.arguments == {} and repairs_of(call) == repairs


@pytest.mark.parametrize(("name", "field"), [("no_tool", "content"), ("notify_error", "error")])
def test_a_call_by_which_tgi_says_that_nothing_is_called_is_no_call(asked, name, field):
    sent = {**CALL, "function": {"name": name, "arguments": {field: "No tool fits."}}}
    found, _ = asked(CHAT, answer(chat(choice("tool_calls", tool_calls=[sent]))), False)
    assert (found.content, found.calls, found.finish_reason) == ("No tool fits.", (), "stop")


def test_an_error_that_says_that_the_limit_cut_an_answer_is_a_cut_answer(asked):
    said = (
        "Could not finish the message because max_tokens or model output limit was reached. "
        "Please try again with higher max_tokens."
    )
    for model in (CHAT, RESPONSES):
        found, count = asked(model, failure(400, said))
        assert found.finish_reason == "length" and found.truncated and count == 1


def test_a_call_whose_arguments_are_done_is_whole_though_its_item_never_ends(asked):
    begun = {"type": "function_call", "id": "f", "name": "weather", "status": "in_progress"}
    started = {"type": "response.output_item.added", "output_index": 0, "item": begun}
    of = {"item_id": "f", "output_index": 0}
    named = "response.function_call_arguments"
    ended = {"type": "response.completed", "response": {"status": "completed", "output": []}}
    done = {"type": f"{named}.done", **of, "arguments": '{"city": "Bern"}'}
    found, _ = asked(RESPONSES, events(started, done, ended))
    assert [one.arguments for one in found.calls] == [{"city": "Bern"}]
    more = {"type": f"{named}.delta", **of, "delta": '{"city": "Be'}
    assert is_fault(asked(RESPONSES, events(started, more, ended)), "only in_progress")


REDIRECTED = [CHAT, pytest.param(CLAUDE, marks=NEEDS_CLAUDE)]
REDIRECTED += [pytest.param(GEMINI, marks=NEEDS_GEMINI)]


@pytest.mark.parametrize("model", REDIRECTED)
def test_where_a_redirect_leads_is_told_without_its_secrets(model, model_server, monkeypatch):
    for name in ("OPENAI", "ANTHROPIC", "GOOGLE"):
        monkeypatch.setenv(f"{name}_API_KEY", "key-of-tests")

    def script(request):
        if "login" in request.path:
            return failure(404, "no such page")
        return Answer(b"", 307, {"Location": "/login?token=secretword"})

    server = model_server(script)
    built = build_model(model.format(url=server.url, root=server.root) + ",max_tries=1")
    with pytest.raises(ModelError, match=r"led on to http://127\.0\.0\.1:\d+/login") as caught:
        built.complete(ASK)
    getattr(built._server._connection(), "close", int)()
    assert "secretword" not in str(caught.value)


def test_a_host_that_is_not_there_is_told_where_a_redirect_leads_to_it(model_server):
    away = Answer(b"", 307, {"Location": "http://127.0.0.1:9/chat"})
    built = build_model(f"openai/m,base_url={model_server([away]).url},max_tries=1")
    with pytest.raises(ModelError, match=r"led on to http://127\.0\.0\.1:9"):
        built.complete(ASK)


class Waits(threading.Event):
    """Notes how long is waited for it, and waits for nothing."""

    def __init__(self):
        super().__init__()
        self.seconds = []

    def wait(self, timeout=None):
        self.seconds.append(timeout)
        return False


def test_a_first_wait_of_nothing_does_not_hammer_a_server(model_server):
    server = model_server([failure(503)] * 5)
    model = build_model(f"openai/m,base_url={server.url},first_wait_s=0,max_tries=5,max_wait_s=9")
    noted = Waits()
    model.share(lambda known: replace(known, down=noted))
    with pytest.raises(ModelError, match="tried 5 times"):
        model.complete(ASK)
    first, *later = noted.seconds
    assert first == 0 and all(one >= 0.1 * 2**n for n, one in enumerate(later, 1))
