"""Parquet files, as data-set hubs serve them; the one importing module that needs pyarrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

from seal.core import DataError, MissingExtraError
from seal.pools.reading.records import Placed

_ROWS = 1024
"""Rows that are read at once."""


def parquet_records(path: Path, columns: Sequence[str] = ()) -> Iterator[Placed]:
    """Yield the rows of a file as maps, batch by batch.

    Args:
        path: A Parquet file.
        columns: That it must have; others are left unread. Empty: all columns, whichever they are.

    Raises:
        MissingExtraError: pyarrow is not installed.
        DataError: The file is no Parquet, is damaged, or lacks a column.
    """
    parquet = _pyarrow_parquet()
    from pyarrow import ArrowException

    try:
        with parquet.ParquetFile(path) as file:
            names = file.schema_arrow.names
            missing = [name for name in columns if name not in names]
            if missing:
                raise DataError(
                    f"{path}: no column {', '.join(missing)}; it has: {', '.join(names) or 'none'}"
                )
            batches = file.iter_batches(_ROWS, columns=list(columns) or None)
            rows = chain.from_iterable(batch.to_pylist() for batch in batches)
            for number, row in enumerate(rows):
                yield Placed(f"{path}, row {number}", row)
    except (ArrowException, OSError) as error:
        raise DataError(
            f"{path}: not readable as Parquet: {error}; is the file cut or damaged? Fetch it again"
        ) from error


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
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtraError("pyarrow", "experiments") from error
    return parquet
