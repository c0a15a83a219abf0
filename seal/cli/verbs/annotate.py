"""Let people judge what an assistant said or did: write a file for them, read theirs."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from seal.cli.groups import argument, option, verb
from seal.cli.options import JSON, new_app, new_file
from seal.cli.output import Output, output

if TYPE_CHECKING:
    from seal.experiments.annotation import Imported
    from seal.experiments.goal_sheets import ImportedLabels

_ASKED = {
    "turns": "turns to rate from 1 to 5 in the column rating",
    "verdicts": "goals to label solved, unsolved or unsure in the column label",
}
SHOWN = 20
"""Problems that the terminal lists; `--json` has all."""

app = new_app("Let people rate turns of dialogues from 1 to 5, or label goals as solved or not.")


@verb(app)
def export(
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


@verb(app, name="import")
def import_(
    run: Path = argument("Run folder.", metavar="RUN"),
    files: list[Path] = argument("Files with ratings or labels, one a rater.", metavar="FILE..."),
    json: bool = JSON,
) -> int:
    """Read ratings or labels that people gave.

    The exit code is 1 if some rows could not be used.
    """
    from seal.api.results import import_sheets
    from seal.experiments.annotation import Imported

    with output(json) as result:
        found = import_sheets(run, files)
        if isinstance(found, Imported):
            _show_ratings(result, found)
        else:
            _show_labels(result, found, run)
    return int(bool(found.problems))


def _show_ratings(result: "Output", found: "Imported") -> None:
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
    _show_problems(result, found.problems)
    mean = "n/a" if human.mean is None else f"{human.mean:.2f}"
    result.show(
        f"{found.taken} ratings taken, {found.empty} rows without one, "
        f"{len(found.problems)} not taken",
        f"{human.items} items by {human.raters} raters: mean {mean}, {_alpha(human.alpha)}",
    )


def _show_labels(result: "Output", found: "ImportedLabels", run: Path) -> None:
    told = found.record()
    result.result(told)
    _show_problems(result, found.problems)
    result.show(
        f"{found.taken} labels taken, {found.empty} rows without one, "
        f"{len(found.problems)} not taken",
        f"{told['goals']} goals by {told['raters']} raters: {told['solved']} solved, "
        f"{told['unsolved']} unsolved, {told['undecided']} undecided, {_alpha(found.alpha)}",
    )
    if told["goals"]:
        audit = f"seal score {run} --judge-model MODEL --audit {found.kept}"
        result.show(f"hold a judge against them: {audit}")


def _show_problems(result: "Output", problems: Sequence[str]) -> None:
    result.show(*problems[:SHOWN])
    more = len(problems) - SHOWN
    if more > 0:
        result.show(f"... and {more} more rows that were not taken (--json lists all)")


def _alpha(value: float | None) -> str:
    return f"Krippendorff's alpha {'n/a' if value is None else f'{value:.3f}'}"
