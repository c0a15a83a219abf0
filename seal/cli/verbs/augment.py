"""Write a benchmark again with distraction tools or scrambled ones."""

from pathlib import Path
from typing import Annotated

import typer

from seal.cli.options import Json, Pool, new_app
from seal.cli.output import field_lines, output

app = new_app()


@app.command()
def command(
    pool: Pool,
    augment: Annotated[
        list[str],
        typer.Option(
            metavar="WHAT[,WHAT...]",
            help="distraction=N, distraction=all, names, descriptions, argument-descriptions, "
            "argument-types, or several joined by commas; repeated, each gives every task once "
            "more. toolsandbox: the eight of its paper.",
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder to write; `seal run` takes it.")],
    json: Json = False,
) -> int:
    """Write a benchmark again, each task with distraction tools or with scrambled ones."""
    from seal.pools.augment import augment_stored, parse_augmentations
    from seal.pools.lookup import open_pool

    with output(json) as result:
        report = augment_stored(open_pool(pool), out, parse_augmentations(augment)).to_json()
        result.result(report)
        result.show(*field_lines(report), f"written to {out}; play it: seal run {out}")
    return 0
