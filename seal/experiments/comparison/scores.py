"""The scores of one run as a table of numbers: a row a task, trial and goal, a column a metric."""

from __future__ import annotations

import math
import re
from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from seal.core.errors import DataError
from seal.core.records import SCHEMAS, decode
from seal.core.types import Score
from seal.evaluation.goals import INFRASTRUCTURE
from seal.evaluation.statistics import kind_of_reason

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Key = tuple[str, int, int]
"""Task id, trial, goal."""
ERROR = "error"
"""Why a score has no value whose task the infrastructure failed."""
MISSING = "not scored"
"""Why there is no score."""

_AT_ONCE = 100_000
"""Bytes of lines parsed at once; more of them leave the processor's cache."""
_SCHEMA = SCHEMAS[Score]
_FIELDS = itemgetter("schema", "task_id", "trial", "goal", "metric", "value", "reason")
_HEAD = b'{"schema":"%b",' % _SCHEMA.encode()
_TEXT = rb'[^"\\\x00-\x1f]*+(?:\\.[^"\\\x00-\x1f]*+)*+'
_NUMBER = rb"[-+.\deE]++"
_WRITTEN = re.compile(
    rb'^%b("task_id":"%b","trial":\d++,"goal":\d++),("metric":"%b"),"value":(null|%b),'
    rb'(?:"weight":%b,)?("reason":"%b")(?:,.*+)?(?<=\})$'
    % (re.escape(_HEAD), _TEXT, _TEXT, _NUMBER, _NUMBER, _TEXT),
    re.MULTILINE,
)
"""A score as `seal.core.records` writes it, but for its details, which are most of a line."""


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """What a run's scores.jsonl says."""

    rows: Mapping[Key, int]
    metrics: Mapping[str, int]
    """Name to column."""
    values: NDArray[np.float64]
    """(rows, metrics); NaN where there is no value."""
    why: NDArray[np.int32]
    """(rows, metrics): place in `reasons`; -1 where there is a value."""
    reasons: tuple[str, ...]
    """Kinds of reason why scores have no value."""


def read_scores(path: Path) -> ScoreTable:
    """Return the scores of a file, which is read once, some lines at a time.

    Details, which no comparison looks at, are not checked to be JSON.

    Raises:
        DataError: There is no such file, or a line of it is no score, or one of what another line
            has scored; names the line.
    """
    if not path.is_file():
        raise DataError(f"no file {path}: score the run with `seal score {path.parent}`")
    cells = _Cells()
    read = 0
    with path.open("rb") as file:
        while lines := file.read(_AT_ONCE) + file.readline():
            try:
                cells.add(lines)
            except (ValueError, KeyError, TypeError) as error:
                _name_bad(lines, path, read)
                raise DataError(f"{path}: no scores: {error}; score the run again") from error
            read += lines.count(b"\n")
    if repeated := cells.repeated():
        line, earlier = repeated
        raise DataError(
            f"{path}, line {line}: scores task, trial, goal and metric of line {earlier} again; "
            f"write the file anew: `seal score {path.parent}`"
        )
    return cells.finished()


def _name_bad(lines: bytes, path: Path, before: int) -> None:
    """Raise DataError where a line is no score; names the first that is none.

    Args:
        lines: Of the file.
        path: The file.
        before: How many lines stand before them.
    """
    for number, line in enumerate(_split(lines), before + 1):
        try:
            decode(line, Score)
        except DataError as error:
            raise DataError(f"{path}, line {number}: {error}") from error


def _split(lines: bytes) -> list[bytes]:
    return lines.removesuffix(b"\n").split(b"\n")


class _Reasons(dict[str, int]):
    """Reason to the place of its kind; kinds are numbered as they come."""

    def __init__(self) -> None:
        super().__init__()
        self.kinds = {MISSING: 0}

    def __missing__(self, reason: str) -> int:
        kind = ERROR if reason.startswith(INFRASTRUCTURE) else kind_of_reason(reason)
        self[reason] = place = self.kinds.setdefault(kind, len(self.kinds))
        return place


class _Places(dict[bytes, int]):
    """Fields as they stand in a line to the place of what they say.

    Args:
        known: Values to places, which numbers those that it does not know.
        fields: Gives the value of the fields, by name.
    """

    def __init__(self, known: Mapping[Any, int], fields: itemgetter[Any]) -> None:
        super().__init__()
        self._known = known
        self._fields = fields

    def __missing__(self, written: bytes) -> int:
        self[written] = place = self._known[self._fields(orjson.loads(b"{%b}" % written))]
        return place


class _Cells:
    """Collects scores as numbers."""

    def __init__(self) -> None:
        self._rows: defaultdict[Key, int] = defaultdict(count().__next__)
        self._metrics: defaultdict[str, int] = defaultdict(count().__next__)
        self._reasons = _Reasons()
        self._row, self._column = array("q"), array("q")
        self._value, self._why = array("d"), array("q")
        self._row_at = _Places(self._rows, itemgetter("task_id", "trial", "goal"))
        self._column_at = _Places(self._metrics, itemgetter("metric"))
        self._why_at = _Places(self._reasons, itemgetter("reason"))

    def add(self, lines: bytes) -> None:
        """Add scores; loops run in C, for a run has hundreds of thousands.

        Args:
            lines: Whole lines of the file, one or more.

        Raises:
            KeyError: A field is missing.
            TypeError: A field is of another type.
            ValueError: A line is no JSON, or a record of another kind.
        """
        written = _WRITTEN.findall(lines)
        # A line that lost its newline has two heads.
        if written and len(written) == lines.count(b"\n") == lines.count(_HEAD):
            self._add_written(written)
        else:
            self._add_parsed(_split(lines))

    def _add_written(self, scores: Sequence[tuple[bytes, bytes, bytes, bytes]]) -> None:
        rows, metrics, values, reasons = zip(*scores, strict=True)
        self._row.extend(map(self._row_at.__getitem__, rows))
        self._column.extend(map(self._column_at.__getitem__, metrics))
        self._value.extend([math.nan if value == b"null" else float(value) for value in values])
        self._why.extend(map(self._why_at.__getitem__, reasons))

    def _add_parsed(self, lines: Sequence[bytes]) -> None:
        parsed = orjson.loads(b"[%b]" % b",".join(lines))
        if len(parsed) != len(lines):
            raise ValueError("expected one record a line")
        scores = map(_FIELDS, parsed)
        schemas, tasks, trials, goals, metrics, values, reasons = zip(*scores, strict=True)
        if set(schemas) != {_SCHEMA}:
            raise ValueError(f"expected records of schema {_SCHEMA!r}")
        if not set(map(type, reasons)) <= {str}:
            raise TypeError("expected a text as the reason of each score")
        self._row.extend(map(self._rows.__getitem__, zip(tasks, trials, goals, strict=True)))
        self._column.extend(map(self._metrics.__getitem__, metrics))
        self._value.extend([math.nan if value is None else value for value in values])
        self._why.extend(map(self._reasons.__getitem__, reasons))

    def repeated(self) -> tuple[int, int] | None:
        """Return the first line that scores what an earlier one has scored, and that one."""
        import numpy as np

        cells = np.asarray(self._row) * len(self._metrics) + np.asarray(self._column)
        if not len(cells) or np.bincount(cells).max() == 1:
            return None
        _, first, place = np.unique(cells, return_index=True, return_inverse=True)
        line = int(np.flatnonzero(first[place] != np.arange(len(cells)))[0])
        return line + 1, int(first[place][line]) + 1

    def finished(self) -> ScoreTable:
        """Return the table; what was never scored has the reason `MISSING`."""
        import numpy as np

        shape = (len(self._rows), len(self._metrics))
        values, why = np.full(shape, np.nan), np.zeros(shape, dtype=np.int32)
        places = np.asarray(self._row), np.asarray(self._column)
        found = np.asarray(self._value)
        values[places] = found
        why[places] = np.where(np.isnan(found), np.asarray(self._why), -1)
        return ScoreTable(
            dict(self._rows), dict(self._metrics), values, why, tuple(self._reasons.kinds)
        )
