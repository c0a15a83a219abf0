"""Tasks and chats as pieces of HTML; a page that is one file holds equal pieces once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from hashlib import blake2b
from html import escape
from typing import TYPE_CHECKING, Any

import orjson
from markupsafe import Markup

from seal.core import Scale, Score, Step, Task, Trajectory
from seal.core.call_formats import repairs_of
from seal.core.text import folded, tables_text
from seal.core.values import json_bytes
from seal.evaluation.goals import asks_of_world
from seal.report.chat_marks import Annotations, gold_lines, json_text
from seal.report.lanes import DECISIVE, outcome_label, reason_of, said
from seal.report.pages import macros

if TYPE_CHECKING:
    from seal.evaluation.shortfalls import TableChange
    from seal.report.world_views import ChangedRow

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
"""Scores and tables that are kept: most are the same in many chats."""


@dataclass(frozen=True, slots=True)
class ChatFacts:
    """What a run's files tell of a chat beside what was said."""

    sight: Mapping[str, str] = field(default_factory=dict)
    """Role to what it sees: `all`, or `own` (what it said, and what was said to it)."""
    seconds: float | None = None
    """How long it took."""


NO_FACTS = ChatFacts()


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
    decisive: Mapping[str, Scale] = DECISIVE,
    facts: ChatFacts = NO_FACTS,
) -> Iterator[str]:
    """Yield what a page shows of a chat; together they are its HTML.

    Args:
        trajectory: What was said and done.
        notes: What stands beside the steps.
        scores: Of the chat.
        decisive: Metrics that say whether a goal is solved.
        facts: What else is known of it.
    """
    made = _made()
    authors = dict.fromkeys(step.author for step in trajectory.steps)
    roles = {role: place for place, role in enumerate(authors)}
    yield made.roles([(role, place, facts.sight.get(role, "all")) for role, place in roles.items()])
    yield made.offered(trajectory.offered)
    for outcome in notes.goals:
        from seal.report.world_views import graph

        yield made.milestones(outcome, len(notes.goals), graph(outcome.nodes))
    if notes.beginning:
        yield made.world_head(len(notes.beginning), sum(map(len, notes.beginning.values())))
        yield from (_table(name, json_bytes(rows)) for name, rows in notes.beginning.items())
        yield made.world_end()
    yield made.steps_head()
    tables = dict(notes.beginning)
    before: Step | None = None
    for step in trajectory.steps:
        yield made.step(step, notes, roles[step.author], _relayed(step, before), _same(step))
        tables |= step.state or {}
        if step.index in notes.changes:
            changed = [name for name, _ in notes.changes[step.index].changed]
            yield made.world_after(changed)
            yield from (_table(name, json_bytes(tables[name])) for name in changed)
            yield made.world_end()
        yield made.step_end()
        before = step
    told = [s for s in scores if s.metric in decisive and s.value is not None and reason_of(s)]
    label = outcome_label(trajectory.failed, scores, decisive)
    yield made.ending(trajectory, label, told, facts.seconds)
    if scores:
        several = len({score.goal for score in scores}) > 1
        yield made.scores_head(len(scores), several)
        yield from (_score(score, several) for score in scores)
        yield made.scores_end()
    else:
        yield made.no_scores()


def _relayed(step: Step, before: Step | None) -> bool:
    """Tell whether a role only passes on what it was told."""
    return (
        before is not None
        and step.call is None
        and before.call is None
        and step.author == before.recipient
        and bool(step.content)
        and step.content == before.content
    )


def _same(step: Step) -> str:
    """Return a short text that two steps share where they say and do the same."""
    return blake2b(json_bytes(said(step)), digest_size=6).hexdigest()


def _score(score: Score, several: bool) -> str:
    goal = score.goal if several else None
    return _score_row(score.metric, goal, score.value, reason_of(score), json_bytes(score.details))


@lru_cache(_SCORES)
def _score_row(
    metric: str, goal: int | None, value: float | None, reason: str, details: bytes
) -> str:
    told = orjson.loads(details)
    listed = told.pop("votes", None)
    votes = [_vote(vote) for vote in listed or () if isinstance(vote, dict)]
    shown = json_text(told, indent=2) if told else ""
    row: str = _made().score(metric, goal, value, reason, shown, votes)
    return row


def _vote(told: Mapping[str, Any]) -> dict[str, Any]:
    """Return who voted, which of its votes it is (from 1), and what it says."""
    number = told.get("vote")
    named = {name: told.get(name) or "" for name in ("judge", "label", "reason")}
    return named | {"number": number + 1 if type(number) is int else ""}


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


def _badge(label: Any) -> str:
    """Return how a vote is coloured; a label of no judge of ours has no colour."""
    known = {"solved": "solved", "unsolved": "unsolved", "unsure": "undecided"}
    return known.get(label, "") if isinstance(label, str) else ""


def _cell(text: Any) -> str:
    start, left_out = folded(str(text), CUT_CELL)
    return f"{start}… ({left_out:,} more)" if left_out else start


def _changed(change: TableChange) -> list[ChangedRow]:
    from seal.report.world_views import change_rows

    return change_rows(change)


@cache
def _made() -> Any:
    return macros(
        "chat.html",
        text=_text,
        left_out=_left_out,
        cut=folded,
        cell=_cell,
        badge=_badge,
        json=json_text,
        repairs=repairs_of,
        counted=tables_text,
        reason=reason_of,
        rows_of=_changed,
        CUT=CUT,
        CUT_DETAILS=CUT_DETAILS,
        ROWS=ROWS,
    )
