"""How often intervals hold the true mean or difference, and tests reject where there is none.

    python perf/interval_coverage.py [--short] [--out results/interval_coverage.md]

Of 0 and 1 the shares are exact sums of binomial chances, for every p of .02, .021, ..., .98. Other
kinds are drawn, 4,000 samples at each of 17 p. Goals of 95 % intervals of a mean: with 10, 20, 53
and 80 tasks they hold it in 94 to 97 % on average over p, and at no p in less than 91 %; with 200
and 500 in 93 to 97 % at every p; they have a width. Of differences between two runs, compared as
`seal compare` does: 93 to 97 % of the intervals hold the true one, and the test rejects 4 to 6 % at
p <= .05 where there is none. Shares that were drawn may miss a goal by 3 of their own errors.

The percentile bootstrap of such a mean stands beside it. Some kinds show where the method ends and
have no goal. `--short` draws 200 samples, writes nothing, and a missed goal is no failure.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from seal.evaluation.significance import paired_differences
from seal.evaluation.statistics import mean_intervals

ROOT = Path(__file__).resolve().parents[1]
Floats = NDArray[Any]
SAMPLES = 4_000
RESAMPLES = 1_000
FEW, MANY = (10, 20, 53, 80), (200, 500)
AT_ONCE = 200
"""Samples held in memory."""
EVERY_P = np.arange(20, 981) / 1000
SOME_P = np.array([2, 4, 6, 10, 15, 20, 30, 40, 50, 60, 70, 80, 85, 90, 94, 96, 98]) / 100
WITHIN = 1e-9
"""What rounding may take from a bound."""


class Drawn(NamedTuple):
    """Samples of one kind."""

    values: Floats
    """(scores, samples)."""
    clusters: NDArray[Any]


DrawMean = Callable[[np.random.Generator, float, int, int], Drawn]
"""Of the mean p, tasks and samples."""


# -- Single means.


def trials(share: float, sizes: Sequence[int]) -> DrawMean:
    """Return a drawing of tasks with several verdicts each, which resemble each other.

    Args:
        share: Correlation of two verdicts of a task, in [0, 1).
        sizes: How many verdicts the first tasks have, and in turn the others.
    """

    def draw(rng: np.random.Generator, p: float, tasks: int, samples: int) -> Drawn:
        cluster = np.repeat(np.arange(tasks), np.resize(sizes, tasks))
        chance = np.full((tasks, samples), p) if not share else _beta(rng, p, share, tasks, samples)
        return Drawn((rng.random((len(cluster), samples)) < chance[cluster]) * 1.0, cluster)

    return draw


def partial(dispersion: float) -> DrawMean:
    """Return a drawing of one beta score a task, of a variance of so much of p (1 - p)."""

    def draw(rng: np.random.Generator, p: float, tasks: int, samples: int) -> Drawn:
        return Drawn(_beta(rng, p, dispersion, tasks, samples), np.arange(tasks))

    return draw


def halves(rng: np.random.Generator, p: float, tasks: int, samples: int) -> Drawn:
    """Draw scores of 0, 1/2 and 1."""
    return Drawn(rng.binomial(2, p, (tasks, samples)) / 2, np.arange(tasks))


def mixed(rng: np.random.Generator, p: float, tasks: int, samples: int) -> Drawn:
    """Draw scores half of which are 0 or 1, the others of small variance."""
    solved = (rng.random((tasks, samples)) < p) * 1.0
    near = _beta(rng, p, 0.2, tasks, samples)
    return Drawn(np.where(rng.random((tasks, samples)) < 0.5, solved, near), np.arange(tasks))


def _beta(rng: np.random.Generator, p: float, share: float, tasks: int, samples: int) -> Floats:
    spread = 1 / share - 1
    return rng.beta(p * spread, (1 - p) * spread, (tasks, samples))


MEANS: dict[str, DrawMean] = {
    "3 trials, correlation 0": trials(0, [3]),
    "3 trials, correlation .3": trials(0.3, [3]),
    "3 trials, correlation .6": trials(0.6, [3]),
    "3 trials, correlation .9": trials(0.9, [3]),
    "8 trials, correlation .3": trials(0.3, [8]),
    "1 to 5 goals, correlation 0": trials(0, [1, 2, 3, 4, 5]),
    "1 to 5 goals, correlation .3": trials(0.3, [1, 2, 3, 4, 5]),
    "1 to 5 goals, correlation .6": trials(0.6, [1, 2, 3, 4, 5]),
    "scores of 0, 1/2, 1": halves,
    "partial scores, variance .5 p (1 - p)": partial(0.5),
    "partial scores, variance .33 p (1 - p)": partial(0.33),
    "partial scores, variance .2 p (1 - p)": partial(0.2),
}
NO_GOAL: dict[str, DrawMean] = {
    "partial scores, variance .02 p (1 - p)": partial(0.02),
    "half 0 or 1, half .2 p (1 - p)": mixed,
}


@dataclass(frozen=True)
class Coverage:
    """How often the intervals of one kind hold the mean, over all p."""

    kind: str
    tasks: int
    mean: float
    least: float
    at: float
    """The p of the least."""
    most: float
    bootstrap: tuple[float, float] | None
    """Mean and least of the percentile bootstrap."""
    slack: float
    """Errors of a share that may be missing."""
    asked: bool = True

    @property
    def met(self) -> bool:
        """Whether the goals are."""
        if self.tasks in MANY:
            return 0.93 - self.slack <= self.least and self.most <= 0.97 + self.slack
        return 0.94 <= self.mean <= 0.97 and self.least >= 0.91 - self.slack

    def row(self) -> str:
        """Return the row of the table."""
        told = ("yes" if self.met else "**no**") if self.asked else ""
        other = "" if self.bootstrap is None else "{:.3f} | {:.3f}".format(*self.bootstrap)
        return (
            f"| {self.kind} | {self.tasks} | {self.mean:.3f} | {self.least:.3f} at {self.at:.3g} | "
            f"{self.most:.3f} | {other or ' | '} | {told} |"
        )


def exact(tasks: int) -> Coverage:
    """Return the coverage of the mean of as many 0 and 1."""
    ones = np.arange(tasks + 1)
    columns: Floats = (np.arange(tasks)[:, None] < ones) * 1.0
    chance = stats.binom.pmf(ones[:, None], tasks, EVERY_P)
    low, high = mean_intervals(columns, np.arange(tasks))
    if (low >= high).any():
        raise ValueError(f"an interval of {tasks} tasks has no width")
    ours = (chance * _held(low[:, None], high[:, None], EVERY_P)).sum(axis=0)
    first, last = (stats.binom.ppf(q, tasks, ones / tasks)[:, None] / tasks for q in (0.025, 0.975))
    other = (chance * _held(first, last, EVERY_P)).sum(axis=0)
    return _coverage("0 or 1", tasks, EVERY_P, ours, (other.mean(), other.min()), 0.0)


def drawn(kind: str, draw: DrawMean, tasks: int, samples: int, seed: int) -> Coverage:
    """Return the coverage of the mean of one kind of scores."""
    rng, ours, other = np.random.default_rng(seed), [], []
    for p in SOME_P.tolist():
        held = 0
        for _ in range(samples // AT_ONCE):
            found = draw(rng, p, tasks, AT_ONCE)
            low, high = mean_intervals(found.values, found.clusters)
            if (low >= high).any():
                raise ValueError(f"an interval of {tasks} tasks has no width: {kind}, p = {p}")
            held += int(_held(low, high, p).sum())
        ours.append(held / samples)
        if tasks in FEW:
            few = Drawn(found.values[:, : samples // 10], found.clusters)
            other.append(float(_held(*_bootstrap(few, rng), p).mean()))
    beside = (_over(SOME_P, np.array(other)), min(other)) if other else None
    slack = 3 * float(np.sqrt(0.93 * 0.07 / samples))
    asked = kind not in NO_GOAL
    return _coverage(kind, tasks, SOME_P, np.array(ours), beside, slack, asked)


def _held(low: Floats, high: Floats, truth: float | Floats) -> NDArray[np.bool_]:
    held: NDArray[np.bool_] = (low <= truth + WITHIN) & (truth - WITHIN <= high)
    return held


def _over(ps: Floats, shares: Floats) -> float:
    """Return the average over the whole range of p, of which some p are known."""
    return float(np.trapezoid(shares, ps) / (ps[-1] - ps[0]))


def _coverage(
    kind: str,
    tasks: int,
    ps: Floats,
    shares: Floats,
    bootstrap: tuple[float, float] | None,
    slack: float,
    asked: bool = True,
) -> Coverage:
    worst = int(shares.argmin())
    mean, least, most = _over(ps, shares), float(shares[worst]), float(shares.max())
    return Coverage(kind, tasks, mean, least, float(ps[worst]), most, bootstrap, slack, asked)


def _bootstrap(of: Drawn, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return the percentile bootstrap over tasks of every sample."""
    tasks = int(of.clusters.max()) + 1
    sums = np.zeros((tasks, of.values.shape[1]))
    np.add.at(sums, of.clusters, of.values)
    counts = np.bincount(of.clusters).astype(np.float64)
    times = rng.multinomial(tasks, np.full(tasks, 1 / tasks), RESAMPLES).astype(np.float64)
    low, high = np.quantile((times @ sums) / (times @ counts)[:, None], (0.025, 0.975), axis=0)
    return low, high


# -- Differences.

DrawDifference = Callable[[np.random.Generator, float, int], Drawn]
"""Of the true difference and the number of samples."""
EFFECT = 0.05


def binary(tasks: int, trials: int) -> DrawDifference:
    """Return a drawing of tasks that each run solves with a chance of its own, several times."""
    return grouped(np.ones(tasks, dtype=int), trials)


def grouped(sizes: NDArray[np.int64], trials: int) -> DrawDifference:
    """Return a drawing of groups of tasks that are easy or hard for a run together."""
    group = np.repeat(np.arange(len(sizes)), sizes)

    def draw(rng: np.random.Generator, effect: float, samples: int) -> Drawn:
        ease = rng.uniform(0.25, 0.7, (len(group), samples))
        solved = []
        for shift in (effect, 0.0):
            chance = ease + rng.uniform(-0.2, 0.2, (len(sizes), samples))[group] + shift
            solved.append(rng.random((trials, *chance.shape)) < chance)
        values = (solved[0] * 1.0 - solved[1]).reshape(-1, samples)
        return Drawn(values, np.tile(group, trials))

    return draw


def alike(tasks: int, apart: float) -> DrawDifference:
    """Return a drawing of two runs with one outcome, but in so many of the tasks.

    Args:
        tasks: How many.
        apart: Share of tasks that only the one run solves where neither is better; as many only the
            other.
    """

    def draw(rng: np.random.Generator, effect: float, samples: int) -> Drawn:
        chance = rng.random((tasks, samples))
        lost = (chance >= apart + effect) & (chance < 2 * apart + effect)
        return Drawn((chance < apart + effect) * 1.0 - lost, np.arange(tasks))

    return draw


def continuous(sizes: NDArray[np.int64], suits: float = 0.0) -> DrawDifference:
    """Return a drawing of one skewed score a task, where groups suit one of both runs together."""
    group = np.repeat(np.arange(len(sizes)), sizes)

    def draw(rng: np.random.Generator, effect: float, samples: int) -> Drawn:
        hard = rng.beta(2, 1, (len(group), samples))
        suited = (rng.uniform(-suits, suits, (len(sizes), samples))[group] for _ in range(2))
        one, other = (hard * rng.beta(3, 2, hard.shape) + suit for suit in suited)
        return Drawn(one - other + effect, group)

    return draw


def counts(tasks: int, most: float) -> DrawDifference:
    """Return a drawing of counts, such as of calls, whose means are up to `most`."""

    def draw(rng: np.random.Generator, effect: float, samples: int) -> Drawn:
        usual = rng.uniform(most / 2, most, (tasks, samples))
        values = rng.poisson(usual + effect) * 1.0 - rng.poisson(usual)
        return Drawn(values, np.arange(tasks))

    return draw


def ones(tasks: int) -> NDArray[np.int64]:
    """Return the sizes of groups of one task each."""
    return np.ones(tasks, dtype=int)


UNEVEN = np.arange(60) % 7 + 1
DIFFERENCES: dict[str, DrawDifference] = {
    "solved or not, 30 tasks x 1 trial": binary(30, 1),
    "solved or not, 30 tasks x 3 trials": binary(30, 3),
    "solved or not, 100 tasks x 1 trial": binary(100, 1),
    "solved or not, 100 tasks x 3 trials": binary(100, 3),
    "solved or not, 200 tasks x 3 trials": binary(200, 3),
    "solved or not, 500 tasks x 3 trials": binary(500, 3),
    "solved or not, 2,000 tasks x 3 trials": binary(2000, 3),
    "solved or not, 60 groups of 1-7 tasks x 3 trials": grouped(UNEVEN, 3),
    "a score in [0, 1], 30 tasks": continuous(ones(30)),
    "a score in [0, 1], 50 tasks": continuous(ones(50)),
    "a score in [0, 1], 200 tasks": continuous(ones(200)),
    "a score in [0, 1], 2,000 tasks": continuous(ones(2000)),
    "a score in [0, 1], 60 groups of 1-7 tasks": continuous(UNEVEN, 0.2),
    "counts up to 6, 30 tasks": counts(30, 6),
    "counts up to 6, 200 tasks": counts(200, 6),
}
ALIKE: dict[str, DrawDifference] = {
    "the same outcome but for 4 in 100 of 53 tasks": alike(53, 0.02),
    "the same outcome but for 4 in 100 of 200 tasks": alike(200, 0.02),
    "the same outcome but for 10 in 100 of 53 tasks": alike(53, 0.05),
    "the same outcome but for 10 in 100 of 200 tasks": alike(200, 0.05),
}
BATCH = 100
"""Pairs of runs that see the same signs."""


@dataclass(frozen=True)
class Comparisons:
    """Shares of pairs of runs whose intervals hold the truth, and whose tests reject a null."""

    kind: str
    held: float
    held_by_t: float
    rejected: float
    slack: float
    asked: bool

    @property
    def met(self) -> bool:
        """Whether the goals are."""
        held = 0.93 - self.slack <= self.held <= 0.97 + self.slack
        return held and 0.04 - self.slack <= self.rejected <= 0.06 + self.slack

    def row(self) -> str:
        """Return the row of the table."""
        told = ("yes" if self.met else "**no**") if self.asked else ""
        shares = f"{self.held:.3f} | {self.held_by_t:.3f} | {self.rejected:.3f}"
        return f"| {self.kind} | {shares} | {told} |"


def compared(kind: str, draw: DrawDifference, samples: int, seed: int) -> Comparisons:
    """Return how the comparisons of one kind do."""
    rng = np.random.default_rng(seed)
    held = by_t = rejected = 0
    for batch in range(samples // BATCH):
        true, null = (draw(rng, effect, BATCH) for effect in (EFFECT, 0.0))
        low, high = mean_intervals(true.values, true.clusters, signed=True)
        held += int(_held(low, high, EFFECT).sum())
        by_t += int(_held(*_t_intervals(true), EFFECT).sum())
        found = paired_differences(null.values, null.clusters, batch, RESAMPLES)
        rejected += sum(each.p is not None and each.p <= 0.05 for each in found)
    slack = 3 * float(np.sqrt(0.95 * 0.05 / samples))
    shares = held / samples, by_t / samples, rejected / samples
    return Comparisons(kind, *shares, slack, kind not in ALIKE)


def _t_intervals(drawn: Drawn) -> tuple[Floats, Floats]:
    """Return the t intervals over the means of the clusters."""
    count = int(drawn.clusters.max()) + 1
    sums = np.zeros((count, drawn.values.shape[1]))
    np.add.at(sums, drawn.clusters, drawn.values)
    means = sums / np.bincount(drawn.clusters)[:, None]
    reach = stats.t.ppf(0.975, count - 1) * stats.sem(means)
    return means.mean(axis=0) - reach, means.mean(axis=0) + reach


# -- The page.

MEAN_HEAD = (
    "| scores | tasks | held, average over p | least | most | bootstrap, average | least | met |\n"
    "|---|---|---|---|---|---|---|---|"
)
DIFFERENCE_HEAD = "| runs | held | paired t | rejected | met |\n|---|---|---|---|---|"


def lines(samples: int, missed: list[str]) -> Iterator[str]:
    """Yield the lines of the page as they are known.

    Args:
        samples: To draw.
        missed: Gets the kinds whose goal is missed.
    """
    yield "# How often intervals hold the truth"
    yield ""
    yield f"Written by `python perf/interval_coverage.py`: {samples:,} samples of a kind at each p."
    yield ""
    yield "Goals for means, with p of .02 to .98: with 10 to 80 tasks the intervals hold p in 94 to"
    yield "97 % on average over p, and at no p in less than 91 %; with 200 and 500 in 93 to 97 % at"
    yield "every p. Rows without a word in the last column have no goal. They show where the method"
    yield "is too wide (scores that hardly vary) or too narrow (rare scores far from the others)."
    yield ""
    yield MEAN_HEAD
    for tasks in (*FEW, *MANY):
        rows = [exact(tasks)]
        for seed, (kind, draw) in enumerate({**MEANS, **NO_GOAL}.items()):
            rows.append(drawn(kind, draw, tasks, samples, seed))
        for row in rows:
            missed += [f"{row.kind}, {tasks} tasks"] if row.asked and not row.met else []
            yield row.row()
    yield ""
    yield f"Differences of {EFFECT}, and tests where there is none. Goals: held .93 to .97, "
    yield "rejected .04 to .06. Beside them stands the paired t interval over tasks. Where two runs"
    yield "nearly always have the same outcome, few tasks tell of a difference: intervals are wide."
    yield ""
    yield DIFFERENCE_HEAD
    for seed, (kind, difference) in enumerate({**DIFFERENCES, **ALIKE}.items()):
        row_of = compared(kind, difference, samples, seed)
        missed += [kind] if row_of.asked and not row_of.met else []
        yield row_of.row()
    yield ""
    yield f"Goals missed: {'; '.join(missed) or 'none'}."


def main(argv: Sequence[str] | None = None) -> int:
    """Simulate and print the page; 1 where a goal is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--short", action="store_true", help="200 samples, for CI")
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "interval_coverage.md")
    asked = parser.parse_args(argv)
    page, missed = [], list[str]()
    for line in lines(SAMPLES // 20 if asked.short else SAMPLES, missed):
        print(line, flush=True)
        page.append(line)
    if asked.short:
        return 0
    asked.out.write_text("\n".join(page) + "\n")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
