"""What could be found: against hand-worked values and simulated truth."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from looped import every_case

from seal.evaluation.significance import NO_POWER, noise_of_means, power_of

REACH = 1.959964 + 0.841621


def one(values, clusters=None, tasks=None, trials=None):
    column = np.asarray(values, dtype=float)[:, None]
    places = np.arange(len(values))
    return power_of(
        column,
        places if clusters is None else np.asarray(clusters),
        places if tasks is None else np.asarray(tasks),
        np.zeros(len(values), dtype=int) if trials is None else np.asarray(trials),
    )[0]


def test_the_error_of_independent_tasks_is_the_textbooks() -> None:
    values = [1.0, 0.0, 0.0, -1.0, 1.0, 1.0, 0.0, 1.0]
    found = one(values)
    error = np.std(values, ddof=1) / math.sqrt(8)
    assert found.error == pytest.approx(error)
    assert found.detectable == pytest.approx(REACH * error, rel=1e-5)
    needed = 8 * (REACH * error / np.mean(values)) ** 2
    assert found.tasks_needed == math.ceil(needed)
    assert found.trials_needed is None


def test_goals_of_one_cluster_do_not_count_as_independent() -> None:
    values, clusters = np.repeat([1.0, 0.0, 0.5, -0.5], 5), np.repeat(range(4), 5)
    assert one(values, clusters, clusters).error == pytest.approx(one([1, 0, 0.5, -0.5]).error)


def test_one_cluster_and_no_pair_and_no_difference_tell_nothing() -> None:
    assert one([1.0, 1.0], [0, 0], [0, 0], [0, 1]) == NO_POWER
    assert one([np.nan, np.nan]) == NO_POWER
    assert power_of(np.empty((0, 2)), *[np.empty(0, dtype=int)] * 3) == [NO_POWER] * 2
    assert one([0.0] * 5)[1:] == (None, None, None)
    assert one([1.0, -1.0, 1.0, -1.0])[2:] == (None, None)


def test_trials_that_are_all_alike_need_more_tasks() -> None:
    values = np.repeat([1.0, 0.0, 0.0, 0.0, -1.0, 1.0], 3)
    tasks, trials = np.repeat(range(6), 3), np.tile(range(3), 6)
    found = one(values, tasks, tasks, trials)
    assert found.trials_needed is None
    assert found.tasks_needed is not None and found.tasks_needed > 6


def drawn(rng, tasks: int, trials: int, effect: float):
    """Draw differences whose tasks vary by 0.1 and whose trials vary by 1."""
    centres = rng.normal(effect, 0.1, tasks)
    values = centres[:, None] + rng.normal(0, 1.0, (tasks, trials))
    numbers = np.repeat(np.arange(tasks), trials)
    return values.ravel(), numbers, numbers, np.tile(np.arange(trials), tasks)


def test_trials_needed_are_those_that_theory_needs() -> None:
    rng = np.random.default_rng(0)
    found = [one(*drawn(rng, 400, 4, 0.08)).trials_needed for _ in range(40)]
    # (0.1^2 + 1^2 / K) / 400 = (0.08 / 2.80)^2 for K = 3.2
    assert np.median([trials for trials in found if trials is not None]) in (3, 4, 5)


def of_means(rng, tasks: int, counts: tuple[int, int], effect: float):
    """Return what runs of so many trials tell, whose trials vary by 1 and whose tasks by 0.1."""
    centres = rng.normal(0, 0.1, tasks)
    runs = [rng.normal(0, 1.0, (tasks, count)) for count in counts]
    values = centres + effect + runs[0].mean(axis=1) - runs[1].mean(axis=1)
    varied = np.array([run.var(axis=1, ddof=1) if run.shape[1] > 1 else np.full(tasks, np.nan)
                       for run in runs])[:, :, None]  # fmt: skip
    trials = np.repeat(np.array(counts)[:, None], tasks, axis=1)[:, :, None]
    noise = noise_of_means(varied, trials, np.ones((tasks, 1), dtype=bool), np.array([tasks]))
    places = np.arange(tasks)
    return power_of(values[:, None], places, places, 0 * places, noise=noise)[0]


@pytest.mark.parametrize("counts", [(2, 6), (4, 4), (1, 8)])
def test_runs_that_differ_in_trials_need_as_many_as_theory_says(counts: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    found = [of_means(rng, 400, counts, 0.11).trials_needed for _ in range(60)]
    # (0.1^2 + 2 / K) / 400 = (0.11 / 2.80)^2 for K = 3.3
    assert np.median([trials for trials in found if trials is not None]) in (3, 4)


def test_two_runs_of_one_trial_do_not_tell_how_trials_vary() -> None:
    assert of_means(np.random.default_rng(0), 50, (1, 1), 0.5).trials_needed is None


@every_case("seed", range(20))
def test_where_tasks_would_vary_by_less_than_nothing_all_error_is_of_trials(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = 0.3 + rng.normal(0, 1.0, (12, 3))
    # Means of tasks that vary less than their trials say.
    values = values - 0.7 * (values.mean(axis=1, keepdims=True) - values.mean())
    squared = values.mean(axis=1).var(ddof=1) / 12
    within = values.var(axis=1, ddof=1).mean() / (12 * 3)
    tasks, trials = np.repeat(range(12), 3), np.tile(range(3), 12)
    found = one(values.ravel(), tasks, tasks, trials)
    wanted = (values.mean() / REACH) ** 2
    assert squared < within
    assert found.trials_needed == math.ceil(3 * squared / wanted)
    assert found.tasks_needed == math.ceil(12 * squared / wanted)


def test_the_detectable_difference_is_found_with_the_wanted_power() -> None:
    rng = np.random.default_rng(1)
    detectable = np.mean([one(*drawn(rng, 100, 2, 0.0)).detectable for _ in range(100)])
    hits = 0
    for _ in range(500):
        values, *where = drawn(rng, 100, 2, detectable)
        hits += abs(values.mean()) > 1.96 * one(values, *where).error
    assert hits / 500 == pytest.approx(0.8, abs=0.05)


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 2), st.sampled_from([0.0, 1.0, -1.0, np.nan])),
        min_size=1,
        max_size=20,
    )
)
def test_figures_are_finite_and_the_order_of_rows_does_not_matter(rows) -> None:
    def told(rows):
        tasks, trials, values = (np.asarray(part) for part in zip(*rows, strict=True))
        return one(values, tasks, tasks, trials)

    there, back = told(rows), told(rows[::-1])
    for left, right in zip(there, back, strict=True):
        assert (left is None) == (right is None)
        assert left is None or (math.isfinite(left) and left == pytest.approx(right))
    assert there.tasks_needed is None or there.tasks_needed >= 1
