"""What a draft of milestones is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from seal.core import check_name
from seal.core.signatures import checked_fields

_FORMS = ("authored", "plan")
"""How a draft is written: in the notation of scenarios, or as the plan of a task."""


@checked_fields
@dataclass(frozen=True, kw_only=True)
class MilestoneSettings:
    """Options: which tasks are drafted, and how.

    Raises:
        UnknownNameError: No such form or setting.
        UsageError: A setting is of another type.
    """

    tasks: Sequence[str] = field(default=(), metadata={"metavar": "TASK...", "argument": True})
    """Ids of tasks.  [default: all]"""
    form: str = "authored"
    """Form of the drafts: authored, as in scenario files; or plan, as in tasks."""
    world_options: Mapping[str, Any] | None = None
    """Option of the tasks' world; repeatable."""
    seed: int = 0
    """Seed of the world in which references are played again."""
    allow_code: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Reject what cannot be."""
        check_name("form", self.form, _FORMS)
