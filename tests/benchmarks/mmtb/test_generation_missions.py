"""Pools of missions: made, gone on with after a kill, reviewed, and played."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import orjson
import pytest
from scripted_speakers import Script
from weather_talk import WeatherTalk

import seal
from seal.api.benchmarks import load_pool
from seal.api.experiment_results import Generated
from seal.core import (
    DataError,
    InfrastructureError,
    ModelError,
    UnknownNameError,
    UsageError,
)

TALK = WeatherTalk()
FILES = ("tools.jsonl", "tasks.jsonl", "import.json", "generation/dialogues.jsonl")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEAL_CACHE_DIR", str(tmp_path / "cache"))


def generate(out: Path, model=TALK, **settings) -> Generated:
    return seal.generate("missions", "sample", out, model=model, **{"missions": 2, **settings})


def contents(out: Path) -> list[bytes]:
    return [(out / name).read_bytes() for name in FILES]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("whole") / "pool"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEAL_CACHE_DIR", str(out.parent / "cache"))
        generate(out)
    return out


def test_all_sequences_become_tasks_that_the_oracle_solves(whole, tmp_path):
    report = json.loads((whole / "import.json").read_bytes())
    assert (report["tasks"], report["dropped"], report["benchmark"]) == (16, {}, "pool")
    assert report["missions"]["by_type"] == dict.fromkeys(("chat", "clarify", "multi", "single"), 8)
    run = seal.run(whole, model="oracle", baselines=False, out=tmp_path / "run")
    assert run.summary["metrics"]["mission_accuracy"]["mean"] == 1.0
    assert run.summary["metrics"]["dialogue_accuracy"]["mean"] == 1.0


def test_every_task_says_where_it_is_from(whole):
    pool = load_pool("sample")
    for task in load_pool(whole).tasks():
        assert task.benchmark == "pool"
        assert task.metadata["argument_scorer"] == "exact"
        calls = [call for goal in task.goals for plan in goal.plans for call in plan.calls()]
        assert not any(a.optional for call in calls for a in call.arguments.values())
        made = task.metadata["provenance"]
        assert (made["pool"], made["seed"]) == (pool.digest, 0)
        assert made["speakers"] == TALK.identity
        assert made["simulator"] == "template/1"
        assert [mission["candidates"] for mission in made["dialogue"]] == [2, 2]


def test_equal_commands_make_equal_bytes_with_any_number_of_workers(whole, tmp_path):
    generate(tmp_path / "pool", workers=3)
    assert contents(tmp_path / "pool") == contents(whole)


def test_a_finished_folder_is_left_as_it_is_and_a_limit_may_grow(whole, tmp_path):
    out = tmp_path / "pool"
    assert generate(out, limit=3).report.tasks == 3
    generate(out, Forgetful(fail=lambda dialogue: dialogue <= "d0003"))
    assert contents(out) == contents(whole)


@dataclass
class Forgetful(WeatherTalk):
    """Fails at some dialogues as a server would."""

    fail: object = field(default=lambda dialogue: False)

    def candidates(self, scene, chat) -> Sequence[str]:
        if self.fail(scene.assignment.dialogue):
            raise ModelError("the server is gone")
        return super().candidates(scene, chat)


def test_what_the_infrastructure_fails_at_is_an_error_and_made_another_time(whole, tmp_path):
    out = tmp_path / "pool"
    made = generate(out, Forgetful(fail=lambda dialogue: dialogue == "d0002"))
    assert made.errors == ("d0002: the server is gone",)
    assert made.report.tasks == 15
    assert made.report.dropped == {}
    assert generate(out).errors == ()
    assert contents(out) == contents(whole)


def test_a_server_that_is_gone_altogether_fails_the_command(whole, tmp_path):
    out = tmp_path / "pool"
    with pytest.raises(InfrastructureError, match="no dialogue could be made: d0001: the server"):
        generate(out, Forgetful(fail=lambda dialogue: True))
    assert not (out / "tasks.jsonl").exists()
    generate(out)
    assert contents(out) == contents(whole)


@dataclass
class Mumbling(WeatherTalk):
    """Plans no JSON in missions of one type."""

    kind: str = "chat"

    def decide(self, scene, chat) -> str:
        return "Hm." if scene.assignment.kind == self.kind else super().decide(scene, chat)


def test_dialogues_that_cannot_be_made_are_dropped_and_counted_and_the_rest_goes_on(tmp_path):
    report = generate(tmp_path / "pool", Mumbling()).report
    assert (report.tasks, report.dropped) == (9, {"invalid_json": 7})
    assert report.facts["rejections"] == {"invalid_json": 21}
    lines = (tmp_path / "pool/generation/dialogues.jsonl").read_bytes().splitlines()
    dropped = [made["dropped"] for made in map(orjson.loads, lines) if made["dropped"]]
    assert {drop["reason"] for drop in dropped} == {"invalid_json"}
    assert "expected one JSON object, got 'Hm.'" in dropped[0]["text"]


def test_a_pool_without_a_dialogue_is_an_error_that_says_why(tmp_path):
    with pytest.raises(DataError, match=r"no dialogue could be made \(dropped: invalid_json 1\)"):
        generate(tmp_path / "pool", Mumbling(), missions=1, types=("chat",))


def test_missions_that_the_machine_finds_wrong_are_dropped(tmp_path):
    class Unsound(WeatherTalk):
        def candidates(self, scene, chat):
            return ["How is the weather in Turku Harbour?"]

    with pytest.raises(DataError, match="dropped: nothing_missing 1"):
        generate(tmp_path / "pool", Unsound(), missions=1, types=("clarify",))


def test_another_command_does_not_go_on_with_a_folder(whole, tmp_path):
    before = contents(whole)
    with pytest.raises(UsageError, match="was made with another seed: 0, now 1"):
        generate(whole, seed=1)
    with pytest.raises(UsageError, match="was made with another speakers"):
        generate(whole, Script(identity={"speakers": "other"}))
    assert contents(whole) == before
    (tmp_path / "note.txt").touch()
    with pytest.raises(UsageError, match="holds something else"):
        generate(tmp_path)


def test_only_one_process_writes_into_a_folder(whole):
    from seal.core.files import Lock

    with Lock(whole / "generation"), pytest.raises(UsageError, match="this process"):
        generate(whole)


def killed_after(out: Path, lines: int) -> None:
    """Begin a generation in a process of its own, and kill it amid its work."""
    code = (
        "import sys, time; from pathlib import Path; import seal; import weather_talk\n"
        "class Slow(weather_talk.WeatherTalk):\n"
        "    def reply(self, scene, chat): time.sleep(0.05); return super().reply(scene, chat)\n"
        "seal.generate('missions', 'sample', sys.argv[1], model=Slow(), missions=2)\n"
    )
    here = Path(__file__).parent
    places = os.pathsep.join([str(here), str(here.parent)])
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(out)], env={**os.environ, "PYTHONPATH": places}
    )
    journal = out / "generation" / "dialogues.jsonl"
    while process.poll() is None:
        if journal.is_file() and journal.read_bytes().count(b"\n") >= lines:
            process.send_signal(signal.SIGKILL)
            break
        time.sleep(0.01)
    assert process.wait() == -signal.SIGKILL


@pytest.mark.slow
def test_a_killed_generation_goes_on_where_it_was(whole, tmp_path):
    out = tmp_path / "pool"
    killed_after(out, 4)
    journal = out / "generation" / "dialogues.jsonl"
    made = {orjson.loads(line)["id"] for line in journal.read_bytes().splitlines(True)[:4]}
    with journal.open("ab") as file:
        file.write(b'{"schema":"dialogue/1","id":"d00')  # as a kill amid a line leaves it
    generate(out, Forgetful(fail=lambda dialogue: dialogue in made))
    assert contents(out) == contents(whole)


def test_a_damaged_line_is_named(tmp_path):
    generate(tmp_path / "pool", missions=1, types=("chat",))
    (tmp_path / "pool/generation/dialogues.jsonl").write_bytes(b'{"schema":"dialogue/1"}\n')
    with pytest.raises(DataError, match=r"dialogues.jsonl, line 1: .*delete the line"):
        generate(tmp_path / "pool", missions=1, types=("chat",))


LOCAL = "openai/x,base_url=http://localhost:1/v1"


@pytest.mark.parametrize(
    ("settings", "error", "told"),
    [
        ({"types": ("singel",)}, UnknownNameError, "Did you mean 'single'"),
        ({"relations": ("pronoun",)}, UnknownNameError, "ellipsis"),
        ({"language": "fr"}, UnknownNameError, "en, zh"),
        ({"cache": "of"}, UnknownNameError, "Did you mean 'off'"),
        ({"workers": 0}, UsageError, "--workers 0: expected a whole number of at least 1"),
        ({"missions": 0}, UsageError, "missions"),
        ({"model": "oracle"}, UsageError, "cannot be the user_simulator"),
        ({"simulator": "llm"}, UsageError, "name one with --role-model simulator=MODEL"),
        ({"model": None}, UsageError, "name the model that writes the missions: --model PROVIDER"),
        ({"model": "grammar"}, UsageError, "name the model that writes the missions: --model"),
        ({"role_models": {"planner": "scripted:x"}}, UsageError, "your own speakers speak for all"),
        ({"role_models": {"simulator": LOCAL}}, UsageError, "give --simulator llm too"),
        ({"role_models": {"plannr": LOCAL}}, UnknownNameError, "Did you mean 'planner'"),
        ({"model_options": {"top_p": 1}}, UnknownNameError, "top_p"),
        (
            {"simulator": "llm", "role_models": {"simulator": LOCAL}, "base_url": "http://a/v1"},
            UsageError,
            "--role-model simulator=MODEL,base_url=URL",
        ),
        (
            {"simulator": "llm", "role_models": {"simulator": LOCAL}, "model_options": {"n": 1}},
            UnknownNameError,
            "no option -M of .*'n'",
        ),
        ({"wrokers": 1}, UnknownNameError, "Did you mean 'workers'"),
    ],
)
def test_settings_that_cannot_be_are_refused_before_anything_is_written(
    tmp_path, settings, error, told
):
    with pytest.raises(error, match=told):
        generate(tmp_path / "pool", **settings)
    assert not (tmp_path / "pool").exists()
