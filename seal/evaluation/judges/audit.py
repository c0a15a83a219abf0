"""A judge held against rules and against people: precision, recall, and where they differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from seal.core.types import JSON, Score
from seal.evaluation.statistics import DIGITS

Case = tuple[str, int, int]
"""Task, trial and goal."""
SHOWN = 20
"""Cases that are named where they differ; all are counted."""


@dataclass(frozen=True, slots=True)
class Audit:
    """A judge against a reference, over the goals that both decided.

    Whatever a judge does not call solved, unsure too, is taken as not solved.
    """

    n: int
    agreement: float | None
    """Share of goals with the same decision; None where n is 0."""
    precision: float | None
    """Of the goals that the judge calls solved, the share that are; None: it calls none so."""
    recall: float | None
    """Of the goals that are solved, the share that the judge calls so; None: none is."""
    differ: int
    examples: tuple[Mapping[str, JSON], ...]
    """The first `SHOWN` goals that differ: task, trial, goal, judge, reference."""
    unmatched: int = 0
    """Goals of the reference that the judge gave no decision on."""

    def record(self) -> dict[str, JSON]:
        """Return the audit as JSON."""
        return {**asdict(self), "examples": [dict(example) for example in self.examples]}


def decisions(scores: Iterable[Score], metric: str) -> dict[Case, bool]:
    """Return what a judge decided: by its label, where it gave one, else by a value above a half.

    Args:
        scores: Of a run; those of other metrics and without value are left out.
        metric: The judge's.
    """
    found = {}
    for score in scores:
        if score.metric == metric and score.value is not None:
            label = score.details.get("label")
            passed = score.value > 0.5 if label is None else label in ("solved", "pass")
            found[score.task_id, score.trial, score.goal] = passed
    return found


def audit(judged: Mapping[Case, bool], reference: Mapping[Case, bool]) -> Audit:
    """Return how a judge does against a reference, case by case."""
    both = sorted(case for case in reference if case in judged)
    called = [case for case in both if judged[case]]
    true = [case for case in both if reference[case]]
    right = sum(reference[case] for case in called)
    differ = [case for case in both if judged[case] != reference[case]]
    return Audit(
        len(both),
        _share(len(both) - len(differ), len(both)),
        _share(right, len(called)),
        _share(right, len(true)),
        len(differ),
        tuple(_example(case, judged[case], reference[case]) for case in differ[:SHOWN]),
        len(reference) - len(both),
    )


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, DIGITS) if whole else None


def _example(case: Case, judged: bool, reference: bool) -> dict[str, JSON]:
    words = {True: "solved", False: "unsolved"}
    task, trial, goal = case
    told: dict[str, JSON] = {"task": task, "trial": trial, "goal": goal}
    return {**told, "judge": words[judged], "reference": words[reference]}
