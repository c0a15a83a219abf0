"""The execution manager that thinks before it acts, one thought a turn.

A reply of words that begins with `Thought:` is no report: it is said to itself, and the manager
speaks again. Thoughts cost no turn of the budget. After three in a row it is told to act; a fourth
is a step that could not be read as a call, which the executor answers as any invalid one.

Source: Yao et al., ReAct (2023); Kokane et al., ToolScan (2024), which has at most three in a row.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from seal.agents.roles import messages, prompt
from seal.core import Chat, Completion, Message, Reply, Step, ToolCall

MOST_THOUGHTS = 3
_THOUGHT = re.compile(r"\s*(?:Thought|Think)\s*:", re.IGNORECASE)
_FINAL = re.compile(r"^[ \t]*Final Answer[ \t]*:[ \t]*", re.MULTILINE)
_GO_ON = "Go on."
_ACT = "You have thought enough. Call a tool now, or answer. Write no further thought."


class ReAct:
    """Lets its model think, call tools, and report in words."""

    def reply(self, chat: Chat) -> Reply:
        """Return a thought, calls, or a report of what was found."""
        thoughts = thoughts_in_a_row(chat.steps, chat.role)
        instructions = f"{prompt('execution_manager')}\n\n{prompt('react')}"
        view = [Message("system", instructions), *_answered(chat.steps, chat.role, thoughts)]
        answer = chat.complete(view, chat.tools)
        is_thought = _THOUGHT.match(answer.content) and not _FINAL.search(answer.content)
        if answer.calls or not is_thought:
            return Reply(_report(answer), answer.calls)
        if thoughts < MOST_THOUGHTS:
            return Reply(answer.content, next=chat.role)
        return Reply(calls=(ToolCall("", "", None, answer.content),))


def thoughts_in_a_row(steps: Sequence[Step], role: str) -> int:
    """Return how many of the last steps are thoughts of a role."""
    count = 0
    for step in reversed(steps):
        if not step.author == step.recipient == role:
            break
        count += 1
    return count


def _answered(steps: Sequence[Step], role: str, thoughts: int) -> list[Message]:
    """Return the chat as messages, each thought answered: servers want the last word to be ours."""
    told = messages(steps, role)
    heard: list[Message] = []
    for place, message in enumerate(told):
        heard.append(message)
        if message.role == "assistant" and not message.calls and _THOUGHT.match(message.content):
            last = place == len(told) - 1
            enough = last and thoughts >= MOST_THOUGHTS
            heard.append(Message("user", _ACT if enough else _GO_ON))
    return heard


def _report(answer: Completion) -> str:
    """Return the words of an answer; of a thought with a final answer the answer alone."""
    final = None if answer.calls else _FINAL.search(answer.content)
    return answer.content[final.end() :].strip() if final else answer.content
