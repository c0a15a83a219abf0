"""The installed `seal` command as a real process."""

import os
import subprocess
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest

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
def seal(script: str, environment: dict[str, str], tmp_path: Path) -> Seal:
    """Run `seal` in the test's folder; keywords are further variables."""

    def call(*words: object, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [script, *map(str, words)],
            cwd=tmp_path,
            env={**environment, **variables},
            capture_output=True,
            text=True,
            timeout=120,
        )

    return call
