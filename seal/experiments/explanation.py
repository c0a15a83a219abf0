"""Why goals of a finished run failed, and which errors each role caught and caused."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise, zip_longest
from typing import Any, Literal, NamedTuple, get_args

from seal.core import (
    DataError,
    Goal,
    Score,
    Step,
    Task,
    Tool,
    ToolCall,
    Trajectory,
    UsageError,
    cluster_of,
    shortened,
)
from seal.core.conditions import Argument, Called
from seal.core.values import json_text
from seal.evaluation.attribution import (
    MEANINGS,
    ORDER,
    Cause,
    Decided,
    Decision,
    Stage,
    attribute,
    needed_of,
)
from seal.evaluation.calls import VERDICT
from seal.evaluation.goals import (
    DECIDING,
    answer_of,
    failed,
    goal_steps,
    gold_in_chat,
    made_calls,
)
from seal.evaluation.rule_judge import RuleJudge
from seal.evaluation.scoring import USER_ERRORS as AUDITED
from seal.evaluation.statistics import mean_over, share
from seal.experiments.series import LongForm
from seal.pools.benchmark import Benchmark, part_of
from seal.runs.run import RunFolder
from seal.runs.scores import RecordLookup, Tail

# -- What each role of a run did.


def work_of(run: RunFolder) -> dict[str, Work]:
    """Return what each role did in the chats of a run's tasks, its tokens as metered."""
    work, tools = RoleWork(), run.tools()
    for task, trajectory in run.chats():
        work.add(gold_in_chat(task.of_tools(tools), trajectory)[0], trajectory)
    usage = run.summary().get("usage") or {}
    metered = {row["role"]: row for row in usage.get("roles", ())}
    for role in work.roles.keys() & metered.keys():
        work.roles[role].tokens_in = metered[role]["tokens_in"]
        work.roles[role].tokens_out = metered[role]["tokens_out"]
    return work.roles


# -- Who spoke in a chat, what it took, and which errors each role caught and caused.
#
# All by rule, from the trajectory and the gold:
#
# - verifier: looks at the calls and results of one reply. They are wrong where a result is an
#   error, or where the goal has gold calls and a call is accepted by none of them.
# - checker: looks at a final answer. It is wrong where `RuleJudge` with the gold says unsolved,
#   right where it says solved; where it is unsure, the verdict counts in neither.
# - planner: its sub-steps. One is wrong where the goal has gold calls and none of them was made for
#   it; nobody is caught by a plan.
#
# Sent back and wrong: caught. Sent back and right: caused. Let pass and wrong: missed. Let pass and
# right: passed. A checker that says unsure neither sends back nor lets pass.

PLANNER = "planner"
VERIFIER = "verifier"
CHECKER = "checker"
MANAGER = "execution_manager"
ORCHESTRATOR = "orchestrator"
_JUDGED = RuleJudge()
Outcome = Literal["caught", "caused", "missed", "passed"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


class Place(NamedTuple):
    """A step of a chat."""

    task: str
    trial: int
    step: int


@dataclass(slots=True)
class Work:
    """What one role did."""

    replies: int = 0
    goals: set[tuple[str, int, int]] = field(default_factory=set)
    """(task id, trial, goal) in which it spoke."""
    tokens_in: int = 0
    tokens_out: int = 0
    places: dict[Outcome, list[Place]] = field(
        default_factory=lambda: {outcome: [] for outcome in OUTCOMES}
    )
    """Where it caught an error, caused one, missed one, or rightly let pass."""

    def count(self, outcome: Outcome) -> int:
        """Return how often it did so."""
        return len(self.places[outcome])

    def record(self) -> dict[str, int]:
        """Return the counts."""
        tokens = {"tokens_in": self.tokens_in, "tokens_out": self.tokens_out}
        return {
            **{"replies": self.replies, "goals": len(self.goals), **tokens},
            **{outcome: self.count(outcome) for outcome in OUTCOMES},
        }


class RoleWork:
    """Adds up what roles did over chats."""

    def __init__(self) -> None:
        self.roles: dict[str, Work] = {}

    def add(self, task: Task, trajectory: Trajectory) -> None:
        """Count one chat; one that the infrastructure ended counts for nothing."""
        if trajectory.failed:
            return
        for position, goal in enumerate(task.goals):
            steps = goal_steps(trajectory, position)
            turns = set()
            for step in steps:
                work = self.roles.setdefault(step.author, Work())
                work.replies += step.turn not in turns
                turns.add(step.turn)
                work.goals.add((task.id, trajectory.trial, position))
                if step.usage is not None:
                    work.tokens_in += step.usage.tokens_in
                    work.tokens_out += step.usage.tokens_out
            for role, outcome, step in _outcomes(goal, steps):
                place = Place(task.id, trajectory.trial, step.index)
                self.roles[role].places[outcome].append(place)


def _outcomes(goal: Goal, steps: Sequence[Step]) -> Iterator[tuple[str, Outcome, Step]]:
    """Yield which role did what, and in which step it did so."""
    gold = [called for plan in goal.plans or () for called in plan.calls()]
    for place, step in enumerate(steps):
        if step.call is not None:
            continue
        if step.author == VERIFIER:
            wrong = _wrong_step(gold, _before(steps, place))
            accepted = step.content.strip().casefold().startswith("accepted")
            if wrong is not None:
                yield VERIFIER, _outcome(not accepted, wrong), step
        elif step.author == CHECKER:
            before = _before(steps, place)
            answer = before[-1].content if before else ""
            verdict = _JUDGED.judge(goal, answer, before)
            label = step.content.partition(":")[0].strip()
            if verdict.label != "unsure" and label in ("solved", "unsolved"):
                wrong = verdict.label == "unsolved"
                yield CHECKER, _outcome(label == "unsolved", wrong), step
    if gold:
        for handed, made in _made_by_substep(steps):
            fitting = any(_is_gold(call, gold) for call in made)
            yield PLANNER, "passed" if fitting else "caused", handed


def _before(steps: Sequence[Step], place: int) -> list[Step]:
    """Return what was said before a step, without what its author tried by calls of its own."""
    author = steps[place].author
    own = {s.call.id for s in steps[:place] if s.call is not None and s.author == author}
    return [
        s
        for s in steps[:place]
        if not (s.call and s.call.id in own) and not (s.result and s.result.call_id in own)
    ]


def _outcome(sent_back: bool, wrong: bool) -> Outcome:
    if sent_back:
        return "caught" if wrong else "caused"
    return "missed" if wrong else "passed"


def _wrong_step(gold: Sequence[Called], before: Sequence[Step]) -> bool | None:
    """Tell whether the reply that was just run is wrong; None: nothing was run."""
    results = [step for step in before if step.result is not None]
    if not results:
        return None
    ids = {s.result.call_id for s in results if s.result and s.turn == results[-1].turn}
    failed = any(s.result.error for s in results if s.result and s.result.call_id in ids)
    calls = [s.call for s in before if s.call is not None and s.call.id in ids]
    return failed or (bool(gold) and not all(_is_gold(call, gold) for call in calls))


def _is_gold(call: ToolCall, gold: Sequence[Called]) -> bool:
    return any(each.tool == call.tool and each.accepts(call.arguments) for each in gold)


def _made_by_substep(steps: Sequence[Step]) -> Iterator[tuple[Step, list[ToolCall]]]:
    """Yield the step that hands over each sub-step of a plan, and the calls made for it."""
    planned = next((n for n, step in enumerate(steps) if step.author == PLANNER), None)
    if planned is None:
        return
    handed = [
        n
        for n, step in enumerate(steps)
        if n > planned and step.author == ORCHESTRATOR and step.recipient == MANAGER
    ]
    for start, end in pairwise([*handed, len(steps)]):
        yield steps[start], made_calls(steps[start:end])


def roles_record(work: Mapping[str, Work]) -> list[dict[str, int | str]]:
    """Return the counts of each role as JSON, in the order of their names."""
    return [{"role": role, **work[role].record()} for role in sorted(work)]


# -- Explains each failed goal of a run by the first stage with evidence.
#
# The result has:
#
# - goals: the number with a verdict. Of these: solved; undecided, of which a judge was unsure;
#   errors, which the infrastructure caused; failed, by the model.
# - open: the first undecided goals, each with what leaves it open.
# - decided_by: metric to the number of goals that it decides, without undecided ones.
# - stages: a row for each stage, in their order: {stage, meaning, goals, left, share, low, high,
#   of_failed, of_failed_low, of_failed_high, partly, causes, examples}. `left` counts the goals
#   that neither this stage nor an earlier one explains; after the last stage these are the solved
#   and the undecided ones. `share` is the share of all goals with a verdict, `of_failed` that of
#   the failed goals; it is None for infrastructure. Intervals are over tasks.
#   Variants of a task count together (`seal.experiments.comparison`); `clusters` counts what is
#   drawn.
# - unexplained: the share of failed goals in the last stage.
# - attributions: a short row for each goal that is not solved; `goal` is its place, from 0, among
#   the `goals` of its task.
# - tools_lost: a row {tool, name, lost, needed} for each tool that a retriever did not find for a
#   goal that needs it, solved or not; those that most goals lost come first.
# - tools_needed: {goals, lost, earlier, k}: the goals that need a tool and for which a retriever
#   was asked. Of these: those that lack one; the others that have one from an earlier goal alone,
#   for it is not among the first k of their own ranking.
# - excluded: reason to the number of goals without a verdict, and of torn lines.
# - missing: `tasks` without any chat, and `trials` {task, trial} that only other tasks have.

EXAMPLES = 3
_OF_CAUSE = (*("stage", "cause", "partly", "passed", "of", "step", "name", "expected", "received"),)
"""What a row says of a `Cause`, beside the evidence."""

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
    open: list[dict[str, Any]] = field(default_factory=list)
    """The first undecided goals, with the reason."""

    def add(self, chat: DecidedChat, decision: Decision, cause: Cause | None) -> None:
        """Take a goal in; without a cause it is solved or undecided."""
        self.tasks.add(chat.task)
        self.clusters.append(self.numbers.setdefault(chat.cluster, len(self.numbers)))
        undecided = decision.state == "undecided"
        if not undecided:
            self.decided[decision.metric or "infrastructure"] += 1
        if cause is None:
            self.stages.append(_UNDECIDED if undecided else _SOLVED)
        else:
            self.stages.append(ORDER.index(cause.stage))
            self.causes[cause.stage][cause.cause] += 1
            self.partly[cause.stage] += cause.partly


_COLUMNS = ("task", "trial", "goal", *_OF_CAUSE, "evidence")
LONG = LongForm("goals", _COLUMNS, lambda content: map(_row, content["attributions"]))
"""Each goal that is not solved, with the first stage that explains it."""


TOOLS = LongForm(
    "tools_lost", ("tool", "name", "lost", "needed"), lambda content: content["tools_lost"]
)
"""Each tool that a retriever lost."""


def _row(found: Mapping[str, Any]) -> dict[str, Any]:
    values = {name: found[name] for name in ("expected", "received")}
    texts = {
        name: it if it is None or isinstance(it, str) else json_text(it)
        for name, it in values.items()
    }
    return {name: found[name] for name in _COLUMNS} | texts


def explain_run(
    run: RunFolder,
    metric: str | None = None,
    examples: int = EXAMPLES,
    bench: Benchmark | None = None,
    known: KnownChats | None = None,
) -> dict[str, Any]:
    """Return why a run's failed goals failed.

    Args:
        run: A scored run.
        metric: The metric whose verdict counts. None: the one that the benchmark declares, else the
            usual ones (`seal.evaluation.attribution`).
        examples: Most examples of each stage.
        bench: The benchmark, if it is not installed.
        known: What is known of its chats by this metric; None: they are read.

    Raises:
        DataError: The run is not scored, nothing was played, or a file is damaged.
        UsageError: The number of examples is below 0, or no goal has a score of the metric.
    """
    if examples < 0:
        raise UsageError(f"examples: expected 0 or more, got {examples}")
    if known is None:
        explainer = Explainer(run, metric, bench)
        left_out, needs = Unexplained(), Needs(run.offered)
        metric = explainer.metric
        known = KnownChats(_decided(run, explainer, left_out, needs), left_out, needs)
    chats, left_out, needs = known
    tally, played = _Tally(), False
    for chat in chats:
        played = True
        for goal, (decision, cause) in enumerate(chat.decided):
            if decision.state == "unscored":
                left_out.reasons[decision.reason or "no verdict"] += 1
                continue
            tally.add(chat, decision, cause)
            place = {"task": chat.task, "trial": chat.trial, "goal": goal}
            place["goals"] = len(chat.decided)
            if decision.state == "undecided" and len(tally.open) < examples:
                tally.open.append(place | {"reason": decision.reason[:TEXT]})
            if cause is not None:
                told = {name: getattr(cause, name) for name in _OF_CAUSE}
                tally.rows.append({**place, **told, "evidence": cause.said})
                kept = tally.examples[cause.stage, cause.cause]
                if len(kept) < examples:
                    verdict = {"metric": decision.metric, "verdict": decision.state}
                    kept.append(tally.rows[-1] | verdict | {"reason": decision.reason[:TEXT]})
    if not played:
        raise DataError(
            f"{run.trajectories_path} holds no chat: there is nothing to explain; "
            "play the run with `seal run`"
        )
    if metric is not None and not tally.stages:
        raise UsageError(
            f"no goal of {run.path} has a value of the metric {metric!r}: "
            f"name one of its summary.json, or score it with `seal score {run.path}`"
        )
    found = _content(run, tally, left_out, examples)
    return found | {"tools_lost": needs.lost_of(run.tools()), "tools_needed": needs.told()}


def _content(run: RunFolder, tally: _Tally, left_out: Unexplained, examples: int) -> dict[str, Any]:
    stages = _stages(tally, examples)
    _show(run, [example for stage in stages for example in stage["examples"]])
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
        "open": tally.open,
        "errors": errors,
        "failed": failed,
        "partly": tally.partly.total(),
        "decided_by": dict(sorted(tally.decided.items())),
        "stages": stages,
        "unexplained": share(stages[-1]["goals"], failed),
        "attributions": tally.rows,
        "excluded": dict(sorted(left_out.reasons.items())),
        **{name: told for name in ("calls_in_text",) if (told := run.summary().get(name))},
        "missing": {
            "tasks": left_out.tasks,
            "trials": [{"task": task, "trial": trial} for task, trial in left_out.trials],
        },
    }


def _stages(tally: _Tally, examples: int) -> list[dict[str, Any]]:
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
        of_all = mean_over(own, clusters)
        by_model = stage != "infrastructure"
        of_failed = mean_over(own[failed], clusters[failed]) if by_model else {}
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


def _show(run: RunFolder, examples: Sequence[dict[str, Any]]) -> None:
    """Note for people what each example asked, its gold, its calls and its answer."""
    ids, tools = {each["task"] for each in examples}, run.tools() if examples else {}
    tasks = {task.id: task for task in run.tasks_of(ids)}
    chats = Tail(run.trajectories_path, Trajectory, ids, whole=True).read() if ids else ()
    played = {(chat.task_id, chat.trial): chat for chat in chats if chat.task_id in ids}
    for each in examples:
        task, chat = tasks[each["task"]], played[each["task"], each["trial"]]
        asked, answer = task.goals[each["goal"]], answer_of(chat, each["goal"])
        each["query"] = asked.text[:TEXT]
        each["gold"] = gold_of(asked, tools)
        each["calls"] = calls_of(chat, each["goal"])
        each["answer"] = None if answer is None else answer[:TEXT]


def gold_of(goal: Goal, tools: Mapping[str, Tool]) -> list[str]:
    """Return what the gold asks for, in lines: the calls of the first plan, or relevant tools."""
    plan = next((plan for plan in goal.plans or () if plan.calls()), None)
    if plan is not None:
        return [_gold_call(called, tools) for called in islice(plan.calls(), CALLS)]
    if goal.relevant:
        joint = " or " if goal.any_relevant else ", "
        names = [tools[tool].name if tool in tools else tool for tool in goal.relevant]
        return [f"tools: {joint.join(names)}"[:TEXT]]
    return ["no tool"] if goal.plans else []


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
    lines = [_call(call) + _brought(results.get(call.id)) for call in calls[:CALLS]]
    return [*lines, f"and {len(calls) - CALLS} more"] if len(calls) > CALLS else lines


def _call(call: ToolCall) -> str:
    if call.arguments is None:
        return f"{call.name}({call.raw})"[:TEXT]
    given = ", ".join(f"{name}={shortened(value)}" for name, value in call.arguments.items())
    return f"{call.name}({given})"[:TEXT]


def _brought(result: Any) -> str:
    if result is None:
        return " -> no answer"
    if not failed(result):
        return ""
    return f" -> {result.error.get('kind')}: {str(result.error.get('message') or '')[:120]}"


# -- Reads the chats of a run with their tasks and scores, one at a time.
#
# The files may be in any order. A torn last line is counted, not read. Missing chats are listed.
# Only the places of the lines of tasks and scores are held in memory.

NOT_PLAYED = "not played"
TRIAL = "trial not played"
TORN = "torn last line"
UNKNOWN = "chat of a task that is not in tasks.jsonl"

_MILESTONES = ("similarity", "milestone_similarity", "minefield_similarity")
READ = frozenset({*DECIDING, VERDICT, *AUDITED, *_MILESTONES})
"""Metrics whose scores the rules look at."""


class Explainer:
    """Says of each goal of a run's chats whether it is solved, and why not.

    Args:
        run: A scored run.
        metric: The metric whose verdict counts. None: the one that the benchmark declares, else the
            usual ones (`seal.evaluation.attribution`).
        bench: The benchmark, if it is not installed.
    """

    def __init__(
        self, run: RunFolder, metric: str | None = None, bench: Benchmark | None = None
    ) -> None:
        self.metric: str | None = metric or run.declared().get("success")
        self.tools = run.tools()
        bench = bench or run.benchmark()
        self._decided_by = part_of(bench, "decided_by")
        self._cause_of = part_of(bench, "cause_of")
        self._scales = run.scales()
        self.reads: set[str] = {*READ, *([self.metric] if self.metric else [])}
        """Metrics whose scores it looks at."""
        if self._decided_by is not None:
            goals = (goal for task in run.tasks() for goal in task.goals)
            self.reads |= {name for g in goals for group in self._decided_by(g) for name in group}

    def of(self, task: Task, trajectory: Trajectory, scores: Iterable[Score]) -> list[Decided]:
        """Return the decision on each goal, with the first stage that explains a failure."""
        told = self._decided_by, self._cause_of, self._scales
        return attribute(task, trajectory, self.tools, scores, self.metric, *told)


class DecidedChat(NamedTuple):
    """Of one chat, which goals are solved, and why others are not."""

    task: str
    trial: int
    cluster: str
    """What its task counts together with (`cluster_of`)."""
    decided: Sequence[Decided]


def _decided(
    run: RunFolder, explainer: Explainer, left_out: Unexplained, needs: Needs
) -> Iterator[DecidedChat]:
    for task, chat, scores in chats_of(run, left_out, explainer.reads):
        needs.add(task, chat)
        cluster = cluster_of(task.id, task.metadata)
        yield DecidedChat(task.id, chat.trial, cluster, explainer.of(task, chat, scores))


@dataclass(frozen=True, slots=True)
class Needs:
    """Which tools goals needed, and which of them a retriever did not find."""

    k: int | None = None
    """How many tools of a ranking were offered; None: all, or it is not known."""
    needed: Counter[str] = field(default_factory=Counter)
    """Tool id to the goals that need it and for which a retriever was asked."""
    lost: Counter[str] = field(default_factory=Counter)
    """Tool id to those of these goals for which it was not offered."""
    goals: Counter[str] = field(default_factory=Counter)
    """Goals that need a tool, `lost` one, or have one from an `earlier` goal alone."""

    def add(self, task: Task, chat: Trajectory) -> None:
        """Count the goals of a chat for which a retriever was asked."""
        for position, own in _ranked(chat, self.k).items():
            if 0 <= position < min(len(task.goals), len(chat.offered)):
                offered = frozenset(chat.offered[position] or ())
                needed = needed_of(task.goals[position], offered)
                lost = [tool for tool in needed if tool not in offered]
                self.needed.update(needed)
                self.lost.update(lost)
                self.goals["goals"] += bool(needed)
                self.goals["lost"] += bool(lost)
                before = chat.offered[position - 1] if position else ()
                kept = not lost and any(tool in before and tool not in own for tool in needed)
                self.goals["earlier"] += kept

    def told(self) -> dict[str, int | None]:
        """Return how many goals need a tool, lack one, or have one from an earlier goal alone."""
        return {name: self.goals[name] for name in ("goals", "lost", "earlier")} | {"k": self.k}

    def lost_of(self, tools: Mapping[str, Tool]) -> list[dict[str, Any]]:
        """Return a row for each tool of a pool that was lost, those lost most first."""
        order = sorted(
            (tool for tool in self.lost if tool in tools), key=lambda it: (-self.lost[it], it)
        )
        return [
            {
                "tool": tool,
                "name": tools[tool].name,
                "lost": self.lost[tool],
                "needed": self.needed[tool],
            }
            for tool in order
        ]


def _ranked(chat: Trajectory, k: int | None) -> dict[int, set[str]]:
    """Return the goals for which a retriever was asked, each with the first k tools found."""
    found: dict[int, set[str]] = {}
    for ranking in chat.rankings:
        found.setdefault(ranking.goal, set()).update(tool for tool, _ in ranking.hits[:k])
    return found


class KnownChats(NamedTuple):
    """What is known of a run's chats."""

    chats: Iterable[DecidedChat]
    left_out: Unexplained
    """Complete after the last chat, as `needs` is."""
    needs: Needs


class ScoredChat(NamedTuple):
    """One chat of a run."""

    task: Task
    trajectory: Trajectory
    scores: list[Score]
    """Scores of the metrics that were asked for."""


@dataclass(frozen=True, slots=True)
class Unexplained:
    """What cannot be explained of a run."""

    reasons: Counter[str] = field(default_factory=Counter)
    """Goals, chats and torn lines, by reason."""
    tasks: list[str] = field(default_factory=list)
    """Ids of the tasks that were not played."""
    trials: list[tuple[str, int]] = field(default_factory=list)
    """(task id, trial) that were not played, for tasks that have other trials."""


def chats_of(
    run: RunFolder, left_out: Unexplained, metrics: Collection[str] = READ
) -> Iterator[ScoredChat]:
    """Yield each chat of a run with its task and scores, in the order of its trajectories.

    Args:
        run: The run.
        left_out: Gets what is left out; complete after the last chat.
        metrics: Metrics whose scores are read.

    Raises:
        DataError: The run is not scored, its files are of several runs, or a line is damaged.
    """
    if not run.scores_path.is_file():
        raise DataError(
            f"{run.path} is not scored: there is no scores.jsonl; score it with "
            f"`seal score {run.path}`"
        )
    for path in (run.path / "tasks.jsonl", run.trajectories_path):
        if not path.is_file():
            raise DataError(f"no file {path}: the folder holds no whole run")
    chats = Tail(run.trajectories_path, Trajectory, whole=True)
    tasks = RecordLookup(run.path / "tasks.jsonl", Task, lambda task: task.id, whole=True)
    scores = RecordLookup(
        run.scores_path, Score, lambda s: (s.task_id, s.trial), whole=True, rates=run.rates()
    )
    scored = {task for task, _ in scores}
    if scored and not scored & {*tasks}:
        raise DataError(
            f"{run.scores_path}: no task of these scores is in tasks.jsonl, such as "
            f"{min(scored)!r}: they are of another run; score this one again with "
            f"`seal score {run.path}`"
        )
    played: dict[str, set[int]] = {}
    for trajectory in chats.read():
        task = next(iter(tasks.get(trajectory.task_id)), None)
        if task is None:
            left_out.reasons[UNKNOWN] += 1
            continue
        played.setdefault(task.id, set()).add(trajectory.trial)
        own = scores.get((task.id, trajectory.trial))
        yield ScoredChat(task, trajectory, [score for score in own if score.metric in metrics])
    for file in (tasks, scores, chats):
        if file.torn:
            left_out.reasons[f"{TORN}: {file.path.name}"] += 1
    told = (run.manifest().get("measure") or {}).get("trials")
    due = set(range(told)) if type(told) is int else set().union(*played.values())
    for task_id in tasks:
        lacking = sorted(due - played.get(task_id, set()))
        goals = len(lacking) * len(tasks.get(task_id)[0].goals) if lacking else 0
        if lacking and task_id in played:
            left_out.reasons[TRIAL] += goals
            left_out.trials.extend((task_id, trial) for trial in lacking)
        elif lacking:
            left_out.reasons[NOT_PLAYED] += goals
            left_out.tasks.append(task_id)
