"""What the judges of a run did, which only runs with votes have to tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seal.core import JSON, Score
from seal.evaluation.judges.measures import UNUSABLE

if TYPE_CHECKING:
    from seal.evaluation.judges.agreement import Judged


class JudgingSummary:
    """Collects the scores of judged metrics one by one; no score is kept."""

    def __init__(self) -> None:
        self._metrics: dict[str, Judged] = {}

    def add(self, score: Score) -> None:
        """Take one score in; one that no panel voted on is not counted, unless as unusable."""
        votes = score.details.get("votes")
        if isinstance(votes, list) and votes:
            self._judged(score.metric, len(votes)).add(votes)
        elif score.value is None and score.reason.startswith(UNUSABLE):
            self._judged(score.metric, 0).lost += 1
        elif score.metric == "sopr" and score.value is not None:
            self._judged(score.metric, 0).settled += 1

    def result(self) -> dict[str, dict[str, JSON]]:
        """Return metric to what its judges did.

        - votes, judges: votes on each goal, and who cast them
        - unusable: votes that were none, and lost: goals that have no usable vote
        - agreement: of each judge with itself, where it votes more than once (`SelfAgreement`)
        - kappa: Fleiss' kappa; kappa_n: goals that it is of, and kappa_votes: usable votes on each
        - runs, of sopr: the rate of each vote, and deviation: their population deviation, in points
          of 100, as published
        """
        return {name: found.result(name) for name, found in sorted(self._metrics.items())}

    def _judged(self, metric: str, seats: int) -> Judged:
        from seal.evaluation.judges.agreement import Judged

        return self._metrics.setdefault(metric, Judged(seats))
