"""Malformed records of upstream's files: left out, counted and placed, as long as others are not.

A file of which no record can be used is the wrong file, and ends the import; so does one that is
missing or cannot be read as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol, TypeVar

from seal.core import DataError
from seal.pools.importer import Notes
from seal.pools.reading.upstream_files import Placed, Torn, json_records

MALFORMED = "malformed_record"
"""The usual reason to count a record under."""

_Made = TypeVar("_Made")


class FileFault(DataError):
    """A file that records need is missing or unusable; no record of it is to blame."""


class CountedFault(DataError):
    """A record is malformed in a way that is counted under a reason of its own.

    Args:
        reason: To count it under.
        fault: What is wrong.
    """

    def __init__(self, reason: str, fault: str) -> None:
        self.reason = reason
        super().__init__(fault)


class LeftOut(Exception):
    """A sound record is left out.

    Its arguments are the reasons to count it under; without any it is counted elsewhere.
    """


class Reader(Protocol):
    """Yields the records of a file."""

    def __call__(self, path: Path, torn: Torn) -> Iterable[Placed]:
        """Yield the records; of one that cannot be parsed `torn` is told, with its place."""
        ...


def usable(
    path: Path,
    read: Callable[[Any], _Made],
    notes: Notes,
    records: Reader = json_records,
    reason: str = MALFORMED,
) -> Iterator[_Made]:
    """Yield what is read of each record of a file; leave out and count those that are malformed.

    Args:
        path: The file.
        read: Makes something of a record; raises DataError where the record is malformed, and
            `LeftOut` where it is not used.
        notes: Gets the count, and the first places with their faults.
        records: Yields the records.
        reason: To count them under, where a `CountedFault` does not name its own.

    Raises:
        FileFault: `read` raised it.
        DataError: The file cannot be read, or has records and each of them is malformed: the first
            one's fault.
    """
    first: list[DataError] = []

    def leave_out(fault: DataError, under: str = reason) -> None:
        notes.leave_out(under, str(fault).replace(str(path), path.name))
        first.append(fault)
        del first[1:]

    any_used = False
    for place, value in records(path, leave_out):
        try:
            made = read(value)
        except FileFault as error:
            raise FileFault(f"{place}: {error}") from error
        except DataError as error:
            under = error.reason if isinstance(error, CountedFault) else reason
            leave_out(DataError(f"{place}: {error}"), under)
        except LeftOut as reasons:
            any_used = True
            notes.dropped.update(reasons.args)
        else:
            any_used = True
            yield made
    if first and not any_used:
        raise first[0]


def numbered(records: Reader) -> Reader:
    """Return a reader of (position, record), positions from 0; torn records have one too."""

    def with_numbers(path: Path, torn: Torn) -> Iterator[Placed]:
        number = -1

        def passed_over(fault: DataError) -> None:
            nonlocal number
            number += 1
            torn(fault)

        for place, value in records(path, passed_over):
            number += 1
            yield Placed(place, (number, value))

    return with_numbers


def listed(content: Iterable[Any]) -> Reader:
    """Return the reader of records that stand in a list that was read already."""

    def records(path: Path, torn: Torn) -> Iterator[Placed]:
        for number, value in enumerate(content):
            yield Placed(f"{path}, record {number}", value)

    return records
