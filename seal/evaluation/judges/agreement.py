"""How far votes agree: Fleiss' kappa over all, and each judge with itself.

Source: Fleiss, Measuring nominal scale agreement among many raters, Psychological Bulletin 76
(1971). Both are counted as the votes come in; no vote is kept.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations


@dataclass(slots=True)
class _Subjects:
    """Subjects that have the same number of votes."""

    count: int = 0
    agreement: float = 0.0
    """Sum of their shares of pairs of votes that are the same."""
    labels: Counter[str] = field(default_factory=Counter)


class FleissKappa:
    """Chance-corrected agreement of a fixed number of votes on each of many subjects.

    The number is that which most subjects have, of two such numbers the larger; subjects with
    another one, for a judge's answer was unusable there, are left out.
    """

    def __init__(self) -> None:
        self._by_votes: defaultdict[int, _Subjects] = defaultdict(_Subjects)

    def add(self, labels: Sequence[str]) -> None:
        """Take the votes on one subject in; fewer than two agree with nothing."""
        votes = len(labels)
        if votes < 2:
            return
        counts, of_same = Counter(labels), self._by_votes[votes]
        pairs = sum(count * (count - 1) for count in counts.values())
        of_same.agreement += pairs / (votes * (votes - 1))
        of_same.labels.update(counts)
        of_same.count += 1

    @property
    def votes(self) -> int:
        """How many votes each subject has; 0 where there is none."""
        return max(self._by_votes, key=lambda n: (self._by_votes[n].count, n), default=0)

    @property
    def subjects(self) -> int:
        """How many were counted."""
        return self._by_votes[self.votes].count if self._by_votes else 0

    @property
    def value(self) -> float | None:
        """Kappa, at most 1; None without subjects, and where every vote is the same."""
        if not self._by_votes:
            return None
        found = self._by_votes[self.votes]
        total = found.count * self.votes
        by_chance = sum((count / total) ** 2 for count in found.labels.values())
        if by_chance >= 1.0:
            return None
        return (found.agreement / found.count - by_chance) / (1 - by_chance)


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
