"""Tables that people fill in: CSV files. Reading reports every row, also a malformed one."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from io import StringIO
from pathlib import Path

from seal.core.errors import DataError
from seal.core.files import AtomicFile
from seal.core.text import counted
from seal.core.types import JSON

_MARKS = ",;\t"
"""Between fields; spreadsheets of many countries write semicolons."""
_FORMULA = re.compile(r"'* *[=+\-@\t\r\n]")
"""Beginning of a cell that a spreadsheet takes for a formula, or of one that was escaped."""


class CsvRows:
    """A CSV file in UTF-8, its first row the names of the columns.

    Fields are parted by commas, semicolons or tabs, whichever the first row has most of.

    Args:
        path: The file.
        what: What it holds, for the message where it cannot be read.

    Raises:
        DataError: The file cannot be read.
    """

    def __init__(self, path: Path, what: str) -> None:
        try:
            text = path.read_text(encoding="utf-8-sig")
        except OSError as error:
            raise DataError(f"{path}: {error.strerror}; give a file of {what}") from None
        except UnicodeDecodeError as error:
            raise DataError(f"{path}: no UTF-8 text: {error}; save it as CSV in UTF-8") from None
        self._name = path.name
        mark = max(_MARKS, key=text.partition("\n")[0].count)
        self._table = csv.DictReader(
            StringIO(text, newline=""), restkey="", strict=True, delimiter=mark
        )
        self.columns: tuple[str, ...] = ()
        """Names of the columns; none where the first row is malformed."""
        with suppress(csv.Error):
            self.columns = tuple(self._table.fieldnames or ())

    def __iter__(self) -> Iterator[tuple[str, dict[str, str]] | str]:
        """Yield the place of each row and its fields, stripped; a text for a malformed one."""
        while True:
            where = f"{self._name}, line {self._table.line_num + 1}"
            try:
                row = next(self._table, None)
            except csv.Error as error:
                if "limit" in str(error):  # what follows is the rest of this field
                    most = f"{csv.field_size_limit():,} characters"
                    yield f"{where}: a quote is never closed, or a field has more than {most}"
                    return
                yield f"{where}: malformed: {error}"
                continue
            if row is None:
                return
            if "" in row or None in row.values():
                yield f"{where}: malformed: expected {counted(len(self.columns), 'field')}"
                continue
            yield where, {name: text.strip() for name, text in row.items()}


def write_csv(
    path: Path, columns: Sequence[str], rows: Iterable[Sequence[JSON]], encoding: str = "utf-8"
) -> None:
    """Write a table by atomic rename; what is no Unicode text stands as `?`."""
    text = StringIO(newline="")
    table = csv.writer(text)
    table.writerow(columns)
    table.writerows(rows)
    with AtomicFile(path) as file:
        file.write(text.getvalue().encode(encoding, "replace"))


def escaped(cell: str) -> str:
    """Return a cell that no spreadsheet takes for a formula: an apostrophe is put before one."""
    return f"'{cell}" if _FORMULA.match(cell) else cell


def unescaped(cell: str) -> str:
    """Return what a cell said before it was escaped."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell
