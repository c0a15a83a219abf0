"""States of a training on disk, and the model that it leaves."""

from __future__ import annotations

import json
import shutil
import stat
from pathlib import Path
from typing import Any, NamedTuple

from seal.retrievers.embedders.sentence_transformers import without_progress

_MODEL = "modules.json"
"""The file that makes a folder a model."""


class Checkpoint(NamedTuple):
    """A state of training from which it can go on."""

    step: int
    folder: Path


def newest_checkpoint(folder: Path) -> Checkpoint | None:
    """Return the newest whole checkpoint in a folder; torn ones are removed."""
    for checkpoint in checkpoints(folder):
        if state_of(checkpoint.folder):
            return checkpoint
        shutil.rmtree(checkpoint.folder)
    return None


def checkpoints(folder: Path) -> list[Checkpoint]:
    """Return the checkpoints in a folder, the newest first, torn ones too."""
    paths = folder.glob("checkpoint-*")
    return sorted((Checkpoint(int(p.name.rpartition("-")[2]), p) for p in paths), reverse=True)


def state_of(checkpoint: Path) -> dict[str, Any]:
    """Return the trainer's state, which it writes last; empty where it is not whole."""
    try:
        state: dict[str, Any] = json.loads((checkpoint / "trainer_state.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return state


def write_model(model: Any, folder: Path) -> None:
    """Write a model of the library into a folder of its own; what is there is replaced."""
    shutil.rmtree(folder, ignore_errors=True)
    with without_progress():
        model.save_pretrained(str(folder), create_model_card=False)
    mode = stat.S_IMODE((folder / _MODEL).stat().st_mode)
    for path in folder.rglob("*"):
        if path.is_file():
            path.chmod(mode)  # safetensors lets nobody else read what it writes


def place(model: Path, out: Path) -> None:
    """Move the files of a model's folder into another one on the same disk.

    They take the place of older ones; what else is there stays. `modules.json`, which makes a
    folder a model, is moved last.
    """
    for path in sorted(model.iterdir(), key=lambda path: path.name == _MODEL):
        old = out / path.name
        if old.is_dir():
            shutil.rmtree(old)
        path.replace(old)
    model.rmdir()
