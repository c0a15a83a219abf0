"""Guardrails: what must not happen on the way from one milestone to the next.

Whoever writes a plan declares for each milestone which tables it guards; from those follow the
conditions `StateUnchanged`. Source: ToolSandbox, section 4, and its code.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from seal.core.conditions import (
    FIRST,
    LAST,
    MESSAGE,
    AllOf,
    Condition,
    DependsOn,
    Match,
    StateHas,
    StateUnchanged,
)
from seal.core.types import Milestone, Plan


def parts(condition: Condition) -> tuple[Condition, ...]:
    """Return the conditions of which a milestone's consists, in order."""
    if not isinstance(condition, AllOf):
        return (condition,)
    return tuple(part for inner in condition.conditions for part in parts(inner))


def with_guardrails(
    plan: Plan, declared: Sequence[Collection[str]], match: Match = "clean"
) -> Plan:
    """Return a plan whose milestones also keep the declared tables as they are.

    A milestone refers to those that come right before it and to those that its conditions refer to.
    Since each of these, every declared table is unchanged that neither the milestone nor any of
    them asks anything of. What comes before the first milestone and after the last one is guarded
    by `with_outer_guardrails`.

    Args:
        plan: Without guardrails.
        declared: Tables that each milestone guards, in their order.
        match: `toolsandbox`: what the last milestone asks of counts as if it were asked at the
            first step too, as in the original.
    """
    asked = [asked_tables(node) for node in plan.milestones]
    guarded = []
    for node, tables in zip(plan.milestones, declared, strict=True):
        references = _references(node)
        free = _asked_at(references, asked, match) | asked_tables(node)
        added = [
            StateUnchanged(table, since, match)
            for since in sorted(references)
            for table in tables
            if table not in free
        ]
        guarded.append(_with(node, added))
    return with_outer_guardrails(replace(plan, milestones=tuple(guarded)), declared)


def with_outer_guardrails(plan: Plan, declared: Sequence[Collection[str]]) -> Plan:
    """Return a plan that also names the tables that are guarded before and after its milestones.

    These are all declared ones of which no milestone asks anything. The first milestone bears them.

    Args:
        plan: A plan.
        declared: Tables that each milestone guards, in their order.
    """
    if not plan.milestones:
        return plan
    asked = set().union(*map(asked_tables, plan.milestones))
    kept = sorted(set().union(*declared) - asked - {MESSAGE})
    first = _with(plan.milestones[0], [StateUnchanged(table) for table in kept])
    return replace(plan, milestones=(first, *plan.milestones[1:]))


def asked_tables(node: Milestone) -> set[str]:
    """Return the tables of which a milestone asks something: those that it does not only guard."""
    asked = {part.table for part in parts(node.condition) if isinstance(part, StateHas)}
    if any(isinstance(part, DependsOn) for part in parts(node.condition)):
        asked.add(MESSAGE)
    return asked


def under(nodes: Iterable[Milestone], match: Match) -> list[Milestone]:
    """Return milestones measured by other rules, with the guardrails around them spelt out.

    `clean`: a table that `StateUnchanged(table, since=None)` names is unchanged from the first step
    to each milestone that comes after none, and from each that none comes after to the last step.
    `toolsandbox`: that condition is left out.
    """
    nodes = list(nodes)
    outer = [table for node in nodes for table in _outer_tables(node)]
    later = {position for node in nodes for position in node.after}
    found = []
    for position, node in enumerate(nodes):
        conditions = [part for part in parts(node.condition) if not _is_outer(part)]
        if match == "clean":
            if not node.after:
                conditions += [StateUnchanged(table, FIRST) for table in outer]
            if position not in later:
                conditions += [StateUnchanged(table, LAST) for table in outer]
        measured = tuple(condition.under(match) for condition in conditions)
        found.append(replace(node, condition=AllOf(measured)))
    return found


def _references(node: Milestone) -> set[int]:
    asked = [p for p in parts(node.condition) if isinstance(p, (StateHas, DependsOn))]
    return {*node.after, *(part.since for part in asked if part.since is not None)}


def _asked_at(references: Iterable[int], asked: Sequence[set[str]], match: Match) -> set[str]:
    """Return the tables of which the milestones that are referred to ask something."""
    positions = set(references)
    if match == "clean":
        positions.discard(FIRST)
    return set().union(*(asked[position] for position in positions))


def _with(node: Milestone, added: Sequence[Condition]) -> Milestone:
    if not added:
        return node
    return replace(node, condition=AllOf((*parts(node.condition), *added)))


def _outer_tables(node: Milestone) -> list[str]:
    found = [part for part in parts(node.condition) if isinstance(part, StateUnchanged)]
    return [part.table for part in found if part.since is None]


def _is_outer(part: Condition) -> bool:
    return isinstance(part, StateUnchanged) and part.since is None
