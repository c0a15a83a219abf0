"""SEAL_CACHE_URL: one cache of answers in a database, for every verb that keeps answers."""

import json
import shutil
import subprocess
import time
from pathlib import Path

import psycopg
import pytest
from postgres_server import PASSWORD, postgres_server, programs

from seal import benchmarks
from seal.core.store import Store
from seal.core.values import digest

pytestmark = pytest.mark.slow
PLAYED = ("run", "plain", "--model", "oracle", "--no-baselines", "--retriever", "tfidf")
BRIEF = (*PLAYED, "--limit", "3")


def holds(folder: Path, word: str) -> list[Path]:
    """Return the files of a folder that hold a word."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path for path in files if word.encode() in path.read_bytes()]


@pytest.fixture(autouse=True)
def plain(tmp_path):
    """The sample without the results of its gold calls, so that a simulator answers them."""
    sample = Path(benchmarks.__file__).parent / "sample"
    (tmp_path / "plain").mkdir()
    shutil.copyfile(sample / "tools.jsonl", tmp_path / "plain" / "tools.jsonl")
    with (tmp_path / "plain" / "tasks.jsonl").open("w") as out:
        for line in (sample / "tasks.jsonl").read_text("utf-8").splitlines():
            task = json.loads(line)
            for goal in task["goals"]:
                for plan in goal["plans"] or ():
                    for milestone in plan["milestones"]:
                        milestone["result"] = None
            out.write(json.dumps(task) + "\n")


@pytest.fixture
def url(postgres, tmp_path):
    """A database of the test's own."""
    name = f"t{digest(str(tmp_path))[:12]}"
    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    return postgres.url(name)


def test_a_run_keeps_its_answers_there_and_tells_the_password_nowhere(seal, url, tmp_path):
    first = seal(*BRIEF, "--out", "one", SEAL_CACHE_URL=url)
    again = seal(
        *BRIEF, "--cache", "replay", "--out", "two", "--processes", "2", SEAL_CACHE_URL=url
    )
    own = f"sqlite:///{tmp_path / 'own.sqlite'}"
    alone = seal(*BRIEF, "--out", "three", SEAL_CACHE_URL=own)

    chats = [
        (tmp_path / run / "trajectories.jsonl").read_bytes() for run in ("one", "two", "three")
    ]
    assert chats[0] == chats[1] == chats[2]
    with Store(url) as store:
        assert store.stats().entries["simulator"] > 0
    assert not (tmp_path / "cache" / "answers.sqlite").exists()
    told = "".join(result.stdout + result.stderr for result in (first, again, alone))
    assert PASSWORD not in told
    assert holds(tmp_path, PASSWORD) == []


def test_it_is_counted_and_verified_as_a_file_is(seal, url):
    assert seal(*BRIEF, "--out", "filled", SEAL_CACHE_URL=url).returncode == 0
    assert seal("cache", "verify", "plain", SEAL_CACHE_URL=url).returncode == 0
    bare = url.replace(f":{PASSWORD}", "")
    answered = seal("cache", "stats", "--json", SEAL_CACHE_URL=bare, PGPASSWORD=PASSWORD)
    stats = json.loads(answered.stdout)
    assert stats["entries"]["simulator"] > 0
    assert (
        PASSWORD
        not in json.loads(seal("cache", "stats", "--json", SEAL_CACHE_URL=url).stdout)["place"]
    )
    assert stats["place"].startswith("postgresql://seal@/postgres")


def test_a_server_that_is_down_ends_a_run_without_a_score(seal, tmp_path):
    gone = "postgresql://me:hidden-word@127.0.0.1:9/answers"
    ended = seal(*BRIEF, "--out", "none", SEAL_CACHE_URL=gone)
    assert ended.returncode == 1
    assert "cannot be opened: " in ended.stderr
    assert "hidden-word" not in ended.stdout + ended.stderr
    assert not list(tmp_path.rglob("scores.jsonl"))


@pytest.mark.heavy
@pytest.mark.skipif(programs() is None, reason="no PostgreSQL server is installed")
def test_a_server_that_goes_away_ends_the_run_which_is_resumed_when_it_is_back(
    seal, script, environment, tmp_path
):
    words = [*PLAYED, "--trials", "12"]
    seal(*words, "--out", "calm")
    with postgres_server() as server:
        variables = {**environment, "SEAL_CACHE_URL": server.url()}
        out = tmp_path / "broken" / "trajectories.jsonl"
        run = subprocess.Popen(
            [script, *words, "--workers", "2", "--out", "broken"],
            cwd=tmp_path, env=variables, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        while not out.is_file() or out.stat().st_size < 20_000:
            time.sleep(0.02)
        server.stop()
        told = run.communicate(timeout=300)[1]
        assert run.returncode in (1, 3), told  # between chats, or in one
        assert "--out broken --resume" in told
        assert "no connection to the server for 60 s; start it" in told
        assert PASSWORD not in told
        server.start()
        again = seal(*words, "--out", "broken", "--resume", SEAL_CACHE_URL=server.url())
    assert again.returncode == 0, again.stderr
    for name in ("trajectories.jsonl", "scores.jsonl", "summary.json"):
        assert (tmp_path / "broken" / name).read_bytes() == (tmp_path / "calm" / name).read_bytes()
