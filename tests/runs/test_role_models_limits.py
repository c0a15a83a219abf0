"""Limits of requests and tokens a minute: whose they are, and what is told while requests wait."""

import threading
import time

import pytest
from servers import ModelServer, failure, text

from seal.core import Message, Request, UsageError
from seal.core.store import Store
from seal.report.run_results import spent_words
from seal.runs.play import Progress
from seal.runs.resolve import baselines_of
from seal.runs.role_models import Cast, check_flags_used
from seal.runs.settings import RunSettings

ASK = Request((Message("user", "Weather?"),))
LIMITS = {"requests_per_minute": 600.0, "tokens_per_minute": 9000.0}


@pytest.fixture
def cast(tmp_path):
    def build(**settings):
        return Cast(RunSettings(**settings), store, None)

    with Store(tmp_path / "answers.sqlite") as store:
        yield build


def told(cast, role):
    how = cast.of(role).model.settings
    return how.requests_per_minute, how.tokens_per_minute


def test_a_limit_holds_for_the_model_and_for_roles_without_a_model_of_their_own(cast):
    url = "http://127.0.0.1:9/v1"
    judge = f"openai/j,base_url={url},requests_per_minute=30"
    found = cast(model="openai/m", base_url=url, role_models={"judge": judge}, **LIMITS)
    assert told(found, "planner") == (600, 9000)
    assert told(found, "judge") == (30, None)


def test_an_option_of_the_model_goes_before_the_flag(cast):
    model = "openai/m,base_url=http://127.0.0.1:9/v1,tokens_per_minute=50"
    found = cast(model=model, **LIMITS)
    assert told(found, "planner") == (600, 50)
    assert "its own tokens_per_minute holds" in found.asked()[0]


def test_baselines_have_no_limit():
    made = baselines_of(RunSettings(model="openai/m", **LIMITS), all_given=True, alike=False)
    assert [one.main.options for one in made.values()] == [{}, {}]


@pytest.mark.parametrize("value", [0, -3, "many"])
def test_a_limit_is_a_number_above_zero(cast, value):
    with pytest.raises(UsageError, match=r"requests.per.minute"):
        cast(model="openai/m", base_url="http://127.0.0.1:9/v1", requests_per_minute=value)
    with pytest.raises(UsageError, match=r"requests.per.minute"):
        cast(model=f"openai/m,base_url=http://127.0.0.1:9/v1,requests_per_minute={value}")


def test_a_limit_of_a_model_that_asks_no_server_is_refused_with_its_repair():
    settings = RunSettings(model="lexical", origins={"requests_per_minute": "flag"}, **LIMITS)
    with pytest.raises(UsageError, match="ROLE=openai/NAME,requests_per_minute=N"):
        check_flags_used(settings)
    check_flags_used(RunSettings(model="lexical", origins={}, **LIMITS))  # of a file for many runs


def test_what_waits_after_429_is_told(cast):
    answers = [failure(429, "Too many.", retry_after="30"), text("Sunny.")]
    with ModelServer(answers) as server:
        found = cast(model="openai/m", base_url=server.url)
        model = found.of("planner").model
        thread = threading.Thread(target=lambda: model.complete(ASK), daemon=True)
        thread.start()
        until = time.monotonic() + 60
        while not found.waits and time.monotonic() < until:
            time.sleep(0.01)
        assert found.waits == "1 of 1 wait: answered 429"
        state = Progress("play", 1, 2, tokens=3, waits=found.waits)
        assert list(spent_words(state))[-1] == "1 of 1 wait: answered 429"
        model._server.standing.down.set()  # ends the wait
        thread.join(60)
        assert found.waits == ""
