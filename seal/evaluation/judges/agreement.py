"""How the judges of a run voted, and how far their votes agree.

Source: Fleiss, Measuring nominal scale agreement among many raters, Psychological Bulletin 76
(1971): both agreements are counted as the votes come in, and no vote is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import combinations
from statistics import fmean, pstdev
from typing import Any, NamedTuple

from seal.core import JSON
from seal.evaluation.statistics import rounded, share


class Kappa(NamedTuple):
    """Chance-corrected agreement of votes."""

    value: float | None
    """At most 1; None without subjects, and where every vote is the same."""
    subjects: int
    """How many were counted."""
    votes: int
    """How many votes each of them has; 0 where there is none."""


def fleiss_kappa(rated: Mapping[tuple[str, ...], int]) -> Kappa:
    """Return the agreement of a fixed number of votes on each of many subjects.

    The number is that which most subjects have, of two such numbers the larger. Subjects with
    another one, on which a judge's answer was unusable, are left out.

    Args:
        rated: Votes on a subject, two or more in a fixed order, to how many subjects have these.
    """
    sizes: Counter[int] = Counter()
    for labels, count in rated.items():
        sizes[len(labels)] += count
    votes = max(sizes, key=lambda size: (sizes[size], size), default=0)
    subjects = sizes[votes]
    said: Counter[str] = Counter()
    same = 0
    for labels, count in rated.items():
        for label, times in Counter(labels).items() if len(labels) == votes else ():
            said[label] += times * count
            same += times * (times - 1) * count
    if len(said) < 2:
        return Kappa(None, subjects, votes)
    by_chance = sum((times / (votes * subjects)) ** 2 for times in said.values())
    agreed = same / (votes * (votes - 1)) / subjects
    return Kappa((agreed - by_chance) / (1 - by_chance), subjects, votes)


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
        self._rated: Counter[tuple[str, ...]] = Counter()
        """How many goals have these usable votes, sorted."""
        self._same: Counter[str] = Counter()
        self._pairs: Counter[str] = Counter()
        """Of each judge its pairs of votes on one goal, and those that are the same."""
        self._solved: Counter[int] = Counter()
        """Of each vote what it counts, in halves; what is no verdict counts nowhere."""
        self._usable: Counter[int] = Counter()
        """Of each vote the goals on which it is a verdict."""

    def add(self, votes: list[Mapping[str, Any]]) -> None:
        """Take the votes on one goal in."""
        from seal.evaluation.judges.panel import half_credit

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
        usable = sorted(label for labels in by_judge.values() for label in labels)
        if len(usable) > 1:
            self._rated[tuple(usable)] += 1

    def result(self, name: str) -> dict[str, JSON]:
        """Return what they did, as `measures.JudgingSummary` names it."""
        kappa = fleiss_kappa(self._rated)
        told: dict[str, JSON] = {
            "votes": self.seats,
            "judges": sorted(self._judges),
            "unusable": self._unusable + self.lost * max(1, self.seats),
            "lost": self.lost,
            "agreement": {
                judge: share(self._same[judge], pairs)
                for judge, pairs in sorted(self._pairs.items())
            },
            "kappa": rounded(kappa.value),
            "kappa_n": kappa.subjects,
            "kappa_votes": kappa.votes,
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
