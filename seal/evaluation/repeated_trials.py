"""pass^k and pass@k: how surely, and whether at all, one of several trials of a task succeeds."""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import TYPE_CHECKING

from seal.core.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]


def pass_hat(solved: Integers, trials: Integers, k: int) -> Floats:
    """Return for each task the unbiased estimate of the chance that k trials all succeed.

    C(c, k) / C(n, k) for c of n trials that did. Source: Yao et al., tau-bench, 2024 (pass^k).

    Args:
        solved: Trials that succeeded, one number a task.
        trials: Trials that were played, one number a task.
        k: At least 1.

    Returns:
        In [0, 1]; NaN where a task has fewer than k trials.

    Raises:
        UsageError: k is below 1, or more trials succeeded than were played.
    """
    return _estimates(solved, trials, k, lambda c, n: comb(c, k) / comb(n, k))


def pass_at(solved: Integers, trials: Integers, k: int) -> Floats:
    """Return for each task the unbiased estimate of the chance that one of k trials succeeds.

    1 - C(n - c, k) / C(n, k) for c of n trials that did. Source: Chen et al., Evaluating Large
    Language Models Trained on Code, 2021, equation 1 (pass@k of HumanEval).

    Args:
        solved: Trials that succeeded, one number a task.
        trials: Trials that were played, one number a task.
        k: At least 1.

    Returns:
        In [0, 1]; NaN where a task has fewer than k trials.

    Raises:
        UsageError: k is below 1, or more trials succeeded than were played.
    """
    return _estimates(solved, trials, k, lambda c, n: 1 - comb(n - c, k) / comb(n, k))


def _estimates(
    solved: Integers, trials: Integers, k: int, estimate: Callable[[int, int], float]
) -> Floats:
    import numpy as np

    if k < 1:
        raise UsageError(f"expected k of at least 1, got {k}")
    if len(solved) != len(trials) or (solved > trials).any() or (solved < 0).any():
        raise UsageError("expected for each task as many trials as succeeded, or more")
    pairs = np.column_stack([solved, trials])
    kinds, place = np.unique(pairs, axis=0, return_inverse=True)
    values = [estimate(c, n) if n >= k else np.nan for c, n in kinds.tolist()]
    return np.asarray(values, dtype=np.float64)[place.ravel()]
