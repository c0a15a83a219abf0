"""People's labels of goals, solved or not: a sample goes out to a file, labels come in from files.

The sample is a CSV file that says what was asked, done and answered. It is blind: it names no
system, model or run, and has no verdict. In the sample each verdict of the judge has the same share
as in the run, and appears at least once. So an audit of the sample holds for the run;
`seal.experiments.judge_audit` takes the file as it is. Labels of several raters are kept in the
run's `labels.csv`, which an audit takes too.

A file that comes in has a column `label`. The column `item`, an id of the export, names the goal.
So do `task_id`, `trial` and `goal`; the last two are 0 by default. The column `rater` names who
labelled; without it, a file has the labels of one rater. Agreement is Krippendorff's alpha,
nominal.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from seal.core import JSON, DataError, OptionError, Step, Task, Trajectory, shortened
from seal.core.canonical import derive_seed, digest
from seal.core.csv_tables import CsvRows, write_csv
from seal.evaluation.goals import USER, answer_of, goal_steps, made_calls
from seal.evaluation.judges import METRICS
from seal.evaluation.judges.audits import Case
from seal.evaluation.judges.panel import majority
from seal.experiments.sheets import Judgements, SheetRow, alpha_of, harmless
from seal.runs.run_folder import RunFolder

KEPT = "labels.csv"
"""File of a run folder that holds the labels."""
COLUMNS = (
    "item", "before", "query", "calls", "answer", "label", "rater", "task_id", "trial", "goal",
)  # fmt: skip
LABELS = ("solved", "unsolved", "unsure")
_REFERENCES = ("item", "task_id")
_KEPT_COLUMNS = ("item", "task_id", "trial", "goal", "label", "rater")
_LONGEST = 1_000
"""Characters of a result that are shown."""

LabelRow = SheetRow[Case, str]
Labels = Judgements[Case, str]


def decided(labels: Labels) -> dict[Case, bool]:
    """Return whether goals are solved by the majority of raters, without unsure and tied goals."""
    found = {case: majority(list(of.values())) for case, of in labels.votes.items()}
    return {case: label == "solved" for case, label in found.items() if label in LABELS[:2]}


@dataclass(frozen=True, slots=True)
class ImportedLabels:
    """What an import of labels took in."""

    labels: Labels
    """All labels of the run, also those of earlier imports."""
    taken: int
    """Number of labels that were taken from these files."""
    empty: int
    """Number of rows without a label."""
    problems: tuple[str, ...]
    """The rows that were not taken: file, line and reason."""
    alpha: float | None
    """Krippendorff's alpha; None: no two raters labelled the same goal, or all labels are equal."""
    kept: Path
    """File of all labels, for an audit."""

    def record(self) -> dict[str, JSON]:
        """Return the import as JSON; solved, unsolved and undecided count goals."""
        solved = Counter(decided(self.labels).values())
        return {
            "taken": self.taken,
            "empty": self.empty,
            "problems": list(self.problems),
            "goals": len(self.labels.votes),
            "raters": len(self.labels.raters),
            "solved": solved[True],
            "unsolved": solved[False],
            "undecided": len(self.labels.votes) - solved.total(),
            "alpha": self.alpha,
            "file": str(self.kept),
        }


def export_goals(run: RunFolder, out: Path, n: int = 50, seed: int = 0) -> int:
    """Write a sample of a run's goals to label, in random order.

    Args:
        run: The run; if it is scored, the sample has the shares of its judge's verdicts.
        out: The CSV file, in UTF-8.
        n: Most goals; at least 1.
        seed: The same seed and run give the same file.

    Returns:
        How many goals were written.

    Raises:
        OptionError: n is less than 1.
        DataError: No goal of the run was played.
    """
    if n < 1:
        raise OptionError(f"--n {n}: expected 1 or more")
    strata: defaultdict[str, list[Case]] = defaultdict(list)
    verdicts = _verdicts(run)
    for task, trajectory in _played(run):
        for position in range(len(task.goals)):
            case = (task.id, trajectory.trial, position)
            strata[verdicts.get(case, "")].append(case)
    if not strata:
        raise DataError(f"{run.path}: nothing to label: no chat ended; play the run again")
    draw = Random(derive_seed(seed, "labels"))
    sizes = allocated({name: len(cases) for name, cases in sorted(strata.items())}, n)
    chosen = [case for name, size in sizes.items() for case in draw.sample(strata[name], size)]
    draw.shuffle(chosen)
    wanted = set(chosen)
    rows = {case: row for case, row in _rows(run) if case in wanted}
    write_csv(out, COLUMNS, (rows[case] for case in chosen))
    return len(chosen)


def import_labels(run: RunFolder, files: Sequence[Path]) -> ImportedLabels:
    """Take labels in and write the run's `labels.csv`.

    Rows that cannot be taken are listed in the result; the other rows are taken. A rater's new
    label of a goal replaces the old one.

    Args:
        run: The run that was exported.
        files: Each has the labels of one rater, or a column `rater`.

    Raises:
        DataError: A file cannot be read or lacks a column. Or a rater labelled a goal twice in
            these files: then nothing is taken, and the text names both lines.
        MissingExtraError: Several raters labelled the same goal, and krippendorff is not installed.
    """
    items = items_of(run)
    played = set(items.values())
    new = (_of_run(row, played) for path in files for row in read_rows(path, items))
    found = Labels.of(new, lambda case: f"labelled task {case[0]}")
    kept = run.path / KEPT
    before = Labels.of(read_rows(kept, items) if kept.is_file() else ())
    problems = (*before.problems, *found.problems)
    labels: Labels = Judgements(found.over(before.votes), problems=problems)
    alpha = _alpha(labels)
    names = {case: item for item, case in items.items()}
    lines = (
        [names[case], harmless(case[0]), case[1], case[2], label, harmless(rater)]
        for case, of in sorted(labels.votes.items())
        for rater, label in sorted(of.items())
    )
    write_csv(kept, _KEPT_COLUMNS, lines)
    return ImportedLabels(labels, found.taken, found.empty, problems, alpha, kept)


def read_rows(path: Path, items: Mapping[str, Case]) -> Iterator[LabelRow | str]:
    """Yield the rows of a file; for a row that cannot be taken, a text with the reason.

    Args:
        path: The file.
        items: Id of an item to its goal, for the run that is labelled.

    Raises:
        DataError: The file cannot be read, or lacks a column.
    """
    rows = CsvRows(path, "labels")
    names = rows.columns
    if "label" not in names or not {*_REFERENCES} & {*names}:
        lacking = [name for name in ("task_id", "label") if name not in names]
        raise DataError(
            f"{path}: no column {', '.join(lacking)}; expected task_id, label and, where there are "
            "several, trial and goal, or the columns of `seal annotate export`"
        )
    for row in rows:
        yield row if isinstance(row, str) else _row(*row, items, path.stem)


def holds_labels(path: Path) -> bool:
    """Tell whether a file has labels of goals, not ratings of turns.

    Raises:
        DataError: The file cannot be read.
    """
    names = CsvRows(path, "ratings or labels").columns
    return "label" in names and "rating" not in names


def _row(
    where: str, fields: Mapping[str, str], items: Mapping[str, Case], rater: str
) -> LabelRow | str:
    label = fields["label"].lower()
    if label and label not in LABELS:
        return f"{where}: label {shortened(label)}: expected {', '.join(LABELS)}"
    case = _case(fields, items)
    if isinstance(case, str):
        return f"{where}: {case}"
    return SheetRow(where, case, label or None, harmless(fields.get("rater") or rater))


def _case(fields: Mapping[str, str], items: Mapping[str, Case]) -> Case | str:
    """Return the goal of a row; a text with the reason if the row does not tell."""
    item = fields.get("item")
    if item:
        return items.get(item) or f"item {shortened(item)} is no answer of this run"
    numbers = [fields.get(name) or "0" for name in ("trial", "goal")]
    if not all(number.isascii() and number.isdecimal() for number in numbers):
        return f"trial and goal {', '.join(numbers)}: expected whole numbers"
    return fields.get("task_id", ""), int(numbers[0]), int(numbers[1])


def items_of(run: RunFolder) -> dict[str, Case]:
    """Return the goals that a run played, by the ids that the export gives them."""
    return {str(row[0]): case for case, row in _rows(run)}


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


def _of_run(row: LabelRow | str, played: set[Case]) -> LabelRow | str:
    if isinstance(row, str) or row.item in played:
        return row
    task, trial, goal = row.item
    return f"{row.where}: task {task}, trial {trial}, goal {goal}: the run did not play it"


def _alpha(labels: Labels) -> float | None:
    numbers = {
        case: {rater: float(LABELS.index(label)) for rater, label in of.items()}
        for case, of in labels.votes.items()
    }
    return alpha_of(numbers, "nominal")


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


def _played(run: RunFolder) -> Iterator[tuple[Task, Trajectory]]:
    return (chat for chat in run.chats() if not chat[1].failed)


def _rows(run: RunFolder) -> Iterator[tuple[Case, list[JSON]]]:
    """Yield each goal with its row, in the order of `COLUMNS`."""
    for task, trajectory in _played(run):
        before = [said_in(step) for step in task.history if step.content.strip()]
        for position, goal in enumerate(task.goals):
            steps, answer = goal_steps(trajectory, position), answer_of(trajectory, position) or ""
            done = "\n".join(done_in(steps, (goal.text, answer)))
            # The id depends on what was done, so that no label goes to another run's answer.
            name = f"g{digest([task.id, trajectory.trial, position, done, answer])[:12]}"
            told = map(harmless, ("\n".join(before), goal.text, done, answer))
            place = (harmless(task.id), trajectory.trial, position)
            yield (task.id, trajectory.trial, position), [name, *told, "", "", *place]
            before += [f"user: {goal.text}", f"assistant: {answer}"]


def said_in(step: Step) -> str:
    """Return a step as a line of a sheet, such as `user: Hello`."""
    return f"{'user' if step.author == USER else 'assistant'}: {step.content}"


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
