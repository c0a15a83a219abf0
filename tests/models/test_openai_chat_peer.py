"""Our client of OpenAI's interface beside OpenAI's own: the same answers of a server through both.

What a user gets is the words, the calls and why the answer ended, or an error. `CASES` names each
answer, what both clients give for it, and where they differ, the reason.
"""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import openai
import pytest
from servers import Answer, ModelServer, answer, failure, garbage, half, nothing
from wire_answers import chat, chat_parts, events

from seal.core import Message, ModelError, Request, Tool
from seal.core.servers import Standing
from seal.models.spec import build_model

ASK = Request(
    (Message("user", "Weather in Bern?"),),
    (Tool("t", "weather", "Weather", {"type": "object", "properties": {"city": {}}}),),
)
FAULT = "a server that broke off, or contradicts itself, has given no answer"
NONE = "what is no answer of the interface is told in words, and asked for again"
INSIDE = "an error is one wherever it stands, and in whatever form"
OUTCOME = "a full window, a filter and a limit are outcomes of the model, which count beside scores"
END = "servers have words of their own for one end"
PLACE = "servers number the calls of a stream in ways of their own, and repeat names"
PARTS = "texts in a list of parts are words as others are"
REPAIRED = "arguments whose meaning is plain are repaired, and the repair is recorded"
ONE = "one answer was asked for, so further choices are parts of it"
SAID = "a refusal is what the model said"
PAIRS = {
    **dict.fromkeys(("BadRequestError", "UnprocessableEntityError"), "RequestError"),
    **dict.fromkeys(("AuthenticationError", "PermissionDeniedError"), "ModelError"),
    **dict.fromkeys(
        ("NotFoundError", "ConflictError", "RateLimitError", "InternalServerError"), "ModelError"
    ),
    **dict.fromkeys(("APIConnectionError", "APIStatusError", "APIError"), "ModelError"),
}
"""The SDK's class of an error to ours: its classes say the status, ours what a run does next. After
a RequestError the run goes on with the next goal; a ModelError was tried again, or ends the run."""


class Case(NamedTuple):
    """An answer of a server, and what comes of it."""

    served: Answer
    ours: Any
    """Words, calls, end; or an error's class."""
    theirs: Any = None
    """None: the same."""
    why: str = ""
    """The reason for the difference."""


class Got(NamedTuple):
    """What a user gets."""

    words: str = ""
    calls: tuple[Any, ...] = ()
    end: str = "stop"


BERN, OSLO = (("weather", {"city": city}) for city in ("Bern", "Oslo"))
A, B = (json.dumps(call[1]) for call in (BERN, OSLO))


def whole(*messages, end="stop"):
    choices = [
        {"index": n, "message": {"role": "assistant", **one}, "finish_reason": end}
        for n, one in enumerate(messages)
    ]
    return answer({"id": "c", "object": "chat.completion", "choices": choices})


def stream(*deltas, end="stop", after=()):
    chunks = [{"index": 0, "delta": one, "finish_reason": None} for one in deltas]
    chunks += [{"index": 0, "delta": {}, "finish_reason": end}] * bool(end)
    made = [{"id": "c", "object": "chat.completion.chunk", "choices": [one]} for one in chunks]
    return events(*made[:-1], *after, *made[-1:])


def called(arguments, **fields):
    function = {"name": "weather", "arguments": arguments}
    return {"type": "function", "function": function, **fields}


def both(name: str, given: tuple[Any, ...], *columns: Any) -> dict[str, Case]:
    """Return an answer as a whole and as a stream, for which the columns are the same."""
    streamed = events(*chat_parts(*given))
    return {name: Case(chat(*given), *columns), f"{name}, streamed": Case(streamed, *columns)}


CALL, CALLS = {"content": None, "tool_calls": [called(A, id="a")]}, "tool_calls"
BEGUN, REST = called(A[:5], index=0, id="a"), {"function": {"arguments": A[5:]}}
LONG, ANSWERED = "This model's maximum context length is 10 tokens.", Got("", (BERN,), CALLS)


def calling(arguments):
    return whole({"content": None, "tool_calls": [called(arguments, id="a")]}, end=CALLS)


def pieces(*parts):
    return stream(*({"tool_calls": [part]} for part in parts), end=CALLS)


CASES: dict[str, Case] = {
    **both("words", ("Sunny.", None, "stop"), Got("Sunny.")),
    **both("a call", (None, A, CALLS), ANSWERED),
    **both("words and a call", ("I look.", A, "stop"), Got("I look.", (BERN,))),
    **both("an unknown end", ("Sunny.", None, "weekend"), Got("Sunny.", end="weekend")),
    **both("another end", ("Sunny.", None, "eos"), Got("Sunny."), Got("Sunny.", end="eos"), END),
    "cut at the limit": Case(chat("Sun", None, "length"), Got("Sun", end="length")),
    "cut at the limit, streamed": Case(
        stream({"content": "Sun"}, end="length"),
        Got("Sun", end="length"),
        "LengthFinishReasonError",
        OUTCOME,
    ),
    "a filter": Case(chat("", None, "content_filter"), Got(end="content_filter")),
    "a filter, streamed": Case(
        stream({"content": ""}, end="content_filter"),
        Got(end="content_filter"),
        "ContentFilterFinishReasonError",
        OUTCOME,
    ),
    "a full window": Case(failure(400, LONG), "context_overflow", "RequestError", OUTCOME),
    # What is no answer.
    **both("a fault", ("The w", None, "error"), "ModelError", Got("The w", end="error"), FAULT),
    **both("an empty end", (None, None, "load"), "ModelError", Got(end="load"), FAULT),
    **both("no call", ("I look.", None, CALLS), "ModelError", Got("I look.", end=CALLS), FAULT),
    "no end": Case(stream({"content": "Su"}, end=None), "ModelError", Got("Su", end=None), FAULT),
    "no choices": Case(answer({"choices": []}), "ModelError", "IndexError", NONE),
    "no JSON": Case(garbage(), "ModelError", "AttributeError", NONE),
    "an error": Case(answer({"error": {"message": "no"}}), "ModelError", "TypeError", INSIDE),
    "words of an error": Case(answer({"detail": "no"}), "ModelError", "TypeError", INSIDE),
    "an error amid a stream": Case(
        stream({"content": "Su"}, after=[{"error": {"message": "no"}}]), "ModelError"
    ),
    "an error amid a stream, in another form": Case(
        stream({"content": "Su"}, after=[{"object": "error", "message": "no"}]),
        "ModelError",
        Got("Su"),
        INSIDE,
    ),
    "half": Case(half(), "ModelError"),
    "nothing": Case(nothing(), "ModelError"),
    # Words and calls in other forms.
    "parts": Case(
        whole({"content": [{"type": "text", "text": "Sunny."}]}),
        Got("Sunny."),
        Got([{"type": "text", "text": "Sunny."}]),
        PARTS,
    ),
    "a refusal": Case(whole({"content": None, "refusal": "No."}), Got("No."), Got(), SAID),
    "two choices": Case(
        whole({"content": "I look."}, CALL), Got("I look.", (BERN,)), Got("I look."), ONE
    ),
    "a comma too many": Case(
        calling(f"{A[:-1]},}}"), ANSWERED, Got("", (("weather", f"{A[:-1]},}}"),), CALLS), REPAIRED
    ),
    "a broken call": Case(calling(A[:9]), Got("", (("weather", A[:9]),), CALLS)),
    "a call of an object": Case(calling(BERN[1]), ANSWERED),
    "pieces": Case(pieces(BEGUN, REST | {"index": 0}), ANSWERED),
    "another id": Case(pieces(BEGUN, REST | {"index": 0, "id": "b"}), ANSWERED),
    "a repeated name": Case(
        pieces(BEGUN, called(A[5:], index=0, id="a")),
        ANSWERED,
        Got("", (("weatherweather", BERN[1]),), CALLS),
        PLACE,
    ),
    "two calls of one index": Case(
        pieces(called(A, index=0, id="a"), called(B, index=0, id="b")),
        Got("", (BERN, OSLO), CALLS),
        Got("", (("weatherweather", A + B),), CALLS),
        PLACE,
    ),
    "no index": Case(
        pieces(called(A, id="a"), called(B, id="b")),
        Got("", (BERN, OSLO), CALLS),
        "TypeError",
        PLACE,
    ),
    # Statuses.
    **{
        str(status): Case(failure(status), "RequestError" if status in (400, 422) else "ModelError")
        for status in (400, 401, 403, 404, 408, 409, 422, 429, 500, 503)
    },
}


@pytest.fixture(scope="module")
def given() -> Iterator[Any]:
    """Return what both clients give for an answer, in one server and with one client each."""
    answers: list[Answer] = []
    with ModelServer(lambda request: answers[-1]) as server:
        key = {"api_key": "key-of-tests", "base_url": server.url}
        options = f"base_url={server.url},max_tries=1"
        models = [build_model(f"openai/m,{options},stream={on}") for on in ("false", "true")]
        with openai.OpenAI(**key, max_retries=0) as client:

            def give(served: Answer) -> tuple[Any, Any]:
                answers.append(served)
                on = served.body.startswith(b"data:")
                models[on].share(lambda known: Standing())
                return _ours(models[on]), _theirs(client, on)

            yield give


def _ours(model: Any) -> Any:
    try:
        found = model.complete(ASK)
    except ModelError as error:
        return getattr(error, "refusal", None) or type(error).__name__
    calls = ((one.name, one.raw if one.arguments is None else one.arguments) for one in found.calls)
    return Got(found.content, tuple(calls), found.finish_reason)


def _theirs(client: openai.OpenAI, on: bool) -> Any:
    body: Any = {
        "model": "m",
        "messages": [{"role": "user", "content": "Weather in Bern?"}],
        "tools": [{"type": "function", "function": {"name": "weather", "parameters": {}}}],
    }
    try:
        if on:
            with client.chat.completions.stream(**body) as stream:
                choice = stream.get_final_completion().choices[0]
        else:
            choice = client.chat.completions.create(**body).choices[0]
    except Exception as error:  # the SDK has several, and Python's own
        name = type(error).__name__
        return PAIRS.get(name, name)
    calls = (one.function for one in choice.message.tool_calls or ())
    read = ((one.name, _read(one.arguments)) for one in calls)
    return Got(choice.message.content or "", tuple(read), choice.finish_reason)


def _read(arguments: Any) -> Any:
    try:
        return json.loads(arguments)
    except (TypeError, ValueError):
        return arguments


@pytest.mark.filterwarnings("ignore:Pydantic serializer")  # of the SDK, about odd answers
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_each_difference_of_the_two_clients_has_its_reason(given, case):
    ours, theirs = given(case.served)
    assert ours == case.ours
    assert theirs == (case.ours if case.theirs is None else case.theirs)
    assert (ours == theirs) is not bool(case.why)
