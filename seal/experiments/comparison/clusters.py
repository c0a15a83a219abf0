"""Clusters of tasks: variants of one task, which intervals draw together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from seal.core import Task
from seal.core.records import SCHEMAS
from seal.pools.importer import TASKS
from seal.runs.run_folder import RunFolder


def cluster_of(task_id: str, metadata: Mapping[str, Any]) -> str:
    """Return the cluster of a task: what it is a variant of, else the task itself.

    Variants of a scenario name it in `metadata["base"]`, those that were made of a query in
    `metadata["seed"]`, where that is a task's id.
    """
    made_of = metadata.get("base", metadata.get("seed"))
    return made_of if isinstance(made_of, str) else task_id


def clusters_of(run: RunFolder) -> dict[str, str]:
    """Return task id to cluster, from a run's tasks.jsonl.

    Raises:
        DataError: There is no such file, or a line of it is no task; names the line.
    """
    path = run.path / TASKS
    try:  # a task is made of 20 times as many objects as are needed here
        if not path.is_file():
            raise FileNotFoundError(path)  # for a pipe's writer it would wait
        found = {}
        with path.open("rb") as lines:
            for one in map(orjson.loads, filter(bytes.strip, lines)):
                if one["schema"] != SCHEMAS[Task] or not isinstance(one["id"], str):
                    raise TypeError
                found[one["id"]] = cluster_of(one["id"], one.get("metadata", {}))
        return found
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        pass  # what follows names the fault
    return {task.id: cluster_of(task.id, task.metadata) for task in run.tasks()}
