"""The role that owns a request: plans, delegates, and writes the final response."""

from __future__ import annotations

from seal.agents.dialogue import messages, prompt
from seal.core.protocols import Chat, Message, Reply
from seal.core.text import plan_steps
from seal.core.types import Step

MANAGER = "execution_manager"
PLANNER = "planner"
CHECKER = "checker"
USER = "user_simulator"
EXECUTOR = "executor"


class Orchestrator:
    """Asks the planner where one is seated, has each sub-step executed, and answers the user.

    With `retrieve=per-step` tools are looked up for each sub-step before it is handed on.
    """

    def reply(self, chat: Chat) -> Reply:
        """Return the next instruction, or the final response once everything is reported."""
        current = _since_user(chat)
        last = current[-1]
        plans = [step.content for step in current if step.author == PLANNER]
        handed_on = sum(s.author == chat.role and s.recipient == MANAGER for s in current)
        if last.author == CHECKER:
            return Reply(last.content, next=MANAGER)
        if not plans and not handed_on and PLANNER in chat.roles:
            return Reply(last.content, next=PLANNER)
        plan = plan_steps(plans[-1]) if plans else []
        plan = plan or [current[0].content if plans else last.content]
        if handed_on < len(plan):
            return self._delegate(chat, plan[handed_on])
        return Reply(chat.complete(_response_prompt(chat)).content)

    def _delegate(self, chat: Chat, instruction: str) -> Reply:
        if chat.options.get("retrieve") == "per-step":
            chat.find_tools(instruction, int(chat.options["top_k"]))
        return Reply(instruction, next=MANAGER)


def _since_user(chat: Chat) -> list[Step]:
    """Return the user's last message about this goal and what roles have said since.

    What the executor brings, results and events, is no word of a role.
    """
    current = [s for s in chat.steps if s.goal == chat.goal and s.author != EXECUTOR]
    spoken = [n for n, step in enumerate(current) if step.author == USER]
    return current[spoken[-1] :] if spoken else current


def _response_prompt(chat: Chat) -> list[Message]:
    return [Message("system", prompt("orchestrator")), *messages(chat.steps, chat.role)]
