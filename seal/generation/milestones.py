"""Milestones drafted from a sequence that was done: a beginning for whoever writes them.

- A call that changed tables becomes a milestone at what changed (`seal.generation.changes`).
- A call whose result a later call or message used (`seal.generation.flows`) becomes a milestone at
  that call with its arguments: those that follow from an earlier result are taken from there where
  an extractor knows how, and ids that were made in the chat are left out. Where nothing changed
  before a message, the last call before it is taken for used.
- An event, such as a timer that rings, becomes a milestone.
- The last message to the user becomes a milestone at the values of results that it tells, else at
  its words.
- An edge says that a call used an earlier one's result, that both changed one table, or, where a
  world can try, that it fails without what the earlier one changed. Other milestones are parallel.
- Every table is guarded that no parallel milestone may change.

The draft is measured against the sequence itself by the rules `clean`. It says how this sequence
went, not what else is right: loosen what others may do otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from seal.benchmarks.scenarios.beginnings import timed
from seal.benchmarks.scenarios.files import Node, Scenario, Take
from seal.benchmarks.scenarios.notation import Names, plan_of
from seal.core.canonical import equal
from seal.core.conditions import EXTRACTORS, Told
from seal.core.conditions.extractors import UNFIT
from seal.core.conditions.parties import EXECUTOR
from seal.core.conditions.stated import states
from seal.core.errors import DataError
from seal.core.types import JSON, Plan, Step, Tables, Task, Tool, ToolCall
from seal.evaluation.milestones.plans import measure_plan
from seal.generation.changes import change_of, is_moment, tolerance_of
from seal.generation.flows import Made, argument_sources, leaves, made_calls, messages, told
from seal.worlds.clock import Clock

Fails = Callable[[Tables, int, ToolCall], bool]
"""(tables, turns before it, call) to whether the call fails in a world with these tables."""

REPLY = "reply"
EVENT = "event"
_TOLD = 5
"""Values that the reply is asked for at most."""


@dataclass(frozen=True, slots=True)
class Draft:
    """Milestones drafted from one sequence."""

    task_id: str
    goal: int
    nodes: tuple[Node, ...]
    """In the notation of `seal.benchmarks.scenarios`."""
    plan: Plan
    """The same, as a task has it."""
    similarity: float
    """Of the sequence itself, in [0, 1]; below 1 the draft does not fit it."""

    def milestones(self) -> list[dict[str, JSON]]:
        """Return the nodes as JSON, to be pasted into a scenario."""
        return [_plain(node) for node in self.nodes]


def draft_milestones(
    task: Task,
    steps: Sequence[Step],
    tools: Mapping[str, Tool],
    goal: int = 0,
    fails: Fails | None = None,
) -> Draft:
    """Return the milestones of a sequence.

    Args:
        task: That was done.
        steps: As `seal.evaluation.milestones.view` gives them by the rules `clean`.
        tools: By id; their names are those of the notation.
        goal: Position of the goal that the steps are about.
        fails: Tries calls in the task's world; None: no edge follows from what changed.

    Raises:
        DataError: Nothing was done that a milestone could ask for.
    """
    clock = task.metadata.get("clock") or {}
    zone = ZoneInfo(str(clock.get("zone", Clock().zone)))
    made = made_calls(steps)
    nodes = _Drafter(steps, made, _names(made, tools), zone, fails).nodes()
    if not nodes:
        raise DataError(
            f"task {task.id}: no call succeeded and nothing was said to the user; "
            "give a sequence in which something is done"
        )
    named = {name: tool for tool, name in _names(made, tools).items()}
    types = {table: dict.fromkeys(names, Any) for table, names in _columns(steps).items()}
    plan = plan_of(_scenario(task.id, nodes), Names(named, types, zone))
    return Draft(task.id, goal, nodes, plan, measure_plan(plan, steps).similarity)


def _scenario(name: str, nodes: tuple[Node, ...]) -> Scenario:
    return Scenario(name, [], "", [], {}, "", [], [], list(nodes))


def _names(made: Sequence[Made], tools: Mapping[str, Tool]) -> dict[str, str]:
    """Return id to name of each tool that ran; the id again where two have one name."""
    ids = dict.fromkeys(one.tool for one in made if one.tool)
    names = {i: tools[i].name if i in tools else i.rpartition("/")[2] for i in ids}
    return {i: name if list(names.values()).count(name) == 1 else i for i, name in names.items()}


def _columns(steps: Sequence[Step]) -> dict[str, list[str]]:
    """Return the tables of the world with the columns that any row of theirs ever had."""
    found: dict[str, dict[str, None]] = {}
    for step in steps:
        for table, rows in (step.state or {}).items():
            columns = found.setdefault(table, {})
            columns.update(dict.fromkeys(name for row in rows for name in row))
    return {table: list(columns) for table, columns in found.items()}


class _Drafter:
    """Drafts the nodes of one sequence.

    Args:
        steps: All of them.
        made: The calls that succeeded.
        names: Id to name of each tool.
        zone: Of local times.
        fails: Tries calls.
    """

    def __init__(
        self,
        steps: Sequence[Step],
        made: Sequence[Made],
        names: Mapping[str, str],
        zone: ZoneInfo,
        fails: Fails | None,
    ) -> None:
        self._steps = steps
        self._made = made
        self._names = names
        self._zone = zone
        self._fails = fails
        self._sources = argument_sources(made, steps)
        self._messages = messages(steps)
        self._told = {place: told(made, steps, place) for place in self._messages}
        self._kept = self._keep()
        self._named = self._name()
        self._before = self._order()
        brought = (leaf for one in made for leaf in leaves(one.result))
        self._moving = {leaf for leaf in brought if isinstance(leaf, float) and is_moment(leaf)}

    def nodes(self) -> tuple[Node, ...]:
        """Return the nodes in the order in which they were reached."""
        found = [self._node(number) for number in self._kept]
        if self._messages:
            found.append(self._reply())
        tables = list(_columns(self._steps))
        return tuple(
            replace(node, guards=guards if len(guards) < len(tables) else None)
            for node, guards in zip(found, self._guards(tables), strict=True)
        )

    def _keep(self) -> list[int]:
        """Return the positions of the calls that become milestones."""
        kept = {n for n, one in enumerate(self._made) if one.changes or one.call is None}
        kept |= {source for sources in self._sources for source in sources.values()}
        kept |= {source for values in self._told.values() for source in values.values()}
        begin = -1
        for place in self._messages:
            here = [n for n, one in enumerate(self._made) if one.call and begin < one.asked < place]
            if here and not any(self._made[number].changes for number in here):
                kept.add(here[-1])
            begin = place
        return sorted(kept)

    def _name(self) -> dict[int, str]:
        """Return the name of each node: its tool's, with a number from the second one on."""
        named: dict[int, str] = {}
        taken = {"start", REPLY}
        for number in self._kept:
            first = name = self._names.get(self._made[number].tool, EVENT)
            count = 1
            while name in taken:
                count += 1
                name = f"{first}_{count}"
            taken.add(name)
            named[number] = name
        return named

    def _order(self) -> dict[int, set[int]]:
        """Return for each node all those that come before it."""
        before: dict[int, set[int]] = {}
        for number in self._kept:
            one = self._made[number]
            direct = set(self._sources[number].values())
            for earlier in self._kept:
                other = self._made[earlier]
                if other.answered < one.answered and (
                    other.changes.keys() & one.changes.keys() or self._needs(one, other)
                ):
                    direct.add(earlier)
            before[number] = direct.union(*(before[earlier] for earlier in direct))
        return before

    def _needs(self, later: Made, earlier: Made) -> bool:
        """Tell whether a call fails where an earlier one has changed nothing.

        An event needs what it has a word of: the timer that it names. What changes after an event
        is taken for an answer to it.
        """
        if earlier.call is None:
            return bool(later.changes)
        if later.call is None:
            came = [row for change in earlier.changes.values() for row in change.added]
            return any(
                isinstance(leaf, str) and states(str(later.result), leaf, {})
                for leaf in leaves(came)
            )
        if self._fails is None or not earlier.changes or earlier.answered > later.asked:
            return False
        until = self._steps[: later.asked + 1]
        turns = len({step.turn for step in until if step.author != EXECUTOR})
        now = self._steps[later.asked].state or {}
        without = {**now, **{table: earlier.before[table] for table in earlier.changes}}
        call = later.call
        return self._fails(without, turns, call) and not self._fails(now, turns, call)

    def _node(self, number: int) -> Node:
        one = self._made[number]
        node = Node(name=self._named[number], after=self._after(self._before[number]))
        if one.call is None:
            node = replace(node, happens=str(one.result))
        if one.changes:
            node = replace(node, state={table: self._state(number, table) for table in one.changes})
        if one.call is None or one.changes:
            return node
        take = self._take(number)
        taken = set() if take is None else take[1]
        arguments = {
            name: value
            for name, value in one.arguments.items()
            if name not in taken and not self._is_made_here(number, name)
        }
        within = {
            name: tolerance
            for name, value in arguments.items()
            if (tolerance := tolerance_of(name, value, self._moving)) is not None
        }
        return replace(
            node,
            calls={self._names[one.tool]: self._spoken(arguments)},
            within=within,
            take=None if take is None else take[0],
        )

    def _after(self, before: set[int]) -> list[str]:
        """Return the names of the nodes right before one."""
        implied = set().union(*(self._before[earlier] for earlier in before))
        return [self._named[earlier] for earlier in sorted(before - implied)]

    def _state(self, number: int, table: str) -> dict[str, JSON]:
        one = self._made[number]
        rows, before = one.after[table], one.before.get(table, [])
        derived = set(leaves(rows)) - set(leaves(before)) - set(leaves(one.arguments))
        moving = self._moving | {leaf for leaf in derived if isinstance(leaf, float)}
        change = change_of(before, rows, one.changes[table], moving)
        last = [n for n in self._before[number] if table in self._made[n].changes]
        since = {"since": self._named[max(last)]} if last and "is" not in change else {}
        spoken: dict[str, JSON] = self._spoken(change)
        return {**spoken, **since}

    def _take(self, number: int) -> tuple[Take, set[str]] | None:
        """Return how arguments are taken from an earlier result, and which; None: no way is known.

        An extractor is for one that gives exactly the arguments that were given.
        """
        one = self._made[number]
        for earlier in sorted(set(self._sources[number].values())):
            source = self._made[earlier]
            record = {"tool": source.tool, "arguments": source.arguments, "result": source.result}
            for name, extract in sorted(EXTRACTORS.items()):
                try:
                    values = extract(record)[0]
                except UNFIT:
                    continue
                given = one.arguments
                if all(n in given and equal(given[n], v) for n, v in values.items()):
                    return Take(self._named[earlier], name), set(values)
        return None

    def _is_made_here(self, number: int, name: str) -> bool:
        """Tell whether an argument is an id or the like that was made in the chat."""
        source = self._sources[number].get(name)
        if source is None or not self._made[source].changes:
            return False
        began = set(leaves(list((self._steps[0].state or {}).values())))
        made = set(leaves(self._made[number].arguments[name])) - began
        return any(isinstance(leaf, str) for leaf in made)

    def _reply(self) -> Node:
        place = self._messages[-1]
        earlier = set(self._kept)
        node = Node(name=REPLY, after=self._after(earlier))
        step = self._steps[place]
        tells = [text for text in self._told[place] if Told((text,)).similarity(step, {}) == 1.0]
        if tells:
            return replace(node, tells=tells[:_TOLD])
        return replace(node, says=step.content)

    def _guards(self, tables: Sequence[str]) -> list[list[str]]:
        """Return the tables that each node guards: those that nothing may change meanwhile."""
        order: list[tuple[int | None, set[int]]] = [(n, self._before[n]) for n in self._kept]
        if self._messages:
            order.append((None, set(self._kept)))
        by_event = self._changed_by_events()
        found = []
        for number, before in order:
            after = {n for n in self._kept if number is not None and number in self._before[n]}
            implied = set().union(*(self._before[earlier] for earlier in before))
            direct = before - implied
            settled = [{n, *self._before[n]} for n in direct] or [set[int]()]
            changers = {
                table: {n for n in self._kept if table in self._made[n].changes} - {number}
                for table in tables
            }
            last = not after and (number is None or not self._messages)
            found.append(
                [
                    table
                    for table in tables
                    if table not in by_event
                    and all(changers[table] <= earlier | after for earlier in settled)
                    and (not last or changers[table] <= before)
                ]
            )
        return found

    def _changed_by_events(self) -> set[str]:
        """Return the tables that change elsewhere than in answers to calls."""
        found: set[str] = set()
        answered = {one.answered for one in self._made}
        for place in range(1, len(self._steps)):
            if place not in answered:
                before, now = self._steps[place - 1].state or {}, self._steps[place].state or {}
                found |= {table for table in now if now[table] is not before.get(table)}
        return found

    def _spoken(self, value: JSON) -> Any:
        """Return a value with whole seconds as local times (`@...`), as scenarios have them."""
        if isinstance(value, dict):
            return {name: self._spoken(item) for name, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._spoken(item) for item in value]
        if not is_moment(value) or value != int(value):
            return value
        local = datetime.fromtimestamp(value, self._zone)
        text = f"@{local:%Y-%m-%dT%H:%M:%S}".removesuffix(":00")
        return text if timed(text, self._zone, "") == value else value


def _plain(node: Node) -> dict[str, JSON]:
    """Return a node without what it leaves open."""
    return {
        field.name: asdict(value) if isinstance(value, Take) else value
        for field in fields(node)
        if (value := getattr(node, field.name)) not in (None, "", {}, [])
        or (field.name in ("after", "guards") and value == [])
    }
