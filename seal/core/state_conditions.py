"""What gold asks of the world and of a chat's course.

`StateHas`, `StateUnchanged`, `DependsOn`, `AllOf`, `EndsAs`, `FinalState`, `CallRefused`,
`Unconfirmed`, `Untrue`, `Told` and `Refused`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import chain, product
from math import prod
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, cast

from seal.core.conditions import (
    CLEAN,
    MESSAGE,
    AtSteps,
    Called,
    Condition,
    Match,
    OfTheStepAlone,
    party,
    record_in,
    tells_user,
)
from seal.core.errors import DataError, UsageError, shortened
from seal.core.settings import checked_names
from seal.core.slots import CELL_TYPES
from seal.core.table_matching import (
    Change,
    Column,
    Table,
    TableChange,
    beyond,
    compared,
    rows_apart,
    rows_similarity,
    unchanged,
    unlike,
)
from seal.core.values import alike, canonical_json, digest, json_bytes, loss_of

if TYPE_CHECKING:
    from seal.core.types import Step, Tool, ToolCall, Trajectory


# -- What a gold step asks of the world: rows that are there, came, went, changed, or stay.
#
# Every condition here is measured by one of two sets of rules, its `match`. `clean` is what one
# would expect; published rules agree with ToolSandbox's evaluator to 1e-6. Where they differ is
# said beside each measure in `seal.core.table_matching`.

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_NO_TABLE: Table = ()


Values = dict[str, Any]
Extractor = Callable[[Mapping[str, Any]], list[Values]]

UNFIT = (KeyError, IndexError, OverflowError, TypeError, ValueError)
"""How an extractor fails on a result of another shape."""


def _taken(name: str, part: str = "") -> Extractor:
    """Return the extractor of the result, or of one part of it, under a name."""
    return lambda call: [{name: call["result"][part] if part else call["result"]}]


def _taken_as_text(name: str, part: str = "") -> Extractor:
    """Return the extractor of a number as text, with 0 to 3 decimals."""
    taken = _taken(name, part)
    return lambda call: [{name: f"{taken(call)[0][name]:.{places}f}"} for places in range(4)]


def _lat_lon(call: Mapping[str, Any]) -> list[Values]:
    result = call["result"]
    return [{"latitude": result["latitude"], "longitude": result["longitude"]}]


EXTRACTORS: Mapping[str, Extractor] = {
    "result_as_min_temperature_text": _taken_as_text("min_temperature"),
    "result_as_reminder_timestamp_lowerbound": _taken("reminder_timestamp_lowerbound"),
    "result_as_temperature_text": _taken_as_text("temperature"),
    "result_as_timestamp_0": _taken("timestamp_0"),
    "result_as_timestamp_1": _taken("timestamp_1"),
    "result_current_temperature_as_amount": _taken("amount", "current_temperature"),
    "result_days": _taken("days", "days"),
    "result_lat_lon": _lat_lon,
    "result_min_temperature_as_amount": _taken("amount", "min_temperature"),
    "weather_current_temperature_text": _taken_as_text("temperature", "current_temperature"),
}
"""The extractors of ToolSandbox (its snapshot of 2024), under names of ours.

Each takes the call {tool, arguments, result} and returns maps of values: placeholders of a text, or
arguments of a later call. Several maps are alternatives, such as a temperature with no, one, two
and three decimals.
"""


def table_after(step: Step, name: str) -> Table:
    """Return a table after a step; without rows where the world has none of that name."""
    return (step.state or {}).get(name, _NO_TABLE)


class _Compared(Condition, abstract=True):
    """Base of conditions that look back at one step, and are measured by one of two sets of rules.

    A subclass has the fields `since` (the position of the step, or None) and `match`. It has a
    `table`, or says itself what it reads.
    """

    __slots__ = ()
    table: str
    since: int | None

    def under(self, match: Match) -> Self:
        """Return the same condition measured by other rules."""
        return replace(self, match=match)  # type: ignore[type-var]  # subclasses are dataclasses

    def references(self) -> frozenset[int]:
        """Return the step that is compared with."""
        return frozenset() if self.since is None else frozenset({self.since})

    def looks_at(self, step: Step, reached: Mapping[int, Step]) -> Hashable:
        """Return the versions of the table that are compared; of the message its position."""
        now = step.index if self.table == MESSAGE else id(table_after(step, self.table))
        before = None if self.since is None else id(table_after(reached[self.since], self.table))
        return now, before


@dataclass(frozen=True, slots=True)
class StateHas(_Compared):
    """Rows that a table has, or that came, went or changed since an earlier step.

    The table `message` holds the step itself as its only row (`seal.core.conditions`).
    """

    table: str
    rows: tuple[dict[str, Any], ...]
    """Target rows with the columns that count; of an addition, a removal or an update the rows
    that came, went or changed."""
    measure: Change = "snapshot"
    since: int | None = None
    """Position of the earlier milestone whose world is compared with; -1: the first step's. None:
    no world is, as for a snapshot."""
    columns: dict[str, Column] = field(default_factory=dict)
    """How the columns are measured; those that are not named, exactly."""
    match: Match = CLEAN
    kind: str = field(default="state_has", init=False)

    def similarity(self, step: Step, reached: Mapping[int, Step]) -> float:
        """Return the geometric mean over cells of the best assignment of rows, in [0, 1]."""
        if self.table == MESSAGE:
            columns = dict.fromkeys(name for row in self.rows for name in row)
            row = message_row(step, columns)
            return rows_similarity([row], self.rows, self.columns, self.match)
        before = _NO_TABLE if self.since is None else table_after(reached[self.since], self.table)
        now = table_after(step, self.table)
        found = compared(self.measure, now, before, self.rows, self.match)
        return 0.0 if found is None else rows_similarity(*found, self.columns, self.match)


@dataclass(frozen=True, slots=True)
class StateUnchanged(_Compared):
    """A guardrail: a table that nothing may have happened to since an earlier step."""

    table: str
    since: int | None = None
    """Position of the earlier milestone; -1: the first step, -2: the last one, up to which nothing
    may happen. None: of the plan as a whole: by the rules `clean` the table is unchanged before the
    first milestone and after the last (`seal.evaluation.scoring`); published rules have
    no such guardrail."""
    match: Match = CLEAN
    kind: str = field(default="state_unchanged", init=False)

    def similarity(self, step: Step, reached: Mapping[int, Step]) -> float:
        """Return 1 where the table is as it was, else 0; 1 where no step is compared with."""
        if self.since is None:
            return 1.0

        before = table_after(reached[self.since], self.table)
        return float(unchanged(table_after(step, self.table), before, self.match))


@dataclass(frozen=True, slots=True)
class DependsOn(_Compared):
    """A message that tells or uses what an earlier call brought."""

    since: int
    """Position of the milestone at the answer to the earlier call."""
    rows: tuple[dict[str, Any], ...]
    """The one target row of the table `message`."""
    extractor: str
    """Name of what is taken from each earlier call (`EXTRACTORS`)."""
    fill: Literal["calls", "content"]
    """Where it goes: into the arguments of the wanted calls, or into `{name}` in the content."""
    columns: dict[str, Column] = field(default_factory=dict)
    match: Match = CLEAN
    kind: str = field(default="depends_on", init=False)

    def similarity(self, step: Step, reached: Mapping[int, Step]) -> float:
        """Return the similarity of the best of the targets filled in; without any, 0.

        Each argument is filled in twice: the earlier value before the wanted one, and after it. A
        placeholder that the earlier call says nothing of makes the whole condition 0.
        """
        best = 0.0
        for target in self.targets(reached[self.since]):
            if target is None:
                return 0.0
            row = message_row(step, dict.fromkeys(name for wanted in target for name in wanted))
            best = max(best, rows_similarity([row], target, self.columns, self.match))
        return best

    def targets(self, earlier: Step) -> Iterator[list[dict[str, Any]] | None]:
        """Yield the target rows filled in, once for each map of values that a step's calls bring.

        None stands for a map that a placeholder is missing from.
        """
        for values in self._values(earlier):
            rows = [self._filled(row, values) for row in self.rows]
            known = [row for row in rows if row is not None]
            yield known if len(known) == len(rows) else None

    def _values(self, earlier: Step) -> Iterator[dict[str, Any]]:
        for call in calls_of(earlier) or ():
            try:
                yield from EXTRACTORS[self.extractor](call)
            except UNFIT:
                continue

    def _filled(self, row: Mapping[str, Any], values: dict[str, Any]) -> dict[str, Any] | None:
        """Return the target row with the values; None where one is missing."""
        if self.fill == "content":
            text = str(row.get("content", ""))
            if not values.keys() >= set(_PLACEHOLDER.findall(text)):
                return None
            return {**row, "content": _PLACEHOLDER.sub(lambda m: str(values[m[1]]), text)}
        wanted = row.get("calls") or []
        candidates = wanted if isinstance(wanted, (list, tuple)) else [wanted]
        filled = [
            {**call, "arguments": arguments}
            for call in candidates
            for arguments in ({**call["arguments"], **values}, {**values, **call["arguments"]})
        ]
        return {**row, "calls": filled}

    def looks_at(self, step: Step, reached: Mapping[int, Step]) -> Hashable:
        """Return the positions of the step and of that of the earlier call."""
        return step.index, reached[self.since].index


@dataclass(frozen=True, slots=True)
class AllOf(Condition):
    """Several conditions at once."""

    conditions: tuple[Condition, ...]
    kind: str = field(default="all_of", init=False)

    def similarity(self, step: Step, reached: Mapping[int, Step]) -> float:
        """Return the geometric mean; guardrails make it 0 and count for nothing else."""
        values = []
        for condition in self.conditions:
            values.append(condition.similarity(step, reached))
            if not values[-1]:
                return 0.0
        return self.combined(values)

    def combined(self, values: list[float]) -> float:
        """Return the similarity of the whole from those of the conditions, in their order.

        Source: ToolSandbox: the product, to the power 1 / (number of conditions that are no
        guardrails); without any of those, the product.
        """
        count = sum(not isinstance(c, StateUnchanged) for c in self.conditions)
        return float(prod(values) ** (1 / count)) if count > 1 else float(prod(values))

    def parts(self) -> tuple[Condition, ...]:
        """Return the parts of each of the conditions."""
        return tuple(part for condition in self.conditions for part in condition.parts())

    def under(self, match: Match) -> AllOf:
        """Return the same conditions measured by other rules."""
        return AllOf(tuple(condition.under(match) for condition in self.conditions))

    def among(self, steps: Sequence[Step]) -> AllOf:
        """Return the same conditions, each for the chat."""
        return AllOf(tuple(condition.among(steps) for condition in self.conditions))

    def of_tools(self, tools: Mapping[str, Tool]) -> AllOf:
        """Return the same conditions, each of which knows the tools."""
        known = tuple(condition.of_tools(tools) for condition in self.conditions)
        same = all(one is other for one, other in zip(known, self.conditions, strict=True))
        return self if same else AllOf(known)

    def in_chat(self, chat: Trajectory, goal: int) -> AllOf:
        """Return the same conditions, each with what the run recorded of it."""
        return AllOf(tuple(condition.in_chat(chat, goal) for condition in self.conditions))

    def gold_calls(self) -> tuple[Called, ...]:
        """Return the calls of each of the conditions."""
        return tuple(call for condition in self.conditions for call in condition.gold_calls())

    def references(self) -> frozenset[int] | None:
        """Return the steps that any of the conditions reads."""
        read = [condition.references() for condition in self.conditions]
        known = [positions for positions in read if positions is not None]
        return None if len(known) < len(read) else frozenset().union(*known)

    def looks_at(self, step: Step, reached: Mapping[int, Step]) -> Hashable:
        """Return what each of the conditions looks at."""
        return tuple(condition.looks_at(step, reached) for condition in self.conditions)


# -- How the world ends: as after the gold calls, or with these rows.
#
# What a goal asks of the end of its chat. The gold calls of `EndsAs` are made in a fresh world when
# the task is played (`seal.environments.gold_play`), and the trajectory keeps what they changed
# there, so that scoring needs no world. Rows are compared as multisets (`clean`).

GOLD_ENDS = "gold_ends"
"""Part of a trajectory's provenance: goal to the key of its sequences of gold calls to how a fresh
world ends after each of them, an `End` as JSON. Of gold that is calls it is there where
calls besides them changed the world, or where the world may lack their effects."""
RowsChanged = Mapping[str, Sequence[Mapping[str, Any]]]
"""Rows that `came` into a table and that `went` from it; missing: none did."""


@dataclass(frozen=True, slots=True)
class CallRefused(Called):
    """A gold call that is to fail: its tool, the world or the check of its arguments refuses it."""

    kind: str = field(default="call_refused", init=False)
    refused: ClassVar[bool] = True


@dataclass(frozen=True)
class Ended(OfTheStepAlone, abstract=True):
    """What a condition on the end of a chat's world comes to: 1 at the last step, or 0."""

    last: int
    """`Step.index` of the last step."""
    differences: Mapping[str, TableChange]
    """Table to what lies between the rows that gold wants and those that it has: rows too many are
    `added`, missing ones `removed`. Empty where the world ends as it should."""

    def similarity(self, step: Step, reached: Mapping[int, Step]) -> float:
        """Return 1 at the last step of a chat whose world ends as it should, else 0."""
        return float(step.index == self.last and not self.differences)


def _checked_ignore(place: str, ignore: Any) -> None:
    if not isinstance(ignore, (list, tuple)):
        told = shortened(ignore)
        raise UsageError(f"{place}: ignore: expected a list of names, got {told}; give [{told}]")
    for name in ignore:
        if not isinstance(name, str) or not name.strip("."):
            raise UsageError(f"{place}: ignore: expected TABLE or TABLE.COLUMN, got {name!r}")


def ignored(table: str, ignore: Sequence[str]) -> frozenset[str] | None:
    """Return the columns of a table that may differ; None: the whole table may."""
    if table in ignore:
        return None
    named = (name[len(table) + 1 :] for name in ignore if name.startswith(f"{table}."))
    return frozenset(named)


def _differences(
    begun: Mapping[str, Table],
    ended: Mapping[str, Table],
    gold: Mapping[str, RowsChanged],
    ignore: Sequence[str],
    cells: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, TableChange]:
    """Return table to how its rows at the end differ from the wanted ones.

    What is wanted is told by what gold changes: the rows that it has too many are those that came
    in the chat, less those that came in the gold, and so on.
    """
    found = {}
    for table in dict.fromkeys((*ended, *gold, *begun)):
        columns = ignored(table, ignore)
        before, after = begun.get(table, _NO_TABLE), ended.get(table, _NO_TABLE)
        wanted = gold.get(table, {})
        if columns is None or (before is after and not wanted):
            continue
        have = [*beyond(after, before), *wanted.get("went", ())]
        want = [*beyond(before, after), *wanted.get("came", ())]
        typed = typed_columns(table, cells)
        rows = [list(map(_told, _without(some, columns))) for some in (want, have)]
        change = rows_apart(*(unlike_as(typed, *rows) if typed else rows))
        if change:
            found[table] = change
    return found


def typed_columns(table: str, cells: Mapping[str, str]) -> dict[str, str]:
    """Return the columns of a table whose values are of a type, which `cells` names by table."""
    start = f"{table}."
    return {name[len(start) :]: kind for name, kind in cells.items() if name.startswith(start)}


def unlike_as(typed: Mapping[str, str], want: Table, have: Table) -> tuple[Table, Table]:
    """Return the rows that have no like ones, where some columns hold values of a type.

    Raises:
        DataError: A value of gold is none of its type.
    """

    def same(row: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
        return row.keys() == other.keys() and all(
            _same_cell(name, typed[name], cell, other[name])
            if name in typed
            else alike(cell, other[name])
            for name, cell in row.items()
        )

    left, rest = unlike(want, have)
    missing = []
    for row in left:
        twin = next((place for place, one in enumerate(rest) if same(row, one)), None)
        if twin is None:
            missing.append(row)
        else:
            del rest[twin]
    return missing, rest


def cell_fault(kind: str, value: Any) -> str:
    """Return why a cell of gold is none of its type (`EndsAs.cells`); empty: it is one."""
    if not isinstance(value, str) or kind == "text" or not value.strip():
        return ""
    if kind == "time" and _moment(value) is not None:
        return ""
    from seal.core.slots import Slot

    try:
        Slot(value, type=kind)
    except UsageError as error:
        return str(error).removeprefix("tells ")
    return ""


def _same_cell(column: str, kind: str, wanted: Any, found: Any) -> bool:
    if alike(wanted, found):
        return True
    if fault := cell_fault(kind, wanted):
        raise DataError(f"cells: the gold of the column {column}: {fault}; leave it out of cells")
    if not all(isinstance(one, str) and one.strip() for one in (wanted, found)):
        from seal.core.cells import is_alike

        numbers = all(isinstance(one, (int, float)) for one in (wanted, found))
        return numbers and is_alike(kind, wanted, found)
    return _same_text(kind, wanted, found)


def _same_text(kind: str, wanted: str, found: str) -> bool:
    from seal.core.cells import is_alike
    from seal.core.slots import times_of

    moments = [_moment(one) for one in (wanted, found)] if kind == "time" else []
    if any(moments):
        one, other = moments
        both = one is not None and other is not None and (one.tzinfo is None) is (not other.tzinfo)
        return both and abs(one - other) <= _MINUTE  # type: ignore[operator]
    if is_alike(kind, wanted, found):
        return True
    if kind != "time":
        return False
    minutes = [{60 * t.hour + t.minute for t in times_of(one)} for one in (wanted, found)]
    return any((one - other) % 1440 in (0, 1, 1439) for one, other in product(*minutes))


_MINUTE = timedelta(minutes=1)


def _moment(text: str) -> datetime | None:
    """Return the time of a day that a text of ISO 8601 is; None: it is none."""
    try:
        return datetime.fromisoformat(text.strip()) if "T" in text else None
    except ValueError:
        return None


def _without(rows: Table, columns: frozenset[str]) -> Iterator[dict[str, Any]]:
    for row in rows:
        yield {name: cell for name, cell in row.items() if name not in columns}


@dataclass(frozen=True, slots=True)
class EndsAs(Condition):
    """The chat ends with the world that gold calls leave: every table has the rows that it has.

    Which calls the agent made, how many and in which order does not count.
    """

    sequences: tuple[tuple[Condition, ...], ...] = ((),)
    """Alternatives, each the gold calls that are made one after the other in a fresh world, after
    those of earlier goals of the chat. An empty one: the world ends as it began. No alternative at
    all: the calls of the plan that it stands in, which are then one way to the end, and need not be
    made (`of_plan`)."""
    ignore: tuple[str, ...] = ()
    """What may differ, `table` or `table.column`: ids, times and the like."""
    cells: dict[str, str] = field(default_factory=dict)
    """`table.column` to the type of its values, of `seal.core.slots.TYPES`, where people or models
    write them: a time within a minute, a place or phone however it is written, a text by its facts
    (`seal.core.telling.is_alike`)."""
    kind: str = field(default="ends_as", init=False)

    def __post_init__(self) -> None:
        """Check that the gold can be played."""
        for call in (call for sequence in self.sequences for call in sequence):
            if not isinstance(call, Called):
                raise UsageError(
                    f"ends_as: {shortened(call)} is no gold call; expected one such as "
                    "seal.called('get_order', order_id='7')"
                )
            if call.arguments is None:
                raise UsageError(
                    f"ends_as: the gold call of {call.tool!r} has no arguments, so that it cannot "
                    "be made; name them"
                )
        _checked_ignore("ends_as", self.ignore)
        for name, kind in self.cells.items():
            if "." not in name.strip("."):
                raise UsageError(f"ends_as: cells: expected TABLE.COLUMN, got {name!r}")
            if kind not in CELL_TYPES:
                raise UsageError(
                    f"ends_as: cells: {name}: unknown type {kind!r}; one of {', '.join(CELL_TYPES)}"
                )

    @property
    def key(self) -> str:
        """What names the sequences in the record of a chat."""
        calls = [
            [[call.kind, call.tool, call.canonical_arguments()] for call in sequence]
            for sequence in cast("tuple[tuple[Called, ...], ...]", self.sequences)
        ]
        return digest(calls)

    @property
    def of_plan(self) -> bool:
        """True where the plan that it stands in has the gold calls."""
        return not self.sequences

    def gold_calls(self) -> tuple[Called, ...]:
        """Return the calls of the first sequence."""
        return tuple(call for call in chain(*self.sequences[:1]) if isinstance(call, Called))

    def references(self) -> frozenset[int]:
        """Return no position."""
        return frozenset()

    def in_chat(self, chat: Trajectory, goal: int) -> Condition:
        """Return the condition with the ends that the run recorded.

        Raises:
            DataError: It recorded none, or the gold calls could not be made.
        """
        ends = chat.provenance.get(GOLD_ENDS, {}).get(str(goal), {}).get(self.key)
        if ends is None:
            raise DataError(
                "the chat does not tell how its world ends after the gold calls; play it again"
            )
        for end in ends:
            if end.get("fault"):
                raise DataError(end["fault"])
        apart = any(end.get("apart") for end in ends)  # each goal is played in a chat of its own
        steps = (step for step in chat.steps if step.goal == goal or not apart)
        begun = next((step.state for step in steps if step.state), None) or {}
        # A task may tell the beginning of tables that its world does not have: they never show.
        shown = dict.fromkeys((name for step in chat.steps for name in step.state or ()), _NO_TABLE)
        changes = tuple(end.get("changes", {}) for end in ends)
        idle = tuple(frozenset(end.get("idle", ())) for end in ends)
        return KnownEnds(self, {**shown, **begun}, changes, idle)

    def among(self, steps: Sequence[Step]) -> Condition:
        """Refuse: without what the run recorded (`in_chat`) nothing can be said.

        Raises:
            DataError: Always.
        """
        raise DataError("how the gold calls leave the world is not known here; play the task")


@dataclass(frozen=True)
class KnownEnds(Condition, abstract=True):
    """`EndsAs` with what the run recorded."""

    gold: EndsAs
    begun: Mapping[str, Table]
    """The world as the chat began; tables that came later are empty."""
    ends: tuple[Mapping[str, RowsChanged], ...]
    """What each sequence of gold calls changed in a fresh world, by table."""
    idle: tuple[frozenset[int], ...]
    """Places of the calls of each sequence that changed nothing, as far as the run tells."""

    def worlds(self) -> Iterator[dict[str, list[Any]]]:
        """Yield the tables as they end after each of the sequences."""
        for changes in self.ends:
            ended = {table: list(rows) for table, rows in self.begun.items()}
            for table, rows in changes.items():
                stayed = beyond(ended.get(table, ()), rows.get("went", ()))
                ended[table] = [*stayed, *rows.get("came", ())]
            yield ended

    def left_texts(
        self, state: Mapping[str, Table]
    ) -> Iterator[tuple[list[str], str, Mapping[str, Any]]]:
        """Yield each text that came into a column of texts, with its row, after gold's texts."""
        for name in (name for name, kind in self.gold.cells.items() if kind == "text"):
            table, _, column = name.partition(".")
            came = [row for end in self.ends for row in end.get(table, {}).get("came", ())]
            wanted = [text for row in came if isinstance(text := row.get(column), str)]
            for row in beyond(state.get(table, ()), self.begun.get(table, ())) if wanted else ():
                if isinstance(text := row.get(column), str):
                    yield wanted, text, row

    def among(self, steps: Sequence[Step]) -> Ended:
        """Return the condition for a chat: what lacks is told of the end that comes closest."""
        state, ignore = steps[-1].state or {}, self.gold.ignore
        cells = self.gold.cells
        ended = {table: state[table] for table in self.begun if table in state}
        found = [_differences(self.begun, ended, one, ignore, cells) for one in self.ends]
        return Ended(steps[-1].index, min(found, key=_rows_in))


def _rows_in(differences: Mapping[str, TableChange]) -> int:
    changes = differences.values()
    return sum(len(c.added) + len(c.removed) + len(c.changed) for c in changes)


@checked_names
@dataclass(frozen=True, slots=True)
class FinalState(Condition):
    """A table ends with exactly these rows, and all others end as they began.

    A cell that a row leaves out is null.

    Example:
        >>> import seal
        >>> gold = seal.FinalState("orders", ({"id": "7", "open": False},), ignore=("orders.time",))
        >>> gold.table
        'orders'
    """

    table: str
    rows: tuple[dict[str, Any], ...]
    """All rows of the table, in any order; none: it ends empty."""
    ignore: tuple[str, ...] = ()
    """What may differ, `table` or `table.column`."""
    kind: str = field(default="final_state", init=False)

    def __post_init__(self) -> None:
        """Check the rows, and what may differ."""
        if not isinstance(self.table, str):
            told = shortened(self.table)
            raise UsageError(f"FinalState: expected the name of a table, got {told}; give a text")
        _checked_ignore("FinalState", self.ignore)
        rows: Any = self.rows
        if not isinstance(rows, (list, tuple)) or not all(isinstance(row, dict) for row in rows):
            raise UsageError(
                f"FinalState: {self.table}: expected a list of rows, each a map from column to "
                f"value, got {shortened(rows)}; give [] for a table that ends empty"
            )
        lost = loss_of(self.rows) or record_in(self.rows)
        try:
            json_bytes(self.rows)
        except TypeError as error:
            lost = lost or str(error)
        if lost:
            raise UsageError(
                f"FinalState: {self.table}: {lost}, which a cell cannot hold; give JSON values"
            )
        if self.table in self.ignore:
            raise UsageError(
                f"FinalState: ignore has its own table {self.table!r}, so that nothing is asked "
                f"of it; name single columns, such as '{self.table}.id'"
            )

    def references(self) -> frozenset[int]:
        """Return no position."""
        return frozenset()

    def among(self, steps: Sequence[Step]) -> Ended:
        """Return the condition for a chat, of which the first step shows how the world began."""
        begun, ended = (steps[place].state or {} for place in (0, -1))
        ignore = (*self.ignore, self.table)
        found = _differences(begun, ended, {}, ignore)
        columns = ignored(self.table, self.ignore) or frozenset()
        has, wants = ended.get(self.table, _NO_TABLE), self.rows
        rows = ([_told(row) for row in _without(some, columns)] for some in (wants, has))
        if change := rows_apart(*rows):
            found[self.table] = change
        return Ended(steps[-1].index, found)


def _told(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: cell for name, cell in row.items() if cell is not None}


# -- What must not happen in a chat: calls without a confirmation, and untrue messages.


@dataclass(frozen=True, slots=True)
class Unconfirmed(OfTheStepAlone):
    """A call of one of some tools whose arguments the user did not confirm: made for minefields.

    It is confirmed where the agent asked for it and named every argument, and the next thing that
    the user said allows that and nothing else (`seal.core.consent`). Other arguments need another
    confirmation, and so does the same call a second time, unless the first one failed. A similarity
    has no value for "undecided": where words alone do not tell whether the user agrees, nothing was
    confirmed.
    """

    tools: tuple[str, ...]
    """Tool ids."""
    zone: str = "UTC"
    """Where the times of day are told that moments are confirmed by."""
    kind: str = field(default="unconfirmed", init=False)

    def similarity(self, step: Step, reached: Mapping[int, Step]) -> float:
        """Return 1 for a call of one of the tools, as if nothing was said before it, else 0."""
        call = step.call
        return float(call is not None and call.tool in self.tools and call.arguments is not None)

    def among(self, steps: Sequence[Step]) -> AtSteps:
        """Return the condition for a chat: 1 for each call in it that was not confirmed."""
        return AtSteps(frozenset(self._unconfirmed(steps)))

    def _unconfirmed(self, steps: Sequence[Step]) -> Iterator[int]:
        from seal.core.consent import consent  # most runs read no words
        from seal.core.statements import Sense

        failed = {s.result.call_id for s in steps if s.result is not None and s.result.error}
        used: set[tuple[int, bytes]] = set()
        for place, step in enumerate(steps):
            if not self.similarity(step, {}) or step.call is None:
                continue
            sense, tables = Sense(zone=self.zone), step.state or {}
            asked = consent(steps[:place], step.call.arguments, tables, sense, step.call.name)
            key = (asked, canonical_json([step.call.tool, step.call.arguments]))
            if asked is None or key in used:
                yield step.index
            elif step.call.id not in failed:
                used.add((asked, key[1]))


@dataclass(frozen=True, slots=True)
class Untrue(OfTheStepAlone):
    """A message of the agent to its user that tells an untruth: made for minefields.

    It claims a deed that no call did, or states a value that neither the user nor a result gave
    (`seal.core.untruths`).
    """

    kind: str = field(default="untrue", init=False)

    def similarity(self, step: Step, reached: Mapping[int, Step]) -> float:
        """Return 1 for a message that tells an untruth if nothing came before it, else 0."""
        return float(bool(self.among([step]).indices))

    def among(self, steps: Sequence[Step]) -> AtSteps:
        """Return the condition for a chat: 1 for each message in it that tells an untruth."""
        from seal.core.untruths import untruths  # most runs read no words

        return AtSteps(frozenset(untruth.step for untruth in untruths(steps)))


# -- A message as the only row of a table, and what the agent tells its user.


def calls_of(step: Step) -> list[dict[str, Any]] | None:
    """Return what really ran and brought no error: {tool, arguments, result}; None: nothing did."""
    result = step.result
    if result is None or result.error is not None or result.executed is None:
        return None
    executed = result.executed
    return [{"tool": executed.tool, "arguments": executed.arguments, "result": result.value}]


def _content(step: Step) -> str:
    if step.content or step.call is None:
        return step.content or (step.result.content if step.result else "")
    return _written(step.call)


def _written(call: ToolCall) -> str:
    """Return a call as text: the tool's own name, whatever the model was shown, and arguments."""
    name = call.tool.rpartition("/")[2].partition("~")[0] if call.tool else call.name
    if call.arguments is None:
        return f"{name}({call.raw})"
    given = (f"{key}={json.dumps(v, ensure_ascii=False)}" for key, v in call.arguments.items())
    return f"{name}({', '.join(given)})"


def _call_id(step: Step) -> str | None:
    if step.call is not None:
        return step.call.id
    return None if step.result is None else step.result.call_id


def _error(step: Step) -> str | None:
    error = None if step.result is None else step.result.error
    return None if error is None else str(error.get("message", error))


COLUMNS: Mapping[str, Callable[[Step], Any]] = {
    "author": lambda step: party(step.author),
    "recipient": lambda step: party(step.recipient),
    "content": _content,
    "calls": calls_of,
    "call_id": _call_id,
    "name": lambda step: None if step.call is None else step.call.name,
    "error": _error,
}
"""Column of the table `message` to how it is read off a step."""


def message_row(step: Step, columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return those columns of a step as there are."""
    return {name: COLUMNS[name](step) for name in columns if name in COLUMNS}


@dataclass(frozen=True, slots=True)
class Told(OfTheStepAlone):
    """A message of the agent to its user that states something.

    A text is stated as a value is (`seal.core.statements`): 40,000 is 40000, and "1 Sept" is
    September 1; what is denied, doubted or asked is not stated.
    """

    all_of: tuple[str, ...] = ()
    """Texts that must all be stated."""
    any_of: tuple[str, ...] = ()
    """Texts of which one must be stated; empty: none need."""
    kind: str = field(default="told", init=False)

    def similarity(self, step: Step, reached: Mapping[int, Step]) -> float:
        """Return the share of `all_of` that the message states, 0 where it states no `any_of`.

        0 for what is no message of the agent to the user, or has no word; without texts 1.
        """
        if not tells_user(step):
            return 0.0
        from seal.core.statements import statement

        def told(text: str) -> bool:
            return statement(step.content, text) == "stated"

        if self.any_of and not any(map(told, self.any_of)):
            return 0.0
        return sum(map(told, self.all_of)) / len(self.all_of) if self.all_of else 1.0


_LACKS = re.compile(r"\b(?:(?:do|have|did|is|are)(?: not|n't)|nothing|nobody|missing|need)\b")


@dataclass(frozen=True, slots=True)
class Refused(OfTheStepAlone):
    """A message of the agent to its user that refuses, or asks for what it lacks, and names that.

    What refuses and asks says `seal.core.acts`. Where it says that words alone do not tell, the
    message may do so: then the words that must occur decide.
    """

    for_want_of: tuple[str, ...] = ()
    """Words of which one must occur, whole; empty: none need."""
    kind: str = field(default="refused", init=False)

    def similarity(self, step: Step, reached: Mapping[int, Step]) -> float:
        """Return 1 for such a message, else 0."""
        if not tells_user(step):
            return 0.0
        from seal.core.acts import acts

        told = acts(step.content)
        text = " ".join(step.content.replace("\u2019", "'").casefold().split())
        may = told.asks is not False or told.refuses is not False or _LACKS.search(text)
        named = (
            re.search(rf"(?<!\w){re.escape(word.casefold())}(?!\w)", text)
            for word in self.for_want_of
        )
        return float(bool(may) and (not self.for_want_of or any(named)))
