"""The `seal` command as a real process, and its function in this one."""

import os
import shlex
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from forked import Forked
from forked import run as run_forked

from seal.cli.dispatch import main

Seal = Callable[..., subprocess.CompletedProcess[str]]

SLOW = """
import time
from seal import Reply

class Slow:
    def reply(self, chat):
        time.sleep(0.1)
        return Reply(chat.request)
"""


@pytest.fixture(scope="session")
def script() -> str:
    """Path of the installed command."""
    return str(Path(sysconfig.get_path("scripts")) / "seal")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Variables without a setting of this machine; modules in the test's folder are found."""
    ours = ("SEAL_", "OPENAI_", "GOOGLE", "COLUMNS", "NO_COLOR")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {**kept, "SEAL_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}


@pytest.fixture
def seal(environment: dict[str, str], tmp_path: Path) -> Seal:
    """Run `seal` in the test's folder; keywords are further variables."""

    def call(*words: object, **variables: str) -> subprocess.CompletedProcess[str]:
        return run_forked(["seal", *words], cwd=tmp_path, env={**environment, **variables})

    return call


@pytest.fixture
def called(
    environment: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Seal:
    """Do what `seal` does, in this process: for tests of a command's effects, not of its start."""

    def call(*words: object, **variables: str) -> subprocess.CompletedProcess[str]:
        given = {**environment, **variables}
        with monkeypatch.context() as patch:
            patch.chdir(tmp_path)
            patch.setattr(sys, "excepthook", sys.excepthook)
            for name in os.environ.keys() - given.keys():
                patch.delenv(name)
            for name, value in given.items():
                patch.setenv(name, value)
            capsys.readouterr()
            code = main([str(word) for word in words])
            told = capsys.readouterr()
        return subprocess.CompletedProcess(words, code, told.out, told.err)

    return call


@pytest.fixture
def interrupted(environment: dict[str, str], tmp_path: Path) -> Callable[..., list[str]]:
    """Interrupt a `seal` with a slow planner; return the words to go on with that it names."""

    def interrupt(*words: str, chat: str) -> list[str]:
        (tmp_path / "slow.py").write_text(SLOW)
        begun = ["seal", *words, "--role", "planner=slow:Slow"]
        process = Forked(begun, cwd=tmp_path, env=environment)
        while not list(tmp_path.glob(chat)):
            assert process.returncode is None
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=300)
        assert process.returncode == 130
        return shlex.split(told.rsplit("Go on with: seal ", 1)[1])

    return interrupt
