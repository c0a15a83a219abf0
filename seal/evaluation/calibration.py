"""When to offer no tool: how well the score of the first place tells who needs one.

A retriever always names its best tools, also where none serves. Its score is of use where it is
higher for queries that need a tool than for those that need none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

from seal.core.arrays import Floats, np

KEPT = 0.95
"""Share of the queries that need a tool which a threshold must not turn away."""
_Z = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True, slots=True)
class Calibration:
    """How far the first scores of two kinds of queries lie apart."""

    auroc: float
    """Chance that a query that needs a tool has a higher score than one that needs none, equal
    scores counted half, in [0, 1]; 0.5: the score tells nothing."""
    low: float
    """Bounds of its 95 % interval."""
    high: float
    needing: int
    """Queries that need a tool."""
    without: int
    """Queries that need none."""
    threshold: float
    """The highest score below which at most 5 % of the queries that need a tool lie."""
    turned_away: float
    """Share of the queries that need none whose score is below it, in [0, 1]."""


def calibration(needing: Sequence[float], without: Sequence[float]) -> Calibration | None:
    """Return how well scores tell queries that need a tool from those that need none.

    Sources: Hanley and McNeil, The Meaning and Use of the Area under a ROC Curve, Radiology 143,
    1982 (the area as a chance); DeLong, DeLong and Clarke-Pearson, Biometrics 44, 1988 (the
    variance, of which the interval is normal, cut at 0 and 1).

    Args:
        needing: The first scores of queries that need a tool.
        without: Those of queries that need none.

    Returns:
        None where there are fewer than two of a kind.
    """
    if min(len(needing), len(without)) < 2:
        return None
    high, low = np.sort(np.asarray(needing)), np.sort(np.asarray(without))
    above = _share_below(low, high)
    below = 1 - _share_below(high, low)
    auroc = float(above.mean())
    half = _Z * sqrt(above.var(ddof=1) / len(high) + below.var(ddof=1) / len(low))
    threshold = float(high[int((1 - KEPT) * len(high))])
    return Calibration(
        auroc,
        max(0.0, auroc - half),
        min(1.0, auroc + half),
        len(high),
        len(low),
        threshold,
        float((low < threshold).mean()),
    )


def _share_below(ordered: Floats, values: Floats) -> Floats:
    """Return for each value the share of ordered ones below it, equal ones counted half."""
    ends = [np.searchsorted(ordered, values, side=side) for side in ("left", "right")]
    shares: Floats = (ends[0] + ends[1]) / (2 * len(ordered))
    return shares
