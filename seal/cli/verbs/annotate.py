"""Let people rate what an assistant said: items out to a file, ratings in from several."""

from pathlib import Path
from typing import Annotated

import typer

from seal.cli.options import Json, new_app
from seal.cli.output import output

SHOWN = 20
"""Problems that the terminal lists; `--json` has all."""

app = new_app("Let people rate what an assistant said, from 1 to 5.")


@app.command()
def export(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The CSV file to write.")],
    n: Annotated[int, typer.Option(help="Turns to rate.")] = 50,
    seed: Annotated[int, typer.Option(help="Of the sample and its order.")] = 0,
    json: Json = False,
) -> int:
    """Write a sample of a run's turns to rate, without the system's name."""
    from seal.pipeline.annotation import export_items
    from seal.pipeline.run_folder import RunFolder

    with output(json) as result:
        written = export_items(RunFolder.open(run), out, n, seed)
        result.result({"file": str(out), "items": written})
        result.show(f"{written} turns to rate from 1 to 5 in the column rating: {out}")
    return 0


@app.command("import")
def import_(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    files: Annotated[list[Path], typer.Argument(help="Files of ratings, each one rater's.")],
    json: Json = False,
) -> int:
    """Take ratings in; exits with 1 where some rows could not be taken."""
    from seal.pipeline.annotation import import_ratings
    from seal.pipeline.run_folder import RunFolder

    with output(json) as result:
        found = import_ratings(RunFolder.open(run), files)
        human = found.human
        result.result(
            {
                "taken": found.taken,
                "empty": found.empty,
                "problems": list(found.problems),
                "mean": human.mean,
                "alpha": human.alpha,
                "items": human.items,
                "raters": human.raters,
            }
        )
        result.show(*found.problems[:SHOWN])
        more = len(found.problems) - SHOWN
        if more > 0:
            result.show(f"... and {more} more rows that were not taken (--json lists all)")
        mean = "n/a" if human.mean is None else f"{human.mean:.2f}"
        alpha = "n/a" if human.alpha is None else f"{human.alpha:.3f}"
        result.show(
            f"{found.taken} ratings taken, {found.empty} rows without one, "
            f"{len(found.problems)} not taken",
            f"{human.items} items by {human.raters} raters: mean {mean}, "
            f"Krippendorff's alpha {alpha}",
        )
    return int(bool(found.problems))
