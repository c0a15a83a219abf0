"""Steps of chats in progress, for `seal view --follow`: one file a chat, gone when it ends."""

from __future__ import annotations

from pathlib import Path
from typing import IO

from seal.core.canonical import digest
from seal.core.plain import json_bytes
from seal.core.secrets import without_keys
from seal.core.types import Step


class LiveFile:
    """`RUN/live/DIGEST.jsonl`, each line {task_id, trial, step}; made when the first step comes."""

    def __init__(self, run: Path, task_id: str, trial: int) -> None:
        self._path = run / "live" / f"{digest([task_id, trial])[:16]}.jsonl"
        self._task_id = task_id
        self._trial = trial
        self._file: IO[bytes] | None = None

    def write(self, step: Step) -> None:
        """Append one step; whoever follows the run sees it at once."""
        if self._file is None:
            self._path.parent.mkdir(exist_ok=True)
            self._file = self._path.open("wb")
        line = {"task_id": self._task_id, "trial": self._trial, "step": step}
        self._file.write(without_keys(json_bytes(line)) + b"\n")
        self._file.flush()

    def __enter__(self) -> LiveFile:
        return self

    def __exit__(self, *raised: object) -> None:
        if self._file is not None:
            self._file.close()
            self._path.unlink(missing_ok=True)
