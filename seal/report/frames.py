"""Runs, sweeps and experiments in retrieval as pandas frames.

Of runs there are frames of scores, calls, messages and tasks. Every row begins with what `PLACE`
names, then come the tags of its task as `tag_NAME`, then the columns of its kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

from seal.core import (
    JSON,
    DataError,
    MissingExtraError,
    Step,
    Task,
    Trajectory,
    Usage,
)
from seal.core.text import goal_name
from seal.core.values import canonical_json
from seal.evaluation.goals import USER
from seal.experiments.series import LongForm
from seal.report.lanes import by_chat, decisive_of, goal_states, model_name
from seal.runs.call_handling import is_rejection
from seal.runs.run import RunFolder

if TYPE_CHECKING:
    from pandas import DataFrame

EXTRA = "experiments"
_COUNTS = ("sample", "tools", "top_k", "undefined", "n", "samples", "tokens_in", "tokens_out")
_NEEDED = ("tasks_needed", "trials_needed")
_FIGURES = ("value", "deviation", "low", "high", "queries", "mean", "other_mean", "difference")
_CHANCES = ("p", "p_holm", "detectable")
_TYPES = {
    **dict.fromkeys((*_COUNTS, *_NEEDED), "Int64"),
    **dict.fromkeys((*_FIGURES, *_CHANCES), "Float64"),
    "valid": "boolean",
}
"""Types of the columns that are no text, each with room for missing values."""


def long_frame(form: LongForm, content: Mapping[str, Any]) -> DataFrame:
    """Return the figures of an experiment as a frame, one a row.

    Args:
        form: Of the experiment.
        content: Of its file.

    Raises:
        MissingExtraError: pandas is not installed.
    """
    return framed(list(form.rows(content)), form.columns)


def require(package: str) -> None:
    """Make sure that a package of the extra `experiments` is installed.

    Raises:
        MissingExtraError: It is not.
    """
    if find_spec(package) is None:
        raise MissingExtraError(package, EXTRA)


def framed(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> DataFrame:
    """Return rows as a frame that has the columns, also where there is no row.

    Raises:
        MissingExtraError: pandas is not installed.
    """
    require("pandas")
    import pandas

    made = pandas.DataFrame(rows, columns=list(columns))
    return made.astype({name: kind for name, kind in _TYPES.items() if name in made.columns})


PLACE = ("run", "model", "task_id", "trial", "goal", "query")
SCORES = ("metric", "value", "weight", "reason")
CALLS = (
    "index", "turn", "author", "tool", "name", "arguments", "valid", "error", "message", "result",
)  # fmt: skip
MESSAGES = (
    "index", "turn", "author", "recipient", "kind", "content", "tokens_in", "tokens_out",
    "finish_reason", "reasoning",
)  # fmt: skip
TASKS = (
    "benchmark", "split", "outcome", "stop", "error", "answer", "messages", "calls",
    "tokens_in", "tokens_out",
)  # fmt: skip

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Source:
    """A run, and what its tasks add to each row."""

    name: str
    model: str
    run: RunFolder
    tasks: Mapping[str, Task]

    @classmethod
    def of(cls, name: str, run: RunFolder) -> _Source:
        return cls(name, model_name(run), run, {task.id: task for task in run.tasks()})

    def place(self, task_id: str, trial: int, goal: int) -> Row:
        """Return which run, task and goal a row is of.

        Raises:
            DataError: The run has no such task or goal.
        """
        task = self.tasks.get(task_id)
        if task is None or goal >= len(task.goals):
            raise DataError(
                f"{self.run.path}: {goal_name(goal)} of task {task_id!r} is not in tasks.jsonl; "
                "play the run again"
            )
        named = (self.name, self.model, task_id, trial, goal, task.goals[goal].text)
        tags = {f"tag_{name}": _plain(value) for name, value in task.tags.items()}
        return dict(zip(PLACE, named, strict=True)) | tags


Kind = Literal["scores", "calls", "messages", "tasks"]


def runs_frame(runs: Mapping[str, RunFolder], of: Kind) -> DataFrame:
    """Return a frame of several runs, as `seal.api.run_result.Framed` says of each kind.

    Args:
        runs: Name, as in the column `run`, to run.
        of: What a row is about.

    Raises:
        MissingExtraError: pandas is not installed.
        DataError: A run has no such task or goal, or a file of it is damaged.
    """
    rows_of, columns = _KINDS[of]
    sources = [_Source.of(name, run) for name, run in runs.items()]
    tags = dict.fromkeys(
        f"tag_{tag}" for source in sources for task in source.tasks.values() for tag in task.tags
    )
    rows = [row for source in sources for row in rows_of(source)]
    return framed(rows, (*PLACE, *tags, *columns))


def _scores(source: _Source) -> Iterator[Row]:
    for score in source.run.scores():
        place = source.place(score.task_id, score.trial, score.goal)
        yield place | _fields(score, *SCORES)


def _calls(source: _Source) -> Iterator[Row]:
    for chat in source.run.trajectories():
        for step, answer in chat.calls():
            yield source.place(chat.task_id, chat.trial, step.goal) | _call(step, answer)


def _call(step: Step, answer: Step | None) -> Row:
    call, result = step.call, None if answer is None else answer.result
    assert call is not None  # for the type alone: `Trajectory.calls` yields calls
    error = (result.error if result is not None else None) or {}
    return {
        **_fields(step, "index", "turn", "author"),
        **_fields(call, "tool", "name"),
        "arguments": call.raw if call.arguments is None else json_cell(call.arguments),
        "valid": None if result is None else not is_rejection(result),
        "error": error.get("kind"),
        "message": error.get("message"),
        "result": None if result is None else result.content,
    }


def _messages(source: _Source) -> Iterator[Row]:
    for chat in source.run.trajectories():
        for step in chat.steps:
            yield source.place(chat.task_id, chat.trial, step.goal) | {
                **_fields(step, "index", "turn", "author", "recipient", "content"),
                **_fields(step, "finish_reason", "reasoning"),
                "kind": "call" if step.call else "result" if step.result else "message",
                **(_fields(step.usage, "tokens_in", "tokens_out") if step.usage else {}),
            }


def _tasks(source: _Source) -> Iterator[Row]:
    decisive = decisive_of([source.run])
    scores = by_chat(score for score in source.run.scores() if score.metric in decisive)
    for chat in source.run.trajectories():
        task = source.tasks.get(chat.task_id)
        outcomes: dict[int, str] = {
            **goal_states(scores.get((chat.task_id, chat.trial), []), decisive)
        }
        if chat.failed:
            outcomes = dict.fromkeys(range(len(chat.stops)), "error")
        for goal in range(len(task.goals) if task else 1):
            place = source.place(chat.task_id, chat.trial, goal)
            assert task is not None  # for the type alone: `place` refuses an unknown task
            yield place | {
                **_fields(task, "benchmark", "split"),
                "outcome": outcomes.get(goal, "unscored"),
                **_goal(chat, goal),
            }


def _goal(chat: Trajectory, goal: int) -> Row:
    """Return how the chat about one goal went."""
    steps = [step for step in chat.steps if step.goal == goal]
    stop = chat.stops[goal] if goal < len(chat.stops) else None
    used = sum((step.usage for step in steps if step.usage), Usage())
    return {
        "stop": stop.reason if stop else None,
        "error": stop.error if stop else None,
        "answer": chat.answers[goal] if goal < len(chat.answers) else None,
        "messages": len({step.turn for step in steps}),
        "calls": sum(step.call is not None and step.author != USER for step in steps),
        "tokens_in": used.tokens_in,
        "tokens_out": used.tokens_out,
    }


_KINDS: Mapping[Kind, tuple[Callable[[_Source], Iterator[Row]], tuple[str, ...]]] = {
    "scores": (_scores, SCORES),
    "calls": (_calls, CALLS),
    "messages": (_messages, MESSAGES),
    "tasks": (_tasks, TASKS),
}
"""Kind to what gives its rows, and their own columns."""


def _fields(record: Any, *names: str) -> Row:
    return {name: getattr(record, name) for name in names}


def _plain(value: JSON) -> Any:
    """Return a tag as a cell holds it: lists and objects as JSON."""
    return json_cell(value) if isinstance(value, (list, tuple, dict)) else value


def json_cell(value: JSON) -> str:
    """Return a JSON value as the text of a cell."""
    return canonical_json(value).decode(errors="replace")
