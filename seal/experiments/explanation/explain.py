"""A run's failed goals by the first stage that explains them.

What stands in the result:

- goals: with a verdict; solved; undecided, of which a judge was unsure; errors, which the
  infrastructure made; failed, by the model.
- decided_by: goals by the metric that says whether they are solved; none that is undecided.
- stages: a row for each, in their order: {stage, meaning, goals, left, share, low, high, of_failed,
  of_failed_low, of_failed_high, partly, causes, examples}. `left` are the goals that are neither
  explained by this stage nor by one before it: after the last one solved and undecided ones are
  left. `share` is of all goals with a verdict, errors too; `of_failed` of those that the model
  failed, and None for infrastructure. Intervals are percentile bootstrap over tasks, variants of
  one task drawn together (`seal.experiments.comparison.runs`); `clusters` counts what is drawn.
- unexplained: that share of the failed.
- attributions: a short row for each goal that is not solved.
- excluded: goals without a verdict by reason, and lines that were torn.
- missing: `tasks` of which no chat is there, and `trials` {task, trial} that others have.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from seal.core import DataError, Goal, Task, Tool, ToolCall, Trajectory, UsageError, shortened
from seal.core.canonical import derive_seed
from seal.core.conditions import Argument, Called
from seal.evaluation.attribution import (
    MEANINGS,
    ORDER,
    Attribution,
    DecidedBy,
    Stage,
    State,
    attribute,
)
from seal.evaluation.goals import failed, goal_steps, made_calls
from seal.evaluation.statistics import DIGITS, bootstrap_interval
from seal.experiments.comparison.runs import cluster_of
from seal.experiments.explanation.reading import READ, LeftOut, chats_of
from seal.pools.benchmark import Benchmark, part_of
from seal.runs.run_folder import RunFolder

EXAMPLES = 3
RESAMPLES = 10_000

_SOLVED, _UNDECIDED = -1, -2

Share = tuple[float | None, float | None, float | None]
"""A mean and the bounds of its interval."""


class _Tally:
    """Goals as numbers."""

    def __init__(self) -> None:
        self.stages = array("b")
        """Of each goal its stage's place in `ORDER`, or `_SOLVED` or `_UNDECIDED`."""
        self.clusters = array("l")
        """Of each goal the number of its cluster."""
        self.numbers: dict[str, int] = {}
        """Cluster to number."""
        self.tasks: set[str] = set()
        self.causes: dict[Stage, Counter[str]] = {stage: Counter() for stage in ORDER}
        self.partly: Counter[Stage] = Counter()
        self.decided: Counter[str] = Counter()

    def add(self, task: Task, state: State, stage: Stage | None) -> None:
        """Take a goal in; without a stage it is solved or undecided."""
        cluster = cluster_of(task.id, task.metadata)
        self.tasks.add(task.id)
        open_ended = _UNDECIDED if state == "undecided" else _SOLVED
        self.stages.append(open_ended if stage is None else ORDER.index(stage))
        self.clusters.append(self.numbers.setdefault(cluster, len(self.numbers)))


def explain_run(
    run: RunFolder,
    metric: str | None = None,
    examples: int = EXAMPLES,
    resamples: int = RESAMPLES,
    bench: Benchmark | None = None,
) -> dict[str, Any]:
    """Return why a run's failed goals failed.

    Args:
        run: A scored run.
        metric: Whose verdict counts; None: that which the benchmark declares, else that of each
            goal's kind of gold (`evaluation.attribution.evidence`).
        examples: Most of each stage.
        resamples: Of each interval.
        bench: What was played, where it is not installed.

    Raises:
        DataError: The run is not scored, nothing was played, or a file is damaged.
        UsageError: A number of examples below 0, or no score of the metric.
    """
    if examples < 0:
        raise UsageError(f"examples: expected 0 or more, got {examples}")
    metric = metric or run.declared().get("success")
    left_out = LeftOut()
    bench = bench or run.benchmark()
    decided_by = part_of(bench, "decided_by")
    cause_of = part_of(bench, "cause_of")
    wanted = READ | _named_by(run, decided_by) | ({metric} if metric else set())
    tally, kept = _Tally(), Examples(examples)
    tools = run.tools()
    rows: list[dict[str, Any]] = []
    chats = 0
    for task, trajectory, scores in chats_of(run, left_out, wanted):
        chats += 1
        told = attribute(task, trajectory, tools, scores, metric, decided_by, cause_of)
        for decision, found in told:
            if decision.state == "unscored":
                left_out.reasons[decision.reason or "no verdict"] += 1
                continue
            if decision.state != "undecided":
                tally.decided[decision.metric or "infrastructure"] += 1
            tally.add(task, decision.state, None if found is None else found.found.stage)
            if found is not None:
                tally.causes[found.found.stage][found.found.cause] += 1
                tally.partly[found.found.stage] += found.found.partly
                kept.add(found, task, trajectory, tools)
                rows.append(row(found))
    _check(run, chats, metric, tally)
    seed = (run.manifest().get("measure") or {}).get("seed")
    return _content(run, tally, kept, rows, left_out, seed if type(seed) is int else 0, resamples)


def _named_by(run: RunFolder, decided_by: DecidedBy | None) -> set[str]:
    """Return the metrics by which the benchmark decides a goal of the run."""
    if decided_by is None:
        return set()
    goals = (goal for task in run.tasks() for goal in task.goals)
    return {name for goal in goals for group in decided_by(goal) for name in group}


def _check(run: RunFolder, chats: int, metric: str | None, tally: _Tally) -> None:
    if not chats:
        raise DataError(
            f"{run.trajectories_path} holds no chat: there is nothing to explain; "
            "play the run with `seal run`"
        )
    if metric is not None and not tally.stages:
        raise UsageError(
            f"no goal of {run.path} has a value of the metric {metric!r}: "
            f"name one of its summary.json, or score it with `seal score {run.path}`"
        )


def _content(
    run: RunFolder,
    tally: _Tally,
    kept: Examples,
    rows: list[dict[str, Any]],
    left_out: LeftOut,
    seed: int,
    resamples: int,
) -> dict[str, Any]:
    stages = _stages(tally, kept, seed, resamples)
    goals = len(tally.stages)
    errors = stages[0]["goals"]
    solved, undecided = tally.stages.count(_SOLVED), tally.stages.count(_UNDECIDED)
    failed = goals - errors - solved - undecided
    return {
        "run": str(run.path),
        "tasks": len(tally.tasks),
        "clusters": len(tally.numbers),
        "goals": goals,
        "solved": solved,
        "undecided": undecided,
        "errors": errors,
        "failed": failed,
        "partly": tally.partly.total(),
        "decided_by": dict(sorted(tally.decided.items())),
        "stages": stages,
        "unexplained": round(stages[-1]["goals"] / failed, DIGITS) if failed else None,
        "attributions": rows,
        "excluded": dict(sorted(left_out.reasons.items())),
        "missing": {
            "tasks": left_out.tasks,
            "trials": [{"task": task, "trial": trial} for task, trial in left_out.trials],
        },
    }


def _stages(tally: _Tally, kept: Examples, seed: int, resamples: int) -> list[dict[str, Any]]:
    import numpy as np

    places = np.asarray(tally.stages, dtype=np.int8)
    clusters = np.asarray(tally.clusters, dtype=np.int64)
    failed = places > ORDER.index("infrastructure")
    left, found = len(places), []
    for place, stage in enumerate(ORDER):
        own = (places == place).astype(np.float64)
        count = int(own.sum())
        left -= count
        causes = dict(sorted(tally.causes[stage].items(), key=lambda one: (-one[1], one[0])))
        of_all = _share(own, clusters, derive_seed(seed, "explain", stage), resamples)
        of_failed: Share = (None, None, None)
        if stage != "infrastructure":
            stream = derive_seed(seed, "explain", stage, "failed")
            of_failed = _share(own[failed], clusters[failed], stream, resamples)
        found.append(
            {
                "stage": stage,
                "meaning": MEANINGS[stage],
                "goals": count,
                "left": left,
                **dict(zip(("share", "low", "high"), of_all, strict=True)),
                **dict(
                    zip(("of_failed", "of_failed_low", "of_failed_high"), of_failed, strict=True)
                ),
                "partly": tally.partly[stage],
                "causes": causes,
                "examples": kept.of(stage, causes),
            }
        )
    return found


def _share(values: Any, clusters: Any, seed: int, resamples: int) -> Share:
    """Return a mean of 0 and 1 with its interval; None where there is nothing."""
    if not len(values):
        return None, None, None
    low, high = bootstrap_interval(values, seed, resamples, clusters=clusters)
    bounds = [None if bound is None else round(bound, DIGITS) for bound in (low, high)]
    return round(float(values.mean()), DIGITS), bounds[0], bounds[1]


CALLS = 8
"""Most calls, of gold and of the agent, that an example lists."""
TEXT = 400
"""Most characters of a text of an example."""


class Examples:
    """Keeps examples of each stage, of as many causes as there are.

    Args:
        most: Of each stage.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: dict[Stage, dict[str, list[dict[str, Any]]]] = {}

    def add(
        self, found: Attribution, task: Task, chat: Trajectory, tools: Mapping[str, Tool]
    ) -> None:
        """Take a failed goal in, where there is room for its cause."""
        kept = self._kept.setdefault(found.found.stage, {}).setdefault(found.found.cause, [])
        if len(kept) < self._most:
            kept.append(example(found, task, chat, tools))

    def of(self, stage: Stage, causes: Iterable[str]) -> list[dict[str, Any]]:
        """Return the examples of a stage, one of each cause in turn.

        Args:
            stage: The stage.
            causes: In the order in which they take their turns.
        """
        kept = [list(self._kept.get(stage, {}).get(cause, ())) for cause in causes]
        chosen = []
        while any(kept):
            chosen += [found.pop(0) for found in kept if found]
        return chosen[: self._most]


def example(
    found: Attribution, task: Task, chat: Trajectory, tools: Mapping[str, Tool]
) -> dict[str, Any]:
    """Return a failed goal for people: query, gold against the calls made, answer, reason."""
    goal = task.goals[found.goal]
    answers = chat.answers
    answer = answers[found.goal] if found.goal < len(answers) else None
    return {
        **row(found),
        "query": goal.text[:TEXT],
        "gold": gold_of(goal, tools),
        "calls": calls_of(chat, found.goal),
        "answer": None if answer is None else answer[:TEXT],
        "metric": found.metric,
        "verdict": found.label,
        "reason": found.reason,
    }


def row(found: Attribution) -> dict[str, Any]:
    """Return an attribution as plain JSON."""
    cause = found.found
    return {
        "task": found.task_id,
        "trial": found.trial,
        "goal": found.goal,
        "stage": cause.stage,
        "cause": cause.cause,
        "partly": cause.partly,
        "passed": cause.passed,
        "of": cause.of,
        "step": cause.step,
        "name": cause.name,
        "expected": cause.expected,
        "received": cause.received,
        "evidence": cause.said,
    }


def gold_of(goal: Goal, tools: Mapping[str, Tool]) -> list[str]:
    """Return what gold asks for, a line each: calls of the first plan, else relevant tools."""
    plan = next((plan for plan in goal.plans or () if plan.calls()), None)
    if plan is not None:
        return [_gold_call(called, tools) for called in islice(plan.calls(), CALLS)]
    if goal.relevant:
        joint = " or " if goal.any_relevant else ", "
        names = [tools[tool].name if tool in tools else tool for tool in goal.relevant]
        return [f"tools: {joint.join(names)}"[:TEXT]]
    if goal.plans is not None and not goal.plans:
        return []
    return [] if goal.plans is None else ["no tool"]


def _gold_call(called: Called, tools: Mapping[str, Tool]) -> str:
    name = tools[called.tool].name if called.tool in tools else called.tool
    if called.arguments is None:
        return f"{name}(any arguments)"
    given = ", ".join(f"{k}={_accepted(v)}" for k, v in called.arguments.items())
    return f"{name}({given})"[:TEXT]


def _accepted(argument: Argument) -> str:
    if argument.values is None:
        return "any"
    return " or ".join(shortened(value) for value in argument.values[:3])


def calls_of(chat: Trajectory, goal: int) -> list[str]:
    """Return the agent's calls for a goal, a line each, with what failed."""
    steps = goal_steps(chat, goal)
    results = {s.result.call_id: s.result for s in steps if s.result is not None}
    calls = made_calls(steps)
    lines = [_call(call) + _outcome(results.get(call.id)) for call in calls[:CALLS]]
    return [*lines, f"and {len(calls) - CALLS} more"] if len(calls) > CALLS else lines


def _call(call: ToolCall) -> str:
    if call.arguments is None:
        return f"{call.name}({call.raw})"[:TEXT]
    given = ", ".join(f"{name}={shortened(value)}" for name, value in call.arguments.items())
    return f"{call.name}({given})"[:TEXT]


def _outcome(result: Any) -> str:
    if result is None:
        return " -> no answer"
    if not failed(result):
        return ""
    return f" -> {result.error.get('kind')}: {str(result.error.get('message') or '')[:120]}"
