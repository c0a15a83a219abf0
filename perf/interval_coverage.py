"""How often intervals hold the true difference, and tests reject where there is none.

    python perf/interval_coverage.py [--short] [--out results/interval_coverage.json]

For each kind of benchmark 4,000 pairs of runs are simulated and compared as `seal compare` does.
93-97 % of the 95 % intervals should hold the true difference, and at p <= .05 the test should
reject 4-6 % of the pairs without one. Of 1,000 pairs a share of 5 % is off by 1.4 points in one of
twenty simulations, which would not tell 4 from 5 %; of 4,000 it is off by 0.7. `paired t` is the
reference: scipy's t interval over tasks' means. `--short` simulates 100 pairs and writes nothing.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from seal.evaluation.significance import Difference, paired_differences

ROOT = Path(__file__).resolve().parents[1]
PAIRS, RESAMPLES = 4_000, 1_000
EFFECT = 0.05
BATCH = 100
"""Pairs of runs that see the same resamples."""
Draw = Callable[[np.random.Generator, float, int], "Drawn"]


@dataclass(frozen=True)
class Drawn:
    """Differences of many pairs of runs on the tasks of one benchmark."""

    values: NDArray[Any]
    """(scores, pairs of runs)."""
    clusters: NDArray[Any]


def binary(tasks: int, trials: int) -> Draw:
    """Return a drawing of tasks that each run solves with a chance of its own, several times."""
    return grouped(np.ones(tasks, dtype=int), trials)


def grouped(sizes: NDArray[Any], trials: int) -> Draw:
    """Return a drawing of groups of tasks that are easy or hard for a run together."""
    group = np.repeat(np.arange(len(sizes)), sizes)

    def draw(rng: np.random.Generator, effect: float, pairs: int) -> Drawn:
        ease = rng.uniform(0.25, 0.7, (len(group), pairs))
        solved = []
        for shift in (effect, 0.0):
            chance = ease + rng.uniform(-0.2, 0.2, (len(sizes), pairs))[group] + shift
            solved.append(rng.random((trials, *chance.shape)) < chance)
        values = (solved[0] * 1.0 - solved[1]).reshape(-1, pairs)
        return Drawn(values, np.tile(group, trials))

    return draw


def continuous(tasks: int) -> Draw:
    """Return a drawing of one skewed score in [0, 1] a task."""

    def draw(rng: np.random.Generator, effect: float, pairs: int) -> Drawn:
        hard = rng.beta(2, 1, (tasks, pairs))
        one, other = (hard * rng.beta(3, 2, (tasks, pairs)) for _ in range(2))
        return Drawn(one - other + effect, np.arange(tasks))

    return draw


def continuous_groups(sizes: NDArray[Any]) -> Draw:
    """Return a drawing of such scores where groups of tasks suit one of both runs together."""
    group = np.repeat(np.arange(len(sizes)), sizes)

    def draw(rng: np.random.Generator, effect: float, pairs: int) -> Drawn:
        hard = rng.beta(2, 1, (len(group), pairs))
        suited = (rng.uniform(-0.2, 0.2, (len(sizes), pairs))[group] for _ in range(2))
        one, other = (hard * rng.beta(3, 2, hard.shape) + suit for suit in suited)
        return Drawn(one - other + effect, group)

    return draw


KINDS: dict[str, Draw] = {
    "solved or not, 30 tasks x 1 trial": binary(30, 1),
    "solved or not, 30 tasks x 3 trials": binary(30, 3),
    "solved or not, 100 tasks x 1 trial": binary(100, 1),
    "solved or not, 100 tasks x 3 trials": binary(100, 3),
    "solved or not, 200 tasks x 3 trials": binary(200, 3),
    "solved or not, 500 tasks x 3 trials": binary(500, 3),
    "solved or not, 2,000 tasks x 3 trials": binary(2000, 3),
    "solved or not, 60 groups of 1-7 tasks x 3 trials": grouped(np.arange(60) % 7 + 1, 3),
    "a score in [0, 1], 30 tasks": continuous(30),
    "a score in [0, 1], 50 tasks": continuous(50),
    "a score in [0, 1], 200 tasks": continuous(200),
    "a score in [0, 1], 2,000 tasks": continuous(2000),
    "a score in [0, 1], 60 groups of 1-7 tasks": continuous_groups(np.arange(60) % 7 + 1),
}


def holds(found: Difference, value: float) -> bool:
    """Return whether the interval of a difference holds a value."""
    if found.low is None or found.high is None:
        return False
    return found.low <= value <= found.high


def measure(draw: Draw, pairs: int, seed: int) -> dict[str, float]:
    """Return the shares of pairs whose intervals hold the truth, and whose tests reject a null."""
    rng = np.random.default_rng(seed)
    held = held_by_t = rejected = 0
    for batch in range(pairs // BATCH):
        drawn, null = (draw(rng, effect, BATCH) for effect in (EFFECT, 0.0))
        found = paired_differences(drawn.values, drawn.clusters, batch, RESAMPLES)
        held += sum(holds(each, EFFECT) for each in found)
        low, high = t_intervals(drawn)
        held_by_t += int(((low <= EFFECT) & (high >= EFFECT)).sum())
        found = paired_differences(null.values, null.clusters, batch, RESAMPLES)
        rejected += sum(each.p is not None and each.p <= 0.05 for each in found)
    return {
        "coverage": held / pairs,
        "coverage of paired t": held_by_t / pairs,
        "rejected": rejected / pairs,
    }


def t_intervals(drawn: Drawn) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the t intervals over the means of the clusters."""
    count = int(drawn.clusters.max()) + 1
    sums = np.zeros((count, drawn.values.shape[1]))
    np.add.at(sums, drawn.clusters, drawn.values)
    means = sums / np.bincount(drawn.clusters)[:, None]
    reach = stats.t.ppf(0.975, count - 1) * stats.sem(means)
    return means.mean(axis=0) - reach, means.mean(axis=0) + reach


def main(argv: Sequence[str] | None = None) -> int:
    """Simulate and print beside what is wanted; a missed figure is no failure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--short", action="store_true", help="100 pairs, for CI")
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "interval_coverage.json")
    asked = parser.parse_args(argv)
    pairs = PAIRS // 40 if asked.short else PAIRS
    found = {}
    print(f"{'':50}{'interval':>10}{'paired t':>10}{'rejected':>10}   of {pairs} pairs")
    for seed, (name, draw) in enumerate(KINDS.items()):
        found[name] = measure(draw, pairs, seed)
        print(f"{name:50}{''.join(f'{share:10.3f}' for share in found[name].values())}", flush=True)
    print(f"{'wanted':50}{'.93-.97':>10}{'':10}{'.04-.06':>10}")
    if not asked.short:
        content = {"pairs": pairs, "resamples": RESAMPLES, "effect": EFFECT, "kinds": found}
        asked.out.write_text(json.dumps(content, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
