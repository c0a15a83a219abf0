"""Where caches are kept."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder(given: str | Path | None = None) -> Path:
    """Return the cache folder: the given one, else SEAL_CACHE_DIR, else the user's own."""
    if given is not None:
        return Path(given)
    named = os.environ.get("SEAL_CACHE_DIR")
    if named:
        return Path(named)
    from platformdirs import user_cache_path

    return user_cache_path("seal", appauthor=False)
