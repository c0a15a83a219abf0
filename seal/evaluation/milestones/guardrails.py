"""Guardrails: what must not happen on the way from one milestone to the next.

Whoever writes a plan puts `StateUnchanged` where a table must stay as it was since an earlier
milestone; ToolSandbox's records and the notation of scenarios do. Around the milestones follows
from the tables that are declared for each. Source: ToolSandbox, section 4, and its code.
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


def _with(node: Milestone, added: Sequence[Condition]) -> Milestone:
    if not added:
        return node
    return replace(node, condition=AllOf((*parts(node.condition), *added)))


def _outer_tables(node: Milestone) -> list[str]:
    found = [part for part in parts(node.condition) if isinstance(part, StateUnchanged)]
    return [part.table for part in found if part.since is None]


def _is_outer(part: Condition) -> bool:
    return isinstance(part, StateUnchanged) and part.since is None
