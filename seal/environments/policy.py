"""A policy: what an agent is told to keep, and whether its calls kept it.

A policy is a list of rules. A rule that is a text is only told. A rule that is a function is told
by its docstring, and asked of each call of the agent that worked:

    def within_thirty_days(call, world, chat):
        "Refund an order within 30 days of its delivery only."
        if call.name == "refund" and days_since(world.row("orders", order_id=...)) > 30:
            return "the order was delivered more than 30 days ago"
        return None

It returns how the call broke it, in words, or None. A goal with a broken rule is not solved. A
chat is asked once, when it was played; what was broken stays in its provenance (`BREACHES`), so
that scoring needs neither the world nor its code.
"""

from __future__ import annotations

import inspect
import random
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from typing import Any

from seal.core import (
    JSON,
    InfrastructureError,
    Step,
    Tables,
    Task,
    Tool,
    ToolCall,
    ToolResult,
    Trajectory,
    UsageError,
    fault,
    shortened,
)
from seal.core.conditions import AGENT, BREACHES, EXECUTOR, USER, takes_turn
from seal.core.consent import consent
from seal.core.registry import name_of
from seal.core.state_conditions import EndsAs
from seal.core.statements import Sense
from seal.core.text import words
from seal.core.values import equal
from seal.environments.chat_world import Clock, World, clock_of
from seal.environments.tables import Row, own_copy
from seal.environments.world import Worlds

Rule = str | Callable[..., str | None]
"""A text, or a function of (call, world, chat) that returns how the call broke it, or None."""


@dataclass(frozen=True)
class Seen:
    """The world as a call met it."""

    tables: Tables
    now: float
    """POSIX seconds of the call's turn."""
    clock: Clock

    @property
    def today(self) -> date:
        """The local day of the call."""
        return self.clock.local(self.now).date()

    def rows(self, table: str, **cells: JSON) -> list[Row]:
        """Return copies of the rows of a table that have these cells.

        Raises:
            KeyError: There is no such table.
        """
        return [
            own_copy(row)
            for row in self.tables[table]
            if all(equal(row.get(name), value) for name, value in cells.items())
        ]

    def row(self, table: str, **cells: JSON) -> Row:
        """Return a copy of the first row of a table that has these cells.

        Raises:
            KeyError: There is no such table.
            LookupError: There is no such row.
        """
        found = self.rows(table, **cells)
        if not found:
            raise LookupError(f"the table {table!r} has no row with {cells}")
        return found[0]


@dataclass(frozen=True)
class SeenWorld(Seen):
    """The world as a call met it, and as it left it."""

    after: Seen


@dataclass(frozen=True)
class Before:
    """What was said and done in a chat before a call."""

    call: ToolCall
    """As the agent wrote it."""
    steps: Sequence[Step]
    tables: Tables
    zone: str

    @cached_property
    def calls(self) -> list[ToolCall]:
        """The agent's calls that worked, with the arguments that ran."""
        return _worked(self.steps)

    @property
    def allowed(self) -> bool:
        """Whether the agent put this call to its user, who agreed (`seal.core.consent`).

        One agreement allows one call.
        """
        written, sense = self.call.arguments, Sense(zone=self.zone)
        place = consent(self.steps, written, self.tables, sense, self.call.name)
        if place is None:
            return False
        since = (s.call for s in self.steps[place:] if s.call is not None and s.author != USER)
        done = {call.id for call in _worked(self.steps[place:])}
        return not any(
            one.id in done and one.name == self.call.name and equal(one.arguments, written)
            for one in since
        )


def _worked(steps: Sequence[Step]) -> list[ToolCall]:
    made = {s.call.id: s for s in steps if s.call is not None and s.author != USER}
    results = (step.result for step in steps if step.result is not None)
    return [
        _as_run(made[result.call_id], result.executed)
        for result in results
        if result.error is None and result.call_id in made
    ]


def policy_text(policy: Sequence[Rule]) -> str:
    """Return what an agent is told of a policy: texts as they are, and each check as a point."""
    told = [rule if isinstance(rule, str) else f"- {_words(rule)}" for rule in policy]
    parts: list[str] = []
    for text in told:
        both_points = parts and text.startswith("- ") and parts[-1].startswith("- ")
        parts[-1:] = [f"{parts[-1]}\n{text}"] if both_points else [*parts[-1:], text]
    return "\n\n".join(parts)


def check_policy(world: str, policy: Sequence[Any]) -> None:
    """Make sure that every rule is a text, or a function with a docstring.

    Raises:
        UsageError: One is not; the text names it and the repair.
    """
    if isinstance(policy, str) or not isinstance(policy, Sequence):
        raise UsageError(f"world {world!r}: policy: expected a list of rules, got {policy!r}")
    for rule in policy:
        if isinstance(rule, str) and rule.strip():
            continue
        if not inspect.isfunction(rule):
            raise UsageError(
                f"world {world!r}: policy: {rule!r} is no rule; expected a text, or a function of "
                "(call, world, chat)"
            )
        name = name_of(rule)
        if len(inspect.signature(rule).parameters) != 3 or inspect.iscoroutinefunction(rule):
            raise UsageError(
                f"world {world!r}: policy: {name} cannot be asked; write it as "
                f"`def {rule.__name__}(call, world, chat)`"
            )
        if not (rule.__doc__ or "").strip():
            raise UsageError(
                f"world {world!r}: policy: {name} has no docstring, so that the agent is not told "
                "of it; write the rule there"
            )


def with_breaches(policy: Sequence[Rule], task: Task, chat: Trajectory) -> Trajectory:
    """Return a chat that tells which rules its calls broke, where there is a policy to keep."""
    told = told_breaches(policy, task, chat)
    return replace(chat, provenance={**chat.provenance, **told}) if told else chat


def told_breaches(policy: Sequence[Rule], task: Task, chat: Trajectory) -> dict[str, JSON]:
    """Return what a chat's provenance tells of a policy; empty where nothing can be checked."""
    if not any(callable(rule) for rule in policy):
        return {}
    return {BREACHES: list(breaches(policy, task, chat))}


def breaches(policy: Sequence[Rule], task: Task, chat: Trajectory) -> Iterator[dict[str, JSON]]:
    """Yield each call of the agent that broke a rule: {step, goal, tool, rule, why}.

    Args:
        policy: The rules.
        task: Whose clock tells the time.
        chat: What was said and done, with the tables of its world.

    Raises:
        InfrastructureError: A rule failed, or returned what is neither a text nor None.
    """
    checks = [rule for rule in policy if not isinstance(rule, str)]
    made: dict[str, Step] = {}
    tables: Tables = {}
    for place, step in enumerate(chat.steps):
        if step.call is not None and step.author != USER:
            made[step.call.id] = step
        after = {**tables, **step.state} if step.state else tables
        if step.result is not None and step.result.call_id in made:
            asked, before = made[step.result.call_id], _before(chat.steps, place)
            yield from breaches_at(checks, task, asked, step.result, before, tables, after)
        tables = after


def breaches_at(
    checks: Sequence[Rule],
    task: Task,
    asked: Step,
    result: ToolResult,
    before: Sequence[Step],
    tables: Tables,
    after: Tables,
) -> Iterator[dict[str, JSON]]:
    """Yield each check that one call broke, as `breaches` does; a call that failed broke none.

    Args:
        checks: Functions of a policy.
        task: Whose clock tells the time.
        asked: The step of the call.
        result: Of the call.
        before: What was said and done before it ran.
        tables: The world as the call met it.
        after: As the call left it.

    Raises:
        InfrastructureError: A rule failed, or returned what is neither a text nor None.
    """
    if result.error is not None or not checks:
        return
    clock = clock_of(task)
    turns = {s.turn for s in (*before, asked) if takes_turn(s.author, s.recipient)}
    now = clock.at(len(turns) - 1)
    world = SeenWorld(tables, now, clock, Seen(after, now, clock))
    for check in checks:
        if isinstance(check, str) or asked.call is None:
            continue
        call = _as_run(asked, result.executed)
        why = _asked(check, call, world, Before(asked.call, before, tables, clock.zone))
        if why:
            told: dict[str, JSON] = {"step": asked.index, "goal": asked.goal, "tool": call.name}
            yield {**told, "rule": check.__name__, "why": why}


def _before(steps: Sequence[Step], result: int) -> list[Step]:
    """Return what came before a result, without its call and those that wait beside it."""
    answered = {step.result.call_id for step in steps[:result] if step.result is not None}
    return [s for s in steps[:result] if s.call is None or s.call.id in answered]


def _as_run(step: Step, executed: Any) -> ToolCall:
    assert step.call is not None
    arguments = step.call.arguments if executed is None else executed.arguments
    return replace(step.call, arguments=own_copy(arguments or {}))


def _asked(check: Callable[..., Any], call: ToolCall, world: SeenWorld, chat: Before) -> str | None:
    place = f"the rule {name_of(check)} of the policy"
    try:
        why = check(call, world, chat)
    except Exception as error:  # whatever a user's rule raises
        raise InfrastructureError(
            f"{place} failed at a call of {call.name}: {fault(error)}; mend it"
        ) from error
    if why is not None and not (isinstance(why, str) and why.strip()):
        raise InfrastructureError(
            f"{place} returned {shortened(why)} at a call of {call.name}; expected a text, or None"
        )
    return why


def _words(rule: Callable[..., Any]) -> str:
    return " ".join((rule.__doc__ or "").split())


# -- Whether a policy's rules can be broken at all: calls tried in worlds, until each rule is.
#
# A rule that no call breaks checks nothing, such as one that names a tool or a state which there
# is not. From the states along the gold of tasks calls are made, one after the other: those of gold
# with another argument, and any other. Arguments are cells of the world, values of gold, usual
# numbers, and those that the policy names. Nobody says a word meanwhile, so that rules of consent
# are broken at once. What is found depends on the tasks alone.

MOST_CALLS = 8_000
"""Calls that are tried, at most, of one kind of world."""
LONGEST = 6
"""Calls from one state of gold on."""
_NUMBERS = (1, 2, 5, 50, 1_000, 10_000)
_NAMED = re.compile(r"\d[\d,]*")
_USUAL = frozenset({"id", "to", "from", "of", "new"})
"""Words of names that do not tell what an argument is."""
_TRIED = 25
"""Values of one argument that are drawn from."""


def unbroken(worlds: Worlds, tasks: Sequence[Task], broken: Collection[Rule] = ()) -> list[Rule]:
    """Return the checks of a policy that no tried call breaks.

    Args:
        worlds: The kind of world.
        tasks: That are played there; from the states along their gold calls are tried.
        broken: Checks that are known to be broken, of which none is asked.

    Raises:
        InfrastructureError: A rule failed.
    """
    left = [rule for rule in worlds.policy if not isinstance(rule, str) and rule not in broken]
    drawn = random.Random(worlds.name)
    calls = MOST_CALLS
    starts = [(task, depth) for task in tasks for depth in range(len(gold_of(task)) + 1)]
    drawn.shuffle(starts)
    while starts:
        for task, depth in starts:
            walk = _Walk(worlds, task, drawn)
            calls -= depth
            for call in gold_of(task)[:depth]:
                walk.make(call)
            for _ in range(LONGEST):
                if not left or calls <= 0:
                    return left
                calls -= 1
                found = walk.make(walk.any_call(), left)
                left = [rule for rule in left if rule not in found]
    return left


def gold_of(task: Task) -> list[ToolCall]:
    """Return the gold calls of a task, as they are written."""
    made: list[ToolCall] = []
    for goal in task.goals:
        told = [step.call for step in goal.reference if step.call is not None]
        if not told:
            nodes = (node for plan in goal.plans or () for node in plan.milestones)
            ends = (p for node in nodes for p in node.condition.parts() if isinstance(p, EndsAs))
            asked = next((end.gold_calls() for end in ends), ())
            told = [ToolCall("", "", gold.canonical_arguments(), tool=gold.tool) for gold in asked]
        made += told
    return made


@dataclass
class _Walk:
    """Calls made one after the other in a fresh world of a task."""

    worlds: Worlds
    task: Task
    drawn: random.Random
    steps: list[Step] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.world = self.worlds.open(self.task, 0)
        if isinstance(self.world, World):
            self.world.tick()

    @cached_property
    def numbers(self) -> list[int]:
        """Usual numbers, those that the policy names, and the next of each."""
        named = [int(one.replace(",", "")[:9]) for one in _NAMED.findall(self.worlds.told)]
        return list(dict.fromkeys((*_NUMBERS, *(n + more for n in named for more in (0, 1)))))

    @cached_property
    def gold(self) -> list[ToolCall]:
        """Calls of gold whose tools there are."""
        return [call for call in gold_of(self.task) if call.tool in self.worlds.tools]

    def any_call(self) -> ToolCall:
        """Return a call of gold with one other argument, or of any tool."""
        of_gold = self.drawn.choice(self.gold) if self.gold and self.drawn.random() < 0.5 else None
        tool_id = of_gold.tool if of_gold else self.drawn.choice(list(self.worlds.tools))
        tool = self.worlds.tools[str(tool_id)].document
        known = tool.parameters.get("properties", {})
        needed = tool.parameters.get("required", ())
        if of_gold:
            changed = self.drawn.choice([*known]) if known else ""
            names = {changed: known.get(changed, {})}
        else:
            names = {n: s for n, s in known.items() if n in needed or self.drawn.random() < 0.5}
        given = {
            name: self.drawn.choice(values)
            for name, schema in names.items()
            if (values := list(self._values(tool, name, schema)))
        }
        old = of_gold.arguments or {} if of_gold else self._of_one_row(given)
        new = given if of_gold else {}
        return ToolCall("", tool.name, {**given, **old, **new}, tool=tool.id)

    def _of_one_row(self, given: Mapping[str, JSON]) -> dict[str, JSON]:
        """Return cells of one row of the world for some arguments; none: half of the time."""
        tables = [rows for rows in self.world.states()[-1].values() if rows]
        if not tables or self.drawn.random() < 0.5:
            return {}
        row = self.drawn.choice(self.drawn.choice(tables))
        return {name: row[name] for name in given if row.get(name) is not None}

    def _values(self, tool: Tool, name: str, schema: Mapping[str, Any]) -> Iterator[JSON]:
        """Yield values that an argument may have."""
        kinds = schema.get("type", ())
        kinds = [kinds] if isinstance(kinds, str) else [str(kind) for kind in kinds]
        kinds += [str(one.get("type")) for one in schema.get("anyOf", ())]
        if schema.get("enum"):
            yield from schema["enum"]
            return
        if "boolean" in kinds:
            yield from (True, False)
        own = {*words(name.replace("_", " "))} - _USUAL
        cells = [
            row[column]
            for rows in self.world.states()[-1].values()
            for column in (rows[0] if rows else ())
            if column == name or own & {*words(column.replace("_", " "))}
            for row in rows[-_TRIED:]
        ]
        cells += [
            call.arguments[name]
            for call in self.gold
            if call.arguments and call.tool == tool.id and name in call.arguments
        ]
        if "string" in kinds:
            yield from ([cell for cell in cells if isinstance(cell, str)] or ["something"])
        if {"number", "integer"} & {*kinds}:
            numbers = [c for c in cells if isinstance(c, int | float) and not isinstance(c, bool)]
            whole = "number" not in kinds
            yield from (c for c in numbers if not whole or float(c).is_integer())
            yield from self.numbers

    def make(self, made: ToolCall, checks: Sequence[Rule] = ()) -> list[Rule]:
        """Make a call; return the checks that it breaks."""
        number = len(self.steps)
        call = replace(made, id=f"call_{number}")
        before = self.world.states()[-1]
        (result,) = self.world.call([call])
        after = self.world.states()[-1]
        asked = Step(number, AGENT, EXECUTOR, call=call, turn=number)
        told = [
            check
            for check in checks
            if any(breaches_at([check], self.task, asked, result, self.steps, before, after))
        ]
        self.steps += [asked, Step(number + 1, EXECUTOR, AGENT, result=result, turn=number)]
        return told
