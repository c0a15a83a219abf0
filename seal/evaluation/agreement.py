"""Agreement of raters and judges: Fleiss, Cohen, a judge against a reference."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from statistics import fmean, pstdev
from typing import Any, NamedTuple

from seal.core import JSON, Score
from seal.core.arrays import Floats, np
from seal.core.values import derive_seed
from seal.evaluation.panel import half_credit, majority
from seal.evaluation.significance import ALIKE, DRAWS, holm, mcnemar, ordered
from seal.evaluation.statistics import cluster_sums, rounded, share

# -- How the judges of a run voted, and how far their votes agree.
#
# Source: Fleiss, Measuring nominal scale agreement among many raters, Psychological Bulletin 76
# (1971): both agreements are counted as the votes come in, and no vote is kept.


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
        """Return what they did, as `pass_rates.JudgingSummary` names it."""
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


# -- Judges held against a reference, one by one and against each other.
#
# Source: Cohen, A coefficient of agreement for nominal scales, Educational and Psychological
# Measurement 20 (1960).

Case = tuple[str, int, int]
"""Task, trial and goal."""


SHOWN = 20
"""Cases that are named where they differ; all are counted."""


_RESAMPLES = 10_000


_SOLVED = ("solved", "pass")


_WORDS = {True: "solved", False: "unsolved"}


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
    unmatched: int
    """Goals of the reference that the judge gave no decision on."""
    solved: float | None
    """Share of the goals that the judge calls solved; None where n is 0."""
    over: int
    """Goals that only the judge calls solved."""
    under: int
    """Goals that only the reference calls solved."""
    p: float
    """Of McNemar's exact test of `over` and `under`: whether the judge calls more solved."""
    kappa: float | None
    """Cohen's, at most 1; None where judge and reference say one thing of every goal."""
    low: float | None
    """Bounds of its 95 % interval, by the percentile bootstrap over tasks; None: of one task."""
    high: float | None

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
            passed = score.value > 0.5 if label is None else label in _SOLVED
            found[score.task_id, score.trial, score.goal] = passed
    return found


def votes_of(scores: Iterable[Score], metric: str) -> dict[str, dict[Case, bool]]:
    """Return what each judge of a panel decided, by most of its votes, as `decisions`."""
    labels: defaultdict[str, defaultdict[Case, list[str]]] = defaultdict(lambda: defaultdict(list))
    for score in scores:
        for vote in (score.details.get("votes") or ()) if score.metric == metric else ():
            if vote["label"] is not None:
                place = score.task_id, score.trial, score.goal
                labels[vote["judge"]][place].append(vote["label"])
    return {
        judge: {case: majority(said) in _SOLVED for case, said in cases.items()}
        for judge, cases in labels.items()
    }


def audit(judged: Mapping[Case, bool], reference: Mapping[Case, bool]) -> Audit:
    """Return how a judge does against a reference, case by case."""
    both = sorted(case for case in reference if case in judged)
    called = [case for case in both if judged[case]]
    true = [case for case in both if reference[case]]
    right = sum(reference[case] for case in called)
    differ = [case for case in both if judged[case] != reference[case]]
    over, under = len(called) - right, len(true) - right
    return Audit(
        len(both),
        share(len(both) - len(differ), len(both)),
        share(right, len(called)),
        share(right, len(true)),
        len(differ),
        tuple(
            {**_place(case), "judge": _WORDS[judged[case]], "reference": _WORDS[reference[case]]}
            for case in differ[:SHOWN]
        ),
        len(reference) - len(both),
        share(len(called), len(both)),
        over,
        under,
        mcnemar(over, under)["exact"],
        *_kappa(both, judged, reference),
    )


def panel_audit(
    judges: Mapping[str, Mapping[Case, bool]], reference: Mapping[Case, bool]
) -> dict[str, JSON]:
    """Hold the judges of a panel against a reference, and against each other.

    Args:
        judges: Name to what it decided.
        reference: What is right.

    Returns:
        {solved_of_reference: share of all its goals; judges: for each {judge, p_holm, and the audit
        without examples}, those that agree most first; pairs: for each {judge, other, only,
        only_other, p, p_holm}, `only` counting goals on which the one alone is right, by McNemar's
        exact test; goals: for each on which some judge differs {task, trial, goal, reference,
        wrong: judges}, those with most of them first}. p is corrected by Holm over the judges, and
        over the pairs.
    """
    found: list[dict[str, JSON]] = []
    for name, judged in judges.items():
        told = audit(judged, reference).record()
        del told["examples"]
        found.append({"judge": name, **told})
    found.sort(key=lambda entry: (-(entry["agreement"] or 0), entry["judge"]))
    pairs = [
        _pair(one["judge"], other["judge"], judges, reference)
        for one, other in combinations(found, 2)
    ]
    for family in (found, pairs):
        adjusted = holm([entry["p"] for entry in family])
        for entry, p in zip(family, adjusted, strict=True):
            entry["p_holm"] = rounded(p)
    goals = []
    for case, right in sorted(reference.items()):
        wrong = [name for name, judged in judges.items() if judged.get(case, right) != right]
        if wrong:
            goals.append({**_place(case), "reference": _WORDS[right], "wrong": wrong})
    goals.sort(key=lambda entry: -len(entry["wrong"]))
    solved = share(sum(reference.values()), len(reference))
    return {"solved_of_reference": solved, "judges": found, "pairs": pairs, "goals": goals}


def _pair(
    name: str, other: str, judges: Mapping[str, Mapping[Case, bool]], reference: Mapping[Case, bool]
) -> dict[str, JSON]:
    one, two = judges[name], judges[other]
    apart = [case for case in reference if case in one and case in two and one[case] != two[case]]
    only = sum(one[case] == reference[case] for case in apart)
    rest = len(apart) - only
    p = mcnemar(only, rest)["exact"]
    return {"judge": name, "other": other, "only": only, "only_other": rest, "p": p}


def _kappa(
    cases: Sequence[Case], judged: Mapping[Case, bool], reference: Mapping[Case, bool]
) -> tuple[float | None, float | None, float | None]:
    """Return Cohen's kappa and the ends of its interval."""
    cells = np.zeros((len(cases), 4))
    for row, case in enumerate(cases):
        cells[row, 2 * judged[case] + reference[case]] = 1
    value = float(_kappas(cells.sum(axis=0)))
    if np.isnan(value):
        return None, None, None
    sums, _ = cluster_sums(cells, np.asarray([case[0] for case in cases]))
    if len(sums) < 2:
        return rounded(value), None, None
    rng = np.random.default_rng(derive_seed(0, "kappa"))
    drawn = [_kappas(drawn) for drawn in _resampled(sums, rng)]
    low, high = np.nanquantile(np.concatenate(drawn), [0.025, 0.975]).tolist()
    return rounded(value), rounded(low), rounded(high)


def _resampled(totals: Floats, rng: np.random.Generator) -> Iterator[Floats]:
    """Yield sums over resamples of clusters, (resamples of a chunk, columns), chunk by chunk.

    How often each distinct row is drawn is multinomial. With few distinct rows these counts are
    drawn: much faster than drawing every row, and the same distribution.

    Args:
        totals: Sums of clusters, (clusters, columns); each resample draws as many clusters.
        rng: Draws clusters.
    """
    size = len(totals)
    alike, _, frequency = ordered(totals, most=size / ALIKE)
    step = max(1, DRAWS // (len(alike) or size))
    for start in range(0, _RESAMPLES, step):
        chunk = min(step, _RESAMPLES - start)
        if len(alike):
            yield rng.multinomial(size, frequency / size, size=chunk) @ alike
        else:
            picks = rng.integers(0, size, size=(chunk, size), dtype=np.int32)
            places = picks + np.arange(chunk)[:, None] * size
            times = np.bincount(places.ravel(), minlength=chunk * size).reshape(chunk, size)
            yield times.astype(np.float64) @ totals


def _kappas(cells: Floats) -> Floats:
    """Return kappa of counts, (..., 4): neither, reference alone, judge alone, both solved."""
    neither, alone, judge, both = np.moveaxis(cells, -1, 0) / np.maximum(cells.sum(axis=-1), 1)
    by_chance = (judge + both) * (alone + both) + (neither + alone) * (neither + judge)
    varied = by_chance < 1 - 1e-12
    apart = np.where(varied, 1 - by_chance, 1.0)
    return np.where(varied, (neither + both - by_chance) / apart, np.nan)


def _place(case: Case) -> dict[str, JSON]:
    return dict(zip(("task", "trial", "goal"), case, strict=True))
