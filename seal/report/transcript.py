"""One chat as a readable transcript: who said what to whom, what was called, how it ended."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from types import MappingProxyType
from typing import TYPE_CHECKING

from seal.core import Scale, Score, Step, Task, Tool, ToolCall, ToolResult, Trajectory
from seal.core.formats import repairs_of
from seal.core.text import counted
from seal.evaluation.goals import decides, state_of
from seal.evaluation.judges.measures import NAME as PASS_RATE
from seal.report.annotations import Mark, annotate
from seal.report.chat_records import DECISIVE, deciding_metric, outcome_label, reason_of
from seal.report.gold_words import gold_lines, json_text
from seal.report.grids import number
from seal.report.printable import folded, printable

if TYPE_CHECKING:
    from rich.text import Text

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
    """
    notes = annotate(task, trajectory, scores)
    lines = [
        *heading_lines(trajectory.task_id, trajectory.trial, task),
        *_offered_lines(trajectory, tools),
        *step_lines(trajectory.steps, fold, notes.marks),
        *ending_lines(trajectory, scores, judge, decisive),
    ]
    return join_lines(lines)


def join_lines(lines: Iterable[Line]) -> Text:
    """Return paragraphs as one text, each on its own line, controls of the data made visible."""
    from rich.text import Text

    return Text("\n").join(Text(printable(text), style=style) for text, style in lines)


def heading_lines(task_id: str, trial: int, task: Task | None) -> Iterator[Line]:
    """Yield the task's name, its goals and what they ask for."""
    yield f"task {task_id}, trial {trial}", "bold underline"
    if task is None:
        yield "the run's tasks.jsonl does not have this task", "yellow"
        return
    if task.tags:
        tags = ", ".join(f"{name}={json_text(value)}" for name, value in task.tags.items())
        yield f"tags: {tags}", "dim"
    for position, goal in enumerate(task.goals):
        yield f"goal {position}: {goal.text}", "bold"
        for line in gold_lines(goal):
            yield f"  gold {line}", "dim"


def step_lines(
    steps: Iterable[Step],
    fold: int | None = FOLD,
    marks: Mapping[int, Sequence[Mark]] = MappingProxyType({}),
) -> Iterator[Line]:
    """Yield the steps, those of one reply under one heading, with who speaks next.

    Args:
        steps: Some or all of a chat.
        fold: Characters of a text that are shown.
        marks: What happened at steps, by `Step.index`.
    """
    heard = None
    for (author, recipient, turn, goal), group in groupby(steps, _reply):
        reply = list(group)
        yield "", ""
        first, last = reply[0].index, reply[-1].index
        place = f"[{first}]" if first == last else f"[{first}-{last}]"
        yield f"{place} {author} -> {recipient}  (goal {goal}, turn {turn})", "bold cyan"
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
) -> Iterator[Line]:
    """Yield why the chat ended, the final answers, the verdicts and the scores with reasons."""
    yield "", ""
    for goal, stop in enumerate(trajectory.stops):
        style = COLOURS["error"] if stop.error else "bold"
        yield f"goal {goal} stopped: {stop.reason}", style
        if stop.error:
            yield indent(stop.error), "red"
    for goal, answer in enumerate(trajectory.answers):
        told = "none" if answer is None else answer
        yield f"goal {goal} answer: {told}", ""
    yield from _verdict_lines(trajectory, scores, judge, decisive)
    yield from _score_lines(trajectory, scores)


def indent(text: str, by: int = 4) -> str:
    """Return the text with every line moved to the right."""
    return "\n".join(" " * by + line for line in text.split("\n"))


def _reply(step: Step) -> tuple[str, str, int, int]:
    return step.author, step.recipient, step.turn, step.goal


def _offered_lines(trajectory: Trajectory, tools: Mapping[str, Tool]) -> Iterator[Line]:
    for goal, ids in enumerate(trajectory.offered):
        names = ", ".join(tools[id].name if id in tools else id for id in ids)
        yield f"goal {goal} offered tools ({len(ids)}): {names or 'none'}", "dim"


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


def _verdict_lines(
    trajectory: Trajectory, scores: Sequence[Score], judge: str, decisive: Mapping[str, Scale]
) -> Iterator[Line]:
    label = outcome_label(trajectory.failed, scores, decisive)
    if scores or label == "error":
        metric = deciding_metric(scores, decisive)
        yield f"{_who_says(label, metric, scores, judge)}: {label}", COLOURS.get(label, "bold")
    for score in scores:
        if score.metric in decisive and decides(score):
            label = state_of(score, decisive[score.metric])
            said = label if "label" in score.details else number(score.value)
            reason = f": {reason_of(score)}" if reason_of(score) else ""
            yield f"goal {score.goal} {score.metric}: {said}{reason}", COLOURS[label]


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
    width = max(len(score.metric) for score in told)
    for score in told:
        reason = f"  {reason_of(score)}" if reason_of(score) else ""
        name = score.metric.ljust(width)
        yield f"  goal {score.goal}  {name}  {number(score.value):>9}{reason}", ""
