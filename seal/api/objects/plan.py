"""What a run would ask."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from seal.api.objects.base import Document
from seal.report.grids import Glance
from seal.report.spending import plan_grid, plan_tables


@dataclass(frozen=True, repr=False)
class RunPlan(Document):
    """Chats, model calls, tokens and dollars of a run that was not played.

    `content` is as `seal.runs.spending.plan.plan` says.
    """

    @property
    def chats(self) -> int:
        """Tasks times trials, those of the baselines with them."""
        return int(self.content["chats"])

    @property
    def requests(self) -> int:
        """Model calls."""
        return int(self.content["requests"])

    @property
    def tokens_in(self) -> int:
        """Tokens that models would read."""
        return int(self.content["tokens_in"])

    @property
    def tokens_out(self) -> int:
        """Tokens that models would write."""
        return int(self.content["tokens_out"])

    @property
    def dollars(self) -> float:
        """What the models that have a price would cost; `unpriced` names the others."""
        return float(self.content["dollars"])

    @property
    def unpriced(self) -> list[str]:
        """Models without a price, which `dollars` leaves out."""
        return list(self.content["unpriced"])

    def _glance(self) -> Glance:
        return Glance(plan_grid(self.content), (f"{self.chats:,} chats; nothing was asked",))

    def _tables(self) -> Iterable[Any]:
        return plan_tables(self.content)
