"""Effects that are not gold's, and gold's effects that are lost."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import cycle
from math import inf
from typing import Any, NamedTuple

from seal.core import DataError, Milestone, Plan, Tables, ToolCall, shortened
from seal.core.conditions import CLEAN, MESSAGE, Asked, Called, Condition, Match, Replied, parts
from seal.core.state_conditions import (
    GOLD_ENDS,
    DependsOn,
    EndsAs,
    FinalState,
    KnownEnds,
    Refused,
    RowsChanged,
    StateHas,
    StateUnchanged,
    Told,
    ignored,
    typed_columns,
    unlike_as,
)
from seal.core.table_matching import Column, Table, beyond, cell_similarity, cheapest, unlike
from seal.core.table_versions import Row
from seal.core.values import leaves, normalise
from seal.evaluation.calls import LOST_EFFECT, NO_GOLD_EFFECT, Effects, align
from seal.evaluation.goals import (
    GoalChat,
    TaskChat,
    asks_calls_alone,
    asks_of_world,
    failed,
    match_of,
)
from seal.evaluation.plans import asked_tables

# -- Which calls have an effect that gold does not have.
#
# Only what is certain counts:
#
# - In a world, rows that came into its tables, or went from them, and did not in the gold. What one
#   call did and another took back is no effect. What the user's own calls did, or the world by
#   itself, is no effect of the agent.
# - Gold calls: what the calls that meet none of them changed, unless the world ends with nothing
#   that it does not have after the gold either. The run records that end where it may matter
#   (`ends_asked`). New ids and times may differ there; a value that a call gave may not.
# - `EndsAs`, `FinalState`: what lies between the end and the wanted one.
# - Milestones: of a table that they ask of, rows that are like no row that they ask for; one row
#   stands for one. A table that they guard everywhere, or never speak of, ends as it began, but for
#   what gold calls among them change. Of others nothing can be said, nor by published rules.
# - Calls that met no gold, worked, changed no table, and are of tools that say that they write. Of
#   milestones they are not told, which leave open what is called.
#
# A call that was refused, or brought an error, has no effect. Of several plans the one counts that
# leaves fewest.


# Gold calls with an answer: what they leave in a world is lost where the world lacks it at the end.
# Calls that met gold leave what they left in the chat. The others leave what they do in the gold,
# unless the world has all that gold leaves, by whatever calls. What nobody took back, and the world
# lacks all the same, it lost by itself.


class Change(NamedTuple):
    """Rows of a table."""

    came: Sequence[Row]
    went: Sequence[Row]


Changes = Mapping[str, Change]
"""By table."""


def extra_effects(goal: GoalChat, match: Match | None) -> Effects:
    """Return which calls changed what gold does not.

    Args:
        goal: With plans.
        match: Rules of milestones; None: the task's own.
    """
    plans = goal.goal.plans or ()
    if any(map(asks_of_world, plans)):
        if not _shows_tables(goal):
            return (), "gold asks of the world, and the chat was in none"
        return _of_milestones(goal, match)
    each = [_sides(goal, plan.calls()).besides for plan in plans]
    if not all(each):
        return (), ""
    if _shows_tables(goal):
        world = goal.chat.once(_World, goal)
        found = [
            _acted(goal, world, calls, () if _is_as_gold(goal, plan, world) else None)
            for plan, calls in zip(plans, each, strict=True)
        ]
    else:
        found = [[call for call in calls if _writes(goal, call)] for calls in each]
    return _told(found)


def lost_effects(goal: GoalChat) -> Effects:
    """Return which calls took back what gold calls leave, and which gold call the world lacks then.

    No call where the gold call was not made; no words where nothing is known to be lost. Of several
    plans one suffices of which nothing is.

    Args:
        goal: With plans.
    """
    plans = goal.goal.plans or ()
    if not _shows_tables(goal) or any(map(asks_of_world, plans)):
        return (), ""
    world = goal.chat.once(_World, goal)
    found = [_lost(goal, plan, world) for plan in plans]
    return found[0] if found and all(said for _, said in found) else ((), "")


def _lost(goal: GoalChat, plan: Plan, world: _World) -> Effects:
    sides = _sides(goal, plan.calls())
    ends = [end for end in _recorded(goal, plan) if end.get("calls")]
    if not ends or not _may_be_lost(sides, world):
        return (), ""
    lacks = []
    for end in ends:
        ignore, by_call = end.get("varies", ()), list(map(_as_changes, end["calls"]))
        made = [*world.changes(sides.met), *(by_call[place] for place in sides.unmet)]
        if world.holds(made, ignore) or world.holds(by_call, ignore):
            return (), ""
        lacks += [place for place, one in enumerate(by_call) if not world.holds([one], ignore)]
    gold = plan.calls()[min(lacks, default=0)]
    call = ToolCall("", goal.tools[gold.tool].name, gold.canonical_arguments())
    taken = () if world.holds(world.changes(sides.met), ()) else world.writers(sides.besides)
    return taken, f"{LOST_EFFECT} {_written(call)} leaves"


def _may_be_lost(sides: _Sides, world: _World) -> bool:
    """Tell whether gold calls were not made, or others may have taken their effects back."""
    if sides.unmet:
        return True
    return bool(world.writers(sides.besides)) and not world.holds(world.changes(sides.met), ())


def ends_asked(chat: TaskChat) -> dict[int, list[EndsAs]]:
    """Return goal to the ends of its gold calls, of which a run records how the world is then.

    Empty where no call besides the gold changed the world, and all effects of gold are there. If
    one did, it may have been another way to the same end, which is no extra effect.
    """
    plans = {
        goal.position: goal.goal.plans
        for goal in chat.goals
        if goal.goal.plans and not any(map(asks_of_world, goal.goal.plans))
    }
    if not any(_asks_for_end(chat.goals[position]) for position in plans):
        return {}
    return {goal: list(filter(None, map(_end_of, some))) for goal, some in plans.items()}


def _asks_for_end(goal: GoalChat) -> bool:
    if extra_effects(goal, None)[0]:
        return True
    if asks_calls_alone(goal.goal) or not _shows_tables(goal):
        return False
    world = goal.chat.once(_World, goal)
    return all(_may_be_lost(_sides(goal, plan.calls()), world) for plan in goal.goal.plans or ())


def _end_of(plan: Plan) -> EndsAs | None:
    """Return that a chat ends as after the gold calls of a plan; None: one cannot be made."""
    calls = tuple(plan.calls())
    return None if any(call.arguments is None for call in calls) else EndsAs((calls,))


def _told(ways: Sequence[list[ToolCall]]) -> Effects:
    """Return the calls of the way that leaves fewest, and the first three in words."""
    acted = min(ways, key=len)
    return acted, f"{NO_GOLD_EFFECT}: {', '.join(map(_written, acted[:3]))}" if acted else ""


def _written(call: ToolCall) -> str:
    given = (f"{name}={shortened(value)}" for name, value in (call.arguments or {}).items())
    return f"{call.name}({', '.join(given)})"


def _shows_tables(goal: GoalChat) -> bool:
    return any(step.state for step in goal.trajectory.steps)


def _writes(goal: GoalChat, call: ToolCall) -> bool:
    return call.tool is not None and call.tool in goal.tools and goal.tools[call.tool].writes


def _acted(
    goal: GoalChat, world: _World, besides: Sequence[ToolCall], wrote: Collection[ToolCall] | None
) -> list[ToolCall]:
    """Return the calls that have an effect.

    Args:
        goal: Where they were made.
        world: Its tables.
        besides: Calls that worked and met no gold.
        wrote: Calls that changed what tables show, if that is known.
    """
    known = world.writers(besides) if wrote is None else wrote
    unseen = [c for c in besides if _writes(goal, c) and not any(world.changes([c]))]
    return [call for call in goal.made if call in known or call in unseen]


class _Sides(NamedTuple):
    """Calls that worked, and gold calls that are to work."""

    met: Sequence[ToolCall]
    """Those that met a gold call."""
    besides: Sequence[ToolCall]
    """All others."""
    unmet: Sequence[int]
    """Gold calls that none met, by their positions in the plan's calls."""


def _sides(goal: GoalChat, calls: Sequence[Called]) -> _Sides:
    """Return which calls met gold calls of a plan, and which did not."""
    worked = [call for call in goal.made if not failed(goal.results.get(call.id))]
    gold = [(place, Milestone(call)) for place, call in enumerate(calls) if not call.refused]
    pairs = align(Plan(tuple(node for _, node in gold)), 0, worked, goal.cut).pairs
    exact = {pair.made: pair.gold for pair in pairs if pair.comparison.exact}
    taken = set(exact.values())
    return _Sides(
        [call for place, call in enumerate(worked) if place in exact],
        [call for place, call in enumerate(worked) if place not in exact],
        [at for number, (at, _) in enumerate(gold) if number not in taken],
    )


class _World:
    """The tables of a chat as it went on for a goal."""

    def __init__(self, goal: GoalChat) -> None:
        tables: Tables = dict(goal.task.initial_state or {})
        self.begun: Tables = {}
        """As the chat began."""
        self._around: dict[str, tuple[Tables, Tables]] = {}
        """Id of a call to the tables before and after its result."""
        known = []
        for step in goal.trajectory.steps:
            before, tables = tables, {**tables, **(step.state or {})}
            self.begun = self.begun or tables
            if step.goal == goal.position:
                known.append(tables)
                if step.result is not None and step.state:
                    self._around[step.result.call_id] = before, tables
        self.first, self.last = (known[place] if known else tables for place in (0, -1))
        """As the part of the chat about the goal began, and as it ended."""

    def writers(
        self, calls: Sequence[ToolCall], left: Changes | None = None, ignore: Sequence[str] = ()
    ) -> list[ToolCall]:
        """Return the calls that left rows, or took them. Of several for one row, the last did.

        Args:
            calls: That may have done so.
            left: The rows, without what may differ; None: all that the calls changed together.
            ignore: What may differ.
        """
        by_call = dict(zip((call.id for call in calls), self.changes(calls), strict=True))
        found = _together(by_call.values()) if left is None else left
        rest = {table: _plain_change(change) for table, change in found.items()}
        wrote = []
        for call in reversed(calls):
            before = dict(rest)
            for table, change in by_call[call.id].items():
                if table in rest and (columns := ignored(table, ignore)) is not None:
                    sides = zip(rest[table], _plain_change(change, columns), strict=True)
                    others = Change(*(unlike(rows, own)[0] for rows, own in sides))
                    if list(map(len, others)) != list(map(len, rest[table])):
                        rest[table] = others
            if any(rest[table] is not before[table] for table in rest):
                wrote.append(call)
        return wrote[::-1]

    def changes(self, calls: Iterable[ToolCall]) -> list[Changes]:
        """Return what each call changed."""
        around = (self._around.get(call.id) for call in calls)
        return [{} if tables is None else changed(*tables) for tables in around]

    def holds(self, effects: Iterable[Changes], ignore: Sequence[str]) -> bool:
        """Tell whether the goal ended with what effects come to.

        Args:
            effects: In their order.
            ignore: What may differ.
        """
        plain: list[Changes] = []
        for one in effects:
            known = ((table, change, ignored(table, ignore)) for table, change in one.items())
            plain.append({t: _plain_change(c, names) for t, c, names in known if names is not None})
        for table, (came, went) in _together(plain).items():
            first, last = (
                _plain(tables.get(table, ()), ignored(table, ignore) or ())
                for tables in (self.first, self.last)
            )
            kept = unlike(went, unlike(first, last)[0])[0]
            if _has_any(last, kept) or unlike(came, last)[0]:
                return False
        return True


def changed(before: Mapping[str, Table], after: Mapping[str, Table]) -> Changes:
    """Return which rows came into tables and went from them."""
    found = {
        table: Change(beyond(rows, before.get(table, ())), beyond(before.get(table, ()), rows))
        for table, rows in after.items()
        if rows is not before.get(table)
    }
    return {table: change for table, change in found.items() if any(change)}


def _together(changes: Iterable[Changes]) -> Changes:
    """Return what several changes come to: a row that came and went again did neither."""
    found: dict[str, Change] = {}
    for one in changes:
        for table, (came, went) in one.items():
            known = found.get(table, Change((), ()))
            came, went = (*known.came, *came), (*known.went, *went)
            found[table] = Change(*unlike(came, went))
    return found


def _plain(rows: Table, without: Collection[str] = (), chosen: Collection[str] = ()) -> list[Row]:
    """Return rows without some columns, but for chosen values, and without cells that are null."""

    def counts(name: str, cell: Any) -> bool:
        if cell is None or name not in without:
            return cell is not None
        return bool(chosen) and not _values_of(cell).isdisjoint(chosen)

    return [{n: c for n, c in row.items() if counts(n, c)} for row in rows]


def _plain_change(
    change: Change, without: Collection[str] = (), chosen: Collection[str] = ()
) -> Change:
    return Change(_plain(change.came, without, chosen), _plain(change.went, without, chosen))


def _values_of(value: Any) -> set[str]:
    """Return the texts and numbers of a JSON value, as texts that are equal where these are."""
    return set(leaves(normalise(value)))


def _chosen(goal: GoalChat, plan: Plan) -> set[str]:
    """Return the values that the agent's calls gave, and neither gold nor an earlier result has."""
    mine, told, found = {call.id for call in goal.made}, "", set()
    for step in goal.trajectory.steps:
        if step.call is not None and step.call.id in mine:
            found |= {v for v in _values_of(step.call.arguments) if v not in told}
        if step.result is not None:
            told += f"{step.result.content}\n"
    gold = [one.listed for call in plan.calls() for one in (call.arguments or {}).values()]
    return found - _values_of(gold)


def _has_any(rows: Sequence[Row], wanted: Sequence[Row]) -> bool:
    return len(unlike(rows, wanted)[0]) < len(rows)


def _more_than(
    made: Changes,
    gold: Mapping[str, RowsChanged],
    ignore: Sequence[str],
    chosen: Collection[str] = (),
) -> Changes:
    """Return the rows that came or went in a chat, and not in the gold, without what may differ.

    Args:
        made: In the chat.
        gold: In the gold.
        ignore: What may differ.
        chosen: Values that may not, wherever they stand.
    """
    found = {}
    for table, change in made.items():
        columns = ignored(table, ignore)
        if columns is not None:
            known = gold.get(table, {})
            # A chosen value may be gold's own: the same rows go before anything is left out.
            both = [
                unlike(_plain(rows), _plain(known.get(how, ())))
                for how, rows in zip(Change._fields, change, strict=True)
            ]
            rest, left = (Change(*side) for side in zip(*both, strict=True))
            one = Change(*unlike(*_plain_change(rest, columns, chosen)))
            came, went = _plain_change(left, columns)
            more = Change(unlike(one.came, came)[0], unlike(one.went, went)[0])
            if any(more):
                found[table] = more
    return found


def _is_as_gold(goal: GoalChat, plan: Plan, world: _World) -> bool:
    """Tell whether the world ends with nothing that it does not have after the gold calls."""
    ends = _recorded(goal, plan)
    made, chosen = (changed(world.begun, world.last), _chosen(goal, plan)) if ends else ({}, ())
    return any(
        not _more_than(made, end.get("changes", {}), end.get("varies", ()), chosen) for end in ends
    )


def _recorded(goal: GoalChat, plan: Plan) -> list[Mapping[str, Any]]:
    """Return how the world ends after the gold calls of a plan, as the run recorded it."""
    asked = _end_of(plan)
    if asked is None:
        return []
    recorded = goal.trajectory.provenance.get(GOLD_ENDS, {}).get(str(goal.position), {})
    return [end for end in recorded.get(asked.key, ()) if not end.get("fault")]


def _of_milestones(goal: GoalChat, match: Match | None) -> Effects:
    world, plans = _World(goal), goal.goal.plans or ()
    try:
        if (match or match_of(goal.task)) != CLEAN:
            return (), "published rules of milestones say nothing of other effects"
        wanted = [one for plan in plans for one in _wanted(goal, plan, world)]
    except DataError as error:
        return (), f"the plan cannot be measured: {error}"
    found = []
    for begun, gold, ignore, calls, leaves_open in wanted:
        more = _more_than(changed(begun, world.last), gold, ignore)
        besides = _sides(goal, calls).besides
        acting, unseen = (besides, ()) if leaves_open else (goal.made, besides)
        found.append(_acted(goal, world, unseen, world.writers(acting, more, ignore)))
    return _told(found)


class _Wanted(NamedTuple):
    """What gold changes in a world."""

    begun: Tables
    gold: Mapping[str, RowsChanged]
    ignore: Sequence[str]
    """What may differ: `table` or `table.column`."""
    calls: Sequence[Called]
    """All that gold names."""
    leaves_open: bool = False
    """Whether it is open which other calls lead there. What those of gold change is then gold's."""


def _wanted(goal: GoalChat, plan: Plan, world: _World) -> Iterator[_Wanted]:
    """Yield what a plan of the world changes there, alternatives of it.

    Raises:
        DataError: The run did not record it, or a condition of another's says it.
    """
    asked = [part for node in plan.milestones for part in parts(node.condition)]
    end = next((part for part in asked if isinstance(part, EndsAs | FinalState)), None)
    known = None if end is None else end.in_chat(goal.trajectory, goal.position)
    if isinstance(known, KnownEnds):
        # Alternatives of earlier goals come before those of this one.
        ways = zip(known.ends, cycle(known.gold.sequences or ((),)), strict=False)
        for changes, way in ways:
            calls = [*plan.calls(), *(call for call in way if isinstance(call, Called))]
            as_made = _as_made(known.gold, changes, changed(world.begun, world.last))
            yield _Wanted(world.begun, as_made, known.gold.ignore, calls)
    elif isinstance(known, FinalState):
        table = known.table
        rows = ({table: _plain(some)} for some in (world.begun.get(table, ()), known.rows))
        yield _Wanted(world.begun, _as_gold(changed(*rows)), known.ignore, plan.calls())
    else:
        if foreign := [part for part in asked if not isinstance(part, _OURS)]:
            raise DataError(f"nobody knows what {type(foreign[0]).__name__} asks of tables")
        yield _left_by_milestones(plan, asked, world)


def _as_made(
    gold: EndsAs, changes: Mapping[str, RowsChanged], made: Changes
) -> Mapping[str, RowsChanged]:
    """Return what gold changes, with the rows of the chat for those that say the same."""
    found = dict(changes)
    for table, change in made.items():
        typed, columns = typed_columns(table, gold.cells), ignored(table, gold.ignore)
        if typed and columns is not None and table in changes:
            rows = dict(changes[table])
            for how, have in zip(Change._fields, change, strict=True):
                want, mine = _plain(rows.get(how, ()), columns), _plain(have, columns)
                missing, rest = unlike_as(typed, want, mine)
                rows[how] = [*missing, *beyond(mine, rest)]
            found[table] = rows
    return found


_OURS = (Called, Asked, Replied, Told, Refused, DependsOn, StateHas, StateUnchanged)


def _left_by_milestones(plan: Plan, asked: Sequence[Condition], world: _World) -> _Wanted:
    """Return what milestones say of how tables end; those of which they do not may differ."""
    guards = [
        {part.table for part in parts(node.condition) if isinstance(part, StateUnchanged)}
        for node in plan.milestones
    ]
    throughout = {p.table for p in asked if isinstance(p, StateUnchanged) and p.since is None}
    spoken = set().union(*guards, *map(asked_tables, plan.minefields))
    wanted: dict[str, Change] = {}
    free = [MESSAGE]
    for table, change in changed(world.first, world.last).items():
        has = [part for part in asked if isinstance(part, StateHas) and part.table == table]
        kept = table in throughout or bool(guards and all(table in some for some in guards))
        if has:
            wanted[table] = _asked_for(change, has)
        elif table in spoken and not kept:
            free.append(table)
    return _Wanted(world.first, _as_gold(wanted), free, plan.calls(), leaves_open=True)


def _asked_for(change: Change, asked: Sequence[StateHas]) -> Change:
    """Return the rows of a change that milestones may have asked for.

    A row that went may be the former version of one that came, which its first cell names. A
    snapshot does not say which rows may go.
    """
    removals = [part for part in asked if part.measure == "removal"]
    came = _met(change.came, [part for part in asked if part not in removals])
    if any(part.measure == "snapshot" for part in asked):
        return Change(came, change.went)
    names = [next(iter(row.items()), None) for row in change.came]
    former = [row for row in change.went if next(iter(row.items()), None) in names]
    return Change(came, [*former, *_met(beyond(change.went, former), removals)])


def _met(rows: Sequence[Row], asked: Sequence[StateHas]) -> list[Row]:
    """Return the rows of which each has a target row of its own that it is at all like."""
    targets = [(row, part.columns) for part in asked for row in part.rows]
    none = [1.0] * len(rows)
    costs = [[0.0 if _is_like(row, *one) else inf for one in targets] + none for row in rows]
    places = cheapest(costs) or ()
    return [row for row, place in zip(rows, places, strict=True) if place < len(targets)]


def _is_like(row: Row, wanted: Row, columns: Mapping[str, Column]) -> bool:
    return all(
        name in row and cell_similarity(row[name], value, columns.get(name, Column()), CLEAN) != 0
        for name, value in wanted.items()
    )


def _as_changes(told: Mapping[str, RowsChanged]) -> Changes:
    return {name: Change(rows.get("came", ()), rows.get("went", ())) for name, rows in told.items()}


def _as_gold(changes: Changes) -> dict[str, RowsChanged]:
    return {table: change._asdict() for table, change in changes.items()}
