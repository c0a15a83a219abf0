"""Versions of a table, which share the rows that stay: what differs is found by identity first.

Rows are compared as JSON; but where two versions share a row, it need not be compared:
`seal.evaluation.milestones.view` lets them share all equal ones. What a version is asked again and
again it keeps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any

from seal.core.canonical import canonical_json

Row = Mapping[str, Any]
Fill = Callable[[Row], Row]
"""Puts something in the place of absent values."""
Keys = dict[int, tuple[Row, bytes, bytes]]
"""Row, its canonical JSON, and that of what is not absent in it; the rows themselves are kept, else
their identities might become others'."""


class Version(list[dict[str, Any]]):
    """A table that nobody changes.

    Args:
        rows: That nobody changes either.
        keys: Rows and their keys by the rows' identity; grows, and may be shared by versions.
    """

    def __init__(self, rows: Iterable[Any], keys: Keys | None = None) -> None:
        super().__init__(rows)
        self._keys: Keys = {} if keys is None else keys

    @classmethod
    def of(cls, table: Sequence[Row]) -> Version:
        """Return the table itself where it is a version, else one of the same rows."""
        return table if isinstance(table, Version) else cls(table)

    @cached_property
    def zeros(self) -> dict[str, Any]:
        """What stands for an absent value, "", 0 or False, by the type of the column's first."""
        found: dict[str, Any] = {}
        for row in self:
            for name, value in row.items():
                if value is not None and name not in found:
                    found[name] = zero(value)
        return found

    @cached_property
    def distinct(self) -> bool:
        """True only where no two rows are the same, whatever stands for absent values."""
        return len(self._alike) == len(self)

    def apart(self, other: Version) -> Iterator[dict[str, Any]]:
        """Yield the rows that are not among the other's very objects, in order.

        One that stands in several places comes as often as these are more than in the other.
        """
        if len(self._identities) == len(self):
            yield from (row for row in self if id(row) not in other._identities)
            return
        common = Counter(map(id, other))
        for row in self:
            if common[id(row)]:
                common[id(row)] -= 1
            else:
                yield row

    def differs_more(self, other: Version, most: int) -> bool:
        """Tell whether surely more rows than so many are not equal to any of the other's."""
        new = (row for row in self.apart(other) if self.key(row) not in other._canonical)
        return sum(1 for _ in islice(new, most + 1)) > most

    def has(self, row: Row, fill: Fill) -> bool:
        """Tell whether there is such a row, once both are filled."""
        alike = self._alike.get(self._key(row), ())
        return any(canonical_json(fill(one)) == canonical_json(fill(row)) for one in alike)

    @cached_property
    def _identities(self) -> frozenset[int]:
        return frozenset(map(id, self))

    @cached_property
    def _canonical(self) -> frozenset[bytes]:
        return frozenset(map(self.key, self))

    @cached_property
    def _alike(self) -> dict[bytes, list[Row]]:
        """Rows that may be the same once they are filled, by what they have in common."""
        found: dict[bytes, list[Row]] = {}
        for row in self:
            found.setdefault(self._key(row), []).append(row)
        return found

    def key(self, row: Row) -> bytes:
        """Return the canonical JSON of one of the rows."""
        return self._keys_of(row)[1]

    def _key(self, row: Row) -> bytes:
        return self._keys_of(row)[2]

    def _keys_of(self, row: Row) -> tuple[Row, bytes, bytes]:
        known = self._keys.get(id(row))
        if known is None:
            bare = {name: value or None for name, value in row.items()}
            known = self._keys[id(row)] = row, canonical_json(row), canonical_json(bare)
        return known


def zero(value: Any) -> Any:
    """Return what stands for an absent value of the type of this one."""
    if isinstance(value, bool):
        return False
    return 0.0 if isinstance(value, (int, float)) else ""
