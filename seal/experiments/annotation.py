"""People's judgements of a run: a sample goes out as a sheet, and what raters say comes back.

Of a run's turns, people rate how good they are (`RATING`); of its goals, they say whether they are
solved (`LABEL`). Both are one sheet. It is blind: it names no system,
model or run, has no verdict, and the ids of items tell nothing. In a sample of goals each verdict
of the judge has the same share as in the run, and appears at least once. So an audit of the sample
holds for the run; `seal.experiments.judging` takes the sheet as it is.

Ratings are kept in the run's `human.json`, which the report and the summary read, and labels in its
`labels.csv`, which an audit takes too. A later import adds to them; a rater's new value of an item
replaces the old one. Within one import, no rater may judge an item twice.

Source of the ratings: DialogTool, table 3, column Human (1 to 5).
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Any, Generic, Literal, TypeVar

from seal.core import JSON, DataError, OptionError, Step, needing, shortened
from seal.core.conditions import SYSTEM
from seal.core.values import derive_seed, digest
from seal.evaluation.agreement import Case
from seal.evaluation.goals import USER, answer_of, goal_steps, made_calls
from seal.evaluation.panel import majority
from seal.evaluation.pass_rates import METRICS
from seal.pools.benchmark import part_of
from seal.pools.reading.tables import CsvRows, escaped, unescaped, write_csv
from seal.runs.run import HUMAN, Ratings, RunFolder, check_whole, human_summary, read_human

# -- The sheet that people fill in: a row has an item, a question, a rater and the rater's value.
#
# It is a CSV file. Between the question and the value stands what a person must see; a question
# leaves some of that empty. A sheet that comes back has the values of one rater, unless its column
# `rater` names others.
#
# Sheets of former versions are read too: there the column of values has the name of its question. A
# question about goals also takes a table of `task_id`, `trial` and `goal`, the last two 0 by
# default.
#
# The package `krippendorff` computes agreement, which is Krippendorff's alpha (Computing
# Krippendorff's alpha-reliability, 2011).

Asked = TypeVar("Asked", bound=Hashable)
SHOWN = ("role", "before", "asked", "calls", "gold", "answer")
"""Columns of what a person sees: the character that the assistant played, what was said before and
asked last, the calls with their results, the gold calls with theirs, and the assistant's words."""
COLUMNS = ("item", "question", *SHOWN, "value", "rater")
_PLACE = ("task_id", "trial", "goal")


@dataclass(frozen=True, slots=True)
class Question:
    """What people are asked of each item."""

    name: str
    """Column of the values in sheets of former versions."""
    text: str
    values: tuple[str, ...]
    """The answers that there are, in their order."""
    level: Literal["nominal", "ordinal"]
    """Of measurement."""


RATING = Question("rating", "How good is this turn, from 1 to 5?", tuple("12345"), "ordinal")
LABEL = Question(
    "label",
    "Is it solved, unsolved, or are you unsure?",
    ("solved", "unsolved", "unsure"),
    "nominal",
)
QUESTIONS = (RATING, LABEL)


@dataclass(frozen=True, slots=True)
class SheetRow(Generic[Asked]):
    """What one row of a sheet says."""

    where: str
    """File and line."""
    item: Asked
    value: str | None
    """None: the rater left it empty."""
    rater: str


@dataclass(frozen=True, slots=True)
class Judgements(Generic[Asked]):
    """What people say of items."""

    votes: Mapping[Asked, Mapping[str, str]]
    """Item to rater to value."""
    empty: int = 0
    """Rows without a value."""
    problems: tuple[str, ...] = ()
    """Rows that were not taken, by file and line, with the reason."""

    @classmethod
    def of(cls, rows: Iterable[SheetRow[Asked] | str], once: bool = False) -> Judgements[Asked]:
        """Return what rows say; a rater's later value of an item replaces the earlier one.

        Args:
            rows: Of one sheet or several; a text says why a row was not taken.
            once: Two rows of a rater and an item are refused.

        Raises:
            DataError: Names both rows.
        """
        votes: dict[Asked, dict[str, str]] = {}
        problems: list[str] = []
        places: dict[tuple[Asked, str], str] = {}
        empty = 0
        for row in rows:
            if isinstance(row, str):
                problems.append(row)
            elif row.value is None:
                empty += 1
            else:
                first = places.setdefault((row.item, row.rater), row.where)
                if once and first is not row.where:
                    raise DataError(
                        f"{row.where}: {row.rater} judged {named(row.item)} in {first} already; "
                        "leave one of both rows in, and import the files again"
                    )
                votes.setdefault(row.item, {})[row.rater] = row.value
        return cls(votes, empty, tuple(problems))

    def over(self, before: Mapping[Asked, Mapping[str, str]]) -> dict[Asked, dict[str, str]]:
        """Return earlier values of items with these in the place of their raters' own."""
        both = {item: dict(of) for item, of in before.items()}
        for item, of in self.votes.items():
            both.setdefault(item, {}).update(of)
        return both

    @property
    def raters(self) -> tuple[str, ...]:
        """Names of the raters who gave a value."""
        return tuple(sorted({rater for of in self.votes.values() for rater in of}))

    @property
    def taken(self) -> int:
        """Number of values."""
        return sum(map(len, self.votes.values()))


def question_of(path: Path) -> Question:
    """Return the question that a sheet answers.

    Raises:
        DataError: The file cannot be read, or answers none.
    """
    rows = CsvRows(path, "ratings or labels")
    asked = {row[1].get("question") for row in rows if not isinstance(row, str)}
    for question in QUESTIONS:
        if question.name in rows.columns or question.text in asked:
            return question
    raise DataError(
        f"{path}: no column value with a question that SEAL asks; expected the columns of `seal "
        "annotate export`, or task_id and label"
    )


def read_sheet(
    path: Path, question: Question, items: Mapping[str, Asked]
) -> Iterator[SheetRow[Asked] | str]:
    """Yield the rows of a sheet; for a row that cannot be taken, a text with the reason.

    Args:
        path: The file.
        question: That it answers.
        items: Id of each item to the item; of a question about goals, to the `Case`.

    Raises:
        DataError: The file cannot be read, or lacks a column.
    """
    rows = CsvRows(path, f"{question.name}s")
    by_place = question is LABEL and "task_id" in rows.columns
    given = "value" if "value" in rows.columns else question.name
    lacking = [name for name in ("item", given) if name not in rows.columns]
    if by_place and "item" in lacking:
        lacking.remove("item")
    if lacking:
        raise DataError(
            f"{path}: no column {', '.join(lacking)}; expected {', '.join(COLUMNS)}, as of `seal "
            "annotate export`"
            + (f", or {', '.join(_PLACE)}, {LABEL.name}" if question is LABEL else "")
        )
    for row in rows:
        if isinstance(row, str):
            yield row
            continue
        where, fields = row
        value, own = _plain(fields[given]), fields.get("item", "")
        item: Any = items.get(own) if own or not by_place else _place(fields)
        if not value:
            yield SheetRow(where, item, None, "")
        elif value not in question.values:
            told = f"{question.name} {shortened(fields[given])}"
            yield f"{where}: {told}: expected {', '.join(question.values)}"
        elif item is None:
            yield f"{where}: item {shortened(own)} is none of this run"
        elif isinstance(item, str) and by_place:
            yield f"{where}: {item}"
        else:
            yield SheetRow(where, item, value, unescaped(fields.get("rater") or path.stem))


def _plain(text: str) -> str:
    """Return a value as questions have it: in lower case, and 4.0 as 4."""
    with suppress(ValueError):
        number = float(text)
        if number.is_integer():
            return str(int(number))
    return text.lower()


def _place(fields: Mapping[str, str]) -> Case | str:
    """Return the goal of a row without an item; a text with the reason if it does not tell."""
    numbers = [fields.get(name) or "0" for name in _PLACE[1:]]
    if not all(number.isascii() and number.isdecimal() for number in numbers):
        return f"trial and goal {', '.join(numbers)}: expected whole numbers"
    return unescaped(fields["task_id"]), int(numbers[0]), int(numbers[1])


def named(item: Hashable) -> str:
    """Return an item as messages call it."""
    if isinstance(item, tuple):
        return ", ".join(
            f"{name} {part}" for name, part in zip(("task", *_PLACE[1:]), item, strict=True)
        )
    return f"item {item}"


def alpha_of(votes: Mapping[Any, Mapping[str, str]], question: Question) -> float | None:
    """Return Krippendorff's alpha, at most 1.

    None: no two raters judged the same item, or all values are equal.

    Args:
        votes: Item to rater to value.
        question: That they answer.

    Raises:
        MissingExtraError: krippendorff is needed and not installed.
    """
    raters = sorted({rater for of in votes.values() for rater in of})
    shared = [of for of in votes.values() if len(of) > 1]
    if len({value for of in shared for value in of.values()}) < 2:
        return None
    with needing("krippendorff", "dialogue"):
        import krippendorff
    table = [
        [float(question.values.index(of[rater])) if rater in of else float("nan") for of in shared]
        for rater in raters
    ]
    return float(krippendorff.alpha(table, level_of_measurement=question.level))


# -- What is judged of a run goes out as a sheet, and what raters say comes back.

LABELS_FILE = "labels.csv"
"""File of a run folder that holds the labels."""
_KEPT_COLUMNS = ("item", "task_id", "trial", "goal", "label", "rater")
_LONGEST = 1_000
"""Characters of a result that are shown."""


@dataclass(frozen=True, slots=True)
class Item:
    """A turn or a goal, and what a person sees of it."""

    id: str
    case: Case
    role: str
    """Description of the character that the assistant played; empty: it played none."""
    before: str
    """What was said before, one line a turn; with the history `gold`, the gold replies."""
    asked: str
    """What the user said last."""
    calls: str
    """The calls of this turn with their results."""
    gold: str
    """The gold calls with their results, and the gold reply; empty: there are none, or none are
    shown."""
    answer: str


@dataclass(frozen=True, slots=True)
class ImportedSheets:
    """What an import of sheets took in."""

    question: Question
    votes: Mapping[Any, Mapping[str, str]]
    """Item, or goal, to rater to value: all of the run, also those of earlier imports."""
    taken: int
    """Number of values that were taken from these files."""
    empty: int
    """Number of rows without a value."""
    problems: tuple[str, ...]
    """The rows that were not taken: file, line and reason."""
    alpha: float | None
    """Krippendorff's alpha; None: no two raters judged the same item, or all values are equal."""
    kept: Path
    """File of all values."""

    def record(self) -> dict[str, JSON]:
        """Return the import as JSON; solved, unsolved and undecided count goals."""
        told: dict[str, JSON] = {name: getattr(self, name) for name in ("taken", "empty")}
        told["problems"] = list(self.problems)
        raters = len(Judgements(self.votes).raters)
        if self.question is RATING:
            human = human_of(self.votes, self.alpha)
            counts = {"items": human.items, "raters": raters}
            return {**told, "mean": human.mean, "alpha": human.alpha, **counts}
        solved = Counter(decided(self.votes).values())
        return told | {
            "goals": len(self.votes),
            "raters": raters,
            "solved": solved[True],
            "unsolved": solved[False],
            "undecided": len(self.votes) - solved.total(),
            "alpha": self.alpha,
            "file": str(self.kept),
        }


def decided(votes: Mapping[Case, Mapping[str, str]]) -> dict[Case, bool]:
    """Return whether goals are solved by the majority of raters, without unsure and tied goals."""
    found = {case: majority(list(of.values())) for case, of in votes.items()}
    return {case: label == "solved" for case, label in found.items() if label in LABEL.values[:2]}


def export_items(run: RunFolder, question: Question, out: Path, n: int = 50, seed: int = 0) -> int:
    """Write a sample of a run's turns or goals to judge, in random order.

    Args:
        run: The run; if it is scored, a sample of goals has the shares of its judge's verdicts.
        question: What people are asked: it says whether they see turns or goals.
        out: The sheet.
        n: Most items; at least 1.
        seed: The same seed and run give the same file.

    Returns:
        How many were written.

    Raises:
        OptionError: n is less than 1.
        DataError: The run has nothing to judge, or a file of it was cut.
    """
    if n < 1:
        raise OptionError(f"--n {n}: expected 1 or more")
    check_whole(run)
    verdicts = _verdicts(run) if question is LABEL else {}
    strata: defaultdict[str, list[str]] = defaultdict(list)
    for item in items_of(run, question):
        strata[verdicts.get(item.case, "")].append(item.id)
    if not strata and question is LABEL:
        raise DataError(f"{run.path}: nothing to label: no chat ended; play the run again")
    if not strata:
        raise DataError(
            f"{run.path}: nothing to rate: its benchmark has no turns for people to rate, or "
            "nobody said a word in them; play one of dialogues, such as dialogtool-sample"
        )
    draw = Random(derive_seed(seed, "labels" if question is LABEL else "annotation"))
    sizes = allocated({name: len(ids) for name, ids in sorted(strata.items())}, n)
    chosen = [item for name, size in sizes.items() for item in draw.sample(strata[name], size)]
    draw.shuffle(chosen)
    wanted = set(chosen)
    shown = {
        item.id: [getattr(item, name) for name in SHOWN]
        for item in items_of(run, question)
        if item.id in wanted
    }
    rows = ([name, question.text, *map(escaped, shown[name]), "", ""] for name in chosen)
    write_csv(out, COLUMNS, rows)
    return len(chosen)


def import_sheets(run: RunFolder, files: Sequence[Path]) -> ImportedSheets:
    """Take ratings or labels in, and write the run's `human.json` and summary, or `labels.csv`.

    Rows that cannot be taken are listed in the result; the other rows are taken.

    Args:
        run: The run that was exported.
        files: All of one question; each has the values of one rater, or a column `rater`.

    Raises:
        DataError: A file cannot be read or lacks a column, or the files answer several questions.
            Or a rater judged an item twice in these files: then nothing is taken, and the text
            names both lines.
        MissingExtraError: Several raters judged the same item, and krippendorff is not installed.
    """
    asked = [question_of(path) for path in files]
    question = asked[0] if asked else RATING
    for path, other in zip(files, asked, strict=True):
        if other is not question:
            raise DataError(
                f"{path} has {other.name}s, {files[0]} has {question.name}s; import them apart"
            )
    names = {item.id: item.case for item in items_of(run, question)}
    known: dict[str, Any] = {name: name for name in names} if question is RATING else {**names}
    cases = {*known.values()}
    rows = (row for path in files for row in read_sheet(path, question, known))
    found = Judgements.of((_of_run(row, cases) for row in rows), once=True)
    before: Judgements[Any]
    if question is RATING:
        kept, human = run.path / HUMAN, read_human(run)
        rated = human.ratings if human else {}
        before = Judgements(
            {
                item: {who: str(int(value)) for who, value in of.items()}
                for item, of in rated.items()
            }
        )
    else:
        kept = run.path / LABELS_FILE
        before = Judgements.of(read_sheet(kept, LABEL, known) if kept.is_file() else ())
    votes = found.over(before.votes)
    alpha = alpha_of(votes, question)
    if question is LABEL:
        ids = {case: name for name, case in names.items()}
        lines = (
            [ids[case], escaped(case[0]), case[1], case[2], label, escaped(rater)]
            for case, of in sorted(votes.items())
            for rater, label in sorted(of.items())
        )
        write_csv(kept, _KEPT_COLUMNS, lines)
    else:
        run.write_json(HUMAN, asdict(human_of(votes, alpha)))
        if run.is_scored:
            run.write_json("summary.json", {**run.summary(), **human_summary(run)})
    problems = (*before.problems, *found.problems)
    return ImportedSheets(question, votes, found.taken, found.empty, problems, alpha, kept)


def _of_run(row: SheetRow[Any] | str, played: Collection[Any]) -> SheetRow[Any] | str:
    if isinstance(row, str) or row.value is None or row.item in played:
        return row
    return f"{row.where}: {named(row.item)}: the run did not play it"


def human_of(votes: Mapping[str, Mapping[str, str]], alpha: float | None) -> Ratings:
    """Return what a run keeps of ratings."""
    ratings = {
        item: {rater: float(value) for rater, value in of.items()}
        for item, of in sorted(votes.items())
    }
    means = [sum(of.values()) / len(of) for of in ratings.values()]
    return Ratings(
        sum(means) / len(means) if means else None,
        alpha,
        len(ratings),
        len(Judgements(votes).raters),
        ratings,
    )


def items_of(run: RunFolder, question: Question) -> Iterator[Item]:
    """Yield what people judge of a run, without failed chats.

    To rate: the turns that its benchmark names. To label: every goal, without role and gold.
    """
    rated = part_of(run.benchmark(), "rated") if question is RATING else None
    if question is RATING and rated is None:
        return
    of_gold = rated and run.manifest()["measure"].get("history") == "gold"
    for task, trajectory in run.chats():
        if trajectory.failed:
            continue
        before = [said_in(step) for step in task.before if step.content.strip()]
        turns = {place: told for place, *told in rated(task, trajectory)} if rated else {}
        for place, goal in enumerate(task.goals):
            role, answer = turns.get(place, ("", ""))
            if rated is None:
                answer = answer_of(trajectory, place) or ""
            done = "\n".join(done_in(goal_steps(trajectory, place), (goal.text, answer)))
            case = (task.id, trajectory.trial, place)
            # The id depends on what was said and done, so that no value goes to another run's.
            told = [*case, answer] if rated else [*case, done, answer]
            name = f"{'' if rated else 'g'}{digest(told)[:12]}"
            if answer or rated is None:
                gold = "\n".join(done_in(goal.reference)) if rated else ""
                yield Item(name, case, role, "\n".join(before), goal.text, done, gold, answer)
            reply = goal.reference[-1].content if of_gold and goal.reference else answer
            before += [f"user: {goal.text}", f"assistant: {reply}"]


def allocated(sizes: Mapping[str, int], n: int) -> dict[str, int]:
    """Return how many of each stratum a sample takes: by its share, and at least one if n allows.

    Args:
        sizes: Name of a stratum to its size, at least 1.
        n: Size of the sample; a larger n takes all there are.
    """
    total = sum(sizes.values())
    n = min(n, total)
    shares = {name: n * size / total for name, size in sizes.items()}
    least = int(n >= len(sizes))
    taken = {name: max(least, int(share)) for name, share in shares.items()}
    while sum(taken.values()) < n:
        taken[max(sizes, key=lambda name: shares[name] - taken[name])] += 1
    while sum(taken.values()) > n:
        more = [name for name in sizes if taken[name] > 1]
        taken[max(more, key=lambda name: taken[name] - shares[name])] -= 1
    return taken


def _verdicts(run: RunFolder) -> dict[Case, str]:
    """Return the verdicts of the first judge that judged the run."""
    if not run.scores_path.is_file():
        return {}
    found: defaultdict[str, dict[Case, str]] = defaultdict(dict)
    for score in run.scores():
        if score.metric in METRICS.values() and score.value is not None:
            label = score.details.get("label") or str(score.value)
            found[score.metric][score.task_id, score.trial, score.goal] = str(label)
    return next((found[name] for name in METRICS.values() if name in found), {})


def said_in(step: Step) -> str:
    """Return a step as a line of a sheet, such as `user: Hello`."""
    who = {USER: "user", SYSTEM: "system"}.get(step.author, "assistant")
    return f"{who}: {step.content}"


def done_in(steps: Sequence[Step], known: Collection[str] = ()) -> Iterator[str]:
    """Yield the calls with their results, and what was said between them except `known`."""
    made = {call.id for call in made_calls(steps)}
    results = {step.result.call_id: step.result for step in steps if step.result is not None}
    for step in steps:
        if step.call is not None and step.call.id in made:
            call = step.call
            arguments = call.raw if call.arguments is None else _text(call.arguments)
            brought = results.get(call.id)
            yield f"{call.name}({arguments})"
            yield f"  -> {'' if brought is None else _cut(_text(brought.content))}"
        elif _heard(step) and step.content not in known:
            yield said_in(step)


def _heard(step: Step) -> bool:
    """Tell whether a step is talk between user and assistant; a checker's words are a verdict."""
    spoken = step.call is None and step.result is None and bool(step.content.strip())
    return spoken and USER in (step.author, step.recipient) and step.author != "checker"


def _cut(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST]}... ({len(text)} characters)"


def _text(value: JSON) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
