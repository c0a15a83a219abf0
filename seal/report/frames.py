"""Results as pandas frames, and as Parquet."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seal.core.errors import MissingExtraError
from seal.experiments.retrieval.files import COLUMNS, long_rows
from seal.experiments.sweep import files as sweeps

if TYPE_CHECKING:
    from pandas import DataFrame

EXTRA = "experiments"
_TYPES = {
    "sample": "Int64",
    "tools": "Int64",
    "top_k": "Int64",
    "undefined": "Int64",
    "n": "Int64",
    "samples": "Int64",
    "value": "Float64",
    "deviation": "Float64",
    "low": "Float64",
    "high": "Float64",
    "queries": "Float64",
    "tokens_in": "Int64",
    "tokens_out": "Int64",
    "valid": "boolean",
    "mean": "Float64",
    "other_mean": "Float64",
    "difference": "Float64",
    "p": "Float64",
    "p_holm": "Float64",
    "detectable": "Float64",
    "tasks_needed": "Int64",
    "trials_needed": "Int64",
}
"""Columns that are no text; those with a capital letter hold missing values too."""


def retrieval_frame(result: Mapping[str, Any]) -> DataFrame:
    """Return an experiment in retrieval as a frame, one figure a row, with `COLUMNS`.

    Args:
        result: Of results.json.

    Raises:
        MissingExtraError: pandas is not installed.
    """
    return framed([{**row, "size": str(row["size"])} for row in long_rows(result)], COLUMNS)


def sweep_frame(content: Mapping[str, Any]) -> DataFrame:
    """Return a sweep as a frame, one figure a row, with `seal.experiments.sweep.files.COLUMNS`.

    Args:
        content: Of sweep.json.

    Raises:
        MissingExtraError: pandas is not installed.
    """
    return framed(list(sweeps.long_rows(content)), sweeps.COLUMNS)


def write_parquet(
    frame: Callable[[Mapping[str, Any]], DataFrame], content: Mapping[str, Any], file: Path
) -> None:
    """Write the long form of an experiment as Parquet.

    Args:
        frame: Returns the long form of the content.
        content: Of the experiment.
        file: The file.

    Raises:
        MissingExtraError: pandas or pyarrow is not installed.
    """
    require("pyarrow")
    frame(content).to_parquet(file, index=False)


def require(package: str) -> None:
    """Make sure that a package of the extra `experiments` is installed.

    Raises:
        MissingExtraError: It is not.
    """
    if find_spec(package) is None:
        raise MissingExtraError(package, EXTRA)


def framed(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> DataFrame:
    """Return rows as a frame that has the columns, also where there is no row.

    Raises:
        MissingExtraError: pandas is not installed.
    """
    require("pandas")
    import pandas

    made = pandas.DataFrame(rows, columns=list(columns))
    return made.astype({name: kind for name, kind in _TYPES.items() if name in made.columns})
