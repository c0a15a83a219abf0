"""People's ratings of an assistant's turns: a sample goes out to a file, ratings come back.

The sample is a CSV file. A row has a turn, the dialogue before it, its calls with their results,
and the gold calls, results and words. The file is blind: it names no system, model or run, and the
ids of items tell nothing. A file that comes back has the ratings of one rater, unless its column
`rater` names others. A rating is a whole number.

Ratings are kept in the run's `human.json`, which the report and the summary read. A later import
adds ratings; a rater's new rating of an item replaces the old one. Within one import, no rater may
rate an item twice.

Source: DialogTool, table 3, column Human (1 to 5). Agreement is Krippendorff's alpha, ordinal.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

from seal.core import DataError, OptionError, shortened
from seal.core.canonical import derive_seed, digest
from seal.core.csv_tables import CsvRows, write_csv
from seal.evaluation.goals import goal_steps
from seal.experiments.goal_sheets import done_in, said_in
from seal.experiments.sheets import Judgements, SheetRow, alpha_of, harmless
from seal.pools.benchmark import part_of
from seal.runs.run_folder import HUMAN, Ratings, RunFolder, human_summary, read_human

COLUMNS = ("item", "role", "dialogue", "user", "calls", "gold", "assistant", "rating", "rater")
LOWEST, HIGHEST = 1, 5


@dataclass(frozen=True, slots=True)
class Item:
    """One turn to rate."""

    id: str
    role: str
    """Description of the character that the assistant played; empty: it played none."""
    dialogue: str
    """What was said before, one line a turn; with the history `gold`, the gold replies."""
    user: str
    """What the user said last."""
    calls: str
    """The calls of this turn with their results."""
    gold: str
    """The gold calls with their results, and the gold reply; empty: there are none."""
    assistant: str


@dataclass(frozen=True, slots=True)
class ImportedRatings:
    """What an import of ratings took in."""

    human: Ratings
    taken: int
    """Number of ratings that were taken from these files."""
    empty: int
    """Number of rows without a rating."""
    problems: tuple[str, ...]
    """The rows that were not taken: file, line and reason."""


def export_items(run: RunFolder, out: Path, n: int = 50, seed: int = 0) -> int:
    """Write a sample of a run's turns to rate, in random order.

    Args:
        run: The run.
        out: The CSV file, in UTF-8.
        n: Most turns; at least 1.
        seed: The same seed and run give the same file.

    Returns:
        How many turns were written.

    Raises:
        OptionError: n is less than 1.
        DataError: The run has no turn to rate.
    """
    if n < 1:
        raise OptionError(f"--n {n}: expected 1 or more")
    items = list(items_of(run))
    if not items:
        raise DataError(
            f"{run.path}: nothing to rate: its benchmark has no turns for people to rate, or "
            "nobody said a word in them; play one of dialogues, such as dialogtool-sample"
        )
    draw = Random(derive_seed(seed, "annotation"))
    chosen = draw.sample(items, min(n, len(items)))
    shown = (
        (item.id, *map(harmless, (getattr(item, name) for name in COLUMNS[1:-2])))
        for item in chosen
    )
    write_csv(out, COLUMNS, ([*row, "", ""] for row in shown))
    return len(chosen)


def import_ratings(run: RunFolder, files: Sequence[Path]) -> ImportedRatings:
    """Take ratings in and write the run's `human.json` and its summary.

    Rows that cannot be taken are listed in the result; the other rows are taken.

    Args:
        run: The run that was exported.
        files: Each has the ratings of one rater, or a column `rater`.

    Raises:
        DataError: A file lacks the column `item` or `rating`. Or a rater rated an item twice in
            these files: then nothing is taken, and the text names both lines.
        MissingExtraError: Several raters rated the same item, and krippendorff is not installed.
    """
    known = {item.id for item in items_of(run)}
    rows = (row for path in files for row in _rows(path, known))
    found = Judgements.of(rows, "rated item {}".format)
    before = read_human(run)
    human = _human(found.over(before.ratings if before else {}))
    run.write_json(HUMAN, asdict(human))
    if run.is_scored:
        run.write_json("summary.json", {**run.summary(), **human_summary(run)})
    return ImportedRatings(human, found.taken, found.empty, found.problems)


def items_of(run: RunFolder) -> Iterator[Item]:
    """Yield the turns that the run's benchmark wants people to rate, without failed chats."""
    rated = part_of(run.benchmark(), "rated")
    if rated is None:
        return
    of_gold = run.manifest()["measure"].get("history") == "gold"
    for task, trajectory in run.chats():
        if trajectory.failed:
            continue
        before = [said_in(step) for step in task.history if step.content.strip()]
        turns = {place: told for place, *told in rated(task, trajectory)}
        for place, goal in enumerate(task.goals):
            character, text = turns.get(place, ("", ""))
            if text:
                done = done_in(goal_steps(trajectory, place), (goal.text, text))
                calls, gold = ("\n".join(lines) for lines in (done, done_in(goal.reference)))
                # The id depends on the words, so that no rating goes to another run's words.
                name = digest([task.id, trajectory.trial, place, text])[:12]
                yield Item(name, character, "\n".join(before), goal.text, calls, gold, text)
            reply = goal.reference[-1].content if of_gold and goal.reference else text
            before += [f"user: {goal.text}", f"assistant: {reply}"]


def _rows(path: Path, known: Collection[str]) -> Iterator[SheetRow[str, float] | str]:
    """Yield the rows of a file; for a row that cannot be taken, a text with the reason.

    Raises:
        DataError: The file cannot be read, or lacks a column.
    """
    rows = CsvRows(path, "ratings")
    lacking = {"item", "rating"} - {*rows.columns}
    if lacking:
        raise DataError(
            f"{path}: no column {', '.join(sorted(lacking))}; expected {', '.join(COLUMNS)}"
        )
    for row in rows:
        if isinstance(row, str):
            yield row
            continue
        where, fields = row
        item, rating = fields["item"], fields["rating"]
        problem = _problem(item, rating, known) if rating else ""
        value = float(rating) if rating and not problem else None
        given = SheetRow(where, item, value, fields.get("rater") or path.stem)
        yield f"{where}: {problem}" if problem else given


def _problem(item: str, rating: str, known: Collection[str]) -> str:
    if item not in known:
        return f"unknown item {shortened(item)}"
    try:
        value = float(rating)
    except ValueError:
        return f"rating {shortened(rating)} is no number"
    if not LOWEST <= value <= HIGHEST:
        return f"rating {rating} is off the scale from {LOWEST} to {HIGHEST}"
    if not value.is_integer():
        return f"rating {rating} is no whole number from {LOWEST} to {HIGHEST}"
    return ""


def _human(ratings: Mapping[str, Mapping[str, float]]) -> Ratings:
    means = [sum(of.values()) / len(of) for of in ratings.values()]
    return Ratings(
        sum(means) / len(means) if means else None,
        alpha_of(ratings, "ordinal"),
        len(ratings),
        len({rater for of in ratings.values() for rater in of}),
        {item: dict(of) for item, of in sorted(ratings.items())},
    )
