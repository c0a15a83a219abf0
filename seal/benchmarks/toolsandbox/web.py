"""Recorded answers of the web that lie beside upstream's tasks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from seal.benchmarks.toolsandbox.phone.answers import recorded_web
from seal.pools.importer import Notes, Web


def web_answers(path: Path, notes: Notes) -> Iterator[Web]:
    """Yield a file of answers as it is; nothing where there is none.

    Args:
        path: The file.
        notes: Gets the number of answers.

    Raises:
        DataError: The file does not hold answers.
    """
    if path.is_file():
        records = recorded_web(path).records
        notes.facts["web_answers"] = sum(map(len, records.values()))
        yield Web(path.read_bytes())
