"""What lint can find, and one finding."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from seal.core.types import JSON

Severity = Literal["error", "warning", "info"]

KINDS: dict[str, tuple[Severity, str]] = {
    "malformed_line": ("error", "a line that is no record"),
    "duplicate_id": ("error", "an id that stands twice"),
    "no_goal": ("error", "a task without a goal"),
    "missing_tool": ("error", "a tool that a task names and the pool lacks"),
    "invalid_call": ("error", "a gold call that its tool's schema refuses"),
    "unmeasurable_plan": ("error", "a plan by which nothing can be measured"),
    "refused_world": ("warning", "a world that is code and was not loaded; nothing of it is known"),
    "ungrounded_value": ("warning", "a gold value that nothing said before holds"),
    "conflicting_labels": ("warning", "one query text with different relevant tools"),
    "repeated_query": ("info", "a query text that stands several times"),
    "duplicate_tool": ("warning", "tools with one name and one description"),
    "near_duplicate_tool": ("warning", "two tools whose documents are nearly the same"),
    "empty_description": ("warning", "a tool without a description"),
    "placeholder_description": ("warning", "a description that only holds a place"),
    "name_description": ("warning", "a description that only says the name"),
    "short_description": ("info", "a description of at most 15 characters"),
}
"""Kind of finding to its severity and what it is, in the order of the table.

error: something that cannot be played or scored as it stands; warning: something that makes a
figure doubtful; info: something to know.
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong or doubtful."""

    kind: str
    """One of `KINDS`."""
    message: str
    tasks: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    evidence: dict[str, JSON] = field(default_factory=dict)

    @property
    def severity(self) -> Severity:
        """error, warning or info."""
        return KINDS[self.kind][0]
