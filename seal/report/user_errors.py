"""Errors of simulated users by what the user was told: the ablation of the brief.

Source: ToolSandbox (Lu et al., 2024), Tables 2 and 3. They give the rates of hallucination and of
instruction-following errors for three users: with the goal alone, with a knowledge boundary, and
with a demonstration besides. Here each run is a row; the rates are those of
`seal.evaluation.user_audit`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from seal.core.text import counted
from seal.evaluation.user_audit import HALLUCINATION, INSTRUCTION
from seal.report.grids import Estimate, Grid
from seal.report.lanes import Lane, lanes_of
from seal.report.pages import table
from seal.runs.run_folder import RunFolder

if TYPE_CHECKING:
    from markupsafe import Markup


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
    def conversations(self) -> int:
        """How many there were."""
        return self.instruction.n


def user_rows(lanes: Sequence[Lane]) -> list[UserRow]:
    """Return a row for each run whose users were audited, those with the shortest brief first."""
    rows = [
        UserRow(
            lane.label, _brief(lane.run), lane.estimate(HALLUCINATION), lane.estimate(INSTRUCTION)
        )
        for lane in lanes
    ]
    return sorted((row for row in rows if row.conversations), key=lambda row: len(row.brief))


def percent(cell: Estimate) -> str:
    """Return a share in per cent, `n/a` where there is none."""
    return "n/a" if cell.mean is None else f"{100 * cell.mean:.1f} %"


def user_notes(run: RunFolder) -> Iterator[str]:
    """Yield what the simulated users of a run did wrong, in plain lines."""
    for row in user_rows([lane for lane in lanes_of([run]) if lane.kind == "run"]):
        yield (
            f"user of {counted(row.conversations, 'conversation')}: hallucination "
            f"{percent(row.hallucination)}, instruction-following errors {percent(row.instruction)}"
        )


def section(lanes: Sequence[Lane]) -> Markup | None:
    """Return the report's table; None where no user was audited."""
    grid = _grid("Share of conversations with an error of the user", lanes)
    return table(grid, "Errors of the simulated user") if grid.rows else None


def _grid(title: str, lanes: Sequence[Lane]) -> Grid:
    rows = [
        (
            row.brief or "not known: recorded elsewhere",
            row.label,
            percent(row.hallucination),
            percent(row.instruction),
            str(row.conversations),
        )
        for row in user_rows(lanes)
    ]
    columns = ("told", "run", "hallucination", "instruction following", "conversations")
    return Grid(title, columns, rows, names=2)


def _brief(run: RunFolder) -> str:
    user = (run.manifest().get("measure") or {}).get("user")
    return str(user.get("brief") or "") if isinstance(user, dict) else ""
