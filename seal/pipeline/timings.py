"""When each chat began, how long it took, what it cost: everything that differs between runs."""

from __future__ import annotations

from pathlib import Path

import orjson

from seal.core.errors import DataError
from seal.core.records import repair_tail
from seal.core.secrets import without_keys
from seal.pipeline.workers import Outcome


class Timings:
    """The file `timings.jsonl`, one line a chat; chats that were played again have several.

    Args:
        path: The file; a torn last line of an earlier part of the run is cut off.

    Raises:
        DataError: A line is damaged.
    """

    def __init__(self, path: Path) -> None:
        repair_tail(path)
        self.tokens = tokens_spent(path)
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
        }
        self._file.write(without_keys(orjson.dumps(fields)) + b"\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def tokens_spent(path: Path) -> int:
    """Return the tokens of all chats in a file of timings; 0 where there is none.

    Raises:
        DataError: A line is damaged.
    """
    if not path.is_file():
        return 0
    spent = 0
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                spent += int(orjson.loads(line)["tokens"])
            except (ValueError, KeyError, TypeError) as error:
                raise DataError(
                    f"{path}, line {number}: no timing ({error}); delete the line"
                ) from error
    return spent
