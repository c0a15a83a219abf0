"""How the judges of a run judged: how far votes agree, and a judge held against a reference.

Source: Fleiss, Measuring nominal scale agreement among many raters, Psychological Bulletin 76
(1971). Both agreements are counted as the votes come in; no vote is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from statistics import fmean, pstdev
from typing import Any

from seal.core import JSON, Score
from seal.evaluation.judges.panel import half_credit
from seal.evaluation.statistics import rounded, share


class FleissKappa:
    """Chance-corrected agreement of a fixed number of votes on each of many subjects.

    The number is that which most subjects have, of two such numbers the larger; subjects with
    another one, for a judge's answer was unusable there, are left out.
    """

    def __init__(self) -> None:
        self._subjects: Counter[tuple[str, ...]] = Counter()
        """How many subjects have these votes, sorted."""

    def add(self, labels: Sequence[str]) -> None:
        """Take the votes on one subject in; fewer than two agree with nothing."""
        if len(labels) > 1:
            self._subjects[tuple(sorted(labels))] += 1

    @property
    def votes(self) -> int:
        """How many votes each subject has; 0 where there is none."""
        sizes: Counter[int] = Counter()
        for labels, count in self._subjects.items():
            sizes[len(labels)] += count
        return max(sizes, key=lambda size: (sizes[size], size), default=0)

    @property
    def subjects(self) -> int:
        """How many were counted."""
        votes = self.votes
        return sum(count for labels, count in self._subjects.items() if len(labels) == votes)

    @property
    def value(self) -> float | None:
        """Kappa, at most 1; None without subjects, and where every vote is the same."""
        votes, subjects = self.votes, self.subjects
        said: Counter[str] = Counter()
        same = 0
        for labels, count in self._subjects.items():
            for label, times in Counter(labels).items() if len(labels) == votes else ():
                said[label] += times * count
                same += times * (times - 1) * count
        by_chance = sum((times / (votes * subjects)) ** 2 for times in said.values())
        if len(said) < 2:
            return None
        return (same / (votes * (votes - 1)) / subjects - by_chance) / (1 - by_chance)


class Judged:
    """What the judges of one metric did.

    Args:
        seats: Votes on each goal.
    """

    def __init__(self, seats: int) -> None:
        self.seats = seats
        self.lost = 0
        self.settled = 0
        """Goals that need no judge and count 0 in every run."""
        self._unusable = 0
        self._judges: set[str] = set()
        self._kappa = FleissKappa()
        self._same: Counter[str] = Counter()
        self._pairs: Counter[str] = Counter()
        """Of each judge its pairs of votes on one goal, and those that are the same."""
        self._solved: Counter[int] = Counter()
        """Of each vote what it counts, in halves; what is no verdict counts nowhere."""
        self._usable: Counter[int] = Counter()
        """Of each vote the goals on which it is a verdict."""

    def add(self, votes: list[Mapping[str, Any]]) -> None:
        """Take the votes on one goal in."""
        self.seats = self.seats or len(votes)
        by_judge: dict[str, list[str]] = {}
        for number, vote in enumerate(votes):
            self._judges.add(str(vote["judge"]))
            if vote["label"] is None:
                self._unusable += 1
            else:
                by_judge.setdefault(str(vote["judge"]), []).append(str(vote["label"]))
                self._solved[number] += round(2 * half_credit(str(vote["label"])))
                self._usable[number] += 1
        for judge, labels in by_judge.items():
            for left, right in combinations(labels, 2):
                self._pairs[judge] += 1
                self._same[judge] += left == right
        self._kappa.add([label for labels in by_judge.values() for label in labels])

    def result(self, name: str) -> dict[str, JSON]:
        """Return what they did, as `JudgingSummary.result` names it."""
        told: dict[str, JSON] = {
            "votes": self.seats,
            "judges": sorted(self._judges),
            "unusable": self._unusable + self.lost * max(1, self.seats),
            "lost": self.lost,
            "agreement": {
                judge: share(self._same[judge], pairs)
                for judge, pairs in sorted(self._pairs.items())
            },
            "kappa": rounded(self._kappa.value),
            "kappa_n": self._kappa.subjects,
            "kappa_votes": self._kappa.votes,
        }
        rates = [
            self._solved[number] / 2 / (usable + self.settled)
            for number, usable in sorted(self._usable.items())
        ]
        if name == "sopr" and rates:
            told["runs"] = [rounded(rate) for rate in rates]
            told["rate"] = rounded(100 * fmean(rates))
            told["deviation"] = rounded(100 * pstdev(rates))
        return told


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
        share(len(both) - len(differ), len(both)),
        share(right, len(called)),
        share(right, len(true)),
        len(differ),
        tuple(_example(case, judged[case], reference[case]) for case in differ[:SHOWN]),
        len(reference) - len(both),
    )


def _example(case: Case, judged: bool, reference: bool) -> dict[str, JSON]:
    words = {True: "solved", False: "unsolved"}
    task, trial, goal = case
    told: dict[str, JSON] = {"task": task, "trial": trial, "goal": goal}
    return {**told, "judge": words[judged], "reference": words[reference]}
