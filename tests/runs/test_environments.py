"""Where calls run: gold answers, simulators, recordings; and what replay plays."""

from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from servers import ModelServer, failure, text
from small_pools import (
    CITIES,
    Weatherman,
    by_server,
    many,
    play,
    recording,
    weather_goal,
    weather_task,
    write_pool,
)

import seal
from seal.core import Response, Task, Trajectory, UnknownNameError, UsageError
from seal.models.given_answers import ScriptedModel


def bare_task(city: str) -> Task:
    """Return a task without gold, so that the simulator answers."""
    goal = replace(weather_goal(city), plans=None, answers=(), reference=())
    return Task(f"{city.lower()}-0", "small", (goal,))


def observed(trajectory: Trajectory) -> list[str]:
    return [step.content for step in trajectory.steps if step.result is not None]


def by_simulator(answer: str):
    """Return a server's script for the model and, by its name, the simulator."""

    def script(request):
        return text(answer) if request.body["model"] == "sim" else by_server(request)

    return script


def test_gold_calls_are_answered_with_the_benchmarks_own_results(pool: Path, tmp_path: Path):
    class Never:
        identity = "never/1"

        def respond(self, tool, arguments):
            raise AssertionError("not asked")

    folder = play(pool, tmp_path / "run", model=Weatherman(), simulator=Never()).folder

    assert [orjson.loads(observed(t)[0])["response"] for t in folder.trajectories()] == [
        {"text": f"sunny in {city}"} for city in CITIES
    ]


def test_tools_whose_words_do_not_say_what_they_return_are_told_of_once(tmp_path: Path, caplog):
    tools = [{"name": name} for name in ("frobnicate", "get_weather", "a" * 3000, "b", "c")]
    own = seal.Benchmark("own", tools=tools, tasks=[seal.ask("Go.", seal.called("frobnicate"))])

    seal.run(own, model="oracle", baselines=False, out=tmp_path / "run")

    (told,) = [one.message for one in caplog.records if "template answers null" in one.message]
    named = f"frobnicate, {'a' * 59}…, b and 1 more"
    assert told.startswith(f"neither name nor schema says what {named} returns")
    assert "--simulator llm --role-model simulator=PROVIDER/MODEL" in told


def test_calls_that_are_wrong_by_rule_are_never_simulated(pool: Path, tmp_path: Path):
    asked = []

    class Counting:
        identity = "counting/1"

        def respond(self, tool, arguments):
            asked.append(arguments)
            return Response("fine")

    wrong = [
        {"name": "wether", "arguments": {"city": "Rome"}},
        {"name": "weather", "arguments": {}},
        {"name": "weather", "arguments": {"city": 3}},
        {"name": "weather", "arguments": {"town": "Rome"}},
        {"name": "weather", "arguments": "Rome"},
        {"name": "weather", "arguments": {"city": "Paris"}},
    ]
    model = ScriptedModel({"execution_manager": [{"calls": wrong}, "ok"], "*": ["ok"]})
    settings = {"model": model, "simulator": Counting(), "limit": 1, "cache": "off"}
    (trajectory,) = play(pool, tmp_path / "run", **settings).folder.trajectories()

    kinds = [s.result.error and s.result.error["kind"] for s in trajectory.steps if s.result]
    assert kinds == [
        "unknown_tool",
        "missing_argument",
        "wrong_type",
        "unknown_argument",
        "unparsable_arguments",
        None,
    ]
    assert asked == [{"city": "Paris"}]


def test_template_answers_alike_in_every_run(tmp_path: Path):
    pool = write_pool(tmp_path / "pool", [bare_task("Rome")])
    runs = [
        play(pool, tmp_path / name, model=Weatherman(), cache="off").folder for name in ("a", "b")
    ]

    (first,), (second,) = ([observed(t) for t in folder.trajectories()] for folder in runs)
    assert first == second
    assert orjson.loads(first[0])["error"] == ""


def test_model_simulates_once_and_the_cache_answers_from_then_on(tmp_path: Path):
    pool = write_pool(tmp_path / "pool", [bare_task("Rome")])
    answer = '{"error": "", "response": {"text": "fog"}}'
    with ModelServer(by_simulator(answer)) as server:
        settings = {
            "model": "openai/x",
            "simulator": "llm",
            "role_models": {"simulator": f"openai/sim,base_url={server.url}"},
            "base_url": server.url,
        }
        first = play(pool, tmp_path / "a", trials=2, workers=1, **settings)
        asked = [r for r in server.received if r.body["model"] == "sim"]
    again = play(pool, tmp_path / "b", trials=2, cache="replay", **settings)

    assert len(asked) == 1
    for folder in (first.folder, again.folder):
        for trajectory in folder.trajectories():
            assert orjson.loads(observed(trajectory)[0])["response"] == {"text": "fog"}
    assert first.folder.manifest()["cache"] == again.folder.manifest()["cache"]
    assert "openai/sim" in orjson.dumps(first.folder.manifest()["measure"]).decode()


@pytest.mark.parametrize(
    "answer", ["It is foggy.", '{"response": 1}', '{"error": 1, "response": 2}']
)
def test_simulator_that_gives_garbage_thrice_answers_with_an_error_that_is_not_kept(
    model_server, tmp_path, answer
):
    pool = write_pool(tmp_path / "pool", [bare_task("Rome")])
    server = model_server(by_simulator(answer))
    settings = {
        "model": "openai/x",
        "simulator": "llm",
        "role_models": {"simulator": f"openai/sim,base_url={server.url}"},
        "base_url": server.url,
    }
    for number, name in enumerate(("a", "b"), 1):
        result = play(pool, tmp_path / name, **settings)
        (trajectory,) = result.folder.trajectories()
        (found,) = [step.result for step in trajectory.steps if step.result]
        assert found.error["kind"] == "simulator"
        assert result.exit_code == 0
        assert sum(r.body["model"] == "sim" for r in server.received) == 3 * number


def test_failure_of_the_simulators_server_is_an_error_of_the_task(model_server, tmp_path):
    pool = write_pool(tmp_path / "pool", [bare_task("Rome"), weather_task("Oslo")])

    def script(request):
        return failure(403) if request.body["model"] == "sim" else by_server(request)

    server = model_server(script)
    result = play(
        pool,
        tmp_path / "run",
        model="openai/x",
        simulator="llm",
        role_models={"simulator": f"openai/sim,base_url={server.url}"},
        base_url=server.url,
    )

    assert result.summary["stop_reasons"] == {"done": 1, "error": 1}


def test_simulator_needs_a_model_that_is_no_task_player(tmp_path: Path, pool: Path):
    with pytest.raises(UsageError, match="oracle plays tasks and cannot be the simulator"):
        play(pool, tmp_path / "run", model="oracle", simulator="llm")


@pytest.fixture
def recorded_pool(tmp_path: Path) -> Path:
    tasks = [bare_task(city) for city in CITIES]
    first = [recording(tasks[0], "first"), recording(tasks[0], "second trial", trial=1)]
    return write_pool(
        tmp_path / "recorded",
        tasks,
        recorded={"gpt": [*first, recording(tasks[1], "cloudy")], "llama": [
            recording(tasks[0], "from llama"), recording(tasks[2], "snow")]},
    )  # fmt: skip


def test_recorded_model_is_answered_with_its_very_observations(recorded_pool, tmp_path):
    settings = {"model": "recorded:gpt", "simulator": "recorded", "team": "direct"}
    result = play(recorded_pool, tmp_path / "run", trials=2, **settings)

    found = {(t.task_id, t.trial): observed(t) for t in result.folder.trajectories()}
    assert found == {
        ("rome-0", 0): ["first"],
        ("rome-0", 1): ["second trial"],
        ("oslo-0", 0): ["cloudy"],
        ("oslo-0", 1): ["cloudy"],  # its only recording
    }
    answers = [t.answers[0] for t in result.folder.trajectories()]
    assert answers == [
        "Recorded: first",
        "Recorded: second trial",
        "Recorded: cloudy",
        "Recorded: cloudy",
    ]
    assert result.summary["skipped"] == 4


def test_other_models_meet_the_first_recording_of_a_task(recorded_pool, tmp_path):
    settings = {"model": Weatherman(), "simulator": "recorded"}
    folder = play(recorded_pool, tmp_path / "run", **settings).folder

    found = {t.task_id: observed(t)[0] for t in folder.trajectories()}
    assert (found["rome-0"], found["oslo-0"], found["bern-0"]) == ("first", "cloudy", "snow")
    assert "No answer of weather" in found["lima-0"]


def test_recordings_and_then_another_simulator(recorded_pool, tmp_path):
    settings = {"model": Weatherman(), "simulator": "recorded+template"}
    folder = play(recorded_pool, tmp_path / "run", **settings).folder

    found = {t.task_id: orjson.loads(observed(t)[0]) for t in folder.trajectories()}
    assert found["bern-0"]["response"] == "snow"
    assert found["lima-0"]["error"] == ""


def test_pool_without_recordings_cannot_be_played_from_them(pool, tmp_path):
    with pytest.raises(UsageError, match="simulator recorded needs recorded runs"):
        play(pool, tmp_path / "run", simulator="recorded")
    with pytest.raises(UnknownNameError, match=r"no recording in .* 'gpt'"):
        play(pool, tmp_path / "run", model="recorded:gpt")


def test_replayed_run_makes_the_same_calls_and_answers(pool: Path, tmp_path: Path):
    first = play(pool, tmp_path / "first", model=Weatherman()).folder
    again = play(pool, tmp_path / "again", model=f"replay:{first.path}").folder

    def shown(folder):
        return [
            (t.task_id, [(s.call.name, s.call.arguments) for s in t.steps if s.call], t.answers)
            for t in folder.trajectories()
        ]

    assert shown(again) == shown(first)
    assert [s for t in again.trajectories() for s in observed(t)] == [
        s for t in first.trajectories() for s in observed(t)
    ]


def test_replay_skips_what_the_run_did_not_finish(tmp_path: Path):
    pool = write_pool(tmp_path / "pool", many(3))
    play(pool, tmp_path / "first", model=Weatherman(), limit=1)
    result = play(pool, tmp_path / "again", model=f"replay:{tmp_path / 'first'}")

    assert (result.summary["skipped"], result.exit_code) == (2, 0)
