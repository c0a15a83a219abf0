"""The report's part about an ablation: its own tables, above those of its runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from seal.report.ablation_table import ablation_grids, ablation_lines
from seal.report.lanes import Lane
from seal.report.pages import render


class AblationSection:
    """What an ablation varied, and what that changed.

    Args:
        content: Of comparison.json.
    """

    def __init__(self, content: Mapping[str, Any]) -> None:
        self.title = f"Ablation of {content['protocol']['ablation']}"
        self._content = content

    def render(self, lanes: Sequence[Lane]) -> Markup:
        """Return the tables that the terminal shows, and the lines below them."""
        told = self._content["protocol"]["told"]
        grids = list(ablation_grids(self._content, told))
        lines = [*ablation_lines(self._content), *self._content["notes"]]
        return render("ablation.html", grids=grids, lines=lines)
