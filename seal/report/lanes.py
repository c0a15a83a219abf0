"""Runs side by side: lanes, outcomes of chats, which metrics have a row, and a run in short."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from itertools import chain
from math import inf
from typing import TYPE_CHECKING, Any, Literal

from seal.core import DataError, Scale, Score, Step, Trajectory, UsageError
from seal.core.text import counted, one_line
from seal.evaluation.calls import EXTRA, VERDICT
from seal.evaluation.goals import (
    INFRASTRUCTURE,
    RATE,
    WORST_FIRST,
    Outcome,
    decides,
    ranking,
    state_of,
)
from seal.evaluation.scoring import FAMILIES, USUAL_SCALES
from seal.report.grids import Estimate, Grid, grouped, number, tallied
from seal.runs.again import AGAIN
from seal.runs.costs import dollars_of, read_ledger
from seal.runs.journal import timings_of
from seal.runs.run import MANIFEST, MEASURED, TIMINGS, RunFolder, kept_scales, varied_settings
from seal.runs.running import RunningRun
from seal.runs.scores import Tail

if TYPE_CHECKING:
    from seal.runs.costs import Prices

# -- The runs that a report sets side by side, and the short table of their metrics.

RUN_COLOURS = 6

HEADLINE = tuple(name for family in FAMILIES for name in (*family.main_of_some, *family.main))
"""Metrics of the short table where the benchmark declares none, in its order; of `recall@K` and its
like the K that chats were offered, else the largest."""

_OF_SOME = frozenset(name for family in FAMILIES for name in family.main_of_some)
"""Those that need gold of their own kind; other benchmarks are not expected to have them."""

FIRST = 5
"""Most metrics of the first table of a run, beside those of the user's own."""
OTHERS = "--all-metrics, or the report"
"""What shows the others, on the command line."""
_PREFERRED = ("pass_rate", VERDICT, "recall", "call_f1", "param_acc_gold")
"""Metrics of that table where the benchmark declares none, in its order."""
_VERDICTS = ("pass_rate", "success", "mission_accuracy", "goal_state", VERDICT)
"""Metrics whose scores say whether a goal is solved, beside those that benchmarks declare."""
ENOUGH = 0.25
"""Least share of goals that one of these applies to, to be in the short table."""


@dataclass(frozen=True, slots=True)
class Lane:
    """One column of a report: a run, or a baseline of it."""

    kind: Literal["floor", "run", "ceiling"]
    label: str
    """Unique in a report."""
    colour: str
    """Class of the style sheet: floor, ceiling, run-0 ... run-5."""
    run: RunFolder
    summary: Mapping[str, Any]
    """summary.json."""

    @property
    def metrics(self) -> dict[str, dict[str, Any]]:
        """Metric name to its mean, interval and groups."""
        found: dict[str, dict[str, Any]] = self.summary.get("metrics", {})
        return found

    @property
    def means(self) -> dict[str, float | None]:
        """Metric name to its mean."""
        return {name: found.get("mean") for name, found in self.metrics.items()}

    @property
    def scales(self) -> Mapping[str, Scale]:
        """What its scores mean, by name (`RunFolder.scales`); the summary is not read again."""
        kept = kept_scales(self.summary)
        return self.run.scales() if kept is None else kept

    def groups(self, metric: str) -> Mapping[str, Mapping[str, Any]]:
        """Return the entries of a metric by group of tasks."""
        return (self.metrics.get(metric) or {}).get("by") or {}

    def estimate(self, metric: str, group: str | None = None) -> Estimate:
        """Return a metric, of all tasks or of a group of them; without values where it has none."""
        found = self.metrics if group is None else self.groups(metric)
        return Estimate.of(found.get(metric if group is None else group))


def lanes_of(runs: Sequence[RunFolder]) -> list[Lane]:
    """Return floor, the runs in their order, and ceiling.

    One of a run stands beside several only if all that have it have the same means, and if any that
    has none differs from them by its model alone; else it would be a wrong floor of some.

    Raises:
        UsageError: No run at all.
        DataError: A run has not been scored.
    """
    if not runs:
        raise UsageError("no run to report on; give at least one run folder")
    lanes = [
        Lane("run", label, f"run-{position % RUN_COLOURS}", run, run.summary())
        for position, (label, run) in enumerate(zip(_labels(runs), runs, strict=True))
    ]
    played = [run.baselines() for run in runs]
    ends: dict[str, Lane] = {}
    for kind in ("floor", "ceiling"):
        own = [baselines[kind] for baselines in played if kind in baselines]
        same = [Lane(kind, kind, kind, run, run.summary()) for run in own]
        shared = len(own) == len(runs) or _differ_in_model_alone(runs)
        if same and shared and all(lane.means == same[0].means for lane in same):
            ends[kind] = same[0]
    return [lane for lane in (ends.get("floor"), *lanes, ends.get("ceiling")) if lane]


def _differ_in_model_alone(runs: Sequence[RunFolder]) -> bool:
    varied = varied_settings({str(place): run for place, run in enumerate(runs)})
    return varied.keys() <= {"model"} and not measure_differences(runs)


def measure_differences(runs: Sequence[RunFolder]) -> list[str]:
    """Return the names of what the runs measured differently; empty if they can be compared.

    The number of trials does not count: a mean is over all trials.
    """
    measures = [run.manifest().get("measure") or {} for run in runs]
    names = sorted({name for measure in measures for name in measure} - {"trials"})
    return [name for name in names if any(m.get(name) != measures[0].get(name) for m in measures)]


def model_name(run: RunFolder) -> str:
    """Return the model that a run was played with, after the agent of one's own that asked it."""
    named, agent = run.model or run.path.name, run.manifest().get("agent")
    return named if agent in (None, named) else f"{agent} with {named}"


def caption_name(run: RunFolder) -> str:
    """Return the model, the benchmark, and what offered how many tools, for a table in a paper."""
    offered = _retriever(run.manifest().get("system") or {})
    return f"{model_name(run)} on {run.pool_name}{f' ({offered})' if offered else ''}"


def _labels(runs: Sequence[RunFolder]) -> list[str]:
    models = [model_name(run) for run in runs]
    if len(set(models)) == len(models):
        return models
    pairs = zip(models, runs, strict=True)
    named = [f"{model} ({run.path.resolve().name})" for model, run in pairs]
    if len(set(named)) == len(named):
        return named
    return [f"{label} #{position}" for position, label in enumerate(named, 1)]


Rows = dict[str, dict[str, Estimate]]
"""Metric to column to what was measured, in the order of the table."""


def headline_of(runs: Iterable[RunFolder]) -> tuple[str, ...]:
    """Return the metrics that the runs' benchmarks declare for the short table; empty: `HEADLINE`.

    Older runs do not hold them; then they are read from the benchmark, if it is installed.
    """
    return tuple(dict.fromkeys(chain.from_iterable(map(_headline, runs))))


def _headline(run: RunFolder) -> Sequence[str]:
    told: Sequence[str] = run.declared().get("headline") or ()
    known = None if told else run.benchmark()
    return told if known is None else known.headline


def offered_of(runs: Iterable[RunFolder]) -> int | None:
    """Return how many tools the runs offered a chat; None where they differ in it, or none says."""
    found = {run.offered for run in runs}
    return found.pop() if len(found) == 1 else None


def main_metrics(
    lanes: Sequence[Mapping[str, Mapping[str, Any]]],
    headline: Sequence[str] = (),
    scales: Mapping[str, Scale] = USUAL_SCALES,
    offered: int | None = None,
) -> list[str]:
    """Return the metrics of the short table (`HEADLINE`); all metrics if there is none of them.

    The user's own metrics follow the first. A metric that needs gold of its own kind is included if
    it applies to enough goals of a lane (`ENOUGH`). One with a condition is not the first, unless
    all have one.

    Args:
        lanes: Of each, metric to its entry in summary.json.
        headline: Metrics that replace `HEADLINE`, even if few goals have them (`headline_of`).
        scales: What the scores mean (`scales_of`).
        offered: The K of `recall@K` and its like (`offered_of`); None, or where no lane has it: the
            largest.
    """
    names = {name for metrics in lanes for name in metrics}
    valued = {name for lane in lanes for name, entry in lane.items() if (entry or {}).get("n")}
    rare = {name for name in rare_metrics(lanes) if not headline or name not in valued}
    largest: dict[str, tuple[float, str]] = {}
    for name in names - rare:
        base, _, cutoff = name.partition("@")
        rank = int(cutoff) if cutoff.isdecimal() else 0
        at = inf if rank == offered else float(rank)
        largest[base] = max(largest.get(base, (-1.0, "")), (at, name))
    asked = (names - rare) & set(headline)  # such as recall@5, which need not be the largest K
    chosen = [
        name if name in asked else largest[name][1]
        for name in headline or HEADLINE
        if name in asked or name in largest
    ]
    brought = (name for metrics in lanes for name, entry in metrics.items() if entry.get("own"))
    own = [name for name in dict.fromkeys(brought) if name not in chosen]
    found = [*chosen[:1], *own, *chosen[1:]] or all_metrics(names, scales)
    return sorted(found, key=lambda name: name not in ranking(found, scales)[:1])


def scale_notes(names: Iterable[str], scales: Mapping[str, Scale]) -> Iterator[str]:
    """Yield which metrics are better low or neither, and what those with a condition are of."""
    told = [(name, scales.get(name, RATE)) for name in dict.fromkeys(names)]
    low = [name for name, scale in told if scale.higher_is_better is False]
    if low:
        yield f"lower is better: {', '.join(low)}"
    either = [name for name, it in told if it.bounded and it.higher_is_better is None]
    if either:
        yield f"neither high nor low is better, gold tells how often it is due: {', '.join(either)}"
    conditions = grouped((scale.condition, name) for name, scale in told if scale.condition)
    yield from (f"only of {what}: {', '.join(those)}" for what, those in conditions.items())


def task_notes(lanes: Iterable[Lane]) -> Iterator[str]:
    """Yield of how many tasks the figures of each lane are, where they are not the same tasks.

    Runs that older versions scored do not say it.
    """
    told = ((lane.summary.get(MEASURED), lane.label) for lane in lanes)
    found = grouped(((each["tasks"], each["digest"]), label) for each, label in told if each)
    if len(found) > 1:
        parts = (f"{', '.join(labels)} of {tasks:,}" for (tasks, _), labels in found.items())
        yield f"figures are not of the same tasks: {'; '.join(parts)}"


def rare_metrics(lanes: Sequence[Mapping[str, Mapping[str, Any]]]) -> list[str]:
    """Return the metrics that need gold of their own kind but apply to too few goals.

    Args:
        lanes: Of each, metric to its entry in summary.json.
    """

    def applies(name: str) -> bool:
        return any(_share(metrics.get(name) or {}) >= ENOUGH for metrics in lanes)

    beside = {name: other for family in FAMILIES for name, other in family.main_beside.items()}
    return [
        name
        for name in HEADLINE
        if name in _OF_SOME
        and any(name in metrics for metrics in lanes)
        and not applies(name)
        and not applies(beside.get(name, name))
    ]


def _share(entry: Mapping[str, Any]) -> float:
    """Return the share of goals that a metric applies to, those that failed among them."""
    reasons = entry.get("reasons") or {}
    applies = (entry.get("n") or 0) + (reasons.get(INFRASTRUCTURE) or 0)
    return applies / max(1, (entry.get("n") or 0) + (entry.get("undefined") or 0))


def all_metrics(names: Iterable[str], scales: Mapping[str, Scale] = USUAL_SCALES) -> list[str]:
    """Return all metrics: the main ones first, then the others by name, counts last.

    Args:
        names: Of the metrics.
        scales: What their scores mean (`scales_of`).
    """
    order = {base: position for position, base in enumerate(HEADLINE)}

    def place(name: str) -> tuple[bool, int, str, int, str]:
        base, _, cutoff = name.partition("@")
        rank = int(cutoff) if cutoff.isdecimal() else 0
        return (not scales.get(name, RATE).bounded, order.get(base, len(order)), base, rank, name)

    return sorted(set(names), key=place)


class ShortTable:
    """The metrics of runs that a reader sees first, with a cell for each run.

    Args:
        lanes: The columns.
        metrics: The rows; None: the main ones of all lanes.
    """

    def __init__(self, lanes: Sequence[Lane], metrics: Sequence[str] | None = None) -> None:
        self._lanes = lanes
        self._chosen = metrics is not None
        self._headline = headline_of(lane.run for lane in lanes)
        self.scales = {name: scale for lane in lanes for name, scale in lane.scales.items()}
        """What the scores mean, by name."""
        self._offered = offered_of(lane.run for lane in lanes if lane.kind == "run")
        entries = [lane.metrics for lane in lanes]
        main = main_metrics(entries, self._headline, self.scales, self._offered)
        self.metrics = with_extra(main, lanes) if metrics is None else list(metrics)
        self.rows: Rows = {
            name: {lane.label: lane.estimate(name) for lane in lanes} for name in self.metrics
        }
        if not self._chosen:
            self.rows |= _unrecorded(lanes)

    @property
    def valued(self) -> Rows:
        """The rows with a value in some column."""
        return {
            name: row
            for name, row in self.rows.items()
            if any(cell.mean is not None for cell in row.values())
        }

    @property
    def first(self) -> list[str]:
        """The rows of a run's first table: `FIRST` at most, and the user's own metrics.

        What no recording held is there, too. The metric that a run is known by leads. Of verdicts
        with the same figures one is there. Recall of what chats were offered is one of the rows.
        """
        leading = ranking(self.metrics, self.scales)[:1]
        own = {name for lane in self._lanes for name, one in lane.metrics.items() if one.get("own")}
        valued = self._distinct()
        told = [name for name in self.valued if name in own or name not in self.metrics]
        usual = self._with_recall([name for name in valued if name not in told])
        names = [*usual[:1], *told, *usual[1:]]
        return sorted(names, key=lambda name: name not in leading)

    def _with_recall(self, names: Sequence[str]) -> list[str]:
        """Return the first names; recall takes the place of one of a condition, or of the last."""
        first, recall = list(names[:FIRST]), f"recall@{self._offered}"
        if recall in names[FIRST:]:
            of_some = (name for name in reversed(first) if self.scales.get(name, RATE).condition)
            first.remove(next(of_some, first[-1]))
            first.append(recall)
        return first

    def _distinct(self) -> list[str]:
        """Return the rows with a value, in the order of the first table; of verdicts alike one."""
        valued, leading = self.valued, ranking(self.metrics, self.scales)[:1]

        def place(name: str) -> tuple[bool, int]:
            base = name.partition("@")[0]
            ranked = not self._headline and base in _PREFERRED
            return name not in leading, _PREFERRED.index(base) if ranked else len(_PREFERRED)

        figures: dict[Any, str] = {}
        for name in sorted(valued, key=place):
            cells = tuple((c.mean, c.n) for c in valued[name].values())
            figures.setdefault(cells if name in _VERDICTS else name, name)
        return [*figures.values()]

    @property
    def bounded(self) -> list[str]:
        """The metrics that one chart can hold: of no condition, and their scores in [0, 1].

        Of verdicts with the same figures one is there.
        """
        ranked, shown = ranking(self.metrics, self.scales), {*self._distinct()}
        found = [name for name in ranked if self.scales.get(name, RATE).bounded]
        return [name for name in found if name in shown or name not in self.valued]

    def gaps(self, shown: Collection[str] | None = None) -> Iterator[str]:
        """Yield which metrics no lane has, are better low, have a condition, or few goals have.

        Also between which bounds a mean lies, where goals are undecided, and of how many tasks the
        lanes are, where they differ.

        Args:
            shown: The rows that a reader sees; None: all of them. What only concerns others is left
                out.
        """
        yield from task_notes(self._lanes)
        valued = {name: row for name, row in self.valued.items() if shown is None or name in shown}
        by_reason: dict[str, list[str]] = {}
        for metric in self.metrics:
            if metric not in self.valued and metric not in _OF_SOME:
                entries = (lane.metrics.get(metric) or {} for lane in self._lanes)
                reasons = {reason for entry in entries for reason in entry.get("reasons") or ()}
                why = " / ".join(sorted(reasons)) or "not measured"
                by_reason.setdefault(why, []).append(metric)
        yield from (f"n/a ({why}): {', '.join(names)}" for why, names in by_reason.items())
        bounds = [
            f"{name} {cell.bounds_text} ({label})"
            for name, cells in valued.items()
            for label, cell in cells.items()
            if cell.bounds
        ]
        if bounds:
            yield f"if all undecided goals failed, or all were solved: {', '.join(bounds)}"
        yield from scale_notes(valued, self.scales)
        if shown is None and not self._chosen and not self._headline:
            yield from self._few()

    def first_gaps(self, others: str = OTHERS) -> Iterator[str]:
        """Yield what `gaps` tells of the first rows, and how many other ones `others` shows."""
        if more := len(self.valued) - len(self.first):
            yield f"{counted(more, 'more metric')}: {others}"
        yield from self.gaps(self.first)

    def _few(self) -> Iterator[str]:
        """Yield the metrics that the table leaves out though a lane has a value of them."""
        metrics = [lane.metrics for lane in self._lanes]
        counts = {
            name: max((found.get(name) or {}).get("n") or 0 for found in metrics)
            for name in rare_metrics(metrics)
        }
        few = ", ".join(f"{name} (n={most})" for name, most in counts.items() if most)
        if few:
            yield f"not in the table, because few goals have a value (n): {few}"


def with_extra(main: Sequence[str], lanes: Sequence[Lane]) -> list[str]:
    """Return metrics with those of what was done besides the gold, where a run did some.

    They stand below the verdict on calls or the pass rate, else at the end.
    """
    runs = [lane for lane in lanes if lane.kind == "run"]
    some = [name for name in EXTRA if any(lane.estimate(name).mean for lane in runs)]
    above = next((name for name in (VERDICT, "pass_rate") if name in main), None)
    place = len(main) if above is None else main.index(above) + 1
    return [*main[:place], *(name for name in some if name not in main), *main[place:]]


def _unrecorded(lanes: Sequence[Lane]) -> Rows:
    """Return the share of calls that asked what no recording holds; nothing where none did."""
    found = {lane.label: lane.summary.get("unrecorded") or {} for lane in lanes}
    answered = sorted({how for entry in found.values() for how in entry.get("answered", ())})
    if not answered:
        return {}
    calls = {lane.label: lane.summary["usage"]["calls"] for lane in lanes}
    shares = {
        label: Estimate(entry.get("share", 0.0), n=calls[label]) for label, entry in found.items()
    }
    return {f"unrecorded ({', '.join(answered)})": shares}


def summary_table(run: RunFolder, every: bool = False) -> Grid:
    """Return the metrics of a run, one on a line, beside the means of floor and ceiling.

    Metrics without a value in any column are left to `seal.report.run_results.summary_notes`.

    Args:
        run: A run that has been scored.
        every: All main metrics; else those of `ShortTable.first`.

    Raises:
        DataError: The run has not been scored.
    """
    lanes = lanes_of([run])
    short = ShortTable(lanes)
    own = next(lane for lane in lanes if lane.kind == "run")
    others = [lane for lane in lanes if lane is not own]
    names = list(short.valued) if every else short.first
    cells = [short.rows[name] for name in names]
    lossy = any(row[own.label].with_errors is not None for row in cells)
    rows = []
    for name, row in zip(names, cells, strict=True):
        found = row[own.label]
        whole = found.n + found.undefined
        count = f"{found.n:,}" if whole == found.n else f"{found.n:,} of {whole:,}"
        errors = ["" if found.with_errors is None else number(found.with_errors)] if lossy else []
        beside = (row[lane.label].value_text for lane in others)
        rows.append((name, found.value_text, found.interval_text, count, *errors, *beside))
    further = ("with errors",) if lossy else ()
    columns = ("metric", "mean", "95 % interval", "n", *further, *(lane.label for lane in others))
    return Grid("", columns, rows)


def answer_of(run: RunFolder, who: str = "") -> list[str]:
    """Return in one or two lines how many tasks a scored run solved, between floor and ceiling.

    Where no metric says what is solved, it is the mean of the metric that the run is known by.

    Args:
        run: Its folder.
        who: What it is called; empty: by its model.

    Raises:
        DataError: The run has not been scored, or a file is damaged.
    """
    lanes, who, summary = lanes_of([run]), who or model_name(run), run.summary()
    own = next(lane for lane in lanes if lane.kind == "run")
    measure = run.manifest().get("measure") or {}
    bench = None if run.declared().get("success") else run.benchmark()
    success = run.declared().get("success") if bench is None else bench.success
    verdicts = [success] if success else _VERDICTS
    solved = {name: _solved(own, name) for name in verdicts}
    deciding = [name for name, count in solved.items() if count is not None]
    leading = [name for name in ShortTable(lanes).first if own.estimate(name).mean is not None]
    metric = next(iter((*deciding[:1], *ranking(leading, own.scales))), None)
    if metric is None:
        return [f"{who} on {run.pool_name}: no metric that decides has a value"]
    found = own.estimate(metric)
    tasks = summary.get("tasks", 0) - summary.get("skipped", 0)
    units = {tasks * (measure.get("trials") or 1): "chat", tasks: "task"}
    of = f"{counted(found.n, units.get(found.n + found.undefined, 'goal'))} of {run.pool_name}"
    judge = _identity(measure, "judge").partition("/")[0]
    by = f"{metric} (judge: {judge})" if metric == "pass_rate" and judge else metric
    figures = f"{found.value_text} {found.interval_text}".strip()
    if found.mean is None:
        said = f"{who} on {run.pool_name}: nothing is decided by {by}"
    elif deciding:
        said = f"{who} solved {solved[metric]:,} of {of} by {by}: {figures}"
    else:
        said = f"{who} on {of}: {by} {figures}"
    beside = "; ".join(
        f"{lane.kind} {lane.estimate(metric).value_text}, {model_name(lane.run)}"
        for lane in lanes
        if lane is not own and lane.estimate(metric).mean is not None
    )
    return [*filter(None, ("; ".join(filter(None, (said, found.lacking_text))), beside))]


def _solved(lane: Lane, metric: str) -> int | None:
    """Return how many goals a metric calls solved; None: it says nothing, or some lie between.

    Verdicts are 0 or 1, so the mean tells it. What a benchmark declares is counted. One that leaves
    all goals undecided solves none: another's verdict must not stand in its place.
    """
    found = lane.estimate(metric)
    if found.mean is None:
        return 0 if found.says_something else None
    if metric in _VERDICTS:
        return round(float(found.mean) * found.n)
    scale = lane.scales.get(metric, RATE)
    scores = [s for s in scores_so_far(lane.run, [metric]) if s.value is not None]
    if not scores or any(score.value not in (0, 1) for score in scores):
        return None
    return sum(state_of(score, scale) == "solved" for score in scores)


# -- Chats and scores of a run as far as they are written, and how one chat ended.

DECISIVE = dict.fromkeys(("pass_rate", "success", "mission_accuracy", "similarity"), RATE)
"""Metrics that can say whether a task is solved, with the scale of each; the first that a chat was
scored by counts."""


def decisive_of(runs: Iterable[RunFolder]) -> Mapping[str, Scale]:
    """Return the metrics that decide: those that benchmarks declare, then `DECISIVE`."""
    declared = {
        success: run.scales().get(success, RATE)
        for run in runs
        if (success := run.declared().get("success"))
    }
    return {**declared, **{name: RATE for name in DECISIVE if name not in declared}}


def outcome_label(
    failed: bool, scores: Iterable[Score], decisive: Mapping[str, Scale] = DECISIVE
) -> str:
    """Return the chat's outcome: its worst goal decides.

    Args:
        failed: The infrastructure ended the chat (`Trajectory.failed`).
        scores: Scores of the chat.
        decisive: Metrics that decide (`decisive_of`).

    Of several decisive metrics the first that says anything counts (`deciding_metric`). A
    score may carry a `label` in its details, as the pass rate does; else the best value is
    solved and any other unsolved.
    """
    if failed:
        return "error"
    found = goal_states(list(scores), decisive)
    return min(found.values(), key=WORST_FIRST.index) if found else "unscored"


def tasks_that(run: RunFolder, how: str) -> list[str]:
    """Return the ids of the tasks of which some chat ended so, in the order of the run.

    Args:
        run: Scored.
        how: An outcome, such as `unsolved`; or `failed`: an error ended it, or it was not played.

    Raises:
        UsageError: It has not been scored, or no task ended so; counts how they ended.
    """
    if not run.is_scored:
        raise UsageError(f"{run.path} has not been scored; score it first: seal score {run.path}")
    decisive, trials = decisive_of([run]), (run.manifest().get("measure") or {}).get("trials") or 1
    scores = by_chat(scores_so_far(run, decisive))
    labels: dict[str, dict[int, str]] = {task: {} for task in run.task_ids()}
    for chat in trajectories_so_far(run):
        mine = scores.get((chat.task_id, chat.trial), [])
        label = outcome_label(chat.failed, mine, decisive)
        labels.setdefault(chat.task_id, {})[chat.trial] = "failed" if label == "error" else label
    for known in labels.values():
        known |= dict.fromkeys(set(range(trials)) - known.keys(), "failed")
    found = [task for task, known in labels.items() if how in known.values()]
    if not found:
        ended = Counter(label for known in labels.values() for label in known.values())
        raise UsageError(f"no task of {run.path} is {how}: its chats are {tallied(ended)}")
    return found


def goal_states(scores: Sequence[Score], decisive: Mapping[str, Scale]) -> dict[int, Outcome]:
    """Return what the deciding metric of a chat says of each of its goals."""
    metric = deciding_metric(scores, decisive)
    return {
        score.goal: state_of(score, decisive[score.metric])
        for score in scores
        if score.metric == metric and decides(score)
    }


def deciding_metric(scores: Iterable[Score], decisive: Collection[str] = DECISIVE) -> str | None:
    """Return the metric that says how a chat ended; None: it has no such score."""
    measured = {score.metric for score in scores if decides(score)}
    return next((metric for metric in decisive if metric in measured), None)


def reason_of(score: Score) -> str:
    """Return why a score is what it is: its reason, else the one in its details (a verdict's)."""
    return score.reason or str(score.details.get("reason") or "")


def scores_so_far(run: RunFolder, metrics: Collection[str] = ()) -> Iterator[Score]:
    """Yield the scores of some metrics, of all where none is named; nothing of an unscored run."""
    for score in Tail(run.scores_path, Score, saying=metrics, rates=run.rates()).read():
        if not metrics or score.metric in metrics:
            yield score


def trajectories_so_far(run: RunFolder) -> Iterator[Trajectory]:
    """Yield the chats that are complete; a line that is being written is left out."""
    yield from Tail(run.trajectories_path, Trajectory).read()


def by_chat(scores: Iterable[Score]) -> dict[tuple[str, int], list[Score]]:
    """Return the scores of each chat by task id and trial."""
    return grouped(((score.task_id, score.trial), score) for score in scores)


def said(step: Step) -> tuple[Any, ...]:
    """Return what a step says and does, by which steps are the same."""
    call, result = step.call, step.result
    return (
        (step.author, step.recipient, step.content),
        call and (call.name, call.arguments, call.raw),
        result and (result.content, result.error),
    )


# -- What a run is in one line: for lists of runs, and for the head of a run's page.


_NOTHING = Estimate(None)
_NONE_KEPT = {"kept": 0, "kept_in": 0, "kept_out": 0}
"""summary.json counts answers that were kept as if their model had given them."""


@dataclass(frozen=True, slots=True)
class RunFacts:
    """One run in short."""

    name: str
    """Its folder as seen from the one that was looked through; `/` stands between folders."""
    run: RunFolder
    benchmark: str = ""
    model: str = ""
    judge: str = ""
    simulator: str = ""
    retriever: str = ""
    """With the number of tools that it offers: `tfidf, top-k 3`."""
    version: str = ""
    """Of SEAL."""
    subset: str = ""
    """Which part of the benchmark it played: `first 10`; empty: all of it."""
    played: str = ""
    """When its first chat began, in UTC: `2026-11-27 00:56`."""
    state: str = "not scored"
    """scored, running, not scored, or damaged."""
    progress: str = ""
    """Of a running run, of how many tasks its figures are: `5 of 20 tasks`; else empty."""
    tasks: int = 0
    errors: int = 0
    tokens: int = 0
    dollars: float | None = None
    """None: a model has no price."""
    metric: str = ""
    """The first of its short table that has a value and no condition; empty: there is none."""
    scale: Scale = RATE
    """Of this metric."""
    headline: Estimate = _NOTHING
    floor: float | None = None
    """None also if it is not of the same tasks; likewise the ceiling."""
    ceiling: float | None = None
    damage: str = ""
    """Why it cannot be read; empty where it can."""

    @property
    def is_shown(self) -> bool:
        """Whether it has a page."""
        return self.state in ("scored", "running")

    @property
    def cost(self) -> str:
        """Dollars, else tokens."""
        if self.dollars:
            return f"${self.dollars:,.2f}" if self.dollars >= 0.01 else f"${self.dollars:,.4f}"
        return counted(self.tokens, "token") if self.tokens else "nothing"

    @property
    def tasks_text(self) -> str:
        """How many tasks, and of which part of the benchmark: `10 (first 10)`; empty: unscored.

        Of a running run with those that its figures are of: `5 of 20 tasks`.
        """
        part = f" ({self.subset})" if self.subset else ""
        return (self.progress or f"{self.tasks:,}") + part if self.is_shown else ""

    def told(self) -> list[tuple[str, str]]:
        """Return name and value of each fact that is known, for a page's head."""
        found = [
            ("run", self.run.path.resolve().name),
            ("benchmark", self.benchmark),
            ("model", self.model),
            ("retriever", self.retriever),
            ("judge", self.judge),
            ("simulator", self.simulator),
            ("played", self.played and f"{self.played} UTC"),
            ("SEAL", self.version),
            ("cost", self.cost if self.is_shown else ""),
            ("tasks", self.tasks_text),
            ("errors", f"{self.errors:,}" if self.errors else ""),
        ]
        return [(name, value) for name, value in found if value]


def facts_of(run: RunFolder, name: str = "") -> RunFacts:
    """Return a run in short; `state` tells if it is damaged.

    Args:
        run: Its folder.
        name: What it is called; empty: the folder's path.
    """
    name = name or str(run.path)
    try:
        return RunFacts(name, run, **_begun(run), **_scored(run))
    except DataError as error:
        return RunFacts(name, run, played=_played(run), state="damaged", damage=str(error))


def _begun(run: RunFolder) -> dict[str, Any]:
    manifest = run.manifest()
    measure, system = (manifest.get(part) or {} for part in ("measure", "system"))
    return {
        "benchmark": run.pool_name,
        "model": model_name(run),
        "judge": _identity(measure, "judge"),
        "simulator": _identity(measure, "simulator"),
        "retriever": _retriever(system),
        "version": str((system.get("versions") or {}).get("seal-api-llms") or ""),
        "subset": subset_of(run),
        "played": _played(run),
    }


def _retriever(system: Mapping[str, Any]) -> str:
    """Return what offers the tools, and how many of them; empty: it is not known."""
    named, top_k = system.get("retriever"), system.get("top_k")
    return f"{named}, top-k {top_k}" if named and top_k else str(named or "")


def subset_of(run: RunFolder) -> str:
    """Return which part of its benchmark a run played: `first 10, domain=travel`; "": all of it.

    A number of tasks that the benchmark does not have is no part.
    """
    told = run.manifest()
    measure = told.get("measure") or {}
    select = measure.get("select")
    told_most = ((name, measure.get(name)) for name in ("first", "limit"))
    most = [(name, asked) for name, asked in told_most if isinstance(asked, int)]
    count = run.summary()["tasks"] if run.is_scored and most else 0
    parts = (
        *(f"{name} {asked:,}" for name, asked in most if not count or asked <= count),
        *(f"{tag}={value}" for tag, value in (select if isinstance(select, dict) else {}).items()),
        f"part {told['shard']}" if told.get("shard") else "",
        str(told.get(AGAIN) or ""),
    )
    return one_line(", ".join(filter(None, parts)), _SUBSET)


_SUBSET = 80


def _identity(measure: Mapping[str, Any], part: str) -> str:
    found = measure.get(part)
    return str(found.get(part) or "") if isinstance(found, dict) else str(found or "")


def _played(run: RunFolder) -> str:
    try:
        first = next(timings_of(run.path / TIMINGS))
        began = datetime.fromtimestamp(first["started"], UTC)
    except (StopIteration, DataError, OSError, ValueError, LookupError, TypeError, OverflowError):
        began = datetime.fromtimestamp((run.path / MANIFEST).stat().st_mtime, UTC)
    return f"{began:%Y-%m-%d %H:%M}"


def _scored(run: RunFolder) -> dict[str, Any]:
    if not run.is_scored:
        return {}
    summary = run.summary()
    metrics, usage = summary["metrics"], summary.get("usage") or {}
    scales = run.scales()
    main = ranking(main_metrics([metrics], headline_of([run]), scales, run.offered), scales)
    valued = (name for name in main if Estimate.of(metrics.get(name)).says_something)
    metric = next(valued, next(iter(main), ""))
    of = summary.get(MEASURED)
    baselines = {
        name: Estimate.of(told["metrics"].get(metric)).mean
        for name, other in run.baselines().items()
        if (told := other.summary()).get(MEASURED, of) == of
    }
    return {
        "state": "running" if isinstance(run, RunningRun) else "scored",
        "progress": _progress(run) if isinstance(run, RunningRun) else "",
        "tasks": summary.get("tasks", 0),
        "errors": summary.get("errors", 0),
        "tokens": (usage.get("tokens_in") or 0) + (usage.get("tokens_out") or 0),
        "dollars": _dollars(usage),
        "metric": metric,
        "scale": scales.get(metric, RATE),
        "headline": Estimate.of(metrics.get(metric)),
        **baselines,
    }


def _progress(run: RunningRun) -> str:
    """Return of how many chats the figures of a running run are; tasks where each has one chat."""
    state = run.state()
    trials = (run.manifest().get("measure") or {}).get("trials") or 1
    noun = "task" if trials == 1 else "chat"
    return f"{state.scored:,} of {counted(state.total, noun)}"


def _dollars(usage: Mapping[str, Any]) -> float | None:
    """Return what the models' tokens cost; None where one has no price.

    Raises:
        DataError: The counts of the models are none.
    """
    try:
        told = [_NONE_KEPT | row for row in usage.get("roles") or ()]
        ledger = read_ledger(told)
        return dollars_of(ledger, shipped_prices()) if ledger else 0.0
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(
            f"the counts of its models, `usage.roles` of summary.json, are damaged: {error!r:.100};"
            " write them anew with `seal score`"
        ) from error


@cache
def shipped_prices() -> Prices:
    """Return the prices that SEAL ships."""
    from seal.runs.costs import Prices  # of runs that asked a server alone

    return Prices.load()
