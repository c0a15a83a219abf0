import threading
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seal.core import CacheMissError, Response, Tool, UsageError
from seal.core.store import Store
from seal.simulator_cache.answer_cache import Cached, Fallback, Imported

TOOL = Tool("lab/weather/now", "now_for_weather", returns={"temperature": "float"})
SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
ARGUMENTS = st.dictionaries(
    st.text(max_size=8), SCALARS | st.lists(SCALARS, max_size=3), max_size=4
)


class Counting:
    """Answers with the number of calls so far."""

    identity = "counting/1"

    def __init__(self, cacheable: bool = True) -> None:
        self.asked: list[dict] = []
        self._cacheable = cacheable

    def respond(self, tool, arguments):
        self.asked.append(arguments)
        return Response({"n": len(self.asked)}, "" if self._cacheable else "bad", self._cacheable)


class Refusing:
    """Fails the test when it is asked."""

    identity = "counting/1"

    def respond(self, tool, arguments):
        raise AssertionError("asked under replay")


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "answers.sqlite") as opened:
        yield opened


def test_an_answer_is_asked_for_once(store):
    inner = Counting()
    cached = Cached(inner, store)
    assert cached.respond(TOOL, {"city": "Oslo"}) == Response({"n": 1})
    assert cached.respond(TOOL, {"city": "Oslo"}) == Response({"n": 1})
    assert len(inner.asked) == 1


@given(arguments=ARGUMENTS)
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50, deadline=None
)
def test_the_order_of_arguments_never_matters(store, arguments):
    cached = Cached(Counting(), store)
    turned = dict(reversed(arguments.items()))
    assert cached.key(TOOL, arguments) == cached.key(TOOL, turned)
    assert cached.respond(TOOL, arguments) == cached.respond(TOOL, turned)


def test_one_and_one_point_zero_are_one_call_and_true_is_another(store):
    cached = Cached(Counting(), store)
    assert cached.key(TOOL, {"n": 1}) == cached.key(TOOL, {"n": 1.0})
    assert cached.key(TOOL, {"n": 1}) != cached.key(TOOL, {"n": True})


@given(others=st.lists(ARGUMENTS, max_size=5))
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25, deadline=None
)
def test_an_answer_does_not_depend_on_other_entries(tmp_path_factory, others):
    from seal.simulator_cache.simulators import Template

    with Store(tmp_path_factory.mktemp("store") / "answers.sqlite") as filled:
        cached = Cached(Template(), filled)
        for arguments in others:
            cached.respond(TOOL, arguments)
        answer = cached.respond(TOOL, {"city": "Oslo"})
    assert answer == Template().respond(TOOL, {"city": "Oslo"})


def test_everything_that_shapes_an_answer_changes_its_key(store):
    class Prompted(Counting):
        def prompt_version(self, tool):
            return "v2"

    class Other(Counting):
        identity = "counting/2"

    keys = {
        Cached(Counting(), store).key(TOOL, {}),
        Cached(Counting(), store).key(TOOL, {"a": 1}),
        Cached(Counting(), store, seed=1).key(TOOL, {}),
        Cached(Prompted(), store).key(TOOL, {}),
        Cached(Other(), store).key(TOOL, {}),
        Cached(Counting(), store).key(replace(TOOL, description="Warmer."), {}),
        Cached(Counting(), store).key(replace(TOOL, id="lab/weather/then"), {}),
    }
    assert len(keys) == 7


def test_where_a_tool_was_imported_from_does_not_change_its_key(store):
    cached = Cached(Counting(), store)
    assert cached.key(replace(TOOL, source={"file": "b.json"}), {}) == cached.key(TOOL, {})


def test_a_changed_document_under_the_same_id_is_noticed(store):
    cached = Cached(Counting(), store)
    before = cached.key(TOOL, {})
    assert cached.key(replace(TOOL, description="Warmer."), {}) != before


def test_replay_gives_what_is_stored_and_never_asks(store):
    Cached(Counting(), store).respond(TOOL, {"city": "Oslo"})
    replay = Cached(Refusing(), store, "replay")
    assert replay.respond(TOOL, {"city": "Oslo"}) == Response({"n": 1})
    with pytest.raises(
        CacheMissError, match=r'now_for_weather\({"city":"Lima"}\) of lab/weather/now'
    ):
        replay.respond(TOOL, {"city": "Lima"})


def test_off_asks_every_time_and_keeps_nothing(store):
    cached = Cached(Counting(), store, "off")
    assert cached.respond(TOOL, {}) == Response({"n": 1})
    assert cached.respond(TOOL, {}) == Response({"n": 2})
    assert store.stats().entries == {}


def test_an_unknown_mode_lists_the_known_ones(store):
    with pytest.raises(UsageError, match="'strict'; known: record, replay, off"):
        Cached(Counting(), store, "strict")


def test_a_failure_of_the_simulator_is_passed_on_and_not_kept(store):
    inner = Counting(cacheable=False)
    cached = Cached(inner, store)
    assert cached.respond(TOOL, {}).error == "bad"
    assert cached.respond(TOOL, {}).response == {"n": 2}
    assert store.stats().entries == {}


def test_a_replay_fails_as_the_simulator_failed_and_another_run_asks_again(store):
    class Useless(Counting):
        def respond(self, tool, arguments):
            super().respond(tool, arguments)
            return Response("", "no JSON", cacheable=False, kind="simulator")

    inner = Useless()
    first = Cached(inner, store).respond(TOOL, {})
    assert Cached(Refusing(), store, "replay").respond(TOOL, {}) == first
    assert Cached(inner, store).respond(TOOL, {}) == first
    assert len(inner.asked) == 2
    assert Cached(Counting(), store).respond(TOOL, {}) == Response({"n": 1})
    assert Cached(Refusing(), store, "replay").respond(TOOL, {}) == Response({"n": 1})


def test_an_error_of_the_api_is_kept_like_any_answer(store):
    class Broken(Counting):
        def respond(self, tool, arguments):
            super().respond(tool, arguments)
            return Response("", "city not found")

    inner = Broken()
    cached = Cached(inner, store)
    assert cached.respond(TOOL, {}) == cached.respond(TOOL, {}) == Response("", "city not found")
    assert len(inner.asked) == 1


def test_of_two_that_simulate_at_once_both_use_the_first_answer(store):
    both_ask = threading.Barrier(2)

    class Slow:
        identity = "slow/1"

        def respond(self, tool, arguments):
            both_ask.wait(30)
            return Response({"thread": threading.get_ident()})

    cached = Cached(Slow(), store)
    answers = []
    threads = [
        threading.Thread(target=lambda: answers.append(cached.respond(TOOL, {}))) for _ in "ab"
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers[0] == answers[1]


def test_a_fallback_asks_until_there_is_an_answer(store):
    last = Counting()
    both = Fallback(Cached(Imported("elsewhere"), store), Cached(last, store))
    assert both.identity == "elsewhere+counting/1"
    assert both.respond(TOOL, {}) == Response({"n": 1})
    assert both.keys(TOOL, {}) == {Cached(last, store).key(TOOL, {})}
    assert both.keys(TOOL, {"other": 1}) == frozenset()


def test_a_stored_answer_that_an_earlier_simulator_made_needless_is_not_used(store):
    kept = Cached(Counting(), store)
    kept.respond(TOOL, {})
    assert Fallback(Counting(), kept).keys(TOOL, {}) == frozenset()
    assert Fallback(Counting(cacheable=False), kept).keys(TOOL, {}) == kept.keys(TOOL, {})


def test_imported_answers_alone_say_that_there_is_none(store):
    answer = Cached(Imported("elsewhere"), store).respond(TOOL, {})
    assert (answer.kind, answer.cacheable) == ("not_recorded", False)
