"""Let people judge what an assistant said or did: write a file for them, read theirs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from seal.cli.groups import argument, option, verb
from seal.cli.options import JSON
from seal.cli.output import output
from seal.cli.words import new_file
from seal.core.text import counted

_ASKED = {
    "turns": "turns to rate from 1 to 5 in the column value",
    "verdicts": "goals to label solved, unsolved or unsure in the column value",
}
SHOWN = 20
"""Problems that the terminal lists; `--json` has all."""


@verb("annotate", name="export")
def annotate_export(
    run: Path = argument("Run folder.", metavar="RUN"),
    out: Path = option(..., "New CSV file to write.", metavar="FILE", read=new_file),
    what: Literal["auto", "turns", "verdicts"] = option(
        "auto",
        "What people judge: turns, to rate; goals (verdicts), to label as solved or not; or "
        "auto: turns if the benchmark names some, as dialogtool does, else goals.",
    ),
    n: int = option(50, "Number of turns or goals."),
    seed: int = option(0, "Seed of the sample and its order."),
    json: bool = JSON,
) -> int:
    """Write a sample of a run's turns or goals to a file for people.

    The file says neither which system was tested nor what a judge decided.
    """
    from seal.api.results import export_sheet

    with output(json) as result:
        written = export_sheet(run, out, what=what, n=n, seed=seed)
        result.result(written)
        result.show(f"{written['items']} {_ASKED[written['what']]}: {out}")
    return 0


@verb("annotate", name="import")
def annotate_import(
    run: Path = argument("Run folder.", metavar="RUN"),
    files: list[Path] = argument("Files with ratings or labels, one a rater.", metavar="FILE..."),
    json: bool = JSON,
) -> int:
    """Read ratings or labels that people gave.

    The exit code is 1 if some rows could not be used.
    """
    from seal.api.results import import_sheets

    with output(json) as result:
        found = import_sheets(run, files)
        told = found.record()
        result.result(told)
        result.show(*found.problems[:SHOWN])
        more = len(found.problems) - SHOWN
        if more > 0:
            result.show(
                f"... and {counted(more, 'more row')} that were not taken (--json lists all)"
            )
        result.show(
            f"{counted(found.taken, found.question.name)} taken, "
            f"{counted(found.empty, 'row')} without one, {len(found.problems)} not taken",
            _summary(told),
        )
        if told.get("goals"):
            audit = f"seal score {run} --judge-model MODEL --audit {told['file']}"
            result.show(f"compare a judge with them: {audit}")
    return int(bool(found.problems))


def _summary(told: Mapping[str, Any]) -> str:
    """Return what people said, and how far they agree."""
    alpha = f"Krippendorff's alpha {_figure(told['alpha'], 3)}"
    if "items" in told:
        mean = _figure(told["mean"], 2)
        return (
            f"{counted(told['items'], 'item')} by {counted(told['raters'], 'rater')}: mean "
            f"{mean}, {alpha}"
        )
    return (
        f"{counted(told['goals'], 'goal')} by {counted(told['raters'], 'rater')}: "
        f"{told['solved']} solved, "
        f"{told['unsolved']} unsolved, {told['undecided']} undecided, {alpha}"
    )


def _figure(value: float | None, digits: int) -> str:
    return "n/a" if value is None else f"{value:.{digits}f}"
