"""Fields of a record, got at once.

A dialogue has hundreds of small records; asking each for its fields one by one
(`seal.pools.reading.records.field`) takes longer than parsing them.
"""

from __future__ import annotations

from operator import itemgetter
from typing import Any

from seal.pools.reading.records import field


class Shape:
    """Fields that a record has, each of one kind.

    Args:
        kinds: Name to what its value must be: str, int, bool, list or dict; at least two.
    """

    def __init__(self, **kinds: type[Any]) -> None:
        self._get = itemgetter(*kinds)
        self._kinds = tuple(kinds.values())
        self._fields = kinds

    def of(self, record: Any) -> tuple[Any, ...]:
        """Return the values of the fields in their order.

        Raises:
            DataError: The record is no object, lacks a field, or has a value of another kind.
        """
        try:
            values: tuple[Any, ...] = self._get(record)
        except (KeyError, TypeError, IndexError):
            values = ()
        if tuple(map(type, values)) == self._kinds:
            return values
        return tuple(field(record, name, kind) for name, kind in self._fields.items())
