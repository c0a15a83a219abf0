"""Explains each failed goal of a run by the first stage with evidence.

The result has:

- goals: the number with a verdict. Of these: solved; undecided, of which a judge was unsure;
  errors, which the infrastructure caused; failed, by the model.
- decided_by: metric to the number of goals that it decides, without undecided ones.
- stages: a row for each stage, in their order: {stage, meaning, goals, left, share, low, high,
  of_failed, of_failed_low, of_failed_high, partly, causes, examples}. `left` counts the goals that
  neither this stage nor an earlier one explains; after the last stage these are the solved and the
  undecided ones. `share` is the share of all goals with a verdict, `of_failed` that of the failed
  goals; it is None for infrastructure. Intervals are percentile bootstrap over tasks. Variants of a
  task are drawn together (`seal.experiments.comparison.clusters`); `clusters` counts what is drawn.
- unexplained: the share of failed goals in the last stage.
- attributions: a short row for each goal that is not solved.
- excluded: reason to the number of goals without a verdict, and of torn lines.
- missing: `tasks` without any chat, and `trials` {task, trial} that only other tasks have.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from typing import Any

from seal.core import DataError, Goal, Task, Tool, ToolCall, Trajectory, UsageError, shortened
from seal.core.canonical import derive_seed
from seal.core.conditions import Argument, Called
from seal.evaluation.attribution.attribute import attribute
from seal.evaluation.attribution.evidence import MEANINGS, ORDER, Cause, DecidedBy, Decision, Stage
from seal.evaluation.goals import answer_of, failed, goal_steps, made_calls
from seal.evaluation.statistics import mean_over, share
from seal.experiments.comparison.clusters import cluster_of
from seal.experiments.explanation.run_chats import READ, Unexplained, chats_of
from seal.pools.benchmark import Benchmark, part_of
from seal.runs.run_folder import RunFolder

EXAMPLES = 3

_SOLVED, _UNDECIDED = -1, -2


@dataclass(slots=True)
class _Tally:
    """The goals of a run, counted."""

    stages: array[int] = field(default_factory=lambda: array("b"))
    """Of each goal its stage's place in `ORDER`, or `_SOLVED` or `_UNDECIDED`."""
    clusters: array[int] = field(default_factory=lambda: array("l"))
    """Of each goal the number of its cluster."""
    numbers: dict[str, int] = field(default_factory=dict)
    """Cluster to number."""
    tasks: set[str] = field(default_factory=set)
    decided: Counter[str] = field(default_factory=Counter)
    """Metric to the goals that it decides."""
    partly: Counter[Stage] = field(default_factory=Counter)
    causes: dict[Stage, Counter[str]] = field(
        default_factory=lambda: {stage: Counter() for stage in ORDER}
    )
    examples: defaultdict[tuple[Stage, str], list[dict[str, Any]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    """Stage and cause to its first goals."""
    rows: list[dict[str, Any]] = field(default_factory=list)

    def add(self, task: Task, decision: Decision, cause: Cause | None) -> None:
        """Take a goal in; without a cause it is solved or undecided."""
        cluster = cluster_of(task.id, task.metadata)
        self.tasks.add(task.id)
        self.clusters.append(self.numbers.setdefault(cluster, len(self.numbers)))
        undecided = decision.state == "undecided"
        if not undecided:
            self.decided[decision.metric or "infrastructure"] += 1
        if cause is None:
            self.stages.append(_UNDECIDED if undecided else _SOLVED)
        else:
            self.stages.append(ORDER.index(cause.stage))
            self.causes[cause.stage][cause.cause] += 1
            self.partly[cause.stage] += cause.partly


def explain_run(
    run: RunFolder,
    metric: str | None = None,
    examples: int = EXAMPLES,
    bench: Benchmark | None = None,
) -> dict[str, Any]:
    """Return why a run's failed goals failed.

    Args:
        run: A scored run.
        metric: The metric whose verdict counts. None: the one that the benchmark declares, else the
            one for each goal's kind of gold (`evaluation.attribution.evidence`).
        examples: Most examples of each stage.
        bench: The benchmark, if it is not installed.

    Raises:
        DataError: The run is not scored, nothing was played, or a file is damaged.
        UsageError: The number of examples is below 0, or no goal has a score of the metric.
    """
    if examples < 0:
        raise UsageError(f"examples: expected 0 or more, got {examples}")
    metric = metric or run.declared().get("success")
    left_out = Unexplained()
    bench = bench or run.benchmark()
    decided_by = part_of(bench, "decided_by")
    cause_of = part_of(bench, "cause_of")
    wanted = READ | _named_by(run, decided_by) | ({metric} if metric else set())
    tally, tools, scales = _Tally(), run.tools(), run.scales()
    chats = 0
    for task, trajectory, scores in chats_of(run, left_out, wanted):
        chats += 1
        told = attribute(task, trajectory, tools, scores, metric, decided_by, cause_of, scales)
        for goal, (decision, cause) in enumerate(told):
            if decision.state == "unscored":
                left_out.reasons[decision.reason or "no verdict"] += 1
                continue
            tally.add(task, decision, cause)
            if cause is not None:
                found = row(task, trajectory, goal, cause)
                tally.rows.append(found)
                kept = tally.examples[cause.stage, cause.cause]
                if len(kept) < examples:
                    kept.append(example(found, decision, task, trajectory, tools))
    _check(run, chats, metric, tally)
    return _content(run, tally, left_out, examples)


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


def _content(run: RunFolder, tally: _Tally, left_out: Unexplained, examples: int) -> dict[str, Any]:
    seed = (run.manifest().get("measure") or {}).get("seed")
    stages = _stages(tally, examples, seed if type(seed) is int else 0)
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
        "unexplained": share(stages[-1]["goals"], failed),
        "attributions": tally.rows,
        "excluded": dict(sorted(left_out.reasons.items())),
        "missing": {
            "tasks": left_out.tasks,
            "trials": [{"task": task, "trial": trial} for task, trial in left_out.trials],
        },
    }


def _stages(tally: _Tally, examples: int, seed: int) -> list[dict[str, Any]]:
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
        turns = zip_longest(*(tally.examples[stage, cause] for cause in causes))
        shown = [found for turn in turns for found in turn if found is not None]
        of_all = mean_over(own, clusters, derive_seed(seed, "explain", stage))
        of_failed: dict[str, Any] = {}
        if stage != "infrastructure":
            stream = derive_seed(seed, "explain", stage, "failed")
            of_failed = mean_over(own[failed], clusters[failed], stream)
        found.append(
            {
                "stage": stage,
                "meaning": MEANINGS[stage],
                "goals": count,
                "left": left,
                "share": of_all["mean"],
                "low": of_all["low"],
                "high": of_all["high"],
                "of_failed": of_failed.get("mean"),
                "of_failed_low": of_failed.get("low"),
                "of_failed_high": of_failed.get("high"),
                "partly": tally.partly[stage],
                "causes": causes,
                "examples": shown[:examples],
            }
        )
    return found


CALLS = 8
"""Most calls, of gold and of the agent, that an example lists."""
TEXT = 400
"""Most characters of a text of an example."""


def example(
    found: dict[str, Any],
    decision: Decision,
    task: Task,
    chat: Trajectory,
    tools: Mapping[str, Tool],
) -> dict[str, Any]:
    """Return a failed goal (`row`) for people: with query, gold, the calls made, and verdict."""
    goal = task.goals[found["goal"]]
    answer = answer_of(chat, found["goal"])
    return {
        **found,
        "query": goal.text[:TEXT],
        "gold": gold_of(goal, tools),
        "calls": calls_of(chat, found["goal"]),
        "answer": None if answer is None else answer[:TEXT],
        "metric": decision.metric,
        "verdict": decision.state,
        "reason": decision.reason[:400],
    }


def row(task: Task, chat: Trajectory, goal: int, cause: Cause) -> dict[str, Any]:
    """Return why a goal failed as plain JSON."""
    return {
        "task": task.id,
        "trial": chat.trial,
        "goal": goal,
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
    """Return what the gold asks for, in lines: the calls of the first plan, or relevant tools."""
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
    """Return the agent's calls for a goal, a line each, with the error of a failed call."""
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
