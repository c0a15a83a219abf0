"""Time that may grow with a length and no faster.

It is held against the time of a shorter length, so that a slow or a busy machine fails nothing.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

PARTS = 16
"""How many times as long as the short length the long one is: a square takes 256 times as long."""
MOST = 4
"""How far a linear time may seem to grow, for the memory of a long text is slower."""
SHOWS = 0.5
"""Seconds below which the long length shows no growth."""


def linear(work: Callable[[int], object], length: int) -> None:
    """Fail if the CPU time of `work` grows faster than the length that it is called with.

    It fails if three looks say so. Each has another length, for what was read may be kept.

    Args:
        work: Makes something of a length, and reads it.
        length: The long one; a square must take far more than `SHOWS` seconds with it.
    """
    for look in range(3):
        long, short = (_seconds(work, size + look) for size in (length, length // PARTS))
        if long < max(SHOWS, MOST * PARTS * short):
            return
    raise AssertionError(f"{length} took {long:.3f} s, and {length // PARTS} {short:.3f} s")


def _seconds(work: Callable[[int], object], length: int) -> float:
    """Return the CPU seconds of one call, without those of freeing what other tests left."""
    enabled = gc.isenabled()
    gc.disable()
    began = time.thread_time()
    try:
        work(length)
        return time.thread_time() - began
    finally:
        if enabled:
            gc.enable()
