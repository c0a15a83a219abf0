"""Parts of a run that fail at one stage each, and do everything else right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from seal.api.benchmarks import load_pool
from seal.core import (
    JSON,
    Chat,
    ChatModel,
    Completion,
    ModelError,
    Pool,
    Query,
    Reply,
    Request,
    Task,
    Tool,
    ToolCall,
    ToolResult,
    Trajectory,
)
from seal.models.oracle import Oracle

ORCHESTRATOR, MANAGER = "orchestrator", "execution_manager"

REFUSED: dict[str, JSON] = {"kind": "ValueError", "message": "it cannot be done now"}
OUTAGE: dict[str, JSON] = {"kind": "service", "message": "Too many requests"}
"""Errors of a result: the tool refused its call, or its service could not serve it."""

Mend = Callable[[Request, Completion, Task], Completion]
"""What is asked, what the oracle answers, and the task, to what is answered instead."""


def gold_tools(task: Task) -> set[str]:
    """Return the tools of a task's gold calls."""
    return {c.tool for goal in task.goals for plan in goal.plans or () for c in plan.calls()}


@dataclass(frozen=True)
class Planted:
    """The oracle with a fault; `identity` tells one fault from another."""

    mend: Mend

    @property
    def identity(self) -> dict[str, str]:
        return {"model": f"planted:{self.mend.__name__}"}

    def open(self, task: Task, trial: int) -> ChatModel:
        return _Chat(Oracle().open(task, trial), self.mend, task)


@dataclass(frozen=True)
class _Chat:
    inner: ChatModel
    mend: Mend
    task: Task

    def complete(self, request: Request) -> Completion:
        return self.mend(request, self.inner.complete(request), self.task)


def faultless(request: Request, said: Completion, task: Task) -> Completion:
    return said


def calls_nothing(request: Request, said: Completion, task: Task) -> Completion:
    return replace(_wordless(request, said, task), calls=())


def calls_another_tool(request: Request, said: Completion, task: Task) -> Completion:
    if not said.calls:
        return _wordless(request, said, task)
    other = next(tool for tool in request.tools if tool.id not in gold_tools(task))
    return replace(said, calls=(ToolCall("", other.name, _filled(other)),))


def gives_another_value(request: Request, said: Completion, task: Task) -> Completion:
    if not said.calls:
        return _wordless(request, said, task)
    return replace(said, calls=tuple(map(_bent, said.calls)))


def gives_up(request: Request, said: Completion, task: Task) -> Completion:
    return Completion("I am sorry, I cannot do that.") if request.role == ORCHESTRATOR else said


def omits_results(request: Request, said: Completion, task: Task) -> Completion:
    return _wordless(request, said, task)


def breaks_down(request: Request, said: Completion, task: Task) -> Completion:
    raise ModelError("the model's server answered 503")


def asks_back(request: Request, said: Completion, task: Task) -> Completion:
    return Completion("Could you tell me more about that?")


def _wordless(request: Request, said: Completion, task: Task) -> Completion:
    """Return an answer without any result; where gold has no call, the right one."""
    told = request.role == ORCHESTRATOR and bool(gold_tools(task))
    return Completion("It is all arranged.") if told else said


def _filled(tool: Tool) -> dict[str, Any]:
    """Return arguments that a tool's schema takes."""
    given: dict[str, Any] = {}
    for name in tool.parameters.get("required", ()):
        schema = tool.parameters["properties"][name]
        given[name] = schema["enum"][0] if "enum" in schema else _OF_TYPE[schema["type"]]
    return given


_OF_TYPE = {
    "string": "2026-05-11", "integer": 3, "number": 3.5, "boolean": True, "array": [], "object": {},
}  # fmt: skip


def _bent(call: ToolCall) -> ToolCall:
    arguments = dict(call.arguments or {})
    for name, value in arguments.items():
        if isinstance(value, str):
            arguments[name] = f"{value} 2"
        elif isinstance(value, bool):
            arguments[name] = not value
        elif isinstance(value, (int, float)):
            arguments[name] = value + 1
    return replace(call, arguments=arguments)


class WithoutGold:
    """A retriever of the shipped sample that finds every tool but the relevant ones."""

    def __init__(self, pool: Pool) -> None:
        self._tools = sorted(tool.id for tool in pool.tools)
        self._gold = {task.id: set(task.goals[0].relevant) for task in load_pool("sample").tasks()}

    def retrieve(self, queries: Sequence[Query], k: int) -> list[list[tuple[str, float]]]:
        return [self._others(self._gold[query.task_id], k) for query in queries]

    def _others(self, gold: set[str], k: int) -> list[tuple[str, float]]:
        return [(tool, 1.0) for tool in self._tools if tool not in gold][:k]


class BrokenExecutor:
    """An executor whose every call fails."""

    def reply(self, chat: Chat) -> Reply:
        said = "the database is locked"
        error = {"kind": "api", "message": said}
        calls = [step.call for step in chat.steps if step.call is not None]
        answered = {step.result.call_id for step in chat.steps if step.result is not None}
        return Reply(
            results=tuple(
                ToolResult(call.id, f'{{"error": "{said}"}}', error)
                for call in calls
                if call.id not in answered
            )
        )


def undecided(request: Request) -> str:
    return '{"verdict": "unsure", "reason": "it may be so or otherwise"}'


def leaves_at_once(request: Request) -> dict[str, Any]:
    return {"calls": [{"name": "end_conversation", "arguments": {}}]}


def junk_calls(request: Request, said: Completion, task: Task) -> Completion:
    """Let the oracle make its calls, and then call every other tool once, with any arguments."""
    if said.calls or request.role != MANAGER:
        return said
    made = {call.name for message in request.messages for call in message.calls}
    others = [tool for tool in request.tools if tool.name not in made]
    calls = tuple(ToolCall("", tool.name, _filled(tool)) for tool in others)
    return Completion(calls=calls) if calls else said


def junk_alone(request: Request, said: Completion, task: Task) -> Completion:
    """Call every tool once, with any arguments, and none as gold does."""
    return junk_calls(request, replace(said, calls=()), task)


def failing(chat: Trajectory, error: dict[str, JSON]) -> Trajectory:
    """Return a chat in which every result is an error, and nothing changes."""
    steps = (
        step
        if step.result is None
        else replace(
            step,
            state=None,
            result=replace(step.result, content=f"{error['message']}", error=error, value=None),
        )
        for step in chat.steps
    )
    return replace(chat, steps=tuple(steps))
