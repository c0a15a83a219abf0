"""Whatever a server of models can do wrong, each with how a chat ends in which it does.

The first request of a chat is answered by a call; the fault begins with the second.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from raw_servers import Wire, chunked, delta, events, response, stream_head
from small_pools import play

from seal.runs.play import RunResult

Fault = Callable[[Wire], None]

MOST_S = 2.0
"""What a chat may take; no fault may hold it 2 seconds longer."""
SAID = "It is sunny in Rome."
USAGE = {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}
CALL = {"index": 0, "id": "a", "function": {"name": "weather", "arguments": '{"city": "Rome"}'}}
CALLED = events(delta(tool_calls=[CALL]), delta("tool_calls"), USAGE)
WORDS = events(delta(role="assistant", content=""), delta(content="It is sunny"), done=False)
REST = events(delta(content=" in Rome."), delta("stop"), USAGE)


def plain(content: Any = SAID, finish: Any = "stop", **message: Any) -> bytes:
    """Return the JSON of a plain answer."""
    said = {"role": "assistant", "content": content, **message}
    return json.dumps({"choices": [{"message": said, "finish_reason": finish}]}).encode()


def called(arguments: str, name: str | None = "weather") -> bytes:
    """Return the JSON of a call."""
    call = {"id": "b", "type": "function", "function": {"name": name, "arguments": arguments}}
    return plain(None, "tool_calls", tool_calls=[call])


def refused(
    status: int, said: str = "no", headers: dict[str, str] | None = None, **fields: Any
) -> Fault:
    """Return what sends an error of HTTP."""
    body = json.dumps({"error": {"message": said, **fields}}).encode()
    return sends(response(body, status, **headers or {}))


def sends(*data: bytes) -> Fault:
    """Return what sends bytes and closes."""
    return lambda wire: wire.send(b"".join(data))


def steps(*faults: Fault) -> Fault:
    """Return what does several things in a row."""

    def each(wire: Wire) -> None:
        for fault in faults:
            fault(wire)

    return each


def once(fault: Fault) -> Fault:
    """Return what does something wrong once."""
    return lambda wire: (fault if wire.number == 1 else GOOD)(wire)


def silent(*data: bytes) -> Fault:
    """Return what sends bytes and then nothing, while the connection stays."""
    return steps(sends(*data), lambda wire: wire.wait(30))


def steady(wire: Wire) -> None:
    """Send words without an end."""
    wire.send(stream_head())
    for number in range(200):
        wire.send(events(delta(content=f"{number} "), done=False))
        wire.wait(0.1)


def commenting(wire: Wire) -> None:
    """Send comments without an end."""
    wire.send(stream_head())
    for _ in range(200):
        wire.send(b": wait\n\n")
        wire.wait(0.1)


def reset(*data: bytes) -> Fault:
    """Return what sends bytes and resets the connection."""
    return steps(sends(*data), Wire.reset)


def flood(wire: Wire) -> None:
    """Send bytes without an end, as fast as it can."""
    wire.send(stream_head())
    while True:
        wire.send(b": nothing\n" * 100_000)


GOOD = sends(stream_head(), WORDS, REST)
SPLIT = [(WORDS + REST)[n : n + 3] for n in range(0, len(WORDS + REST), 3)]
UNKNOWN = "request (4390 tokens) exceeds the available context size (4096 tokens)"
LOOP = response(b"", 307, Location="/v1/chat/completions")
HALF_CALL = delta(tool_calls=[{**CALL, "function": {"name": "weather", "arguments": '{"ci'}}])
CALL_AS_TEXT = '<tool_call>{"name": "weather", "arguments": {"city": "Rome"}}</tool_call>'
ERRORS: dict[str, dict[str, Any]] = {
    "a code": {"error_code": 336100, "error_msg": "try again"},
    "an object": {"object": "error", "message": "the worker has died", "code": 500},
    "a detail": {"detail": "internal error"},
    "a status": {"base_resp": {"status_code": 1002, "status_msg": "rate limit"}},
    "a type": {"type": "error", "message": "overloaded"},
}
"""By what a server tells that it is one."""
OVER = {"error": {"message": "CUDA out of memory", "code": 500}}
FAULTS: dict[str, tuple[Fault, str]] = {
    # connections
    "closes before a byte": (sends(), "error"),
    "closes before a byte, once": (once(sends()), "done"),
    "reset before a byte": (reset(), "error"),
    "reset amid the headers": (reset(b"HTTP/1.1 200 OK\r\nContent-"), "error"),
    "closes amid the body": (sends(response(plain())[:-20]), "error"),
    "closes amid a stream": (sends(stream_head(), WORDS), "error"),
    "closes amid a stream, once": (once(sends(stream_head(), WORDS)), "done"),
    "reset amid a stream": (reset(stream_head(), WORDS), "error"),
    "a chunked stream without its end": (sends(chunked([WORDS], end=b"")), "error"),
    "a chunk of a wrong size": (sends(chunked([WORDS], end=b"xyz\r\n")), "error"),
    "no HTTP": (sends(b"SSH-2.0-OpenSSH_9.6\r\n"), "error"),
    # time
    "silence": (silent(), "error"),
    "silence after the headers": (silent(stream_head()), "error"),
    "silence amid a stream": (silent(stream_head(), WORDS), "error"),
    "silence after the last event": (silent(stream_head(), WORDS, REST), "done"),
    "headers that drip": (lambda wire: wire.drip(response(plain())), "error"),
    "a body that drips": (steps(sends(stream_head()), lambda wire: wire.drip(plain())), "error"),
    "a stream that drips": (steps(sends(stream_head()), lambda wire: wire.drip(WORDS)), "error"),
    "comments for ever": (commenting, "error"),
    "words for ever": (steady, "max_seconds"),
    "a slow answer": (steps(lambda wire: wire.wait(0.5), sends(response(plain()))), "done"),
    "bytes for ever": (flood, "error"),
    # what is in the body
    "nothing under 200": (sends(response(b"")), "error"),
    "a page under 200": (sends(response(b"<html>Sign in</html>", kind="text/html")), "error"),
    "JSON of another type": (sends(response(plain(), kind="text/html")), "done"),
    "a stream of another type": (sends(stream_head("application/json"), WORDS, REST), "done"),
    "JSON that breaks off": (sends(response(plain()[:40])), "error"),
    "letters that are no UTF-8": (sends(response(plain().replace(b"sunny", b"s\xff"))), "error"),
    "a stream of no UTF-8": (sends(stream_head(), WORDS.replace(b"sunny", b"\xff"), REST), "error"),
    "a truncated gzip": (
        sends(response(gzip.compress(plain())[:-12], Content_Encoding="gzip")),
        "error",
    ),
    "a gzip that is none": (sends(response(plain(), Content_Encoding="gzip")), "error"),
    "a list": (sends(response(b"[]")), "error"),
    "no choices": (sends(response(b'{"choices": []}')), "error"),
    "choices of null": (sends(response(b'{"choices": null}')), "error"),
    "a choice without a message": (sends(response(b'{"choices": [{}]}')), "error"),
    "content of null": (sends(response(plain(None))), "error"),
    "an error under 200": (sends(response(json.dumps(OVER).encode())), "error"),
    "an error amid a stream": (sends(stream_head(), WORDS, events(OVER)), "error"),
    "a full window under 200": (
        sends(response(json.dumps({"error": {"message": UNKNOWN}}).encode())),
        "context_overflow",
    ),
    "tool_calls that are no list": (sends(response(plain(tool_calls="f"))), "error"),
    "a call without a function": (sends(response(plain(tool_calls=[{"id": "x"}]))), "error"),
    # streams as they are written
    "events with CRLF": (
        sends(stream_head(), (WORDS + REST).replace(b"\n", b"\r\n")),
        "done",
    ),
    "events with comments": (sends(stream_head(), b": hi\n\n", WORDS, b": hi\n\n", REST), "done"),
    "events without [DONE]": (
        sends(stream_head(), WORDS, REST.replace(b"data: [DONE]\n\n", b"")),
        "done",
    ),
    "events split over chunks": (sends(chunked(SPLIT)), "done"),
    "calls of a bad index": (
        once(
            sends(stream_head(), CALLED.replace(b'"index": 0, "id"', b'"index": "x", "id"')),
        ),
        "done",
    ),
    "an event that is no JSON": (sends(stream_head(), WORDS, b"data: {oops\n\n", REST), "error"),
    "nothing but [DONE]": (sends(stream_head(), b"data: [DONE]\n\n"), "error"),
    # heads
    "an endless header": (sends(b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 200_000), "error"),
    "two hundred headers": (
        sends(stream_head()[:-2], *(b"X-%d: x\r\n" % n for n in range(200)), b"\r\n", plain()),
        "error",
    ),
    "a length below zero": (sends(response(plain(), Content_Length="-5")), "done"),
    "a length in words": (sends(response(plain(), Content_Length="many")), "done"),
    "a length that is too short": (sends(response(plain(), Content_Length="30")), "error"),
    "a coding of nobody": (sends(response(plain(), Content_Encoding="zip")), "done"),
    "100 before the answer": (sends(b"HTTP/1.1 100 Continue\r\n\r\n", response(plain())), "done"),
    "a wait in words": (once(refused(429, headers={"Retry_After": "soon"})), "done"),
    "a wait below zero": (once(refused(503, headers={"Retry_After": "-5"})), "done"),
    # values of other types
    "content of a number": (sends(response(plain(7))), "error"),
    "content in parts": (sends(response(plain([{"type": "text", "text": SAID}]))), "done"),
    "a finish reason of a number": (sends(response(plain(finish=7))), "done"),
    "NaN": (sends(response(b'{"choices": NaN}')), "error"),
    "JSON of endless depth": (sends(response(b"[" * 200_000)), "error"),
    "an event of endless depth": (
        sends(stream_head(), b"data: " + b"[" * 200_000 + b"\n\n"),
        "error",
    ),
    "arguments of endless depth": (once(sends(response(called("[" * 200_000)))), "done"),
    "a byte order mark": (sends(response(b"\xef\xbb\xbf" + plain())), "done"),
    "arguments that are no JSON": (once(sends(response(called("{oops")))), "done"),
    "arguments of a list": (once(sends(response(called("[1]")))), "done"),
    "a call without a name": (once(sends(response(called("{}", name=None)))), "done"),
    "a name of a megabyte": (once(sends(response(called("{}", name="x" * 2**20)))), "done"),
    # streams of other values
    "a stream of nothing": (sends(stream_head()), "error"),
    "an event of null": (sends(stream_head(), WORDS, b"data: null\n\n", REST), "done"),
    "an event of a list": (sends(stream_head(), WORDS, b"data: [1]\n\n", REST), "done"),
    "choices of a number in a stream": (sends(stream_head(), events({"choices": 7})), "error"),
    # It says nothing and gives no reason why it ended.
    "a delta of null": (sends(stream_head(), events({"choices": [{"delta": None}]})), "error"),
    "usage of texts": (
        sends(stream_head(), WORDS, REST.replace(b": 3,", b': "three",')),
        "done",
    ),
    "a call that breaks off in a stream": (once(sends(stream_head(), CALLED[:150])), "done"),
    # statuses
    "301 in a circle": (sends(LOOP), "error"),
    "400": (refused(400), "error"),
    "400 for a field": (refused(400, "Unsupported parameter: 'seed'", param="seed"), "error"),
    "400 for a full window": (refused(400, UNKNOWN), "context_overflow"),
    "400 of a filter": (refused(400, "filtered", code="content_filter"), "filtered"),
    "401": (refused(401), "error"),
    "402": (refused(402, "Insufficient credits"), "error"),
    "403": (refused(403), "error"),
    "404": (refused(404), "error"),
    "405": (refused(405), "error"),
    "408": (refused(408), "error"),
    "409": (refused(409), "error"),
    "413": (refused(413), "error"),
    "422": (refused(422), "error"),
    "429": (refused(429), "error"),
    "429, once": (once(refused(429)), "done"),
    "429 with a wait": (once(refused(429, headers={"Retry_After": "0.2"})), "done"),
    "429 with a long wait": (refused(429, headers={"Retry_After": "3600"}), "error"),
    "429 of a spent quota": (refused(429, code="insufficient_quota"), "error"),
    "500": (refused(500), "error"),
    "500, once": (once(refused(500)), "done"),
    "501": (refused(501), "error"),
    "502 with a page": (sends(response(b"<html>", 502, "text/html")), "error"),
    "503": (refused(503), "error"),
    "504": (refused(504), "error"),
    "529": (refused(529), "error"),
    # ends of answers
    "a filter amid the answer": (sends(response(plain("It", "content_filter"))), "filtered"),
    "an answer that was cut": (sends(response(plain(finish="length"))), "done"),
    "an answer broken by an error": (sends(response(plain(finish="error"))), "error"),
    **{
        f"{word} with nothing said": (sends(response(plain("", word))), "error")
        for word in ("server_error", "load", "cancelled", "OTHER", "tool_calls", "errorerror", "")
    },
    "half a sentence, then a fault": (sends(stream_head(), WORDS, events(delta("abort"))), "error"),
    "an unknown word after an answer": (sends(response(plain(finish="odd"))), "done"),
    # errors in other forms
    **{
        f"an error as {name} amid a stream": (
            sends(stream_head(), WORDS, events(form, {"choices": []})),
            "error",
        )
        for name, form in ERRORS.items()
    },
    "an error in a list under 200": (
        sends(response(b'[{"error": {"code": 503, "message": "The model is overloaded."}}]')),
        "error",
    ),
    "an event named error": (
        sends(stream_head(), WORDS, b"event: error\ndata: out of memory\n\n", REST),
        "error",
    ),
    "[DONE] amid a call": (once(sends(stream_head(), events(HALF_CALL))), "done"),
    # a server without a parser of calls
    "a call as text": (sends(response(plain(CALL_AS_TEXT))), "done"),
    "too many requests under 200": (
        sends(response(b'{"error": {"message": "slow down", "code": "rate_limit_exceeded"}}')),
        "error",
    ),
    "a full window that is a queue": (
        refused(503, "Too many tokens, please wait before trying again."),
        "error",
    ),
}  # fmt: skip


def by_fault(fault: Fault) -> Fault:
    """Return what calls a tool first and then does something wrong."""
    return lambda wire: (sends(stream_head(), CALLED) if wire.number == 0 else fault)(wire)


def one_chat(pool: Path, out: Path, url: str, **options: Any) -> RunResult:
    """Play a pool with the model of a server, which is asked twice at most."""
    told = {"max_tries": 2, "first_wait_s": 0.01, "max_wait_s": 60, "timeout_s": 0.8, **options}
    return play(
        pool,
        out,
        model="openai/small",
        base_url=url,
        team="direct",
        retriever="bm25",
        model_options=told,
        max_seconds=MOST_S,
        workers=1,
    )
