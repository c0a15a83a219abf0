"""The budgets of one chat, what it has spent of them, and when that ends it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from seal.agents.teams import EXECUTOR, USER
from seal.core import Reply, Step, StopReason, Usage

REPEATS = 3
"""The manager or the lead, saying the same this many times in a row, ends the chat; so does the
user, calling this many times in a row what it cannot call."""
REPLIES_A_TURN = 20
"""Replies of all roles for each turn of the manager: ends roles that only ask each other."""


@dataclass(frozen=True, slots=True)
class ChatLimits:
    """Budgets of one chat; None: no limit."""

    max_turns: int = 10
    """Replies of the execution manager, for each goal; thoughts, said to itself, are none."""
    max_calls: int = 50
    """Calls, for each goal."""
    max_tokens: int | None = None
    """Tokens in and out."""
    max_seconds: float | None = None
    """From the first word of the chat on, for all goals."""
    repeats: int | None = REPEATS
    """Equal replies of the manager or the lead in a row, the last of which ends the chat."""
    max_messages: int | None = None
    """Messages to or from the user or the executor, for each goal; what the agent's own roles say
    to each other does not count."""


@dataclass(slots=True)
class SpentOnGoal:
    """What a chat has spent on the goal that is being played."""

    turns: int = 0
    """Replies of the execution manager, without thoughts."""
    messages: int = 0
    replies: int = 0
    """Of all roles."""
    calls: int = 0
    said: dict[str, tuple[Any, int]] = field(default_factory=dict)
    """Role to what it said last, and how many times in a row."""

    def note(self, role: str, told: str, reply: Reply, said: Sequence[Step]) -> None:
        """Keep what a role said, and how often in a row.

        Args:
            role: Who spoke.
            told: The instruction that it spoke to: to another one the same answer may be right.
            reply: What it replied.
            said: The steps of the reply.
        """
        calls = [(s.call.name, s.call.arguments, s.call.raw) for s in said if s.call is not None]
        signature = (told, reply.content, calls)
        last, times = self.said.get(role, (None, 0))
        self.said[role] = signature, times + 1 if last == signature else 1

    def repeats(self, role: str, limits: ChatLimits) -> bool:
        """Tell whether a role has said the same too often in a row."""
        _, times = self.said.get(role, (None, 0))
        return limits.repeats is not None and times >= limits.repeats

    def reached(
        self, limits: ChatLimits, acts: bool, usage: Usage, seconds: float
    ) -> StopReason | None:
        """Return the limit that ends the chat, of messages, turns, tokens and seconds.

        Args:
            limits: Budgets.
            acts: Whether the execution manager would speak next.
            usage: Of the whole chat.
            seconds: Since it began.
        """
        if limits.max_messages is not None and self.messages >= limits.max_messages:
            return "max_messages"
        if acts and self.turns >= limits.max_turns:
            return "max_turns"
        if self.replies >= REPLIES_A_TURN * (limits.max_turns + 1):
            return "max_turns"
        tokens = usage.tokens_in + usage.tokens_out
        if limits.max_tokens is not None and tokens > limits.max_tokens:
            return "max_tokens"
        late = limits.max_seconds is not None and seconds > limits.max_seconds
        return "max_seconds" if late else None


def instruction_to(role: str, lead: str, steps: Sequence[Step]) -> str:
    """Return what a role was told last, by the lead or, where it is the lead, by the user."""
    teller = USER if role == lead else lead
    told = (s for s in reversed(steps) if (s.author, s.recipient) == (teller, role))
    return next((step.content for step in told), "")


def vain_calls(steps: Sequence[Step]) -> int:
    """Return how many times in a row the user has called, as it can where nothing is its own."""
    turns = set()
    for step in reversed(steps):
        if {step.author, step.recipient} != {USER, EXECUTOR}:
            break
        turns.add(step.turn)
    return len(turns) // 2  # each reply with calls has a turn, and so has its answer
