"""The main job as a user does it, offline: run, score, view, report."""

import json
import shlex
import signal
import time
from pathlib import Path

import pytest
from forked import Forked
from servers import ModelServer, text
from small_pools import weather_task, write_pool

from seal.runs.run import RunFolder

SHORT = ("--limit", "4", "--no-baselines")
SUMMARY = {"errors", "metrics", "run", "stop_reasons", "tasks", "usage"}

SLOW = """
import time
from seal import Reply

class Slow:
    def reply(self, chat):
        time.sleep(0.2)
        return Reply(chat.request)
"""

COSTLY = """
from seal import Completion
from seal.core.types import Usage

class Costly:
    def complete(self, request):
        return Completion("Done.", usage=Usage(10, 10))
"""


def lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.is_file() else 0


@pytest.mark.slow
def test_run_without_arguments_ends_with_a_table_and_a_report(seal, tmp_path: Path) -> None:
    done = seal("run")
    assert done.returncode == 0, done.stderr
    for row in ("floor", "lexical", "ceiling"):
        assert row in done.stdout
    assert "\nretriever: given, else tfidf\nrun: " in done.stdout
    report = Path(done.stdout.rsplit("report: ", 1)[1].splitlines()[0])
    assert (tmp_path / report).read_text(encoding="utf-8").startswith("<!")
    assert (tmp_path / "runs").is_dir()


def test_json_is_one_object_with_the_run(seal, tmp_path: Path) -> None:
    done = seal("run", *SHORT, "--out", "r", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found.keys() >= SUMMARY
    assert found["tasks"] == 4
    assert found["run"] == "r"
    assert json.loads((tmp_path / "r" / "summary.json").read_bytes()).items() <= found.items()


def test_nothing_but_json_reaches_stdout_when_roles_print(seal, tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(SLOW.replace("time.sleep(0.2)", "print('LOUD')"))
    done = seal("run", *SHORT, "--role", "planner=loud:Slow", "--json", "--out", "r")
    assert done.returncode == 0, done.stderr
    json.loads(done.stdout)
    assert "LOUD" not in done.stderr
    chats = RunFolder.open(tmp_path / "r").trajectories()
    assert {chat.provenance["printed"][0]["text"] for chat in chats} == {"LOUD\n"}


def test_the_settings_of_the_file_are_played(called, tmp_path: Path) -> None:
    (tmp_path / "seal.toml").write_text(
        'limit = 2\nbaselines = false\nout = "r"\n[select]\nmulti_tool = "true"\n'
    )
    done = called("run", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["tasks"] == 2


def test_an_occupied_folder_is_refused_and_resume_goes_on(called, tmp_path: Path) -> None:
    assert called("run", *SHORT, "--out", "r").returncode == 0
    before = (tmp_path / "r" / "trajectories.jsonl").read_bytes()
    again = called("run", *SHORT, "--out", "r")
    assert again.returncode == 2
    assert "--resume" in again.stderr
    resumed = called("run", *SHORT, "--out", "r", "--resume")
    assert resumed.returncode == 0, resumed.stderr
    assert (tmp_path / "r" / "trajectories.jsonl").read_bytes() == before


def test_resuming_what_is_not_there_says_that_a_new_run_begins(called) -> None:
    words = ("run", "--limit", "1", "--no-baselines", "--out", "r", "--resume")
    assert called(*words).stderr == "seal: r holds no run to go on with: a new one begins there\n"
    assert called(*words).stderr == ""


def test_a_run_can_be_scored_viewed_and_reported(called, tmp_path: Path) -> None:
    assert called("run", *SHORT, "--out", "r").returncode == 0
    scores = (tmp_path / "r" / "scores.jsonl").read_bytes()
    scored = called("score", "r", "--json")
    assert scored.returncode == 0, scored.stderr
    assert json.loads(scored.stdout).keys() >= SUMMARY
    assert (tmp_path / "r" / "scores.jsonl").read_bytes() == scores
    task = json.loads((tmp_path / "r" / "tasks.jsonl").read_bytes().splitlines()[0])
    assert task["id"] in called("view", "r").stdout
    chat = called("view", "r", task["id"])
    assert chat.returncode == 0, chat.stderr
    assert task["goals"][0]["text"][:20] in chat.stdout
    reported = called("report", "r", "--out", "both.html", "--json")
    assert json.loads(reported.stdout) == {"report": "both.html"}
    assert (tmp_path / "both.html").is_file()


COUNTING = """
from seal import Score
from seal.core import Scale

class Steps:
    scales = {"steps": Scale(bounded=False)}

    def score(self, task, trajectory, tools):
        return [Score(task.id, trajectory.trial, 0, "steps", float(len(trajectory.steps)))]
"""


def test_a_metric_of_ones_own_is_measured_by_run_and_by_score(seal, tmp_path: Path) -> None:
    (tmp_path / "counting.py").write_text(COUNTING)
    played = seal("run", *SHORT, "--out", "r", "--metric", "counting:Steps", "--json")
    assert played.returncode == 0, played.stderr
    assert json.loads(played.stdout)["metrics"]["steps"]["n"] == 4
    assert seal("run", *SHORT, "--out", "plain").returncode == 0
    scored = seal("score", "plain", "--metric", "counting:Steps", "--json")
    assert scored.returncode == 0, scored.stderr
    assert json.loads(scored.stdout)["metrics"]["steps"]["n"] == 4


def test_the_flags_of_score_reach_the_judge(called, tmp_path: Path) -> None:
    assert called("run", *SHORT, "--out", "r").returncode == 0
    with ModelServer([text('{"verdict": "solved"}')], repeat=True) as server:
        words = ("--judge", "llm", "--judge-model", "openai/judge", "-M", "top_p=0.25")
        scored = called(
            "score", "r", *words, "--base-url", server.url, "--json", OPENAI_API_KEY="not-a-key"
        )
    assert scored.returncode == 0, scored.stderr
    asked = {(request.body["model"], request.body["top_p"]) for request in server.received}
    assert asked == {("judge", 0.25)}
    judge = json.loads((tmp_path / "r" / "run.json").read_bytes())["measure"]["judge"]
    assert judge["model"] == "openai/judge"


def test_a_task_that_is_not_there_names_the_closest(called) -> None:
    assert called("run", *SHORT, "--out", "r").returncode == 0
    failed = called("view", "r", "no-such-task")
    assert failed.returncode == 2
    assert "no-such-task" in failed.stderr


@pytest.mark.slow
def test_an_interrupted_run_says_how_to_go_on(
    seal, environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    words = ["run", "--limit", "30", "--no-baselines", "--workers", "1"]
    words += ["--role", "planner=slow:Slow"]
    process = Forked(["seal", *words], cwd=tmp_path, env=environment)
    folder = tmp_path / "runs"
    while not any(lines(path) for path in folder.glob("*/trajectories.jsonl")):
        assert process.returncode is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=300)
    assert process.returncode == 130
    command = shlex.split(told.rsplit("Go on with: ", 1)[1])
    assert command[0] == "seal"
    assert command[-1] == "--resume"
    resumed = seal(*command[1:])
    assert resumed.returncode == 0, resumed.stderr
    (trajectories,) = folder.glob("*/trajectories.jsonl")
    assert lines(trajectories) == 30


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nothing-here"], "nothing-here"),
        (["toolbench"], "seal import toolbench SOURCE --out"),
        (["--model", "lexica"], "Did you mean 'lexical'?"),
        (["--retriever", "tfdif"], "Did you mean 'tfidf'?"),
        (["--team", "ful"], "Did you mean 'full'?"),
        (["--simulator", "templat"], "Did you mean 'template'?"),
        (["--role", "planner=no_such_module:Planner"], "no module 'no_such_module'"),
        (["--model", "openai/some-model"], "OPENAI_API_KEY"),
        (["--select", "no_such_tag=1"], "no_such_tag"),
    ],
)
def test_what_cannot_be_played_is_one_clear_line(called, words: list[str], says: str) -> None:
    failed = called("run", *words, *SHORT)
    assert failed.returncode == 2
    assert says in failed.stderr
    assert failed.stderr.count("\n") == 1


def test_a_spent_budget_ends_with_3_and_can_be_resumed(seal, tmp_path: Path) -> None:
    (tmp_path / "costly.py").write_text(COSTLY)
    words = ("run", "--limit", "20", "--no-baselines", "--out", "r", "--model", "costly:Costly")
    spent = seal(*words, "--workers", "1", "--max-total-tokens", "30")
    assert spent.returncode == 3
    stopped = lines(tmp_path / "r" / "trajectories.jsonl")
    assert 0 < stopped < 20
    told = f"stopped by --max-total-tokens 30; unfinished chats: {20 - stopped}; go on with "
    assert f"{told}--resume --out r and a larger --max-total-tokens" in spent.stderr
    resumed = seal(*words, "--max-total-tokens", "1000000", "--resume")
    assert resumed.returncode == 0, resumed.stderr
    assert lines(tmp_path / "r" / "trajectories.jsonl") == 20


@pytest.mark.slow
def test_where_no_server_is_nothing_is_played_and_the_run_ends_with_3(called, tmp_path) -> None:
    words = ("run", "--limit", "1", "--no-baselines", "--model", "openai/x", "--json")
    words = (*words, "--out", "r")
    done = called(*words, "--base-url", "http://127.0.0.1:9/v1", OPENAI_API_KEY="not-a-real-key")
    assert (done.returncode, done.stdout) == (3, "")
    assert "not-a-real-key" not in done.stderr
    told = "no chat was played: openai/x at http://127.0.0.1:9/v1 could not be reached"
    assert told in done.stderr
    assert not (tmp_path / "r").exists()


def test_a_package_that_is_missing_in_mid_run_is_told_with_the_line_that_goes_on(
    called, monkeypatch
):
    from seal.core import MissingExtraError
    from seal.runs import play as runs

    def missing(settings, out, resume, told, **_):
        out.mkdir(parents=True)
        (out / "run.json").write_text("{}")
        raise MissingExtraError("phonenumbers", "worlds")

    monkeypatch.setattr(runs, "run", missing)
    failed = called("run", "--out", "r")

    assert failed.returncode == 2
    assert "phonenumbers is not installed" in failed.stderr
    assert failed.stderr.partition("Go on with: seal ")[2].endswith("--out r --resume\n")


def test_unsolved_tasks_are_played_again_in_a_new_folder(called, tmp_path: Path) -> None:
    assert called("run", *TWELVE, "--top-k", "5", "--out", "r").returncode == 0
    words = ("run", *OF_RUN, "--model", "oracle", "--out", "n")
    assert "9 tasks" in called(*words, "--dry-run").stdout and not (tmp_path / "n").exists()
    done = called(*words)
    assert done.returncode == 0, done.stderr
    assert "beside the run before: seal compare r n" in done.stdout
    assert called("compare", "r", "n").returncode == 0
    assert (
        "seal: plays the 9 unsolved of 12 tasks of r, with the settings of that run" in done.stderr
    )
    first, again = (RunFolder.open(tmp_path / name) for name in "rn")
    won = {score.task_id for score in first.scores() if (score.metric, score.value) == SOLVED}
    assert {*again.task_ids()} == {*first.task_ids()} - won
    assert again.manifest()["system"]["top_k"] == 5
    assert again.manifest()["again"] == "the unsolved of r"
    plain = called("run", *TWELVE, "--top-k", "5", "--model", "oracle", "--out", "n", "--resume")
    assert plain.returncode == 2 and "was begun for the unsolved of r" in plain.stderr
    none = called("run", "--again", "failed", "--from", "r")
    assert none.stderr == "seal: no task of r is failed: its chats are solved 3, unsolved 9\n"
    for words, told in AGAIN_REFUSED:
        refused = called("run", *words)
        assert refused.returncode == 2 and told in refused.stderr, words


def test_that_there_are_fewer_tasks_than_asked_for_is_told(called, tmp_path: Path) -> None:
    done = called("run", "toolscan-sample", "--first", "1000", "--no-baselines", "--out", "r")
    count = len([*RunFolder.open(tmp_path / "r").task_ids()])
    told = f"seal: toolscan-sample has no 1,000 such tasks: all {count} were played"
    assert told in done.stderr.splitlines()
    assert "first 1" not in called("runs", ".").stdout


TWELVE = ("--first", "12", "--no-baselines")
SOLVED = ("pass_rate", 1.0)
OF_RUN = ("--again", "unsolved", "--from", "r")
AGAIN_REFUSED = (
    (OF_RUN[:2], "--again and --from go together"),
    (OF_RUN[2:], "--again and --from go together"),
    (("--again", "unsolved", "--from", "gone"), "gone is no run folder"),
    ((*OF_RUN, "--first", "1"), "leave out --first"),
    (("toolscan-sample", *OF_RUN), "is of sample, not of toolscan-sample"),
)


WRECKER = """
from pathlib import Path

def solve(request, tools):
    Path("pool/tasks.jsonl").write_text("{")
    return "Done."
"""


def test_a_pool_that_is_damaged_amid_a_run_is_told_with_how_to_go_on(seal, tmp_path: Path) -> None:
    (tmp_path / "wrecker.py").write_text(WRECKER)
    write_pool(tmp_path / "pool", [weather_task("Bern")])

    done = seal("run", "pool", "--agent", "wrecker:solve", "--allow-code", "wrecker", "--out", "r")

    assert done.returncode == 2
    assert "tasks.jsonl, line 1" in done.stderr
    assert "Go on with: seal run pool" in done.stderr
    assert done.stderr.rstrip().endswith("--resume")
