"""Values by whose recurrence one tells where something was taken from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from decimal import Decimal
from typing import Any

from seal.core.english import numbers
from seal.core.statements import states

Leaf = str | float

_WITH_DIGIT = re.compile(r"\w*\d\w*")


def leaves(value: Any) -> Iterator[Leaf]:
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


class Heard:
    """What some texts say.

    Args:
        texts: In any order.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = tuple(texts)
        self._numbers = set().union(*map(numbers, self._texts))
        self._codes = {*leaves(self._texts)}

    def has(self, leaf: Leaf) -> bool:
        """Tell whether a text says a value: a number, a word with a digit, or a text (`states`)."""
        if isinstance(leaf, float):
            return Decimal(repr(leaf)) in self._numbers
        return leaf in self._codes or any(states(text, leaf) for text in self._texts)
