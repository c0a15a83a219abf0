"""Milestones reached and missed, and the world before and after each step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from seal.core import DataError, Milestone, Score, Step, Tables, Task, Trajectory
from seal.core.conditions import FIRST, LAST, MESSAGE, Condition, parts, takes_turn
from seal.core.state_conditions import (
    AllOf,
    DependsOn,
    EndsAs,
    FinalState,
    KnownEnds,
    StateHas,
    StateUnchanged,
)
from seal.core.table_matching import Column, TableChange, table_change
from seal.evaluation.goals import WHOLLY, applies
from seal.evaluation.plans import measured_again
from seal.evaluation.scoring import NAMES
from seal.evaluation.shortfalls import Fault, Unmet, unmet
from seal.report.chat_pages import describe, fields_line, json_text

# -- What a milestone of a world asks for and guards, in words that a person reads.

_VERBS = {"snapshot": "is", "addition": "gains", "removal": "loses", "update": "changes to"}
_SIGNS = {"exact": "=", "close": "=", "contains": "contains", "rouge_l": "~"}


def described(condition: Condition) -> str:
    """Return a condition that looks at more than a message on one line."""
    if isinstance(condition, AllOf):
        kept = kept_tables(condition)
        return "; ".join([*asked_lines(condition), *([f"keeps {kept}"] if kept else [])])
    if isinstance(condition, KnownEnds):
        condition = condition.gold
    if isinstance(condition, EndsAs):
        return _end_line(condition)
    if isinstance(condition, FinalState):
        rows = ", ".join(_row_text(row, {}, False) for row in condition.rows) or "no row"
        return f"{condition.table} ends with {rows}, all else as it began{_but(condition.ignore)}"
    if isinstance(condition, StateHas):
        return _state_line(condition)
    if isinstance(condition, StateUnchanged):
        return f"keeps {condition.table}{_since(condition.since)}"
    if isinstance(condition, DependsOn):
        return f"{_row_texts(condition)}, filled in by {condition.extractor} of {condition.since}"
    return fields_line(condition)


def _end_line(condition: EndsAs) -> str:
    if condition.of_plan:
        return f"the world ends as after the gold calls{_but(condition.ignore)}"
    ways = (", then ".join(map(describe, calls)) for calls in condition.sequences)
    ends = " or ".join(f"after {way}" if way else "it began" for way in ways)
    return f"the world ends as {ends}{_but(condition.ignore)}"


def _but(ignored: Sequence[str]) -> str:
    return f" (whatever {', '.join(ignored)})" if ignored else ""


def asked_lines(condition: Condition) -> list[str]:
    """Return what a milestone asks for, a line for each condition that is no guardrail."""
    return [describe(part) for part in parts(condition) if not isinstance(part, StateUnchanged)]


def kept_tables(condition: Condition) -> str:
    """Return the tables that a milestone guards, each with since when; empty: none."""
    guarded: dict[str, list[str]] = {}
    for part in parts(condition):
        if isinstance(part, StateUnchanged):
            guarded.setdefault(_since(part.since), []).append(part.table)
    return "; ".join(", ".join(tables) + since for since, tables in guarded.items())


def _state_line(condition: StateHas) -> str:
    if condition.table == MESSAGE:
        return _row_texts(condition)
    return f"{condition.table} {_VERBS[condition.measure]} {_row_texts(condition)}" + (
        "" if condition.since is None else _since(condition.since)
    )


def _since(since: int | None) -> str:
    if since is None:
        return " outside of all milestones"
    return {FIRST: " since the start", LAST: " to the end"}.get(since, f" since {since}")


def _row_texts(condition: StateHas | DependsOn) -> str:
    is_message = isinstance(condition, DependsOn) or condition.table == MESSAGE
    texts = [_row_text(row, condition.columns, is_message) for row in condition.rows]
    return ", ".join(texts) or "no row"


def _row_text(row: Mapping[str, Any], columns: Mapping[str, Column], is_message: bool) -> str:
    cells = dict(row)
    ends = ""
    if is_message and {"author", "recipient"} <= cells.keys():
        ends = f"{cells.pop('author')} -> {cells.pop('recipient')}"
    told = ", ".join(_cell_text(name, value, columns.get(name)) for name, value in cells.items())
    return f"{ends}: {told}" if ends else f"{{{told}}}"


def _cell_text(name: str, value: Any, column: Column | None) -> str:
    column = column or Column()
    if column.measure == "calls":
        candidates = value if isinstance(value, (list, tuple)) else [value]
        return " or ".join(dict.fromkeys(_call_text(call, column) for call in candidates))
    if column.measure == "any":
        return f"any {name}"
    within = f" ± {column.tolerance}" if column.measure == "close" else ""
    return f"{name} {_SIGNS[column.measure]} {json_text(value)}{within}"


def _call_text(call: Any, column: Column) -> str:
    if not isinstance(call, Mapping) or not isinstance(call.get("arguments"), Mapping):
        return json_text(call)
    given = ", ".join(
        f"{name}={json_text(value)}"
        + (f" ± {column.tolerances[name]}" if column.tolerances.get(name) else "")
        for name, value in call["arguments"].items()
    )
    return f"{call.get('tool')}({given})"


# -- What a chat did: milestones reached and missed, and the world before and after each step.


@dataclass(frozen=True, slots=True)
class NodeOutcome:
    """What became of one milestone or minefield."""

    kind: Literal["milestone", "minefield"]
    node: int
    asks: tuple[str, ...]
    keeps: str
    """Tables that it guards; empty: none."""
    after: tuple[int, ...]
    similarity: float
    """In [0, 1]."""
    step: int | None
    """`Step.index` of the step that reached it; None: none did."""
    nearest: int | None = None
    """Where none did, the step that comes closest; None: none does."""
    faults: tuple[Fault, ...] = ()
    """What keeps a milestone from 1."""

    @property
    def wholly(self) -> bool:
        """True where it was met wholly."""
        return self.similarity >= WHOLLY

    @property
    def became(self) -> str:
        """Return what became of the node in a word: reached, partly or missed; hit or avoided."""
        if self.kind == "minefield":
            return "avoided" if self.step is None else "hit"
        if self.step is None:
            return "missed"
        return "reached" if self.wholly else "partly"

    @property
    def status(self) -> str:
        """Return where the node was reached and how well, or what comes closest."""
        if self.kind == "minefield":
            return "not hit" if self.step is None else f"hit at step {self.step}"
        if self.step is not None:
            return f"{self.similarity:.3f} at step {self.step}"
        closest = "" if self.nearest is None else f"; closest is step {self.nearest}"
        return f"not reached{closest}"


@dataclass(frozen=True, slots=True)
class GoalOutcome:
    """What became of the milestones of one goal."""

    goal: int
    note: str = ""
    """Why there is nothing to tell; empty where there is."""
    match: str = ""
    """Rules that were measured by."""
    plan: int = 0
    """Position of the plan that counts."""
    plans: int = 1
    similarity: float | None = None
    """Of the whole; 0 where a minefield was hit."""
    nodes: tuple[NodeOutcome, ...] = ()


def goal_outcomes(task: Task, trajectory: Trajectory, scores: Iterable[Score]) -> list[GoalOutcome]:
    """Return an outcome for each goal that has milestones of the world.

    Args:
        task: What was played.
        trajectory: What was said and done.
        scores: Scores of this task and trial; those of other metrics are not read.
    """
    by_goal = {(s.goal, s.metric): s for s in scores}
    outcomes = []
    for position, goal in enumerate(task.goals):
        if applies(task, goal):
            found = [by_goal.get((position, name)) for name in NAMES[:3]]
            try:
                outcomes.append(_outcome(task, trajectory, position, found))
            except DataError:
                note = "the scores do not fit the plan or the chat; 'seal score' measures anew"
                outcomes.append(GoalOutcome(position, note))
    return outcomes


def _outcome(
    task: Task, trajectory: Trajectory, position: int, scores: Sequence[Score | None]
) -> GoalOutcome:
    whole, milestones, minefields = scores
    if whole is None or milestones is None or minefields is None:
        return GoalOutcome(position, "the milestones were not measured; 'seal score' does it")
    if whole.value is None:
        return GoalOutcome(position, whole.reason or "the milestones were not measured")
    plans = task.goals[position].plans or ()
    measured = measured_again(task, trajectory, position, whole, milestones, minefields)
    _, match, reached, steps, mapping, hits = measured
    lacking = unmet(reached, steps, mapping) if mapping else {}
    nodes = (
        *(
            _node("milestone", at, node, mapping.get(at), lacking.get(at))
            for at, node in enumerate(reached)
        ),
        *(
            _node("minefield", at, node, hits.get(at))
            for at, node in enumerate(plans[measured.plan].minefields)
        ),
    )
    return GoalOutcome(position, "", match, measured.plan, len(plans), whole.value, nodes)


def _node(
    kind: Literal["milestone", "minefield"],
    position: int,
    node: Milestone,
    mapped: tuple[int, float] | None,
    lacking: Unmet | None = None,
) -> NodeOutcome:
    index, similarity = mapped or (None, 0.0)
    faults = lacking.faults if lacking else ()
    return NodeOutcome(
        kind,
        position,
        tuple(asked_lines(node.condition)),
        kept_tables(node.condition),
        node.after,
        similarity,
        index if similarity else None,
        lacking.nearest if lacking else None,
        tuple(_named(fault, node) for fault in faults),
    )


def _named(fault: Fault, node: Milestone) -> Fault:
    """Return a fault that says what was expected."""
    if fault.expected or fault.found:
        return fault
    return replace(fault, expected=describe(parts(node.condition)[fault.condition]))


@dataclass(frozen=True, slots=True)
class WorldChange:
    """What one step did to the world."""

    changed: tuple[tuple[str, TableChange], ...]
    """Name of a table to what happened to it."""
    unchanged: tuple[tuple[str, int], ...]
    """Name of every other table to its number of rows."""


def world_changes(trajectory: Trajectory, initial_state: Tables | None) -> dict[int, WorldChange]:
    """Return what steps did to the world, by `Step.index`; steps that did nothing are left out.

    Args:
        trajectory: Its first step says how the world begins.
        initial_state: Tables before the first step, where no step says so.
    """
    tables, found = beginning(trajectory, initial_state), {}
    for step in trajectory.steps[1:]:
        changes = [
            (name, table_change(tables.get(name, []), rows))
            for name, rows in (step.state or {}).items()
        ]
        changed = tuple((name, change) for name, change in changes if change)
        tables |= step.state or {}
        if changed:
            names = {name for name, _ in changed}
            others = ((name, len(rows)) for name, rows in tables.items() if name not in names)
            found[step.index] = WorldChange(changed, tuple(others))
    return found


def beginning(trajectory: Trajectory, initial_state: Tables | None) -> Tables:
    """Return the tables that a chat began with; empty where it has no world."""
    first = trajectory.steps[0].state if trajectory.steps else None
    return {**(initial_state or {}), **(first or {})}


def times(task: Task, steps: Iterable[Step]) -> dict[int, str]:
    """Return the simulated local time of each step, by `Step.index`.

    Args:
        task: Without a clock of its own, or with one that cannot be read, no step has a time.
        steps: All steps of the chat.
    """
    if "clock" not in task.metadata:
        return {}
    from seal.environments.chat_world import clock_of

    try:
        clock = clock_of(task)
    except DataError:
        return {}
    found = {}
    turn, reply = -1, None
    for step in steps:
        ends = (step.author, step.recipient, step.turn, step.goal)
        if ends != reply:
            reply = ends
            turn += takes_turn(step.author, step.recipient)
        local = clock.local(clock.at(turn))
        found[step.index] = f"{local:%Y-%m-%d %H:%M:%S} {local.tzname() or clock.zone}"
    return found


ChangedRow = tuple[str, str, list[tuple[Any, ...]]]
"""What happened to a row (added, removed or changed), its sign, and its cells: (column, value), or
(column, before, after)."""


def change_rows(change: TableChange) -> list[ChangedRow]:
    """Return each row that came, went or changed; the first cell of a changed row names it."""
    rows: list[ChangedRow] = [("added", "+", [*row.items()]) for row in change.added]
    rows += [("removed", "-", [*row.items()]) for row in change.removed]
    for row in change.changed:
        cells = [(cell.column, cell.before, cell.after) for cell in row.cells]
        rows.append(("changed", "~", [row.name, *cells]))
    return rows


class GraphNode(NamedTuple):
    """A milestone or minefield in the drawing of a plan."""

    node: NodeOutcome
    x: int
    y: int
    ends: tuple[tuple[int, int], ...]
    """Centres of the nodes that it comes after."""


def graph(nodes: Sequence[NodeOutcome]) -> list[GraphNode]:
    """Return where the nodes of a plan stand: each right of all that it comes after.

    Minefields stand in a row of their own below the milestones.
    """
    depth: dict[int, int] = {}
    milestones = {node.node: node for node in nodes if node.kind == "milestone"}

    def deep(number: int) -> int:
        if number not in depth:
            earlier = [one for one in milestones[number].after if one in milestones]
            depth[number] = 0  # a plan that goes in circles ends here
            depth[number] = 1 + max(map(deep, earlier), default=-1)
        return depth[number]

    rows: Counter[int] = Counter()
    places: dict[tuple[str, int], tuple[int, int]] = {}
    for number in milestones:
        column = deep(number)
        places["milestone", number] = (column, rows[column])
        rows[column] += 1
    below = max(rows.values(), default=0)
    mines = [node for node in nodes if node.kind == "minefield"]
    places |= {("minefield", node.node): (place, below) for place, node in enumerate(mines)}
    centres = {key: (20 + 56 * x, 20 + 40 * y) for key, (x, y) in places.items()}
    return [
        GraphNode(
            node,
            *centres[node.kind, node.node],
            tuple(centres["milestone", one] for one in node.after if one in milestones)
            if node.kind == "milestone"
            else (),
        )
        for node in nodes
    ]
