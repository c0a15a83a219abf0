"""On a terminal: progress on stderr, colours on stdout unless NO_COLOR says otherwise."""

import json
import os
import pty
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from forked import run

COLOUR = re.compile(r"\x1b\[(?:\d+;)*(?:3[0-7]|9[0-7])(?:;\d+)*m")


class Terminal:
    """A pseudo terminal that a process writes to."""

    def __init__(self) -> None:
        self._master, self.slave = pty.openpty()
        self.name = os.ttyname(self.slave)
        self._chunks: list[bytes] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        while True:
            try:
                chunk = os.read(self._master, 65536)
            except OSError:  # Linux: the last writer has closed its end
                return
            if not chunk:
                return
            self._chunks.append(chunk)

    def type(self, line: str) -> None:
        """Have a line waiting for whoever reads from it."""
        os.write(self._master, line.encode())

    def text(self) -> str:
        """Return all that was written, after its writer has ended."""
        os.close(self.slave)
        self._reader.join()
        os.close(self._master)
        return b"".join(self._chunks).decode()


@pytest.fixture
def environment_of_terminal(environment: dict[str, str]) -> dict[str, str]:
    return {**environment, "TERM": "xterm-256color", "COLUMNS": "100"}


def test_progress_is_shown_on_a_terminal(
    environment_of_terminal: dict[str, str], tmp_path: Path
) -> None:
    terminal = Terminal()
    done = run(
        ["seal", "run", "--limit", "4", "--no-baselines", "--json"],
        cwd=tmp_path,
        env=environment_of_terminal,
        stderr=terminal.name,
    )
    shown = terminal.text()
    assert done.returncode == 0
    assert done.stdout.startswith("{")
    assert "play" in shown
    assert "4 of 4 chats" in shown


TWO_RUNS = """
import rich.console
now = 0.0
rich.console.monotonic = lambda: now
from seal.cli.output import progress
with progress() as advance:
    for n in (*range(1, 401), *range(1, {last} + 1)):
        now += 2
        advance("play", n, 400)
"""


@pytest.mark.parametrize(
    ("last", "told"), [(5, "5 of 400 8 s"), (30, "30 of 400 58 s, 12 min left")]
)
def test_the_next_run_of_an_experiment_has_its_own_time(
    environment_of_terminal: dict[str, str], last: int, told: str
) -> None:
    terminal = Terminal()
    script = TWO_RUNS.format(last=last)
    words = [sys.executable, "-c", script]
    with Path(terminal.name).open("wb") as shown:
        done = subprocess.run(words, env=environment_of_terminal, stderr=shown, check=False)
    plain = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", terminal.text())
    assert done.returncode == 0
    assert plain.splitlines()[-1].rstrip().endswith(told)


PEOPLE = """
from autogen import UserProxyAgent
def checker():
    return UserProxyAgent("checker", code_execution_config=False)
"""


@pytest.mark.parametrize(
    ("seated", "asks"),
    [
        ("--model oracle --team full --role checker=people:checker", "Replying as checker."),
        ("--model human --team direct", "Type a text"),
    ],
)
def test_progress_rests_while_a_person_is_asked(
    environment_of_terminal: dict[str, str], tmp_path: Path, seated: str, asks: str
) -> None:
    (tmp_path / "people.py").write_text(PEOPLE)
    words = f"run --limit 1 --no-baselines --json --workers 1 --out r {seated}"
    terminal = Terminal()
    terminal.type("solved: I have seen it\n")
    with Path(terminal.name).open("rb") as typed:
        done = subprocess.run(
            [sys.executable, "-m", "seal", *words.split()],
            cwd=tmp_path,
            env=environment_of_terminal,
            stdin=typed,
            stderr=terminal.slave,
            stdout=subprocess.PIPE,
            check=False,
        )
    shown = terminal.text()
    assert done.returncode == 0, shown
    before, asked, _ = shown.partition(asks)
    assert asked
    assert before.rfind("\x1b[?25h") > before.rfind("\x1b[?25l"), "the bars still hide the cursor"
    (told,) = (tmp_path / "r").rglob("trajectories*.jsonl")
    assert "solved: I have seen it" in told.read_text()


@pytest.mark.parametrize(("variables", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_no_color_is_honoured(
    environment_of_terminal: dict[str, str],
    tmp_path: Path,
    variables: dict[str, str],
    coloured: bool,
) -> None:
    words = ["run", "--limit", "2", "--no-baselines", "--model", "oracle", "--out", "r"]
    played = run(["seal", *words], cwd=tmp_path, env=environment_of_terminal)
    assert played.returncode == 0, played.stderr
    terminal = Terminal()
    viewed = run(
        ["seal", "view", "r"],
        cwd=tmp_path,
        env={**environment_of_terminal, **variables},
        stdout=terminal.name,
    )
    assert viewed.returncode == 0, viewed.stderr
    assert bool(COLOUR.search(terminal.text())) == coloured


@pytest.mark.slow
def test_chats_that_go_on_have_a_line_each_beneath_the_bar(
    environment_of_terminal: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "lazy_agent.py").write_text(
        "import time\n\n"
        "def solve(request, tools):\n"
        "    time.sleep(4)\n"
        "    return 'Here is the answer'\n"
    )
    terminal = Terminal()
    words = ["--agent", "lazy_agent:solve", "--first", "2", "--workers", "2", "--no-baselines"]
    done = run(
        ["seal", "run", *words, "--out", "r"],
        cwd=tmp_path,
        env=environment_of_terminal,
        stderr=terminal.name,
    )
    shown = terminal.text()
    assert done.returncode == 0, shown
    lines = (tmp_path / "r" / "tasks.jsonl").read_text().splitlines()
    tasks = [json.loads(line)["id"] for line in lines]
    for task_id in tasks:
        assert f"  {task_id} user_simulator: " in shown
    last = shown.rpartition("2 of 2 chats")[2]
    assert not any(task_id in last for task_id in tasks)  # a chat that has ended has no line
