"""What came of answers that were read into a store."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from seal.core.errors import DataError
from seal.core.store import Store
from seal.core.types import JSON

_PLACES = 20


@dataclass(slots=True)
class ImportReport:
    """What came of each entry that was read."""

    imported: int = 0
    known: int = 0
    """Stored before, with the same answer."""
    conflicts: int = 0
    """Stored before, with another answer: the stored one stays."""
    rejected: Counter[str] = field(default_factory=Counter)
    """Reason to number."""
    places: list[str] = field(default_factory=list)
    """Where the first rejected ones stand."""
    first: dict[str, str] = field(default_factory=dict)
    """Reason to where the first entry that was rejected for it stands."""
    details: dict[str, int] = field(default_factory=dict)
    """Further counts of a format."""

    def reject(self, reason: str, place: str) -> None:
        """Count an entry that cannot be used."""
        self.rejected[reason] += 1
        self.first.setdefault(reason, place)
        if len(self.places) < _PLACES:
            self.places.append(f"{place}: {reason}")

    def keep(
        self, store: Store, key: str, entry: dict[str, Any], kind: str, created: str | None = None
    ) -> None:
        """Put an entry into a store and count what came of it."""
        is_new = store.get(key) is None
        stored = store.put(key, entry, kind, created)
        if is_new:
            self.imported += 1
        elif all(stored.get(name) == entry[name] for name in entry if name != "arguments"):
            self.known += 1
        else:
            self.conflicts += 1

    def require_some(self, source: Path) -> None:
        """Make sure that the source held an entry that can be used, unless it held none at all.

        Raises:
            DataError: All were rejected; names each reason with its number and its first place.
        """
        if self.imported or self.known or self.conflicts or not self.rejected:
            return
        reasons = "; ".join(
            f"{number} x {reason}, first {self.first[reason]}"
            for reason, number in self.rejected.most_common()
        )
        raise DataError(f"nothing of {source} could be imported: {reasons}; is --format right?")

    def to_plain(self) -> dict[str, JSON]:
        """Return the report as JSON."""
        return {
            "imported": self.imported,
            "known": self.known,
            "conflicts": self.conflicts,
            "rejected": dict(sorted(self.rejected.items())),
            "places": list(self.places),
            **self.details,
        }
