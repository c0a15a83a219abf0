"""Tasks that need a world and have none are left out or refused, and never simulated."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from small_pools import TOOLS, many, write_pool

import seal
from seal.core import Step, Task, ToolCall, ToolResult, Trajectory, UsageError
from seal.environments.chat_world import World
from seal.environments.world import Worlds, toolbox
from seal.pools.declarations import NeededWorld
from seal.runs.cost_plan import plan
from seal.runs.finished import rescore
from seal.runs.settings import RunSettings, ScoreSettings


def moor(harbour: World, boat: str) -> str:
    """Moor a boat.

    Args:
        boat: Its name.
    """
    harbour.add("boats", {"name": boat})
    return f"{boat} is moored"


HARBOUR = Worlds(name="harbour", tools=toolbox("harbour", [moor]), tables={"boats": []})


def needed(task: Task) -> NeededWorld | None:
    """Of tasks of the group `boats` alone."""
    boats = task.tags["group"] == "boats"
    return NeededWorld("harbour", "Dig the harbour first.") if boats else None


def boat_task(name: str, world: str = "") -> Task:
    called = seal.ask(f"Moor {name}.", seal.called("harbour/moor", boat=name)).goals[0]
    goal = replace(called, offered=("harbour/moor",))
    return Task(f"boat-{name}", "harbour", (goal,), tags={"group": "boats"}, world=world)


def harbour(folder: Path, *tasks: Task, **recorded: Any) -> seal.Benchmark:
    (document,) = HARBOUR.documents()
    tools = [*TOOLS, replace(document, returns={"type": "string"})]
    pool = write_pool(folder, tasks, tools, recorded)
    return seal.Benchmark("harbour", folder=pool, environment=HARBOUR, needs_world=needed)


@pytest.fixture
def mixed(tmp_path: Path) -> seal.Benchmark:
    """Two tasks of boats before two of the weather."""
    return harbour(tmp_path / "mixed", boat_task("Ada"), boat_task("Bo"), *many(2))


def played(bench: seal.Benchmark, out: Path, model: str = "oracle", **told: Any) -> seal.Run:
    return seal.run(bench, model=model, baselines=False, out=out, **told)


def ids(run: seal.Run) -> list[str]:
    return [chat.task_id for chat in run.folder.trajectories()]


TOLD = (
    "left out: 2 tasks, which cannot be played without the world harbour; to play them, add "
    "--environment harbour"
)


def test_such_tasks_are_left_out_of_a_run_that_has_others_and_the_run_says_so(
    mixed: seal.Benchmark, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run = played(mixed, tmp_path / "run")
    assert ids(run) == ["rome-0", "oslo-1"]
    assert {score.task_id for score in run.folder.scores()} == {"rome-0", "oslo-1"}
    told = run.folder.manifest()
    assert (told["warnings"], told["measure"]["left_out"]) == ([TOLD], {"harbour": 2})
    assert TOLD in caplog.messages
    seal.report(run, out=tmp_path / "report.html")
    assert "left out: 2 tasks" in (tmp_path / "report.html").read_text("utf-8")
    assert ids(played(mixed, tmp_path / "few", first=1)) == ["rome-0"]


def test_scoring_again_and_resuming_keep_what_was_left_out(
    mixed: seal.Benchmark, tmp_path: Path
) -> None:
    run = played(mixed, tmp_path / "run")
    rescore(run.folder.path, ScoreSettings())
    assert run.folder.manifest()["warnings"] == [TOLD]
    assert ids(played(mixed, tmp_path / "run", resume=True)) == ["rome-0", "oslo-1"]
    with pytest.raises(UsageError, match=r"measure\.left_out: was {'harbour': 2}, is None"):
        played(mixed, tmp_path / "run", resume=True, environment="harbour")


def test_a_run_that_simulated_them_before_is_not_resumed(tmp_path: Path) -> None:
    bench = harbour(tmp_path / "mixed", boat_task("Ada"), *many(2))
    before = replace(bench, needs_world=None)
    assert ids(played(before, tmp_path / "run")) == ["boat-Ada", "rome-0", "oslo-1"]
    with pytest.raises(UsageError, match=r"measure\.left_out: was None, is {'harbour': 1}"):
        played(bench, tmp_path / "run", resume=True)


def test_what_is_planned_leaves_them_out_too(mixed: seal.Benchmark) -> None:
    told = plan(RunSettings(pool=mixed, model="oracle", baselines=False))
    assert told["tasks"] == 2 and told["assumptions"][0] == TOLD


def test_a_chat_of_such_a_task_is_refused_with_the_reason(mixed: seal.Benchmark) -> None:
    with (
        pytest.raises(UsageError, match=f"no task 'boat-Ada' is played: {TOLD}"),
        seal.groupchat(mixed, task="boat-Ada", model="oracle"),
    ):
        pass


@pytest.mark.parametrize(
    ("told", "count", "repair"),
    [
        ({"select": {"group": "boats"}}, "2 selected tasks", "; add --environment harbour, or"),
        ({"select": {"id": "*Ada"}}, "1 selected task", "; add --environment harbour, or"),
        (
            {"environment": "simulator"},
            "2 selected tasks",
            "; instead of --environment simulator give --environment harbour, or",
        ),
        ({"simulator": "recorded+template", "select": {"group": "boats"}}, "2 selected", "; add"),
    ],
)
def test_a_run_of_such_tasks_alone_is_refused_and_so_is_simulating_them(
    mixed: seal.Benchmark, tmp_path: Path, told: dict[str, Any], count: str, repair: str
) -> None:
    with pytest.raises(UsageError) as raised:
        played(mixed, tmp_path / "run", **told)
    text = str(raised.value)
    assert f"{count} " in text and repair in text
    assert "cannot be played without the world harbour, for which no simulator stands in" in text
    assert text.endswith("or --select other tasks. Dig the harbour first.")
    assert not (tmp_path / "run").exists()


def test_in_a_world_they_are_played_whoever_names_it(mixed: seal.Benchmark, tmp_path: Path) -> None:
    boats = {"group": "boats"}
    run = played(mixed, tmp_path / "run", environment="harbour", select=boats)
    assert ids(run) == ["boat-Ada", "boat-Bo"]
    own = harbour(tmp_path / "own", boat_task("Ada", "harbour"), *many(1))
    run = played(own, tmp_path / "both")
    (moored,) = [step.state for chat in run.folder.trajectories() for step in chat.steps if
                 step.result and step.state]  # fmt: skip
    assert moored == {"boats": [{"name": "Ada"}]}
    assert (ids(run), run.folder.manifest()["warnings"]) == (["boat-Ada", "rome-0"], [])
    with pytest.raises(UsageError, match="1 selected task cannot be played without the world"):
        played(own, tmp_path / "none", environment="simulator")


def test_a_recording_is_played_as_it_was_recorded(tmp_path: Path) -> None:
    task = boat_task("Ada")
    call = ToolCall("call_0", "moor", {"boat": "Ada"}, tool="harbour/moor")
    answered = ToolResult("call_0", "moored at dawn")
    steps = (
        Step(0, "user_simulator", "orchestrator", "Moor Ada."),
        Step(1, "execution_manager", "executor", call=call, turn=1),
        Step(2, "executor", "execution_manager", "moored at dawn", result=answered, turn=2),
        Step(3, "orchestrator", "user_simulator", "Ada is moored.", turn=3),
    )
    bench = harbour(tmp_path / "pool", task, sailor=[Trajectory(task.id, 0, steps)])
    run = played(bench, tmp_path / "run", model="recorded:sailor", simulator="recorded")
    (chat,) = run.folder.trajectories()
    assert [step.content for step in chat.steps if step.result] == ["moored at dawn"]


def test_a_benchmark_that_says_nothing_has_all_its_tasks_simulated(tmp_path: Path) -> None:
    bench = replace(harbour(tmp_path / "pool", boat_task("Ada")), needs_world=None)
    run = played(bench, tmp_path / "run")
    assert ids(run) == ["boat-Ada"] and "left_out" not in run.folder.manifest()["measure"]
