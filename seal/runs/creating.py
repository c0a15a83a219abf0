"""Tools that the run's model creates: each is asked for once, when it is first called."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from seal.benchmarks.dialogtool.roles.creator import creation_messages
from seal.core.tool_life import CREATION, CREATOR
from seal.core.types import Goal, Task, Tool
from seal.pools.pool import StoredPool
from seal.runs.cast import Cast
from seal.sandbox.functions import example_of


class Creating:
    """Asks the model of the role `creator` for a tool's function, as the task of its creation does.

    The question is that of the first trial of the task, so what was answered there is kept and
    serves here. A tool without such a task is asked for without an example.

    Args:
        pool: With the tasks of creation.
        cast: For the model.
    """

    def __init__(self, pool: StoredPool, cast: Cast) -> None:
        self._pool = pool
        self._cast = cast

    def __call__(self, tool: Tool) -> str:
        """Return the model's text.

        Raises:
            ModelError: The model failed.
        """
        task = self._tasks.get(tool.id) or _task(tool)
        messages = creation_messages(tool, task.goals[0].text, example_of(task.metadata))
        return self._cast.ask(CREATOR, task, messages).content

    @cached_property
    def _tasks(self) -> Mapping[str, Task]:
        """Tool to the task of its creation."""
        found = {}
        for task in self._pool.every_task():
            goal = task.goals[0]
            if goal.labels.get("task") == CREATION:
                found[str(goal.labels.get("tool"))] = task
        return found


def _task(tool: Tool) -> Task:
    text = f"Write the function of the API {tool.source.get('api') or tool.name}."
    goal = Goal(text, labels={"task": CREATION, "tool": tool.id}, offered=(tool.id,))
    return Task(f"create/{tool.id}", "", (goal,))
