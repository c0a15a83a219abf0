"""Scoring: trajectories in, scores and a summary out; without a model unless one judges."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import (
    Callable,
    Collection,
    Container,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
    Set,
)
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from seal.core import (
    NOT_RECORDED,
    DataError,
    Goal,
    Metric,
    OverdueError,
    Scale,
    Score,
    Step,
    Task,
    Tool,
    ToolCall,
    ToolResult,
    Trajectory,
    Usage,
)
from seal.core.call_formats import LEFT, form_of, repairs_of
from seal.core.concurrency import in_time, within
from seal.core.conditions import EXECUTOR, Called
from seal.core.files import AtomicFile, opened
from seal.core.records import encode_scores
from seal.core.secrets import IN_PLACE
from seal.core.values import digest, json_text
from seal.evaluation import REGISTRY as METRICS
from seal.evaluation.calls import COUNT
from seal.evaluation.goals import (
    INFRASTRUCTURE,
    USER,
    LeftOutMetric,
    Rules,
    TaskChat,
    failed,
    rules_named,
)
from seal.evaluation.pass_rates import MILESTONES, JudgingSummary
from seal.evaluation.pattern_scores import MAX_TURNS, SERVICE_ANSWERS
from seal.evaluation.rule_judge import RuleJudge
from seal.evaluation.scoring import (
    USER_ERRORS,
    JudgeOf,
    Scoring,
    build_metrics,
    distinct,
    every_goal,
    is_ours,
    is_spoilt,
    left_out,
    scales_of,
    score_trajectory,
    usual_metrics,
)
from seal.evaluation.statistics import DIGITS, Summariser, groups_of
from seal.pools.benchmark import Benchmark, loaded, part_of
from seal.runs.chats import turns_of
from seal.runs.costs import Ledger
from seal.runs.journal import Pair
from seal.runs.run import (
    FAILED_GOLD,
    LINES,
    MEASURED,
    SCALES,
    SILENT,
    RunFolder,
    human_summary,
    note_judging,
    plain_scales,
)
from seal.runs.scores import COLUMNS, LARGE, Columns, is_rate
from seal.runs.workers import Threads

if TYPE_CHECKING:
    from seal.core.text_formats import TextForm

MetricsOf = Callable[[Task, int], Iterable[Metric]]
"""(task, trial) to metrics of that chat alone."""

_AT_ONCE = 64
"""Trajectories that wait for a thread or for those before them, at most."""

_QUESTIONS = 50
"""Most questions that a summary lists, the most frequent first."""
_LONGEST = 200
"""Characters of one."""

_AHEAD = 16
"""Chats that are judged at most while others are played."""
_AT_ONCE_S = 30.0
"""Seconds that the scoring of a chat may take while others are played; else it waits for them."""

LONGEST_S = 600.0
"""Seconds that the scoring of a chat may take where nothing else is said."""
SHORTEST_S = 10.0
"""The same where a chat may last less: a chat that a limit ended is scored as it stands."""
LONGEST_JUDGING_S = 3600.0
"""The same where a model judges, whose server may let wait."""

Known = tuple[list[Score], Set[str], bytes]
"""The scores of a chat, the names of those that the short table shows as one's own, and the lines
of the scores."""
_Scored = tuple[Trajectory, list[Score], Set[str], bytes]
"""The same behind the chat."""
_OVERDUE = f"{INFRASTRUCTURE}: scoring: "
"""Begins why there is no value where the scoring of a chat took longer than it may."""


def _no_metrics(task: Task, trial: int) -> Iterable[Metric]:
    return ()


@dataclass(slots=True)
class _Totals:
    """What the summary counts besides metrics."""

    errors: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    """Message to the number of trajectories that failed for it."""
    crashes: Counter[str] = field(default_factory=Counter)
    """What own roles raised to the number of trajectories in which they did."""
    own_models: dict[str, Any] = field(default_factory=dict)
    """Role to the model that it asked by itself."""
    stops: Counter[str] = field(default_factory=Counter)
    chats: Counter[str] = field(default_factory=Counter)
    """Task to the number of its trajectories."""
    measured: set[str] = field(default_factory=set)
    """Tasks of which something has a value, other than what their user did."""
    usage: Usage = field(default_factory=Usage)
    truncated: Counter[str] = field(default_factory=Counter)
    """Role to the number of its replies that a limit of tokens cut."""
    unknown_ends: Counter[str] = field(default_factory=Counter)
    """Word of a server that SEAL does not know to the number of replies that ended by it."""
    empty: Counter[str] = field(default_factory=Counter)
    """Role to the number of its answers that say nothing, call nothing and end as usual."""
    uncounted: int = 0
    """Answers with words of which the server counts no token."""
    names: Collection[str] = ()
    """Of the tools whose calls a server may have left in a text."""
    in_text: Counter[str] = field(default_factory=Counter)
    """Replies in whose text a server left a call, by whether it was `read` or is `left`, or is left
    in the `thoughts` with nothing else said; those that have thinking alone (`thought`), and
    those that call with escaped characters (`escaped`)."""
    form: TextForm | None = None
    """In which calls stand in the text; None: the server tells them apart."""
    repaired: int = 0
    """Calls that had to be repaired to be read, but for those left in a text."""
    repairs: Counter[str] = field(default_factory=Counter)
    """What was repaired in them to the number of calls."""
    spoilt: int = 0
    """Trajectories whose user made an error."""
    starred: int = 0
    """Trajectories in which a service's key stood."""
    calls: int = 0
    messages: int = 0
    silent: set[str] | None = None
    """Of `seated`, who spoke in no chat so far; None: every chat had an error or crashed."""
    seated: frozenset[str] = frozenset()
    """Roles whose seat or model was chosen; whether the executor speaks is the others' doing."""
    unrecorded: Counter[str] = field(default_factory=Counter)
    """What answered a question that a recording does not hold to the number of such calls."""
    questions: Counter[str] = field(default_factory=Counter)
    """Such questions."""
    unserved: Counter[str] = field(default_factory=Counter)
    """Why a service could not serve a call to the number of such calls; they count as made."""
    unanswered: int = 0
    """Calls without a result; they count as made, too."""
    failed: Counter[str] | None = None
    """Calls that failed, each with its task and error, where no milestone says that they should;
    None: they are not counted."""
    to_fail: Mapping[tuple[str, int], Sequence[Called]] = field(default_factory=dict)
    """Task and goal to the gold calls that are to fail."""

    def add(self, trajectory: Trajectory, scores: Sequence[Score]) -> None:
        self.chats[trajectory.task_id] += 1
        failures = {s.error for s in trajectory.stops if s.error and s.reason == "error"} or {
            score.reason
            for score in scores
            if score.value is None and score.reason.startswith(INFRASTRUCTURE)
        }
        is_error = trajectory.failed or bool(failures)
        self.errors += is_error
        is_whole = not is_error and all(stop.reason != "crashed" for stop in trajectory.stops)
        if self.silent is not None or is_whole:
            silent = self.seated if self.silent is None else self.silent
            self.silent = {*silent}.difference(step.author for step in trajectory.steps)
        self.spoilt += is_spoilt(scores)
        self.starred += any(
            IN_PLACE in step.content or (step.call and IN_PLACE in str(step.call.arguments))
            for step in trajectory.steps
        )
        if any(score.value is not None and score.metric not in USER_ERRORS for score in scores):
            self.measured.add(trajectory.task_id)
        self.reasons.update(failures)
        self.stops.update(stop.reason for stop in trajectory.stops)
        crashes = (s.error for s in trajectory.stops if s.error and s.reason == "crashed")
        self.crashes.update({text.partition("\n")[0] for text in crashes})
        self.own_models |= trajectory.provenance.get("own_models", {})
        for step in trajectory.steps:
            self.usage = self.usage + step.usage if step.usage else self.usage
            self.truncated[step.author] += step.finish_reason == "length"
            if step.finish_reason:
                self._end(step, step.finish_reason)
            self.calls += step.call is not None and step.author != USER
            if step.call is not None and step.author != USER:
                found = [one for one in repairs_of(step.call) if one not in LEFT]
                self.repaired += bool(found)
                self.repairs.update(found)
        self.messages += len({step.turn for step in trajectory.steps})
        vouched = {score.goal for score in scores if score.details.get("by") == MILESTONES}
        for score in (one for one in scores if one.metric == SERVICE_ANSWERS):
            self.unserved.update(score.details.get("causes", {}))
        for asked, answer in trajectory.calls():
            self.unanswered += answer is None and asked.author != USER
            how = "" if answer is None else _how_unrecorded(answer.result)
            if how and asked.call is not None:
                self.unrecorded[how] += 1
                self.questions[_question(asked.call)] += 1
            elif self.failed is not None and asked.goal not in vouched:
                marked = self.to_fail.get((trajectory.task_id, asked.goal), ())
                if asked.call is not None and any(_is_of(gold, asked.call) for gold in marked):
                    continue
                self.failed.update(_failure(trajectory.task_id, asked, answer))

    def _end(self, step: Step, finish: str) -> None:
        """Count what a server said of the end of a reply, and what it left in the text."""
        # Of servers alone: other runs do not load what their words mean.
        from seal.core.dialects import calls_thought, calls_written, has_entities, holds_end_mark
        from seal.core.outcomes import IN_TEXT, is_known

        if not is_known(finish):
            self.unknown_ends[finish] += 1
        if step.author != USER:
            self.in_text["marks"] += holds_end_mark(step.content)
        if step.call is not None:
            self.in_text["escaped"] += has_entities(step.call.arguments)
        if finish == IN_TEXT:
            self.in_text["read"] += 1
        elif step.call is None and step.author != USER:
            is_silent = not step.content.strip()
            counts = step.usage or Usage()
            self.uncounted += not (is_silent or counts.estimated or counts.tokens_out)
            self.empty[step.author] += finish == "stop" and is_silent
            if is_silent:
                thought = step.reasoning
                if self.form is None:
                    held = bool(calls_thought(thought, self.names))
                else:
                    held = bool(self.form.read(thought, self.names).calls)
                self.in_text["thoughts"] += held
                self.in_text["thought"] += finish == "stop" and bool(thought) and not held
            elif self.form is None:
                self.in_text["left"] += bool(calls_written(step.content, self.names))

    def unrecorded_calls(self) -> dict[str, Any]:
        """Return how many calls asked what no recording holds, their share, and what they asked."""
        if not self.unrecorded:
            return {}
        count = self.unrecorded.total()
        return {
            "calls": count,
            "share": round(count / self.calls, DIGITS),
            "answered": dict(sorted(self.unrecorded.items())),
            "questions": dict(self.questions.most_common(_QUESTIONS)),
        }


def _how_unrecorded(result: ToolResult | None) -> str:
    """Return what answered a question that no recording holds; empty: one holds it."""
    if result is None:
        return ""
    refused = result.error is not None and result.error.get("kind") == NOT_RECORDED
    return result.unrecorded or ("error" if refused else "")


def _refused(goal: Goal) -> list[Called]:
    """Return the gold calls that are marked as refused, or brought an error in the reference."""
    marked = [call for plan in goal.plans or () for call in plan.gold_calls() if call.refused]
    results = {step.result.call_id for step in goal.reference if step.result and step.result.error}
    calls = (step.call for step in goal.reference if step.call is not None)
    return marked + [
        Called.exact(call.tool or call.name, call.arguments or {})
        for call in calls
        if call.id in results
    ]


def _is_of(gold: Called, call: ToolCall) -> bool:
    return call.tool == gold.tool and gold.accepts(call.arguments)


def _failure(task_id: str, asked: Step, answer: Step | None) -> Iterator[str]:
    if asked.call and answer and answer.result and failed(answer.result):
        error = (answer.result.error or {}).get("message") or ""
        yield f"task {task_id}: {_question(asked.call)}: {error}"[: 2 * _LONGEST]


def _question(call: ToolCall) -> str:
    return f"{call.name}({json_text(call.arguments)})"[:_LONGEST]


def rules_of(match: str | None, benchmark: Benchmark | None) -> Rules:
    """Return the rules of a name, which may be one that the benchmark declares.

    Raises:
        UsageError: There are no such rules.
    """
    declared = {} if benchmark is None else benchmark.matches
    return rules_named(match, {name: loaded(code) for name, code in declared.items()})


@dataclass(frozen=True)
class Scorer:
    """How runs are scored.

    Raises:
        UsageError: There are no such rules.
    """

    judge_of: JudgeOf
    """Judge of the pass rate."""
    metrics_of: MetricsOf = _no_metrics
    """Metrics with judges of their own."""
    cutoffs: Sequence[int] = (1, 5, 10)
    """K of the retrieval metrics."""
    match: str | None = None
    """Rules of scores (`seal.evaluation.goals`); None: each task's own."""
    sandbox: str = "monty"
    """Where functions that a model wrote run (`seal.sandbox.NAMES`)."""
    extra: Sequence[Metric] = ()
    """Further metrics, beside those that the benchmark brings."""
    former: Mapping[Pair, Sequence[Score]] = field(default_factory=dict)
    """Scores of an earlier scoring, which stay where no metric gives one of their name now."""
    former_scales: Mapping[str, Scale] = field(default_factory=dict)
    """What these mean, by name."""
    without_spoilt: bool = False
    """Whether chats that their user spoilt have no values."""
    benchmark: Benchmark | None = None
    """What was played: its measures, and which goals are requests."""
    threads: int = 1
    """Trajectories judged at once; more than one only helps a model's judge."""
    asked: Callable[[], Ledger] = dict
    """Called when all is scored: what judges were asked."""
    longest: float = LONGEST_S
    """Seconds that the scoring of a chat may take; what takes longer has no value."""

    def score(
        self,
        folder: RunFolder,
        progress: Callable[[int, int], None] | None = None,
        known: Callable[[Pair], Known | None] = lambda pair: None,
    ) -> dict[str, Any]:
        """Score every trajectory of a run; write scores.jsonl and summary.json.

        Args:
            folder: The run; tasks and trajectories stand in the same order.
            progress: Called with (scored, total).
            known: A chat to what `at_once` gave of it; None: it is scored now.

        Returns:
            The summary.

        Raises:
            DataError: A trajectory of a task that the run does not have, or a damaged file.
        """
        tasks = {task.id: groups_of(task) for task in folder.tasks()}
        summariser = Summariser(tasks, self._scales)
        play = folder.manifest().get("system") or {}
        totals, judging = _Totals(), JudgingSummary()
        totals.form = form_of(str(play.get("format", "")))
        totals.names = {tool.name for tool in folder.tools().values()}
        roles, own = play.get("roles") or {}, play.get("role_models") or {}
        # Who names a model of the user's may not know that the checker keeps out then.
        chosen = {role for role, seat in roles.items() if seat != role or {role, USER} & {*own}}
        totals.seated = frozenset(chosen - {USER, EXECUTOR})
        if play.get("model") == {"model": "oracle"}:
            totals.failed = Counter()
            totals.to_fail = {
                (task.id, at): refused
                for task in folder.tasks()
                for at, goal in enumerate(task.goals)
                if (refused := _refused(goal))
            }
        with opened(folder.trajectories_path) as lines:
            total = sum(1 for _ in lines)
        goals, columns = 0, Columns()
        scored = _mapped(self._measure(folder.tools(), known), _pairs(folder), self.threads)
        with AtomicFile(folder.scores_path) as out:
            for number, (trajectory, scores, own, written) in enumerate(scored, 1):
                totals.add(trajectory, scores)
                out.write(written)
                columns.take(scores, written)
                goals += len({score.goal for score in scores})
                for score in scores:
                    summariser.add(score, score.metric in own)
                    judging.add(score)
                if progress is not None:
                    progress(number, total)
        if goals >= LARGE or folder.scores_path.with_name(COLUMNS).exists():
            from seal.runs.score_table import write_columns

            write_columns(folder.scores_path, columns)
        judged = judging.result()
        summary = _summary(folder, tasks, totals, summariser)
        summary[SCALES] = plain_scales(self._scales, summary["metrics"])
        summary |= {"judging": judged} if judged else {}
        summary |= {"without_spoilt": True} if self.without_spoilt else {}
        summary["usage"]["roles"] = note_judging(folder, self.asked())
        folder.write_json("summary.json", summary)
        return summary

    @cached_property
    def usual(self) -> MetricsOf:
        """Gives the metrics of a chat: of every run, of the benchmark, with judges of their own."""
        is_request = part_of(self.benchmark, "is_request") or every_goal
        measures = part_of(self.benchmark, "measures")
        rules = rules_of(self.match, self.benchmark)
        scoring = Scoring(self.judge_of, rules, self.sandbox)
        further: tuple[Metric, ...] = () if measures is None else tuple(measures(scoring))

        by_rule = usual_metrics(self.cutoffs, None, rules, is_request)

        def of_chat(task: Task, trial: int) -> tuple[Metric, ...]:
            judge, usual = self.judge_of(task, trial), by_rule
            if not isinstance(judge, RuleJudge):
                usual = usual_metrics(self.cutoffs, judge, rules, is_request)
            return *usual, *further, *self.metrics_of(task, trial)

        return of_chat

    @cached_property
    def _scales(self) -> dict[str, Scale]:
        """What scores mean, by name, as far as metrics have been asked."""
        return {**self.former_scales}

    @cached_property
    def _ahead(self) -> dict[tuple[str, int], _Scored]:
        return {}

    def score_ahead(
        self, folder: RunFolder, trajectory: Trajectory, tools: Mapping[str, Tool]
    ) -> bool:
        """Score one chat before the others end; `score` takes what came of it.

        Returns:
            Whether there may be more: at most 16 are scored so.
        """
        task = next(folder.tasks_of({trajectory.task_id}))
        pair = task, _with_turns(task, trajectory, *_turns_given(folder))
        self._ahead[task.id, trajectory.trial] = self._measure(tools)(pair)
        return len(self._ahead) < _AHEAD

    def at_once(
        self, folder: RunFolder, tools: Mapping[str, Tool]
    ) -> Callable[[Task, Trajectory], Known | None]:
        """Return what scores a chat while others are played, as `score` would.

        It gives None of a chat that has to wait: of one with a metric that is none of SEAL's, which
        may look at other chats, or whose scoring takes long.
        """
        measure, given = self._measure(tools), _turns_given(folder)
        bench = self.benchmark
        declared = () if bench is None else build_metrics(bench.metrics, METRICS)
        all_ours = all(map(is_ours, (*self.extra, *declared)))

        def scored(task: Task, trajectory: Trajectory) -> Known | None:
            if not (all_ours and all(map(is_ours, self.usual(task, trajectory.trial)))):
                return None
            with within(_AT_ONCE_S):
                _, scores, own, written = measure((task, _with_turns(task, trajectory, *given)))
            late = any(score.reason.startswith(_OVERDUE) for score in scores)
            return None if late else (scores, own, written)

        return scored

    def _measure(
        self,
        tools: Mapping[str, Tool],
        known: Callable[[Pair], Known | None] = lambda pair: None,
    ) -> Callable[[tuple[Task, Trajectory]], _Scored]:
        bench, usual = self.benchmark, self.usual
        given = {getattr(metric, "name", "") for metric in self.extra}
        built = () if bench is None else build_metrics(bench.metrics, METRICS)
        declared = tuple(metric for metric in built if metric.name not in given)
        hidden = declared if bench is not None and bench.headline else ()
        shown = self.extra if hidden else (*self.extra, *declared)
        ours = [metric for metric in shown if is_ours(metric)]
        others = [metric for metric in shown if not is_ours(metric)]

        def measure(pair: tuple[Task, Trajectory]) -> _Scored:
            task, trajectory = pair
            if (task.id, trajectory.trial) in self._ahead:
                return self._ahead[task.id, trajectory.trial]
            if (before := known((task.id, trajectory.trial))) is not None:
                return trajectory, *before
            metrics = (*usual(task, trajectory.trial), *hidden)
            with within(self.longest):
                try:
                    scores = in_time(partial(score_trajectory, task, trajectory, tools, metrics))
                except OverdueError as error:
                    lost, why = TaskChat(*pair, tools), f"{_OVERDUE}{error}"
                    names = scales_of(metrics)
                    scores = [one for name in names for one in LeftOutMetric(name, why).of(lost)]
                there = {(score.metric, score.goal) for score in scores}
                asked = {
                    (score.metric, score.goal): score
                    for metric in ours  # two of them may have a score alike
                    for score in score_trajectory(task, trajectory, tools, [metric])
                }
                own = score_trajectory(task, trajectory, tools, others)
                self._scales.update(scales_of((*metrics, *shown)))
                more = (score for place, score in asked.items() if place not in there)
                every = distinct((*scores, *more, *own))
                now = {(score.metric, score.goal) for score in every}
                former = self.former.get((task.id, trajectory.trial), ())
                kept = [one for one in former if (one.metric, one.goal) not in now]
                every += kept
                if self.without_spoilt and is_spoilt(every):
                    every = left_out(every)
                self._scales.update(_of_recorded_counts(every, self._scales))
            brought = frozenset(score.metric for score in (*asked.values(), *own, *kept))
            return trajectory, every, brought, encode_scores(every)

        return measure


def _of_recorded_counts(scores: Iterable[Score], known: Container[str]) -> dict[str, Scale]:
    """Return the scales of scores that no metric of ours gives and whose values are no rates."""
    return {
        score.metric: COUNT
        for score in scores
        if score.metric not in known and not is_rate(score.value)
    }


def _mapped(
    measure: Callable[[tuple[Task, Trajectory]], _Scored],
    pairs: Iterator[tuple[Task, Trajectory]],
    threads: int,
) -> Iterator[_Scored]:
    if threads == 1:
        yield from map(measure, pairs)
        return
    with Threads(threads, "judge") as pool:
        waiting = deque(pool.submit(measure, pair) for pair in islice(pairs, _AT_ONCE))
        while waiting:
            yield waiting.popleft().result()
            waiting.extend(pool.submit(measure, pair) for pair in islice(pairs, 1))


def _pairs(folder: RunFolder) -> Iterator[tuple[Task, Trajectory]]:
    """Yield each trajectory with its task; both files are read once, side by side.

    The trajectory's provenance tells how many turns each of its goals had.
    """
    given = _turns_given(folder)
    tasks = folder.tasks()
    task: Task | None = None
    for trajectory in folder.trajectories():
        while task is None or task.id != trajectory.task_id:
            task = next(tasks, None)
            if task is None:
                raise DataError(
                    f"{folder.trajectories_path}: task {trajectory.task_id!r} is not in "
                    f"tasks.jsonl, or stands out of order; play the run again"
                )
        yield task, _with_turns(task, trajectory, *given)


def _turns_given(folder: RunFolder) -> tuple[int | None, int | None]:
    measured = folder.manifest().get("measure") or {}
    return measured.get(MAX_TURNS), measured.get("max_messages")


def _with_turns(task: Task, trajectory: Trajectory, *given: int | None) -> Trajectory:
    told = {MAX_TURNS: turns_of(task, *given), **trajectory.provenance}
    return replace(trajectory, provenance=told)


def _summary(
    folder: RunFolder, tasks: Iterable[str], totals: _Totals, summariser: Summariser
) -> dict[str, Any]:
    manifest = folder.manifest()
    skipped = manifest.get("skipped") or {}
    trials = (manifest.get("measure") or {}).get("trials", 1)
    ids = list(tasks)
    truncated, thought = +totals.truncated, totals.usage.reasoning
    empty = +totals.empty
    unknown, in_text = totals.unknown_ends, +totals.in_text
    repaired = {"calls": totals.repaired, **dict(sorted(totals.repairs.items()))}
    unrecorded = totals.unrecorded_calls()
    missing = sum(max(0, trials - totals.chats[task]) for task in ids)
    return {
        "tasks": len(ids),
        "errors": totals.errors,
        "error_reasons": dict(sorted(totals.reasons.items())),
        **({"crashes": dict(sorted(totals.crashes.items()))} if totals.crashes else {}),
        **({"own_models": totals.own_models} if totals.own_models else {}),
        **({SILENT: sorted(totals.silent)} if totals.silent else {}),
        **({"spoilt": totals.spoilt} if totals.spoilt else {}),
        **({"starred": totals.starred} if totals.starred else {}),
        **({"groups_left_out": left_out} if (left_out := summariser.groups_left_out) else {}),
        **({"unrecorded": unrecorded} if unrecorded else {}),
        **({"unserved": dict(sorted(totals.unserved.items()))} if totals.unserved else {}),
        **({"unanswered": totals.unanswered} if totals.unanswered else {}),
        **({FAILED_GOLD: dict(totals.failed.most_common(_QUESTIONS))} if totals.failed else {}),
        **({"truncated": dict(sorted(truncated.items()))} if truncated else {}),
        **({"empty_answers": dict(sorted(empty.items()))} if empty else {}),
        **({"uncounted": totals.uncounted} if totals.uncounted else {}),
        **({"calls_in_text": dict(sorted(in_text.items()))} if in_text else {}),
        **({"repaired": repaired} if totals.repaired else {}),
        **({"unknown_ends": dict(sorted(unknown.items()))} if unknown else {}),
        LINES: folder.lines(),
        "skipped": sum(skipped.values()),
        "skipped_reasons": skipped,
        MEASURED: {"tasks": len(totals.measured), "digest": digest(sorted(totals.measured))},
        "unfinished": max(0, missing - sum(skipped.values())),
        "stop_reasons": dict(sorted(totals.stops.items())),
        "metrics": summariser.metrics(),
        **human_summary(folder),
        "usage": {
            "tokens_in": totals.usage.tokens_in,
            "tokens_out": totals.usage.tokens_out,
            **({"reasoning": thought} if thought else {}),
            "estimated": totals.usage.estimated,
            "calls": totals.calls,
            "messages": totals.messages,
        },
    }
