"""The stages at which a goal can fail, and what is said of one that did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from seal.core.types import JSON

Stage = Literal[
    "infrastructure",
    "not_retrieved",
    "user",
    "not_called",
    "wrong_tool",
    "wrong_argument",
    "tool_error",
    "gave_up",
    "answer",
    "unsure",
    "unexplained",
]
ORDER: tuple[Stage, ...] = get_args(Stage)
"""The order in which stages explain, and in which a waterfall shows them."""
MEANINGS: dict[Stage, str] = {
    "infrastructure": "infrastructure failed",
    "not_retrieved": "gold tool not retrieved",
    "user": "user simulator broke its brief",
    "not_called": "gold tool retrieved, not called",
    "wrong_tool": "wrong tool",
    "wrong_argument": "wrong argument",
    "tool_error": "tool error not recovered",
    "gave_up": "gave up",
    "answer": "answer contradicts or omits results",
    "unsure": "checker unsure",
    "unexplained": "unexplained",
}


@dataclass(frozen=True, slots=True)
class Cause:
    """What was found at a stage."""

    stage: Stage
    cause: str
    """A word for tables, such as `not_in_pool`, `value`, `unsubscribed`."""
    said: str
    """The evidence in a sentence."""
    step: int | None = None
    """`Step.index` of what shows it; None: it is about what is not there."""
    name: str = ""
    """The tool or argument that it is about."""
    expected: JSON = None
    received: JSON = None
    of: int = 0
    """Gold tools or gold steps of the goal; 0: not known."""
    passed: int = 0
    """How many of them got past this stage."""

    @property
    def partly(self) -> bool:
        """Some of several gold tools, or gold steps, got past the stage."""
        return self.of > 1 and 0 < self.passed < self.of


@dataclass(frozen=True, slots=True)
class Attribution:
    """Why one goal of one chat failed."""

    task_id: str
    trial: int
    goal: int
    found: Cause
    metric: str
    """Whose verdict it is that the goal failed."""
    label: str
    """That verdict: unsolved, unsure or error."""
    reason: str = ""
    """The judge's reason."""
