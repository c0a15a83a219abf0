"""Parquet files, as data-set hubs serve them; the one importing module that needs pyarrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

from seal.core import DataError, needing
from seal.pools.reading.gzip_lines import RATIO, SMALL
from seal.pools.reading.upstream_files import Placed

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
        with parquet.ParquetFile(path) as file:
            names = file.schema_arrow.names
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
        raise DataError(
            f"{path}: not readable as Parquet: {error}; is the file cut or damaged? Fetch it again"
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
        with path.open("rb") as file, ipc.open_stream(file) as stream:
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
