"""`seal import mcp`, and `seal run` with servers of the command line."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp_servers import line
from small_pools import write_pool

pytest.importorskip("mcp")

import seal as api
from seal.core import Tool
from seal.core.records import read_records


def with_tasks(pool: Path, *tasks: Any, out: Path) -> Path:
    """Write the tools of a pool with tasks of one's own, as a user would."""
    tools = list(read_records(pool / "tools.jsonl", Tool))
    bench = api.Benchmark("own", tools=tools, tasks=tasks, environment="mcp")
    return bench.save(out)


@pytest.mark.slow
def test_servers_are_imported_played_and_played_again_without_them(seal, tmp_path: Path) -> None:
    done = seal("import", "mcp", "--server", f"shop={line()}", "--out", "tools", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["tools"], report["tasks"]) == (16, 0)
    told = report["servers"]["shop"]
    assert told["transport"] == "stdio"
    assert (told["resources"], told["prompts"]) == (["shop://list"], ["greet"])
    assert line() not in done.stdout
    task = api.ask("Count.", api.called("count"))
    with_tasks(tmp_path / "tools", task, out=tmp_path / "pool")
    (tmp_path / "seal.toml").write_text(f'server = ["shop={line()}"]\n')
    common = ("run", "pool", "--model", "oracle", "--no-baselines")
    live = seal(*common, "--out", "live")
    assert live.returncode == 0, live.stderr
    (tmp_path / "seal.toml").unlink()
    again = seal(*common, "--cache", "replay", "--out", "again")
    assert again.returncode == 0, again.stderr
    chats = [(tmp_path / run / "trajectories.jsonl").read_bytes() for run in ("live", "again")]
    assert chats[0] == chats[1]
    origins = json.loads((tmp_path / "live" / "run.json").read_bytes())["origins"]
    assert origins["servers"] == "file"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["import", "mcp"], "SOURCE is missing"),
        (["import", "sample"], "SOURCE is missing"),
        (["import", "mcp", "--server", "no-such-command"], "there is no such command"),
        (["import", "mcp", "--server", "gone.json"], "gone.json cannot be read"),
        (["import", "toolbench", ".", "--server", "http://x.test"], "no option -T of toolbench"),
        (["run", "sample", "--server", "x"], "add --environment mcp"),
        (["import", "mcp", "--stdio", "x"], "--stdio is now --server COMMAND"),
        (["run", "sample", "--environment", "mpc"], "Did you mean 'mcp'?"),
        (["mcp", "sample", "--http"], "seal mcp is gone: 'seal run --agent bridge:COMMAND'"),
    ],
)
def test_what_cannot_be_is_one_clear_line(seal, words: list[str], says: str) -> None:
    failed = seal(*words, "--out", "out")
    assert failed.returncode == 2
    assert says in failed.stderr
    assert failed.stderr.count("\n") == 1


def repository(folder: Path) -> Path:
    """Return a git repository with one changed file."""
    folder.mkdir()
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@x.test", "-C", str(folder)]
    (folder / "notes.txt").write_text("one\n")
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "Begin"]):
        subprocess.run([*git, *words], check=True)
    (folder / "notes.txt").write_text("two\n")
    return folder


@pytest.fixture(scope="module")
def node_modules(tmp_path_factory: pytest.TempPathFactory) -> Path | None:
    """Packages of npm: the reference server of files, and the SDK. None: they cannot be had."""
    npm, folder = shutil.which("npm"), tmp_path_factory.mktemp("npm")
    if npm is None:
        return None
    names = ["server-filesystem", "sdk"]
    install = [npm, "install", "--prefix", str(folder)]
    install += [f"@modelcontextprotocol/{name}" for name in names]
    try:
        subprocess.run(install, check=True, capture_output=True, timeout=120)
    except (subprocess.SubprocessError, OSError):
        return None
    return folder / "node_modules"


@pytest.mark.slow
def test_a_client_in_another_language_is_scored(
    seal, node_modules: Path | None, tmp_path: Path
) -> None:
    if node_modules is None:
        pytest.skip("npm cannot install the SDK of another language")
    (tmp_path / "node_modules").symlink_to(node_modules)
    client = shutil.copy(Path(__file__).parents[1] / "fixtures" / "mcp_client.mjs", tmp_path)
    pool = write_pool(tmp_path / "pool")
    words = ["--agent", f"bridge:node {client}", "--first", "2", "--no-baselines", "--json"]
    summary = json.loads(seal("run", str(pool), *words, "--out", "run").stdout)
    assert summary["metrics"]["call_f1"]["mean"] == 1.0
    assert summary["metrics"]["call_f1"]["n"] == 2


@pytest.mark.slow
def test_reference_servers_are_played_and_played_again_without_them(
    seal, node_modules: Path | None, tmp_path: Path
) -> None:
    for name in ("mcp_server_time", "mcp_server_git"):
        pytest.importorskip(name)
    changed = repository(tmp_path / "repository")
    servers = {
        "time": {"command": sys.executable, "args": ["-m", "mcp_server_time"]},
        "git": {"command": sys.executable, "args": ["-m", "mcp_server_git"]},
    }
    tasks = [
        api.ask(
            "What is 9:00 in Tokyo in UTC?",
            api.called(
                "convert_time", source_timezone="Asia/Tokyo", time="09:00", target_timezone="UTC"
            ),
        ),
        api.ask(
            "Stage the notes and commit them.",
            api.called("git_add", repo_path=str(changed), files=["notes.txt"]),
            api.called("git_commit", repo_path=str(changed), message="Change"),
            in_order=True,
        ),
    ]
    if node_modules is not None:
        files = node_modules / ".bin" / "mcp-server-filesystem"
        servers["files"] = {"command": str(files), "args": [str(changed)]}
        path = str(changed / "notes.txt")
        tasks.append(api.ask("What do the notes say?", api.called("read_text_file", path=path)))
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    done = seal("import", "mcp", "--server", "mcp.json", "--out", "tools")
    assert done.returncode == 0, done.stderr
    with_tasks(tmp_path / "tools", *tasks, out=tmp_path / "pool")
    common = ("run", "pool", "--model", "oracle", "--no-baselines", "--workers", "1")
    common += ("--retriever", "oracle")
    live = seal(*common, "--server", "mcp.json", "--out", "live")
    assert live.returncode == 0, live.stderr
    shutil.rmtree(changed)
    again = seal(*common, "--cache", "replay", "--out", "again")
    assert again.returncode == 0, again.stderr
    chats = [(tmp_path / run / "trajectories.jsonl").read_text() for run in ("live", "again")]
    assert chats[0] == chats[1]
    for said in ("00:00", "committed", *(["two"] if node_modules else [])):
        assert said in chats[0]
    scores = json.loads((tmp_path / "live" / "summary.json").read_bytes())["metrics"]
    assert scores["call_f1"]["mean"] == 1.0
