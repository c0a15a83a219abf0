from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seal.core import (
    CacheMissError,
    Completion,
    InfrastructureError,
    Message,
    ModelError,
    Request,
    Tool,
    ToolCall,
    Usage,
    UsageError,
)
from seal.core.store import Store
from seal.models.cached_model import CachedModel

IDENTITY = {"model": "openai/m"}
CONTEXT = {"seed": 0, "task": "t1", "trial": 0, "role": "execution_manager", "vote": 0}
TOOL = Tool("t", "t", "does", {"type": "object", "properties": {"a": {}}})
ASK = Request((Message("user", "hello"),), (TOOL,), "execution_manager")


class Counting:
    def __init__(self):
        self.asked = 0

    def complete(self, request):
        self.asked += 1
        return Completion(
            f"answer {self.asked}", (ToolCall("", "t", {"b": 1, "a": None}),), Usage(3, 4)
        )


class Failing:
    def complete(self, request):
        raise ModelError("down")


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "answers.sqlite") as opened:
        yield opened


def cached(store, mode="record", inner=None, identity=IDENTITY, **context):
    return CachedModel(inner or Counting(), store, identity, mode, {**CONTEXT, **context})


def test_a_kept_answer_is_given_again_without_the_model(store):
    inner = Counting()
    first = cached(store, inner=inner).complete(ASK)
    again = cached(store, inner=inner).complete(ASK)
    assert first == again and inner.asked == 1
    assert cached(store, "replay", Failing()).complete(ASK) == first


def test_the_second_equal_request_of_a_chat_has_its_own_answer(store):
    chat = cached(store)
    said = [chat.complete(ASK).content for _ in range(3)]
    assert said == ["answer 1", "answer 2", "answer 3"]
    replayed = cached(store, "replay", Failing())
    assert [replayed.complete(ASK).content for _ in range(3)] == said


def test_a_miss_under_replay_names_the_call(store):
    with pytest.raises(CacheMissError, match=r"openai/m as execution_manager.*task t1.*hello"):
        cached(store, "replay", Failing()).complete(ASK)


def test_an_error_is_never_kept(store):
    with pytest.raises(ModelError):
        cached(store, inner=Failing()).complete(ASK)
    assert cached(store).complete(ASK).content == "answer 1"


def test_off_neither_looks_nor_keeps(store):
    cached(store).complete(ASK)
    inner = Counting()
    cached(store, "off", inner).complete(ASK)
    assert inner.asked == 1


def test_an_unknown_mode_is_refused(store):
    with pytest.raises(UsageError, match="known: record, replay, off"):
        cached(store, "sometimes")


def test_the_first_writers_answer_is_used(store):
    class Late:
        def complete(self, request):
            cached(store, inner=Counting()).complete(ASK)  # another process is faster
            return Completion("late")

    assert cached(store, inner=Late()).complete(ASK).content == "answer 1"


def test_a_damaged_entry_is_an_infrastructure_error():
    class Damaged:
        def get(self, key):
            return {"content": "x"}

        def put(self, key, entry):
            return entry

    with pytest.raises(InfrastructureError, match="seal cache verify"):
        cached(Damaged()).complete(ASK)


@pytest.mark.parametrize(
    "change",
    [
        {"messages": (Message("user", "hullo"),)},
        {"messages": (Message("system", "hello"),)},
        {"tools": ()},
        {"tools": (replace(TOOL, description="other"),)},
        {"tools": (replace(TOOL, parameters={"type": "object"}),)},
        {"role": "planner"},
        {"temperature": 0.5},
        {"seed": 1},
        {"max_tokens": 5},
        {"json_object": True},
    ],
)
def test_everything_that_shapes_an_answer_is_in_the_key(store, change):
    chat = cached(store)
    assert chat.complete(ASK).content != chat.complete(replace(ASK, **change)).content


@pytest.mark.parametrize("other", [{"trial": 1}, {"task": "t2"}, {"seed": 1}, {"vote": 1}])
def test_the_context_is_in_the_key(store, other):
    inner = Counting()
    cached(store, inner=inner).complete(ASK)
    cached(store, inner=inner, **other).complete(ASK)
    cached(store, inner=inner, identity={"model": "other"}).complete(ASK)
    assert inner.asked == 3


arguments = st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=3), max_size=4)


@given(arguments, st.randoms(), st.text(min_size=1, max_size=6))
def test_argument_order_and_call_ids_never_matter(given_arguments, random, call_id):
    kept: dict = {}

    class InMemory:
        def get(self, key):
            return kept.get(key)

        def put(self, key, entry):
            return kept.setdefault(key, entry)

    def asked(name, items):
        call = ToolCall(name, "t", dict(items))
        messages = (Message("assistant", "", (call,)), Message("tool", "r", call_id=name))
        return CachedModel(Counting(), InMemory(), IDENTITY).complete(Request(messages))

    items = list(given_arguments.items())
    asked("call_0", items)
    random.shuffle(items)
    asked(call_id, items)
    assert len(kept) == 1


def test_which_call_a_result_answers_is_in_the_key(store):
    calls = (ToolCall("x", "t", {}), ToolCall("y", "t", {}))
    chat = cached(store)
    said = {
        chat.complete(
            Request((Message("assistant", "", calls), Message("tool", "r", call_id=answered)))
        ).content
        for answered in ("x", "y")
    }
    assert len(said) == 2
