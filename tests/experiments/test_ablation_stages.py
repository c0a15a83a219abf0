"""Ablations of stages and of roles: real runs on small pools."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from servers import calls, failure, text
from small_pools import CITIES, TOOLS, WEATHER, many, play, weather_goal, weather_task, write_pool

import seal
from seal.cli.dispatch import main
from seal.core import Task, UnknownNameError, UsageError
from seal.experiments.ablation import ablate, ablation_named, conditions_of
from seal.experiments.explanation import RoleWork
from seal.pools.lookup import known_benchmark
from seal.runs.run import RunFolder
from seal.runs.settings import RunSettings

ERRING = {"model": "lexical", "workers": 1, "model_options": {"slips": 1.0}}


def cost(content: dict[str, Any], metric: str) -> dict[str, Any]:
    return next(found for found in content["costs"] if found["metric"] == metric)


def test_gold_everywhere_gives_1_and_each_stage_its_own_points(tmp_path: Path) -> None:
    pool = write_pool(tmp_path / "pool", many(4))
    done = seal.ablate("injection", pool, out=tmp_path / "d", feedback="off", **ERRING)
    assert {e["other"] for e in done.content["comparisons"]} == {"plain"}
    passed, exact = cost(done.content, "pass_rate"), cost(done.content, "param_acc_gold")
    assert passed["plain"] + passed["stages"]["all"]["cost"] == 1.0
    assert exact["plain"] + exact["stages"]["all"]["cost"] == 1.0
    assert (exact["plain"], exact["stages"]["calls"]["cost"]) == (0.0, 1.0)
    assert exact["stages"]["tools"]["cost"] == 0.0
    measures = [RunFolder(tmp_path / "d" / n).manifest()["measure"] for n in ("plain", "results")]
    assert measures[1]["simulator"].pop("gold_results") is True
    assert measures[0] == measures[1]
    html = (tmp_path / "d" / "report.html").read_text()
    assert "what each stage costs" in html
    assert "cannot be compared" not in html
    assert "differ in simulator, as the conditions of the ablation of injection do" in html


def test_gold_results_come_whatever_the_arguments_were(tmp_path: Path) -> None:
    from seal.models.given_answers import ScriptedModel

    wrong = {"calls": [{"name": "weather", "arguments": {"city": "Atlantis"}}]}
    pool = write_pool(tmp_path / "pool", many(1))
    script = [wrong, {"content": "Done."}, {"content": "Done."}]
    done = play(pool, tmp_path / "r", model=ScriptedModel(script), gold_results=True)
    (trajectory,) = done.folder.trajectories()
    (made, brought) = next(trajectory.calls())
    assert made.call is not None
    assert made.call.arguments == {"city": "Atlantis"}
    assert brought is not None
    assert brought.result is not None
    assert brought.result.executed is not None
    assert brought.result.executed.arguments == {"city": "Rome"}
    assert "sunny in Rome" in brought.content


def test_gold_of_tools_alone_has_each_called_once(tmp_path: Path) -> None:
    bare = [
        weather_task(city, n, goals=(weather_goal(city, plans=None, reference=()),))
        for n, city in enumerate(CITIES)
    ]
    pool = write_pool(tmp_path / "pool", bare)
    done = seal.ablate("injection", pool, out=tmp_path / "d", model="random", workers=1)
    found = cost(done.content, "relevant_answered")
    assert found["plain"] + found["stages"]["all"]["cost"] == 1.0
    (made, _) = next(next(RunFolder(tmp_path / "d" / "all").trajectories()).calls())
    assert made.call is not None
    assert (made.call.tool, made.call.arguments) == (WEATHER.id, {"city": "Rome"})


def test_roles_are_seated_one_by_one_and_told_by_what_they_caught(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pool = write_pool(tmp_path / "pool", many(4))
    words = ["ablate", "roles", str(pool), "--model", "lexical", "-M", "slips=1.0", "--workers"]
    words += ["1", "--out", str(tmp_path / "d"), "--json"]
    assert main(words) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["protocol"]["conditions"] == ["none", "planner", "verifier", "checker", "all"]
    seats = {name: {row["role"] for row in found} for name, found in content["roles"].items()}
    assert not seats["none"] & {"verifier", "checker"}
    assert seats["all"] > {"verifier", "checker"}
    work = {row["role"]: row for row in content["roles"]["verifier"]}["verifier"]
    assert work["caught"] + work["missed"] > 0
    assert work["caused"] == 0
    page = (tmp_path / "d" / "report.html").read_text("utf-8")
    assert "Ablation of roles</h2>" in page
    lane = content["protocol"]["conditions"].index("verifier")
    outcome = "caught" if work["caught"] else "missed"
    assert f'<a href="#role-{lane}-verifier-{outcome}">{work[outcome]}</a>' in page
    details = page.partition(f'id="role-{lane}-verifier-{outcome}"')[2].partition("</details>")[0]
    assert details.count(f"&amp;lane={lane}&amp;trial=0&amp;step=") == work[outcome]
    assert {(e["run"], e["other"]) for e in content["comparisons"]} == {
        (name, "none") for name in ("planner", "verifier", "checker", "all")
    }


def test_a_role_that_is_seated_and_never_speaks_is_noted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    talks = [replace(task, persona={"goal": "the weather"}) for task in many(2)]
    words = ["ablate", "roles", str(write_pool(tmp_path / "pool", talks)), "--workers", "1"]
    words += ["--out", str(tmp_path / "d")]
    note = "checker: seated, and never spoke (checker, all)"
    assert main(words) == 0
    assert note in capsys.readouterr().err
    assert json.loads((tmp_path / "d" / "comparison.json").read_bytes())["notes"] == [note]
    assert note in (tmp_path / "d" / "report.html").read_text("utf-8")


def test_roles_of_chats_that_failed_are_not_called_silent(
    tmp_path: Path, model_server: Any
) -> None:
    server = model_server(lambda request: failure(400))
    pool = write_pool(tmp_path / "pool", many(1))
    done = seal.ablate("roles", pool, out=tmp_path / "d", model="openai/x", base_url=server.url)
    assert [row["errors"] for row in done.content["runs"]] == [1] * 5
    assert done.content["notes"] == []


def test_a_verifier_that_sends_back_a_right_step_has_caused_an_error(
    tmp_path: Path, model_server: Any
) -> None:
    def script(request: Any) -> Any:
        said = request.body["messages"]
        if "Call call_" in (said[-1]["content"] or ""):
            return text("rejected: do it again" if "call_0" in said[-1]["content"] else "accepted")
        if "tools" in request.body and said[-1]["role"] != "assistant":
            made = sum(m["role"] == "tool" for m in said)
            return calls(("weather", {"city": "Rome"})) if made < 2 else text("sunny in Rome")
        return text("sunny in Rome")

    server = model_server(script)
    done = play(
        write_pool(tmp_path / "pool", many(1), TOOLS),
        tmp_path / "run",
        model="openai/x",
        base_url=server.url,
        roles={"verifier": "verifier", "checker": None},
    )
    work = RoleWork()
    tasks: dict[str, Task] = {task.id: task for task in done.folder.tasks()}
    for trajectory in done.folder.trajectories():
        work.add(tasks[trajectory.task_id], trajectory)
    assert "checker" not in work.roles
    verifier = work.roles["verifier"]
    assert [verifier.count(o) for o in ("caused", "passed", "caught")] == [1, 1, 0]
    ((task, trial, step),) = verifier.places["caused"]
    chat = next(c for c in done.folder.trajectories() if c.task_id == task)
    assert (trial, chat.steps[step].author) == (0, "verifier")
    assert verifier.tokens_in == 11 * verifier.replies


def test_tools_and_apps_are_conditions_too() -> None:
    settings = RunSettings(world_options={"decisions": "own"})
    dialogues = known_benchmark("dialogtool-sample")
    tools = conditions_of(ablation_named("tools", dialogues), RunSettings())
    assert [c.settings.world_options["tools"] for c in tools] == ["created", "recorded"]
    decisions = [c.settings.world_options["decisions"] for c in tools]
    assert decisions == ["own", "own"], "only calls that are run tell tools apart"
    varied = ablation_named("apps", dialogues)
    apps = conditions_of(varied, settings)
    assert [dict(c.settings.world_options) for c in apps] == [
        {"decisions": "own", "apps": "hierarchical"},
        {"decisions": "own", "apps": "flat"},
    ]
    with pytest.raises(UsageError, match="-T apps"):
        conditions_of(varied, replace(settings, world_options={"apps": "flat"}))
    with pytest.raises(UnknownNameError, match="no ablation 'apps'"):
        ablation_named("apps", known_benchmark("sample"))


@pytest.mark.slow
def test_created_tools_are_held_against_recorded_ones_under_own_decisions(tmp_path: Path) -> None:
    settings = RunSettings(
        pool="dialogtool-sample", model="oracle", limit=3, cache_dir=tmp_path / "cache"
    )
    ablate("tools", settings, out=tmp_path / "out")
    for name in ("created", "recorded"):
        manifest = json.loads((tmp_path / "out" / name / "run.json").read_text())
        assert manifest["measure"]["asked"]["decisions"] == "own"
