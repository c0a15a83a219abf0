"""How the judges of a run judged: votes, agreement, unusable answers, and the rate of each vote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from statistics import fmean, pstdev
from typing import Any

from seal.core.types import JSON, Score
from seal.evaluation.judges.agreement import FleissKappa, SelfAgreement
from seal.evaluation.judges.measures import UNUSABLE
from seal.evaluation.judges.tally import half_credit
from seal.evaluation.statistics import DIGITS


class JudgingSummary:
    """Collects the scores of judged metrics one by one; no score is kept."""

    def __init__(self) -> None:
        self._metrics: dict[str, _Judged] = {}

    def add(self, score: Score) -> None:
        """Take one score in; one that no panel voted on is not counted, unless as unusable."""
        votes = score.details.get("votes")
        if isinstance(votes, list) and votes:
            self._metrics.setdefault(score.metric, _Judged(len(votes))).add(votes)
        elif score.value is None and score.reason.startswith(UNUSABLE):
            self._metrics.setdefault(score.metric, _Judged(0)).lost += 1
        elif score.metric == "sopr" and score.value is not None:
            self._metrics.setdefault(score.metric, _Judged(0)).settled += 1

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


class _Judged:
    def __init__(self, seats: int) -> None:
        self.seats = seats
        self.lost = 0
        self.settled = 0
        """Goals that need no judge and count 0 in every run."""
        self._unusable = 0
        self._judges: Counter[str] = Counter()
        self._kappa = FleissKappa()
        self._self = SelfAgreement()
        self._solved: list[float] = []
        """Of each vote what it counts over all goals; what is no verdict counts nowhere."""
        self._usable: list[int] = []
        """Of each vote the goals on which it is a verdict."""

    def add(self, votes: list[Mapping[str, Any]]) -> None:
        if not self.seats:
            self.seats = len(votes)
        labels = [str(vote["label"]) for vote in votes if vote["label"] is not None]
        self._unusable += len(votes) - len(labels)
        self._kappa.add(labels)
        by_judge: dict[str, list[str]] = {}
        for vote in votes:
            self._judges[str(vote["judge"])] += 1
            if vote["label"] is not None:
                by_judge.setdefault(str(vote["judge"]), []).append(str(vote["label"]))
        self._self.add(by_judge)
        self._solved += [0.0] * (len(votes) - len(self._solved))
        self._usable += [0] * (len(votes) - len(self._usable))
        for number, vote in enumerate(votes):
            if vote["label"] is not None:
                self._solved[number] += half_credit(str(vote["label"]))
                self._usable[number] += 1

    def result(self, name: str) -> dict[str, JSON]:
        told: dict[str, JSON] = {
            "votes": self.seats,
            "judges": sorted(self._judges),
            "unusable": self._unusable + self.lost * max(1, self.seats),
            "lost": self.lost,
            "agreement": {judge: _rounded(share) for judge, share in self._self.values.items()},
            "kappa": _rounded(self._kappa.value),
            "kappa_n": self._kappa.subjects,
            "kappa_votes": self._kappa.votes,
        }
        rates = [
            solved / (usable + self.settled)
            for solved, usable in zip(self._solved, self._usable, strict=True)
            if usable
        ]
        if name == "sopr" and rates:
            told["runs"] = [_rounded(rate) for rate in rates]
            told["rate"] = _rounded(100 * fmean(rates))
            told["deviation"] = _rounded(100 * pstdev(rates))
        return told


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)
