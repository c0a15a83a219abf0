"""What a model's answers come to in a run: scored where it is the model's, an error elsewhere."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from servers import Answer, Received, answer, calls, message, played, text
from small_pools import asked_city, by_server, play, weather_goal, weather_task, write_pool

import seal
from seal.cli.dispatch import main
from seal.core import Message, RequestError
from seal.core.call_formats import repairs_of
from seal.report.run_results import outcome_notes, summary_notes

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
    told = "1 goal ended as the window was full; a larger one of the server, or --top-k N, makes"
    notes = "\n".join(summary_notes(played.folder))
    assert (told in notes) == (reason == "context_overflow")
    (trajectory,) = played.folder.trajectories()
    assert trajectory.answers == (None,)
    posted = [one for one in server.received if one.method == "POST"]
    assert len(posted) == 2  # it is not asked again, but maybe for the size of its window


@pytest.mark.parametrize("outcome", [FULL, BLOCKED], ids=["overflow", "filter"])
def test_an_outcome_is_kept_and_comes_again_without_a_server(model_server, one, tmp_path, outcome):
    server = model_server(after_calls(outcome))
    first = direct(one, tmp_path / "first", server)
    asked = len(server.received)
    again = direct(one, tmp_path / "again", server, cache="replay")
    assert len(server.received) == asked
    paths = [run.folder.trajectories_path for run in (first, again)]
    assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.parametrize("told", [True, False])
def test_a_full_window_is_asked_again_where_it_may_have_grown(model_server, one, tmp_path, told):
    window = [4096]

    def script(request: Received) -> Answer:
        if request.method == "GET":
            shown = {"data": [{"id": "small", "max_model_len": window[0]}]}
            return answer(shown if told else {})
        return after_calls(FULL if window[0] < 9000 else text("Sunny."))(request)

    server = model_server(script)

    def asked(out: str, **settings: str) -> tuple[int, dict[str, int]]:
        before = len(server.received)
        played = direct(one, tmp_path / out, server, **settings)
        posts = [one for one in server.received[before:] if one.method == "POST"]
        return len(posts), played.summary["stop_reasons"]

    assert asked("first") == (2, {"context_overflow": 1})
    assert asked("same") == (0 if told else 1, {"context_overflow": 1})
    window[0] = 32768
    assert asked("grown") == (1, {"done": 1})
    assert asked("kept") == (0, {"done": 1})
    assert asked("played", cache="replay") == (0, {"context_overflow": 1})


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
    (told,) = played.summary["error_reasons"]
    assert told.endswith(f"Another model may take it: --role-model {role}=MODEL.")


@pytest.mark.parametrize(
    "outcome", [outcome for outcome, stop in STOPS.values() if stop == "filtered"]
)
def test_a_filter_of_the_users_answer_is_no_outcome_of_the_model(model_server, tmp_path, outcome):
    pool = write_pool(tmp_path / "pool", [weather_task("Rome", persona={"goal": "it"})])
    blocked, right = model_server(lambda request: outcome), model_server(by_server)
    models = {"user_simulator": f"openai/other,base_url={blocked.url}"}
    played = direct(pool, tmp_path / "run", right, role_models=models)
    assert played.summary["stop_reasons"] == {"error": 1}
    assert played.summary["metrics"]["pass_rate"]["mean"] is None


@pytest.mark.parametrize(
    ("silent", "stops"), [(1, {"user_ended": 1}), (9, {"error": 1})], ids=["once", "for ever"]
)
def test_a_user_who_only_thinks_is_asked_once_again_and_then_an_error(
    model_server, tmp_path, silent, stops
):
    pool = write_pool(tmp_path / "pool", [weather_task("Rome", persona={"goal": "it"})])
    thinking = [text("<think>I am content, so I") for _ in range(silent)]
    user = model_server(played(thinking, lambda request: calls(("end_conversation", {}))))
    models = {"user_simulator": f"openai/other,base_url={user.url}"}
    run = direct(pool, tmp_path / "run", model_server(by_server), role_models=models)
    assert run.summary["stop_reasons"] == stops
    assert len(user.received) == 2
    assert "You said nothing." in user.received[1].body["messages"][-1]["content"]
    if silent > 1:
        assert run.summary["metrics"]["pass_rate"]["mean"] is None
        (reason,) = run.summary["error_reasons"]
        assert "thought twice and said nothing; let it think less" in reason


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


@pytest.mark.slow
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


def failing_in(city: str):
    """Return a script that is right but for one city, where the server breaks."""

    def script(request: Received) -> Answer:
        return BROKEN if city.encode() in request.raw else by_server(request)

    return script


def test_a_rate_is_told_without_errors_and_with_them_as_failures(model_server, tmp_path):
    cities = ("Rome", "Oslo", "Bern", "Paris")
    pool = write_pool(tmp_path / "pool", [weather_task(city) for city in cities])
    played = direct(pool, tmp_path / "run", model_server(failing_in("Oslo")))
    entry = played.summary["metrics"]["call_f1"]
    assert (entry["mean"], entry["n"], entry["with_errors"]) == (1.0, 3, 0.75)
    assert "with_errors" not in played.summary["metrics"]["calls"]
    run = seal.Run.load(tmp_path / "run")
    assert run["call_f1"].with_errors == 0.75
    warned = "1 of 4 chats ended with errors"
    shown = "\n".join(map(str, summary_notes(run.folder)))
    assert warned in shown and warned in repr(run)
    assert "with errors 0.750" in str(run["call_f1"])
    assert repr(run).splitlines()[2].split()[-3:] == ["n", "with", "errors"]
    page = run.report().read_text()
    assert warned in page and "with errors 0.750" in page


def test_a_run_without_errors_has_one_figure(model_server, one, tmp_path):
    played = direct(one, tmp_path / "run", model_server(by_server))
    assert "with_errors" not in played.summary["metrics"]["call_f1"]
    assert not any("warning" in note for note in summary_notes(played.folder))


def test_one_error_in_a_hundred_chats_is_no_warning():
    lines = {"trajectories.jsonl": 100}
    assert list(outcome_notes({"errors": 1, "lines": lines})) == []
    assert len(list(outcome_notes({"errors": 2, "lines": lines}))) == 1
    assert list(outcome_notes({"errors": 0, "lines": {}})) == []


def test_cut_answers_and_thinking_are_told_to_the_reader(model_server, one, tmp_path, capsys):
    direct(one, tmp_path / "run", model_server(thinking))
    run = seal.Run.load(tmp_path / "run")
    told = "answers cut at a limit of tokens: execution_manager 1"
    page = run.report().read_text()
    assert told in summary_notes(run.folder)
    assert told in repr(run) and told in page
    assert main(["view", str(tmp_path / "run"), next(run.folder.tasks()).id]) == 0
    shown = capsys.readouterr().out
    assert "execution_manager thought:" in shown
    assert "<summary>Thinking" in page  # which folds it
    for mark in ("I answer.", "the answer was broken off: length"):
        assert mark in shown and mark in page


HERMES = '<tool_call>\n{"name": "weather", "arguments": {"city": "Rome"}}\n</tool_call>'


def unparsed(request: Received) -> Answer:
    """Answer as a server whose parser of calls is not set."""
    answered = any(message["role"] == "tool" for message in request.body["messages"])
    return text("It is sunny." if answered else HERMES)


@pytest.mark.parametrize(("model", "how"), [("small", "left"), ("qwen2.5-7b", "read")])
def test_calls_that_a_server_leaves_in_the_text_are_counted_told_and_read_by_family(
    model_server, one, tmp_path, capsys, model, how
):
    direct(one, tmp_path / "run", model_server(unparsed), model=f"openai/{model}")
    run = seal.Run.load(tmp_path / "run")
    assert run.summary["calls_in_text"] == {how: 1}
    told = {
        "left": "warning: 1 answer holds a call as text: the server parses none; use --format "
        "json, or a parser and a new --cache-dir",
        "read": "1 answer held a call as text, which was read as the model's family writes it; "
        "-M profile=plain leaves it text",
    }[how]
    assert told in summary_notes(run.folder) and told in repr(run)
    assert main(["explain", str(tmp_path / "run")]) == 0
    assert " ".join(told.split()) in " ".join(capsys.readouterr().out.split())
    assert run["call_f1"].mean == (how == "read")
    step = next(step for step in next(run.folder.trajectories()).steps if step.finish_reason)
    if how == "read":
        assert step.finish_reason == "call_in_text" and step.call.raw == HERMES
        assert repairs_of(step.call) == ("in_content",)
    else:
        assert (step.finish_reason, step.content) == ("stop", HERMES)


@pytest.mark.parametrize(
    "mark", ["<|im_end|>\n<|im_start|>user\nAnd in Oslo?", "<end_of_utterance>"]
)
def test_end_marks_that_a_server_leaves_in_an_answer_are_told(model_server, one, tmp_path, mark):
    def runaway(request: Received) -> Answer:
        return text(f"It is sunny.{mark}")

    direct(one, tmp_path / "run", model_server(runaway), model="openai/small")
    run = seal.Run.load(tmp_path / "run")
    assert run.summary["calls_in_text"] == {"marks": 1}
    told = (
        "warning: 1 answer holds an end mark of the chat template; "
        """name it to the server, as in -M 'stop=["<|im_end|>"]'"""
    )
    assert told in summary_notes(run.folder) and told in repr(run)


def swallowed(written: str):
    """Return a script of a server that takes calls for thinking."""

    def script(request: Received) -> Answer:
        if request.body["messages"][-1]["role"] == "tool":
            return text("It is sunny.")
        return message("", reasoning_content=f"I look.\n{written}")

    return script


@pytest.mark.parametrize(
    ("model", "format", "written", "how"),
    [
        ("small", "native", HERMES, "thoughts"),
        ("qwen3-8b", "native", HERMES, "read"),
        ("small", "json", '{"name": "weather", "arguments": {"city": "Rome"}}', "thoughts"),
    ],
)
def test_calls_that_a_server_leaves_in_the_thinking_are_told_and_read_by_family(
    model_server, one, tmp_path, model, format, written, how
):
    server = model_server(swallowed(written))
    direct(one, tmp_path / "run", server, model=f"openai/{model}", format=format)
    run = seal.Run.load(tmp_path / "run")
    assert run.summary["calls_in_text"] == {how: 1}
    told = (
        "warning: 1 answer holds a call as text in the thinking, and nothing else: start the "
        "server with the parser of this model's thinking, or with none, and play with another "
        "--cache-dir"
    )
    assert (told in summary_notes(run.folder)) == (how == "thoughts")
    assert run["call_f1"].mean == (how == "read")
    if how == "read":
        step = next(step for step in next(run.folder.trajectories()).steps if step.finish_reason)
        assert repairs_of(step.call) == ("in_thoughts",) and step.reasoning == "I look."


def test_repairs_of_native_calls_are_counted_and_told(model_server, one, tmp_path):
    def script(request: Received) -> Answer:
        if request.body["messages"][-1]["role"] == "tool":
            return text("It is sunny.")
        function = {"name": "weather", "arguments": '{"city": "Rome"'}
        return message(None, [{"id": "a", "type": "function", "function": function}])

    direct(one, tmp_path / "run", model_server(script))
    run = seal.Run.load(tmp_path / "run")
    told = "1 call repaired to be read: closed 1"
    assert run.summary["repaired"] == {"calls": 1, "closed": 1}
    assert told in summary_notes(run.folder) and told in repr(run)
    assert run["call_f1"].mean == 1


def test_empty_answers_are_scored_and_told(model_server, one, tmp_path):
    direct(one, tmp_path / "run", model_server(lambda request: text("")))
    run = seal.Run.load(tmp_path / "run")
    assert run.summary["errors"] == 0 and sum(run.summary["empty_answers"].values()) == 1
    told = "empty answers, which count as the model's: execution_manager 1"
    assert told in summary_notes(run.folder) and told in repr(run)


def test_thinking_alone_and_escaped_arguments_are_told(model_server, one, tmp_path):
    thought = message("", reasoning_content="It is sunny, I think.")
    script = after_calls(thought)

    def escaping(request: Received) -> Answer:
        made = script(request)
        return Answer(made.body.replace(b"Rome", b"Rome &amp; Ostia"), headers=made.headers)

    direct(one, tmp_path / "run", model_server(escaping))
    run = seal.Run.load(tmp_path / "run")
    assert run.summary["calls_in_text"] == {"escaped": 1, "thought": 1}
    notes = summary_notes(run.folder)
    for told in ("1 answer with thinking alone; if an", "1 answer with characters such as &amp;"):
        assert any(note.startswith(told) for note in notes)
    assert any(note.endswith(" or with none, and play with another --cache-dir") for note in notes)


def test_words_of_which_no_token_is_counted_are_scored_and_told(model_server, one, tmp_path):
    said = text("Monday.", usage=(0, 0))
    direct(one, tmp_path / "run", model_server(lambda request: said))
    run = seal.Run.load(tmp_path / "run")
    assert run.summary["errors"] == 0 and run.summary["uncounted"] == 1
    told = next(note for note in summary_notes(run.folder) if "counts no token" in note)
    assert told.startswith("1 answer with words") and told[:60] in repr(run)


@pytest.mark.parametrize(
    ("users", "silent"), [({}, None), ({"user_simulator": "oracle"}, ["checker"])]
)
def test_a_seated_role_that_speaks_in_no_chat_is_told(one, tmp_path, users, silent):
    """The checker keeps out where a user answers."""
    play(one, tmp_path / "run", model="oracle", team="full", role_models=users)
    run = seal.Run.load(tmp_path / "run")
    told = "checker spoke in no chat, as a user answers; --role checker=none leaves it out"
    assert run.summary.get("silent_roles") == silent
    assert (told in summary_notes(run.folder)) is (silent is not None)


def test_seats_that_a_benchmark_takes_by_itself_are_not_told(tmp_path):
    run = seal.run(
        "toolsandbox-sample", model="oracle", limit=1, baselines=False, out=tmp_path / "run"
    )
    assert run.folder.manifest()["system"]["roles"]["checker"] == "checker"
    assert "silent_roles" not in run.summary


def test_an_agent_that_crashes_in_every_chat_is_not_told_to_be_silent(one, tmp_path):
    def broken(request, tools):
        raise RuntimeError("no")

    run = seal.run(one, agent=broken, baselines=False, out=tmp_path / "run")
    assert run.summary["stop_reasons"] == {"crashed": 1}
    assert "silent_roles" not in run.summary


def test_ends_that_nobody_knows_are_counted_and_told(model_server, one, tmp_path):
    direct(one, tmp_path / "run", model_server(lambda request: text("So.", finish_reason="Noon")))
    run = seal.Run.load(tmp_path / "run")
    told = "answers that ended by an unknown word, and count as they stand: 'noon' 1"
    assert run.summary["unknown_ends"] == {"noon": 1}
    assert told in summary_notes(run.folder) and told in repr(run)


@pytest.mark.parametrize(("usage", "told"), [((11, 7), ""), (None, " (estimated)")])
def test_tokens_that_no_server_counted_are_told_as_estimates(
    model_server, one, tmp_path, capsys, usage, told
):
    url = model_server(lambda request: text("I do not know.", usage=usage)).url
    words = ["run", str(one), "--model", f"openai/x,base_url={url}", "--no-baselines"]
    assert main([*words, "--team", "direct", "--out", str(tmp_path / "run")]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f" out{told} spent until now" in shown
    assert f" tokens{told}, of no known price" in shown


ECHO = "It is sunny in Rome, and it will stay so until the end of the week."


def echoing(request: Received) -> Answer:
    """Answer in Rome at length, elsewhere as `by_server`."""
    answered = by_server(request)
    return text(ECHO) if b"Rome" in request.raw and b"It is" in answered.body else answered


def test_chats_that_the_user_spoilt_are_counted_and_may_be_left_out(model_server, tmp_path, capsys):
    cities = ("Rome", "Oslo")
    tasks = [
        weather_task(city, n, persona={"goal": "the weather"}) for n, city in enumerate(cities)
    ]
    pool = write_pool(tmp_path / "pool", tasks)
    done = calls(("end_conversation", {}), content="Thank you.")

    def user(request: Received) -> Answer:
        heard = request.raw.count(ECHO.encode())
        return text(ECHO) if heard == 1 else done

    models = {"user_simulator": f"openai/u,base_url={model_server(user).url}"}
    server = model_server(echoing)
    played = direct(pool, tmp_path / "run", server, role_models=models)
    flags = [s for s in played.folder.scores() if s.metric == "user_instruction_error"]
    assert sorted((s.value, s.reason) for s in flags) == [(0.0, ""), (1.0, "repeated_assistant")]
    assert played.summary["spoilt"] == 1
    assert played.summary["metrics"]["call_f1"]["n"] == 2
    assert main(["score", str(tmp_path / "run"), "--without-spoilt"]) == 0
    assert "1 chat spoilt by errors of the user (out of the scores)" in capsys.readouterr().out
    again = seal.Run.load(tmp_path / "run")
    assert again.summary["metrics"]["call_f1"]["reasons"] == {"spoilt by the user": 1}
    assert (again["call_f1"].n, again["user_instruction_error"].n) == (1, 2)
    alike = direct(pool, tmp_path / "out", server, role_models=models, without_spoilt=True)
    assert alike.summary["metrics"] == again.summary["metrics"]


def test_floor_and_ceiling_cost_nothing(model_server, tmp_path):
    goal = weather_goal("Rome", plans=None)  # nothing is recorded: an answer must be simulated
    pool = write_pool(tmp_path / "pool", [weather_task("Rome", goals=(goal,))])
    judge = model_server(by_server)
    simulator = model_server(lambda request: text('{"error": "", "response": "sunny"}'))
    asked = {
        "model": "openai/x",
        "base_url": model_server(by_server).url,
        "simulator": "llm",
        "role_models": {
            "judge": f"openai/j,base_url={judge.url}",
            "simulator": f"openai/s,base_url={simulator.url}",
        },
        "cache": "off",
        "baselines": True,
    }
    played = play(pool, tmp_path / "run", **asked)
    assert (len(judge.received), len(simulator.received)) == (1, 1)
    notes = [note for note in summary_notes(played.folder) if "floor and ceiling" in note]
    assert [note.partition(":")[0] for note in notes] == [
        "floor and ceiling have another judge and simulator"
    ]


def test_a_judge_that_is_the_checker_is_not_asked_twice(model_server, one, tmp_path):
    def checks(server):
        return sum("response_format" in request.body for request in server.received)

    server = model_server(by_server)
    asked = {"model": "openai/x", "base_url": server.url, "judge": "llm"}
    played = play(one, tmp_path / "run", **asked)
    assert checks(server) == 1
    assert played.summary["metrics"]["pass_rate"]["mean"] == 1.0
    play(
        one,
        tmp_path / "other",
        **{**asked, "model": "openai/y"},
        role_models={"judge": f"openai/z,base_url={server.url}"},
    )
    assert checks(server) == 3


def test_a_relay_hands_the_only_report_on(model_server, one, tmp_path):
    server = model_server(by_server)
    asked = {"model": "openai/x", "base_url": server.url}
    whole = play(one, tmp_path / "run", **asked)
    requests = len(server.received)
    short = play(one, tmp_path / "short", **asked, roles={"orchestrator": "relay"}, cache="off")
    assert len(server.received) - requests == requests - 1
    answers = [next(run.folder.trajectories()).answers for run in (whole, short)]
    assert answers[0] == answers[1]


WINDOW = 3
"""Results that the server takes."""


def small_window(request: Received) -> Answer:
    """Call six times, one after the other; refuse a prompt of more than `WINDOW` results."""
    results = [m["content"] for m in request.body["messages"] if m["role"] == "tool"]
    if len(results) > WINDOW:
        return FULL
    return calls(("weather", {"city": "Rome", "day": str(len(results))}))


def test_a_goal_ends_where_the_window_is_too_small(model_server, one, tmp_path):
    server = model_server(small_window)
    asked = {"max_turns": 9}
    played = direct(one, tmp_path / "run", server, **asked)
    assert played.summary["stop_reasons"] == {"context_overflow": 1}
    trajectories = played.folder.trajectories_path.read_bytes()
    again = direct(one, tmp_path / "again", server, **asked, cache="replay")
    assert again.folder.trajectories_path.read_bytes() == trajectories


WROTE = "<tool_call>{weather Rome</tool_call>"
UNREAD = {
    "llama.cpp": ({"code": 500, "message": f"Failed to parse input at pos 0: {WROTE}"}, 500),
    "ollama": ({"message": f"error parsing tool call: raw='{WROTE}', err=invalid character"}, 500),
    "groq": (
        {
            "message": "Failed to call a function. See 'failed_generation' for more details.",
            "code": "tool_use_failed",
            "failed_generation": WROTE,
        },
        400,
    ),
}
_GROQ = json.dumps({"error": UNREAD["groq"][0]})
_NOVA = "Model produced invalid sequence as part of ToolUse. Please refer to the guide."
_PEG = "The model produced output that does not match the expected peg-native format"
UNREAD |= {
    "groq behind openrouter": (
        {
            "message": "Provider returned error",
            "code": 400,
            "metadata": {"raw": _GROQ, "provider_name": "Groq"},
        },
        400,
    ),
    "groq behind litellm": ({"message": f"litellm.BadRequestError: GroqException - {_GROQ}"}, 400),
    "llama.cpp amid a stream": (UNREAD["llama.cpp"][0], 200),
    "groq amid a stream": (UNREAD["groq"][0], 200),
}
UNTOLD = {
    "llama.cpp, by its grammar": ({"code": 500, "message": _PEG, "type": "server_error"}, 500),
    "bedrock": ({"message": _NOVA, "type": "ModelErrorException"}, 424),
    "lm studio": ({"message": "Failed to parse tool call: Unexpected end of content"}, 500),
    "cohere": ({"message": "No valid tool call or response generated"}, 422),
    "bedrock amid a stream": ({"message": _NOVA}, 200),
    "bedrock behind litellm": (
        {
            "message": "litellm.BadRequestError: BedrockException - "
            + json.dumps({"message": _NOVA})
        },
        400,
    ),
}


def of_error(error, status):
    """Return an error as a server answers it: by its status, or within a stream."""
    if status != 200:
        return answer({"error": error}, status)
    data = f"data: {json.dumps({'error': error})}\n\n"
    return Answer(data.encode(), headers={"Content-Type": "text/event-stream"})


@pytest.mark.parametrize("served", (UNREAD | UNTOLD).values(), ids=UNREAD | UNTOLD)
def test_calls_that_the_server_cannot_read_are_the_models_words(
    model_server, one, tmp_path, served
):
    server = model_server(lambda request: of_error(*served))
    played = direct(one, tmp_path / "run", server)
    assert played.summary["stop_reasons"] == {"done": 1}
    assert (played.summary["errors"], len(server.received)) == (0, 1)
    (trajectory,) = played.folder.trajectories()
    wrote = None if served in UNTOLD.values() else WROTE
    assert trajectory.answers == (wrote,)
    assert trajectory.steps[-1].finish_reason == "unreadable"
    assert played.summary["metrics"]["call_recall"]["mean"] == 0.0


@pytest.mark.parametrize("workers", [1, 60])
def test_workers_that_need_more_open_files_than_there_may_be_are_refused(workers, tmp_path):
    command = f"ulimit -n 64; exec {sys.executable} -m seal run sample --first 1 --no-baselines"
    command += f" --workers {workers} --out {tmp_path / 'run'}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    refusal = "they need about 92 open files, and this process may open 64; give fewer --workers"
    assert (refusal in done.stderr, done.returncode) == ((True, 2) if workers > 1 else (False, 0))
