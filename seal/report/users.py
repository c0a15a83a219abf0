"""Errors of simulated users by what the user was told: the ablation of the brief.

Source: ToolSandbox (Lu et al., 2024), Tables 2 and 3, which give the rates of hallucination and of
instruction-following errors for a user with the goal alone, with a knowledge boundary, and with a
demonstration besides. Here each run is a row; the rates are those of `seal.evaluation.user_audit`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from seal.evaluation.user_audit import HALLUCINATION, INSTRUCTION
from seal.report.lanes import Lane, lanes_of
from seal.report.printable import printable
from seal.report.tables import Estimate

if TYPE_CHECKING:
    from rich.table import Table

    from seal.runs.run_folder import RunFolder


@dataclass(frozen=True, slots=True)
class UserRow:
    """The users of one run."""

    label: str
    """Of the run."""
    brief: str
    """Parts of the persona that they were told, as run.json names them; empty where it does not."""
    hallucination: Estimate
    """Share of conversations."""
    instruction: Estimate
    """Share of conversations."""

    @property
    def told(self) -> str:
        """The brief in words, for chats that others recorded too."""
        return self.brief or "not known: recorded elsewhere"

    @property
    def conversations(self) -> int:
        """How many there were."""
        return self.instruction.n


def user_rows(lanes: Sequence[Lane]) -> list[UserRow]:
    """Return a row for each run whose users were audited, those with the shortest brief first."""
    rows = [
        UserRow(
            lane.label,
            _brief(lane.run),
            Estimate.of(lane.metrics.get(HALLUCINATION)),
            Estimate.of(lane.metrics.get(INSTRUCTION)),
        )
        for lane in lanes
    ]
    return sorted((row for row in rows if row.conversations), key=lambda row: len(row.brief))


def percent(cell: Estimate) -> str:
    """Return a share in per cent, `n/a` where there is none."""
    return "n/a" if cell.mean is None else f"{100 * cell.mean:.1f} %"


def user_tables(runs: Sequence[RunFolder]) -> list[Table]:
    """Return the errors of the users of runs as a table for the terminal; empty: no user spoke.

    Raises:
        DataError: A run has not been scored.
    """
    from rich.table import Table
    from rich.text import Text

    rows = user_rows([lane for lane in lanes_of(runs) if lane.kind == "run"])
    if not rows:
        return []
    table = Table(title="errors of the simulated user (ToolSandbox, Tables 2 and 3)")
    table.add_column("told", overflow="fold")
    table.add_column("run", overflow="fold")
    table.add_column("hallucination", justify="right")
    table.add_column("instruction following", justify="right")
    table.add_column("conversations", justify="right")
    for row in rows:
        figures = (percent(row.hallucination), percent(row.instruction), str(row.conversations))
        table.add_row(Text(printable(row.told)), Text(printable(row.label)), *figures)
    return [table]


def _brief(run: RunFolder) -> str:
    user = (run.manifest().get("measure") or {}).get("user")
    return str(user.get("brief") or "") if isinstance(user, dict) else ""
