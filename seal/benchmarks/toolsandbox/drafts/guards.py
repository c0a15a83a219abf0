"""Which tables drafted milestones guard."""

from __future__ import annotations

from collections.abc import Collection

from seal.benchmarks.toolsandbox.drafts.flows import Flow
from seal.benchmarks.toolsandbox.drafts.order import Order


def guarded_tables(flow: Flow, order: Order, tables: Collection[str]) -> list[list[str]]:
    """Return the tables that each milestone guards: those that nothing may change meanwhile.

    Args:
        flow: The sequence.
        order: Of its milestones; where something is said to the user, the reply is one more, the
            last.
        tables: Of the world.
    """
    changers = {
        table: {number for number in order.kept if table in flow.made[number].changes}
        for table in tables
    }
    by_event = _changed_by_events(flow)
    nodes = [(frozenset({n}), order.before[n], order.after(n)) for n in order.kept]
    if flow.told:
        nodes.append((frozenset(), frozenset(order.kept), set()))
    found = []
    for own, before, after in nodes:
        settled = [{n, *order.before[n]} for n in order.right_before(before)] or [set[int]()]
        last = not after and not (own and flow.told)
        found.append(
            [
                table
                for table in tables
                if table not in by_event
                and all(changers[table] - own <= earlier | after for earlier in settled)
                and (not last or changers[table] - own <= before)
            ]
        )
    return found


def _changed_by_events(flow: Flow) -> set[str]:
    """Return the tables that change elsewhere than in answers to calls."""
    found: set[str] = set()
    answered = {one.answered for one in flow.made}
    for place in range(1, len(flow.steps)):
        if place not in answered:
            before, now = flow.steps[place - 1].state or {}, flow.steps[place].state or {}
            found |= {table for table in now if now[table] is not before.get(table)}
    return found
