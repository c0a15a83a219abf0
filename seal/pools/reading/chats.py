"""Chats that others recorded, as steps of ours: who said what to whom.

The user's query goes to the orchestrator and on to the execution manager, which calls; the executor
answers; the last answer goes back the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from seal.core import Step, ToolCall, ToolResult

USER, LEAD, MANAGER, EXECUTOR = "user_simulator", "orchestrator", "execution_manager", "executor"


class Made(NamedTuple):
    """One call of a reply."""

    thought: str
    """What was said beside it."""
    call: ToolCall
    result: ToolResult | None
    """None: the recording has none."""


Replies = Iterable[Sequence[Made]]
"""In the order given; each is the calls of one reply."""


def chat_steps(query: str, replies: Replies, report: str | None, answer: str) -> Iterator[Step]:
    """Yield the steps of a chat about one query.

    Args:
        query: What the user asked.
        replies: Of the agent, as far as they call.
        report: Its last words; None: it ended without a last reply.
        answer: What of them is the final answer; empty: there is none.
    """
    yield Step(0, USER, LEAD, query)
    yield Step(1, LEAD, MANAGER, query, turn=1)
    index, turn = 2, 2
    for step in call_steps(replies, index, turn):
        yield step
        index, turn = step.index + 1, step.turn + 1
    if report is None:
        return
    yield Step(index, MANAGER, LEAD, report, turn=turn)
    if answer:
        yield Step(index + 1, LEAD, USER, answer, turn=turn + 1)


def call_steps(replies: Replies, index: int = 0, turn: int = 0) -> Iterator[Step]:
    """Yield the steps of calls and results: a reply's calls share a turn and precede their results.

    Args:
        replies: With the calls of each.
        index: Of the first step.
        turn: Of the first step.
    """
    for reply in replies:
        for made in reply:
            yield Step(index, MANAGER, EXECUTOR, made.thought, made.call, turn=turn)
            index += 1
        turn += 1
        for result in (made.result for made in reply if made.result is not None):
            yield Step(index, EXECUTOR, MANAGER, result.content, result=result, turn=turn)
            index += 1
        turn += 1
