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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from typing import Any

from seal.core import (
    JSON,
    InfrastructureError,
    OverdueError,
    Step,
    Tables,
    Task,
    ToolCall,
    ToolResult,
    Trajectory,
    UsageError,
    fault,
    shortened,
)
from seal.core.conditions import BREACHES, USER, takes_turn
from seal.core.consent import consent
from seal.core.registry import name_of
from seal.core.statements import Sense
from seal.core.values import equal
from seal.environments.chat_world import Clock, clock_of
from seal.environments.tables import Row, own_copy

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
    today: date
    """The local day of the call, by which a day is known that is told without its year."""

    @cached_property
    def calls(self) -> list[ToolCall]:
        """The agent's calls that worked, with the arguments that ran."""
        return _worked(self.steps)

    @property
    def allowed(self) -> bool:
        """Whether the agent put this call to its user, who agreed (`seal.core.consent`).

        One agreement allows one call.
        """
        written, sense = self.call.arguments, Sense(today=self.today, zone=self.zone)
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
        chat = Before(asked.call, before, tables, clock.zone, world.today)
        why = _asked(check, call, world, chat)
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
    except (OverdueError, KeyboardInterrupt):  # the time of the whole, or the user, ends it
        raise
    except BaseException as error:  # whatever a user's rule raises
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
