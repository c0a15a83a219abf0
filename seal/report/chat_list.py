"""What lists tell of each chat of a run, and why its goals failed; a large run keeps both.

They stand in `explained.json` beside the scores, so that chats are read once. The file counts as
long as all that it was made of is what it was; else it is made again. Scoring removes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from seal.core import DataError, Scale, Score, Task, Trajectory, cluster_of
from seal.core.files import AtomicFile, opened
from seal.core.records import from_plain
from seal.core.secrets import without_keys
from seal.core.text import goal_name, one_line
from seal.core.values import json_bytes, json_value
from seal.evaluation.attribution import Cause, Decided
from seal.evaluation.goals import USER
from seal.experiments.explanation import (
    EXAMPLES,
    DecidedChat,
    Explainer,
    KnownChats,
    Needs,
    Unexplained,
    chats_of,
    explain_run,
)
from seal.pools.benchmark import Benchmark
from seal.report.chat_pages import target_line
from seal.report.lanes import decisive_of, outcome_label
from seal.runs.run import RunFolder
from seal.runs.running import RunningRun
from seal.runs.score_table import stamp_of
from seal.runs.scores import COLUMNS, EXPLAINED

_VERSION = 3
_FILES = ("run.json", "tools.jsonl", "tasks.jsonl", "trajectories.jsonl", "scores.jsonl")
_GOAL, _ERROR, _ANSWER = 45, 72, 120
"""Characters of a goal, an error, and an answer or a target."""


@dataclass(frozen=True, slots=True)
class ChatLine:
    """What lists tell of a chat."""

    task: str
    trial: int
    cluster: str
    """What its task counts together with (`seal.core.cluster_of`)."""
    goal: str
    """The start of the one that is explained; of several goals its name stands before it."""
    target: str
    outcome: str
    stop: str
    """Why the last goal ended."""
    error: str
    answer: str
    calls: int
    """Of the agent."""
    decided: Sequence[Decided]
    """Of each goal whether it is solved, and why it failed; empty where that is not known."""

    @property
    def cause(self) -> Cause | None:
        """Why the first failed goal failed."""
        return next((cause for _, cause in self.decided if cause is not None), None)

    @property
    def doubt(self) -> str:
        """Why the first undecided goal is undecided; empty where none is."""
        doubts = (one.reason for one, _ in self.decided if one.state == "undecided")
        return one_line(next(doubts, ""), _ANSWER)

    @property
    def failed(self) -> str:
        """How many of several goals failed; empty where none did, or there is only one."""
        failed, goals = sum(cause is not None for _, cause in self.decided), len(self.decided)
        return f"{failed} of {goals} goals failed" if failed and goals > 1 else ""


def chat_line(
    task: Task | None,
    chat: Trajectory,
    scores: Sequence[Score],
    decided: Sequence[Decided],
    decisive: Mapping[str, Scale],
    names: Mapping[str, str],
) -> ChatLine:
    """Return what lists tell of a chat.

    Args:
        task: What was played; None: the run does not have it any more.
        chat: What was said and done.
        scores: Of the chat.
        decided: Of each goal (`Explainer.of`).
        decisive: Metrics that say how it ended.
        names: Id of a tool to its name.
    """
    place = _explained_place(decided)
    goals = () if task is None else task.goals
    goal = one_line(goals[place].text, _GOAL) if place < len(goals) else ""
    return ChatLine(
        chat.task_id,
        chat.trial,
        "" if task is None else cluster_of(task.id, task.metadata),
        f"{goal_name(place, len(goals))}: {goal}" if len(goals) > 1 else goal,
        "" if task is None else one_line(target_line(task, names), _ANSWER),
        outcome_label(chat.failed, scores, decisive),
        chat.stops[-1].reason if chat.stops else "",
        one_line(next((stop.error for stop in chat.stops if stop.error), ""), _ERROR),
        one_line(" / ".join(filter(None, chat.answers)), _ANSWER),
        sum(step.call is not None and step.author != USER for step in chat.steps),
        decided,
    )


def _explained_place(decided: Sequence[Decided]) -> int:
    """Return which goal a line is about: the first that failed, else the first not solved."""
    failed = (place for place, (_, cause) in enumerate(decided) if cause is not None)
    unsolved = (place for place, (one, _) in enumerate(decided) if one.state != "solved")
    return next(failed, next(unsolved, 0))


@dataclass(frozen=True, slots=True)
class _Kept:
    """What the file holds."""

    version: int
    files: dict[str, tuple[int, int]]
    """Name to size and CRC-32 of what it was made of."""
    left_out: Unexplained
    needs: Needs
    chats: list[ChatLine]


def kept_lines(run: RunFolder) -> list[ChatLine]:
    """Return a line for each chat of a large scored run, in its order; of others nothing.

    Raises:
        DataError: A file of the run is damaged.
    """
    kept = _kept(run)
    return [] if kept is None else kept.chats


def explained(
    run: RunFolder,
    metric: str | None = None,
    examples: int = EXAMPLES,
    bench: Benchmark | None = None,
) -> dict[str, Any]:
    """Return what `explain_run` does, of a large run from what is kept."""
    kept = _kept(run) if metric is None and bench is None else None
    if kept is None:
        return explain_run(run, metric, examples, bench)
    chats = (DecidedChat(it.task, it.trial, it.cluster, it.decided) for it in kept.chats)
    known = KnownChats(chats, kept.left_out, kept.needs)
    with suppress(KeyError, IndexError):  # it tells of chats or goals that are not the run's
        return explain_run(run, metric, examples, known=known)
    return explain_run(run, metric, examples)


def _kept(run: RunFolder) -> _Kept | None:
    """Return what is kept of a run, made and written where it is not; None: it is not large."""
    large = run.scores_path.with_name(COLUMNS).is_file()
    if isinstance(run, RunningRun) or not (large and run.scores_path.is_file()):
        return None
    paths = [path for name in _FILES if (path := run.path / name).is_file()]
    files, path = {each.name: stamp_of(each) for each in paths}, run.path / EXPLAINED
    with suppress(OSError, ValueError, TypeError, AttributeError, DataError), opened(path) as file:
        kept = from_plain(json_value(file.read()), _Kept)
        if (kept.version, kept.files) == (_VERSION, files):
            return kept
    kept = _made(run, files)
    with suppress(OSError), AtomicFile(path) as file:  # of a folder that is read alone
        file.write(without_keys(json_bytes(kept)))
    return kept


def _made(run: RunFolder, files: dict[str, tuple[int, int]]) -> _Kept:
    explainer, left_out, needs = Explainer(run), Unexplained(), Needs(run.offered)
    decisive, lines = decisive_of([run]), []
    names = {id: tool.name for id, tool in explainer.tools.items()}
    for task, chat, scores in chats_of(run, left_out, {*explainer.reads, *decisive}):
        needs.add(task, chat)
        decided = explainer.of(task, chat, scores)
        lines.append(chat_line(task, chat, scores, decided, decisive, names))
    return _Kept(_VERSION, files, left_out, needs, lines)
