"""When each chat began, how long it took, what it cost: everything that differs between runs.

What judges cost stands in lines of its own, one for each time that the run was scored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from seal.core.errors import DataError
from seal.core.plain import json_bytes
from seal.core.records import repair_tail
from seal.core.secrets import without_keys
from seal.runs.spending.ledger import (
    Account,
    Ledger,
    Spent,
    ledger_record,
    merged,
    read_ledger,
    tokens_of,
)
from seal.runs.workers import Outcome


class Timings:
    """The file `timings.jsonl`, one line a chat; chats that were played again have several.

    Args:
        path: The file; a torn last line of an earlier part of the run is cut off.

    Raises:
        DataError: A line is damaged.
    """

    def __init__(self, path: Path) -> None:
        repair_tail(path)
        self.spent = spending_of(path)
        """What the earlier parts of the run spent."""
        self._file = path.open("ab")

    def add(self, outcome: Outcome) -> None:
        """Write one chat; it is in the file when this returns."""
        fields = {
            "task_id": outcome.task_id,
            "trial": outcome.trial,
            "started": outcome.started,
            "seconds": round(outcome.seconds, 6),
            "tokens": outcome.tokens,
            "note": outcome.note,
            "asked": ledger_record(outcome.asked),
        }
        self._write(fields)

    def add_judging(self, asked: Ledger) -> None:
        """Write what the judges of the run were asked."""
        self._write({"tokens": tokens_of(asked), "asked": ledger_record(asked)})

    def _write(self, fields: dict[str, Any]) -> None:
        self._file.write(without_keys(json_bytes(fields)) + b"\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


@dataclass(slots=True)
class Spending:
    """What a run spent until now."""

    tokens: int = 0
    asked: dict[Account, Spent] = field(default_factory=dict)
    """Runs of earlier versions say nothing of it."""

    def add(self, tokens: int, asked: Ledger) -> None:
        """Count more."""
        self.tokens += tokens
        self.asked = merged([self.asked, asked])


def spending_of(path: Path) -> Spending:
    """Return what all lines of a file of timings spent; nothing where there is none.

    Raises:
        DataError: A line is damaged.
    """
    spending = Spending()
    for fields in _lines(path):
        spending.add(fields["tokens"], fields["asked"])
    return spending


def chats_asked(path: Path) -> Ledger:
    """Return what models were asked in chats; of those that were played again the last counts.

    Raises:
        DataError: A line is damaged.
    """
    last = {
        (fields["task_id"], fields.get("trial")): fields["asked"]
        for fields in _lines(path)
        if "task_id" in fields
    }
    return merged(last.values())


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    if not path.is_file():
        return
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.endswith(b"\n"):
                return  # torn by a kill: the chat is played again
            try:
                fields = orjson.loads(line)
                asked = read_ledger(fields.get("asked", []))
                yield {**fields, "tokens": int(fields["tokens"]), "asked": asked}
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise DataError(
                    f"{path}, line {number}: no timing ({error}); delete the line"
                ) from error
