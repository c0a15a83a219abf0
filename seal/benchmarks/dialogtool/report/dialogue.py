"""A tool's life in dialogue as tables: DialogTool's Tables 3, 4, 5 and 8, and figures by API.

One pass over a run's scores counts what the tables need. Shares are of what had a value; what the
infrastructure failed on stays out. Source: DialogTool, tables 3, 4, 5 and 8.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from seal.benchmarks.dialogtool.metrics.dialogue.awareness import MISSED, NO_TOOL
from seal.benchmarks.dialogtool.metrics.dialogue.bleu import ORDER, Counts, corpus_bleu
from seal.benchmarks.dialogtool.metrics.dialogue.metrics import TWINS
from seal.benchmarks.dialogtool.metrics.dialogue.requests import api_name
from seal.core.errors import MissingExtraError
from seal.core.types import Score, Tool
from seal.evaluation.statistics import bootstrap_interval
from seal.report.chat_records import scores_so_far
from seal.report.lanes import Lane
from seal.report.missions import Share
from seal.runs.run_folder import read_human

CREATION = "creation"
TASKS = ("awareness", "selection", "execution")
"""Tasks of which figures are drawn."""
BUCKETS = ("10", "20", "30", "40")
"""Turns of a dialogue, rounded up to tens; the last one is open."""
SELECTION_ERRORS = ("parse_error", "unnecessary_call", "missing_call", "api_error")
EXECUTION_ERRORS = {
    "api_error": "wrong API",
    "argument_matching_error": "argument matching error",
    "missing_argument_error": "missing argument error",
}
"""Kind to what tables call it."""

_TOLD = frozenset({*TASKS, "bleu", CREATION})


@dataclass(frozen=True, slots=True)
class Figure:
    """A number as a table shows it."""

    text: str
    small: str = ""
    """What stands below it: an interval, or how many it is of."""


@dataclass(frozen=True, slots=True)
class DialogueTable:
    """A table with a row for each run."""

    title: str
    columns: tuple[str, ...]
    rows: dict[str, tuple[Figure, ...]]
    """Label of a run to its figures, one a column."""


@dataclass(slots=True)
class ApiCounts:
    """What is known of one API."""

    due: int = 0
    """Turns on which it was due."""
    selected: int = 0
    executed: list[float] = field(default_factory=list)
    unnecessary: int = 0
    """Requests of it where none was due."""
    created: Share = field(default_factory=Share)
    """Test cases that the created function passed."""


@dataclass(slots=True)
class Counted:
    """What one pass over a run's scores counts."""

    turns: int = 0
    """Turns with a score of awareness."""
    awareness: Counter[str] = field(default_factory=Counter)
    decisions: float = 0.0
    """Right and wrong decisions of selection."""
    selection: Counter[str] = field(default_factory=Counter)
    selected: list[tuple[str, float, float]] = field(default_factory=list)
    """(task, value, weight) of selection."""
    created: list[tuple[str, float, float]] = field(default_factory=list)
    """The same of creation."""
    due: int = 0
    apps: int = 0
    """Of these turns, those on which the app was named."""
    recalled: int = 0
    execution: Counter[str] = field(default_factory=Counter)
    executions: int = 0
    compared: int = 0
    """Requests of the right API, whose arguments can be compared."""
    keys: Counter[str] = field(default_factory=Counter)
    replies: list[Counts] = field(default_factory=list)
    apis: dict[str, ApiCounts] = field(default_factory=dict)

    def api(self, name: str) -> ApiCounts:
        """Return what is known of an API, by app and name."""
        return self.apis.setdefault(name, ApiCounts())


def is_dialogue(lane: Lane) -> bool:
    """Tell whether a run was scored by the tasks of a tool's life."""
    return any((lane.metrics.get(name) or {}).get("n") for name in (*TASKS, "bleu", "role"))


def counted(scores: Iterable[Score], tools: Mapping[str, Tool]) -> Counted:
    """Return what the tables need of a run's scores.

    Args:
        scores: Of any metrics.
        tools: By id, for the names of created APIs.
    """
    found = Counted()
    takers = {
        "awareness": _take_awareness,
        "selection": _take_selection,
        "execution": _take_execution,
        "bleu": _take_reply,
    }
    for score in scores:
        if score.metric not in _TOLD or score.value is None:
            continue
        if score.metric == CREATION:
            _take_creation(found, score, tools)
        else:
            takers[score.metric](found, score)
    return found


def counted_lanes(lanes: Sequence[Lane]) -> dict[str, Counted]:
    """Return what was counted of each lane by its label."""
    return {lane.label: counted(scores_so_far(lane.run, _TOLD), lane.run.tools()) for lane in lanes}


def dialogue_tables(lanes: Sequence[Lane], runs: Mapping[str, Counted]) -> list[DialogueTable]:
    """Return Tables 3, 4, 5 and 8, and the exact figures beside the published ones.

    Args:
        lanes: Floor, runs, ceiling.
        runs: What was counted of each, by its label.
    """
    return [
        _main_table(lanes, runs),
        _exact_table(lanes),
        _shares(
            "awareness errors, % of all turns (Table 4)",
            {"T.": MISSED, "No T.": NO_TOOL},
            {label: (c.awareness, c.turns) for label, c in runs.items()},
        ),
        _selection_table(runs),
        _shares(
            "execution errors, % of turns on which an API was due and one was requested",
            {shown: name for name, shown in EXECUTION_ERRORS.items()},
            {label: (c.execution, c.executions) for label, c in runs.items()},
        ),
        _argument_table(runs),
    ]


def _take_awareness(found: Counted, score: Score) -> None:
    found.turns += 1
    if "error" in score.details:
        found.awareness[str(score.details["error"])] += 1


def _take_selection(found: Counted, score: Score) -> None:
    value = score.value or 0.0
    found.decisions += score.weight
    found.selected.append((score.task_id, value, score.weight))
    found.selection.update(map(str, score.details.get("errors") or ()))
    api = score.details.get("api")
    if api is not None:
        found.due += 1
        found.apps += bool(score.details.get("app"))
        found.recalled += value > 0
        found.api(str(api)).due += 1
        found.api(str(api)).selected += value > 0
    for name in score.details.get("unnecessary") or ():
        found.api(str(name)).unnecessary += 1


def _take_execution(found: Counted, score: Score) -> None:
    details = score.details
    found.executions += 1
    found.api(str(details.get("api"))).executed.append(score.value or 0.0)
    if "error" in details:
        found.execution[str(details["error"])] += 1
    if "mismatch" in details:
        found.compared += 1
        found.keys.update(
            {
                "missing": bool(details["missing"]),
                "extra": bool(details["extra"]),
                "mismatch": bool(details["mismatch"]),
                "wrong_values": len(details["mismatch"]),
                "dates": details.get("dates", 0),
                "places": details.get("places", 0),
            }
        )


def _take_reply(found: Counted, score: Score) -> None:
    numbers = score.details.get("counts")
    if isinstance(numbers, list) and len(numbers) == ORDER + 2:
        said, wanted = int(numbers[ORDER]), int(numbers[ORDER + 1])
        total = tuple(max(0, said - n) for n in range(ORDER))
        found.replies.append(Counts(tuple(numbers[:ORDER]), said, wanted, total))


def _take_creation(found: Counted, score: Score, tools: Mapping[str, Tool]) -> None:
    benchmark, _, rest = score.task_id.partition("/create/")
    tool = f"{benchmark}/{rest}"
    found.created.append((score.task_id, score.value or 0.0, score.weight))
    if tool not in tools:
        return
    known = found.api(api_name(tool, tools))
    passed = (score.value or 0.0) * score.weight
    known.created = Share(known.created.part + passed, known.created.whole + score.weight)


def _main_table(lanes: Sequence[Lane], runs: Mapping[str, Counted]) -> DialogueTable:
    rows: dict[str, tuple[Figure, ...]] = {}
    for lane in lanes:
        known = runs[lane.label]
        rows[lane.label] = (
            _micro(known.created),
            _percent(lane.metrics.get("awareness")),
            _micro(known.selected),
            _percent(lane.metrics.get("execution")),
            _percent(lane.metrics.get("bleu")),
            _corpus(known),
            _percent(lane.metrics.get("rouge_l")),
            _scaled(lane.metrics.get("role")),
            _human(lane),
        )
    columns = ("creation", "awareness", "selection", "execution", "BLEU", "corpus BLEU", "R-L")
    title = "the tasks of a tool's life, % but for role (0-10) and human (1-5) (Table 3)"
    scored = _EXACTLY if any(map(_is_exact, lanes)) else ""
    return DialogueTable(title + scored, (*columns, "role", "human"), rows)


def _percent(entry: Mapping[str, Any] | None) -> Figure:
    return _scaled(entry, 100.0, 1)


def _scaled(entry: Mapping[str, Any] | None, scale: float = 1.0, digits: int = 2) -> Figure:
    """Return a mean with its interval; of metrics whose weights differ the micro mean alone."""
    if not entry or entry.get("mean") is None:
        return Figure("-")
    if "micro" in entry:
        return Figure(f"{scale * entry['micro']:.{digits}f}")
    low, high = entry.get("low"), entry.get("high")
    between = "" if low is None or high is None else _interval(low, high, scale, digits)
    return Figure(f"{scale * entry['mean']:.{digits}f}", between)


def _interval(low: float, high: float, scale: float, digits: int) -> str:
    return f"[{scale * low:.{digits}f}, {scale * high:.{digits}f}]"


def _micro(scored: Sequence[tuple[str, float, float]]) -> Figure:
    """Return the weighted mean of (task, value, weight) in %, with its interval over tasks."""
    if not scored:
        return Figure("-")
    numbers: dict[str, int] = {}
    clusters = [numbers.setdefault(task, len(numbers)) for task, _, _ in scored]
    values = [value for _, value, _ in scored]
    weights = [weight for _, _, weight in scored]
    mean = sum(v * w for v, w in zip(values, weights, strict=True)) / sum(weights)
    low, high = bootstrap_interval(values, 0, 2_000, clusters=clusters, weights=weights)
    between = "" if low is None or high is None else _interval(low, high, 100.0, 1)
    return Figure(f"{100 * mean:.1f}", between)


def _corpus(known: Counted) -> Figure:
    try:
        bleu = corpus_bleu(known.replies)
    except MissingExtraError:
        return Figure("-", "without sacrebleu")
    return Figure("-") if bleu is None else Figure(f"{bleu:.1f}")


def _human(lane: Lane) -> Figure:
    rated = read_human(lane.run)
    if rated is None or rated.mean is None:
        return Figure("-")
    alpha = "" if rated.alpha is None else f", alpha {rated.alpha:.2f}"
    return Figure(f"{rated.mean:.2f}", f"{rated.items} items, {rated.raters} raters{alpha}")


def _exact_table(lanes: Sequence[Lane]) -> DialogueTable:
    columns = tuple(name for twin in TWINS for name in (twin, f"{twin}_exact"))
    rows = {
        lane.label: tuple(_percent(lane.metrics.get(name)) for name in columns) for lane in lanes
    }
    shown = tuple(name.replace("_", " ") for name in columns)
    title = "as published and exact, %"
    if any(map(_is_exact, lanes)):
        title = f"by the rules of --match and exact, %{_EXACTLY}"
    return DialogueTable(title, shown, rows)


_EXACTLY = "; a run was scored by --match exact, under which both are one"


def _is_exact(lane: Lane) -> bool:
    """Tell whether the plain names of a run's metrics have the exact rules."""
    measured = lane.run.manifest().get("measure") or {}
    return bool(measured.get("match") == "exact")


def _selection_table(runs: Mapping[str, Counted]) -> DialogueTable:
    rows = {}
    for label, known in runs.items():
        wrong = (Share(known.selection[name], known.decisions) for name in SELECTION_ERRORS)
        rows[label] = tuple(
            map(_share, (Share(known.apps, known.due), Share(known.recalled, known.due), *wrong))
        )
    columns = ("app", "recall", "API parse error", "unnecessary call", "missing call", "wrong API")
    title = (
        "selection: app and API right, % of turns with one due; errors, % of decisions (Table 5)"
    )
    return DialogueTable(title, columns, rows)


def _argument_table(runs: Mapping[str, Counted]) -> DialogueTable:
    rows = {}
    for label, known in runs.items():
        whole = [Share(known.keys[name], known.compared) for name in ("missing", "extra")]
        wrong = known.keys["wrong_values"]
        parts = [Share(known.keys[name], wrong) for name in ("dates", "places")]
        mismatch = Share(known.keys["mismatch"], known.compared)
        rows[label] = tuple(map(_share, (*whole, mismatch, *parts)))
    columns = ("missing keys", "extra keys", "value mismatch", "of these dates", "of these places")
    title = "arguments of requests of the right API, compared exactly, % (Table 8)"
    return DialogueTable(title, columns, rows)


def _shares(
    title: str, columns: Mapping[str, str], rows: Mapping[str, tuple[Counter[str], int]]
) -> DialogueTable:
    figures = {
        label: tuple(_share(Share(counts[name], whole)) for name in columns.values())
        for label, (counts, whole) in rows.items()
    }
    return DialogueTable(title, tuple(columns), figures)


def _share(share: Share) -> Figure:
    return Figure(share.text, f"of {share.whole:.0f}" if share.whole else "")
