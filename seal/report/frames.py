"""Results as pandas frames, and as Parquet."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from seal.core.errors import DataError, MissingExtraError, UsageError, shortened
from seal.core.types import Score
from seal.pipeline.retrieval.files import COLUMNS, RESULTS, long_rows
from seal.pipeline.run_folder import RunFolder
from seal.pipeline.sweep import files as sweeps

if TYPE_CHECKING:
    from pandas import DataFrame

EXTRA = "experiments"
PARQUET = "results.parquet"
SWEEP_PARQUET = "sweep.parquet"
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
}
"""Columns that are no text; those with a capital letter hold missing values too."""


def frame(what: Any) -> DataFrame:
    """Return results as a pandas frame, one figure a row; needs the extra `experiments`.

    Args:
        what: What `seal.retrieve` or `seal.sweep` returned, or the folder that they wrote; or a
            run: what `seal.run` returned, a `RunFolder`, or its path.

    Returns:
        Of an experiment in retrieval the columns of results.csv: pool, pool_digest, size, tools,
        sample (missing in the row of all samples together), retriever, identity, metric, value,
        deviation, low, high, n, queries, samples, unavailable. Of a sweep those of sweep.csv: pool,
        pool_digest, size, sample, top_k, metric, value, deviation, low, high, n, undefined,
        queries, samples, reason. Of a run the fields of its scores: task_id, trial, goal, metric,
        value, weight, reason.

    Raises:
        MissingExtraError: pandas is not installed.
        DataError: The folder holds none of them.
        UsageError: It is nothing of the kind.
    """
    if isinstance(what, Mapping):
        if "rows" not in what and "results" not in what:
            raise _unusable(what)
        return _sweep_frame(what) if "rows" in what else _retrieval_frame(what)
    run = getattr(what, "folder", what)
    if isinstance(run, RunFolder):
        return _scores_frame(run)
    if not isinstance(run, (str, os.PathLike)):
        raise _unusable(what)
    path = Path(run)
    table = path / sweeps.SWEEP if path.is_dir() else path
    if table.name == sweeps.SWEEP and table.is_file():
        return _sweep_frame(sweeps.read(table))
    file = path / RESULTS if path.is_dir() else path
    if file.name == RESULTS and file.is_file():
        return _retrieval_frame(_read(file))
    if not (path / "run.json").is_file():
        raise DataError(
            f"{path} holds neither {RESULTS} nor {sweeps.SWEEP} nor run.json: "
            "give a folder that `seal retrieve` or `seal run` wrote"
        )
    return _scores_frame(RunFolder.open(path))


def _unusable(what: Any) -> UsageError:
    return UsageError(
        f"seal.frame({shortened(what)}): expected what seal.retrieve, seal.sweep or seal.run "
        "returned, or the folder that it wrote"
    )


def write_parquet(result: Mapping[str, Any], folder: Path) -> Path:
    """Write the long form of an experiment as Parquet, and return the file.

    Raises:
        MissingExtraError: pandas or pyarrow is not installed.
    """
    require("pyarrow")
    file = folder / PARQUET
    _retrieval_frame(result).to_parquet(file, index=False)
    return file


def write_sweep_parquet(content: Mapping[str, Any], folder: Path) -> Path:
    """Write the long form of a sweep as Parquet, and return the file.

    Raises:
        MissingExtraError: pandas or pyarrow is not installed.
    """
    require("pyarrow")
    file = folder / SWEEP_PARQUET
    _sweep_frame(content).to_parquet(file, index=False)
    return file


def require(package: str) -> None:
    """Make sure that a package of the extra `experiments` is installed.

    Raises:
        MissingExtraError: It is not.
    """
    if find_spec(package) is None:
        raise MissingExtraError(package, EXTRA)


def _retrieval_frame(result: Mapping[str, Any]) -> Any:
    return _framed([{**row, "size": str(row["size"])} for row in long_rows(result)], COLUMNS)


def _sweep_frame(content: Mapping[str, Any]) -> Any:
    return _framed(list(sweeps.long_rows(content)), sweeps.COLUMNS)


def _scores_frame(run: RunFolder) -> Any:
    names = [field.name for field in fields(Score) if field.name != "details"]
    rows = [{name: getattr(score, name) for name in names} for score in run.scores()]
    return _framed(rows, names)


def _framed(rows: list[dict[str, Any]], columns: Any) -> Any:
    require("pandas")
    import pandas

    made = pandas.DataFrame(rows, columns=list(columns))
    return made.astype({name: kind for name, kind in _TYPES.items() if name in made.columns})


def _read(file: Path) -> dict[str, Any]:
    try:
        content = orjson.loads(file.read_bytes())
    except orjson.JSONDecodeError as error:
        raise DataError(f"{file}: not JSON: {error}; measure again with `seal retrieve`") from error
    if not isinstance(content, dict) or "results" not in content:
        raise DataError(f"{file}: no results of `seal retrieve`")
    return content
