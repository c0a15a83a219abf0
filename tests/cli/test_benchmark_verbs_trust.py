"""Data of a stranger runs nothing: code that it names is refused, unless the user allows it."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from seal.core import Goal, Milestone, Plan, Task, Tool, write_records
from seal.core.conditions import Argument, Called

LAB = '''
from pathlib import Path

Path(__file__).with_name("ran").write_text("this module was imported")

from seal import Score
from seal.agents.teams import DIRECT
from seal.core import Scale
from seal.environments.chat_world import World; from seal.environments.world import Worlds, toolbox


def switch(lamp: World, on: bool) -> str:
    """Switch the lamp."""
    lamp.put("lamps", [{"on": on}])
    return "done"


lamps = Worlds(name="lamps", tools=toolbox("lamps", [switch]), tables={"lamps": [{"on": False}]})
team = DIRECT


class Steps:
    scales = {"steps": Scale(bounded=False)}

    def score(self, task, trajectory, tools):
        return [Score(task.id, trajectory.trial, 0, "steps", float(len(trajectory.steps)))]
'''
SWITCH = Tool(
    "lamps/switch",
    "switch",
    "Switch the lamp.",
    {"type": "object", "properties": {"on": {"type": "boolean"}}, "required": ["on"]},
)
LIGHT = Task(
    "light",
    "lamps",
    (
        Goal(
            "Switch the lamp on.",
            (Plan((Milestone(Called(SWITCH.id, {"on": Argument((True,))}), result="done"),)),),
            offered=(SWITCH.id,),
        ),
    ),
)
REFUSED = "but data may not name code; if you trust it, allow it: --allow-code evil_lab"


@pytest.fixture(autouse=True)
def ran(tmp_path: Path) -> Path:
    """The file that the module of a stranger writes when it is imported."""
    (tmp_path / "evil_lab.py").write_text(LAB)
    return tmp_path / "ran"


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    """A pool whose task is played in a world that is code."""
    return write_pool(tmp_path / "pool", replace(LIGHT, world="evil_lab:lamps"))


def write_pool(folder: Path, task: Task, **play: str) -> Path:
    write_records(folder / "tools.jsonl", [SWITCH])
    write_records(folder / "tasks.jsonl", [task])
    (folder / "import.json").write_text(json.dumps({"benchmark": "lamps", "play": play}))
    return folder


def offline(*words: object) -> tuple[object, ...]:
    return ("run", *words, "--model", "oracle", "--no-baselines", "--out", "run")


def edit(file: Path, **changes: Any) -> None:
    """Change parts of run.json's measure."""
    content = json.loads(file.read_bytes())
    content["measure"] |= changes
    file.write_text(json.dumps(content))


@pytest.fixture
def played(seal, tmp_path: Path) -> Path:
    """A run folder that names code wherever one can: in its tasks, and as a metric."""
    harmless = write_pool(tmp_path / "harmless", LIGHT)
    done = seal(*offline(harmless))
    assert done.returncode == 0, done.stderr
    write_records(tmp_path / "run" / "tasks.jsonl", [replace(LIGHT, world="evil_lab:lamps")])
    edit(tmp_path / "run" / "run.json", metrics=["evil_lab:Steps"])
    return tmp_path / "run"


@pytest.mark.parametrize("words", [(), ("--dry-run",), ("--processes", 2)])
def test_a_world_that_is_code_is_not_played(seal, pool, ran, tmp_path, words) -> None:
    done = seal(*offline(pool, *words))

    assert done.returncode == 2
    told = " ".join(done.stderr.split())
    assert f"task 'light' names the world 'evil_lab:lamps', {REFUSED}" in told
    assert not ran.exists()
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("words", [(), ("--dry-run",)])
def test_a_team_that_is_code_is_not_seated(seal, ran, tmp_path, words) -> None:
    pool = write_pool(tmp_path / "pool", LIGHT, team="evil_lab:team")

    done = seal(*offline(pool, *words))

    assert done.returncode == 2
    told = " ".join(done.stderr.split())
    assert f"import.json: play.team names the team 'evil_lab:team', {REFUSED}" in told
    assert not ran.exists()


def test_lint_tells_of_a_world_that_is_code_and_checks_the_rest(seal, pool, ran) -> None:
    done = seal("lint", pool, "--json")

    found = {one["kind"]: one for one in json.loads(done.stdout)["findings"]}
    assert (done.returncode, found["refused_world"]["tasks"]) == (0, ["light"])
    assert REFUSED in found["refused_world"]["message"]
    assert not ran.exists()
    allowed = seal("lint", pool, "--json", "--allow-code", "evil_lab")
    assert "refused_world" not in json.loads(allowed.stdout)["counts"]


@pytest.mark.parametrize(
    "words",
    [
        ("score", "run"),
        ("report", "run"),
        ("view", "run", "light"),
        ("explain", "run"),
        ("export", "run", "--to", "openai", "--out", "exported"),
        ("export", "pool", "--to", "hf", "--out", "exported"),
        ("compare", "run", "harmless-run"),
        ("benchmarks", "pool"),
    ],
    ids=lambda words: "-".join(words),
)
def test_no_verb_imports_what_a_run_or_a_pool_names(seal, played, pool, ran, tmp_path, words):
    (tmp_path / "harmless-run").mkdir()
    for file in played.iterdir():
        if file.is_file():
            (tmp_path / "harmless-run" / file.name).write_bytes(file.read_bytes())

    done = seal(*words)

    assert done.returncode == 0, done.stderr
    assert not ran.exists()


@pytest.mark.parametrize(
    "words",
    [
        ("ablate", "react", "pool", "--out", "ablation"),
        ("sweep", "pool", "--top-k", "1,2", "--out", "sweep"),
    ],
    ids=lambda words: "-".join(words[:2]),
)
def test_verbs_that_play_calls_refuse_a_world_that_is_code(seal, pool, ran, words) -> None:
    done = seal(*words)

    assert done.returncode == 2
    assert f"names the world 'evil_lab:lamps', {REFUSED}" in " ".join(done.stderr.split())
    assert not ran.exists()
    allowed = seal(*words, "--allow-code", "evil_lab")
    assert REFUSED not in " ".join(allowed.stderr.split())
    assert ran.exists()


def test_a_run_is_not_resumed_with_code_that_it_names(seal, pool, ran, tmp_path) -> None:
    played = seal(*offline(pool), "--allow-code", "evil_lab")
    assert played.returncode == 0, played.stderr
    ran.unlink()

    resumed = seal(*offline(pool), "--resume")

    assert resumed.returncode == 2
    assert REFUSED in " ".join(resumed.stderr.split())
    assert not ran.exists()


def test_scoring_leaves_out_a_metric_that_is_code_until_it_is_allowed(seal, played, ran) -> None:
    done = seal("score", played, "--json")

    metrics = json.loads(done.stdout)["metrics"]
    assert (metrics["evil_lab:Steps"]["n"], metrics["pass_rate"]["n"]) == (0, 1)
    assert "evil_lab:Steps: left out of the scores: run.json: measure.metrics" in done.stderr
    assert not ran.exists()
    allowed = seal("score", played, "--json", "--allow-code", "evil_lab")
    assert json.loads(allowed.stdout)["metrics"]["steps"]["n"] == 1
    assert ran.exists()


def test_the_users_own_word_needs_no_leave(seal, played, tmp_path) -> None:
    scored = seal("score", played, "--metric", "evil_lab:Steps", "--json")
    assert json.loads(scored.stdout)["metrics"]["steps"]["n"] == 1

    again = seal(*offline(tmp_path / "harmless")[:-1], "own", "--team", "evil_lab:team")
    assert again.returncode == 0, again.stderr


@pytest.mark.slow
@pytest.mark.parametrize("words", [(), ("--processes", 2)])
def test_an_allowed_module_is_played_and_run_json_says_so(seal, tmp_path, words) -> None:
    task = replace(LIGHT, world="evil_lab:lamps")
    pool = write_pool(tmp_path / "pool", task, team="evil_lab:team")

    (tmp_path / "z_lab.py").write_text("")

    done = seal(*offline(pool, *words), "--allow-code", "z_lab", "--allow-code", "evil_lab")

    assert done.returncode == 0, done.stderr
    manifest = json.loads((tmp_path / "run" / "run.json").read_bytes())
    assert manifest["system"]["allow_code"] == ["evil_lab", "z_lab"]
    assert manifest["measure"]["simulator"]["worlds"]["evil_lab:lamps"]["world"] == "lamps"
    assert manifest["system"]["team"] == "direct"
    steps = (tmp_path / "run" / "trajectories.jsonl").read_text()
    assert '{"lamps":[{"on":true}]}' in steps


def test_a_scenario_that_names_code_is_not_imported(seal, ran, tmp_path) -> None:
    lit = {"do": {"switch": {"on": True}}}
    scenario = {
        "id": "light",
        "categories": ["single_tool"],
        "world": "house",
        "tools": ["switch"],
        "persona": {},
        "request": "Light!",
        "gold": [lit, {"say": "Done."}],
        "wrong": [{"why": "does nothing", "steps": [{"say": "Done."}]}],
    }
    worlds = {"house": {"kind": "evil_lab:lamps", "tables": {}}}
    content = json.dumps({"worlds": worlds, "scenarios": [scenario]})
    (tmp_path / "authored.json").write_text(content)
    words = ("import", "scenarios", "authored.json", "--out", "mine")

    refused = seal(*words)

    assert refused.returncode == 2
    assert REFUSED in " ".join(refused.stderr.split())
    assert not ran.exists()
    done = seal(*words, "--allow-code", "evil_lab")
    assert done.returncode == 0, done.stderr


def test_a_folder_cannot_allow_its_own_code(seal, pool, ran, tmp_path) -> None:
    (tmp_path / "seal.toml").write_text('allow-code = ["evil_lab"]\n')

    done = seal(*offline(pool))

    assert done.returncode == 2
    assert "seal.toml: allow-code: a folder may not allow its own code" in done.stderr
    assert not ran.exists()


def test_trust_tells_of_settings_that_lie_in_the_folder(seal, tmp_path) -> None:
    pool = write_pool(tmp_path / "pool", LIGHT)
    (pool / "seal.toml").write_text('agent = "evil_lab:solve"\n')

    done = seal("trust", pool, "--json")

    (found,) = (one for one in json.loads(done.stdout)["asked"] if one["what"] == "file")
    assert (done.returncode, found["name"]) == (0, "seal.toml")


def test_trust_tells_of_lines_that_it_cannot_read(seal, tmp_path) -> None:
    pool = write_pool(tmp_path / "pool", LIGHT)
    (pool / "tasks.jsonl").write_text('{"world": "evil_lab:lamps"}\n')

    done = seal("trust", pool, "--json")

    (found,) = (one for one in json.loads(done.stdout)["asked"] if one["what"] == "file")
    assert (found["place"], found["answer"][:14]) == ("1 line", "cannot be read")


def test_no_library_is_taken_from_the_working_folder(environment, tmp_path) -> None:
    del environment["PYTHONPATH"]
    for name in ("rich", "numpy", "yaml", "orjson"):
        (tmp_path / f"{name}.py").write_text(LAB)

    command = [sys.executable, "-m", "seal", "pools", "stats", "sample"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True)

    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "ran").exists()


def test_what_is_allowed_must_be_a_module(seal, pool, ran) -> None:
    done = seal(*offline(pool), "--allow-code", "evil_lab:lamps")
    assert done.returncode == 2
    assert "--allow-code evil_lab:lamps: expected modules, such as my_lab.lamps" in done.stderr
    assert not ran.exists()


def test_trust_tells_what_a_pool_asks_for_and_imports_nothing(seal, ran, tmp_path) -> None:
    task = replace(LIGHT, world="evil_lab:lamps")
    pool = write_pool(tmp_path / "pool", task, team="evil_lab:team")

    done = seal("trust", pool, "--json")

    asked = {one["what"]: one for one in json.loads(done.stdout)["asked"]}
    assert done.returncode == 1
    assert asked["world"]["place"] == "1 task"
    assert asked["team"]["answer"] == "refused, but for --allow-code evil_lab"
    assert [what for what, one in asked.items() if one["refused"]] == ["world", "team"]
    assert seal("trust", pool, "--allow-code", "evil_lab").returncode == 0
    assert not ran.exists()


@pytest.mark.parametrize(("part", "play"), [("world", {}), ("team", {"team": "nobodys"})])
def test_trust_fails_where_nobody_offers_a_world_or_team(seal, tmp_path, part, play) -> None:
    task = replace(LIGHT, world="nobodys") if part == "world" else LIGHT
    pool = write_pool(tmp_path / "pool", task, **play)

    done = seal("trust", pool, "--json")

    (found,) = (one for one in json.loads(done.stdout)["asked"] if one["what"] == part)
    assert (done.returncode, found["name"], found["refused"]) == (1, "nobodys", True)
    assert found["answer"] == "known to nobody here: install what offers it, or no run plays it"


def test_trust_refuses_to_import_a_benchmark(seal, ran) -> None:
    done = seal("trust", "evil_lab:bench")

    assert done.returncode == 2
    assert "evil_lab:bench names code, which would be imported; name the folder" in done.stderr
    assert not ran.exists()


def test_trust_tells_of_the_metrics_of_a_run(seal, played, ran) -> None:
    done = seal("trust", played)

    assert done.returncode == 1
    assert "evil_lab:Steps" in done.stdout
    assert not ran.exists()


def texts(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the ways to the texts and nulls of a JSON value, and to where a list may grow."""
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate([*value, None]):
            yield from texts(item, (*way, key))
    elif value is None or isinstance(value, str):
        yield way


def put(value: Any, way: tuple[Any, ...], text: str) -> bytes:
    """Return a JSON value with a text in one place."""
    changed = inner = json.loads(json.dumps(value))
    for key in way[:-1]:
        inner = inner[key]
    if isinstance(inner, list):
        inner[way[-1] : way[-1] + 1] = [text]
    else:
        inner[way[-1]] = text
    return json.dumps(changed).encode() + b"\n"


VERBS = {
    "pool": cycle(
        [
            ("run", "pool", "--model", "oracle", "--no-baselines", "--out", "again", "--dry-run"),
            ("lint", "pool"),
            ("run", "pool", "--model", "oracle", "--no-baselines", "--out", "again"),
            ("retrieve", "pool", "--retriever", "bm25"),
        ]
    ),
    "run": cycle(
        [
            ("score", "run"),
            ("report", "run"),
            ("view", "run", "light"),
            ("compare", "run", "other", "--out", "compared"),
            ("explain", "run"),
        ]
    ),
}


@pytest.mark.slow
@pytest.mark.heavy
def test_nothing_is_imported_wherever_a_dotted_path_stands(called, ran, tmp_path) -> None:
    write_pool(tmp_path / "pool", LIGHT, team="direct", history="gold", format="native")
    for name in ("run", "other"):
        words = ("run", "pool", "--model", "oracle", "--no-baselines", "--out", name)
        assert called(*words).returncode == 0
    kept = {
        file: file.read_bytes()
        for folder in VERBS
        for file in (tmp_path / folder).glob("*.json*")
        if file.stat().st_size
    }
    for file, content in kept.items():
        first, rest = content, b""
        if file.suffix == ".jsonl":
            first, _, rest = content.partition(b"\n")
        value = json.loads(first)
        for way in texts(value):
            file.write_bytes(put(value, way, "evil_lab:lamps") + rest)
            words = next(VERBS[file.parent.name])
            with suppress(Exception):  # a text for a figure breaks some verbs: no matter here
                called(*words)
            assert not ran.exists(), (file.name, way, words)
            for other, before in kept.items():
                other.write_bytes(before)


def test_a_module_that_is_mistyped_is_refused_at_once(seal, tmp_path) -> None:
    done = seal(*offline("sample"), "--allow-code", "evil_lbas")
    assert done.returncode == 2
    assert "--allow-code evil_lbas: no such module is" in done.stderr
    assert "Did you mean evil_lab?" in done.stderr
