"""Limits of time that hold on a slow or busy machine, too: they are held against its own speed."""

from __future__ import annotations

import gc
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager

_WORDS = re.compile(r"(\w+)(?:, | )")
_TEXT = "the quick brown fox, the lazy dog " * 3_000
_ROUNDS = 44
_MARGIN = 4
"""How far a busy machine's memory may lag behind its core: it is shared, and no work of a known
length tells it. What grows with the square of a length takes a hundred times as long."""


@contextmanager
def quickly(seconds: float) -> Iterator[None]:
    """Fail if what is done within takes more CPU time than a quiet machine may take.

    Memory is freed before and after, not within: in a process of thousands of tests that alone
    takes seconds. What takes too long is compared with work of a known length, done right after.

    Args:
        seconds: The most that a core of 2.5 GHz may take; what grows with the square of a length
            must take far more.
    """
    enabled = gc.isenabled()
    gc.disable()
    began = time.process_time()
    try:
        yield
        took = time.process_time() - began
        assert took < seconds or took < _MARGIN * seconds * max(_known_work() for _ in range(3))
    finally:
        if enabled:
            gc.enable()


def _known_work() -> float:
    """How many times as long as a quiet machine this one takes now."""
    began = time.process_time()
    for _ in range(_ROUNDS):
        sum(map(len, _WORDS.findall(_TEXT)))
    return 10 * (time.process_time() - began)
