"""The report's part about roles: who spoke, what it took, which errors each caught and caused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from seal.evaluation.role_work import OUTCOMES, Outcome, Place, Work
from seal.experiments.ablation.roles import work_of
from seal.report.lanes import Lane
from seal.report.pages import link, render, task_link
from seal.report.printable import one_line

LINKED = 100
"""Most steps of one role and outcome that are linked."""
MEANINGS: dict[Outcome, str] = {
    "caught": "sent back what was wrong",
    "caused": "sent back what was right, or planned an idle sub-step",
    "missed": "let pass what was wrong",
    "passed": "let pass what was right",
}


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps behind one number."""

    anchor: str
    title: str
    count: int
    links: Sequence[Markup]

    @property
    def more(self) -> int:
        """Steps that are not linked."""
        return self.count - len(self.links)


@dataclass(frozen=True, slots=True)
class RoleRow:
    """One role of one run."""

    run: str
    role: str
    figures: Sequence[int]
    """Replies, goals, tokens in and out."""
    steps: Sequence[Steps]
    """In the order of `OUTCOMES`."""


def section(lanes: Sequence[Lane]) -> Markup | None:
    """Return the table with links to the steps of planners, verifiers and checkers.

    None where no such role did something in one of the runs.
    """
    rows = [row for place, lane in enumerate(lanes) for row in _rows(lane, place)]
    if not any(steps.count for row in rows for steps in row.steps):
        return None
    return render("roles.html", rows=rows, outcomes=OUTCOMES, meanings=MEANINGS)


def _rows(lane: Lane, place: int) -> Iterator[RoleRow]:
    files = (lane.run.path / "tasks.jsonl", lane.run.trajectories_path)
    if lane.kind == "run" and all(file.is_file() for file in files):
        for role, work in sorted(work_of(lane.run).items()):
            steps = [_steps(lane, place, role, work, outcome) for outcome in OUTCOMES]
            figures = (work.replies, len(work.goals), work.tokens_in, work.tokens_out)
            yield RoleRow(lane.label, role, figures, steps)


def _steps(lane: Lane, lane_place: int, role: str, work: Work, outcome: Outcome) -> Steps:
    places = work.places[outcome]
    return Steps(
        f"role-{lane_place}-{role}-{outcome}",
        f"{role} of {lane.label}: {MEANINGS[outcome]}",
        len(places),
        [_link(place, lane_place) for place in places[:LINKED]],
    )


def _link(place: Place, lane: int) -> Markup:
    trial = f", trial {place.trial}" if place.trial else ""
    text = f"{place.task}{trial}, step {place.step}"
    return link(one_line(text, 80), task_link(place.task, lane, place.trial, place.step))
