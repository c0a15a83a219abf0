"""The verbs, one module each.

A module here is a verb and has its name: `_` stands for `-`, and a last `_` keeps a Python keyword
apart. The first line of its docstring is the verb's line in `seal --help`. It has one command, or
several for a verb that has its own verbs. A command returns its exit code. Only the module of the
verb that is called is imported.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typer

_FOLDER = Path(__file__).parent
GROUPS: Mapping[str, Sequence[str]] = {
    "Play and score": ("run", "sweep", "merge", "score", "retrieve", "mcp", "cache"),
    "Look at runs": (
        *("runs", "view", "serve", "report", "site"),
        *("explain", "compare", "ablate", "annotate", "paper"),
    ),
    "Benchmarks": ("benchmarks", "fetch", "import", "new", "pools", "lint", "export", "trust"),
    "Make and mend": ("generate", "augment", "errata"),
    "This installation": ("doctor", "models", "completion"),
}
"""Title in `seal --help` to verbs; each verb stands once."""
_FORMER = {
    "train-retriever": "seal.split and `seal export POOL --to triplets` give sentence-transformers "
    "what it trains on; see docs/train-a-retriever.md",
    "verify": "`python perf/verify/verify.py` holds figures against peers, in a checkout of SEAL",
}
"""Former verb to what replaces it."""


def verbs() -> dict[str, str]:
    """Return each verb's module name by the verb, sorted."""
    names = sorted(module.name for module in pkgutil.iter_modules([str(_FOLDER)]))
    return {name.rstrip("_").replace("_", "-"): name for name in names}


def load(verb: str) -> typer.Typer:
    """Return the verb's app.

    Raises:
        UnknownNameError: There is no such verb.
        UsageError: It is gone; the text says what replaces it.
    """
    from seal.cli.groups import app_of
    from seal.core import UnknownNameError, UsageError

    if verb in _FORMER:
        raise UsageError(f"seal {verb} is gone: {_FORMER[verb]}")
    known = verbs()
    if verb not in known:
        raise UnknownNameError("verb", verb, known)
    module = import_module(f"{__name__}.{known[verb]}")
    return getattr(module, "app", None) or app_of(module.__name__)


def first_line(module: str) -> str:
    """Return the first line of a verb's docstring without importing the module."""
    with (_FOLDER / f"{module}.py").open(encoding="utf-8") as source:
        return source.readline().strip().strip('"')
