"""What a retriever is given: tools, and the places where its indexes and vectors are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from seal.core.protocols import CacheMode, Pool
from seal.core.store import Store
from seal.core.types import Task, Tool


def search_pool(
    store: Store,
    tools: Sequence[Tool],
    tasks: Sequence[Task] = (),
    *,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    cache: CacheMode = "record",
) -> Pool:
    """Return the pool that a retriever is built over.

    Args:
        store: Where vectors are kept; indexes lie in the folder `indexes` beside it. It must stay
            open as long as the retriever is used.
        tools: To choose from.
        tasks: For `oracle` and `given` alone.
        seed: Of what is drawn by chance.
        options: `-R key=value`.
        cache: How vectors are used; `off` keeps no index either.
    """
    indexes = None if cache == "off" else store.path.parent / "indexes"
    return Pool(tuple(tools), tuple(tasks), seed, indexes, options or {}, store, cache)
