"""A run in this process: its files, its summary, budgets, stops, caches."""

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import orjson
import pytest
from servers import ModelServer, calls, failure
from small_pools import (
    CITIES,
    IDENTICAL,
    TOOLS,
    Weatherman,
    by_server,
    contents,
    many,
    play,
    recording,
    weather_goal,
    weather_task,
    write_pool,
)

import seal
from seal.core import (
    Completion,
    Request,
    SealError,
    Step,
    Stop,
    Task,
    ToolCall,
    Trajectory,
    Usage,
    UsageError,
)
from seal.models.given_answers import ScriptedModel
from seal.report.lanes import facts_of
from seal.report.run_results import summary_notes
from seal.runs.play import Progress, run, run_folder
from seal.runs.run import RunFolder
from seal.runs.settings import RunSettings

FILES = {*IDENTICAL, "run.json", "tasks.jsonl", "tools.jsonl", "timings.jsonl", ".lock"}


def means(summary: dict[str, Any]) -> dict[str, float | None]:
    return {name: metric["mean"] for name, metric in summary["metrics"].items()}


def stops(folder: RunFolder) -> list[str]:
    return [stop.reason for t in folder.trajectories() for stop in t.stops]


def test_folder_has_the_files_that_it_should_and_nothing_else(tmp_path: Path):
    result = play("sample", tmp_path / "run", limit=6)

    assert {path.name for path in (tmp_path / "run").iterdir()} == FILES
    assert result.exit_code == 0
    assert result.folder == RunFolder(tmp_path / "run")
    assert len(list(result.folder.tasks())) == 6
    assert [t.task_id for t in result.folder.trajectories()] == [
        t.id for t in result.folder.tasks()
    ]


def test_oracle_with_oracle_retrieval_has_full_marks_in_every_metric(tmp_path: Path):
    result = play("sample", tmp_path / "run", model="oracle", retriever="oracle", limit=40)

    assert means(result.summary)["extra_calls"] == 0.0
    unbounded = {"calls", "turns", "tokens_in", "tokens_out", "extra_calls"}
    found = {n: v for n, v in means(result.summary).items() if n not in unbounded and v is not None}
    assert len(found) >= 10
    assert set(found.values()) == {1.0}
    assert result.summary["errors"] == 0


def test_summary_has_the_layout_that_it_should(pool: Path, tmp_path: Path):
    summary = play(pool, tmp_path / "run", model=Weatherman()).summary

    assert summary.keys() >= {"tasks", "errors", "stop_reasons", "metrics", "usage", "skipped"}
    assert summary["stop_reasons"] == {"done": 4}
    assert summary["usage"]["calls"] == 4
    metric = summary["metrics"]["call_recall"]
    assert metric.keys() >= {"mean", "n", "undefined", "low", "high", "by"}
    assert (metric["mean"], metric["n"], metric["by"]["one"]["n"]) == (1.0, 4, 4)
    assert json.loads((tmp_path / "run" / "summary.json").read_bytes()) == summary


def test_floor_and_ceiling_are_runs_beside_the_model(tmp_path: Path):
    told: list[Progress] = []
    result = run(RunSettings(limit=4), tmp_path / "run", progress=told.append)

    baselines = result.folder.baselines()
    assert [*baselines] == ["floor", "ceiling"]
    assert baselines["floor"].manifest()["system"]["model"] == {"model": "random"}
    assert baselines["ceiling"].summary()["metrics"]["pass_rate"]["mean"] == 1.0
    assert [t.id for t in baselines["floor"].tasks()] == [t.id for t in result.folder.tasks()]
    assert {state.stage for state in told} == {"play", "score", "floor", "ceiling"}
    assert (told[0].done, told[0].total) == (1, 4)
    for stage in ("play", "floor", "ceiling"):  # a bar counts one thing, and says what
        assert [(s.done, s.unit) for s in told if s.stage == stage] == [
            (done, "chats") for done in range(1, 5)
        ]


def test_baselines_of_fewer_tasks_than_the_model_say_so_and_stand_behind_no_figure(
    pool: Path, tmp_path: Path
):
    model = {"model": "lexical"}
    folder = play(pool, tmp_path / "run", baselines=True, limit=2, **model).folder
    told = "figures are not of the same tasks: floor, ceiling of 2; lexical of 4"
    assert told not in summary_notes(folder)
    assert None not in (facts_of(folder).floor, facts_of(folder).ceiling)

    play(pool, tmp_path / "run", resume=True, **model)  # all four, and no baselines
    assert told in summary_notes(folder)
    assert (facts_of(folder).floor, facts_of(folder).ceiling) == (None, None)

    play(pool, tmp_path / "run", resume=True, baselines=True, **model)
    assert told not in summary_notes(folder)


def test_a_baseline_without_its_manifest_is_played_again_unless_it_holds_more(
    pool: Path, tmp_path: Path
) -> None:
    settings = {"model": "lexical", "baselines": True, "limit": 2}
    folder = play(pool, tmp_path / "run", **settings).folder
    before = dict(folder.baselines()["floor"].summary())
    (folder.path / "floor" / "run.json").unlink()
    (folder.path / "floor" / "trajectories.jsonl").write_text("null\n")

    play(pool, tmp_path / "run", resume=True, **settings)
    assert RunFolder.open(folder.path / "floor").summary() == before

    (folder.path / "ceiling" / "run.json").unlink()
    mine = folder.path / "ceiling" / "mine.txt"
    mine.write_text("mine")
    with pytest.raises(UsageError, match=r"ceiling is not empty and holds no run \(but 'mine"):
        play(pool, tmp_path / "run", resume=True, **settings)
    assert mine.read_text() == "mine"


def test_floor_of_another_model_is_lexical(pool: Path, tmp_path: Path):
    settings = RunSettings(pool=pool, model="oracle", retriever_options={}, limit=1)
    result = run(settings, tmp_path / "run")

    floor = result.folder.baselines()["floor"].manifest()
    assert floor["system"]["model"] == {"model": "lexical"}


def test_rankings_hold_what_was_retrieved_for_each_goal(pool: Path, tmp_path: Path):
    folder = play(pool, tmp_path / "run", model=Weatherman(), trials=2).folder

    rankings = list(folder.rankings())
    assert [(r.task_id, r.goal) for r in rankings] == [(t.id, 0) for t in folder.tasks()]
    assert all(r.hits[0][0] == "small/weather/get" for r in rankings)


@pytest.mark.slow
@pytest.mark.no_cover
def test_other_workers_and_processes_give_the_same_bytes(tmp_path: Path):
    variants = [{"workers": 1}, {"workers": 5}, {"workers": 2, "processes": 2}]
    found = [
        contents(play("sample", tmp_path / str(n), limit=12, trials=2, **variant).folder.path)
        for n, variant in enumerate(variants)
    ]

    assert found[0] == found[1] == found[2]


def test_same_seed_and_cache_give_the_same_bytes_with_a_server(model_server, pool, tmp_path):
    server = model_server(by_server)
    settings = {"model": "openai/x", "base_url": server.url}
    first = play(pool, tmp_path / "a", workers=4, **settings)
    asked = len(server.received)
    second = play(pool, tmp_path / "b", workers=1, **settings)

    assert contents(first.folder.path) == contents(second.folder.path)
    assert asked == len(server.received) == 4 * 4  # call, report, response, verdict
    assert means(first.summary)["call_recall"] == 1.0


def test_replay_opens_no_socket_and_gives_the_same_bytes(pool: Path, tmp_path: Path):
    with ModelServer(by_server) as server:
        settings = {"model": "openai/x", "base_url": server.url}
        first = play(pool, tmp_path / "a", **settings)
    again = play(pool, tmp_path / "b", cache="replay", **settings)  # nobody listens any more

    assert contents(first.folder.path) == contents(again.folder.path)


def test_miss_under_replay_is_an_error_that_names_the_call(model_server, pool, tmp_path):
    server = model_server(by_server)
    settings = {"model": "openai/x", "base_url": server.url, "cache": "replay"}
    result = play(pool, tmp_path / "run", first=1, **settings)

    assert result.exit_code == 1
    assert server.received == []
    (trajectory,) = result.folder.trajectories()
    assert "no kept answer of openai/x as execution_manager" in trajectory.stops[0].error
    assert "What is the weather in Rome?" in trajectory.stops[0].error


def test_failure_of_a_server_is_an_error_and_never_a_score(model_server, pool, tmp_path):
    def script(request):
        return failure(500) if b"Oslo" in request.raw else by_server(request)

    server = model_server(script)
    result = play(
        pool,
        tmp_path / "run",
        model="openai/x",
        base_url=server.url,
        model_options={"max_tries": 2, "first_wait_s": 0.01},
    )

    assert result.exit_code == 1
    assert (result.summary["errors"], result.summary["tasks"]) == (1, 4)
    assert result.summary["stop_reasons"] == {"done": 3, "error": 1}
    failed = [s for s in result.folder.scores() if s.task_id == "oslo-1"]
    assert {score.value for score in failed} == {None}
    assert all(score.reason.startswith("infrastructure: ") for score in failed)
    assert result.summary["metrics"]["call_recall"]["n"] == 3


def test_errors_are_played_again_on_resume_and_nothing_else(model_server, pool, tmp_path):
    broken = [True]

    def script(request):
        bad = broken[0] and b"Oslo" in request.raw
        return failure(400) if bad else by_server(request)

    server = model_server(script)
    settings = {"model": "openai/x", "base_url": server.url, "cache": "off"}
    assert play(pool, tmp_path / "run", **settings).exit_code == 1
    broken.clear()
    broken.append(False)
    before = len(server.received)
    result = play(pool, tmp_path / "run", resume=True, **settings)

    assert result.exit_code == 0
    assert result.summary["errors"] == 0
    again = server.received[before:]
    assert len(again) == 4
    assert all(b"Oslo" in request.raw for request in again)


def test_recorded_model_skips_what_was_not_recorded_and_counts_it(tmp_path: Path):
    tasks = many(3)
    pool = write_pool(tmp_path / "pool", tasks, recorded={"gpt": [recording(tasks[1], "sunny")]})
    result = play(pool, tmp_path / "run", model="recorded:gpt")

    assert (result.summary["skipped"], result.summary["errors"]) == (2, 0)
    assert result.exit_code == 0
    assert [t.task_id for t in result.folder.trajectories()] == ["oslo-1"]


def test_a_recorded_give_up_is_unsolved_and_the_request_is_no_answer(tmp_path: Path):
    (task,) = many(1)
    request = task.goals[0].text
    spoken = (
        Step(0, "user_simulator", "orchestrator", request),
        Step(1, "orchestrator", "execution_manager", request, turn=1),
        Step(2, "execution_manager", "orchestrator", "", turn=2),
    )
    gave_up = Trajectory(task.id, 0, spoken, stops=(Stop("done"),), answers=(None,))
    pool = write_pool(tmp_path / "pool", [task], recorded={"gpt": [gave_up]})
    folder = play(pool, tmp_path / "run", model="recorded:gpt").folder

    (played,) = folder.trajectories()
    assert (played.answers, [stop.reason for stop in played.stops]) == ((None,), ["done"])
    assert played.steps[-1].content == "unsolved: there is no final answer"
    found = {score.metric: score for score in folder.scores()}
    assert (found["finished"].value, found["finished"].reason) == (0.0, "no answer")
    assert found["pass_rate"].details["label"] == "unsolved"


def steady(request: Request) -> Completion:
    number = sum(message.role == "tool" for message in request.messages)
    call = ToolCall("", "weather", {"city": f"Rome {number}"})
    calls = (call,) if request.role == "execution_manager" else ()
    return Completion("" if calls else "No more.", calls, Usage(10, 5))


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"max_turns": 2}, "max_turns"),
        ({"max_calls": 2}, "max_calls"),
        ({"max_tokens": 20}, "max_tokens"),
        ({"max_seconds": 1e-9}, "max_seconds"),
    ],
)
def test_each_limit_of_a_chat_reaches_the_summary(pool, tmp_path, limits, reason):
    result = play(pool, tmp_path / "run", model=ScriptedModel(steady), **limits)

    assert result.summary["stop_reasons"] == {reason: 4}
    assert result.exit_code == 0
    assert result.summary["metrics"]["pass_rate"]["mean"] == 0.0  # scored as it stands


def test_repetition_reaches_the_summary(pool: Path, tmp_path: Path):
    again = {"calls": [{"name": "weather", "arguments": {"city": "Rome"}}]}
    result = play(pool, tmp_path / "run", model=ScriptedModel([again] * 9), limit=1)

    assert result.summary["stop_reasons"] == {"repeated": 1}


@pytest.mark.parametrize(
    ("buttons", "ordered"),
    [("aaa", True), ("aaaa", True), ("abcdefghijkl", True), ("ab" * 30, False)],
)
def test_limits_follow_gold(tmp_path: Path, buttons: str, ordered: bool):
    def press(button: str) -> str:
        """Press a button."""
        return "pressed"

    steps = [seal.called("press", button=button) for button in buttons]
    task = seal.ask("Press.", *steps, in_order=ordered)
    panel = seal.Benchmark("panel", tools=[press], tasks=[task])
    run = seal.run(panel, model="oracle", baselines=False, out=tmp_path / "run")
    short = seal.run(panel, model="oracle", baselines=False, max_calls=2, out=tmp_path / "short")

    assert (list(run.tasks["outcome"]), list(run.tasks["stop"])) == (["solved"], ["done"])
    assert list(short.tasks["stop"]) == ["max_calls"]


def test_budget_of_the_run_stops_with_3_and_goes_on_when_raised(tmp_path: Path):
    pool = write_pool(tmp_path / "pool", many(20))
    model = {"model": ScriptedModel(lambda request: Completion("Done.", usage=Usage(5, 5)))}
    first = play(pool, tmp_path / "run", workers=1, max_total_tokens=45, **model)

    played = len(list(first.folder.trajectories()))
    assert first.exit_code == 3
    assert played == 3  # of 20 tokens each: the third begins at 40
    same = play(pool, tmp_path / "run", resume=True, max_total_tokens=45, **model)
    assert same.exit_code == 3
    assert len(list(same.folder.trajectories())) == played
    last = play(pool, tmp_path / "run", resume=True, **model)
    assert last.exit_code == 0
    assert contents(last.folder.path) == contents(play(pool, tmp_path / "b", **model).folder.path)


def test_tokens_of_the_summary_are_those_that_the_server_counted(model_server, pool, tmp_path):
    server = model_server(by_server)
    usage = play(pool, tmp_path / "r", model="openai/x", base_url=server.url).summary["usage"]

    asked = len(server.received)
    found = (usage["tokens_in"], usage["tokens_out"], usage["estimated"])
    assert found == (11 * asked, 7 * asked, False)
    for name in ("tokens_in", "tokens_out"):
        assert usage[name] == sum(row[name] for row in usage["roles"])


def test_more_chats_than_memory_holds_are_refused_and_nothing_is_left(tmp_path: Path):
    pool = write_pool(tmp_path / "pool", [weather_task("Oslo", 1), weather_task("Rome", 2)])
    with pytest.raises(UsageError, match=r"make 19999999998 chats.*fewer --trials, or --limit"):
        play(pool, tmp_path / "run", trials=9_999_999_999)
    assert not (tmp_path / "run").exists()


def test_first_select_and_trials_choose_what_is_played(tmp_path: Path):
    tasks = [
        weather_task(city, n, tags={"group": "warm" if n % 2 else "cold"})
        for n, city in enumerate(CITIES)
    ]
    pool = write_pool(tmp_path / "pool", tasks)
    result = play(pool, tmp_path / "run", select={"group": "warm"}, first=1, trials=3)

    assert [(t.task_id, t.trial) for t in result.folder.trajectories()] == [
        ("oslo-1", 0),
        ("oslo-1", 1),
        ("oslo-1", 2),
    ]
    assert result.summary["tasks"] == 1


@pytest.mark.parametrize(
    "settings",
    [
        {"select": {"group": "none"}},
        {"retriever": "no_such"},
        {"judge": "nobody"},
        {"simulator": "no_such"},
        {"simulator": "recorded"},
        {"model": "no_such"},
        {"team": "no_such"},
        {"roles": {"critic": "planner"}},
    ],
)
def test_what_cannot_be_played_leaves_no_folder(pool, tmp_path, settings):
    with pytest.raises(UsageError):
        play(pool, tmp_path / "run", **settings)
    assert not (tmp_path / "run").exists()


def test_folder_of_other_things_is_refused_with_and_without_resume(pool, tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "letter.txt").write_text("Dear")

    for resume in (False, True):
        with pytest.raises(UsageError, match=r"holds no run \(but 'letter.txt'\)"):
            play(pool, tmp_path / "home", resume)
    with pytest.raises(UsageError, match="is a file; give --out a folder"):
        play(pool, tmp_path / "home" / "letter.txt")


def test_folder_that_never_became_a_run_can_be_used_again(pool, tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    for name in (".lock", "tools.jsonl", ".tasks.jsonl.1-2.part"):
        (folder / name).write_text("")

    assert play(pool, folder).exit_code == 0
    assert {path.name for path in folder.iterdir()} == FILES


def test_run_is_not_overwritten_without_resume(pool, tmp_path):
    play(pool, tmp_path / "run")

    with pytest.raises(UsageError, match="holds a run already; add --resume"):
        play(pool, tmp_path / "run")
    with pytest.raises(UsageError, match="--resume needs --out RUN"):
        run(RunSettings(pool=pool), None, resume=True)


def test_default_folder_is_named_after_pool_and_model(pool, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings = RunSettings(pool=pool, baselines=False, limit=1)

    assert run(settings).folder.path == Path("runs/pool-lexical")
    assert run(settings).folder.path == Path("runs/pool-lexical-1")


def test_given_tools_are_offered_unless_a_retriever_is_named(tmp_path: Path):
    goal = weather_goal("Rome", offered=("small/news/get", "small/convert/get"))
    pool = write_pool(tmp_path / "pool", [Task("t", "small", (goal,))])

    def offered(**settings: Any) -> tuple[str, ...]:
        out = tmp_path / str(len(list(tmp_path.iterdir())))
        (trajectory,) = play(pool, out, **settings).folder.trajectories()
        return trajectory.offered[0]

    assert offered() == goal.offered
    assert offered(retriever="given") == goal.offered
    assert offered(retriever="given", top_k=1) == goal.offered
    assert offered(retriever="tfidf", top_k=1) == ("small/weather/get",)
    assert offered(retriever="tfidf", top_k=50) == ("small/weather/get",)  # no other matches


class Backwards:
    """A retriever of somebody else: all tools, last first."""

    def retrieve(self, queries, k):
        ids = sorted((tool.id for tool in TOOLS), reverse=True)
        return [[(tool, 1.0 / (n + 1)) for n, tool in enumerate(ids)][:k] for _ in queries]


def test_retriever_may_be_an_object_and_offers_the_first_k_of_its_ranking(pool, tmp_path):
    result = play(pool, tmp_path / "run", retriever=Backwards(), top_k=2, cutoffs=(1, 3), limit=1)

    (trajectory,) = result.folder.trajectories()
    assert trajectory.offered[0] == ("small/weather/get", "small/news/get")
    assert len(trajectory.rankings[0].hits) == 3
    assert result.summary["metrics"]["recall@3"]["mean"] == 1.0


def test_per_step_retrieval_ranks_each_sub_step_of_the_plan(pool, tmp_path):
    plan = {"planner": ["Find the weather in Rome.\nFind news about Rome."], "*": ["a", "b", "c"]}
    settings = {"roles": {"planner": "decompose"}, "retrieve": "per-step", "top_k": 1, "limit": 1}
    folder = play(pool, tmp_path / "run", model=ScriptedModel(plan), **settings).folder

    (trajectory,) = folder.trajectories()
    assert [r.query for r in trajectory.rankings] == [
        "Find the weather in Rome.",
        "Find news about Rome.",
    ]
    assert trajectory.offered[0] == ("small/weather/get", "small/news/get")
    assert list(folder.rankings()) == list(trajectory.rankings)


def test_on_demand_retrieval_offers_what_the_manager_looks_for(pool, tmp_path):
    script = [
        {"calls": [{"name": "find_tools", "arguments": {"query": "weather of a city"}}]},
        {"calls": [{"name": "weather", "arguments": {"city": "Rome"}}]},
        "Sunny.",
    ]
    result = play(
        pool,
        tmp_path / "run",
        model=ScriptedModel({"execution_manager": script, "*": ["Sunny in Rome."]}),
        retrieve="on-demand",
        top_k=1,
        limit=1,
    )

    (trajectory,) = result.folder.trajectories()
    assert trajectory.offered[0] == ("seal/chat/find_tools", "small/weather/get")
    assert [r.query for r in trajectory.rankings] == ["weather of a city"]
    assert result.summary["metrics"]["call_recall"]["mean"] == 1.0
    assert result.summary["metrics"]["calls"]["mean"] == 1.0  # the search is none of the API's


def test_many_chats_that_retrieve_at_once_build_one_retriever(tmp_path: Path):
    built = []

    class Counting(Backwards):
        def __init__(self, given):
            built.append(given)

    pool = write_pool(tmp_path / "pool", many(12))
    script = [{"calls": [{"name": "find_tools", "arguments": {"query": "weather"}}]}, "ok", "ok"]
    result = play(
        pool,
        tmp_path / "run",
        model=ScriptedModel(script),
        retriever=Counting,
        retrieve="on-demand",
        workers=6,
    )

    assert result.exit_code == 0
    assert len(built) == 1


TWO = Task("two", "small", (weather_goal("Rome"), weather_goal("Oslo")))


def test_goals_of_own_history_are_turns_of_one_chat(tmp_path: Path):
    model = Weatherman()
    pool = write_pool(tmp_path / "pool", [TWO])
    result = play(pool, tmp_path / "run", model=model, team="direct")

    (trajectory,) = result.folder.trajectories()
    assert [stop.reason for stop in trajectory.stops] == ["done", "done"]
    assert trajectory.answers == ("It is sunny in Rome.", "It is sunny in Oslo.")
    assert [m.content for m in model.seen[-1].messages if m.role == "user"] == [
        "What is the weather in Rome?",
        "What is the weather in Oslo?",
    ]


@pytest.mark.parametrize("team", ["direct", "full"])
def test_goals_of_gold_history_follow_the_references_of_those_before(tmp_path, team):
    model = Weatherman()
    pool = write_pool(tmp_path / "pool", [TWO])
    result = play(pool, tmp_path / "run", model=model, team=team, history="gold")

    (trajectory,) = result.folder.trajectories()
    assert [s.goal for s in trajectory.steps] == sorted(s.goal for s in trajectory.steps)
    assert [s.index for s in trajectory.steps] == list(range(len(trajectory.steps)))
    assert [s.call.id for s in trajectory.steps if s.call] == ["call_0", "call_1"]
    assert result.summary["metrics"]["call_recall"]["mean"] == 1.0
    asked = [r for r in model.seen if r.role == "execution_manager"][2].messages
    told = [(m.role, m.content.removeprefix("[orchestrator] ")) for m in asked[1:]]
    assert told == [
        ("user", "What is the weather in Rome?"),
        ("assistant", ""),
        ("tool", "sunny"),
        ("assistant", "It is sunny in Rome."),
        ("user", "What is the weather in Oslo?"),
    ]
    assert len({c.id for m in asked for c in m.calls}) == 1


@pytest.mark.parametrize("history", ["own", "gold"])
def test_oracle_has_full_marks_under_either_history(tmp_path, history):
    pool = write_pool(tmp_path / "pool", [TWO])
    result = play(pool, tmp_path / "r", model="oracle", retriever="oracle", history=history)

    assert result.summary["metrics"]["call_f1"]["mean"] == 1.0
    assert result.summary["metrics"]["pass_rate"]["mean"] == 1.0


@pytest.mark.parametrize("history", ["own", "gold"])
def test_history_of_a_task_is_seen_but_neither_recorded_nor_scored(tmp_path, history):
    before = recording(weather_task("Lima"), "rain in Lima").steps
    pool = write_pool(tmp_path / "pool", [weather_task("Rome", history=before)])
    model = Weatherman()
    result = play(pool, tmp_path / "run", model=model, team="direct", history=history)

    (trajectory,) = result.folder.trajectories()
    assert [s.index for s in trajectory.steps] == list(range(4))
    assert [s.call.id for s in trajectory.steps if s.call] == ["call_0"]
    assert result.summary["metrics"]["calls"]["mean"] == 1.0
    assert "What is the weather in Lima?" in model.seen[0].messages[1].content


def test_user_with_a_brief_is_played_by_a_model_of_its_own(model_server, tmp_path):
    def script(request):
        if request.body["model"] == "user":
            return calls(("end_conversation", {}), content="Thank you.")
        return by_server(request)

    server = model_server(script)
    pool = write_pool(tmp_path / "pool", [weather_task("Rome", persona={"city": "Rome"})])
    result = play(
        pool,
        tmp_path / "run",
        model="openai/x",
        role_models={"user_simulator": f"openai/user,base_url={server.url}"},
        base_url=server.url,
    )

    assert stops(result.folder) == ["user_ended"]
    (trajectory,) = result.folder.trajectories()
    assert trajectory.answers == ("It is sunny in Rome.",)
    manifest = result.folder.manifest()
    assert manifest["measure"]["user"]["model"] == "openai/user"


def test_judge_that_is_the_model_itself_is_warned_of_and_stored(
    model_server, pool, tmp_path, caplog
):
    server = model_server(by_server)
    settings = {"model": "openai/x", "base_url": server.url}
    itself = play(pool, tmp_path / "a", judge="llm", **settings)
    judge = f"openai/y,base_url={server.url}"
    other = play(pool, tmp_path / "b", role_models={"judge": judge}, **settings)

    (warning,) = itself.folder.manifest()["warnings"]
    assert warning.startswith("openai/x judges its own answers")
    assert [record.getMessage() for record in caplog.records] == [warning]
    assert other.folder.manifest()["warnings"] == []
    assert itself.summary["metrics"]["pass_rate"]["mean"] == 1.0


def test_digest_of_the_used_answers_is_written_and_no_part_of_identity(tmp_path: Path):
    goals = (weather_goal("Rome", plans=None, answers=()),)
    pool = write_pool(tmp_path / "pool", [Task("t", "small", goals)])
    first = play(pool, tmp_path / "a", model=Weatherman())
    second = play(pool, tmp_path / "b", model=Weatherman())
    off = play(pool, tmp_path / "c", model=Weatherman(), cache="off")

    assert first.folder.manifest()["cache"]["entries"] >= 1
    assert first.folder.manifest()["cache"] == second.folder.manifest()["cache"]
    assert off.folder.manifest()["cache"]["entries"] == 0
    assert play(pool, tmp_path / "a", True, model=Weatherman()).exit_code == 0


def test_live_files_of_chats_are_gone_when_the_run_ends(pool, tmp_path):
    seen: list[list[bytes]] = []

    class Watcher(Weatherman):
        def complete(self, request):
            live = sorted((tmp_path / "run" / "live").glob("*.jsonl"))
            seen.append([path.read_bytes() for path in live])
            return super().complete(request)

    play(pool, tmp_path / "run", model=Watcher(), workers=1)

    first = orjson.loads(seen[0][0].splitlines()[0])
    assert first["task_id"] == "rome-0"
    assert first["step"]["content"] == "What is the weather in Rome?"
    assert not (tmp_path / "run" / "live").exists()


def test_one_tool_table_serves_all_chats(tmp_path: Path):
    seen: list[Request] = []

    def script(request: Request) -> Completion:
        seen.append(request)
        return Completion("ok")

    pool = write_pool(tmp_path / "pool", many(8))
    play(pool, tmp_path / "run", model=ScriptedModel(script), workers=1)

    offered = [tool for request in seen for tool in request.tools if tool.name == "weather"]
    assert len(offered) == 8
    assert len({id(tool) for tool in offered}) == 1


def test_runs_begun_at_once_get_a_folder_each(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings = RunSettings(pool="sample")
    with ExitStack() as stack:
        begun = [stack.enter_context(run_folder(None, settings)) for _ in range(3)]
        (begun[0] / "run.json").touch()

    assert len(set(begun)) == 3
    assert [path.name for path in (tmp_path / "runs").iterdir()] == [begun[0].name]


def test_a_run_that_is_refused_leaves_no_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SealError):
        run(RunSettings(pool="nonesuch"))

    assert not any(tmp_path.iterdir())
