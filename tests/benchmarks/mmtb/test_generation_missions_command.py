"""`seal generate missions`, with a model behind a server."""

import json
from pathlib import Path

import pytest
from mission_models import said, weather_model
from servers import Answer, ModelServer, Received, text

from seal.api.benchmarks import load_pool
from seal.cli.dispatch import main


@pytest.fixture
def seal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    """Run a command in a folder of its own; gives exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SEAL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("OPENAI_API_KEY", "none")

    def call(*words: object) -> tuple[int, str, str]:
        code = main(list(map(str, words)))
        told = capsys.readouterr()
        return code, told.out, told.err

    return call


def test_a_pool_is_made_and_played(seal, weather_tools, tmp_path):
    with ModelServer(weather_model) as server:
        words = with_model(server, weather_tools, "pool", "--review", "review.json")
        made = seal(*(word for word in words if word != "--json"))
    assert made[0] == 0
    assert "tasks: 4\n" in made[1]
    assert "written to pool; play it: seal run pool" in made[1]
    assert len(json.loads((tmp_path / "review.json").read_bytes())) == 4
    code, out, _ = seal("run", "pool", "--model", "oracle", "--no-baselines", "--json")
    assert code == 0
    assert json.loads(out)["metrics"]["mission_accuracy"]["mean"] == 1.0


@pytest.fixture
def weather_tools(tmp_path: Path) -> Path:
    """A pool of one tool, for models that know no other."""
    folder = tmp_path / "weather"
    folder.mkdir()
    sample = load_pool("sample").folder
    lines = (sample / "tools.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "tools.jsonl").write_bytes(b"".join(x for x in lines if b"current_weather" in x))
    (folder / "tasks.jsonl").touch()
    return folder


def with_model(server: ModelServer, tools: Path, out: str = "pool", *more: object) -> list[object]:
    return [
        *("generate", "missions", "--tools", tools, "--out", out, "--missions", 1, "--json"),
        *("--model", "openai/any", "--base-url", server.url, *more),
    ]


def test_a_model_behind_a_server_makes_missions_once(seal, weather_tools):
    with ModelServer(weather_model) as server:
        code, out, _ = seal(*with_model(server, weather_tools))
        report = json.loads(out)
        assert (code, report["tasks"], report["dropped"]) == (0, 4, {})
        asked = len(server.received)
        assert seal(*with_model(server, weather_tools))[0] == 0
        code, out, _ = seal(*with_model(server, weather_tools, "again"))
        assert (code, len(server.received)) == (0, asked)
        assert json.loads(out)["digest"] != report["digest"]  # the pool's name is in its tasks
    speakers = report["generation"]["speakers"]
    assert speakers["models"]["planner"]["model"] == "openai/any"
    assert len(speakers["prompts"]) == 64


def test_a_model_that_plans_no_json_costs_its_dialogues_alone(seal, weather_tools):
    def script(request: Received) -> Answer:
        opening, *_, talk = (message["content"] for message in request.body["messages"])
        return text(
            "Hm."
            if opening.startswith("You are the planner") and "chat request" in talk
            else said(request)
        )

    with ModelServer(script) as server:
        code, out, _ = seal(*with_model(server, weather_tools))
    report = json.loads(out)
    assert (code, report["tasks"], report["dropped"]) == (0, 3, {"invalid_json": 1})
    assert report["rejections"] == {"invalid_json": 3}


def test_what_a_server_refuses_is_an_error_and_made_when_the_command_is_given_again(
    seal, weather_tools
):
    refusing = [True]

    def script(request: Received) -> Answer:
        is_chat = "answers by talking" in request.body["messages"][0]["content"]
        return Answer(b"{}", 400) if is_chat and refusing else weather_model(request)

    with ModelServer(script) as server:
        code, out, err = seal(*with_model(server, weather_tools))
        report = json.loads(out)
        assert (code, report["tasks"], report["dropped"]) == (1, 3, {})
        assert "d0003: " in err
        refusing.clear()
        code, out, _ = seal(*with_model(server, weather_tools))
    assert (code, json.loads(out)["tasks"], json.loads(out)["errors"]) == (0, 4, [])


def test_the_simulator_may_be_a_model(seal, weather_tools):
    def script(request: Received) -> Answer:
        if "documentation" in request.body["messages"][-1]["content"]:
            return text(json.dumps({"error": "", "response": {"temperature": 21}}))
        return weather_model(request)

    with ModelServer(script) as server:
        words = with_model(server, weather_tools, "pool", "--types", "single", "--simulator", "llm")
        code, out, _ = seal(*words)
    assert code == 0
    assert json.loads(out)["generation"]["simulator"].startswith("llm/")
    (task,) = load_pool("pool").tasks()
    assert task.goals[0].plans[0].milestones[0].result == {"temperature": 21}


def test_a_simulator_that_gives_no_usable_answer_costs_the_dialogue(seal, weather_tools):
    def script(request: Received) -> Answer:
        simulated = "documentation" in request.body["messages"][-1]["content"]
        return text("nothing") if simulated else weather_model(request)

    with ModelServer(script) as server:
        more = ("--types", "single,chat", "--simulator", "llm")
        code, out, _ = seal(*with_model(server, weather_tools, "pool", *more))
    report = json.loads(out)
    assert (code, report["tasks"], report["dropped"]) == (0, 1, {"failed_call": 1})


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["--types", "singel"], "Did you mean 'single'?"),
        (["--tools", "nowhere"], "nowhere"),
        (["--model", "oracle"], "cannot be the user_simulator"),
        (["--model", "grammar"], "name the model that writes the missions: --model PROVIDER/MODEL"),
        (["--cache", "sometimes"], "cache"),
        (["--language", "fr"], "known: en, zh"),
    ],
)
def test_what_cannot_be_is_one_clear_line(seal, tmp_path, more, told):
    model = () if "--model" in more else ("--model", "openai/any")
    code, out, err = seal("generate", "missions", "--out", "pool", *model, *more)
    assert (code, out) == (2, "")
    assert told in err
    assert not (tmp_path / "pool").exists()
