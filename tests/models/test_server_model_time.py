"""How long a server may take: silence, drips, deadlines, and answers that come piece by piece."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from raw_servers import RawServer, chunked, delta, events, response, stream_head
from servers import failure, installed, text
from wire_answers import message_parts

import seal.core.connections  # noqa: F401  # the first to ask a server loads it, within its time
from seal.core import Message, ModelError, OverdueError, Request, RequestError
from seal.core.concurrency import within
from seal.models.cached_model import encode_completion
from seal.models.spec import ModelSettings, build_model, model_identity

ASK = Request((Message("user", "Weather?"),), max_tokens=9)
USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
SUNNY = events(
    delta(role="assistant", content=""),
    delta(content="Sun", reasoning_content="Blue "),
    delta(content="ny.", reasoning_content="sky."),
    delta("stop"),
    {"choices": [], "usage": USAGE},
)


def named(*chunks):
    """Return the events of a stream of responses."""
    told = (f"event: {chunk['type']}\n".encode() + events(chunk, done=False) for chunk in chunks)
    return b"".join(told)


def begun(type="response.created", **fields):
    response = {"id": "resp_1", "object": "response", "error": None, "output": []}
    return {"type": type, "response": {**response, "status": "in_progress", **fields}}


ITEMS = [
    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Blue sky."}]},
    {"type": "message", "content": [{"type": "output_text", "text": "Sunny."}]},
]
WHOLE = {
    "status": "completed",
    "output": ITEMS,
    "usage": {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5},
}
RESPONSE = named(
    begun(),
    {"type": "response.reasoning_summary_text.delta", "delta": "Blue sky."},
    {"type": "response.output_item.done", "item": ITEMS[0]},
    {"type": "response.output_text.delta", "delta": "Sunny."},
    {"type": "response.output_item.done", "item": ITEMS[1]},
    begun("response.completed", **WHOLE),
)


def google(*parts, **fields):
    candidate = {"content": {"role": "model", "parts": list(parts)}, "index": 0, **fields}
    usage = {"promptTokenCount": 3, "candidatesTokenCount": 2}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-m"}


BLUE, SKY = ({"text": said, "thought": True} for said in ("Blue ", "sky."))
SUN, NY = {"text": "Sun"}, {"text": "ny."}
GEMINI = events(google(BLUE), google(SKY, SUN), google(NY), google(finishReason="STOP"), done=False)
INTERFACES = {
    "chat": ("openai/m", {}),
    "responses": ("openai/m", {"api": "responses"}),
}
if installed("google.genai"):
    INTERFACES["gemini"] = ("gemini/m", {})
STREAMS = {"chat": SUNNY, "responses": RESPONSE, "gemini": GEMINI}
every_interface = pytest.mark.parametrize("interface", INTERFACES)
CLAUDE = {"anthropic": ("anthropic/m", {})} if installed("anthropic") else {}


@pytest.fixture(autouse=True)
def key(monkeypatch):
    for name in ("OPENAI", "GOOGLE", "ANTHROPIC"):
        monkeypatch.setenv(f"{name}_API_KEY", "sk-Zq81-of-tests")


@pytest.fixture
def raw_model():
    started = []

    def build(answer, interface="chat", **settings):
        server = RawServer(answer)
        server.__enter__()
        started.append(server)
        name, own = (INTERFACES | CLAUDE)[interface]
        settings |= own
        if name.startswith("gemini/"):
            server.url = server.url.removesuffix("/v1")
        quick = {"first_wait_s": 0.001, "max_wait_s": 0.05, "timeout_s": 5.0, **settings}
        quick = {"max_tries": 1, **quick}
        model = build_model(name, ModelSettings(base_url=server.url, **quick))
        model._server._connection()  # loads an SDK, which takes longer than some of the times here
        return model, server

    yield build
    for server in started:
        server.__exit__(None, None, None)


CHAT_MESSAGE = {"role": "assistant", "content": "Sunny.", "reasoning_content": "Blue sky."}
PLAIN = {
    "chat": {
        "choices": [{"index": 0, "message": CHAT_MESSAGE, "finish_reason": "stop"}],
        "usage": USAGE,
    },
    "responses": begun(**WHOLE)["response"],
    "gemini": google(
        {"text": "Blue sky.", "thought": True}, {"text": "Sunny."}, finishReason="STOP"
    ),
}


@every_interface
def test_a_streamed_answer_is_that_of_a_plain_one_to_the_byte(raw_model, interface):
    stream = STREAMS[interface]
    told = [response(json.dumps(PLAIN[interface]).encode())]
    told += [stream_head() + stream, chunked([stream]), stream_head("text/plain") + stream]
    told += [chunked([stream[n : n + 1] for n in range(len(stream))])]
    told += [stream_head() + stream.replace(b"\n", b"\r\n")]
    model, _ = raw_model(lambda wire: wire.send(told[wire.number]), interface)
    answers = [encode_completion(model.complete(ASK)) for _ in told]
    assert answers == [answers[0]] * len(told)
    assert answers[0]["content"] == "Sunny." and answers[0]["reasoning"] == "Blue sky."
    assert answers[0]["usage"]["tokens_in"] == 3


def test_a_response_whose_last_event_leaves_its_items_out_has_them_from_before(raw_model):
    last = named(begun("response.completed", **WHOLE | {"output": []}))
    stream = RESPONSE[: RESPONSE.index(b"event: response.completed")] + last
    model, _ = raw_model(lambda wire: wire.send(stream_head() + stream), "responses")
    answer = model.complete(ASK)
    assert (answer.content, answer.reasoning) == ("Sunny.", "Blue sky.")


ENDINGS = {
    "response.incomplete": {
        "status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"},
    },
    "response.failed": {"status": "failed", "error": {"code": "server_error", "message": "Oh."}},
}


def test_a_stream_of_a_response_ends_as_the_response_does(raw_model):
    told = [named(begun(), begun(type, **WHOLE | ends)) for type, ends in ENDINGS.items()]
    told += [named(begun(), {"type": "error", "code": "server_error", "message": "Down."})]
    told += [RESPONSE]
    model, server = raw_model(
        lambda wire: wire.send(stream_head() + told[wire.number]), "responses", max_tries=3
    )
    assert model.complete(ASK).finish_reason == "length"
    assert model.complete(ASK).content == "Sunny."
    assert len(server.received) == len(told)


@every_interface
@pytest.mark.parametrize("share", [0.3, 0.6])
def test_a_stream_that_breaks_off_is_asked_for_again(raw_model, interface, share):
    stream = STREAMS[interface]
    cut = stream[: int(len(stream) * share)].rpartition(b"\n\n")[0] + b"\n\n"
    told = [stream_head() + cut, stream_head() + stream]
    model, server = raw_model(lambda wire: wire.send(told[wire.number]), interface, max_tries=2)
    assert model.complete(ASK).content == "Sunny."
    assert len(server.received) == 2


def test_streaming_is_turned_off_by_an_option_that_is_no_part_of_the_model(model_server):
    server = model_server([text("x"), text("y")])
    told, silent = (
        ModelSettings(base_url=server.url).told(options) for options in ({}, {"stream": False})
    )
    for settings in (told, silent):
        build_model("openai/m", settings).complete(ASK)
    first, second = (request.body for request in server.received)
    assert first == {**second, "stream": True, "stream_options": {"include_usage": True}}
    assert model_identity("openai/m", told) == model_identity("openai/m", silent)


@pytest.mark.parametrize(
    ("refused", "fields"),
    [
        (["Unrecognized request argument supplied: stream_options"], {"stream"}),
        (["body.stream_options: extra fields not permitted", "stream is not supported"], set()),
    ],
)
@pytest.mark.parametrize("status", [400, 422])
def test_what_a_server_refuses_of_streams_is_told_once_and_not_sent_again(
    model_server, caplog, refused, fields, status
):
    server = model_server([*(failure(status, said) for said in refused), text("x"), text("y")])
    model = build_model("openai/m", ModelSettings(base_url=server.url))
    assert [model.complete(ASK).content for _ in range(2)] == ["x", "y"]
    last = [request.body.keys() & {"stream", "stream_options"} for request in server.received[-2:]]
    assert last == [fields, fields]
    assert caplog.messages == [
        f"openai/m refused a request; from now on: {name} left out"
        for name in ("stream_options", "stream")
        if name not in fields
    ]


def test_a_refusal_of_streams_that_many_threads_meet_at_once_stays_one(model_server, caplog):
    meeting = threading.Barrier(6)

    def script(request):
        if "stream_options" not in request.body:
            return text("x")
        meeting.wait(10)
        return failure(400, "Unrecognized request argument supplied: stream_options")

    server = model_server(script)
    model = build_model("openai/m", ModelSettings(base_url=server.url))
    with ThreadPoolExecutor(meeting.parties) as pool:
        list(pool.map(lambda _: model.complete(ASK), range(meeting.parties)))
    assert model.complete(ASK).content == "x"
    assert server.received[-1].body["stream"] is True
    assert len(caplog.messages) == 1


@every_interface
def test_an_answer_may_take_longer_than_a_silence(raw_model, interface):
    def steadily(wire):
        wire.send(stream_head())
        for event in STREAMS[interface].split(b"\n\n"):
            wire.wait(0.15)
            wire.send(event + b"\n\n")

    model, _ = raw_model(steadily, interface, timeout_s=0.6)
    assert model.complete(ASK).content == "Sunny."


@every_interface
def test_a_silence_amid_an_answer_ends_it(raw_model, interface):
    def stopping(wire):
        wire.send(stream_head() + STREAMS[interface][:90])
        wire.wait(30)

    model, _ = raw_model(stopping, interface, timeout_s=0.2)
    began = time.monotonic()
    with pytest.raises(ModelError, match=r"no answer within 0\.2 seconds"):
        model.complete(ASK)
    assert time.monotonic() - began < 15


@pytest.mark.parametrize("interface", ["chat", "responses"])
def test_an_answer_that_says_its_end_is_taken_while_the_connection_stays(raw_model, interface):
    def staying(wire):
        wire.send(chunked([STREAMS[interface]], end=b""))
        wire.wait(30)

    model, _ = raw_model(staying, interface)
    began = time.monotonic()
    assert model.complete(ASK).content == "Sunny."
    assert time.monotonic() - began < 15


LAST = {
    "chat": SUNNY.removesuffix(b"data: [DONE]\n\n"),
    "responses": RESPONSE.replace(b"event: response.completed\n", b""),
    "gemini": GEMINI,
    "anthropic": b"".join(
        f"event: {name}\ndata: {json.dumps(told)}\n\n".encode()
        for name, told in message_parts("Sunny.", None, "end_turn")[:-1]
    ),
}
"""Streams that hold the end of the answer, and no event that says that it is the last."""
PINGS = {"anthropic": b'event: ping\ndata: {"type": "ping"}\n\n'}


@pytest.mark.parametrize("interface", [*INTERFACES, *CLAUDE])
@pytest.mark.parametrize("is_kept_alive", [False, True])
def test_a_whole_answer_counts_while_its_server_keeps_the_stream_open(
    raw_model, interface, is_kept_alive, caplog
):
    def staying(wire):
        wire.send(stream_head() + LAST[interface])
        for _ in range(300):
            wire.wait(0.1)
            if is_kept_alive:
                wire.send(PINGS.get(interface, b": ping\n\n"))

    model, _ = raw_model(staying, interface, timeout_s=0.4)
    began = time.monotonic()
    assert [model.complete(ASK).content for _ in range(2)] == ["Sunny."] * 2
    assert time.monotonic() - began < 15
    (told,) = caplog.messages
    assert "keeps its streams open" in told and "-M stream=false" in told


DRIPS = {
    "a plain answer": lambda wire: wire.drip(response(b" " * 1000)),
    "headers": lambda wire: wire.drip(b"HTTP/1.1 200 OK\r\nX-Slow: " + b"x" * 500),
    "a stream": lambda wire: (wire.send(stream_head()), wire.drip(SUNNY)),
    "comments": lambda wire: [
        (wire.send(stream_head() if not n else b": wait\n\n"), wire.wait(0.2)) for n in range(90)
    ],
}


DRIPPING = [*DRIPS, *list(INTERFACES)[1:]]


def _dripping(name):
    """Return how a server drips, and whose interface it has."""
    if name in DRIPS:
        return DRIPS[name], "chat"
    return lambda wire: (wire.send(stream_head()), wire.drip(STREAMS[name])), name


@pytest.mark.parametrize("name", DRIPPING)
def test_a_drip_ends_with_the_time_of_who_asks(raw_model, name):
    model, _ = raw_model(*_dripping(name), max_tries=5)
    began = time.monotonic()
    with pytest.raises(ModelError, match=r"no answer before the time was up"), within(1.0):
        model.complete(ASK)
    assert 0.95 < time.monotonic() - began < 15


@pytest.mark.parametrize("name", DRIPPING)
def test_no_answer_takes_longer_than_it_may(raw_model, name):
    model, _ = raw_model(*_dripping(name), max_tries=5, max_answer_s=0.4)
    began = time.monotonic()
    with pytest.raises(ModelError):
        model.complete(ASK)
    assert time.monotonic() - began < 15


def words(wire, interface="chat"):
    wire.send(stream_head())
    for number in range(100):
        said = f"{number} "
        wire.send(
            {
                "chat": events(delta(content=said), done=False),
                "responses": named({"type": "response.output_text.delta", "delta": said}),
                "gemini": events(google({"text": said}), done=False),
            }[interface]
        )
        wire.wait(0.1)


@every_interface
def test_words_that_still_come_when_the_time_is_up_are_no_fault_of_the_server(raw_model, interface):
    def speaking(wire):
        words(wire, interface)

    model, _ = raw_model(speaking, interface)
    with pytest.raises(OverdueError, match="still answering"), within(0.5):
        model.complete(ASK)
    model, _ = raw_model(speaking, interface, max_answer_s=0.5)
    with pytest.raises(RequestError, match="-M max_answer_s=SECONDS"):
        model.complete(ASK)


def test_no_wait_is_longer_than_the_time_that_is_left(raw_model):
    model, server = raw_model(
        lambda wire: wire.send(response(b"{}", 503, Retry_After="30")), max_tries=5, max_wait_s=60
    )
    began = time.monotonic()
    with pytest.raises(ModelError, match=r"HTTP 503.*tried once"), within(20.0):
        model.complete(ASK)
    assert time.monotonic() - began < 15 and len(server.received) == 1


def test_nobody_is_asked_when_the_time_is_up(raw_model):
    model, server = raw_model(words)
    with pytest.raises(OverdueError, match="was not asked"), within(0):
        model.complete(ASK)
    assert not server.received


def test_deadlines_nest_and_the_nearest_holds(raw_model):
    model, _ = raw_model(DRIPS["headers"])
    for outer, inner in ((1.0, 30), (30, 1.0), (1.0, None)):
        began = time.monotonic()
        with pytest.raises(ModelError), within(outer), within(inner):
            model.complete(ASK)
        assert time.monotonic() - began < 15


@every_interface
def test_an_endless_answer_is_none(raw_model, interface):
    def endless(wire):
        wire.send(stream_head())
        while True:
            wire.send(b": nothing\n" * 100_000)

    model, _ = raw_model(endless, interface)
    with pytest.raises(ModelError, match="more than 64 MiB"):
        model.complete(ASK)


@pytest.mark.slow
def test_a_server_that_is_busy_gets_fewer_requests_at_once(raw_model):
    now, most, lock = [0], [0], threading.Lock()

    def busy_beyond_three(wire):
        with lock:
            now[0] += 1
            many = now[0] > 3
            if wire.number > 60:
                most[0] = max(most[0], now[0])
        wire.wait(0.02)
        wire.send(response(b"{}", 429) if many else stream_head() + SUNNY)
        with lock:
            now[0] -= 1

    model, server = raw_model(busy_beyond_three, max_tries=50)
    asking = [
        threading.Thread(target=lambda: [model.complete(ASK) for _ in range(15)]) for _ in range(16)
    ]
    [thread.start() for thread in asking]
    [thread.join() for thread in asking]
    assert len(server.received) < 2 * 16 * 15
    assert most[0] <= 8 and model._server.standing.counts.most < 16


def test_a_few_refusals_by_chance_send_no_fewer_requests_at_once(raw_model):
    def sometimes_busy(wire):
        busy = wire.number % 40 == 39
        wire.wait(0.005)
        wire.send(response(b"{}", 429, Retry_After="0") if busy else stream_head() + SUNNY)

    model, server = raw_model(sometimes_busy, max_tries=50)
    asking = [
        threading.Thread(target=lambda: [model.complete(ASK) for _ in range(6)]) for _ in range(32)
    ]
    [thread.start() for thread in asking]
    [thread.join() for thread in asking]
    assert len(server.received) >= 32 * 6 + 4  # some were refused
    assert model._server.standing.counts.most >= 24 and not model.counts.held


@pytest.mark.parametrize("limit", [{"requests_per_minute": 1200}, {"tokens_per_minute": 9000}])
def test_a_model_is_asked_no_more_often_than_a_minute_allows(raw_model, limit):
    model, server = raw_model(lambda wire: wire.send(stream_head() + SUNNY), **limit)
    began = time.monotonic()
    for _ in range(4):
        model.complete(ASK)
    # 3 of 1,200 a minute; or 5 tokens each of 9,000, and before the first answer 500 are thought
    assert time.monotonic() - began >= (0.15 if "requests_per_minute" in limit else 0.1)
    assert len(server.received) == 4


def test_a_server_that_is_not_there_counts_as_down_until_it_answers(raw_model):
    model, _ = raw_model(lambda wire: wire.send(stream_head() + SUNNY))
    address = ModelSettings(base_url="http://127.0.0.1:9/v1", first_wait_s=0.001)
    gone = build_model("openai/m", address)
    with pytest.raises(ModelError, match="tried 2 times"):
        gone.complete(ASK)
    assert "could not be reached" in gone.outage
    with pytest.raises(ModelError, match="tried once"):
        gone.complete(ASK)
    model.complete(ASK)
    assert not model.outage


def test_three_requests_in_vain_make_an_outage_and_an_answer_ends_it(raw_model):
    def sometimes(wire):
        if wire.number in (0, 2, 5, 9):
            wire.send(stream_head() + SUNNY)

    model, _ = raw_model(sometimes)
    found = []
    for _ in range(10):
        with suppress(ModelError):
            model.complete(ASK)
        found.append(bool(model.outage))
    assert found == [False] * 8 + [True, False]
