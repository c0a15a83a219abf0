"""Tools that the run's model creates: each is asked for once, when it is first called."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from seal.benchmarks.dialogtool.goals import creates
from seal.benchmarks.dialogtool.roles.creator import creation_messages
from seal.benchmarks.dialogtool.tool_life import CREATION, CREATOR
from seal.core.protocols import Message
from seal.core.types import Goal, Task, Tool
from seal.sandbox.functions import example_of


@dataclass(frozen=True)
class ToolWriter:
    """Asks the model of the role `creator` for a tool's function, as the task of its creation does.

    The question is that of the first trial of the task, so what was answered there is kept and
    serves here. A tool without such a task is asked for without an example.
    """

    tasks: Callable[[], Iterator[Task]]
    """Reads every task of the pool."""
    ask: Callable[[str, Task, Sequence[Message]], str]
    """(role, task, messages) to what the role's model says."""

    def __call__(self, tool: Tool) -> str:
        """Return the model's text.

        Raises:
            ModelError: The model failed.
        """
        task = self._by_tool.get(tool.id) or _task(tool)
        messages = creation_messages(tool, task.goals[0].text, example_of(task.metadata))
        return self.ask(CREATOR, task, messages)

    @cached_property
    def _by_tool(self) -> Mapping[str, Task]:
        """Tool to the task of its creation."""
        return {str(t.goals[0].labels.get("tool")): t for t in self.tasks() if creates(t)}


def _task(tool: Tool) -> Task:
    text = f"Write the function of the API {tool.source.get('api') or tool.name}."
    goal = Goal(text, labels={"task": CREATION, "tool": tool.id}, offered=(tool.id,))
    return Task(f"create/{tool.id}", "", (goal,))
