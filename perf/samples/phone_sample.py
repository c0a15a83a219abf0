"""The phone: scenarios that were written, then those that goal templates made."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from apps_sample import with_made

from seal.pools.importer import Notes

NAME = "phone"
MADE: list[dict[str, Any]] = [{"bench": "phone", "n": 105, "seed": 1}]
"""Five of each of the 21 templates."""


def import_sample(source: Path, notes: Notes) -> Iterator[Any]:
    """Yield tools and tasks, each with its difficulty as tags."""
    yield from with_made(source, notes, NAME, MADE)
