"""The k best of many scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from seal.retrievers.contract import Hits


def best(scores: npt.NDArray[np.float64], ids: Sequence[str], k: int) -> Hits:
    """Return the hits of the k highest scores, equal ones by id.

    Args:
        scores: (n,), rounded, so that equal means equal.
        ids: n tool ids, ascending.
        k: At least 1; more than n gives all.
    """
    lowest = np.partition(scores, -k)[-k] if k < len(scores) else scores.min()
    positions = np.flatnonzero(scores >= lowest)
    positions = positions[np.argsort(-scores[positions], kind="stable")][:k]
    values = scores[positions] + 0.0  # no negative zero in a record
    return [
        (ids[position], value)
        for position, value in zip(positions.tolist(), values.tolist(), strict=True)
    ]
