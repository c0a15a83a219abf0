"""Faults that earlier versions kept: they are judged as answers of now, and not given."""

import logging

import pytest

from seal.core import CacheMissError, Completion, Message, Request, Tool, ToolCall, Usage
from seal.core.store import Store
from seal.models.cached_model import CachedModel, encode_completion

IDENTITY = {"model": "openai/m", "base_url": "http://localhost:8000/v1"}
LOOK = Tool("look", "look", "Look", {"type": "object", "properties": {}})
ASK = Request((Message("user", "Weather?"),), (LOOK,))
SUNNY = Completion("Sunny.", usage=Usage(3, 2), finish_reason="stop")


class Model:
    def __init__(self):
        self.asked = 0

    def complete(self, request):
        self.asked += 1
        return SUNNY


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "answers.sqlite") as opened:
        yield opened


def answer(finish, content="", calls=(), **fields):
    return {**encode_completion(Completion(content, calls, finish_reason=finish)), **fields}


def after(store, kept, identity=IDENTITY):
    """Keep an answer as an earlier version did, then ask; return what came, and the model."""

    class Before:
        def complete(self, request):
            raise AssertionError("it is kept")

    key, _ = CachedModel(Before(), store, identity)._key(ASK)
    store.put(key, kept)
    model = Model()
    return CachedModel(model, store, identity).complete(ASK), model


@pytest.mark.parametrize(
    ("finish", "content", "calls"),
    [
        ("server_error", "", ()),
        ("error_finish", "The weather in", ()),
        ("errorerror", "", ()),
        ("load", "", ()),
        ("tool_calls", "", ()),
        ("", "", ()),
        ("", "", (ToolCall("", "look", None, '{"a": '),)),
        ("tool_calls", "", (ToolCall("", "", {"a": 1}),)),
        ("stop", "!" * 300, ()),
        ("length", "G" * 300, ()),
        ("tool_calls", "", (ToolCall("", "look</arg_value>", {}),)),
        ("tool_calls", "", (ToolCall("", "look<parameter=a>1", {}),)),
        ("tool_calls", "", (ToolCall("", "look", None, "<parameter=a>1</parameter>"),)),
    ],
)
def test_a_kept_fault_is_asked_for_again_and_the_answer_is_kept(store, finish, content, calls):
    found, model = after(store, answer(finish, content, calls))
    assert found == SUNNY and model.asked == 1
    again = CachedModel(model, store, IDENTITY).complete(ASK)
    assert again.content == "Sunny." and again.kept and model.asked == 1
    assert CachedModel(model, store, IDENTITY, "replay").complete(ASK).content == "Sunny."


NOTHING = {"tokens_in": 3, "tokens_out": 0, "estimated": False, "reasoning": 0}


@pytest.mark.parametrize(
    ("usage", "asked"), [({}, 1), ({"tokens_out": 2}, 0), ({"estimated": True}, 1)]
)
def test_kept_answers_of_no_token_are_asked_for_again(store, usage, asked):
    assert after(store, answer("stop", usage=NOTHING | usage))[1].asked == asked


def test_kept_noise_in_the_place_of_thinking_is_asked_for_again(store):
    noise = answer("stop", usage=NOTHING | {"tokens_out": 300}, reasoning="?" * 300)
    assert after(store, noise)[1].asked == 1


def test_kept_thinking_alone_is_the_models_as_it_was_when_it_came(store):
    for usage in ({}, {"tokens_out": 5, "reasoning": 5}, {"estimated": True}):
        kept = answer("stop", usage=NOTHING | usage, reasoning="Let me see.")
        found, model = after(store, kept)
        assert (found.reasoning, model.asked) == ("Let me see.", 0)


def test_replay_has_no_answer_where_a_fault_is_kept(store):
    key, _ = CachedModel(Model(), store, IDENTITY)._key(ASK)
    store.put(key, answer("server_error"))
    with pytest.raises(CacheMissError, match="no kept answer"):
        CachedModel(Model(), store, IDENTITY, "replay").complete(ASK)


@pytest.mark.parametrize(
    ("finish", "content", "calls"),
    [
        ("length", "The wea", ()),
        ("tool_calls", "", (ToolCall("", "look", {"a": 1}),)),
        ("odd_word", "Sunny.", ()),
        ("tool_calls", "", (ToolCall("", "other", {"a": 1}),)),
        ("tool_calls", "", (ToolCall("", "look", None, "{a <b>"),)),
        ("length", "", (ToolCall("", "look", None, "<parameter=a>1</par"),)),
    ],
)
def test_answers_of_the_model_are_given_as_they_are(store, finish, content, calls):
    found, model = after(store, answer(finish, content, calls))
    assert (found.content, len(found.calls), model.asked) == (content, len(calls), 0)


def test_a_filter_with_its_reason_is_a_filter_now(store):
    found, model = after(store, answer("content_filter: SPII", "No."))
    assert found.finish_reason == "content_filter" and model.asked == 0


def test_models_that_no_server_plays_say_nothing_where_they_like(store):
    found, model = after(store, answer("", ""), {"model": "my_lab:Silent"})
    assert found.content == "" and model.asked == 0


def test_it_is_said_once(store, caplog):
    caplog.set_level(logging.WARNING)
    for n in range(3):
        after(store, answer("server_error"), {**IDENTITY, "temperature": n})
    told = [line for line in caplog.messages if "an earlier version kept answers" in line]
    assert len(told) == 1 and "openai/m" in told[0] and "server_error" in told[0]
