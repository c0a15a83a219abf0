"""Tables row by row: JSON, JSON Lines, CSV, Parquet, Arrow, and folders of these."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from seal.core import DataError
from seal.core.csv_tables import CsvRows
from seal.pools.reading.gzip_lines import PACKED
from seal.pools.reading.parquet import arrow_records, parquet_records
from seal.pools.reading.upstream_files import Placed, Torn, json_records

CARDS = frozenset({"dataset_info.json", "dataset_infos.json", "state.json", "dataset_dict.json"})
"""Of a hub's copy: they say what its files hold."""


def rows(path: Path, torn: Torn | None = None) -> Iterator[Placed]:
    """Yield the rows of a table, each a map from column to value; of a folder those of its files.

    Args:
        path: A file whose ending says its format, also packed with gzip where it holds JSON Lines.
        torn: Told a row that cannot be parsed, which is passed over; None: it ends the reading.

    Raises:
        DataError: It is no such file, or damaged, or a folder without one.
        MissingExtraError: A Parquet or Arrow file, without the extra `experiments`.
    """
    if path.is_dir():
        files = [file for file in sorted(path.rglob("*")) if _is_table(file)]
        if not files:
            raise DataError(f"{path} holds no table; expected one of {', '.join(FORMATS)}")
        for file in files:
            yield from rows(file, torn)
        return
    read = FORMATS.get(_format(path))
    if read is None:
        raise DataError(f"{path}: expected a table, one of {', '.join(FORMATS)}; save it as such")
    yield from read(path, torn)


def _is_table(path: Path) -> bool:
    return path.is_file() and path.name not in CARDS and _format(path) in FORMATS


def _format(path: Path) -> str:
    return Path(path.name.removesuffix(PACKED)).suffix.lower()


def csv_rows(path: Path, torn: Torn | None) -> Iterator[Placed]:
    """Yield the rows of a CSV file in UTF-8, its first row the names of the columns."""
    for row in CsvRows(path, "a table"):
        if not isinstance(row, str):
            yield Placed(*row)
        elif torn is None:
            raise DataError(row)
        else:
            torn(DataError(row))


FORMATS: dict[str, Callable[[Path, Torn | None], Iterator[Placed]]] = {
    ".csv": csv_rows,
    ".json": json_records,
    ".jsonl": json_records,
    ".ndjson": json_records,
    ".parquet": lambda path, torn: parquet_records(path),
    ".arrow": lambda path, torn: arrow_records(path),
}
"""Ending of a file to what reads it."""
