"""The report's part about roles: who spoke, what it took, which errors each caught and caused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from seal.evaluation.role_work import OUTCOMES, Outcome, Place, Work
from seal.experiments.ablation.roles import work_of
from seal.report.anchors import task_link
from seal.report.lanes import Lane
from seal.report.pages import render
from seal.report.printable import one_line
from seal.runs.run_folder import RunFolder

LINKED = 100
"""Most steps of one role and outcome that are linked."""
MEANINGS: dict[Outcome, str] = {
    "caught": "sent back what was wrong",
    "caused": "sent back what was right, or planned an idle sub-step",
    "missed": "let pass what was wrong",
    "passed": "let pass what was right",
}


@dataclass(frozen=True, slots=True)
class Link:
    """A step of the page."""

    text: str
    address: str


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps behind one number."""

    anchor: str
    title: str
    count: int
    links: Sequence[Link]

    @property
    def more(self) -> int:
        """Steps that are not linked."""
        return self.count - len(self.links)


@dataclass(frozen=True, slots=True)
class RoleRow:
    """One role of one run."""

    run: str
    role: str
    replies: int
    goals: int
    tokens_in: int
    tokens_out: int
    steps: Sequence[Steps]
    """In the order of `OUTCOMES`."""


class RoleSection:
    """What each role did, where a planner, verifier or checker did something in one of the runs."""

    title = "What each role did"

    def render(self, lanes: Sequence[Lane]) -> Markup | None:
        """Return the table with links to the steps; None where there is no such role at work."""
        rows = [row for place, lane in enumerate(lanes) for row in _rows(lane, place)]
        if not any(steps.count for row in rows for steps in row.steps):
            return None
        return render("roles.html", rows=rows, outcomes=OUTCOMES, meanings=MEANINGS)


def _rows(lane: Lane, place: int) -> Iterator[RoleRow]:
    if lane.kind != "run" or not _played(lane.run):
        return
    found = work_of(lane.run)
    for role in sorted(found):
        work = found[role]
        yield RoleRow(
            lane.label,
            role,
            work.replies,
            len(work.goals),
            work.tokens_in,
            work.tokens_out,
            [_steps(lane, place, role, work, outcome) for outcome in OUTCOMES],
        )


def _played(run: RunFolder) -> bool:
    """Tell whether there are chats of known tasks."""
    return (run.path / "tasks.jsonl").is_file() and run.trajectories_path.is_file()


def _steps(lane: Lane, lane_place: int, role: str, work: Work, outcome: Outcome) -> Steps:
    places = work.places[outcome]
    return Steps(
        f"role-{lane_place}-{role}-{outcome}",
        f"{role} of {lane.label}: {MEANINGS[outcome]}",
        len(places),
        [_link(place, lane_place) for place in places[:LINKED]],
    )


def _link(place: Place, lane: int) -> Link:
    trial = f", trial {place.trial}" if place.trial else ""
    text = f"{place.task}{trial}, step {place.step}"
    return Link(one_line(text, 80), task_link(place.task, lane, place.trial, place.step))
