"""The role that owns a request: plans, delegates, and writes the final response."""

from __future__ import annotations

from seal.agents.dialogue import messages, prompt
from seal.core.protocols import Chat, Message, Reply
from seal.core.text import plan_steps
from seal.core.types import Step

MANAGER = "execution_manager"
PLANNER = "planner"


class Orchestrator:
    """Asks the planner where one is seated, has each sub-step executed, and answers the user.

    With `retrieve=per-step` tools are looked up for each sub-step before it is handed on.
    """

    def reply(self, chat: Chat) -> Reply:
        """Return the next instruction, or the final response once everything is reported."""
        current = [step for step in chat.steps if step.goal == chat.goal]
        last = current[-1]
        if last.author == MANAGER:
            return self._after_report(chat, current)
        if last.author == PLANNER:
            return self._delegate(chat, _plan(chat, current), 0)
        if last.author == "checker":
            return Reply(last.content, next=MANAGER)
        if PLANNER in chat.roles:
            return Reply(chat.request, next=PLANNER)
        return self._delegate(chat, [last.content], 0)

    def _after_report(self, chat: Chat, current: list[Step]) -> Reply:
        plan = _plan(chat, current)
        handed_on = sum(s.author == chat.role and s.recipient == MANAGER for s in current)
        if handed_on < len(plan):
            return self._delegate(chat, plan, handed_on)
        return Reply(chat.complete(_response_prompt(chat)).content)

    def _delegate(self, chat: Chat, plan: list[str], position: int) -> Reply:
        instruction = plan[position]
        if chat.options.get("retrieve") == "per-step":
            chat.find_tools(instruction, int(chat.options["top_k"]))
        return Reply(instruction, next=MANAGER)


def _plan(chat: Chat, current: list[Step]) -> list[str]:
    spoken = [step.content for step in current if step.author == PLANNER]
    return plan_steps(spoken[-1]) if spoken else [chat.request]


def _response_prompt(chat: Chat) -> list[Message]:
    return [Message("system", prompt("orchestrator")), *messages(chat.steps, chat.role)]
