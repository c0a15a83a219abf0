"""The report's part about roles: who spoke, what it took, which errors each caught and caused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from markupsafe import Markup

from seal.evaluation.role_work import OUTCOMES, Outcome, Place, Work
from seal.experiments.role_counts import work_of
from seal.report.grids import Grid
from seal.report.lanes import Lane
from seal.report.pages import Listing, link, render, table, task_link
from seal.report.printable import one_line

LINKED = 100
"""Most steps of one role and outcome that are linked."""
_TITLE = (
    "Who spoke, what it took, and the errors that each role caught and caused, by rule with the "
    "gold"
)
MEANINGS: dict[Outcome, str] = {
    "caught": "sent back what was wrong",
    "caused": "sent back what was right, or planned an idle sub-step",
    "missed": "let pass what was wrong",
    "passed": "let pass what was right",
}


def section(lanes: Sequence[Lane]) -> Markup | None:
    """Return the table with links to the steps of planners, verifiers and checkers.

    None if no such role did something in any run.
    """
    rows, lists = [], []
    for place, lane in enumerate(lanes):
        for role, work in sorted(_work(lane).items()):
            steps = [_steps(lane, place, role, work, outcome) for outcome in OUTCOMES]
            figures = (work.replies, len(work.goals), work.tokens_in, work.tokens_out)
            counts = (each.counted for each in steps)
            rows.append((lane.label, role, *(f"{figure:,}" for figure in figures), *counts))
            lists += [each for each in steps if each.shown]
    if not lists:
        return None
    heads = (Markup('<span title="{}">{}</span>').format(MEANINGS[each], each) for each in OUTCOMES)
    columns = ("run", "role", "replies", "goals", "tokens in", "tokens out", *heads)
    grid = Grid(_TITLE, columns, rows, names=2)
    shown = table(grid, "What each role did")
    return render("roles.html", table=shown, lists=lists, meanings=MEANINGS)


def _work(lane: Lane) -> Mapping[str, Work]:
    files = (lane.run.path / "tasks.jsonl", lane.run.trajectories_path)
    played = lane.kind == "run" and all(file.is_file() for file in files)
    return work_of(lane.run) if played else {}


def _steps(lane: Lane, lane_place: int, role: str, work: Work, outcome: Outcome) -> Listing:
    places = work.places[outcome]
    title = f"{role} of {lane.label}: {MEANINGS[outcome]}: {len(places)}"
    anchor = f"role-{lane_place}-{role}-{outcome}"
    return Listing.of(anchor, title, places, partial(_link, lane_place), LINKED)


def _link(lane: int, place: Place) -> Markup:
    trial = f", trial {place.trial}" if place.trial else ""
    text = f"{place.task}{trial}, step {place.step}"
    return link(one_line(text, 80), task_link(place.task, lane, place.trial, place.step))
