"""The files of a sweep.

sweep.json                        what was varied, a row for each run, results over samples
sweep.csv                         the same figures, one a line
size-N/sample-M/pool/             the drawn pool, a pool folder
size-N/sample-M/run/              its run; with several K run-k5/, run-k10/...
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seal.experiments.result_files import FIGURES, ExperimentFile, LongForm, figures_of, write_json

if TYPE_CHECKING:
    from seal.pools.samples import PoolSample

SWEEP = ExperimentFile(
    "sweep.json",
    "sweep",
    ("protocol", "origin", "rows", "results"),
    telling=("protocol", "origin"),
    growing=("samples",),  # no sample depends on how many there are
)
_PLACE = ("pool", "pool_digest", "size", "sample", "top_k")
_COLUMNS = (*_PLACE, *FIGURES, "undefined", "queries", "samples", "reason")
"""Columns of the long form. `pool_digest` is that of the large pool. `sample` is empty in the line
for all samples. `n` counts the scores with a value; `reason` says why others have none."""


def pool_folder(out: Path, drawn: PoolSample) -> Path:
    """Return the folder of a drawn pool."""
    return out / f"size-{drawn.size}" / f"sample-{drawn.sample}" / "pool"


def run_name(drawn: PoolSample, top_k: int, several: bool) -> str:
    """Return the name of a run's folder in the sweep's.

    Args:
        drawn: Its pool.
        top_k: Its K.
        several: True: the sweep has more than one K.
    """
    run = f"run-k{top_k}" if several else "run"
    return f"size-{drawn.size}/sample-{drawn.sample}/{run}"


def write(out: Path, content: Mapping[str, Any]) -> None:
    """Write sweep.json and sweep.csv."""
    write_json(content, out / SWEEP.name)
    LONG.write(content, out)


def discard(out: Path) -> None:
    """Remove what a sweep wrote if it failed before any of its runs began."""
    if any(out.glob("size-*/sample-*/run*/run.json")):
        return
    for path in out.glob("size-*"):
        shutil.rmtree(path)
    for name in (SWEEP.name, "sweep.csv"):
        (out / name).unlink(missing_ok=True)


def _long_rows(content: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield each figure of a sweep as a row with `_COLUMNS`."""
    origin = {"pool": content["origin"]["benchmark"], "pool_digest": content["origin"]["digest"]}
    for entry in (*content["results"], *content["rows"]):
        common = {name: entry.get(name) for name in _COLUMNS} | origin
        for metric, found in entry["metrics"].items():
            samples = found.get("samples", entry.get("samples", 1))
            reason = "; ".join(found.get("reasons", ())) or None
            told = {"undefined": found["undefined"], "samples": samples, "reason": reason}
            yield common | figures_of(metric, found) | told


LONG = LongForm("sweep", _COLUMNS, _long_rows)
