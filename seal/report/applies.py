"""Whether a section has something to say, told from the files of the runs without its code."""

from __future__ import annotations

from collections.abc import Sequence

from seal.core import Scale, Score, Step, Trajectory
from seal.evaluation.goals import DECIDING, INFRASTRUCTURE, RATE, decides, state_of
from seal.pools.benchmark import part_of
from seal.report.chat_records import scores_so_far
from seal.report.lanes import Lane
from seal.runs.lines import Tail

HELPERS = ("planner", "verifier", "checker")
"""Roles that catch errors, or cause some; a checker that is unsure does neither."""
CATEGORIES = {
    "single_tool": "STC, single tool call",
    "multiple_tool": "MTC, multiple tool calls",
    "single_turn": "SUT, single user turn",
    "multiple_turn": "MUT, multiple user turns",
    "state_dependency": "SD, state dependency",
    "canonicalization": "C, canonicalization",
    "insufficient_information": "II, insufficient information",
}
"""Tag of a category of scenarios to its row, in ToolSandbox's order."""
CATEGORY_GROUPS = {f"{tag}=true": row for tag, row in CATEGORIES.items()}
"""Group of a category, as summary.json names it, to its row."""
AUGMENTATION = "augmentation="
"""Begins the name of a group of one tool augmentation."""


def by_category(lanes: Sequence[Lane]) -> bool:
    """Tell whether a metric has groups by category of scenario or by tool augmentation."""
    groups = (name for lane in lanes for m in lane.metrics.values() for name in m.get("by") or ())
    return any(name in CATEGORY_GROUPS or name.startswith(AUGMENTATION) for name in groups)


def some_corrected(lanes: Sequence[Lane]) -> bool:
    """Tell whether a run was scored by corrected gold too."""
    return any(lane.run.corrected() for lane in lanes)


def audited(lanes: Sequence[Lane]) -> bool:
    """Tell whether the judge of a run was held against people or rules."""
    return any(lane.summary.get("audit") for lane in lanes)


def missions_typed(lanes: Sequence[Lane]) -> bool:
    """Tell whether a mission that was scored has a type."""
    return any(
        isinstance(score.details.get("type"), str)
        for lane in lanes
        for score in scores_so_far(lane.run, ("mission_accuracy",))
    )


def has_paper(lanes: Sequence[Lane]) -> bool:
    """Tell whether the benchmark of a run declares tables of a paper."""
    runs = [lane.run for lane in lanes if lane.kind == "run"]
    known = (run.benchmark() for run in runs)
    return any(run.declared().get("published") for run in runs) or any(
        bench is not None and bench.published for bench in known
    )


def some_failed(lanes: Sequence[Lane]) -> bool:
    """Tell whether a goal of a run may have failed; false: each with a verdict is solved."""
    return any(lane.kind == "run" and _may_have_failed(lane) for lane in lanes)


def _may_have_failed(lane: Lane) -> bool:
    if lane.summary.get("errors") or part_of(lane.run.benchmark(), "decided_by") is not None:
        return True
    success = lane.run.declared().get("success")
    scales = lane.run.scales()
    scores = scores_so_far(lane.run, {*DECIDING, *filter(None, [success])})
    return any(_is_failure(score, scales.get(score.metric, RATE)) for score in scores)


def _is_failure(score: Score, scale: Scale) -> bool:
    if not decides(score):
        return score.reason.startswith(INFRASTRUCTURE)
    return state_of(score, scale) == "unsolved"


def helpers_spoke(lanes: Sequence[Lane]) -> bool:
    """Tell whether one of the `HELPERS` said something in a run."""
    told = (
        Tail(lane.run.trajectories_path, Trajectory, saying=HELPERS).read()
        for lane in lanes
        if lane.kind == "run"
    )
    return any(_counts(step) for chats in told for chat in chats for step in chat.steps)


def _counts(step: Step) -> bool:
    label = step.content.partition(":")[0].strip()
    return step.author in HELPERS and (step.author != "checker" or label in ("solved", "unsolved"))
