"""Download a benchmark's upstream files, pinned and checked."""

import os
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from seal.cli.options import Json, new_app
from seal.cli.output import field_lines, output
from seal.cli.progress import progress

app = new_app()


@app.command()
def command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Benchmark; `seal benchmarks`.")],
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the files.  [default: NAME's in SEAL_DATA, else in data/]"),
    ] = None,
    mirror: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Address to take them from, in place of the repository."),
    ] = None,
    json: Json = False,
) -> int:
    """Download a benchmark's upstream files; each is checked against its SHA-256."""
    from seal.pools.catalogue import find_entry
    from seal.pools.downloads import fetch

    with output(json) as result, progress() as advance:
        entry = find_entry(name)
        data = Path(os.environ.get("SEAL_DATA") or "data")
        folder = out or data / (entry.folder or entry.name)
        report = asdict(fetch(name, folder, mirror, advance))
        result.result(report)
        result.show(
            *field_lines(report),
            f"import them: seal import {entry.importer} {folder} --out POOL",
        )
    return 0
