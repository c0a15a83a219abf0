"""Whole runs under each format, style and feedback, offline and against a server."""

import json
from pathlib import Path
from typing import Any

import pytest
from servers import Answer, Received, failure, text
from small_pools import IDENTICAL, asked_city, contents, many, play, weather_task, write_pool

import seal
from seal.core import UsageError
from seal.core.call_formats import repairs_of
from seal.runs.settings import RunSettings

FORMATS = ("native", "action", "json")
CALLS = {
    "action": 'Action: weather\nAction Input: {{"city": "{}"}}',
    "json": '{{"name": "weather", "arguments": {{"city": "{}"}}}}',
}
RESULTS = {"action": "Observation:", "json": "Result:"}


def toolless(format: str):
    """Answer as a server without tool calling: tools and tool messages are refused."""

    def answer_to(request: Received) -> Answer:
        body = request.body
        roles = {message["role"] for message in body["messages"]}
        if "tools" in body or "tool" in roles:
            return failure(400, "this model does not support tools")
        city = asked_city([message["content"] for message in body["messages"]])
        called = "You call tools in writing" in body["messages"][0]["content"]
        if called and not body["messages"][-1]["content"].startswith(RESULTS[format]):
            return text(CALLS[format].format(city))
        return text(f"It is sunny in {city}.")

    return answer_to


def means(summary: dict[str, Any]) -> dict[str, float | None]:
    return {name: metric["mean"] for name, metric in summary["metrics"].items()}


@pytest.mark.parametrize("format", ["action", "json"])
def test_a_server_without_tool_calling_plays_in_text(format, pool: Path, tmp_path, model_server):
    server = model_server(toolless(format))
    played = play(
        pool, tmp_path / "run", model="openai/x", base_url=server.url, format=format, top_k=2
    )
    found = means(played.summary)
    assert (played.exit_code, found["call_recall"], found["pass_rate"]) == (0, 1.0, 1.0)
    system = played.folder.manifest()["system"]
    assert (system["format"], system["tool_messages"]) == (format, "text")
    (first, *_) = played.folder.trajectories()
    call = next(step.call for step in first.steps if step.call)
    assert (call.tool, call.raw) == ("small/weather/get", "")


def test_natively_such_a_server_is_asked_in_text_once_it_has_refused(
    pool, tmp_path, model_server, caplog
):
    server = model_server(toolless("json"))
    settings = {"base_url": server.url, "top_k": 2, "workers": 1}
    played = play(pool, tmp_path / "run", model="openai/x", **settings)
    found = means(played.summary)
    assert (played.exit_code, found["call_recall"], found["pass_rate"]) == (0, 1.0, 1.0)
    assert sum("tools" in request.body for request in server.received) == 1
    assert "openai/x refused a request; from now on: tools = false" in caplog.text


def test_answers_are_kept_for_each_format(pool, tmp_path, model_server):
    servers = {format: model_server(toolless(format)) for format in ("action", "json")}
    settings = {"model": "openai/x", "top_k": 2}
    for format, server in servers.items():
        play(pool, tmp_path / format, base_url=server.url, format=format, **settings)
    asked = {format: len(server.received) for format, server in servers.items()}
    assert min(asked.values()) > 0
    for format, server in servers.items():
        again = play(
            pool,
            tmp_path / f"{format}-again",
            base_url=server.url,
            format=format,
            cache="replay",
            **settings,
        )
        assert again.exit_code == 0
        assert contents(again.folder.path) == contents(tmp_path / format)
    assert {format: len(server.received) for format, server in servers.items()} == asked


@pytest.mark.parametrize("model", ["lexical", "random", "oracle"])
def test_offline_models_do_the_same_in_every_format(model, pool, tmp_path):
    retriever = {"retriever": "oracle"} if model == "oracle" else {}
    runs = {
        format: play(pool, tmp_path / format, model=model, format=format, **retriever)
        for format in FORMATS
    }
    first = contents(runs["native"].folder.path)
    for played in runs.values():
        found = contents(played.folder.path)
        assert [found[name] == first[name] for name in IDENTICAL] == [True] * len(IDENTICAL)


def test_a_run_is_resumed_only_in_its_format_and_feedback(pool, tmp_path):
    play(pool, tmp_path / "run", format="action")
    with pytest.raises(UsageError, match=r"system\.format: was 'action', is 'json'"):
        play(pool, tmp_path / "run", resume=True, format="json")
    with pytest.raises(UsageError, match=r"measure\.feedback: was 'auto', is 'off'"):
        play(pool, tmp_path / "run", resume=True, format="action", feedback="off")


def wrong_type(tmp_path: Path) -> str:
    """Return a scripted model that errs once in every way, then gives up."""
    wrong = [
        {"name": "wether", "arguments": {"city": "Rome"}},
        {"name": "weather", "arguments": {"town": "Rome"}},
        {"name": "weather", "arguments": {"city": 7}},
        {"name": "weather", "arguments": "Rome"},
    ]
    answers = [*({"calls": [call]} for call in wrong), "I give up."]
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"execution_manager": answers, "*": ["Well."] * 9}))
    return f"scripted:{script}"


@pytest.mark.parametrize("format", FORMATS)
def test_feedback_is_the_same_for_native_calls_and_calls_in_text(format, tmp_path):
    pool = write_pool(tmp_path / "pool", many(1))
    kinds = {}
    for feedback in ("on", "off"):
        played = play(
            pool,
            tmp_path / feedback,
            model=wrong_type(tmp_path),
            format=format,
            feedback=feedback,
            retriever="tfidf",
            top_k=3,
        )
        assert played.exit_code == 0
        (trajectory,) = played.folder.trajectories()
        results = [step.result for step in trajectory.steps if step.result]
        kinds[feedback] = [result.error and result.error["kind"] for result in results]
        explained = ["feedback" in json.loads(result.content) for result in results]
        assert explained == [feedback == "on"] * 4
    assert kinds["on"] == ["unknown_tool", "unknown_argument", "wrong_type", "unparsable_arguments"]
    assert kinds["off"] == ["unknown_tool", None, None, "unparsable_arguments"]
    assert played.folder.manifest()["measure"]["feedback"] == "off"


@pytest.mark.parametrize("feedback", ["auto", "on", "off"])
def test_the_phone_is_played_under_every_feedback(feedback, tmp_path):
    played = play("toolsandbox-sample", tmp_path / "run", limit=3, feedback=feedback)
    assert (played.exit_code, played.summary["errors"]) == (0, 0)


def test_a_thinking_server_is_heard_in_text(tmp_path, model_server):
    pool = write_pool(tmp_path / "pool", many(1))

    def answer_to(request: Received) -> Answer:
        last = request.body["messages"][-1]["content"]
        if last.startswith("Observation"):
            return text("Thought: I have it.\nFinal Answer: It is sunny in Rome.")
        if last == "Go on.":
            return text(CALLS["action"].format("Rome"))
        return text("Thought: I need the weather.")

    server = model_server(answer_to)
    played = play(
        pool,
        tmp_path / "run",
        model="openai/x",
        base_url=server.url,
        format="action",
        roles={"execution_manager": "react"},
        team="direct",
    )
    (trajectory,) = played.folder.trajectories()
    said = [(step.author, step.recipient, step.content) for step in trajectory.steps]
    assert said[1] == ("execution_manager", "execution_manager", "Thought: I need the weather.")
    assert trajectory.answers == ("It is sunny in Rome.",)
    assert means(played.summary)["pass_rate"] == 1.0
    assert played.folder.manifest()["system"]["roles"]["execution_manager"] == "react"


def test_an_example_reaches_the_server_and_is_of_another_task(tmp_path, model_server):
    pool = write_pool(tmp_path / "pool", [weather_task("Rome"), weather_task("Oslo")])
    server = model_server(toolless("json"))
    played = play(
        pool,
        tmp_path / "run",
        model="openai/x",
        base_url=server.url,
        format="json",
        one_shot=True,
        team="direct",
    )
    assert played.exit_code == 0
    for received in server.received:
        system, asked = (message["content"] for message in received.body["messages"][:2])
        shown = system.partition("Request: ")[2].splitlines()[0]
        assert {asked, shown} == {"What is the weather in Rome?", "What is the weather in Oslo?"}
    assert played.folder.manifest()["system"]["one_shot"] is True


def test_one_shot_needs_another_task_with_gold_calls(tmp_path):
    pool = write_pool(tmp_path / "pool", many(1))
    with pytest.raises(UsageError, match="--one-shot: no task has another one"):
        play(pool, tmp_path / "run", one_shot=True)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"format": "xml"}, "no value of format 'xml'; known: action, bracket, json, native, "),
        ({"feedback": "maybe"}, "no value of feedback 'maybe'; known: auto, off, on"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings, told):
    with pytest.raises(UsageError, match=told):
        RunSettings(**settings)


CLOCK = {"name": "now", "parameters": {"type": "object", "properties": {}}}
ZONED = {"name": "now", "parameters": {"type": "object", "properties": {"zone": {}}}}
NOTHING_GIVEN = {
    '{}""': ("native", "trailing_text"),
    "null": ("native", "no_input"),
    " None ": ("native", "no_input"),
    "{ }`": ("native", "trailing_text"),
    "Action: now\nAction Input: null": ("action", "no_input"),
    "Action: now\nAction Input: {}''": ("action", "trailing_text"),
    '{"name": "now", "arguments": null}': ("json", "no_input"),
    '{"name": "now", "arguments": "{}\'"}': ("json", "arguments_as_text"),
}


def called_once(written: str, format: str, tool: dict[str, Any], folder: Path) -> seal.Run:
    """Play one task whose model writes one call, as arguments where the format is native."""
    first: Any = written
    if format == "native":
        first = {"calls": [{"name": "now", "arguments": written}]}
    script = folder / "script.json"
    script.write_text(json.dumps([first, "It is noon."]))
    task = seal.ask("What time is it?", seal.called("now", seal.ANY))
    return seal.run(
        [task],
        tools=[tool],
        model=f"scripted:{script}",
        team="direct",
        format=format,
        baselines=False,
        out=folder / "run",
    )


@pytest.mark.parametrize("written", NOTHING_GIVEN)
def test_a_tool_without_parameters_gets_none_from_a_text_that_says_nothing(written, tmp_path):
    format, repair = NOTHING_GIVEN[written]
    run = called_once(written, format, CLOCK, tmp_path)
    (chat,) = run.folder.trajectories()
    ((call, result),) = [(step.call, answer.result) for step, answer in chat.calls(0)]
    assert (call.arguments, result.error) == ({}, None)
    assert repair in repairs_of(call)
    assert (run["calls_right"].mean, run["ife"].mean) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("written", "tool", "kind"),
    [
        ("tell me the time", CLOCK, "unparsable_arguments"),
        ("say null", CLOCK, "unparsable_arguments"),
        ("[]", CLOCK, "unparsable_arguments"),
        ('{} "utc"', CLOCK, "unparsable_arguments"),
        ('{"when": 1}', CLOCK, "unknown_argument"),
        ('{}""', ZONED, "unparsable_arguments"),
        ("null", ZONED, "unparsable_arguments"),
    ],
)
def test_no_gold_call_is_met_by_one_that_was_refused(written, tool, kind, tmp_path):
    run = called_once(written, "native", tool, tmp_path)
    (chat,) = run.folder.trajectories()
    assert [answer.result.error["kind"] for _, answer in chat.calls(0)] == [kind]
    assert (run["calls_right"].mean, run["pass_rate"].mean) == (0.0, 0.0)
    assert run["all_gold_calls"].mean == 0.0
