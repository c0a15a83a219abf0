"""Runs on a Ray cluster of two nodes, each of them processes of this machine."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from postgres_server import PASSWORD, PostgresServer
from servers import Answer, ModelServer, Received, failure, half, nothing
from small_pools import by_server, contents, many, play, weather_task, write_pool

from seal.core import UsageError
from seal.core.store import FILE_NAME, Store
from seal.runs.cluster import connected

cluster_utils = pytest.importorskip("ray.cluster_utils", reason="the extra ray is not installed")
pytestmark = pytest.mark.slow

TASKS = 16
REQUESTS = 4
"""Of one chat: call, report, response, verdict."""
NODE_DIED = "a node died; what it worked on is begun anew"
PATIENCE_S = 600
"""A busy machine is no failure."""
ENDING = """
import os
def agent(request, tools):
    if "Oslo" in request:
        os._exit(9)
    return "It is sunny."
"""


class Gate:
    """Answers while it is open; holds requests of chats back while it is not."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.open.set()
        self.held = 0

    def __call__(self, request: Received):
        if "response_format" not in request.body:  # a judge's
            self.held += not self.open.is_set()
            assert self.open.wait(PATIENCE_S)
        return by_server(request)


FAILURES = (failure(500), failure(429, retry_after="0.1"), half(), nothing(), failure(503))


class FlakyGate(Gate):
    """From now on fails the first time that it is asked something, each time in another way."""

    def __init__(self) -> None:
        super().__init__()
        self.failing = False
        self.failed: set[bytes] = set()
        self.answered: Counter[bytes] = Counter()

    def __call__(self, request: Received) -> Answer:
        fails = self.failing and self.open.is_set() and request.raw not in self.failed
        answer = super().__call__(request)
        if fails:
            self.failed.add(request.raw)
            return FAILURES[len(self.failed) % len(FAILURES)]
        self.answered[request.raw] += self.failing
        return answer


@pytest.fixture(scope="module")
def head() -> Iterator[cluster_utils.Cluster]:
    """A head that plays nothing; its nodes know the password of the database."""
    with pytest.MonkeyPatch.context() as variables:
        variables.setenv("PGPASSWORD", PASSWORD)
        started = cluster_utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
        try:
            yield started
        finally:
            started.shutdown()


@pytest.fixture
def cluster(head: cluster_utils.Cluster, monkeypatch) -> cluster_utils.Cluster:
    """Two nodes with a processor each, those of the tests before where they still run."""
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    while len(head.worker_nodes) < 2:
        head.add_node(num_cpus=1)
    return head


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
def server(gate: Gate) -> Iterator[ModelServer]:
    with ModelServer(gate) as started:
        yield started


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    return write_pool(tmp_path / "pool", many(TASKS))


@pytest.fixture
def calm(pool: Path, server: ModelServer, tmp_path: Path) -> dict[str, bytes]:
    """What a run on this machine leaves."""
    asked = {"model": "openai/x", "base_url": server.url, "cache": "off", "retriever": "tfidf"}
    run = play(pool, tmp_path / "calm", **asked)
    server.received.clear()
    return contents(run.folder.path)


def started(cluster: cluster_utils.Cluster, *words: object, folder: Path) -> subprocess.Popen[str]:
    """Start a command on the cluster."""
    return subprocess.Popen(
        [sys.executable, "-m", "seal", *map(str, words), "--processes", "ray"],
        env={**os.environ, "RAY_ADDRESS": cluster.address},
        cwd=folder,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def begun(
    cluster: cluster_utils.Cluster, pool: Path, server: ModelServer, out: Path, *words: object
) -> subprocess.Popen[str]:
    """Start a run."""
    fixed = ["run", pool, "--model", "openai/x", "--base-url", server.url, "--workers", 2]
    cache = () if "SEAL_CACHE_URL" in os.environ else ("--cache", "off")
    more = ["--retriever", "tfidf", "--no-baselines", "--out", out, *cache, *words]
    return started(cluster, *fixed, *more, folder=out.parent)


def answered(store: Store) -> list[tuple[str, str, object]]:
    """Return what a store holds, whenever it was written."""
    return [(entry.key, entry.kind, entry.value) for entry in store.entries()]


def told_until(process: subprocess.Popen[str], words: str) -> str:
    """Return what a command tells until it says these words, or to its end."""
    told = []
    for line in process.stderr:
        told.append(line)
        if words in line:
            break
    return "".join(told)


def wait_for_chats(process: subprocess.Popen[str], out: Path, chats: int) -> None:
    """Wait until so many chats have ended."""
    journal = out / "trajectories.jsonl"
    for _ in range(PATIENCE_S * 20):
        if journal.is_file() and journal.read_bytes().count(b"\n") >= chats:
            return
        assert process.poll() is None, process.communicate()
        threading.Event().wait(0.05)
    raise AssertionError(f"{chats} chats did not end")


def wait_for(process: subprocess.Popen[str], gate: Gate, requests: int) -> None:
    """Wait until so many requests are held back."""
    for _ in range(PATIENCE_S * 20):
        if gate.held >= requests:
            return
        assert process.poll() is None, process.communicate()
        threading.Event().wait(0.05)
    raise AssertionError(f"{gate.held} of {requests} requests came")


def test_without_a_cluster_the_command_that_starts_one_is_named(monkeypatch, tmp_path):
    """It stands before the tests that start one."""
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))  # where those that ran here before are noted
    with pytest.raises(UsageError, match="no Ray cluster runs here; start one by `ray start"):
        connected()


def test_an_agent_that_ends_its_process_crashes_in_its_own_chat_alone(cluster, tmp_path):
    pool = write_pool(tmp_path / "few", many(4))
    (tmp_path / "mine.py").write_text(ENDING)
    words = ["run", pool, "--agent", "mine:agent", "--no-baselines", "--out", "run"]
    process = started(cluster, *words, folder=tmp_path)
    _, said = process.communicate(timeout=PATIENCE_S)
    summary = json.loads((tmp_path / "run" / "summary.json").read_bytes())
    assert summary["errors"] == 0, said
    assert summary["stop_reasons"]["crashed"] == 1 and summary["stop_reasons"]["done"] == 3
    assert "begun anew" in said


def test_an_interrupted_run_ends_at_once_and_can_be_resumed(
    cluster, pool, server, gate, calm, tmp_path
):
    out = tmp_path / "run"
    gate.open.clear()
    process = begun(cluster, pool, server, out)
    wait_for(process, gate, 2)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 143
    assert "--processes ray" in said and "--resume" in said and "Traceback" not in said
    gate.open.set()
    process = begun(cluster, pool, server, out, "--resume")
    _, said = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, contents(out)) == (0, calm), said


def test_a_node_that_dies_costs_its_chats_a_retry_and_no_score(
    cluster, pool, server, gate, calm, tmp_path
):
    out = tmp_path / "run"
    gate.open.clear()
    process = begun(cluster, pool, server, out)
    wait_for(process, gate, 4)  # two chats of each node wait for the server
    cluster.remove_node(min(cluster.worker_nodes, key=id), allow_graceful=False)
    with process:
        said = told_until(process, NODE_DIED)
        gate.open.set()
        said += process.stderr.read()
    assert (process.returncode, contents(out)) == (0, calm), said
    assert NODE_DIED in said
    assert len(server.received) >= REQUESTS * TASKS + 2


def test_a_shared_cache_a_flaky_server_and_a_node_that_dies_leave_the_bytes_of_a_calm_run(
    cluster, postgres: PostgresServer, tmp_path, monkeypatch
):
    towns = [weather_task(f"Town{number}", number) for number in range(TASKS)]
    pool = write_pool(tmp_path / "pool", towns)  # so that no two chats ask the same
    out, url, flaky = tmp_path / "run", postgres.url(), FlakyGate()
    with ModelServer(flaky) as server:
        asked = {"model": "openai/x", "base_url": server.url, "retriever": "tfidf"}
        here = play(pool, tmp_path / "calm", cache_dir=tmp_path / "here", **asked)
        flaky.failing = True
        monkeypatch.setenv("SEAL_CACHE_URL", url)
        process = begun(cluster, pool, server, out, "-M", "first_wait_s=0.01")
        wait_for_chats(process, out, TASKS // 4)
        flaky.open.clear()
        wait_for(process, flaky, 3)  # at least one chat of each node waits for the server
        cluster.remove_node(min(cluster.worker_nodes, key=id), allow_graceful=False)
        with process:
            said = told_until(process, NODE_DIED)
            flaky.open.set()
            said += process.stderr.read()
    assert (process.returncode, contents(out)) == (0, contents(here.folder.path)), said
    assert NODE_DIED in said and PASSWORD not in said
    assert len(flaky.failed) > len(FAILURES)
    assert any(count > 1 for count in flaky.answered.values()), "no chat was played again"
    with Store(tmp_path / "here" / FILE_NAME) as calm, Store(url) as shared:
        assert answered(shared) == answered(calm)
