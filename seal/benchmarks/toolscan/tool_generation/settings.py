"""What a generation of tools is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from seal.core import check_name
from seal.core.signatures import checked_fields
from seal.experiments.generation.writer_group import WriterGroup

Form = Literal["seal", "mmtb"]
FORMS: tuple[Form, ...] = get_args(Form)


@dataclass(frozen=True, kw_only=True)
class ToolGroup:
    """Tools: what is written."""

    form: str = "seal"
    """What to write: seal, a pool; or mmtb, tool lists as `seal import mmtb` reads them."""
    seed: int = 0
    """Seed; another one gives other tools."""


@checked_fields
@dataclass(frozen=True, kw_only=True)
class ToolSettings(ToolGroup, WriterGroup):
    """Settings of one generation.

    Raises:
        UnknownNameError: No such form or setting.
        UsageError: A setting is of another type.
    """

    def __post_init__(self) -> None:
        """Reject what cannot be."""
        check_name("form", self.form, FORMS)
