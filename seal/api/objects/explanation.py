"""Why a run's goals failed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from seal.api.objects.base import Document, record
from seal.report.explanation_results import explanation_tables, waterfall, waterfall_figures
from seal.report.grids import Glance

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class ExplainedStage:
    """The failed goals that one stage explains."""

    stage: str
    meaning: str
    goals: int
    left: int
    """Goals that no stage so far explains."""
    of_failed: float | None
    """Share of what the model failed; None: of an infrastructure's failure."""
    of_failed_low: float | None
    """Of its 95 % interval."""
    of_failed_high: float | None
    partly: int
    causes: Mapping[str, int] = field(hash=False)


@dataclass(frozen=True, repr=False)
class Explanation(Document):
    """The first stage that explains each failed goal; `content` is that of explanation.json."""

    @cached_property
    def stages(self) -> tuple[ExplainedStage, ...]:
        """The waterfall, a row a stage, also those that explain nothing."""
        return tuple(record(ExplainedStage, row) for row in self.content["stages"])

    def _glance(self) -> Glance:
        failed, goals = self.content["failed"], self.content["goals"]
        return Glance(waterfall(self.content), (f"{failed} of {goals} goals failed",))

    def _tables(self) -> Iterable[Any]:
        return explanation_tables(self.content)

    def _figures(self) -> Iterable[Figure]:
        return waterfall_figures(self.content).values()
