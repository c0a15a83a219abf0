"""What a model's answers come to in a run: scored where it is the model's, an error elsewhere."""

from pathlib import Path

import pytest
from servers import Answer, Received, answer, calls, text
from small_pools import asked_city, by_server, play, weather_task, write_pool

import seal
from seal.core import Message, RequestError

FULL = answer(
    {
        "error": {
            "code": 400,
            "message": "request (4390 tokens) exceeds the available context size (4096 tokens), "
            "try increasing it",
            "type": "exceed_context_size_error",
        }
    },
    400,
)
BLOCKED = answer(
    {
        "error": {
            "message": "The response was filtered due to the prompt triggering Azure OpenAI's "
            "content management policy.",
            "code": "content_filter",
        }
    },
    400,
)
BROKEN = answer({"error": {"message": "Out of memory"}}, 400)
STOPS = {
    "a full window": (FULL, "context_overflow"),
    "a filter of the prompt": (BLOCKED, "filtered"),
    "a filter of the answer": (text("Half an ans", finish_reason="content_filter"), "filtered"),
    "an error under 200": (
        answer({"error": {"code": 400, "message": "prompt is too long"}}),
        "context_overflow",
    ),
}


def after_calls(outcome: Answer):
    """Return a script that calls, and gives an outcome once the results are there."""

    def script(request: Received) -> Answer:
        if request.body["messages"][-1]["role"] == "tool":
            return outcome
        return by_server(request)

    return script


@pytest.fixture
def one(tmp_path: Path) -> Path:
    return write_pool(tmp_path / "one", [weather_task("Rome")])


def direct(pool, out, server, **settings):
    """Play with one role that calls and answers."""
    given = {"model": "openai/small", "base_url": server.url, "team": "direct", **settings}
    return play(pool, out, **given)


@pytest.mark.parametrize(("outcome", "reason"), STOPS.values(), ids=STOPS)
def test_an_outcome_of_the_models_own_is_scored_and_so_are_the_calls_before(
    model_server, one, tmp_path, outcome, reason
):
    server = model_server(after_calls(outcome))
    played = direct(one, tmp_path / "run", server)
    assert (played.exit_code, played.summary["errors"]) == (0, 0)
    assert played.summary["stop_reasons"] == {reason: 1}
    metrics = played.summary["metrics"]
    assert (metrics["call_f1"]["mean"], metrics["pass_rate"]["mean"]) == (1.0, 0.0)
    (trajectory,) = played.folder.trajectories()
    assert trajectory.answers == (None,)
    assert len(server.received) == 2  # it is not asked again


@pytest.mark.parametrize("outcome", [FULL, BLOCKED], ids=["overflow", "filter"])
def test_an_outcome_is_kept_and_comes_again_without_a_server(model_server, one, tmp_path, outcome):
    server = model_server(after_calls(outcome))
    first = direct(one, tmp_path / "first", server)
    asked = len(server.received)
    again = direct(one, tmp_path / "again", server, cache="replay")
    assert len(server.received) == asked
    paths = [run.folder.trajectories_path for run in (first, again)]
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_a_server_that_cannot_is_an_error_and_no_score(model_server, one, tmp_path):
    played = direct(one, tmp_path / "run", model_server(after_calls(BROKEN)))
    assert (played.exit_code, played.summary["stop_reasons"]) == (1, {"error": 1})
    assert played.summary["metrics"]["call_f1"]["mean"] is None


@pytest.mark.parametrize(("role", "persona"), [("user_simulator", {"goal": "it"}), ("judge", None)])
def test_a_full_window_of_the_user_or_the_judge_is_no_outcome_of_the_model(
    model_server, tmp_path, role, persona
):
    pool = write_pool(tmp_path / "pool", [weather_task("Rome", persona=persona)])
    full, right = model_server(lambda request: FULL), model_server(by_server)
    models = {role: f"openai/other,base_url={full.url}"}
    played = direct(pool, tmp_path / "run", right, role_models=models)
    assert played.summary["errors"] == 1
    assert "context_overflow" not in played.summary["stop_reasons"]


def test_an_own_agent_may_go_on_after_a_full_window(model_server, one, tmp_path):
    def short(request: Received) -> Answer:
        return FULL if len(request.body["messages"]) > 1 else text("It is sunny in Rome.")

    class Shortening:
        def reply(self, chat):
            told = [Message("user", step.content) for step in chat.steps]
            try:
                return seal.Reply(chat.complete([*told, *told]).content)
            except RequestError as error:
                assert error.refusal == "context_overflow"
                return seal.Reply(chat.complete(told[-1:]).content)

    class Wrapping:
        def reply(self, chat):
            told = [Message("user", step.content) for step in chat.steps]
            try:
                return seal.Reply(chat.complete([*told, *told]).content)
            except RequestError as error:
                raise ValueError("too long") from error

    server = model_server(short)
    for agent, reason in ((Shortening(), "done"), (Wrapping(), "context_overflow")):
        played = direct(one, tmp_path / reason, server, roles={"execution_manager": agent})
        assert played.summary["stop_reasons"] == {reason: 1}


def test_a_refusal_is_an_answer(model_server, one, tmp_path):
    refusing = after_calls(text(None, refusal="I must not."))
    played = direct(one, tmp_path / "run", model_server(refusing))
    assert played.summary["stop_reasons"] == {"done": 1}
    (trajectory,) = played.folder.trajectories()
    assert trajectory.answers == ("I must not.",)


def thinking(request: Received) -> Answer:
    """Think before each word, in the content or beside it; the answer is cut."""
    city = asked_city([m["content"] or "" for m in request.body["messages"]])
    if "tools" in request.body and request.body["messages"][-1]["role"] != "tool":
        return calls(("weather", {"city": city}), reasoning_content="I call.", usage=(10, 8))
    return text(f"<think>I answer.</think>\n\nIt is sunny in {city}.", finish_reason="length")


def test_thinking_stands_on_the_step_and_its_tokens_are_counted_apart(model_server, one, tmp_path):
    played = direct(one, tmp_path / "run", model_server(thinking))
    (trajectory,) = played.folder.trajectories()
    said = [step for step in trajectory.steps if step.author == "execution_manager"]
    assert [step.reasoning for step in said] == ["I call.", "I answer."]
    assert [step.finish_reason for step in said] == ["tool_calls", "length"]
    assert trajectory.answers == ("It is sunny in Rome.",)
    used = played.summary["usage"]
    assert (used["tokens_out"], used["reasoning"]) == (8 + 7, 2 + 3)  # by estimate
    assert played.summary["truncated"] == {"execution_manager": 1}
    assert played.summary["metrics"]["call_f1"]["mean"] == 1.0


def test_no_role_reads_another_ones_thinking(model_server, pool, tmp_path):
    server = model_server(thinking)
    play(
        pool,
        tmp_path / "run",
        model="openai/small",
        base_url=server.url,
        roles={"planner": "decompose", "verifier": "verifier", "checker": "checker"},
        limit=1,
    )
    assert len(server.received) > 3
    assert not any(
        b"think" in request.raw or b"I call." in request.raw for request in server.received
    )


def test_offline_runs_have_neither_reasons_nor_thinking_in_their_lines(pool, tmp_path):
    played = play(pool, tmp_path / "run", model="lexical")
    lines = played.folder.trajectories_path.read_bytes()
    assert b"finish_reason" not in lines and b'"reasoning"' not in lines
    assert "truncated" not in played.summary and "reasoning" not in played.summary["usage"]
