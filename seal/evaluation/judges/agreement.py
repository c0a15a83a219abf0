"""How far votes agree: Fleiss' kappa over all, and each judge with itself.

Source: Fleiss, Measuring nominal scale agreement among many raters, Psychological Bulletin 76
(1971). Both are counted as the votes come in; no vote is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations


class FleissKappa:
    """Chance-corrected agreement of a fixed number of votes on each of many subjects.

    Args:
        raters: Votes on each subject, 2 or more for there to be a value.
    """

    def __init__(self, raters: int) -> None:
        self._raters = raters
        self._subjects = 0
        self._agreement = 0.0
        self._totals: Counter[str] = Counter()

    def add(self, labels: Sequence[str]) -> None:
        """Take the votes on one subject in; one with another number of votes is left out."""
        if len(labels) != self._raters or self._raters < 2:
            return
        counts = Counter(labels)
        pairs = sum(count * (count - 1) for count in counts.values())
        self._agreement += pairs / (self._raters * (self._raters - 1))
        self._totals.update(counts)
        self._subjects += 1

    @property
    def subjects(self) -> int:
        """How many were counted."""
        return self._subjects

    @property
    def value(self) -> float | None:
        """Kappa, at most 1; None without subjects, and where every vote is the same."""
        if not self._subjects:
            return None
        votes = self._subjects * self._raters
        by_chance = sum((count / votes) ** 2 for count in self._totals.values())
        if by_chance >= 1.0:
            return None
        return (self._agreement / self._subjects - by_chance) / (1 - by_chance)


class SelfAgreement:
    """Share of pairs of votes of one judge on one subject that are the same, over all subjects."""

    def __init__(self) -> None:
        self._same: Counter[str] = Counter()
        self._pairs: Counter[str] = Counter()

    def add(self, votes: Mapping[str, Sequence[str]]) -> None:
        """Take the votes on one subject in, by judge."""
        for judge, labels in votes.items():
            for left, right in combinations(labels, 2):
                self._pairs[judge] += 1
                self._same[judge] += left == right

    @property
    def values(self) -> dict[str, float]:
        """Judge to its agreement with itself, in [0, 1]; of judges that voted more than once."""
        return {judge: self._same[judge] / pairs for judge, pairs in sorted(self._pairs.items())}
