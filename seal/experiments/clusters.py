"""Tasks that belong together, so that intervals and tests do not take them for independent."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from seal.core.errors import DataError


def cluster_of(task_id: str, metadata: Mapping[str, Any]) -> str:
    """Return the cluster of a task: what it is a variant of, else the task itself.

    Variants of a scenario name it in `metadata["base"]`, those that were made of a query in
    `metadata["seed"]`, where that is a task's id.
    """
    made_of = metadata.get("base", metadata.get("seed"))
    return made_of if isinstance(made_of, str) else task_id


def clusters_of(path: Path) -> dict[str, str]:
    """Return task id to cluster, from a run's tasks.jsonl.

    Raises:
        DataError: There is no such file, or a line of it is no task; names the line.
    """
    if not path.is_file():
        raise DataError(f"no file {path}: the folder holds no whole run")
    found = {}
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                task = orjson.loads(line)
                found[task["id"]] = cluster_of(task["id"], task["metadata"])
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise DataError(f"{path}, line {number}: no task: {error}") from error
    return found
