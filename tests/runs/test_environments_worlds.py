"""Tasks that are played in a world, beside tasks that a simulator answers."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from small_pools import TOOLS, play, weather_task, write_pool

from seal.benchmarks.toolsandbox.phone import TOOL_IDS, tools
from seal.core import (
    DataError,
    Goal,
    Milestone,
    OptionError,
    Plan,
    Task,
    Trajectory,
    UnknownNameError,
    UsageError,
)
from seal.core.conditions import Argument, Called
from seal.core.records import read_records
from seal.models.oracle import USER

START = 1_741_789_800.0


def phone_task(*names: str, world: str = "phone", **arguments: Any) -> Task:
    """Return a task whose gold calls these tools of a phone, all with these arguments."""
    expected = {name: Argument((value,)) for name, value in arguments.items()}
    gold = tuple(Milestone(Called(TOOL_IDS[name], expected)) for name in names)
    goal = Goal(
        "Please do it.",
        plans=(Plan(gold),),
        offered=tuple(TOOL_IDS.values()),
    )
    clock = {"start": START, "first": 5, "step": 1.25}
    return Task(
        "/".join(("phone", *names)),
        "b",
        (goal,),
        initial_state={"contacts": []},
        metadata={"clock": clock},
        world=world,
    )


ADA = {"name": "Ada", "phone_number": "+4670000001"}
ADDING = phone_task("add_contact", **ADA)


@pytest.fixture
def phones(tmp_path: Path) -> Path:
    """A pool of one task of a phone and one of the simulator."""
    pytest.importorskip("phonenumbers", reason="phonenumbers comes with the extra worlds")
    return write_pool(tmp_path / "mixed", [ADDING, weather_task("Rome")], [*TOOLS, *tools()])


def only(trajectories: Any, task_id: str) -> Trajectory:
    return next(t for t in trajectories if t.task_id == task_id)


def states(trajectory: Trajectory) -> list[tuple[int, list[str]]]:
    """Return which tables are told at which step."""
    return [(step.index, sorted(step.state)) for step in trajectory.steps if step.state]


def test_the_oracle_changes_the_phone_and_the_record_says_what_changed(phones, tmp_path):
    played = play(phones, tmp_path / "run", model="oracle")

    trajectory = only(played.folder.trajectories(), ADDING.id)
    result = next(step for step in trajectory.steps if step.result)
    assert states(trajectory) == [
        (0, ["contacts", "messages", "reminders", "settings"]),
        (result.index, ["contacts"]),
    ]
    new = {"person_id": result.result.value, **ADA, "relationship": None, "is_self": False}
    assert result.state == {"contacts": [new]}
    assert (result.result.error, result.content) == (None, repr(new["person_id"]))
    assert result.result.executed.arguments == {**ADA, "relationship": None, "is_self": False}


def test_a_task_without_world_in_the_same_pool_is_simulated(phones, tmp_path):
    played = play(phones, tmp_path / "run", model="oracle")
    trajectory = only(played.folder.trajectories(), "rome-0")
    assert states(trajectory) == []
    assert [orjson.loads(s.content)["response"] for s in trajectory.steps if s.result] == [
        {"text": "sunny in Rome"}
    ]
    told = orjson.loads((tmp_path / "run" / "run.json").read_bytes())
    assert told["measure"]["simulator"]["worlds"]["phone"]["race"] == "dependency"


def test_the_ceiling_has_the_tools_that_the_task_gives(tmp_path):
    pytest.importorskip("phonenumbers", reason="phonenumbers comes with the extra worlds")
    given = replace(ADDING.goals[0], offered=(TOOL_IDS["add_contact"],))
    pool = write_pool(tmp_path / "given", [replace(ADDING, goals=(given,))], tools())
    run = play(pool, tmp_path / "run", model="lexical", baselines=True)
    ceiling = run.folder.baselines()["ceiling"]
    assert only(ceiling.trajectories(), ADDING.id).offered == (given.offered,)


@pytest.mark.slow
def test_equal_runs_are_equal_in_threads_and_processes(phones, tmp_path):
    files = []
    for name, settings in (("a", {}), ("b", {"workers": 1}), ("c", {"processes": 2})):
        play(phones, tmp_path / name, model="oracle", trials=3, **settings)
        files.append((tmp_path / name / "trajectories.jsonl").read_bytes())
    assert files[0] == files[1] == files[2]
    new = {
        step.result.value
        for trajectory in read_records(tmp_path / "a" / "trajectories.jsonl", Trajectory)
        for step in trajectory.steps
        if step.result and trajectory.task_id == ADDING.id
    }
    assert len(new) == 3


def test_time_moves_by_a_step_each_turn(tmp_path):
    task = phone_task("get_current_timestamp", "get_wifi_status", "get_current_timestamp")
    milestones = task.goals[0].plans[0].milestones
    chained = tuple(
        replace(milestone, after=(n - 1,) if n else ()) for n, milestone in enumerate(milestones)
    )
    task = replace(task, goals=(replace(task.goals[0], plans=(Plan(chained),)),))
    pool = write_pool(tmp_path / "pool", [task], tools())

    (trajectory,) = play(pool, tmp_path / "run", model="oracle").folder.trajectories()

    values = [step.result.value for step in trajectory.steps if step.result]
    assert values == [START + 6.25, True, START + 8.75]


def test_calls_at_once_race(tmp_path):
    off = {"wifi": False}
    settings = {
        "device_id": "d",
        "cellular": True,
        "location_service": True,
        "low_battery_mode": False,
        "latitude": 1.0,
        "longitude": 1.0,
        **off,
    }
    task = phone_task("set_wifi_status", "search_stock")
    task = replace(task, initial_state={"settings": [settings]})
    gold = (
        Milestone(Called(TOOL_IDS["set_wifi_status"], {"on": Argument((True,))})),
        Milestone(Called(TOOL_IDS["search_stock"], {"query": Argument(("x",))})),
    )
    task = replace(task, goals=(replace(task.goals[0], plans=(Plan(gold),)),))
    pool = write_pool(tmp_path / "pool", [task], tools())

    def errors(name: str, **options: Any) -> list[tuple[str, Any]]:
        run = play(pool, tmp_path / name, model="oracle", world_options=options)
        (trajectory,) = run.folder.trajectories()
        return [
            (step.result.call_id, (step.result.error or {}).get("kind"))
            for step in trajectory.steps
            if step.result
        ][:2]

    raced = [("call_1", "ConnectionError"), ("call_0", None)]
    assert errors("dependency") == raced
    assert errors("exhaustive", race="exhaustive") == raced
    assert errors("none", race="none") == [("call_0", None), ("call_1", "not_recorded")]


def test_worlds_and_options_that_cannot_be_end_the_run_before_it_begins(phones, pool, tmp_path):
    out = tmp_path / "run"
    with pytest.raises(OptionError, match="-T rase"):
        play(phones, out, world_options={"rase": "none"})
    with pytest.raises(DataError, match="No such file"):
        play(phones, out, world_options={"web": str(tmp_path / "none.json")})
    with pytest.raises(UsageError, match="no task of this pool is played in a world"):
        play(pool, out, world_options={"race": "none"})
    elsewhere = write_pool(tmp_path / "else", [replace(ADDING, world="fone")], tools())
    with pytest.raises(UnknownNameError, match="Did you mean 'phone'"):
        play(elsewhere, out)
    assert not out.exists()


def test_a_simulator_answers_for_the_web_and_its_answers_are_counted(tmp_path):
    task = phone_task("search_stock", query="Pellicano")
    pool = write_pool(tmp_path / "pool", [task], tools())

    played = play(pool, tmp_path / "run", model="oracle", world_options={"web": "simulator"})

    (trajectory,) = played.folder.trajectories()
    (result,) = (step.result for step in trajectory.steps if step.result)
    assert result.error is None
    told = orjson.loads((tmp_path / "run" / "run.json").read_bytes())
    assert told["measure"]["simulator"]["worlds"]["phone"]["web"]["simulator"].startswith(
        "template"
    )
    assert '"entries":1' in orjson.dumps(told).decode()


def test_a_beginning_that_cannot_be_is_told_before_the_run_begins(tmp_path):
    for changes, words in (
        ({"initial_state": {"sofas": []}}, "task broken: the world phone has no table 'sofas'"),
        ({"metadata": {"clock": 5}}, r"task broken: metadata\.clock 5"),
    ):
        broken = replace(ADDING, id="broken", **changes)
        pool = write_pool(tmp_path / "pool", [ADDING, broken], tools())
        with pytest.raises(DataError, match=words):
            play(pool, tmp_path / "run", model="oracle")
    assert not (tmp_path / "run").exists()


def test_gold_calls_meet_the_user_that_the_oracle_meets(tmp_path):
    pytest.importorskip("phonenumbers", reason="phonenumbers comes with the extra worlds")
    chosen: dict[str, Any] = {"select": {"group": "weather_for_duarte"}, "team": "direct"}
    done = play("toolsandbox-sample", tmp_path / "r", model="gold_calls:answer", **chosen)
    assert done.summary["metrics"]["pass_rate"]["mean"] == 1.0
    spoken = [step for step in next(done.folder.trajectories()).steps if step.author == USER]
    assert len(spoken) > 2
