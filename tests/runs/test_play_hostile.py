"""Servers that fail in every way, models that say anything: a run ends with recorded outcomes."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from servers import (
    Answer,
    ModelServer,
    Received,
    calls,
    failure,
    garbage,
    half,
    message,
    nothing,
    text,
)
from small_pools import (
    TOOLS,
    Weatherman,
    by_server,
    contents,
    many,
    play,
    weather_goal,
    weather_task,
    write_pool,
)

from seal.core import (
    Completion,
    DataError,
    Goal,
    Milestone,
    OutageError,
    Plan,
    Reply,
    Request,
    Response,
    Task,
    Tool,
    ToolCall,
    write_records,
)
from seal.core.conditions import Argument, Called
from seal.models.given_answers import ScriptedModel
from seal.report.run_pages import write_report
from seal.report.run_results import summary_notes
from seal.runs.finished import rescore
from seal.runs.play import RunResult

QUICK = {"max_tries": 3, "first_wait_s": 0.01}
KEY = "sk-zebra-7391-do-not-show"


def deep(levels: int) -> str:
    return '{"a":' * levels + "1" + "}" * levels


def by_manager(answer: Answer) -> Any:
    """Return a script whose manager gives this answer until it has a result."""

    def script(request: Received) -> Answer:
        if "tools" not in request.body or request.body["messages"][-1]["role"] == "tool":
            return by_server(request)
        return answer

    return script


def readable(result: RunResult) -> None:
    """Check that every file can be read back and holds every task."""
    assert len(list(result.folder.trajectories())) == result.summary["tasks"]
    assert list(result.folder.scores())
    for trajectory in result.folder.trajectories():
        assert [step.index for step in trajectory.steps] == list(range(len(trajectory.steps)))


@pytest.mark.parametrize(
    "trouble",
    [failure(429, retry_after="0"), failure(500), failure(503), garbage(), half(), nothing()],
    ids=["429", "500", "503", "garbage", "half", "nothing"],
)
def test_trouble_that_passes_leaves_no_trace(model_server, tmp_path, trouble):
    pool = write_pool(tmp_path / "pool", many(2))
    seen: list[bytes] = []

    def script(request: Received) -> Answer:
        seen.append(request.raw)
        return trouble if seen.count(request.raw) == 1 else by_server(request)

    server = model_server(script)
    settings = {"model": "openai/x", "base_url": server.url, "model_options": QUICK}
    troubled = play(pool, tmp_path / "a", **settings)
    calm = play(pool, tmp_path / "b", cache="off", **settings)

    assert troubled.exit_code == 0
    assert contents(troubled.folder.path) == contents(calm.folder.path)
    assert len(seen) == 4 * 2 * 2 + 4 * 2


@pytest.mark.parametrize(
    "trouble",
    [failure(500), garbage(), Answer(b"[]")],
    ids=["500", "garbage", "list"],
)
def test_trouble_that_stays_is_an_error_of_each_task(model_server, pool, tmp_path, trouble):
    """A server that has answered once is one of models: its trouble is about the requests."""
    answered: list[bytes] = []

    def script(request: Received) -> Answer:
        answered.append(request.raw)
        return by_server(request) if len(answered) == 1 else trouble

    server = model_server(script)
    settings = {"model": "openai/x", "base_url": server.url, "model_options": QUICK}
    result = play(pool, tmp_path / "run", **settings)

    assert result.exit_code == 1
    assert result.summary["errors"] == 4
    assert result.summary["stop_reasons"] == {"error": 4}
    assert {score.value for score in result.folder.scores()} == {None}
    readable(result)


@pytest.mark.parametrize(
    "trouble",
    [failure(401), failure(404), failure(500), half(), nothing(), garbage(), Answer(b"[]")],
    ids=["401", "404", "500", "half", "nothing", "garbage", "list"],
)
def test_a_server_that_takes_nobody_plays_no_chat(model_server, pool, tmp_path, trouble):
    server = model_server(lambda request: trouble)
    settings = {"model": "openai/x", "base_url": server.url, "model_options": QUICK}
    with pytest.raises(OutageError, match="Play again once the server takes requests"):
        play(pool, tmp_path / "run", **settings)
    assert not (tmp_path / "run").exists()

    (tmp_path / "mine").mkdir()  # a folder of the user's own is left as it was
    with pytest.raises(OutageError):
        play(pool, tmp_path / "mine", **settings)
    assert not any((tmp_path / "mine").iterdir())


def test_the_record_says_what_was_left_out_as_the_server_refused_it(model_server, tmp_path):
    def script(request: Received) -> Answer:
        refused = failure(400, "Unsupported parameter: 'temperature' is not supported")
        return refused if "temperature" in request.body else by_server(request)

    pool, url = write_pool(tmp_path / "pool", many(2)), model_server(script).url
    settings = {"model": "openai/x", "base_url": url, "temperature": 0.5}
    told = {f"openai/x,base_url={url}": "temperature left out"}
    for resume in (False, True):  # the second asks nobody
        result = play(pool, tmp_path / "run", resume, **settings)
        assert result.exit_code == 0
        assert result.folder.manifest()["refused"] == told
    report = write_report([result.folder], tmp_path / "report.html").read_text()
    assert f"{next(iter(told))} refused a request: temperature left out" in report


@pytest.mark.parametrize(("name", "is_told"), [("n", True), ("provider/M-2024-08-06", False)])
def test_an_answer_of_another_model_is_told(model_server, tmp_path, name, is_told):
    def script(request: Received) -> Answer:
        made = by_server(request)
        return replace(made, body=re.sub(rb'"model": ?"[^"]*"', named, made.body))

    named = f'"model": "{name}"'.encode()
    pool, url = write_pool(tmp_path / "pool", many(2)), model_server(script).url
    result = play(pool, tmp_path / "run", False, model="openai/m", base_url=url)
    model = f"openai/m,base_url={url}"
    assert result.folder.manifest()["named"] == {model: [name]}
    told = f"{model}: answers name the model {name}; all count as those of m"
    assert (told in summary_notes(result.folder)) == is_told


def test_the_record_says_what_answers_called_the_model(model_server, tmp_path):
    def script(request: Received) -> Answer:
        made = by_server(request)
        name = f'"model": "{next(names, "m-2")}"'.encode()
        return replace(made, body=re.sub(rb'"model": ?"[^"]*"', name, made.body))

    names = iter(["m"])
    pool, url = write_pool(tmp_path / "pool", many(2)), model_server(script).url
    for resume in (False, True):  # the second asks nobody
        result = play(pool, tmp_path / "run", resume, model="openai/m", base_url=url)
        assert result.exit_code == 0
        assert result.folder.manifest()["named"] == {f"openai/m,base_url={url}": ["m", "m-2"]}
    report = write_report([result.folder], tmp_path / "report.html").read_text()
    assert "answers name several models, m, m-2" in report


@pytest.mark.parametrize(
    "said",
    [
        text(""),
        message(None),
        text("\ud83d broken pair \udc00 \x00\x07\x1b[31m\u2028\u202e"),
        text("TERMINATE"),
        text("x" * 100_000),
        text("CLEAR HISTORY"),
        text("{{ 7*7 }} <script>alert(1)</script> %s %d {0}"),
        calls(("no_such_tool", {"a": 1})),
        calls(("weather\ud800\x00", {"city\udfff": "Ro\x00me\ud800"})),
        calls(("weather", "no json at all")),
        calls(("weather", '{"city": "Rome"')),
        calls(("weather", "[1, 2]")),
        calls(("weather", "null")),
        calls(("weather", '{"city": NaN}')),
        calls(("weather", '{"city": 1e999}')),
        calls(("weather", '{"city": 123456789012345678901234567890}')),
        calls(("weather", deep(1_000))),
        calls(("weather", deep(100_000))),
        calls(("weather", {"city": "x" * 100_000})),
        calls(*[("weather", {"city": f"Rome {n}"}) for n in range(3_000)]),
        calls(*[("no_such_tool", "?") for n in range(3_000)]),
        message("", [{"id": None, "type": None, "function": {"name": "weather"}}]),
        message("both", [{"id": "a", "function": {"name": "weather", "arguments": {"city": 1}}}]),
    ],
    ids=lambda said: said.body[60:110].decode(errors="replace"),
)
def test_whatever_a_model_says_the_run_ends_with_recorded_outcomes(tmp_path, said: Answer):
    pool = write_pool(tmp_path / "pool", many(1))
    with ModelServer(by_manager(said)) as server:
        result = play(pool, tmp_path / "run", model="openai/x", base_url=server.url)

    readable(result)
    assert result.exit_code == 0
    assert result.summary["errors"] == 0
    assert sum(result.summary["stop_reasons"].values()) == 1


def test_thousands_of_calls_in_one_reply_stop_at_the_budget_and_none_runs(tmp_path):
    pool = write_pool(tmp_path / "pool", many(1))
    flood = [{"name": "weather", "arguments": {"city": str(n)}} for n in range(5_000)]
    result = play(pool, tmp_path / "run", model=ScriptedModel([{"calls": flood}]))

    assert result.summary["stop_reasons"] == {"max_calls": 1}
    (trajectory,) = result.folder.trajectories()
    assert sum(step.call is not None for step in trajectory.steps) == 5_000
    assert not any(step.result for step in trajectory.steps)


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    "arguments",
    [
        {"city": "\ud800"},
        {"\udfff": 1},
        {"city": float("nan")},
        {"city": float("inf")},
        {"city": 10**400},
        {"city": nested(1_000)},
        {1: 2},
        {"city": ("a", "b")},
    ],
    ids=["surrogate", "surrogate key", "nan", "inf", "big", "deep", "number key", "tuple"],
)
def test_arguments_that_json_cannot_hold_are_recorded_as_near_as_it_can(tmp_path, arguments):
    class Odd(Weatherman):
        def complete(self, request: Request) -> Completion:
            if request.role == "execution_manager" and request.messages[-1].role != "tool":
                return Completion("\ud800", calls=(ToolCall("", "weather", arguments),))
            return Completion("It is sunny in Rome.\udfff")

    pool = write_pool(tmp_path / "pool", many(1))
    result = play(pool, tmp_path / "run", model=Odd())

    readable(result)
    (trajectory,) = result.folder.trajectories()
    assert [step.call.name for step in trajectory.steps if step.call] == ["weather"]


@pytest.mark.parametrize(
    "response",
    [
        Response("x" * 100_000),
        Response({"deep": [[[[{}]]]], "n": None}),
        Response("\x00\x1b[2J\u202e"),
        Response("", error="\x07 rate limit"),
        Response("\ud800"),
        Response(nested(1_000)),
        Response(10**400),
    ],
    ids=["100 KB", "nested", "control", "error", "surrogate", "deep", "big"],
)
def test_whatever_a_simulator_answers_the_run_ends_with_recorded_outcomes(tmp_path, response):
    class Odd:
        identity = "odd/1"

        def respond(self, tool: Tool, arguments: dict[str, Any]) -> Response:
            return response

    goal = many(1)[0].goals[0]
    pool = write_pool(tmp_path / "pool", [Task("t", "b", (bare(goal),))])
    result = play(pool, tmp_path / "run", model=Weatherman(), simulator=Odd(), cache="off")

    readable(result)
    (trajectory,) = result.folder.trajectories()
    assert [step.call.name for step in trajectory.steps if step.call] == ["weather"]
    assert trajectory.failed or sum(step.result is not None for step in trajectory.steps) == 1


def bare(goal: Goal) -> Goal:
    """Return the goal without gold, so that the simulator answers."""
    return replace(goal, plans=None, answers=(), reference=())


def test_simulator_that_raises_costs_its_task_and_names_the_place(pool, tmp_path):
    class Broken:
        identity = "broken/1"

        def respond(self, tool, arguments):
            raise ZeroDivisionError("no weather")

    tasks = [Task("t", "b", (bare(weather_goal("Oslo")),)), *many(1)]
    pool = write_pool(tmp_path / "other", tasks)
    result = play(pool, tmp_path / "run", model=Weatherman(), simulator=Broken())

    assert result.summary["stop_reasons"] == {"done": 1, "error": 1}
    failed = next(t for t in result.folder.trajectories() if t.failed)
    assert "role 'executor': ZeroDivisionError: no weather" in failed.stops[0].error
    assert "test_play_hostile.py" in failed.stops[0].error
    assert [s.call.name for s in failed.steps if s.call] == ["weather"]


def test_a_call_without_a_name_is_the_servers_fault_and_no_score(tmp_path):
    pool = write_pool(tmp_path / "pool", many(1))
    with ModelServer(by_manager(calls(("", {})))) as server:
        result = play(pool, tmp_path / "run", model="openai/x,first_wait_s=0", base_url=server.url)

    readable(result)
    assert (result.exit_code, result.summary["errors"]) == (1, 1)


def test_hostile_tasks_and_tools_are_played(tmp_path):
    ugly = "\x00\x1b[31m<script>\u202e'\";-- {0} %s \\"
    odd = Tool(f"b/{ugly}/x", ugly, ugly * 500, {"type": "object", "properties": {ugly: {}}})
    task = Task(f"../../{ugly}", "b", (bare(many(1)[0].goals[0]),), tags={ugly: ugly})
    pool = write_pool(tmp_path / "pool", [task], [odd, *TOOLS])
    for number, model in enumerate(("lexical", "random", "oracle")):
        readable(play(pool, tmp_path / str(number), model=model))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0", "1", "2", "cache", "pool"]


def test_tools_of_one_name_and_of_the_name_of_ours_are_told_apart(tmp_path):
    twin = Tool("b/other/get", "weather", "Weather of a city, elsewhere.")
    ours = Tool("b/ours/get", "find_tools", "Find tools in a shed.")
    pool = write_pool(tmp_path / "pool", many(1), [*TOOLS, twin, ours])
    names: list[str] = []

    def script(request: Request) -> Completion:
        names.extend(tool.name for tool in request.tools)
        return Completion("ok")

    play(pool, tmp_path / "run", model=ScriptedModel(script), retrieve="on-demand", limit=1)
    play(pool, tmp_path / "run2", model=ScriptedModel(script), limit=1)
    assert names[0] == "find_tools"
    assert sorted(names[1:]) == ["find_tools", "weather", "weather_2"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "trouble",
    [failure(401, f"Incorrect API key provided: {KEY}"), failure(500, KEY), garbage(KEY.encode())],
    ids=["401", "500", "garbage"],
)
def test_key_reaches_no_file_and_no_message(
    model_server, pool, tmp_path, monkeypatch, capfd, caplog, trouble
):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    def script(request: Received) -> Answer:
        return trouble if b"Oslo" in request.raw else by_server(request)

    server = model_server(script)
    settings = {"model": "openai/x", "base_url": server.url, "model_options": QUICK}
    settings["workers"] = 1  # a key that the first answer of all refuses is an outage
    here = f",base_url={server.url}"
    roles = {"judge": f"openai/y{here}", "simulator": f"openai/z{here}"}
    result = play(
        pool, tmp_path / "run", simulator="llm", role_models=roles, baselines=True, **settings
    )

    assert result.exit_code == 1
    assert server.received[0].headers["authorization"] == f"Bearer {KEY}"
    assert holders(tmp_path, KEY) == []
    assert KEY not in "".join(capfd.readouterr()) + caplog.text + json.dumps(result.summary)


def test_a_key_of_ones_own_variable_that_a_server_repeats_reaches_no_file(
    model_server, pool, tmp_path, monkeypatch
):
    monkeypatch.setenv("LAB_ACCESS", KEY)
    server = model_server(lambda request: text(f"You sent {KEY}."))
    model = f"openai/x,base_url={server.url},key_env=LAB_ACCESS"
    result = play(pool, tmp_path / "run", model=model, limit=1)

    assert server.received[0].headers["authorization"] == f"Bearer {KEY}"
    assert "You sent ***key***." in result.folder.path.joinpath("trajectories.jsonl").read_text()
    assert holders(tmp_path, KEY) == []
    assert result.summary["starred"] == 1
    notes = " ".join(summary_notes(result.folder))
    assert "a service's key or password stood in 1 chat, and is ***key*** there" in notes


def test_a_count_that_no_file_could_hold_loses_no_run(model_server, pool, tmp_path):
    server = model_server(lambda request: text("Hello.", usage=(2**64, 1)))
    model = f"openai/x,base_url={server.url}"
    result = play(pool, tmp_path / "run", model=model, limit=1)
    assert result.exit_code == 0
    rescore(tmp_path / "run")
    steps = [step for chat in result.folder.trajectories() for step in chat.steps if step.usage]
    assert steps
    assert all(step.usage.estimated for step in steps)


def test_a_placeholder_for_a_key_changes_no_score(model_server, pool, tmp_path, monkeypatch):
    server = model_server(lambda request: text("Is there anything else?"))
    scores = []
    for key in ("", "anything"):
        monkeypatch.setenv("OPENAI_API_KEY", key)
        model = f"openai/x,base_url={server.url}"
        result = play(pool, tmp_path / f"run{key}", model=model, limit=1, cache="off")
        scores.append((result.folder.path / "scores.jsonl").read_bytes())
        assert "starred" not in result.summary
    assert scores[0] == scores[1]


def test_a_key_that_a_judge_repeats_reaches_no_score(model_server, pool, tmp_path, monkeypatch):
    monkeypatch.setenv("LAB_ACCESS", KEY)
    server = model_server(lambda request: text(f'{{"verdict": "solved", "reason": "{KEY}"}}'))
    judge = f"openai/j,base_url={server.url},key_env=LAB_ACCESS"
    play(pool, tmp_path / "run", role_models={"judge": judge}, cache="off", judge="llm", limit=1)

    assert '"reason":"***key***"' in (tmp_path / "run" / "scores.jsonl").read_text()
    assert not [f for f in tmp_path.rglob("*") if f.is_file() and KEY.encode() in f.read_bytes()]


def holders(folder: Path, secret: str) -> list[Path]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert any(path.suffix == ".sqlite" for path in files)
    return [path for path in files if secret.encode() in path.read_bytes()]


def test_roles_may_say_anything_that_is_text(pool, tmp_path):
    class Odd:
        def reply(self, chat):
            return Reply("\ud800\x00\u202e" + "x" * 10_000)

    result = play(pool, tmp_path / "run", model=Weatherman(), roles={"planner": Odd()}, limit=1)

    readable(result)
    [trajectory] = result.folder.trajectories()
    said = [step.content for step in trajectory.steps if step.author == "planner"]
    assert said == ["\ufffd\x00\u202e" + "x" * 10_000]


def test_damaged_pool_is_refused_before_a_folder_is_made(tmp_path):
    pool = write_pool(tmp_path / "pool")
    with (pool / "tasks.jsonl").open("ab") as file:
        file.write(b'{"schema": "task/1", "id": 7}\n')
    with pytest.raises(DataError, match=r"tasks\.jsonl, line 5"):
        play(pool, tmp_path / "run")
    write_records(pool / "tasks.jsonl", [])
    with pytest.raises(DataError, match="holds no task"):
        play(pool, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_options_of_the_main_model_leave_the_baselines_alone(model_server, pool, tmp_path):
    server = model_server(by_server)
    options = {**QUICK, "temperature": 0, "top_p": 0.5}
    settings = {"model": "openai/x", "base_url": server.url, "model_options": options}
    result = play(pool, tmp_path / "run", baselines=True, **settings)

    assert result.exit_code == 0
    assert (result.folder.path / "floor" / "summary.json").is_file()
    assert {request.body["top_p"] for request in server.received} == {0.5}


@pytest.mark.parametrize("digits", [310, 4_299])
def test_a_run_with_a_whole_number_of_very_many_digits_is_read_again(
    model_server, tmp_path, digits
):
    """In a call, in a tool's result, in gold and as a schema's default."""
    number = int("9" * digits)
    given = {"type": "object", "properties": {"id": {"default": number}}}
    tools = [Tool("find", "find", "Find.", given)]
    gold = Milestone(Called("find", {"id": Argument((number,))}))
    goal = Goal("Find it.", plans=(Plan((gold,)),), offered=("find",))
    pool = write_pool(tmp_path / "pool", [Task("one", "own", (goal,))], tools=tools)
    called = calls(("find", json.dumps({"id": number})))

    def script(request: Received) -> Answer:
        return called if request.body["messages"][-1]["role"] == "user" else text("done")

    server = model_server(script)
    settings = {"model": "openai/x", "base_url": server.url, "team": "direct"}
    played = play(pool, tmp_path / "run", **settings)

    assert played.exit_code == 0
    readable(played)
    assert rescore(played.folder.path)["metrics"] == played.summary["metrics"]
    write_report([played.folder], tmp_path / "report.html")
    assert play(pool, tmp_path / "run", resume=True, **settings).exit_code == 0


def test_a_key_that_is_a_word_of_the_tasks_changes_no_verdict(
    model_server, tmp_path, monkeypatch, caplog
):
    """Neither while it is the key, nor in a later session that replays what was kept then."""
    word = "A7-Xk29-QQ41"
    tools = [Tool("find", "find", "Find.", {"type": "object", "properties": {"id": {}}})]
    gold = Milestone(Called("find", {"id": Argument((word,))}))
    goal = Goal("Which code?", plans=(Plan((gold,)),), offered=("find",))
    pool = write_pool(tmp_path / "pool", [Task("one", "own", (goal,))], tools=tools)

    def script(request: Received) -> Answer:
        asked = request.body["messages"][-1]["role"] == "user"
        return calls(("find", {"id": word})) if asked else text(f"The code is {word}.")

    settings = {"model": "openai/x", "base_url": model_server(script).url, "team": "direct"}
    found = []
    for key, mode in (("another-key-8812xx", "off"), (word, "record"), ("other-8812xx", "replay")):
        monkeypatch.setenv("OPENAI_API_KEY", key)
        played = play(pool, tmp_path / mode, cache=mode, **settings)
        again = rescore(played.folder.path)
        assert again["metrics"] == played.summary["metrics"]
        found.append(played.summary["metrics"]["calls_right"]["mean"])
        assert "starred" not in played.summary
    assert found == [1.0, 1.0, 1.0]
    assert "it is a word there and is written as it is" in caplog.text


@pytest.mark.parametrize("required", [[[], {}, 3], "city", {"city": 1}])
def test_what_a_schema_requires_beside_names_costs_no_scores(tmp_path: Path, required: Any) -> None:
    odd = replace(TOOLS[0], parameters={**TOOLS[0].parameters, "required": required})
    pool = write_pool(tmp_path / "pool", [weather_task("Rome")])
    write_records(pool / "tools.jsonl", [odd, *TOOLS[1:]])
    for model in ("oracle", "lexical", "gold_calls"):
        done = play(pool, tmp_path / model, model=model, baselines=False)
        assert done.summary["errors"] == 0
