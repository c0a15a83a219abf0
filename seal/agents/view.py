"""The chat as one role sees and uses it while it speaks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from seal.agents.briefs import reduced
from seal.agents.ending import answered
from seal.agents.offers import FIND_TOOLS
from seal.agents.replies import checked_completion
from seal.agents.teams import USER
from seal.core.plain import json_text
from seal.core.protocols import Completion, Message, Request
from seal.core.types import Goal, Query, Ranking, Step, Tool, ToolCall, ToolResult, Usage, Verdict

if TYPE_CHECKING:
    from seal.agents.conversation import Conversation


class View:
    """The chat as one role sees and uses it while it speaks (`seal.core.protocols.Chat`)."""

    def __init__(self, conversation: Conversation, role: str) -> None:
        self._chat = conversation
        self.role = role
        self.usage = Usage()

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
        """Text of that goal."""
        return self._chat.goal.text

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
        return self._chat.team.visible(self._chat.steps, self.role)

    @property
    def tools(self) -> Sequence[Tool]:
        """Tools offered now."""
        return self._chat.offers.tools

    @property
    def roles(self) -> Sequence[str]:
        """Roles seated."""
        return list(self._chat.seats)

    @property
    def options(self) -> Mapping[str, Any]:
        """Settings of the run that concern roles."""
        options = self._chat.options
        return {**options.told, "retrieve": options.retrieve, "top_k": options.top_k}

    def complete(
        self, messages: Sequence[Message], tools: Sequence[Tool] = (), json_object: bool = False
    ) -> Completion:
        """Ask this role's model; tokens are counted."""
        options = self._chat.options
        request = Request(
            tuple(messages),
            tuple(tools),
            self.role,
            options.temperature,
            options.seed(self.role),
            json_object=json_object,
            goal=self.goal,
        )
        return self._asked(request)

    def _asked(self, request: Request) -> Completion:
        model = self._chat.services.model(self.role)
        answer = checked_completion(self.role, model.complete(request))
        self.usage = self.usage + answer.usage
        return answer

    def execute(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """Run calls in the environment; the user's, and searches for tools, are answered here."""
        if self._chat.caller == USER:
            return [answered(call) for call in calls]
        searches = {c.id: self._search(c) for c in calls if c.tool == FIND_TOOLS.id}
        ran = iter(self._run([call for call in calls if call.id not in searches]))
        return [searches[c.id] if c.id in searches else next(ran) for c in calls]

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
        chat = self._chat
        found = chat.services.retrieve(Query(query, chat.task.id, self.goal), k)
        hits = tuple((tool.id, score) for tool, score in found)
        chat.rankings.append(Ranking(chat.task.id, self.goal, query, hits))
        return chat.offers.add(tool for tool, _ in found[:k])

    def judge(self, answer: str) -> Verdict:
        """Return a verdict that knows no gold; its tokens are counted as the role's."""
        chat = self._chat
        goal = Goal(chat.goal.text)
        current = [step for step in chat.steps if step.goal == self.goal]
        return chat.services.judge(self.role, _Own(self._asked), goal, answer, current)


@dataclass(frozen=True, slots=True)
class _Own:
    """A role's model, whose tokens are counted as those of the role."""

    asked: Callable[[Request], Completion]

    def complete(self, request: Request) -> Completion:
        return self.asked(request)
