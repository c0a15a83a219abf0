"""Which tools a dialogue offers, where its speakers do not choose them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

from seal.core.types import Tool

MOST = 10
"""Tools of a dialogue where the pool has no lists."""
_CATEGORIES = 3


def draw_tools(tools: Sequence[Tool], seed: int) -> list[Tool]:
    """Return the tools of one dialogue, of no two names alike, in the pool's order.

    A pool with tool lists (`source["lists"]`, as Multi-Mission Tool Bench has them) gives one of
    them; any other up to `MOST` tools of three categories.

    Args:
        tools: The pool, at least one.
        seed: Of the dialogue.
    """
    chance = random.Random(seed)
    lists = sorted({number for tool in tools for number in tool.source.get("lists", ())})
    if lists:
        number = chance.choice(lists)
        return _of_own_names(tool for tool in tools if number in tool.source.get("lists", ()))
    categories = sorted({tool.category for tool in tools})
    chosen = set(chance.sample(categories, min(_CATEGORIES, len(categories))))
    found = _of_own_names(tool for tool in tools if tool.category in chosen)
    taken = set(chance.sample(range(len(found)), min(MOST, len(found))))
    return [tool for position, tool in enumerate(found) if position in taken]


def _of_own_names(tools: Iterable[Tool]) -> list[Tool]:
    by_name: dict[str, Tool] = {}
    for tool in tools:
        by_name.setdefault(tool.name, tool)
    return list(by_name.values())
