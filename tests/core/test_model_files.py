"""What is told where the files of a model cannot be had."""

import errno
import subprocess
from pathlib import Path

import pytest

from seal.core import InfrastructureError
from seal.core.model_files import PACKED, fetch

NAME = next(iter(PACKED))
FULL = OSError(errno.ENOSPC, "No space left on device")


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SEAL_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("seal.core.model_files.find_spec", lambda name: name == "pip" or None)
    return tmp_path / "models"


def test_a_full_disk_is_told_with_the_folder(
    empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, text: str) -> int:
        raise FULL

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="No space left") as caught:
        fetch(NAME)
    assert caught.value.filename == str(empty_cache)


@pytest.mark.parametrize(
    "said",
    [
        f"ERROR: Exception:\nTraceback (most recent call last):\n  File\n{FULL!r}\n",
        f"ERROR: {FULL}\nWARNING: You are using an old pip\n",
    ],
)
def test_what_stops_pip_is_told_with_the_folder(
    said: str, empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = subprocess.CompletedProcess([], 2, "", said)
    monkeypatch.setattr("subprocess.run", lambda *words, **how: done)
    with pytest.raises(InfrastructureError, match=f"No space left.*the room in {empty_cache}"):
        fetch(NAME)
