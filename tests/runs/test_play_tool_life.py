"""Runs of dialogues whose six tasks are tried one by one, or in a row."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from servers import ModelServer
from tool_life_tasks import ADD, FIND, by_server, creation, dialogue, write_life_pool

from seal.api.benchmarks import augment
from seal.benchmarks.dialogtool.tool_life import read_act, read_lesson, shipped_roles
from seal.core import DataError, OptionError, Step, Trajectory, UsageError
from seal.runs.play import RunResult, run
from seal.runs.settings import RunSettings


def play(pool: Path, out: Path, **settings: Any) -> RunResult:
    """Play without baselines, answers in a folder of their own."""
    given = {"baselines": False, "cache_dir": out / "../cache", "metrics": (), **settings}
    return run(RunSettings(pool=pool, **given), out)


def chat(result: RunResult, goal: int, task: int = 0) -> Sequence[Step]:
    """Return what was said about a goal."""
    trajectory = list(result.folder.trajectories())[task]
    return [step for step in trajectory.steps if step.goal == goal]


def authors(steps: Sequence[Step]) -> list[str]:
    return [step.author for step in steps]


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    return write_life_pool(tmp_path / "pool")


def test_gold_decisions_try_each_task_by_itself(pool, tmp_path):
    result = play(pool, tmp_path / "run", model="oracle")
    said = chat(result, 1)
    assert authors(said) == [
        "user_simulator",
        "awareness",
        "requester",
        "teacher",
        "responder",
        "teacher",
        "actor",
    ]
    assert read_act(said[1].content) == "offer"
    assert said[2].call.arguments == {"city": "Oakland", "cuisine": "Thai"}
    assert said[2].call.tool == FIND.id
    lesson = read_lesson(said[3].content)
    assert (lesson.action, json.loads(lesson.result)[0]["name"]) == ("offer", "Nopa")
    assert "#city='Oakland'" in lesson.request
    assert read_lesson(said[5].content).reply == "Nopa in Oakland serves Thai food."
    assert not [step for step in said if step.result is not None]


@pytest.mark.parametrize(
    ("option", "hint"), [("nosuch", ""), ("decision", " Did you mean 'decisions'?")]
)
def test_an_unknown_option_is_told_what_world_and_team_have(pool, tmp_path, option, hint):
    with pytest.raises(OptionError) as told:
        play(pool, tmp_path / "run", model="oracle", world_options={option: "own"})
    assert str(told.value) == (
        f"-T {option}: the world mobile has no such option; it has: mobile, confirm; "
        "team and benchmark have: apps, decisions, roles, selection, tasks, "
        f"tools.{hint}"
    )


def test_own_decisions_go_from_role_to_role(pool, tmp_path):
    result = play(pool, tmp_path / "run", model="oracle", world_options={"decisions": "own"})
    assert authors(chat(result, 1)) == [
        "user_simulator",
        "awareness",
        "requester",
        "executor",
        "responder",
        "actor",
    ]
    assert json.loads(chat(result, 1)[3].content)[0]["name"] == "Nopa"
    assert authors(chat(result, 5)) == ["user_simulator", "awareness", "responder", "actor"]


@pytest.mark.parametrize("decisions", ["gold", "own"])
@pytest.mark.parametrize("apps", ["flat", "hierarchical"])
def test_the_oracle_reaches_the_ceiling(pool, tmp_path, decisions, apps):
    options = {"decisions": decisions, "apps": apps}
    summary = play(pool, tmp_path / "run", model="oracle", world_options=options).summary
    assert summary["errors"] == 0
    values = {name: row["mean"] for name, row in summary["metrics"].items()}
    for name in ("call_recall", "call_precision", "awareness", "selection", "execution"):
        assert values[name] == 1.0, name


@pytest.mark.parametrize("decisions", ["gold", "own"])
@pytest.mark.parametrize("model", ["lexical", "random"])
def test_every_task_is_played_without_a_model(pool, tmp_path, model, decisions):
    options = {"decisions": decisions}
    result = play(pool, tmp_path / "run", model=model, world_options=options)
    assert result.exit_code == 0
    every = {step.author for goal in range(6) for step in chat(result, goal)}
    assert {"awareness", "requester", "responder", "actor"} <= every
    created = chat(result, 0, task=1)
    assert created[-1].author == "creator"
    assert created[-1].content.lstrip().startswith("def ")


def test_words_ask_for_what_is_missing_and_find_what_was_said(pool, tmp_path):
    result = play(pool, tmp_path / "run", model="lexical", world_options={"decisions": "own"})
    opening, searched = chat(result, 0), chat(result, 1)
    (asked,) = [step.call for step in opening if step.call]
    assert asked.arguments == {"city": "?", "cuisine": "Thai"}
    (refused,) = [step.result for step in opening if step.result]
    assert refused.error["kind"] == "missing_argument"
    (call,) = [step.call for step in searched if step.call]
    assert call.arguments == {"city": "Oakland", "cuisine": "Thai"}
    assert [step.result.error for step in searched if step.result] == [None]


def test_a_server_plays_the_roles_and_sees_no_label(pool, tmp_path):
    with ModelServer(by_server) as server:
        result = play(pool, tmp_path / "run", model="openai/any", base_url=server.url)
    assert result.summary["errors"] == 0
    (call,) = [step.call for step in chat(result, 1) if step.call]
    assert (call.tool, call.arguments) == (FIND.id, {"city": "Oakland", "cuisine": "?"})
    assert chat(result, 1)[-1].content == "Aye. Nopa."
    bodies = [request.raw.decode() for request in server.received]
    assert not any("slot_values" in b for b in bodies if "writes requests" in b)
    requests = [json.loads(b) for b in bodies if "writes requests" in b]
    assert all("tools" not in body for body in requests)
    assert "Restaurants" in requests[0]["messages"][0]["content"]


def test_apps_come_first_where_they_are_hierarchical(pool, tmp_path):
    options = {"apps": "hierarchical", "tasks": "selection"}
    with ModelServer(by_server) as server:
        result = play(
            pool, tmp_path / "run", model="openai/any", base_url=server.url, world_options=options
        )
    said = chat(result, 3)[-1]
    assert said.content == "[Restaurants]"
    assert said.call.tool == FIND.id
    prompts = [request.body["messages"] for request in server.received]
    chosen = [p for p in prompts if "opens the app" in p[0]["content"]]
    seen = [m["content"] for m in chosen[3][1:]]
    assert seen[0] == "I want to find a Thai restaurant."
    assert seen[-1] == "Great. Set an alarm at 6:30 pm."
    assert "- Alarm: Manage alarms" in chosen[0][0]["content"]
    asked = [p[0]["content"] for p in prompts if "writes requests" in p[0]["content"]]
    assert asked and not any("AddAlarm" in text for text in asked)


@pytest.mark.parametrize(
    ("tasks", "seated"),
    [
        ("awareness", {"awareness"}),
        ("selection", {"requester"}),
        ("execution,awareness", {"awareness", "requester"}),
        ("response", {"teacher", "responder"}),
        ("role", {"teacher", "actor"}),
        ("response,role", {"teacher", "responder", "actor"}),
    ],
)
def test_only_who_is_tried_is_seated(pool, tmp_path, tasks, seated):
    result = play(pool, tmp_path / "run", model="oracle", world_options={"tasks": tasks})
    (trajectory,) = result.folder.trajectories()
    assert {step.author for step in trajectory.steps} == {"user_simulator", *seated}
    assert result.folder.manifest()["measure"]["asked"]["tasks"]


def test_creation_is_played_alone(pool, tmp_path):
    result = play(pool, tmp_path / "run", model="oracle", world_options={"tasks": "creation"})
    (trajectory,) = result.folder.trajectories()
    assert trajectory.task_id == creation().id
    assert "def findrestaurants(table, city, cuisine, outdoor_seats=None):" in trajectory.answers[0]


@pytest.mark.parametrize("what", ["distraction=all", "names"])
def test_the_api_that_the_request_names_is_written_whatever_else_is_offered(pool, tmp_path, what):
    augment(pool, what, tmp_path / "more")
    options = {"world_options": {"tasks": "creation"}, "model": "oracle"}
    result = play(tmp_path / "more", tmp_path / "run", **options)
    (trajectory,) = result.folder.trajectories()
    assert "def findrestaurants(table, city, cuisine, outdoor_seats=None):" in trajectory.answers[0]


def test_the_first_tasks_hold_every_kind(tmp_path):
    pool = write_life_pool(tmp_path / "pool", dialogues=12)
    result = play(pool, tmp_path / "run", model="lexical", first=10)
    ids = [task.id for task in result.folder.tasks()]
    assert len(ids) == 10
    assert ids[9] == creation().id


def test_a_pool_says_how_it_is_played_and_the_user_is_heard_first(pool, tmp_path):
    manifest = play(pool, tmp_path / "own", model="oracle").folder.manifest()
    assert manifest["measure"]["history"] == "gold"
    assert manifest["system"]["format"] == "bracket"
    assert manifest["system"]["team"] == "tool_life"
    assert manifest["origins"] == dict.fromkeys(("team", "history", "format"), "benchmark")
    asked = play(pool, tmp_path / "asked", model="oracle", format="json", history="own")
    manifest = asked.folder.manifest()
    assert manifest["measure"]["history"] == "own"
    assert manifest["system"]["format"] == "json"
    assert manifest["origins"] == {"team": "benchmark"}


@pytest.mark.parametrize("play_as", [["team"], {"team": 1}, {"speed": "fast"}])
def test_a_pool_that_says_nonsense_is_refused(tmp_path, play_as):
    pool = write_life_pool(tmp_path / "pool", play=play_as)
    with pytest.raises(DataError, match="play: expected texts for team, history, format"):
        play(pool, tmp_path / "run", model="oracle")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"tasks": "awarness"}, "no task 'awarness'; there are: awareness, selection"),
        ({"tasks": ""}, "there are: awareness"),
        ({"tasks": "creation,creation"}, "creation stands twice; give each task once"),
        ({"decisions": "mine"}, "expected one of gold, own"),
        ({"apps": "nested"}, "expected one of flat, hierarchical"),
        ({"roles": "no_such.json"}, "no_such.json"),
        ({"speed": "fast"}, "speed"),
    ],
)
def test_unknown_options_are_refused_with_the_known_ones(pool, tmp_path, options, says):
    with pytest.raises(UsageError, match=says):
        play(pool, tmp_path / "run", model="oracle", world_options=options)
    assert not (tmp_path / "run" / "run.json").exists()


def test_a_user_that_speaks_from_a_brief_is_gone(pool, tmp_path):
    with pytest.raises(OptionError, match="-T on_policy is gone: -T decisions=own plays"):
        play(pool, tmp_path / "run", world_options={"on_policy": True})


def test_what_is_run_takes_the_teams_own_decisions(pool, tmp_path):
    options = {"tools": "created"}
    with pytest.raises(OptionError, match="the team's own decisions"):
        play(pool, tmp_path / "run", world_options={"decisions": "gold", **options})
    result = play(pool, tmp_path / "own", model="lexical", world_options=options)
    assert result.folder.manifest()["measure"]["asked"]["decisions"] == "own"
    assert result.summary["errors"] == 0


def test_a_style_of_a_role_that_nobody_plays_is_refused(pool, tmp_path):
    with pytest.raises(UsageError, match="team tool_life has no role 'execution_manager'"):
        play(pool, tmp_path / "run", roles={"execution_manager": "react"})


def test_floor_and_ceiling_stand_beside_a_server(pool, tmp_path):
    with ModelServer(by_server) as server:
        given = {"model": "openai/any", "base_url": server.url, "cache_dir": tmp_path / "cache"}
        result = run(RunSettings(pool=pool, **given), tmp_path / "run")
    assert result.summary["errors"] == 0
    for part in ("floor", "ceiling"):
        summary = json.loads((tmp_path / "run" / part / "summary.json").read_text())
        assert summary["errors"] == 0
        assert part == "floor" or summary["metrics"]["selection"]["mean"] == 1.0


def test_a_dialogue_has_one_role_that_its_seed_draws(tmp_path):
    pool = write_life_pool(tmp_path / "pool", dialogues=8)

    def roles(out: str, seed: int) -> list[str]:
        options = {"tasks": "role"}
        result = play(pool, tmp_path / out, model="lexical", seed=seed, world_options=options)
        played: list[Trajectory] = list(result.folder.trajectories())
        return [t.provenance["role"]["name"] for t in played if "role" in t.provenance]

    first = roles("a", 1)
    assert len(first) == 8
    assert len(set(first)) > 1
    assert roles("b", 1) == first
    assert roles("c", 2) != first
    assert set(first) <= {role["name"] for role in shipped_roles()}


def test_roles_of_a_file_are_played(pool, tmp_path):
    role = {
        **shipped_roles()[0],
        "name": "quiet poet",
        "features": {"opening": ["Hush."], "exclamations": False},
    }
    file = tmp_path / "roles.json"
    file.write_text(json.dumps([role]))
    result = play(pool, tmp_path / "run", model="oracle", world_options={"roles": str(file)})
    assert chat(result, 5)[-1].content == "Hush. Have a good day."
    without = {name: value for name, value in role.items() if name != "mbti"}
    file.write_text(json.dumps([role, without]))
    with pytest.raises(DataError, match=r"role 1 \(quiet poet\) lacks mbti; a role has: name"):
        play(pool, tmp_path / "other", model="oracle", world_options={"roles": str(file)})


def test_offers_of_earlier_goals_stand_under_gold_history(pool, tmp_path):
    result = play(pool, tmp_path / "run", model="oracle")
    trajectory = next(result.folder.trajectories())
    assert trajectory.offered == ((FIND.id, ADD.id),) * 6


def test_equal_runs_are_equal_however_many_chats_are_held_at_once(pool, tmp_path):
    one = play(pool, tmp_path / "a", model="lexical")
    two = play(pool, tmp_path / "b", model="lexical", workers=1)
    files = [r.folder.trajectories_path.read_bytes() for r in (one, two)]
    assert files[0] == files[1]


def test_every_turn_knows_the_turns_before_as_gold_has_them(pool, tmp_path):
    with ModelServer(by_server) as server:
        options = {"tasks": "awareness"}
        play(pool, tmp_path / "r", model="openai/x", base_url=server.url, world_options=options)
    texts = {tuple(m["content"] for m in r.body["messages"][1:]) for r in server.received}
    goals = dialogue().goals
    told = [text for g in goals[:2] for text in (g.text, g.reference[-1].content)]
    assert (*told, goals[2].text) in texts
    assert len(texts) == len(goals)


def test_a_role_that_is_never_asked_is_scored_for_it(pool, tmp_path):
    options = {"decisions": "own", "tasks": "awareness,selection"}
    result = play(pool, tmp_path / "run", model="lexical", world_options=options)
    seated = {tuple(t.provenance["seated"]) for t in result.folder.trajectories()}
    assert seated == {("awareness", "executor", "requester", "user_simulator")}
    metrics = result.summary["metrics"]
    assert metrics["selection"]["n"] == metrics["awareness"]["n"]
    assert "bleu" not in metrics or metrics["bleu"]["n"] == 0
