"""The chat as one role sees and uses it while it speaks."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from seal.agents.replies import (
    END,
    FAULTS,
    FIND_TOOLS,
    CallsSpentError,
    PluginError,
    answered,
    checked_calls,
    checked_completion,
    checked_reply,
    reduced,
)
from seal.agents.roles import pending_calls
from seal.agents.teams import EXECUTOR, USER
from seal.core import (
    Completion,
    Goal,
    Message,
    Query,
    Ranking,
    Reply,
    Request,
    RequestError,
    SealError,
    Step,
    Stop,
    Tool,
    ToolCall,
    ToolResult,
    Usage,
    UsageError,
    Verdict,
    fault,
)
from seal.core.values import json_text

if TYPE_CHECKING:
    from seal.agents.conversation import Conversation

Record = TypeVar("Record", ToolCall, ToolResult)

_NOTHING = Usage()


@dataclass(frozen=True, slots=True)
class Stamp:
    """What models answered, as it stands on the step of a reply."""

    usage: Usage = _NOTHING
    finish_reason: str = ""
    reasoning: str = ""

    def __add__(self, other: Stamp) -> Stamp:
        thoughts = filter(None, (self.reasoning, other.reasoning))
        finish = other.finish_reason or self.finish_reason
        usage = self.usage + other.usage
        return Stamp(usage, finish, "\n\n".join(thoughts))


class View:
    """The chat as one role sees and uses it while it speaks (`seal.core.protocols.Chat`).

    Threads of the role may share it. It raises `PluginError` once the reply has ended.
    """

    def __init__(self, conversation: Conversation, role: str) -> None:
        self.role = role
        self.asked = Stamp()
        """What stands on no step yet of what models answered."""
        self.refused: RequestError | None = None
        """Why the model gave no answer to the last request."""
        self.first = len(conversation.steps)
        """Index of the first step of what the role says."""
        self.stop: Stop | None = None
        """Why what the role said ends the chat about the goal; None: it does not."""
        self.heard: Sequence[Step] | None = None
        """What the role sees of what was said before its reply, where somebody has changed that."""
        self.instructions: tuple[str, str] | None = None
        """(prompt, what the role's model is told instead); None: the role's own prompt."""
        self.functions: Mapping[str, Callable[[ToolCall], ToolResult]] = {}
        """Name to a function that runs calls of it in place of the environment."""
        self.executed: set[str] = set()
        """Ids of the calls of the last message that were run; the reply brings their results."""
        self.recorded: set[str] = set()
        """Ids of the role's own calls, which stand in the record with their results."""
        self.spent = False
        """True where a call came after the last that the budget allows."""
        self.left = False
        """True where the user has called the end of the conversation."""
        self.notes: dict[int, str] = {}
        """Index of a step to what was printed or said among inner agents on the way to it."""
        self._conversation = conversation
        self._standing = pending_calls(conversation.steps) if role == EXECUTOR else []
        self._lock = threading.RLock()
        self._closed = False
        self._process = os.getpid()
        self._failure: Exception | None = None

    def as_seen_by(self, role: str) -> View:
        """Return the same chat as another role sees it."""
        return View(self._conversation, role)

    def close(self) -> None:
        """End the use of the chat.

        Raises:
            Exception: An own call of the role failed for a reason that is no answer of a tool. It
                is raised here again, for the role may have caught it.
        """
        with self._lock:
            self._closed = True
        if self._failure is not None:
            raise self._failure

    @property
    def _chat(self) -> Conversation:
        if self._closed:
            raise PluginError(
                f"role {self.role!r} used its chat after its reply had ended; "
                f"use the chat only inside reply(chat), and wait there for threads that use it"
            )
        if os.getpid() != self._process:
            raise PluginError(
                f"role {self.role!r} used its chat in another process, where nothing is recorded; "
                "call tools in the process of the run, from a thread if need be"
            )
        return self._conversation

    @contextmanager
    def _alone(self) -> Iterator[Conversation]:
        """Yield the chat while no other thread of the role changes it."""
        with self._lock:
            yield self._chat

    @property
    def task_id(self) -> str:
        """Id of the task."""
        return self._chat.task.id

    @property
    def goal(self) -> int:
        """Position of the goal that is being played."""
        return self._chat.position

    @property
    def request(self) -> str:
        """Text of that goal; to all but the user what the user said first, where that differs."""
        chat = self._chat
        first = chat.task.said_first(chat.position)
        if self.role == USER or first == chat.goal.text:
            return chat.goal.text
        said = (s.content for s in chat.steps if s.author == USER and s.goal == chat.position)
        return first or next(said, "")

    @property
    def persona(self) -> Mapping[str, Any] | None:
        """The user's brief, for the user alone, with the parts that the run gives it."""
        persona = self._chat.task.persona
        if self.role != USER or persona is None:
            return None
        return reduced(persona, self._chat.options.user_brief)

    @property
    def steps(self) -> Sequence[Step]:
        """What the role may see of what was said so far, the history included."""
        chat = self._chat
        if self.heard is None:
            return chat.team.visible(chat.steps, self.role)
        return [*self.heard, *chat.team.visible(chat.steps[self.first :], self.role)]

    @property
    def tools(self) -> Sequence[Tool]:
        """Tools offered now; to a user whose brief gives it tools, these."""
        chat = self._chat
        return (chat.user_tools if self.role == USER else ()) or chat.offers.tools

    @property
    def roles(self) -> Sequence[str]:
        """Roles seated."""
        return list(self._chat.seats)

    @property
    def seconds_left(self) -> float | None:
        """How long the chat may still last; None: there is no limit."""
        return self._chat.seconds_left

    @property
    def options(self) -> Mapping[str, Any]:
        """Settings of the run that concern roles."""
        options = self._chat.options
        own = {name: getattr(options, name) for name in ("retrieve", "top_k", "allow_code")}
        return {**options.told, **own}

    def complete(
        self, messages: Sequence[Message], tools: Sequence[Tool] = (), json_object: bool = False
    ) -> Completion:
        """Ask this role's model; tokens are counted."""
        options = self._chat.options
        request = Request(
            tuple(messages) if self.instructions is None else self._instructed(messages),
            tuple(tools),
            self.role,
            options.temperature,
            options.seed(self.role),
            json_object=json_object,
            goal=self.goal,
        )
        return self._asked(request)

    def _instructed(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """Return messages whose system messages say what the role is told instead of its prompt."""
        usual, told = self.instructions or ("", "")
        system = messages[0].content if messages and messages[0].role == "system" else None
        if system is None:
            return (Message("system", told), *messages)
        if not usual or usual not in system:
            return (replace(messages[0], content=told), *messages[1:])
        return tuple(
            replace(one, content=one.content.replace(usual, told, 1))
            if one.role == "system"
            else one
            for one in messages
        )

    def _asked(self, request: Request) -> Completion:
        model = self._chat.services.model(self.role)
        try:
            with self._blameless():
                answer = checked_completion(self.role, model.complete(request))
        except RequestError as error:
            self.refused = error
            raise
        with self._alone():
            self.refused = None
            finish = answer.finish_reason or ("length" if answer.truncated else "")
            self.asked = self.asked + Stamp(answer.usage, finish, answer.reasoning)
        return answer

    @contextmanager
    def _blameless(self) -> Iterator[None]:
        """Let no fault of a model, an environment or a retriever pass for one of the role.

        Raises:
            PluginError: One raised what is none of ours.
        """
        try:
            yield
        except SealError:
            raise
        except FAULTS as error:
            raise PluginError(f"role {self.role!r}: {fault(error)}") from error

    def execute(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """Run calls. Those of the last message are the executor's; all others are the role's own.

        Own calls are recorded with their results, and both are copies: what the role does to its
        objects afterwards changes no record.
        """
        with self._alone() as chat:
            standing, own = [], []
            for call in checked_calls(self.role, calls):
                if call in self._standing:
                    self._standing.remove(call)
                    standing.append(call)
                else:
                    own.append(call)
            results = self._results(chat.caller, standing)
            self.executed.update(call.id for call in standing)
            return results + (self._own_results([_copy(call) for call in own]) if own else [])

    def _own_results(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """Record and run calls of the role itself; return copies of their results, in order.

        Raises:
            CallsSpentError: The results of an earlier call said that the budget is spent.
        """
        if self._failure is not None:
            raise self._failure
        if self.spent:
            raise CallsSpentError("the budget of calls is spent; return the reply")
        try:
            with self._blameless():
                return [_copy(result) for result in self._run_own(calls)]
        except Exception as error:  # `close` raises it again: the role may keep it
            self._failure = error
            raise

    def _run_own(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """Return the results as they stand in the record now, in the order of the calls."""
        from seal.agents.own_code import printed_here  # most chats have no code of a user's

        chat, printed = self._chat, printed_here()
        if printed is not None:
            self.add_note(len(chat.steps), printed.rest())
        asked, self.asked = self.asked, Stamp()
        made = chat.enter_calls(self.role, calls, asked)
        self.recorded.update(call.id for call in made)
        self.spent = chat.overdrawn
        ran = self._unaffordable(made) if self.spent else self._results(self.role, made)
        results = checked_reply(EXECUTOR, Reply(results=tuple(ran)), ()).results
        chat.enter_results(self.role, results)
        self.left |= self.role == USER and any(call.tool == END.id for call in made)
        by_call = {result.call_id: result for result in results}
        return [by_call[call.id] for call in made]

    def _unaffordable(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        message = f"Not run: the budget of {self._chat.limits.max_calls} calls is spent."
        content = json_text({"error": message, "response": ""})
        return [ToolResult(c.id, content, {"kind": "max_calls", "message": message}) for c in calls]

    def _results(self, caller: str, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """Return what calls bring; the user's, and searches for tools, are answered here."""
        if caller == USER:
            told = {call.id: answered(call, self._chat.user_tools) for call in calls}
            beside = {call_id: one for call_id, one in told.items() if one is not None}
        else:
            beside = {c.id: self._search(c) for c in calls if c.tool == FIND_TOOLS.id}
            own = [call for call in calls if call.name in self.functions]
            beside |= {call.id: self.functions[call.name](call) for call in own}
        ran = iter(self._run([call for call in calls if call.id not in beside]))
        return [beside[c.id] if c.id in beside else next(ran) for c in calls]

    def _run(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """Run calls in the environment, and keep the world after each for the record."""
        if not calls:
            return []
        environment = self._chat.services.environment
        results = environment.call(calls)
        ids = (result.call_id for result in results)
        self._chat.states_after.update(zip(ids, environment.states(), strict=False))
        return results

    def _search(self, call: ToolCall) -> ToolResult:
        query = (call.arguments or {}).get("query")
        if not isinstance(query, str) or not query.strip():
            message = "find_tools needs the argument 'query', a sentence."
            content = json_text({"error": message, "response": ""})
            return ToolResult(call.id, content, {"kind": "missing_argument", "message": message})
        found = self.find_tools(query, self._chat.options.top_k)
        value = [{"name": tool.name, "description": tool.description[:300]} for tool in found]
        return ToolResult(call.id, json_text({"error": "", "response": value}), value=value)

    def find_tools(self, query: str, k: int) -> list[Tool]:
        """Retrieve tools and offer them from now on; recorded as a ranking."""
        with self._alone() as chat:
            with self._blameless():
                found = chat.services.retrieve(Query(query, chat.task.id, self.goal), k)
            hits = tuple((tool.id, score) for tool, score in found)
            chat.rankings.append(Ranking(chat.task.id, self.goal, query, hits))
            return chat.offers.add(tool for tool, _ in found[:k])

    def count(self, model: str, usage: Usage) -> None:
        """Count tokens of a model that the role asked by itself; the record names the model.

        Raises:
            UsageError: A count is below 0 or beyond any model's.
        """
        if not Usage.admits(usage.tokens_in, usage.tokens_out, usage.reasoning):
            raise UsageError(
                f"{usage}: expected whole numbers of tokens from 0 to 1,000,000,000 for one call"
            )
        with self._alone() as chat:
            self.asked = self.asked + Stamp(usage)
            chat.own_models[self.role] = model
            chat.services.count(self.role, model, Completion(usage=usage))

    def note(self, text: str) -> None:
        """Keep a text beside the role's next step, as what it printed; nothing else reads it."""
        with self._alone() as chat:
            self.add_note(len(chat.steps), text)

    def add_note(self, step: int, text: str) -> None:
        """Keep a text beside a step."""
        if text:
            self.notes[step] = self.notes.get(step, "") + text

    def judge(self, answer: str) -> Verdict:
        """Return a verdict that knows no gold; its tokens are counted as the role's."""
        chat = self._chat
        goal = Goal(self.request)
        current = [step for step in chat.steps if step.goal == self.goal]
        return chat.services.judge(self.role, _Own(self._asked), goal, answer, current)


def _copy(record: Record) -> Record:
    """Return a copy; the record itself where it is nested deeper than Python can copy."""
    held = ((name, getattr(record, name, None)) for name in ("arguments", "error", "value"))
    try:
        own: dict[str, Any] = {
            name: deepcopy(part) for name, part in held if isinstance(part, (dict, list))
        }
    except RecursionError:
        return record
    return replace(record, **own)


@dataclass(frozen=True, slots=True)
class _Own:
    """A role's model, whose tokens are counted as those of the role."""

    asked: Callable[[Request], Completion]

    def complete(self, request: Request) -> Completion:
        return self.asked(request)
