"""The installed `seal` command as a real process."""

import os
import subprocess
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest

SCRIPT = Path(sysconfig.get_path("scripts")) / "seal"

Seal = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def seal(tmp_path: Path) -> Seal:
    """Run `seal` in an empty folder with no setting of this machine; keywords are its variables."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SEAL_", "OPENAI_", "GOOGLE"))}

    def call(*words: object, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {**kept, "SEAL_CACHE_DIR": str(tmp_path / "cache"), **variables}
        return subprocess.run(
            [str(SCRIPT), *map(str, words)],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )

    return call
