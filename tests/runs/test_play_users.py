"""Runs with simulated users: who plays them, what they are told, and what their errors are."""

import io
import os
import pty
import select
from dataclasses import replace
from pathlib import Path

import pytest
from forked import Forked
from servers import calls, text
from small_pools import Weatherman, contents, play, weather_goal, weather_task, write_pool

from seal.core import Completion, Goal, Reply, Task, UsageError
from seal.report.judge_sections import user_rows
from seal.report.lanes import lanes_of
from seal.report.run_pages import write_report
from seal.runs.finished import rescore
from seal.runs.settings import RunSettings

PERSONA = {
    "goal": "Know the weather in Rome.",
    "boundary": "You know nothing else.",
    "facts": {"city": {"value": "Rome", "ask": ["where"]}},
    "demonstration": [{"role": "user", "content": "turn on wifi"}, {"role": "end"}],
}
VAGUE = "How is the weather?"


def conversation(**changes) -> Task:
    """A task whose user says where only when asked."""
    goal = weather_goal("Rome")
    vague = Goal(VAGUE, plans=goal.plans, answers=goal.answers, relevant=goal.relevant)
    return Task("rome", "small", (vague,), persona={**PERSONA, **changes})


@pytest.fixture
def talking(tmp_path: Path) -> Path:
    return write_pool(tmp_path / "talking", [conversation()])


def said_by_user(folder) -> list[str]:
    (trajectory,) = folder.trajectories()
    return [s.content for s in trajectory.steps if s.author == "user_simulator" and not s.call]


def test_offline_models_talk_with_the_scripted_user(talking, tmp_path):
    result = play(talking, tmp_path / "run", model="lexical")

    assert said_by_user(result.folder) == [VAGUE, "Rome"]
    assert result.summary["stop_reasons"] == {"user_ended": 1}
    assert result.summary["metrics"]["call_recall"]["mean"] == 1.0
    assert result.summary["usage"]["calls"] == 1  # not the user's
    manifest = result.folder.manifest()
    assert manifest["measure"]["user"] == {
        "agent": "scripted",
        "brief": "goal+boundary+demonstration",
    }


def test_who_plays_the_agent_does_not_see_what_the_user_knows(talking, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("Which city?\nIt rains in Rome.\n"))
    shown = io.StringIO()
    monkeypatch.setattr("sys.stderr", shown)

    result = play(talking, tmp_path / "run", model="human", team="direct", workers=1)

    assert said_by_user(result.folder) == [VAGUE, "Rome"]
    assert "your part" not in shown.getvalue()


def test_conversations_without_a_model_are_equal_bytes(talking, tmp_path):
    first = play(talking, tmp_path / "a", model="lexical")
    second = play(talking, tmp_path / "b", model="lexical", workers=1)

    assert contents(first.folder.path) == contents(second.folder.path)


def test_user_with_a_model_is_named_with_its_prompt(talking, tmp_path):
    result = play(talking, tmp_path / "run", model=Weatherman(), max_turns=1)

    user = result.folder.manifest()["measure"]["user"]
    assert user["agent"] == "user_simulator"
    assert user["model"] == "weatherman"
    assert len(user["prompt"]) == 64


def test_tasks_without_a_persona_have_no_user_to_name(pool, tmp_path):
    result = play(pool, tmp_path / "run", model="lexical")

    assert result.folder.manifest()["measure"]["user"] == "goal"
    assert "user_hallucination" not in result.summary["metrics"]


def test_scripted_user_can_be_asked_for(talking, tmp_path):
    roles = {"user_simulator": "scripted"}
    result = play(talking, tmp_path / "run", model=Weatherman(), roles=roles, max_turns=1)

    assert result.folder.manifest()["measure"]["user"]["agent"] == "scripted"


def test_brief_is_part_of_what_is_measured(talking, tmp_path):
    play(talking, tmp_path / "run", model="lexical", user_brief="goal")

    with pytest.raises(UsageError, match=r"measure\.user: was .*'goal'"):
        play(talking, tmp_path / "run", resume=True, model="lexical")


def test_messages_are_limited_by_the_run_or_else_by_the_task(tmp_path):
    task = replace(conversation(), metadata={"max_messages": 3})
    pool = write_pool(tmp_path / "pool", [task])
    own = play(pool, tmp_path / "own", model="lexical", team="direct")
    run = play(pool, tmp_path / "run", model="lexical", team="direct", max_messages=1)

    assert own.summary["stop_reasons"] == run.summary["stop_reasons"] == {"max_messages": 1}
    assert [len(next(r.folder.trajectories()).steps) for r in (own, run)] == [3, 1]


def test_unknown_brief_is_refused():
    with pytest.raises(UsageError, match="goal, goal\\+boundary, goal"):
        RunSettings(user_brief="boundary")


def by_two(request):
    """Play both sides: the user by its system message, else the agent."""
    body = request.body
    messages = body["messages"]
    names = [tool["function"]["name"] for tool in body.get("tools", ())]
    if names == ["end_conversation"]:
        heard = [m["content"] for m in messages if m["role"] == "user"]
        if "Where" in heard[-1]:
            return text("in Rome, near Napoli")
        return calls(("end_conversation", {}))
    user = [m["content"] for m in messages if m["role"] == "user"]
    if not any("Rome" in words for words in user):
        return text("Where?")
    if messages[-1]["role"] != "tool" and "weather" in names:
        return calls(("weather", {"city": "Rome"}))
    return text("It is sunny in Rome. Anything else?")


def test_one_server_plays_user_and_agent_in_a_whole_conversation(model_server, talking, tmp_path):
    server = model_server(by_two)
    result = play(talking, tmp_path / "run", model="openai/x", base_url=server.url, team="direct")

    (trajectory,) = result.folder.trajectories()
    assert [f"{s.author}>{s.recipient}" for s in trajectory.steps] == [
        "user_simulator>execution_manager",
        "execution_manager>user_simulator",
        "user_simulator>execution_manager",
        "execution_manager>executor",
        "executor>execution_manager",
        "execution_manager>user_simulator",
        "user_simulator>executor",
        "executor>user_simulator",
    ]
    assert trajectory.answers == ("It is sunny in Rome. Anything else?",)
    metrics = result.summary["metrics"]
    assert metrics["user_hallucination"]["mean"] == 1.0  # Napoli
    assert metrics["user_instruction_error"]["mean"] == 0.0
    assert metrics["calls"]["mean"] == 1.0


def test_scoring_again_audits_again(talking, tmp_path):
    folder = play(talking, tmp_path / "run", model="lexical").folder
    before = folder.summary()["metrics"]["user_hallucination"]
    folder.scores_path.unlink()

    after = rescore(folder.path)["metrics"]["user_hallucination"]

    assert after == before
    assert after["mean"] == 0.0


def test_ablation_of_the_brief_is_a_table(talking, tmp_path):
    briefs = ("goal+boundary+demonstration", "goal", "goal+boundary")
    runs = [
        play(talking, tmp_path / str(n), model="lexical", user_brief=brief).folder
        for n, brief in enumerate(briefs)
    ]

    assert [row.brief for row in user_rows(lanes_of(runs))] == sorted(briefs, key=len)
    page = write_report(runs, tmp_path / "report.html").read_text()
    assert "Share of conversations with an error of the user" in page


def test_runs_without_users_have_no_such_table(pool, tmp_path):
    folder = play(pool, tmp_path / "run", model="lexical", limit=1).folder

    assert user_rows(lanes_of([folder])) == []


def command(talking: Path, out: Path) -> list[str]:
    return [
        "seal", "run", str(talking), "--model", "lexical", "--role-model",
        "user_simulator=human", "--workers", "1", "--out", str(out),
    ]  # fmt: skip


def test_person_plays_the_user_through_a_pipe(talking, tmp_path):
    answers = tmp_path / "answers"
    os.mkfifo(answers)
    words = command(talking, tmp_path / "run")
    process = Forked(words, cwd=tmp_path, env=os.environ, stdin=str(answers))
    answers.write_text("in Rome\n/end\n")
    _, told = process.communicate()

    assert process.returncode == 0, told
    lines = (tmp_path / "run" / "trajectories.jsonl").read_text()
    assert "in Rome" in lines and "end_conversation" in lines and '"user_ended"' in lines
    floor = (tmp_path / "run" / "floor" / "run.json").read_text()
    assert "human" not in floor  # nobody is asked to play the baselines' user too


@pytest.mark.slow
def test_person_plays_the_user_in_a_terminal(talking, tmp_path):
    parent, child = pty.openpty()
    name = os.ttyname(child)
    process = Forked(
        command(talking, tmp_path / "run"),
        cwd=tmp_path,
        env=os.environ,
        stdin=name,
        stdout=name,
        stderr=name,
    )
    answers = [b"in Rome\n", b"\n", b"/end\n"]
    shown = b""
    while (readable := select.select([parent], [], [], 0.1)[0]) or process.returncode is None:
        if readable:
            shown += os.read(parent, 4096)
        if answers and shown.count(b"user_simulator>") > 3 - len(answers):
            os.write(parent, answers.pop(0))
    process.communicate(60)
    os.close(child)
    os.close(parent)

    assert process.returncode == 0, shown
    assert b"/end ends the conversation" in shown
    assert not answers
    assert '"user_ended"' in (tmp_path / "run" / "trajectories.jsonl").read_text()


def test_users_need_no_model_where_the_task_is_a_recording(tmp_path):
    task = weather_task("Rome", persona=PERSONA)
    pool = write_pool(tmp_path / "pool", [task])
    played = play(pool, tmp_path / "first", model="oracle").folder
    again = play(pool, tmp_path / "again", model=f"replay:{played.path}").folder

    assert said_by_user(again) == said_by_user(played)
    assert again.summary()["stop_reasons"] == {"user_ended": 1}


class Stubborn:
    """A model that always says the same."""

    def complete(self, request):
        return Completion("I cannot do that.")


def test_a_task_with_a_limit_of_its_own_is_played_to_it(tmp_path):
    pool = write_pool(tmp_path / "own", [replace(conversation(), metadata={"max_messages": 24})])

    def ends(name, **limits):
        played = play(
            pool, tmp_path / name, model=Stubborn(), roles={"user_simulator": Asking()},
            team="direct", **limits,
        )  # fmt: skip
        return played.summary["stop_reasons"]

    assert ends("own") == {"max_messages": 1}
    assert ends("fewer", max_turns=3) == {"max_turns": 1}


class Counting:
    """A model that counts what it says, and is never done."""

    def complete(self, request):
        return Completion(f"That makes {len(request.messages)}. Is there more?")


@pytest.mark.parametrize(
    ("own", "limits", "turns"),
    [
        (14, {}, 14),
        (4, {}, 10),
        ("14", {}, 10),
        (14, {"max_turns": 3}, 3),
        (14, {"max_turns": 10}, 10),
        (None, {}, 10),
    ],
)
def test_a_task_may_take_the_turns_that_it_names(tmp_path, own, limits, turns):
    task = replace(conversation(), metadata={} if own is None else {"max_turns": own})
    result = play(
        write_pool(tmp_path / "pool", [task]), tmp_path / "run", model=Counting(),
        roles={"user_simulator": Asking()}, team="direct", **limits,
    )  # fmt: skip
    (chat,) = result.folder.trajectories()
    assert result.summary["stop_reasons"] == {"max_turns": 1}
    assert sum(step.author == "execution_manager" for step in chat.steps) == turns


class Asking:
    """A user that never gives up."""

    def reply(self, chat):
        return Reply("Do it, please.")
