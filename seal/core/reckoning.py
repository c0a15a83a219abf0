"""What numbers come to, and how one explains another: as a sum, rate or rounding.

No text is read here but for the words right beside a number.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from itertools import combinations, permutations

from seal.core.quantities import Quantity
from seal.core.statements import is_cut, is_same


def joined(one: Decimal, other: Decimal) -> Iterator[Decimal]:
    """Yield what two numbers come to."""
    yield from (one + other, abs(one - other), one * other)
    if one and other:
        yield from (one / other, other / one)


def per_one(one: Quantity, after: Quantity | None, plain: str) -> Quantity:
    """Return a quantity, of "16,000 per 100" what it is per one."""
    if after is None or not after.number or not PER.search(plain, one.end, after.start):
        return one
    return one._replace(number=one.number / after.number)


PER = re.compile(r"\b(?:per|for every|for each)\W*$")


def is_among(said: Quantity, numbers: Sequence[Decimal]) -> bool:
    """Tell whether a quantity is one of some sorted numbers, rounded to its last digit."""
    exponent = said.number.as_tuple().exponent
    step = Decimal(1).scaleb(exponent if isinstance(exponent, int) else 0)
    wanted, step = (n / 100 if said.unit == "%" else n for n in (abs(said.number), step))
    place = bisect_left(numbers, wanted)
    near = numbers[max(place - 1, 0) : place + 1]
    return any(number == wanted or abs(number - wanted) * 2 < step for number in near)


def clocks(one: Quantity) -> set[tuple[int, int]]:
    """Return a time that passes as results write it: 3:52 of minutes or of hours."""
    seconds = int(one.amount)
    return {divmod(n, 60) for n in (seconds, seconds // 60) if n}


class Beside:
    """The first values that an answer says, by which one of them may explain another.

    Args:
        said: The values.
        plain: The answer, as `Text.plain`.
    """

    def __init__(self, said: Sequence[Quantity], plain: str) -> None:
        self._said, self._plain = said, plain
        self._reckoned: dict[Decimal, list[tuple[Quantity, Quantity]]] = {}
        for one, other in combinations(said, 2):
            a, b = one.number, other.number
            for number in (a + b, abs(a - b), a * b):
                self._reckoned.setdefault(number, []).append((one, other))

    def explains(self, one: Quantity, reckon: bool) -> bool:
        """Tell whether a value is another in another unit, or may be reckoned from two."""
        for other in self._said:
            if other.unit and other.unit != one.unit and is_same(one, other):
                return True  # "62.5 km, about 38.8 miles"
        if self._is_rate(one):
            return True
        return reckon and any(one not in pair for pair in self._reckoned.get(one.number, ()))

    def _is_rate(self, one: Quantity) -> bool:
        """Tell whether a value is the rate of two sums: "228 EUR (192 GBP, 1.19 EUR a pound)"."""
        is_sum = one.unit is not None and one.unit == one.dimension
        if not (is_sum and _OF_ONE.match(self._plain, one.end)):
            return False
        sums = [q for q in self._said if q.unit == q.dimension and q.number and q is not one]
        return any(
            a.unit == one.unit != b.unit and is_cut(one.number, a.number / b.number)
            for a, b in permutations(sums, 2)
        )


def is_share(
    one: Quantity, plain: str, sums: Iterable[Quantity], parts: Iterable[Quantity]
) -> bool:
    """Tell whether a sum is what one of several gets or costs: "34.22 francs a share".

    Args:
        one: The sum, of three figures or more.
        plain: The text that says it.
        sums: Told, of its currency.
        parts: What they may be divided by.
    """
    near = plain[max(one.start - _NEAR_EACH, 0) : one.end + _NEAR_EACH]
    if len(one.number.as_tuple().digits) < _FIGURES or _EACH.search(near) is None:
        return False
    counts = {q.number for q in parts if q.number % 1 == 0 and 1 < q.number < _MANY}
    return any(is_cut(one.number, each.number / n) for each in sums for n in counts)


_LONGEST = 20
"""Digits before the point of a number that is rounded."""


def rounded(number: Decimal) -> Iterator[Decimal]:
    """Yield a number with three decimals, two, one and none; of two such as near both."""
    exponent = number.as_tuple().exponent
    digits = -exponent if isinstance(exponent, int) else 0
    if number.adjusted() < _LONGEST:
        for places in range(min(digits, 4)):
            step = Decimal(1).scaleb(-places)
            yield from (number.quantize(step, way) for way in (ROUND_HALF_EVEN, ROUND_HALF_UP))


_OF_ONE = re.compile(
    r"(?: \w+)? (?:to|per|for|an?|each|every) (?:(?:the|an?|one|1|each|every) )?[a-z]+"
)
"""What stands behind a rate: "1.19 euros to the pound"."""
_EACH = re.compile(r"\b(?:per|each|apiece|an? (?:share|piece|head|person|unit|night|ticket))\b")
_NEAR_EACH = 30
"""Characters beside a sum in which is said that it is that of one."""
_FIGURES, _MANY = 3, 10_000
