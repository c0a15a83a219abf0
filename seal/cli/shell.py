"""What a shell completes: verbs, options, and the names of pools, models, retrievers and runs.

The shell calls `seal` with the variable `_SEAL_COMPLETE` (`seal completion bash` prints how).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from seal.cli.groups import COMPLETED
from seal.cli.verbs import VERBS, load
from seal.core import SealError
from seal.core.registry import load_dotted

VARIABLE = "_SEAL_COMPLETE"


def complete(wanted: str) -> int:
    """Print what a shell wants.

    Args:
        wanted: `source_bash` for its script, `complete_bash` for what may follow the words that it
            gives in further variables; so for the other shells.
    """
    from typer.completion import get_completion_inspect_parameters

    get_completion_inspect_parameters()  # makes the shells known to what is called below
    COMPLETED.update(_BY_PARAMETER)
    os.environ[VARIABLE] = wanted
    with suppress(SealError, OSError):  # a folder that is typed may not be there yet
        _Verbs(name="seal").main([], prog_name="seal", complete_var=VARIABLE)
    return 0


class _Verbs(TyperGroup):
    """The verbs; one is imported when its options are wanted."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return their names."""
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a verb; None where there is none."""
        from typer.main import get_command

        return get_command(load(cmd_name)) if cmd_name in VERBS else None


def _pools(incomplete: str) -> list[str]:
    from seal.pools.catalogue import catalogue

    return _that_begin(incomplete, catalogue()) + _folders(incomplete, "tools.jsonl")


def _registered(registry: str) -> Callable[..., list[str]]:
    """Return what completes the names of a registry, given as `module:name`."""

    def names(incomplete: str) -> list[str]:
        return _that_begin(incomplete, load_dotted(registry).names())

    return names


def _runs(incomplete: str) -> list[str]:
    return _folders(incomplete, "run.json")


def _tasks(ctx: typer.Context, incomplete: str) -> list[str]:
    from seal.runs.run import RunFolder

    run = ctx.params.get("run")
    return _that_begin(incomplete, RunFolder(run).task_ids() if run else ())


def _that_begin(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def _folders(incomplete: str, holding: str) -> list[str]:
    """Return the folders below the one that is typed, or below this one, that hold a file."""
    parent = Path(incomplete).parent if incomplete else Path()
    found = {
        str(file.parent) for depth in ("*", "*/*") for file in parent.glob(f"{depth}/{holding}")
    }
    return _that_begin(incomplete, sorted(found))


_BY_PARAMETER: Mapping[str, Callable[..., list[str]]] = {
    "pool": _pools,
    "pools": _pools,
    "model": _registered("seal.models.spec:REGISTRY"),
    "retriever": _registered("seal.retrievers.build:REGISTRY"),
    "run": _runs,
    "runs": _runs,
    "task": _tasks,
}
"""Name of an option or argument to what it may be; of any other the shell offers files."""
