"""`seal view`: the tasks of a run, one chat, and chats while they run."""

from __future__ import annotations

import json
import shlex
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from itertools import chain, groupby
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from seal.core import (
    Scale,
    Score,
    Step,
    Task,
    Tool,
    ToolCall,
    ToolResult,
    Trajectory,
    UnknownNameError,
    UsageError,
)
from seal.core.call_formats import repairs_of
from seal.core.files import is_held
from seal.core.records import to_plain
from seal.core.text import counted, folded, goal_name, one_line, printable
from seal.evaluation.attribution import Decided
from seal.evaluation.pass_rates import NAME as PASS_RATE
from seal.experiments.explanation import Explainer
from seal.pools.pool import named_one
from seal.report.chat_list import ChatLine, chat_line, kept_lines
from seal.report.chat_pages import (
    CallRow,
    Mark,
    annotate,
    call_line,
    cause_text,
    ended_words,
    gold_lines,
    json_text,
    verdicts,
)
from seal.report.grids import Grid, number
from seal.report.lanes import (
    DECISIVE,
    answer_of,
    by_chat,
    deciding_metric,
    decisive_of,
    outcome_label,
    reason_of,
    scores_so_far,
    summary_table,
    trajectories_so_far,
)
from seal.runs.journal import LiveTail
from seal.runs.run import RunFolder, check_whole
from seal.runs.running import RunningRun
from seal.runs.scores import Tail

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text


# -- One chat as a readable transcript: who said what to whom, what was called, how it ended.

_LINE = 80
"""Characters of a result that stands on one line."""
_LARGE = 100_000
"""Characters of one that is shown as it came."""
FOLD = 1_200
"""Characters of a response or message that are shown unless all are asked for."""

COLOURS = {
    "solved": "bold green",
    "unsolved": "bold red",
    "undecided": "bold yellow",
    "error": "bold white on red",
}

_MARKS = {
    "reached": "bold green",
    "partly": "bold yellow",
    "hit": "bold white on red",
    "event": "bold magenta",
    "printed": "",
    "thought": "",
    "ended": "bold",
    "flag": "bold yellow",
    "fault": "bold red",
    "service": "yellow",
}

_JUDGES = {"rule": "judge (knows the gold)", "llm": "judge (a model, sees no gold)"}
"""What to call a judge, by the first word of its identity."""

Line = tuple[str, str]
"""(text, style) of one paragraph."""


def render_transcript(
    task: Task | None,
    trajectory: Trajectory,
    tools: Mapping[str, Tool],
    scores: Sequence[Score] = (),
    fold: int | None = FOLD,
    judge: str = "",
    decisive: Mapping[str, Scale] = DECISIVE,
    why: Sequence[Decided] = (),
) -> Text:
    """Return a whole chat; its `plain` is the same without colours.

    Control characters of the data are replaced by visible signs.

    Args:
        task: What was played; None where only the trajectory is left.
        trajectory: What was said and done.
        tools: The pool by id, for the names of offered tools.
        scores: Scores of this task and trial.
        fold: Characters of a text that are shown before the rest is folded away; None: all.
        judge: Identity of the judge that gave the pass rate; empty: unknown.
        decisive: Metrics that say whether a goal is solved.
        why: Of each goal what explains its failure (`seal.experiments.explanation.Explainer`).
    """
    names = {id: tool.name for id, tool in tools.items()}
    notes = annotate(task, trajectory, scores, names)
    goals = _goals_of(task)
    lines = [
        *heading_lines(trajectory.task_id, trajectory.trial, task, names),
        *_answer_lines(trajectory, goals),
        *_verdict_lines(trajectory, scores, judge, decisive, goals),
        *_cause_lines(why),
        *_call_marks(notes.calls),
        *_offered_lines(trajectory, tools, goals),
        *step_lines(trajectory.steps, fold, notes.marks, goals),
        *ending_lines(trajectory, scores, judge, decisive, goals),
        *_cause_lines(why),
    ]
    return join_lines(lines)


def join_lines(lines: Iterable[Line]) -> Text:
    """Return paragraphs as one text, each on its own line, controls of the data made visible."""
    from rich.text import Text

    return Text("\n").join(Text(printable(text), style=style) for text, style in lines)


def heading_lines(
    task_id: str,
    trial: int,
    task: Task | None,
    names: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Line]:
    """Yield the task's name, its goals and what they ask for."""
    yield f"task {task_id}, trial {trial}", "bold underline"
    if task is None:
        yield "the run's tasks.jsonl does not have this task", "yellow"
        return
    if task.tags:
        shown = {n: v if isinstance(v, str) else json_text(v) for n, v in task.tags.items()}
        tags = ", ".join(f"{name}={value}" for name, value in shown.items())
        yield f"tags: {tags}", "dim"
    for place, goal in enumerate(task.goals):
        yield f"{goal_name(place, len(task.goals))}: {goal.text}", "bold"
        for line in gold_lines(goal, names):
            yield f"  gold {line}", "dim"


def _goals_of(task: Task | None) -> int:
    return 1 if task is None else len(task.goals)


def _cause_lines(why: Sequence[Decided]) -> Iterator[Line]:
    """Yield the first stage at which each failed goal failed, with the evidence."""
    for goal, (_, cause) in enumerate(why):
        if cause is not None:
            place = "" if cause.step is None else f", step {cause.step}"
            yield (
                f"{goal_name(goal, len(why))} failed: {cause_text(cause)}{place}: {cause.said}",
                COLOURS["unsolved"],
            )


def _call_marks(goals: Sequence[Sequence[CallRow]]) -> Iterator[Line]:
    """Yield each gold call beside the made one, with what is wrong with it."""
    for goal, rows in enumerate(goals):
        for row in rows:
            shown = row.gold if row.mark == "missing" else row.made
            step = "" if row.step is None else f", step {row.step}"
            why = f": {row.why}" if row.why else ""
            style = "green" if row.mark == "right" and not row.why else "yellow"
            yield f"{goal_name(goal, len(goals))} call {row.mark}{step}: {shown}{why}", style


def step_lines(
    steps: Iterable[Step],
    fold: int | None = FOLD,
    marks: Mapping[int, Sequence[Mark]] = MappingProxyType({}),
    goals: int = 1,
) -> Iterator[Line]:
    """Yield the steps, those of one reply under one heading, with who speaks next.

    Args:
        steps: Some or all of a chat.
        fold: Characters of a text that are shown.
        marks: What happened at steps, by `Step.index`.
        goals: Of the task; 1 also where it is not known.
    """
    heard = None
    ends = attrgetter("author", "recipient", "turn", "goal")
    for (author, recipient, turn, goal), group in groupby(steps, ends):
        reply = list(group)
        yield "", ""
        first, last = reply[0].index, reply[-1].index
        place = f"[{first}]" if first == last else f"[{first}-{last}]"
        about = f"{goal_name(goal, goals)}, message {turn}"
        yield f"{place} {author} -> {recipient}  ({about})", "bold cyan"
        for step in reply:
            if step.content and step.content == heard:
                yield "    (the same text)", "dim"
            else:
                yield from _content_lines(step, fold)
            heard = step.content if step.call is None and step.result is None else heard
            for mark in marks.get(step.index, ()):
                text = mark.text.replace("\n", "\n      ")
                yield f"    * {text}", _MARKS.get(mark.kind, "bold")
        yield f"    next speaker: {recipient}", "dim"


def ending_lines(
    trajectory: Trajectory,
    scores: Sequence[Score],
    judge: str = "",
    decisive: Mapping[str, Scale] = DECISIVE,
    goals: int = 1,
) -> Iterator[Line]:
    """Yield why the chat ended, the final answers, the verdicts and the scores with reasons."""
    yield "", ""
    for goal, stop in enumerate(trajectory.stops):
        style = COLOURS["error"] if stop.error else "bold"
        yield f"{goal_name(goal, goals)} stopped: {stop.reason}", style
        if stop.error:
            yield indent(stop.error), "red"
    yield from _answer_lines(trajectory, goals)
    yield from _verdict_lines(trajectory, scores, judge, decisive, goals)
    yield from _score_lines(trajectory, scores)


def indent(text: str, by: int = 4) -> str:
    """Return the text with every line moved to the right."""
    return "\n".join(" " * by + line for line in text.split("\n"))


def _offered_lines(trajectory: Trajectory, tools: Mapping[str, Tool], goals: int) -> Iterator[Line]:
    for goal, ids in enumerate(trajectory.offered):
        names = ", ".join(tools[id].name if id in tools else id for id in ids)
        yield f"{goal_name(goal, goals)} offered tools ({len(ids)}): {names or 'none'}", "dim"


def _content_lines(step: Step, fold: int | None) -> Iterator[Line]:
    if step.content and step.result is None:
        yield from _folded_lines(step.content, fold)
    if step.call is not None:
        yield from _call_lines(step.call, fold)
    if step.result is not None:
        yield from _result_lines(step.result, fold)


def _call_lines(call: ToolCall, fold: int | None) -> Iterator[Line]:
    unknown = "" if call.tool else "  (no offered tool has this name)"
    yield f"    {call.id}  {call.name}{unknown}", "bold yellow"
    if call.arguments is None:
        yield "        arguments are no JSON object:", "red"
        yield from _folded_lines(call.raw, fold, by=8)
        return
    yield from _folded_lines(json_text(call.arguments, indent=2), fold, by=8)
    repairs = repairs_of(call)
    if repairs:
        yield f"        repaired to be read ({', '.join(repairs)}); written as:", "yellow"
        yield from _folded_lines(call.raw, fold, by=8)


def _result_lines(result: ToolResult, fold: int | None) -> Iterator[Line]:
    if result.error is None:
        yield f"    {result.call_id}  answered", "green"
    else:
        kind = str(result.error.get("kind", "error"))
        ran = "" if result.executed else ", not executed"
        yield f"    {result.call_id}  failed: {kind}{ran}", "red"
    yield from _folded_lines(_tree(result.content), fold, by=8)


def _tree(text: str) -> str:
    """Return a JSON object or list over several lines where it is long, else the text."""
    if _LINE < len(text) < _LARGE and text[:1] in ("{", "["):
        with suppress(ValueError, RecursionError):
            return json_text(json.loads(text), indent=2)
    return text


def _folded_lines(text: str, fold: int | None, by: int = 4) -> Iterator[Line]:
    start, left_out = folded(text, fold)
    yield indent(start, by), ""
    if left_out:
        yield (
            " " * by + f"... {counted(left_out, 'more character')}; trajectories.jsonl has all",
            "dim",
        )


def _answer_lines(trajectory: Trajectory, goals: int) -> Iterator[Line]:
    for goal, answer in enumerate(trajectory.answers):
        yield f"{goal_name(goal, goals)} answer: {'none' if answer is None else answer}", ""


def _verdict_lines(
    trajectory: Trajectory,
    scores: Sequence[Score],
    judge: str,
    decisive: Mapping[str, Scale],
    goals: int,
) -> Iterator[Line]:
    label = outcome_label(trajectory.failed, scores, decisive)
    if scores or label == "error":
        metric = deciding_metric(scores, decisive)
        yield f"{_who_says(label, metric, scores, judge)}: {label}", COLOURS.get(label, "bold")
    for one in verdicts(scores, decisive):
        reason = f": {one.reason}" if one.reason else ""
        named = goal_name(one.goal, goals)
        yield f"{named} {one.metric}: {one.said}{reason}", COLOURS[one.state]


def _who_says(label: str, metric: str | None, scores: Sequence[Score], judge: str) -> str:
    """Return who decided the outcome; it is never a role of the chat, such as the checker."""
    if label == "error" or metric != PASS_RATE:
        return "outcome"
    by = {score.details.get("by") for score in scores if score.metric == metric}
    if len(by) == 1 and (who := by.pop()) is not None:
        return str(who)
    return _JUDGES.get(judge.partition("/")[0], "judge, after the chat")


def _score_lines(trajectory: Trajectory, scores: Sequence[Score]) -> Iterator[Line]:
    told = [s for s in scores if s.value is not None or not trajectory.failed]
    if len(told) < len(scores):
        yield f"not scored: {counted(len(scores) - len(told), 'value')}, for the error above", "dim"
    if not told:
        return
    yield "scores", "bold"
    valued = [score for score in told if score.value is not None]
    width = max((len(score.metric) for score in valued), default=0)
    for score in valued:
        reason = f"  {reason_of(score)}" if reason_of(score) else ""
        name = score.metric.ljust(width)
        yield f"  {goal_name(score.goal)}  {name}  {number(score.value):>9}{reason}", ""
    reasons = Counter(reason_of(score) or "no reason" for score in told if score.value is None)
    for why, count in reasons.items():
        yield f"  without value: {counted(count, 'score')}: {why}", "dim"


# -- `seal view`: the tasks of a run, one chat, or a chat while it runs.

POLL_SECONDS = 0.3
_SCREEN = 20
"""Chats of a list that one sees at once with what stands above it."""
_LISTED = 1_000
"""Chats of the list that is shown unless all are asked for: to lay out 2,000 takes a second."""


def view(
    run: RunFolder,
    task_id: str | None = None,
    trial: int = 0,
    follow: bool = False,
    out: Console | None = None,
    fold: int | None = FOLD,
) -> None:
    """Print the list of a run's tasks, one chat, or what is being said.

    Args:
        run: The run; it may be running.
        task_id: As `find_task` reads it; None: all tasks.
        trial: Which of the task's trials.
        follow: Print chats as they grow, until the chat (or the run) has ended.
        out: Where to print; None: the terminal.
        fold: Characters of a text before it is folded; None: all of it.

    Raises:
        UnknownNameError: No such task; names the closest.
        UsageError: The text fits several tasks, or the task was not played in this trial.
        DataError: A file of a run that has ended is damaged or cut.
    """
    from rich.console import Console

    _check_ended(run)
    out = out or Console(highlight=False)
    task = None if task_id is None else find_task(run, task_id)
    if follow:
        for text in Follower(run, task, trial, fold).texts():
            out.print(text, soft_wrap=True)
    elif task is None:
        from seal.report.live import live_parts  # its colours are ours

        if isinstance(run, RunningRun):
            for part in live_parts(run):
                out.print(part, soft_wrap=isinstance(part, str))
        answer = (
            "\n".join(map(printable, answer_of(run)))
            if run.is_scored and not isinstance(run, RunningRun)
            else ""
        )
        if answer:
            out.print(answer, markup=False, soft_wrap=True)
            out.print(summary_table(run))
        table = outcome_table(run)
        rest = len(table.rows) - (len(table.rows) if fold is None else _LISTED)
        out.print(table._replace(rows=table.rows[: len(table.rows) - max(0, rest)]))
        if rest > 0:
            out.print(f"and {counted(rest, 'more chat')}: --full or --json shows all")
        if answer and len(table.rows) > _SCREEN:  # what stands above has scrolled away
            out.print(answer, markup=False, soft_wrap=True)
    else:
        if task_id is not None and task_id not in task.id:
            out.print(
                printable(f"{task_id} is no id of a task: it is the place of {task.id} in the run"),
                markup=False,
                soft_wrap=True,
            )
        out.print(transcript_of(run, task, trial, fold), soft_wrap=True)


def _check_ended(run: RunFolder) -> None:
    if not isinstance(run, RunningRun):
        check_whole(run)


def find_task(run: RunFolder, wanted: str | int) -> Task:
    """Return the task that a user's text names: its id, else the one id that starts or ends so.

    A number that is neither is the place of a task in the run, from 1.

    Raises:
        UnknownNameError: None does; names the closest.
        UsageError: Several do.
    """
    tasks, name = {task.id: task for task in run.tasks()}, str(wanted)
    try:
        return tasks[named_one("task", name, tasks)]
    except UnknownNameError:
        places = {str(place): task for place, task in enumerate(tasks.values(), start=1)}
        if name in places:
            return places[name]
        if not name.isdecimal():
            raise
    cure = f"Places of tasks go from 1 to {len(places):,}."
    raise UnknownNameError("task", name, (), cure=cure)


def outcome_table(run: RunFolder) -> Grid:
    """Return the run's tasks: id, a goal, outcome, why it failed, number of calls.

    Under the goal of a task that failed stands the start of its error. Of several failed goals the
    first one is shown and explained, and the others are counted. Where none is explained, it stands
    there why one is undecided, or the stop reason, unless all is well.
    """
    lines = kept_lines(run) or _lines_of(run)
    rows: list[tuple[str, ...]] = []
    for line in lines:
        goal = f"{line.goal}\n{line.error}" if line.error else line.goal
        fine = line.outcome == "solved" and line.stop == "done"
        why = cause_text(line.cause) if line.cause else "" if fine else line.doubt or line.stop
        why = "; ".join(filter(None, (why, line.failed)))
        rows.append((line.task, str(line.trial), goal, line.outcome, why, str(line.calls)))
    several_trials = any(trial != "0" for _, trial, *_ in rows)
    played = {task_id for task_id, *_ in rows}
    for task in run.tasks_of(set(run.task_ids()) - played):
        goal = one_line(task.goals[0].text, 45) if task.goals else ""
        rows.append((task.id, "", goal, "unfinished", "", ""))
    columns: tuple[str, ...] = ("task", "trial", "goal", "outcome", "why", "calls")
    if not several_trials:
        columns, *rows = ((row[0], *row[2:]) for row in (columns, *rows))
    return Grid("", columns, rows, names=len(columns) - 1, colours=COLOURS)


def _lines_of(run: RunFolder) -> Iterator[ChatLine]:
    """Yield a line for each chat that is written, also of a run that goes on or has no scores."""
    decisive, explainer = decisive_of([run]), Explainer(run) if run.is_scored else None
    scores = by_chat(scores_so_far(run, {*decisive, *(explainer.reads if explainer else ())}))
    tasks = {task.id: task for task in run.tasks()}
    names = {id: tool.name for id, tool in explainer.tools.items()} if explainer else {}
    for chat in trajectories_so_far(run):
        task, own = tasks.get(chat.task_id), scores.get((chat.task_id, chat.trial), [])
        decided = explainer.of(task, chat, own) if explainer and task else ()
        yield chat_line(task, chat, own, decided, decisive, names)


class Follower:
    """Prints a run while it is written.

    A chat in progress stands in `live/*.jsonl` of the run folder, each line one step as
    `{"task_id": ..., "trial": ..., "step": {...}}`; when it has ended, its whole is a line of
    trajectories.jsonl.

    Args:
        run: The run.
        task: Follow this task alone; None: all.
        trial: Trial of that task.
        fold: Characters of a text before it is folded.
    """

    def __init__(
        self, run: RunFolder, task: Task | None = None, trial: int = 0, fold: int | None = FOLD
    ) -> None:
        self._run = run
        self._wanted = (task.id, trial) if task else None
        self._tasks = {task.id: task} if task else {task.id: task for task in run.tasks()}
        self._fold = fold
        self._chats = Tail(run.trajectories_path, Trajectory)
        self._live: dict[str, LiveTail] = {}
        self._shown: dict[tuple[str, int], int] = {}
        self._failed: dict[tuple[str, int], bool] = {}
        self._heading: tuple[str, int] | None = None

    def texts(self, poll: float = POLL_SECONDS) -> Iterator[Any]:
        """Yield what is new, as it comes, until the chat or the run has ended, or nobody writes."""
        while True:
            # In this order: what a run wrote before it let go of the folder is seen below.
            written = is_held(self._run.path)
            ended = self._has_ended()
            found_new = False
            for text in self.read_new():
                found_new = True
                yield text
            if ended or self._wanted in self._failed:
                return
            if not written and not found_new:
                folder = shlex.quote(str(self._run.path))
                told = (
                    f"the run stopped unfinished; go on with: seal run ... --out {folder} --resume"
                )
                yield join_lines([("", ""), (told, "yellow")])
                return
            time.sleep(poll)

    def read_new(self) -> Iterator[Any]:
        """Yield what was written since the last time: steps of running chats, then endings."""
        for key, step in self._live_steps():
            if self._awaits(key):
                if step.index == 0:  # a chat that was interrupted begins anew
                    self._shown.pop(key, None)
                yield from self._show_steps(key, [step])
        for trajectory in self._chats.read():
            key = (trajectory.task_id, trajectory.trial)
            repeated = key in self._failed and trajectory.failed
            if self._awaits(key) and not repeated:
                self._failed[key] = trajectory.failed
                yield from self._show_steps(key, trajectory.steps)
                goals = _goals_of(self._tasks.get(key[0]))
                yield join_lines(ending_lines(trajectory, (), goals=goals))
                self._shown.pop(key, None)

    def _awaits(self, key: tuple[str, int]) -> bool:
        # A chat that the infrastructure ended is played again by a resumed run.
        return self._wanted in (None, key) and self._failed.get(key, True)

    def _show_steps(self, key: tuple[str, int], steps: Any) -> Iterator[Any]:
        first = self._shown.get(key, 0)
        new = [step for step in steps if step.index >= first]
        if not new:
            return
        if self._heading != key:
            self._heading = key
            yield join_lines([("", ""), *heading_lines(*key, self._tasks.get(key[0]))])
        self._shown[key] = new[-1].index + 1
        goals = _goals_of(self._tasks.get(key[0]))
        yield join_lines(step_lines(new, self._fold, goals=goals))

    def _live_steps(self) -> Iterator[tuple[tuple[str, int], Step]]:
        folder = self._run.path / "live"
        names = sorted(file.name for file in folder.glob("*.jsonl")) if folder.is_dir() else []
        self._live = {name: self._live.get(name) or LiveTail(folder / name) for name in names}
        yield from chain.from_iterable(map(LiveTail.steps, self._live.values()))

    def _has_ended(self) -> bool:
        summary = self._run.path / "summary.json"
        chats = self._run.trajectories_path
        if not summary.is_file() or not chats.is_file() or any(self._run.path.glob("live/*.jsonl")):
            return False
        return summary.stat().st_mtime_ns >= chats.stat().st_mtime_ns


def view_record(run: RunFolder, task_id: str | None = None, trial: int = 0) -> dict[str, Any]:
    """Return what `view` shows as a record for JSON: the list of tasks, or one chat.

    Of the list it is `tasks`, each with the columns of the table, and of a running run how far it
    is, `running`. Of a chat it is `task`, `trajectory`, `scores` and `failed`: goal, stage, cause,
    said and step of each failed goal.

    Raises:
        UnknownNameError, UsageError, DataError: As for `view`.
    """
    _check_ended(run)
    if task_id is None:
        grid = outcome_table(run)
        tasks = [dict(zip(grid.columns, row, strict=True)) for row in grid.rows]
        return {"tasks": tasks} | ({"running": far_of(run)} if isinstance(run, RunningRun) else {})
    task = find_task(run, task_id)
    found, scores, why = chat_of(run, task, trial)
    failed = [
        {"goal": goal} | {name: getattr(cause, name) for name in ("stage", "cause", "said", "step")}
        for goal, (_, cause) in enumerate(why)
        if cause is not None
    ]
    shown = to_plain({"task": task, "trajectory": found, "scores": scores})
    return {**shown, "failed": failed}


def far_of(run: RunningRun) -> dict[str, Any]:
    """Return how far a running run is: done, total, errors, scored, left_s."""
    told = asdict(run.state())
    return {name: told[name] for name in ("done", "total", "errors", "scored", "left_s")}


def chat_of(
    run: RunFolder, task: Task, trial: int
) -> tuple[Trajectory, list[Score], Sequence[Decided]]:
    """Return a chat with its scores, and of each goal what explains its failure.

    Raises:
        UsageError: The task was not played in this trial; lists the trials that there are.
    """
    played = [chat for chat in trajectories_so_far(run) if chat.task_id == task.id]
    found = next((chat for chat in reversed(played) if chat.trial == trial), None)
    if found is None:
        trials = ", ".join(str(chat.trial) for chat in played)
        hint = f"played: trial {trials}" if trials else "it has not been played yet; try --follow"
        raise UsageError(f"task {task.id!r} has no trial {trial}; {hint}")
    scores = [s for s in scores_so_far(run) if (s.task_id, s.trial) == (task.id, trial)]
    return found, scores, Explainer(run).of(task, found, scores) if run.is_scored else ()


def outline(trajectory: Trajectory, goals: Sequence[Sequence[CallRow]] = ()) -> Grid:
    """Return a chat as a table: a row for each message and each call, with how the call ended.

    Args:
        trajectory: The chat.
        goals: Of each goal its calls beside gold; a call that gold does not ask so is marked.
    """
    marks = {row.step: row.mark for rows in goals for row in rows if row.mark != "right"}
    results = {step.result.call_id: step.result for step in trajectory.steps if step.result}
    rows = []
    for step in trajectory.steps:
        if step.result is not None and step.call is None:
            continue
        call = step.call
        said = one_line(step.content, _LINE) if call is None else call_line(call)
        ended = "" if call is None else ended_words(results.get(call.id))
        if call is not None and step.index in marks:
            ended += f", {marks[step.index]}"
        rows.append((str(step.index), step.author, said, ended))
    return Grid("", ("step", "who", "says or calls", "ended"), rows, names=3)


def transcript_of(run: RunFolder, task: Task, trial: int, fold: int | None = FOLD) -> Text:
    """Return a chat of a run as `seal view` prints it; as for `chat_of`."""
    found, scores, why = chat_of(run, task, trial)
    judge = str(run.manifest().get("measure", {}).get("judge", {}).get("judge", ""))
    return render_transcript(task, found, run.tools(), scores, fold, judge, decisive_of([run]), why)
