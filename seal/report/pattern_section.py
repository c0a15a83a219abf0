"""ToolScan's tables of a run: the error patterns, the environments, and where each error stands.

Source: Kokane et al., ToolScan (2024): Table 4 (success and the seven patterns, each a share in
which more is better) and Table 3 (queries, turns and APIs by environment). SR is the pass rate.
What a score is of, and its denominators, says `seal.evaluation.pattern_scores`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from markupsafe import Markup

from seal.core import Score, Task, Tool, Trajectory
from seal.core.text import counted
from seal.evaluation.pattern_scores import IAC_UPSTREAM, PATTERNS
from seal.report.grids import Estimate, Grid, number
from seal.report.lanes import Lane, scores_so_far, trajectories_so_far
from seal.report.pages import Fold, cell, paragraphs, table, task_link

COLUMNS = {
    "SR": "pass_rate",
    "IAC": "iac",
    "IAC upstream": IAC_UPSTREAM,
    **{name.upper(): name for name in PATTERNS},
}
"""Column of Table 4 to its metric."""
_MEANS = "Success and freedom of error patterns, mean with 95 % interval"
_SHARES = (
    "Share of calls, and share of goals, free of each pattern (of goals alone where a pattern is "
    "also of gold calls); errors in all"
)
_READING = (
    "SR: pass rate, over all goals; the seven are over goals with a call, IAC over those with gold "
    "calls. IAC gold calls not made, over the step budget N; IAC upstream the same calls, over the "
    "gold calls. RAC repeated, IAV wrong or missing values, IFE format, IAT types, IAN argument "
    "names, IFN function names."
)
_BY_CALL = "Error patterns by call and by goal"
MOST_TOLD = 6
"""Most transitions between errors that are told."""
LINKED = 12
"""Most findings of one pattern and run that are linked to."""

_Kind = TypeVar("_Kind", dict[str, Any], list[Any])
_OF_STEPS = ("rac", "ife", "iat", "ian", "ifn")
_READ = frozenset({*PATTERNS, "recovery", "service_answers"})


@dataclass(slots=True)
class PatternRun:
    """What the scores of one run say of errors."""

    label: str
    cells: dict[str, Estimate]
    """Column of Table 4 to its mean and interval."""
    errors: Counter[str] = field(default_factory=Counter)
    """Pattern to the number of errors."""
    calls: int = 0
    """Steps that could have one."""
    free: Counter[str] = field(default_factory=Counter)
    """Pattern to the number of goals without it."""
    goals: Counter[str] = field(default_factory=Counter)
    """Pattern to the number of goals that have a score of it."""
    without_gold: int = 0
    """Goals whose IAV is of calls alone, for there is no gold to compare values with."""
    told: int = 0
    repaired: int = 0
    repair_calls: list[int] = field(default_factory=list)
    first: Counter[str] = field(default_factory=Counter)
    transitions: Counter[str] = field(default_factory=Counter)
    causes: Counter[str] = field(default_factory=Counter)
    """Why services failed."""
    repaired_calls: int = 0
    """Calls that had to be repaired to be read."""
    repairs: Counter[str] = field(default_factory=Counter)
    """What was forgiven in them (`seal.core.text_formats.Repair`)."""
    links: dict[str, list[Markup]] = field(default_factory=dict)

    def freedom(self, name: str) -> str:
        """Return the shares free of a pattern, each with what it is of, for a cell."""
        shares = {"calls": self.by_call(name), "goals": self.clean(name)}
        return ", ".join(f"{what} {share}" for what, share in shares.items() if share != "-")

    def by_call(self, name: str) -> str:
        """Return the share of calls free of a pattern; `-` of those that belong to no call."""
        if name not in _OF_STEPS:
            return "-"
        return number(1 - self.errors[name] / self.calls if self.calls else None)

    def clean(self, name: str) -> str:
        """Return the share of goals free of a pattern."""
        return number(self.free[name] / self.goals[name] if self.goals[name] else None)

    @property
    def notes(self) -> list[str]:
        """What followed on errors, and what is beside them, in sentences."""
        said = {
            "errors repaired after feedback": self.recovery,
            "first errors": _listed(self.first),
            "next after another": _listed(self.transitions, MOST_TOLD).replace(">", " then "),
            "goals without gold values, IAV by missing and inadmissible arguments alone": (
                f"{self.without_gold:,} of {self.goals['iav']:,}" if self.without_gold else ""
            ),
            "services that gave no answer, no error of the agent": _listed(self.causes),
            "calls repaired to be read, no error either": (
                f"{self.repaired_calls:,} ({_listed(self.repairs)})" if self.repaired_calls else ""
            ),
        }
        return [f"{name}: {told}" for name, told in said.items() if told]

    @property
    def recovery(self) -> str:
        """Errors repaired of those told, and the mean number of calls; empty: none was told."""
        if not self.told:
            return ""
        taken = self.repair_calls
        mean = f", {sum(taken) / len(taken):.1f} calls each" if taken else ""
        return f"{self.repaired:,} of {self.told:,}{mean}"


Environment = Counter[str]
"""How the goals of one environment were played: the number of queries, and the sums of `_MEANT`."""
_MEANT = {
    "turns": "turns with calls",
    "calls": "calls",
    "called": "APIs called",
    "offered": "APIs offered",
}
"""Count, over goals, to its head as a mean a query; APIs are different ones of a goal."""


def section(lanes: Sequence[Lane]) -> Markup:
    """Return the error patterns of the runs, and the environments that they were played in."""
    runs = [pattern_run(lane, place) for place, lane in enumerate(lanes)]
    played = next(lane for lane in lanes if lane.kind == "run")
    means = [
        (
            run.label,
            *(cell(e.value_text, e.interval_text, f"n={e.n:,}") for e in run.cells.values()),
        )
        for run in runs
    ]
    shares = [(run.label, *(_free_cell(run, name) for name in PATTERNS)) for run in runs]
    patterns = (name.upper() for name in PATTERNS)
    found = {name: _environment_row(name, each) for name, each in environments(played).items()}
    heads = ("environment", "queries", *_MEANT.values())
    title = f"Queries, and means a query as {played.label} played them"
    places = table(Grid(title, heads, list(found.values())), "Environments")
    return paragraphs(
        (
            table(Grid(_MEANS, ("run", *COLUMNS), means), "Error patterns"),
            _READING,
            table(Grid(_SHARES, ("run", *patterns), shares), _BY_CALL),
            *(f"{run.label}: {note}" for run in runs for note in run.notes),
            *(_linked(run) for run in runs if any(run.links.values())),
            *([Fold(f"Environments ({len(found):,})", above=places)] if found else []),
        )
    )


def _linked(run: PatternRun) -> Fold:
    """Return links to where the errors of a run stand."""
    told = Markup("<p>{}, {} in all: {}</p>\n")
    lines = (
        told.format(name.upper(), run.errors[name], Markup("; ").join(links))
        for name, links in run.links.items()
        if links
    )
    return Fold(f"{run.label}: where the errors stand", above=Markup("").join(lines))


def _free_cell(run: PatternRun, name: str) -> Markup:
    looked_for = run.goals[name] or run.errors[name]
    return cell(run.freedom(name), small=counted(run.errors[name], "error") if looked_for else "")


def _environment_row(name: str, found: Environment) -> tuple[str, ...]:
    queries = found["queries"]
    return (name, str(queries), *(f"{found[count] / queries:.1f}" for count in _MEANT))


def pattern_run(lane: Lane, place: int) -> PatternRun:
    """Return what a run's scores say of errors.

    Args:
        lane: The run.
        place: Its position among the report's lanes, for links.
    """
    cells = {column: lane.estimate(name) for column, name in COLUMNS.items()}
    found = PatternRun(lane.label, cells)
    for score in scores_so_far(lane.run, _READ):
        _add(found, score, place)
    return found


def _add(run: PatternRun, score: Score, place: int) -> None:
    details = score.details
    if score.metric == "recovery":
        run.told += _count(details, "told")
        run.repaired += _count(details, "repaired")
        run.repair_calls += _held(details, "calls", list)
        first = _held(details, "first", dict)
        if first:
            run.first[str(first.get("pattern"))] += 1
        run.transitions.update(_held(details, "transitions", dict))
    elif score.metric == "service_answers":
        run.causes.update(_held(details, "causes", dict))
    else:
        _add_pattern(run, score, place)


def _add_pattern(run: PatternRun, score: Score, place: int) -> None:
    name, errors = score.metric, _count(score.details, "errors")
    run.errors[name] += errors
    if score.value is not None:
        run.goals[name] += 1
        run.free[name] += not errors
    run.without_gold += name == "iav" and "without_gold" in score.details
    if name == "ife":
        run.calls += _count(score.details, "calls")
        mended = dict(_held(score.details, "repaired", dict))
        run.repaired_calls += mended.pop("calls", 0)
        run.repairs.update(mended)
    links = run.links.setdefault(name, [])
    for finding in _held(score.details, "findings", list):
        if len(links) < LINKED and isinstance(finding, dict):
            links.append(_link(score, finding, place))


def _link(score: Score, finding: Mapping[str, Any], place: int) -> Markup:
    step = finding.get("step")
    where = "" if step is None else f", step {step}"
    cause = f", {finding['cause']}" if "cause" in finding else ""
    text = f"{score.task_id}{where}: {str(finding.get('name') or 'words')[:60]}{cause}"
    return cell(text, href=task_link(score.task_id, place, score.trial, step))


def _listed(counts: Counter[str], most: int | None = None) -> str:
    """Return names with their counts, the most frequent first."""
    ranked = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return ", ".join(f"{name} {count:,}" for name, count in ranked[:most])


def _held(details: Mapping[str, Any], name: str, kind: type[_Kind]) -> _Kind:
    """Return a part of the details; an empty one where another version wrote something else."""
    found = details.get(name)
    return found if isinstance(found, kind) else kind()


def _count(details: Mapping[str, Any], name: str) -> int:
    found = details.get(name)
    return found if type(found) is int else 0


def environments(lane: Lane) -> dict[str, Environment]:
    """Return Table 3 of a run: environment to what its goals had, by name."""
    tools = lane.run.tools()
    tasks = {task.id: task for task in lane.run.tasks()}
    found: dict[str, Environment] = {}
    for trajectory in trajectories_so_far(lane.run):
        task = tasks.get(trajectory.task_id)
        if task is not None:
            for position in range(len(task.goals)):
                name = environment_of(task, position, tools, trajectory)
                found.setdefault(name, Environment()).update(_counts(trajectory, position))
    return dict(sorted(found.items()))


def environment_of(
    task: Task, goal: int, tools: Mapping[str, Tool], trajectory: Trajectory | None = None
) -> str:
    """Return the environment of a goal.

    It is the first of these that exists: the task's tag `environment`; the most frequent category
    of the tools that the goal needs; the same of the tools that it was offered; the world; `-`.
    """
    tag = task.tags.get("environment")
    if isinstance(tag, str) and tag:
        return tag
    asked = task.goals[goal]
    gold = [called.tool for plan in asked.plans or () for called in plan.calls()]
    offered = trajectory.offered if trajectory is not None else ()
    given = asked.offered or (offered[goal] if goal < len(offered) else ())
    for ids in (gold, asked.relevant, given):
        counts = Counter(tools[tool].category for tool in ids if tool in tools)
        named = [(-count, category) for category, count in counts.items() if category]
        if named:
            return min(named)[1]
    return task.world or "-"


def _counts(trajectory: Trajectory, goal: int) -> dict[str, int]:
    calls = [step.call for step, _ in trajectory.calls(goal) if step.call is not None]
    said = {s.turn for s in trajectory.steps if s.goal == goal and s.call is not None}
    offered = trajectory.offered[goal] if goal < len(trajectory.offered) else ()
    apis = {call.tool for call in calls if call.tool is not None}
    counts = {"turns": said, "calls": calls, "called": apis, "offered": offered}
    return {"queries": 1} | {name: len(found) for name, found in counts.items()}
