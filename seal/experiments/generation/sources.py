"""Values by whose recurrence one tells where something was taken from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress

from seal.core.types import JSON

Leaf = str | float

_WITH_DIGIT = re.compile(r"\w*\d\w*")


def leaves(value: JSON) -> Iterator[Leaf]:
    """Yield the texts and numbers that a value holds and that are evidence where they recur."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, str):
        if len(value.strip()) > 1:
            yield value
            yield from (
                code for code in _WITH_DIGIT.findall(value) if len(code) > 2 and code != value
            )
    elif isinstance(value, (int, float)) and value not in (0, 1):  # True and False are 1 and 0
        with suppress(OverflowError):  # what no float holds, nobody repeats
            yield float(value)
