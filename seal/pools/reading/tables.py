"""Tables row by row: CSV, JSON, Parquet, Arrow; sheets that people fill in."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from io import StringIO
from itertools import chain
from pathlib import Path
from typing import Any

from seal.core import JSON, DataError, needing
from seal.core.files import PACKED, RATIO, SMALL, AtomicFile, content_of, opened
from seal.core.text import counted
from seal.pools.reading.files import Parse, Placed, Torn, json_records, likely_form

# -- Tables row by row: JSON, JSON Lines, CSV, Parquet, Arrow, and folders of these.

CARDS = frozenset({"dataset_info.json", "dataset_infos.json", "state.json", "dataset_dict.json"})
"""Of a hub's copy: they say what its files hold."""


def rows(path: Path, torn: Torn | None = None, parse: Parse | None = None) -> Iterator[Placed]:
    """Yield the rows of a table, each a map from column to value; of a folder those of its files.

    Args:
        path: A file whose ending says its format, also packed with gzip where it holds JSON Lines.
        torn: Told a row that cannot be parsed, which is passed over; None: it ends the reading.
        parse: (JSON, place) to its value; None: `parse_json`.

    Raises:
        DataError: It is no such file, or damaged, or a folder without one.
        MissingExtraError: A Parquet or Arrow file, without the extra `experiments`.
    """
    if path.is_dir():
        files = [file for file in sorted(path.rglob("*")) if _is_table(file)]
        if not files:
            raise DataError(f"{path} holds no table; expected one of {', '.join(FORMATS)}")
        for file in files:
            yield from rows(file, torn, parse)
        return
    read = FORMATS.get(_format(path))
    if read is None:
        raise DataError(f"{path}: expected a table, one of {', '.join(FORMATS)}; save it as such")
    yield from read(path, torn, parse)


def _is_table(path: Path) -> bool:
    return path.is_file() and path.name not in CARDS and _format(path) in FORMATS


def _format(path: Path) -> str:
    return Path(path.name.removesuffix(PACKED)).suffix.lower()


def csv_rows(path: Path, torn: Torn | None, parse: Parse | None = None) -> Iterator[Placed]:
    """Yield the rows of a CSV file in UTF-8, its first row the names of the columns."""
    for row in CsvRows(path, "a table"):
        if not isinstance(row, str):
            yield Placed(*row)
        elif torn is None:
            raise DataError(row)
        else:
            torn(DataError(row))


FORMATS: dict[str, Callable[[Path, Torn | None, Parse | None], Iterator[Placed]]] = {
    ".csv": csv_rows,
    ".json": json_records,
    ".jsonl": json_records,
    ".ndjson": json_records,
    ".parquet": lambda path, torn, parse: parquet_records(path),
    ".arrow": lambda path, torn, parse: arrow_records(path),
}
"""Ending of a file to what reads it."""


# -- Parquet files, as data-set hubs serve them; the one importing module that needs pyarrow.

_ROWS = 1024
"""Rows that are read at once."""
_BAD_CELLS = (ValueError, OverflowError)
"""What pyarrow raises for a text that is not UTF-8, and for a time that Python does not have."""


def parquet_records(path: Path, columns: Sequence[str] = ()) -> Iterator[Placed]:
    """Yield the rows of a file as maps, batch by batch.

    Args:
        path: A Parquet file.
        columns: That it must have; others are left unread. Empty: all columns, whichever they are.

    Raises:
        MissingExtraError: pyarrow is not installed.
        DataError: The file is no Parquet, is damaged, lacks a column, or unpacks to too much.
    """
    parquet = _pyarrow_parquet()
    from pyarrow import ArrowException

    try:
        opened(path).close()  # else a pipe waits for its writer
        with parquet.ParquetFile(path) as file:
            names = file.schema_arrow.names
            _check_distinct(str(path), names)
            missing = [name for name in columns if name not in names]
            if missing:
                raise DataError(
                    f"{path}: no column {', '.join(missing)}; it has: {', '.join(names) or 'none'}"
                )
            batches = _bounded(file, path, list(columns) or None)
            rows = chain.from_iterable(batch.to_pylist() for batch in batches)
            for number, row in enumerate(rows):
                yield Placed(f"{path}, row {number}", row)
    except (ArrowException, OSError, *_BAD_CELLS) as error:
        why = getattr(error, "strerror", None) or error
        raise DataError(
            f"{path}: not readable as Parquet: {why}; is the file cut or damaged? Fetch it again"
        ) from error


def _bounded(file: Any, path: Path, columns: list[str] | None) -> Iterator[Any]:
    """Yield the batches of a file, as long as it does not unpack to more than can be trusted.

    What its pages say of themselves is asked first; rows of one value repeated are in no page.
    """
    limit = max(SMALL, RATIO * path.stat().st_size)
    groups = range(file.metadata.num_row_groups)
    total = sum(file.metadata.row_group(number).total_byte_size for number in groups)
    batches = iter(()) if total > limit else file.iter_batches(_ROWS, columns=columns)
    rows = 0
    for batch in batches:
        rows += sum(_plain(column).nbytes for column in batch.columns)
        if rows > limit:
            break
        yield batch
    if max(total, rows) > limit:
        raise DataError(
            f"{path}: {path.stat().st_size} bytes unpack to more than {limit}; if you trust the "
            "file, write its rows as JSON Lines and name that file"
        )


def _plain(column: Any) -> Any:
    return column.dictionary_decode() if hasattr(column, "dictionary_decode") else column


def arrow_records(path: Path) -> Iterator[Placed]:
    """Yield the rows of an Arrow stream, as data sets that were saved to disk have it.

    Raises:
        MissingExtraError: pyarrow is not installed.
        DataError: The file is no such stream, or is damaged.
    """
    _pyarrow_parquet()
    from pyarrow import ArrowException, ipc

    try:
        with opened(path) as file, ipc.open_stream(file) as stream:
            _check_distinct(str(path), stream.schema.names)
            rows = chain.from_iterable(batch.to_pylist() for batch in stream)
            for number, row in enumerate(rows):
                yield Placed(f"{path}, row {number}", row)
    except (ArrowException, OSError, *_BAD_CELLS) as error:
        raise DataError(f"{path}: not readable as an Arrow stream: {error}") from error


def unread_columns(path: Path, columns: Sequence[str]) -> dict[str, int]:
    """Return the other columns of a file that `parquet_records` can read, each with its rows."""
    with _pyarrow_parquet().ParquetFile(path) as file:
        rows = file.metadata.num_rows
        return {name: rows for name in file.schema_arrow.names if name not in columns}


def split_readable(paths: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Return the files that can be read here, and the Parquet files that other files stand in for.

    Without pyarrow, Parquet files are passed over where there are files of other kinds; where there
    are none, they count as readable, and reading them tells the missing extra.
    """
    others = [path for path in paths if path.suffix != ".parquet"]
    if not others or find_spec("pyarrow") is not None:
        return list(paths), []
    return others, [path for path in paths if path.suffix == ".parquet"]


def _pyarrow_parquet() -> Any:
    with needing("pyarrow", "experiments"):
        from pyarrow import parquet
    return parquet


# -- Tables that people fill in: CSV files. Reading reports every row, also a malformed one.

_MARKS = ",;\t"
"""Between fields; spreadsheets of many countries write semicolons."""
_LONGEST_FIELD = 1 << 24
"""Characters of a field; Python's own limit is 131,072."""
_BEGINS_JSON = re.compile(r'\s*(?:\[\s*)?\{\s*"')
"""How a file begins that holds objects, and no names of columns."""
_SAYS_MARK = re.compile(r"sep=([^\"\w\s]|\t)\r?\n")
_FORMULA = re.compile(r"'* *[=+\-@\t\r\n]")
"""Beginning of a cell that a spreadsheet takes for a formula, or of one that was escaped."""


class CsvRows:
    """A CSV file in UTF-8, its first row the names of the columns.

    Fields are parted by commas, semicolons or tabs, whichever the first row has most of, or by
    what a line before it says, as spreadsheets write it (`sep=;`).

    Args:
        path: The file.
        what: What it holds, for the message where it cannot be read.

    Raises:
        DataError: The file cannot be read, is of another form, or two columns have one name.
    """

    def __init__(self, path: Path, what: str) -> None:
        try:
            raw = content_of(path)
            if b"\0" in raw.partition(b"\n")[0]:
                raise DataError(f"{path}: it holds null bytes; {likely_form(raw)}")
            text = raw.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
        except OSError as error:
            raise DataError(f"{path}: {error.strerror}; give a file of {what}") from None
        except UnicodeDecodeError as error:
            raise DataError(f"{path}: no UTF-8 text: {error}; save it as CSV in UTF-8") from None
        if _BEGINS_JSON.match(text):
            raise DataError(
                f"{path}: it looks like JSON; let its name end in .json, or in .jsonl where each "
                "line is an object"
            )
        self._name = path.name
        said = _SAYS_MARK.match(text)
        mark = said[1] if said else max(_MARKS, key=text.lstrip("\n").partition("\n")[0].count)
        csv.field_size_limit(max(_LONGEST_FIELD, csv.field_size_limit()))
        self._table = csv.DictReader(StringIO(text, newline=""), strict=True, delimiter=mark)
        self.columns: tuple[str, ...] = ()
        """Names of the columns; none where the first row is malformed."""
        with suppress(csv.Error):
            if said:
                next(self._table.reader)
            self._table.fieldnames = next(filter(None, self._table.reader), [])
            self.columns = tuple(filter(None, self._table.fieldnames or ()))
            if self._table.fieldnames and not self.columns:
                raise DataError(
                    f"{path}, line {self._table.line_num}: no column has a name; write their names "
                    "in the first row"
                )
        named = self._table.fieldnames or () if self.columns else ()
        _check_distinct(f"{path}, line {self._table.line_num}", named)

    def __iter__(self) -> Iterator[tuple[str, dict[str, str]] | str]:
        """Yield the place of each row and its fields, stripped; a text for a malformed one."""
        while True:
            where = f"{self._name}, line {self._table.line_num + 1}"
            try:
                row = next(self._table, None)
            except csv.Error as error:
                if "limit" in str(error) or "unexpected end" in str(
                    error
                ):  # what follows is the rest of this field
                    most = f"{csv.field_size_limit():,} characters"
                    told = f"a quote is never closed, or a field has more than {most}"
                    yield f"{where}: {told}; close it, or shorten the field"
                    return
                yield f"{where}: malformed: {error}"
                continue
            if row is None:
                return
            if None in row or None in row.values():
                fields = counted(len(self._table.fieldnames or ()), "field")
                told = f"a field that holds {self._table.reader.dialect.delimiter!r} needs quotes"
                yield f"{where}: malformed: expected {fields}; {told}"
                continue
            if row.pop("", ""):
                yield f"{where}: malformed: a field stands in a column without a name; name it"
                continue
            yield where, {name: text.strip() for name, text in row.items()}


def _check_distinct(where: str, columns: Sequence[str]) -> None:
    for name in filter(None, columns):
        if columns.count(name) > 1:
            places = [str(at) for at, one in enumerate(columns, 1) if one == name]
            raise DataError(
                f"{where}: columns {' and '.join(places)} are both named {name!r}, so one would be "
                "lost; rename one, or take it out"
            )


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
