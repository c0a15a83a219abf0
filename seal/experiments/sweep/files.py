"""The files of a sweep.

sweep.json                        what was varied, a row for each run, results over samples
sweep.csv                         the same figures, one a line
size-N/sample-M/pool/             the drawn pool, a pool folder
size-N/sample-M/run/              its run; with several K run-k5/, run-k10/...
"""

from __future__ import annotations

import csv
import io
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seal.core.errors import UsageError
from seal.core.records import AtomicFile
from seal.experiments.result_files import check_experiment_folder, read_json, write_json

if TYPE_CHECKING:
    from seal.pools.samples import PoolSample

SWEEP = "sweep.json"
TABLE = "sweep.csv"
COLUMNS = (
    "pool",
    "pool_digest",
    "size",
    "sample",
    "top_k",
    "metric",
    "value",
    "deviation",
    "low",
    "high",
    "n",
    "undefined",
    "queries",
    "samples",
    "reason",
)
"""Of the long form. `pool_digest`: of the large pool; `sample`: empty in the line of all samples
together; `n`: scores behind the value; `reason`: why others have no value."""
_GROWING = "samples"
"""The part of the protocol that a resumed sweep may raise: no sample depends on how many."""


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


def check_folder(out: Path, resume: bool) -> None:
    """Make sure that a sweep may begin, or go on, in a folder.

    Raises:
        UsageError: It is a file, holds a run, a sweep that is not to be resumed, or other things.
    """
    check_experiment_folder(out, SWEEP, "sweep", resume)


def begin(out: Path, content: Mapping[str, Any]) -> None:
    """Write the first sweep.json, or make sure that the one there is of the same sweep.

    Args:
        out: Folder of the sweep.
        content: {protocol, origin, ...}, without figures.

    Raises:
        UsageError: The folder holds a sweep of another protocol; names each part that differs.
        DataError: Its sweep.json is malformed.
    """
    if not (out / SWEEP).is_file():
        write(out, content)
        return
    before = read(out / SWEEP)
    differing = [
        f"{part}.{key}: was {before[part].get(key)!r}, is {value!r}"
        for part in ("protocol", "origin")
        for key, value in content[part].items()
        if before[part].get(key) != value
        and not (key == _GROWING and value > before[part].get(key, 0))
    ]
    if differing:
        raise UsageError(
            f"{out} holds another sweep; " + "; ".join(differing) + ". "
            "Resume with the settings of then, or give another --out"
        )


def write(out: Path, content: Mapping[str, Any]) -> None:
    """Write sweep.json and sweep.csv."""
    write_json(content, out / SWEEP)
    with AtomicFile(out / TABLE) as file:
        file.write(_csv(long_rows(content)).encode())


def discard(out: Path) -> None:
    """Remove what a sweep wrote that failed before any of its runs began.

    A folder in which a run has begun stays as it is.
    """
    if any(out.glob("size-*/sample-*/run*/run.json")):
        return
    for path in out.glob("size-*"):
        shutil.rmtree(path)
    for name in (SWEEP, TABLE):
        (out / name).unlink(missing_ok=True)


def read(file: Path) -> dict[str, Any]:
    """Return the content of sweep.json.

    Raises:
        DataError: It is none.
    """
    return read_json(file, ("protocol", "origin", "rows", "results"), "sweep")


def long_rows(content: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the figures of a sweep one by one, each with `COLUMNS`; None where there is none."""
    origin = {"pool": content["origin"]["benchmark"], "pool_digest": content["origin"]["digest"]}
    for entry in (*content["results"], *content["rows"]):
        common = {name: entry.get(name) for name in COLUMNS} | origin
        common["samples"] = entry.get("samples", 1)
        for metric, found in entry["metrics"].items():
            yield {
                **common,
                **{name: found.get(name) for name in ("deviation", "low", "high", "n")},
                "samples": found.get("samples", common["samples"]),
                "metric": metric,
                "value": found["mean"],
                "undefined": found["undefined"],
                "reason": "; ".join(found.get("reasons", ())) or None,
            }


def _csv(rows: Iterator[Mapping[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
