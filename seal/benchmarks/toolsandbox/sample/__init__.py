"""The small benchmark of a stateful world that ships: scenarios on a phone, of our own making.

`authored/` holds the worlds and scenarios as they were written
(`seal.benchmarks.toolsandbox.scenarios`), one file a category; beside it lies the pool that they
compile to:

    seal import scenarios authored --out POOL -T benchmark=toolsandbox-sample

`limits/` holds what is not of that pool: three scenarios that ask for confirmation before a call,
and three in which a timer rings (`confirmations.json`, `timers.json`). They are imported alike:

    seal import scenarios limits/timers.json --out TIMERS

Each scenario has a gold sequence, which the model `oracle` plays, and at least one wrong one, which
`recorded:wrong` plays. Persons, companies, messages and the web's answers are invented.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

NAME = "toolsandbox-sample"


def folder() -> Path:
    """Return the pool folder, as `seal.pools.load_pool` reads it."""
    return Path(str(files(__name__)))


def authored() -> Path:
    """Return the folder of the files that the pool is compiled from."""
    return folder() / "authored"


def limits() -> Path:
    """Return the folder of the scenarios of what ToolSandbox's authors name as its limits."""
    return folder() / "limits"


__all__ = ["NAME", "authored", "folder", "limits"]
