"""Gold calls played in a fresh world: how it ends, and whether they work."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import chain, islice, pairwise, product
from typing import Any

from seal.core import (
    JSON,
    Goal,
    InfrastructureError,
    Plan,
    Step,
    Tables,
    Task,
    Tool,
    ToolCall,
    ToolResult,
    Trajectory,
    levels,
)
from seal.core.conditions import AGENT, EXECUTOR, USER, Called, Condition, parts
from seal.core.earlier_results import filled, joined, result_value, waits
from seal.core.environment import Environment, Eventful, Held, Timed
from seal.core.state_conditions import GOLD_ENDS, EndsAs, FinalState, StateHas
from seal.core.table_matching import beyond
from seal.core.table_versions import Row
from seal.core.text import goal_name
from seal.core.values import equal

NO_WORLD = (
    "gold says how the world ends, and the task is played in no world that has tables; "
    "name its world, or give other gold"
)
MOST_ENDS = 64
"""Alternatives of how a world ends: each is played whenever a chat is."""
_TOO_MANY = (
    f"with the alternatives of earlier goals, the world may end in more than {MOST_ENDS} ways; "
    "give fewer right values, or make a task of each goal"
)
Opened = Callable[[], Environment]
"""Opens the world of a task as its chat begins."""


@dataclass(frozen=True, slots=True)
class End:
    """How a fresh world ends after gold calls."""

    changes: Mapping[str, Mapping[str, Sequence[Row]]]
    """Table to its rows that `came` and that `went`; tables as they began are left out."""
    fault: str = ""
    """Why the gold cannot be played; empty: it can."""
    varies: Sequence[str] = ()
    """What differs where the same calls are made in another chat, such as new ids and times:
    `table.column`, or a table."""
    by_call: Sequence[Mapping[str, Mapping[str, Sequence[Row]]]] = ()
    """Likewise what each gold call changed; none: that is not told."""
    idle: Sequence[int] = ()
    """Places of the gold calls that changed nothing, such as look-ups."""
    apart: bool = False
    """True where the world began as the chat of a later goal does, which is a chat of its own."""

    def to_json(self) -> dict[str, JSON]:
        """Return what a trajectory keeps of it."""
        if self.fault:
            return {"fault": self.fault}
        told: dict[str, JSON] = {"changes": dict(self.changes)}
        told |= {"varies": list(self.varies)} if self.varies else {}
        told |= {"calls": [dict(each) for each in self.by_call]} if self.by_call else {}
        told |= {"idle": list(self.idle)} if self.idle else {}
        return {**told, "apart": True} if self.apart else told


def gold_ends(
    task: Task,
    opened: Opened,
    tools: Mapping[str, Tool],
    carried: bool = True,
    of_calls: Mapping[int, Sequence[EndsAs]] | None = None,
    again: Opened | None = None,
    changing: Collection[int] = (),
) -> dict[str, dict[str, list[End]]]:
    """Return goal to the key of each `EndsAs` to how the world ends after each of its sequences.

    Of plans whose own calls lead to the end it is told after the calls of each.

    Args:
        task: With its gold.
        opened: Opens a world as the chat of the task begins.
        tools: The pool by id.
        carried: Whether the goals are played in one chat, so that gold calls of earlier goals come
            first; of alternatives there, each is played. Else the world begins as the chat of the
            goal does.
        of_calls: Goal whose gold is calls to their ends, of which it is told too, call by call.
        again: Opens the world of another chat of the task, by which it is told what varies.
        changing: Goals for which the chat changed the world. After one of them whose gold names no
            calls, nobody knows how the world should be.

    Raises:
        InfrastructureError: What a tool asks outside of the world failed.
    """
    found: dict[str, dict[str, list[End]]] = {}
    before: list[list[tuple[Called, ...]]] = []
    unknown = ""
    for position, goal in enumerate(task.goals):
        asked = [
            (one, plan)
            for plan in goal.plans or ()
            for node in plan.milestones
            for one in _end_conditions(node.condition)
        ]
        apart = 0 if carried else position
        of_these = [(one, Plan()) for one in (of_calls or {}).get(position, ())]
        for number, (one, plan) in enumerate([*asked, *of_these]):
            known = found.setdefault(str(position), {})
            if unknown and number < len(asked):
                known[one.key] = [End({}, unknown)]
                continue
            if one.key in known and not one.of_plan:
                continue
            each = product(*before, _sequences(one, plan))
            ways = [(joined(way), len(way[-1])) for way in islice(each, MOST_ENDS + 1)]
            if len(ways) > MOST_ENDS and number < len(asked):
                known[one.key] = [End({}, _TOO_MANY)]
                continue
            told = len(one.gold_calls()) if number >= len(asked) else 0
            ends = [played(calls, opened, tools, apart, 1, told, own) for calls, own in ways]
            if again is not None:
                others = [played(calls, again, tools, apart, turns=2) for calls, _ in ways]
                ends = [replace(e, varies=varying(e, o)) for e, o in zip(ends, others, strict=True)]
            # Plans are alternatives: the calls of each lead to an end that is right.
            known[one.key] = [*known.get(one.key, ()), *ends]
        if carried:
            before.append(_ways(goal, asked))
            if position in changing and not _names_calls(goal):
                named = goal_name(position)
                unknown = (
                    f"the chat changed the world for {named}, whose gold names no calls, "
                    "so that nobody knows how the world should end after a later goal; give "
                    f"{named} gold calls or ends_as, or make a task of each goal"
                )
    return found


def _end_conditions(condition: Condition) -> list[EndsAs]:
    return [part for part in condition.parts() if isinstance(part, EndsAs)]


def _sequences(asked: EndsAs, plan: Plan) -> list[tuple[Called, ...]]:
    if asked.of_plan:
        return [tuple(gold_calls(plan))]
    return [tuple(c for c in calls if isinstance(c, Called)) for calls in asked.sequences]


def varying(one: End, other: End) -> list[str]:
    """Return what differs between two ends of the same calls: `table.column`, or a table."""
    found = set()
    for table, how in product({**one.changes, **other.changes}, ("came", "went")):
        rows, others = (end.changes.get(table, {}).get(how, ()) for end in (one, other))
        if len(rows) != len(others):
            found.add(table)
        for row, twin in zip(rows, others, strict=False):
            found |= {f"{table}.{name}" for name in row if not equal(row[name], twin.get(name))}
    return sorted(found)


def of_the_calls_before(
    task: Task, opened: Opened, tools: Mapping[str, Tool]
) -> Iterator[tuple[int, list[str]]]:
    """Yield each goal whose wanted end is another if a call comes before gold; and what is.

    What differs is `table.column`, or a table, without what the gold ignores.

    Args:
        task: With its gold.
        opened: Opens a world as the chat of the task begins.
        tools: The pool by id.
    """

    def opened_late() -> Environment:
        world = opened()
        if hasattr(world, "tick"):
            world.tick()
        world.call([ToolCall("before", "", None)])  # nothing comes of it but that it was made
        return world

    usual, late = (gold_ends(task, way, tools) for way in (opened, opened_late))
    for position, goal in enumerate(task.goals):
        nodes = (node for plan in goal.plans or () for node in plan.milestones)
        for one in chain.from_iterable(_end_conditions(node.condition) for node in nodes):
            pairs = zip(*(ends[str(position)][one.key] for ends in (usual, late)), strict=True)
            found = {name for pair in pairs for name in varying(*pair)}
            left = [name for name in found if not {name, name.partition(".")[0]} & {*one.ignore}]
            if left:
                yield position, sorted(left)


def _ways(goal: Goal, asked: Sequence[tuple[EndsAs, Plan]]) -> list[tuple[Called, ...]]:
    """Return the alternatives of what gold calls for a goal; one without calls, if it says none."""
    if asked:
        return [sequence for one, plan in asked for sequence in _sequences(one, plan)]
    return [tuple(gold_calls(plan)) for plan in goal.plans or ()] or [()]


def _names_calls(goal: Goal) -> bool:
    """Tell whether gold says which calls are made for a goal, or that none are."""
    asked = (
        part
        for plan in goal.plans or ()
        for node in plan.milestones
        for part in parts(node.condition)
    )
    return goal.plans is not None and not any(isinstance(p, FinalState | StateHas) for p in asked)


def gold_calls(plan: Plan) -> list[Called]:
    """Return the gold calls of a plan, in an order that its milestones allow."""
    order = chain.from_iterable(levels([node.after for node in plan.milestones]))
    calls = plan.calls_by_milestone()
    return [call for at in order for call in calls[at]]


def played(
    calls: Sequence[Called],
    opened: Opened,
    tools: Mapping[str, Tool],
    goal: int = 0,
    turns: int = 1,
    told: int = 0,
    own: int = 0,
) -> End:
    """Return how a fresh world ends after gold calls, made one after the other.

    A world without tables is not asked: its calls may have effects that nobody could take back.

    Args:
        calls: Of gold.
        opened: Opens the world.
        tools: The pool by id.
        goal: Position of the goal with which its chat begins.
        turns: Of the chat before they are made.
        told: Number of the last calls of which each is told what it changed.
        own: Number of the last calls, of which it is told which changed nothing.
    """
    with ExitStack() as ended:
        world = opened()
        if isinstance(world, Held):
            ended.callback(world.close)
        if hasattr(world, "begin"):
            world.begin(goal)
        before = _tables(world)
        if not before:
            return End({}, NO_WORLD)
        if hasattr(world, "tick"):
            for _ in range(turns):
                world.tick()
        tables = [before]
        for fault in faults(calls, world, tools):
            if fault:
                return End({}, fault)
            tables.append(_tables(world))
    steps = list(pairwise(tables))
    by_call = [changes(*step) for step in steps[len(calls) - told :]] if told else []
    last = steps[len(calls) - own :]
    idle = [place for place, step in enumerate(last) if own and not changes(*step)]
    return End(changes(before, tables[-1]), by_call=by_call, idle=idle, apart=goal > 0)


def faults(calls: Sequence[Called], world: Environment, tools: Mapping[str, Tool]) -> Iterator[str]:
    """Make gold calls one after the other; yield of each why it is no gold, empty: it is.

    Args:
        calls: Of gold.
        world: Where they run.
        tools: The pool by id.

    Raises:
        InfrastructureError: What a tool asks outside of the world failed, or it returned what JSON
            cannot say; names the call.
    """
    results: dict[int, list[JSON]] = {}
    for number, call in enumerate(calls):
        gold = filled(call, results)
        if waits(gold):
            yield f"the gold call {_written(call)} takes what no earlier call brought; mend it"
            continue
        error, content = _made(number, gold, world, tools)
        results[number + 1] = [] if error else [result_value(content)]
        yield _fault(gold, error)


def gold_chat(task: Task, opened: Opened, tools: Mapping[str, Tool]) -> Trajectory | None:
    """Return a chat in which nothing but the calls of each goal's first plan is done, and said so.

    Args:
        task: With its gold.
        opened: Opens a world as the chat of the task begins.
        tools: The pool by id.

    Returns:
        None where a gold call fails, or the world has no tables.

    Raises:
        InfrastructureError: What a tool asks outside of the world failed.
    """
    with ExitStack() as ended:
        world = opened()
        if isinstance(world, Held):
            ended.callback(world.close)
        before = _tables(world)
        if not before:
            return None
        steps: list[Step] = []
        for at, goal in enumerate(task.goals):
            if hasattr(world, "tick"):
                world.tick()
            steps.append(Step(0, USER, AGENT, goal.text, goal=at, state=None if at else before))
            calls = gold_calls(goal.plans[0]) if goal.plans else []
            for gold, fault in zip(calls, faults(calls, world, tools), strict=True):
                if fault:
                    return None
                call = ToolCall(
                    f"call_{len(steps)}",
                    tools[gold.tool].name,
                    gold.canonical_arguments(),
                    tool=gold.tool,
                )
                result = ToolResult(call.id, "", {"kind": "refused"} if gold.refused else None)
                after = _tables(world)
                state = {name: rows for name, rows in after.items() if rows != before.get(name)}
                steps.append(Step(0, AGENT, EXECUTOR, call=call, goal=at))
                steps.append(Step(0, EXECUTOR, AGENT, result=result, goal=at, state=state))
                before = after
            steps.append(Step(0, AGENT, USER, "Done.", goal=at))
    numbered = tuple(replace(step, index=number) for number, step in enumerate(steps))
    told = {
        goal: {key: [end.to_json() for end in ends] for key, ends in of.items()}
        for goal, of in gold_ends(task, opened, tools).items()
    }
    return Trajectory(task.id, 0, numbered, provenance={GOLD_ENDS: told})


class PlayedChat:
    """A chat as it is written down while it is played in a world: what is said and done, and when.

    Args:
        world: Fresh; it is changed.
        agent: Name of the role that speaks and calls.
    """

    def __init__(self, world: Environment, agent: str = AGENT) -> None:
        self.steps: list[Step] = []
        self.goal = 0
        self.calls = 0
        """Calls that were made."""
        self._world = world
        self._agent = agent
        self._shown: Tables = {}
        self._turn = 0

    def ask(self, text: str) -> None:
        """Let the user say a text."""
        self._say(USER, self._agent, text)

    def tell(self, text: str) -> None:
        """Let the agent say a text to its user."""
        self._say(self._agent, USER, text)

    def hear_events(self) -> None:
        """Tell the agent what has happened by itself, as the chat does before the agent speaks."""
        if isinstance(self._world, Eventful):
            for text in self._world.events():
                state = self._changed(_tables(self._world))
                self._add(EXECUTOR, self._agent, text, state=state)
                self._turn += 1

    def make(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """Make the calls of one reply, and return their results in the order in which they ran.

        Raises:
            InfrastructureError: What a tool asks outside of the world failed.
        """
        self._tick()
        for call in calls:
            self._add(self._agent, EXECUTOR, call=call)
        self.calls += len(calls)
        self._turn += 1
        results = self._world.call(calls)
        for result, tables in zip(results, self._world.states(), strict=True):
            state = self._changed(tables)
            self._add(EXECUTOR, self._agent, result.content, result=result, state=state)
        self._turn += 1
        return results

    def _say(self, author: str, recipient: str, text: str) -> None:
        self._tick()
        state = None if self.steps else self._changed(_tables(self._world))
        self._add(author, recipient, text, state=state)
        self._turn += 1

    def _add(self, author: str, recipient: str, content: str = "", **parts: Any) -> None:
        """Add a step of this turn; `parts` are the call, result and state that it has."""
        place = len(self.steps), author, recipient, content
        self.steps.append(Step(*place, goal=self.goal, turn=self._turn, **parts))

    def _tick(self) -> None:
        if isinstance(self._world, Timed):
            self._world.tick()

    def _changed(self, tables: Tables) -> Tables | None:
        """Return the tables that differ from those shown before."""
        changed = {name: rows for name, rows in tables.items() if rows != self._shown.get(name)}
        self._shown = tables
        return changed or None


def _tables(world: Environment) -> Tables:
    states = world.states()
    return states[-1] if states else {}


def _made(
    number: int, gold: Called, world: Environment, tools: Mapping[str, Tool]
) -> tuple[dict[str, JSON] | None, str]:
    """Make a gold call; return the error that it brought, None where it worked, and its result."""
    if gold.tool not in tools:
        return {"message": "there is no such tool"}, ""
    if gold.arguments is None:
        return {"message": "it accepts any arguments, so that it cannot be made"}, ""
    name = tools[gold.tool].name
    call = ToolCall(f"call_{number}", name, gold.canonical_arguments(), tool=gold.tool)
    try:
        (result,) = world.call([call])
    except InfrastructureError as error:
        told = f"the gold call {_written(gold)} cannot be played: {error}"
        raise InfrastructureError(told) from error
    return result.error, result.content


def _fault(gold: Called, error: Mapping[str, JSON] | None) -> str:
    if error is None and gold.refused:
        return f"the gold call {_written(gold)} is marked as refused, and works; unmark it"
    if error is not None and not gold.refused:
        said = ": ".join(str(error[part]) for part in ("kind", "message") if error.get(part))
        return (
            f"the gold call {_written(gold)} fails: {said}; mend it, or mark it by "
            "seal.refused(...)"
        )
    return ""


def _written(gold: Called) -> str:
    given: Iterator[str] = (
        f"{name}={json.dumps(value, ensure_ascii=False, default=str)}"
        for name, value in gold.canonical_arguments().items()
    )
    return f"{gold.tool.rpartition('/')[2]}({', '.join(given)})"


def changes(before: Tables, after: Tables) -> dict[str, dict[str, list[Any]]]:
    """Return table to the rows that `came` and that `went`; tables as they were are left out."""
    found = {name: _changed(before.get(name, ()), rows) for name, rows in after.items()}
    return {name: change for name, change in found.items() if any(change.values())}


def _changed(before: Sequence[Row], after: Sequence[Row]) -> dict[str, list[Any]]:
    if before is after:
        return {"came": [], "went": []}
    return {"came": beyond(after, before), "went": beyond(before, after)}
