"""Look-ups in a pool: by id, by a part of it, and by words."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from seal.core import Pool, Query, Task, Tool, UnknownNameError, UsageError, check_name

NAMED = 10
"""Most ids that an error lists."""
Kind = Literal["tools", "tasks"]


def named_one(kind: str, wanted: str, ids: Collection[str]) -> str:
    """Return the id that a user's text names: itself, else the one that starts or ends so.

    Args:
        kind: What is looked for, for messages: "task".
        wanted: The text.
        ids: Those that there are.

    Raises:
        UnknownNameError: None does; names the closest.
        UsageError: Several do.
    """
    if wanted in ids:
        return wanted
    for fits in (
        [id for id in ids if id.startswith(wanted)],
        [id for id in ids if id.endswith(f"/{wanted}")],
    ):
        if len(fits) == 1:
            return fits[0]
        if fits:
            named = ", ".join(fits[:NAMED]) + (", ..." if len(fits) > NAMED else "")
            raise UsageError(f"{wanted!r} fits {len(fits)} {kind}s: {named}; give more of the id")
    from rapidfuzz import fuzz, process

    found = process.extract(wanted, list(ids), scorer=fuzz.ratio, limit=NAMED)
    closest = [name for name, *_ in found]
    raise UnknownNameError(kind, wanted, closest, more=len(ids) - len(closest))


@dataclass(frozen=True, slots=True)
class Hit:
    """One thing that a search found."""

    id: str
    score: float
    """Of BM25; greater is better."""
    text: str
    """Description of the tool, or what the task asks."""


def searched(
    tools: Sequence[Tool], tasks: Sequence[Task], words: str, k: int, of: Kind
) -> tuple[Hit, ...]:
    """Return the tools or tasks that BM25 ranks first for some words; none without one of them.

    Raises:
        UsageError: `k` is below 1, or there is no such kind.
    """
    from seal.retrievers import build_retriever

    check_name("kind of search", of, ("tools", "tasks"))
    if k < 1:
        raise UsageError(f"k = {k}: a search shows at least 1; give a greater number")
    asked = {task.id: " / ".join(goal.text for goal in task.goals) for task in tasks}
    documents = (
        tuple(tools) if of == "tools" else tuple(Tool(i, i, t, {}) for i, t in asked.items())
    )
    (ranking,) = build_retriever("bm25", Pool(documents)).retrieve([Query(words)], k)
    texts = {tool.id: tool.description for tool in documents}
    return tuple(Hit(id, score, texts[id]) for id, score in ranking if score > 0)
