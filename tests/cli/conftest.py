"""The `seal` command as a real process, and its function in this one."""

import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest
from forked import run as run_forked

from seal.cli import main

Seal = Callable[..., subprocess.CompletedProcess[str]]


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
