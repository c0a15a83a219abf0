"""What people think of an assistant's words: items to rate, out to a file and in from several.

A sample of turns is written as CSV, blind: no name of a system, model or run stands in it, and an
item's id says nothing. Each file that comes back is one rater's, unless its column `rater` names
others; a rating is a whole number. Ratings are kept in the run's `human.json`; the report and the
summary read it. Files that come in later add to it, and a rater's later rating of an item replaces
the earlier one; of files that come in together no two rows may be of one rater and item.

Source: DialogTool, table 3, column Human (1 to 5); agreement is Krippendorff's alpha (Computing
Krippendorff's alpha-reliability, 2011), ordinal, by the package `krippendorff`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Any, Literal

from seal.core.canonical import derive_seed, digest
from seal.core.errors import DataError, MissingExtraError, OptionError, shortened
from seal.core.records import CsvRows, write_csv
from seal.pools.benchmark import part_of
from seal.runs.run_folder import HUMAN, Human, RunFolder, human_summary, read_human

COLUMNS = ("item", "role", "user", "assistant", "rating", "rater")
LOWEST, HIGHEST = 1, 5
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""Beginnings that a spreadsheet takes for a formula."""


@dataclass(frozen=True, slots=True)
class Item:
    """One turn to rate."""

    id: str
    role: str
    """The character that the assistant played, as it is described; empty where it played none."""
    user: str
    """What the user said last."""
    assistant: str


@dataclass(frozen=True, slots=True)
class Imported:
    """What files of ratings brought."""

    human: Human
    taken: int
    """Ratings that were taken from these files."""
    empty: int
    """Rows without a rating."""
    problems: tuple[str, ...]
    """Rows that were not taken, by file and line, with the reason."""


def export_items(run: RunFolder, out: Path, n: int = 50, seed: int = 0) -> int:
    """Write a sample of a run's turns to rate, in random order.

    Args:
        run: The run.
        out: The CSV file, in UTF-8.
        n: Turns, at most; at least 1.
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
    shown = ((item.id, *map(harmless, (item.role, item.user, item.assistant))) for item in chosen)
    write_csv(out, COLUMNS, ([*row, "", ""] for row in shown))
    return len(chosen)


def import_ratings(run: RunFolder, files: Sequence[Path]) -> Imported:
    """Take ratings in and write the run's `human.json` and its summary.

    What cannot be taken is named and counted, and the rest is taken.

    Args:
        run: The run that was exported.
        files: Each one rater's, or with a column `rater`.

    Raises:
        DataError: A file lacks the columns `item` and `rating`; a rater rated an item twice in
            these files: nothing is taken, and both lines are named.
        MissingExtraError: Raters share items, and krippendorff is not installed.
    """
    known = {item.id for item in items_of(run)}
    before = read_human(run)
    ratings = {item: dict(of) for item, of in (before.ratings if before else {}).items()}
    problems: list[str] = []
    counts: Counter[str] = Counter()
    places: dict[tuple[str, str], str] = {}
    for path in files:
        for row in _rows(path):
            if isinstance(row, str):
                problems.append(row)
            elif not row.rating:
                counts["empty"] += 1
            else:
                problem = _problem(row, known)
                if problem:
                    problems.append(f"{row.where}: {problem}")
                    continue
                first = places.setdefault((row.item, row.rater), row.where)
                if first is not row.where:
                    raise DataError(
                        f"{row.where}: {row.rater} rated item {row.item} in {first} already; "
                        "leave one of both rows in, and import the files again"
                    )
                ratings.setdefault(row.item, {})[row.rater] = float(row.rating)
                counts["taken"] += 1
    human = _human(ratings)
    run.write_json(HUMAN, asdict(human))
    told = human_summary(run)
    if (run.path / "summary.json").is_file():
        run.write_json("summary.json", {**run.summary(), **told})
    return Imported(human, counts["taken"], counts["empty"], tuple(problems))


def harmless(text: str) -> str:
    """Return a text that no spreadsheet runs as a formula: one gets an apostrophe before it."""
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA) else text


def items_of(run: RunFolder) -> Iterator[Item]:
    """Yield the turns of a run that its benchmark gives people to rate; none of failed chats."""
    rated = part_of(run.benchmark(), "rated")
    if rated is None:
        return
    tasks = {task.id: task for task in run.tasks()}
    for trajectory in run.trajectories():
        task = tasks.get(trajectory.task_id)
        if task is None or trajectory.failed:
            continue
        for goal, character, text in rated(task, trajectory):
            # What was said is part of the id, so that no rating goes to another run's words.
            name = digest([task.id, trajectory.trial, goal, text])[:12]
            yield Item(name, character, task.goals[goal].text, text)


@dataclass(frozen=True, slots=True)
class _Row:
    where: str
    item: str
    rating: str
    rater: str


def _rows(path: Path) -> Iterator[_Row | str]:
    """Yield the rows of a file; a text for one that is none.

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
        yield _Row(where, fields["item"], fields["rating"], fields.get("rater") or path.stem)


def _problem(row: _Row, known: set[str]) -> str:
    if row.item not in known:
        return f"unknown item {shortened(row.item)}"
    try:
        value = float(row.rating)
    except ValueError:
        return f"rating {shortened(row.rating)} is no number"
    if not LOWEST <= value <= HIGHEST:
        return f"rating {row.rating} is off the scale from {LOWEST} to {HIGHEST}"
    if not value.is_integer():
        return f"rating {row.rating} is no whole number from {LOWEST} to {HIGHEST}"
    return ""


def _human(ratings: Mapping[str, Mapping[str, float]]) -> Human:
    means = [sum(of.values()) / len(of) for of in ratings.values()]
    raters = sorted({rater for of in ratings.values() for rater in of})
    return Human(
        sum(means) / len(means) if means else None,
        alpha_of(ratings, raters, "ordinal"),
        len(ratings),
        len(raters),
        {item: dict(of) for item, of in sorted(ratings.items())},
    )


def alpha_of(
    ratings: Mapping[str, Mapping[str, float]],
    raters: Sequence[str],
    level: Literal["nominal", "ordinal"],
) -> float | None:
    """Return Krippendorff's alpha, at most 1; None where it says nothing.

    Args:
        ratings: Item to rater to rating.
        raters: All of them.
        level: Of measurement.

    Raises:
        MissingExtraError: It is needed, and krippendorff is not installed.
    """
    shared = [of for of in ratings.values() if len(of) > 1]
    if len({value for of in shared for value in of.values()}) < 2:
        return None
    try:
        import krippendorff
    except ImportError as error:
        raise MissingExtraError("krippendorff", "dialogue") from error
    table: list[list[Any]] = [[of.get(rater, float("nan")) for of in shared] for rater in raters]
    return float(krippendorff.alpha(table, level_of_measurement=level))
