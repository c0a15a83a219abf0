"""The k best of many scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from seal.retrievers.contract import Hits


def best_positions(scores: npt.NDArray[np.float64], k: int) -> npt.NDArray[np.intp]:
    """Return the positions of the k highest scores, best first, equal ones by position.

    Args:
        scores: (n,), rounded, so that equal means equal.
        k: At least 1; more than n gives all.
    """
    if k >= len(scores):
        return np.argsort(-scores, kind="stable")
    lowest = np.partition(scores, -k)[-k]
    positions = np.flatnonzero(scores >= lowest)
    return positions[np.argsort(-scores[positions], kind="stable")][:k]


def best(scores: npt.NDArray[np.float64], ids: Sequence[str], k: int) -> Hits:
    """Return the hits of the k highest scores.

    Args:
        scores: (n,), rounded.
        ids: n tool ids, ascending.
        k: At least 1.
    """
    positions = best_positions(scores, k)
    values = (scores[positions] + 0.0).tolist()  # no negative zero in a record
    return [(ids[position], value) for position, value in zip(positions, values, strict=True)]
