"""Tasks, chats and scores as data blocks of a page, which its script renders when they are opened.

`seal.report.html` writes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from seal.core.formats import repairs_of
from seal.core.types import Goal, Score, Step, Task, ToolCall, ToolResult, Trajectory
from seal.evaluation.goals import asks_of_world
from seal.report.annotations import Annotations
from seal.report.chat_records import reason_of
from seal.report.gold import gold_lines, json_text
from seal.report.printable import folded, printable, tables_text

if TYPE_CHECKING:
    from seal.evaluation.milestones.faults import TableChange
    from seal.report.milestones import GoalOutcome, NodeOutcome, WorldChange

CUT = 4_000
"""Characters of one text that a page holds; the run's files have the rest."""
CUT_DETAILS = 1_500
CUT_CELL = 300
"""Characters of one cell of a table."""
ROWS = 50
"""Rows of one table."""


def task_data(task: Task) -> dict[str, Any]:
    """Return what a page shows of a task."""
    return {
        "goals": [_goal_data(goal) for goal in task.goals],
        "persona": _text(json_text(task.persona, indent=2)) if task.persona else None,
    }


def chat_data(
    trajectory: Trajectory, notes: Annotations | None = None, world: Sequence[tuple[str, int]] = ()
) -> dict[str, Any]:
    """Return what a page shows of a chat: steps, offered tools, stops, answers, milestones.

    Args:
        trajectory: What was said and done.
        notes: What stands beside the steps; None: nothing is known.
        world: Name of each table that the chat began with, and the number of its data block.
    """
    notes = notes or Annotations()
    return {
        "steps": [_step_data(step, notes) for step in trajectory.steps],
        "goals": [_outcome_data(outcome) for outcome in notes.goals],
        "world": [[_text(name)[0], number, len(notes.beginning[name])] for name, number in world],
        "offered": [[_text(id)[0] for id in ids] for ids in trajectory.offered],
        "stops": [[stop.reason, _text(stop.error or "")] for stop in trajectory.stops],
        "answers": [None if text is None else _text(text) for text in trajectory.answers],
    }


def score_data(scores: Iterable[Score]) -> list[list[Any]]:
    """Return [metric, goal, value, reason, details] for each score.

    Details are a map; long ones the beginning of their text, and how much was left out.
    """
    return [
        [
            _text(score.metric)[0],
            score.goal,
            score.value,
            _text(reason_of(score))[0],
            _details(score.details) if score.details else None,
        ]
        for score in scores
    ]


def _details(details: Mapping[str, Any]) -> Any:
    text = json_text(details, indent=2)
    if len(text) > CUT_DETAILS:
        return _text(text, CUT_DETAILS)
    return _shown(details)


def _shown(value: Any) -> Any:
    """Return a JSON value whose texts are printable."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, Mapping):
        return {printable(name): _shown(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_shown(part) for part in value]
    return value


def _goal_data(goal: Goal) -> dict[str, Any]:
    return {
        "text": _text(goal.text),
        "gold": [_text(line, CUT_DETAILS)[0] for line in gold_lines(goal)],
        "annotated": goal.plans is not None,
        "world": any(asks_of_world(plan) for plan in goal.plans or ()),
    }


def table_data(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what a page shows of a table: columns, the first rows, and how many are left out."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return {
        "columns": [_cell(name) for name in columns],
        "rows": [
            [_value(row[name]) if name in row else "" for name in columns] for row in rows[:ROWS]
        ],
        "left": max(0, len(rows) - ROWS),
    }


def _outcome_data(outcome: GoalOutcome) -> dict[str, Any]:
    return {
        "goal": outcome.goal,
        "note": _text(outcome.note)[0],
        "match": outcome.match,
        "plan": [outcome.plan + 1, outcome.plans],
        "similarity": outcome.similarity,
        "nodes": [_node_data(node) for node in outcome.nodes],
    }


def _node_data(node: NodeOutcome) -> dict[str, Any]:
    return {
        "title": f"{node.kind} {node.node}",
        "kind": node.became,
        "status": node.status,
        "step": node.nearest if node.step is None else node.step,
        "after": list(node.after),
        "asks": [_text(line, CUT_DETAILS)[0] for line in node.asks],
        "keeps": _text(node.keeps)[0],
        "faults": [
            [
                _cell(" ".join(part for part in (fault.table, fault.column) if part)),
                _cell(fault.expected),
                _cell(fault.found),
                fault.similarity,
            ]
            for fault in node.faults[:ROWS]
        ],
    }


def _change_data(change: WorldChange) -> dict[str, Any]:
    return {
        "tables": [[_cell(name), *_table_change_data(found)] for name, found in change.changed],
        "same": _text(tables_text(change.unchanged), CUT_DETAILS)[0],
    }


def _table_change_data(change: TableChange) -> tuple[list[list[Any]], int]:
    """Return [sign, cells] for each row, [column, value] or [column, old, new] a cell, and a count.

    The count is that of the rows that are left out.
    """
    rows: list[list[Any]] = [["+", _pairs(row)] for row in change.added]
    rows += [["-", _pairs(row)] for row in change.removed]
    for row in change.changed:
        cells = [
            [_cell(cell.column), _value(cell.before), _value(cell.after)] for cell in row.cells
        ]
        rows.append(["~", [[_cell(row.name[0]), _value(row.name[1])], *cells]])
    return rows[:ROWS], max(0, len(rows) - ROWS)


def _pairs(row: Mapping[str, Any]) -> list[list[str]]:
    return [[_cell(name), _value(value)] for name, value in row.items()]


def _value(value: Any) -> str:
    return _cell(json_text(value))


def _cell(text: str) -> str:
    start, left_out = folded(text, CUT_CELL)
    return f"{start}… ({left_out:,} more)" if left_out else start


def _step_data(step: Step, notes: Annotations) -> dict[str, Any]:
    data: dict[str, Any] = {
        "index": step.index,
        "author": _text(step.author)[0],
        "recipient": _text(step.recipient)[0],
        "turn": step.turn,
        "goal": step.goal,
    }
    if step.content and step.result is None:
        data["content"] = _text(step.content)
    if step.call is not None:
        data["call"] = _call_data(step.call)
    if step.result is not None:
        data["result"] = _result_data(step.result)
    if step.index in notes.changes:
        data["world"] = _change_data(notes.changes[step.index])
    if step.index in notes.marks:
        data["marks"] = [[mark.kind, _cell(mark.text)] for mark in notes.marks[step.index]]
    if step.index in notes.times:
        data["time"] = notes.times[step.index]
    if step.usage is not None:
        data["tokens"] = [step.usage.tokens_in, step.usage.tokens_out, step.usage.estimated]
    return data


def _call_data(call: ToolCall) -> dict[str, Any]:
    parsed = call.arguments is not None
    return {
        "id": _text(call.id)[0],
        "name": _text(call.name)[0],
        "tool": _text(call.tool)[0] if call.tool else None,
        "parsed": parsed,
        "arguments": _text(json_text(call.arguments, indent=2) if parsed else call.raw),
        **_repaired(call),
    }


def _repaired(call: ToolCall) -> dict[str, Any]:
    """Return what was forgiven to read a call, and how it was written; empty for a right one."""
    repairs = repairs_of(call)
    return {"repairs": repairs, "written": _text(call.raw)} if repairs else {}


def _result_data(result: ToolResult) -> dict[str, Any]:
    error = result.error
    return {
        "id": _text(result.call_id)[0],
        "content": _text(result.content),
        "error": None if error is None else _text(str(error.get("kind", "error")))[0],
        "executed": result.executed is not None,
    }


def _text(text: str, limit: int = CUT) -> tuple[str, int]:
    return folded(text, limit)
