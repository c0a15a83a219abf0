"""Download a benchmark's upstream files, pinned and checked."""

import os
from dataclasses import asdict
from pathlib import Path

from seal.cli.groups import argument, option, verb
from seal.cli.options import JSON
from seal.cli.output import output, progress


@verb("fetch")
def fetch_command(
    name: str = argument("Name of a benchmark; `seal benchmarks` lists them.", metavar="NAME"),
    out: Path | None = option(
        None, "Folder for the files.  [default: the benchmark's own in SEAL_DATA, else in data/]"
    ),
    mirror: str | None = option(
        None, "Address to download from, instead of the repository.", metavar="URL"
    ),
    json: bool = JSON,
) -> int:
    """Download a benchmark's upstream files; each is checked against its SHA-256."""
    from seal.pools.catalogue import find_entry
    from seal.pools.downloads import fetch

    with output(json) as result, progress() as advance:
        entry = find_entry(name)
        data = Path(os.environ.get("SEAL_DATA") or "data")
        folder = out or data / (entry.folder or entry.name)
        report = asdict(fetch(name, folder, mirror, advance))
        result.fields(report, f"import them: seal import {entry.importer} {folder} --out POOL")
    return 0
