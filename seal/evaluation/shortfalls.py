"""Why a milestone is not wholly met: its conditions, their columns, what was wanted and found.

The similarities of a plan say how well each node is met (`plans`); this says what is missing. It
measures nothing anew that counts, and is meant for people.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple

from seal.core import JSON, Milestone, Step
from seal.core.conditions import FIRST, LAST, MESSAGE, Condition, Match, parts
from seal.core.state_conditions import (
    DependsOn,
    Ended,
    StateHas,
    StateUnchanged,
    message_row,
    table_after,
)
from seal.core.table_matching import (
    Column,
    Table,
    TableChange,
    cell_similarity,
    cheapest,
    compared,
    table_change,
)
from seal.core.table_versions import Row
from seal.core.text import counted
from seal.evaluation.goals import WHOLLY
from seal.evaluation.plans import ancestors, bound

NO_ROW = "no such row"
"""What a fault of a row too many expects, and what one of a missing row found."""
_EXACT = Column()
_VERBS = {"addition": "added", "removal": "removed", "update": "changed", "snapshot": ""}


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that keeps a condition from being met."""

    condition: int
    """Position of the condition among those of its node; -1: all are met, but too early."""
    table: str
    """Table that it asks of; empty where it asks of none."""
    column: str = ""
    """Column; `calls.NAME` is an argument of a call. Empty: the table as a whole."""
    row: str = field(default="", kw_only=True)
    """What names a row that ends otherwise than gold asks: its first column and value."""
    expected: str = ""
    """JSON of a value, or words; empty: what the condition says."""
    found: str = ""
    similarity: float = 0.0
    """Of the cell, in [0, 1); 0 where it is not about a cell."""


@dataclass(frozen=True, slots=True)
class Unmet:
    """A node that is not wholly met."""

    node: int
    nearest: int | None
    """Of a node that is met nowhere, the `Step.index` of the step that comes closest, the last one
    of equally close ones; None: no step does, or the node is met in part."""
    faults: tuple[Fault, ...]
    """At the step that it was matched to; of a node that is met nowhere at the closest step, or, as
    none comes close, at the last one."""


def unmet(
    nodes: Sequence[Milestone], steps: Sequence[Step], mapping: Mapping[int, tuple[int, float]]
) -> dict[int, Unmet]:
    """Return why nodes are not wholly met, by their positions.

    Args:
        nodes: By the rules that they were measured by (`plans.under`).
        steps: As `view` gives them; at least one.
        mapping: Position of each node to (`Step.index` of its step, similarity).

    Raises:
        KeyError: There is no such step.
    """
    nodes = bound(nodes, steps)
    places = {step.index: place for place, step in enumerate(steps)}
    reached = {FIRST: steps[0], LAST: steps[-1]}
    reached |= {node: steps[places[index]] for node, (index, _) in mapping.items()}
    found = {}
    for node, (_, similarity) in mapping.items():
        if similarity < WHOLLY:
            nearest = None if similarity else _nearest(nodes[node], steps, reached)
            step = reached[node] if similarity else nearest or steps[-1]
            asked = enumerate(parts(nodes[node].condition))
            faults = [f for n, part in asked for f in _faults(n, part, step, reached, steps)]
            faults = faults or [_too_early(node, nodes, step, reached)]
            found[node] = Unmet(node, nearest.index if nearest else None, tuple(faults))
    return found


def _nearest(node: Milestone, steps: Sequence[Step], reached: Mapping[int, Step]) -> Step | None:
    """Return the step that comes closest; None where none does."""
    asked = parts(node.condition)
    known: dict[Hashable, tuple[float, float]] = {}
    closeness = []
    for step in steps:
        seen = tuple(part.looks_at(step, reached) for part in asked)
        if seen not in known:
            known[seen] = _closeness(asked, step, reached)
        closeness.append(known[seen])
    best = max(closeness)
    return steps[len(steps) - 1 - closeness[::-1].index(best)] if best[0] else None


def _too_early(
    node: int, nodes: Sequence[Milestone], step: Step, reached: Mapping[int, Step]
) -> Fault:
    """Return the fault of a node that is met, but before another that must come first."""
    earlier = (n for n in sorted(ancestors(node, nodes)) if n in reached)
    late = [n for n in earlier if reached[n].index > step.index]
    before = ", ".join(f"milestone {n} (step {reached[n].index})" for n in late)
    return Fault(-1, "", "", f"after {before}" if before else "", f"at step {step.index}")


class _Comparison(NamedTuple):
    """Rows beside the target rows that they are most like."""

    closeness: float
    """Mean over the cells, in [0, 1]."""
    faults: list[Fault]
    """Of the cells below 1, whatever their condition and table."""


def _closeness(
    conditions: Sequence[Condition], step: Step, reached: Mapping[int, Step]
) -> tuple[float, float]:
    """Return how close a step comes to what is asked, then to what is guarded."""
    asked: list[float] = []
    kept: list[float] = []
    for part in conditions:
        if isinstance(part, (StateHas, DependsOn)):
            comparison = _comparison(part, step, reached)
            asked.append(comparison.closeness if comparison else 0.0)
        else:
            values = kept if isinstance(part, StateUnchanged) else asked
            values.append(part.similarity(step, reached))
    return _mean(asked), _mean(kept)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 1.0


def _faults(
    number: int, part: Condition, step: Step, reached: Mapping[int, Step], steps: Sequence[Step]
) -> list[Fault]:
    """Return what keeps one condition from being met; at least one fault where it is not."""
    similarity = part.similarity(step, reached)
    if similarity >= WHOLLY:
        return []
    if isinstance(part, StateUnchanged):
        return [_broken(number, part, step, reached, steps)]
    if isinstance(part, Ended):
        return [
            f for table, change in part.differences.items() for f in _of_end(number, table, change)
        ]
    if not isinstance(part, (StateHas, DependsOn)):
        return [Fault(number, "", similarity=similarity)]
    table = MESSAGE if isinstance(part, DependsOn) else part.table
    comparison = _comparison(part, step, reached)
    if comparison is None:
        return [_no_rows(number, part, step, reached)]
    found = comparison.faults or [Fault(number, table, found="no cell that counts")]
    return [replace(fault, condition=number, table=table) for fault in found]


def _of_end(number: int, table: str, change: TableChange) -> Iterator[Fault]:
    """Yield the faults of a table whose rows at the end are not the wanted ones."""
    for row in change.removed:
        yield Fault(number, table, "", _json(row), NO_ROW)
    for row in change.added:
        yield Fault(number, table, "", NO_ROW, _json(row))
    for changed in change.changed:
        column, value = changed.name
        named = f"{column}={_json(value)}"
        for cell in changed.cells:
            wants, has = _json(cell.before), _json(cell.after)
            yield Fault(number, table, cell.column, wants, has, row=named)


def _broken(
    number: int,
    part: StateUnchanged,
    step: Step,
    reached: Mapping[int, Step],
    steps: Sequence[Step],
) -> Fault:
    """Return the fault of a guardrail, with the steps in which the table changed."""
    since = FIRST if part.since is None else part.since
    low, high = sorted((reached[since].index, step.index))
    between = [one for one in steps if low <= one.index <= high]
    changed = [
        after.index
        for before, after in pairwise(between)
        if table_change(table_after(before, part.table), table_after(after, part.table))
    ]
    where = ", ".join(map(str, changed))
    return Fault(number, part.table, "", "unchanged", f"changed in step {where}" if where else "")


def _no_rows(
    number: int, part: StateHas | DependsOn, step: Step, reached: Mapping[int, Step]
) -> Fault:
    """Return the fault of a condition whose rows cannot be compared."""
    if isinstance(part, DependsOn):
        found = f"step {reached[part.since].index} brought no value for it"
        return Fault(number, MESSAGE, "", "", found)
    wanted = counted(len(part.rows), "row")
    now = table_after(step, part.table)
    if part.since is None:
        return Fault(number, part.table, "", wanted, counted(len(now), "row"))
    earlier = reached[part.since]
    change = table_change(table_after(earlier, part.table), now)
    expected = f"{wanted} {_VERBS[part.measure]} since step {earlier.index}"
    return Fault(number, part.table, "", expected, _told(change))


def _told(change: TableChange) -> str:
    counts = {"added": change.added, "removed": change.removed, "changed": change.changed}
    told = [f"{counted(len(rows), 'row')} {verb}" for verb, rows in counts.items() if rows]
    return ", ".join(told) or "no change"


def _comparison(
    part: StateHas | DependsOn, step: Step, reached: Mapping[int, Step]
) -> _Comparison | None:
    """Return the best comparison of a step's rows; None where there are none to compare."""
    found = [
        comparison
        for rows, target in _compared(part, step, reached)
        if (comparison := _side_by_side(rows, target, part.columns, part.match)) is not None
    ]
    return max(found, key=lambda one: one.closeness, default=None)


def _compared(
    part: StateHas | DependsOn, step: Step, reached: Mapping[int, Step]
) -> Iterator[tuple[Table, Table]]:
    if isinstance(part, DependsOn):
        for target in part.targets(reached[part.since]):
            if target is not None:
                yield [_message(step, target)], target
    elif part.table == MESSAGE:
        yield [_message(step, part.rows)], part.rows
    else:
        now = table_after(step, part.table)
        before = () if part.since is None else table_after(reached[part.since], part.table)
        found = compared(part.measure, now, before, part.rows, part.match)
        if found is not None:
            yield found


def _message(step: Step, target: Table) -> Row:
    return message_row(step, dict.fromkeys(name for row in target for name in row))


def _side_by_side(
    rows: Table, target: Table, columns: Mapping[str, Column], match: Match
) -> _Comparison | None:
    """Return the rows under the assignment that makes the mean over cells largest."""
    if len(rows) != len(target) or not target:
        return None
    pairs = [[_pair(row, wanted, columns, match) for row in rows] for wanted in target]
    assigned = cheapest([[1 - pair.closeness for pair in line] for line in pairs])
    chosen = [pairs[row][column] for row, column in enumerate(assigned or ())]
    faults = [fault for pair in chosen for fault in pair.faults]
    return _Comparison(_mean([pair.closeness for pair in chosen]), faults)


def _pair(row: Row, wanted: Row, columns: Mapping[str, Column], match: Match) -> _Comparison:
    closeness, faults = [], []
    for name, value in wanted.items():
        column = columns.get(name, _EXACT)
        alike = cell_similarity(row[name], value, column, match) if name in row else 0.0
        if alike is None:
            continue
        if name in row and alike < WHOLLY and column.measure == "calls":
            found = _calls(name, row[name], value, column, match)
            closeness.append(found.closeness)
            faults += found.faults
            continue
        closeness.append(alike)
        if alike < WHOLLY:
            had = _json(row[name]) if name in row else "no such column"
            faults.append(_of_cell(name, _json(value), had, alike))
    return _Comparison(_mean(closeness), faults)


def _of_cell(column: str, expected: str, found: str, similarity: float = 0.0) -> Fault:
    return Fault(-1, "", column, expected, found, similarity)


def _calls(name: str, calls: Any, wanted: Any, column: Column, match: Match) -> _Comparison:
    """Return the recorded call that is most like a wanted one, argument by argument."""
    candidates = wanted if isinstance(wanted, (list, tuple)) else [wanted]
    like = [
        _arguments(name, call, candidate, column, match)
        for call in calls or ()
        for candidate in candidates
        if call["tool"] == candidate["tool"]
    ]
    if like:
        return max(like, key=lambda one: one.closeness)
    expected = " or ".join(dict.fromkeys(map(_written, candidates)))
    found = ", ".join(map(_written, calls or ())) or "no call that succeeded"
    return _Comparison(0.0, [_of_cell(name, expected, found)])


def _arguments(name: str, call: Any, wanted: Any, column: Column, match: Match) -> _Comparison:
    given = call["arguments"]
    faults = []
    for argument, value in wanted["arguments"].items():
        one = {"tool": call["tool"], "arguments": {argument: value}}
        if not cell_similarity([call], [one], column, match):
            found = _json(given[argument]) if argument in given else "not given"
            faults.append(_of_cell(f"{name}.{argument}", _json(value), found))
    share = len(faults) / len(wanted["arguments"]) if wanted["arguments"] else 0.0
    return _Comparison(1 - share / 2, faults)


def _written(call: Mapping[str, Any]) -> str:
    given = ", ".join(f"{name}={_json(value)}" for name, value in call["arguments"].items())
    return f"{call['tool']}({given})"


def _json(value: JSON) -> str:
    return json.dumps(value, ensure_ascii=False)
