"""Tasks and chats as pieces of HTML, of which a page has each once.

`seal.report.html` writes them; its script puts the pieces of a chat together when it is opened.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from html import escape
from typing import TYPE_CHECKING, Any

import orjson
from markupsafe import Markup

from seal.core import Score, Task, Trajectory
from seal.core.formats import repairs_of
from seal.core.plain import json_bytes
from seal.evaluation.goals import asks_of_world
from seal.report.annotations import Annotations
from seal.report.chat_records import outcome_label, reason_of
from seal.report.gold import gold_lines, json_text
from seal.report.pages import macros
from seal.report.printable import folded, tables_text

if TYPE_CHECKING:
    from seal.evaluation.milestones.faults import TableChange
    from seal.report.milestones import ChangedRow

CUT = 4_000
"""Characters of one text that a page holds; the run's files have the rest."""
CUT_DETAILS = 1_500
CUT_CELL = 300
"""Characters of one cell of a table."""
ROWS = 50
"""Rows of one table."""
FOLD = 500
"""Characters of a text that is not folded."""
_START = 160
"""Characters that stand for a folded text."""
_SCORES, _TABLES = 2_000, 64
"""Scores and tables, most of which many chats share, that are not drawn anew."""


def task_pieces(task: Task) -> Iterator[str]:
    """Yield what a page shows of a task: its goals, and the brief of its user."""
    for place, goal in enumerate(task.goals):
        of_world = any(map(asks_of_world, goal.plans or ()))
        yield _made().goal(goal, place, len(task.goals), gold_lines(goal), of_world)
    if task.persona:
        yield _made().persona(json_text(task.persona, indent=2))


def chat_pieces(
    trajectory: Trajectory,
    notes: Annotations,
    scores: Sequence[Score] = (),
    decisive: Sequence[str] = (),
) -> Iterator[str]:
    """Yield what a page shows of a chat; together they are its HTML.

    Args:
        trajectory: What was said and done.
        notes: What stands beside the steps.
        scores: Of the chat.
        decisive: Metrics that say whether a goal is solved.
    """
    made = _made()
    yield made.offered(trajectory.offered)
    yield from (made.milestones(outcome, len(notes.goals)) for outcome in notes.goals)
    if notes.beginning:
        yield made.world_head(len(notes.beginning), sum(map(len, notes.beginning.values())))
        yield from (_table(name, json_bytes(rows)) for name, rows in notes.beginning.items())
        yield made.world_end()
    yield made.steps_head()
    yield from (made.step(step, notes) for step in trajectory.steps)
    told = [s for s in scores if s.metric in decisive and s.value is not None and reason_of(s)]
    yield made.ending(trajectory, outcome_label(trajectory.failed, scores, decisive), told)
    if scores:
        several = len({score.goal for score in scores}) > 1
        yield made.scores_head(len(scores), several)
        yield from (_score(score, several) for score in scores)
        yield made.scores_end()
    else:
        yield made.no_scores()


def _score(score: Score, several: bool) -> str:
    goal = score.goal if several else None
    return _score_row(score.metric, goal, score.value, reason_of(score), json_bytes(score.details))


@lru_cache(_SCORES)
def _score_row(
    metric: str, goal: int | None, value: float | None, reason: str, details: bytes
) -> str:
    told = orjson.loads(details)
    shown = json_text(told, indent=2) if told else ""
    row: str = _made().score(metric, goal, value, reason, shown)
    return row


@lru_cache(_TABLES)
def _table(name: str, rows: bytes) -> str:
    table: str = _made().table(name, *_cells(orjson.loads(rows)))
    return table


def _cells(rows: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[str]], int]:
    """Return the columns of a table, the cells of its first rows, and its number of rows."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    shown = [[_value(row[name]) if name in row else "" for name in columns] for row in rows[:ROWS]]
    return columns, shown, len(rows)


def _text(tag: str, whole: str, most: int = CUT) -> Markup:
    """Return a text as a block; a long one is folded."""
    shown, left = folded(whole, most)
    # Quotes, of which JSON is full, mean nothing outside of an attribute.
    said = escape(shown, quote=False)
    body = f'<{tag} class="said" dir="auto">{said}</{tag}>{_left_out(left, "characters")}'
    if len(shown) <= FOLD:
        return Markup(f"<div>{body}</div>")
    start = escape(" ".join(shown[:_START].split()), quote=False)
    head = f'<summary dir="auto">{start}… <small>({len(whole):,} characters)</small></summary>'
    return Markup(f'<details class="long">{head}{body}</details>')


def _left_out(count: int, what: str) -> str:
    note = f'<p class="note">{count:,} more {what} in the run\'s files</p>'
    return Markup(note if count > 0 else "")


def _value(value: Any) -> str:
    return _cell(json_text(value))


def _cell(text: str) -> str:
    start, left_out = folded(text, CUT_CELL)
    return f"{start}… ({left_out:,} more)" if left_out else start


def _changed(change: TableChange) -> list[ChangedRow]:
    from seal.report.milestones import change_rows

    return change_rows(change)


@cache
def _made() -> Any:
    return macros(
        "chat.html",
        text=_text,
        left_out=_left_out,
        cut=folded,
        cell=_cell,
        json=json_text,
        repairs=repairs_of,
        counted=tables_text,
        reason=reason_of,
        rows_of=_changed,
        CUT=CUT,
        CUT_DETAILS=CUT_DETAILS,
        ROWS=ROWS,
    )
