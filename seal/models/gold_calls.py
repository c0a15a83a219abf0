"""`gold_calls`: calls each gold tool of a request once.

It is for benchmarks whose gold is the tools of a request and no calls (StableToolBench, AnyTool).
The choice of tools is gold then. The arguments are filled from the words of the request, as
`lexical` fills them. What the words do not say is made up by the schema. All other calls, and what
other roles say, are the oracle's. The execution manager reports what its calls brought;
`gold_calls:answer` gives the reference reply, as the oracle does.
"""

from __future__ import annotations

from dataclasses import dataclass

from seal.core import JSON, Completion, Goal, Request, Task, Tool, ToolCall, UsageError
from seal.models.fill import fill
from seal.models.model_settings import ModelSettings
from seal.models.oracle import Oracle
from seal.models.scene import find_scene

_ROLE = "execution_manager"


_MADE: dict[str, JSON] = {"integer": 1, "number": 1, "boolean": True, "array": [], "object": {}}
"""Type to the value of a required argument that no word gives."""


@dataclass(frozen=True, slots=True)
class GoldCalls:
    """Knows every task's gold tools."""

    tells: bool = False
    """Whether the execution manager gives the reference reply."""

    def open(self, task: Task, trial: int) -> GoldCallsChat:
        """Return the model of one chat.

        Raises:
            NotRecordedError: The gold of a goal says what the world must be, and not how.
        """
        return GoldCallsChat(task, self.tells)


def build_gold_calls(rest: str, settings: ModelSettings) -> GoldCalls:
    """Return the model `gold_calls`, or `gold_calls:answer`.

    Raises:
        UsageError: Another form than `answer`.
    """
    if rest not in ("", "answer"):
        raise UsageError(f"gold_calls:{rest}: expected gold_calls or gold_calls:answer")
    return GoldCalls(rest == "answer")


class GoldCallsChat:
    """Plays one task.

    Args:
        task: With its gold.
        tells: Whether the execution manager gives the reference reply.
    """

    def __init__(self, task: Task, tells: bool) -> None:
        self._goals = task.goals
        self._oracle = Oracle().open(task, 0, tells)

    def complete(self, request: Request) -> Completion:
        """Return calls of the gold tools that were not called yet, else what the oracle says."""
        if request.role == _ROLE:
            scene = find_scene(request, [goal.text for goal in self._goals])
            goal = self._goals[scene.goal]
            made = {call.name for batch in scene.batches for call in batch}
            calls = [
                gold_call(tool, goal)
                for tool in request.tools
                if names_tools_alone(goal) and tool.id in goal.relevant and tool.name not in made
            ]
            if calls:
                return Completion(calls=tuple(calls))
        return self._oracle.complete(request)


def names_tools_alone(goal: Goal) -> bool:
    """Tell whether the gold of a goal is tools and no calls."""
    return goal.plans is None and not goal.reference


def gold_call(tool: Tool, goal: Goal) -> ToolCall:
    """Return a valid call of a tool with the arguments that a goal's words give."""
    filled = fill(tool.parameters, goal.text, goal.text)
    properties = tool.parameters.get("properties", {})
    made = {name: _made(properties.get(name)) for name in filled.missing}
    return ToolCall("", tool.name, {**filled.arguments, **made})


def _made(schema: JSON) -> JSON:
    if not isinstance(schema, dict):
        return "any"
    for key in ("default", "example"):
        if schema.get(key) is not None:
            return schema[key]
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type")
    return _MADE.get(kind, "any") if isinstance(kind, str) else "any"
