"""A kind of thing that a benchmark makes: `seal.generate(KIND)`, and the flags of its command."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from seal.core import JSON, UsageError, check_name
from seal.core.field_docs import with_field_docs
from seal.core.registry import load_dotted

_FORMER = {
    "tools": "write tools as `seal new --template` shows, or import them with `seal import`",
    "milestones": "write milestones yourself, as docs/toolsandbox.md shows",
}
"""Kind that there was to what takes its place."""


@dataclass(frozen=True, kw_only=True)
class SourceFlag:
    """How a command line names what something is made of."""

    help: str = "Name of a benchmark, folder of a pool or run, or your own as module:name."
    metavar: str = "NAME|DIR"
    flag: str = ""
    """Such as `--tools`; empty: it is an argument."""
    default: str | None = None
    """None: it must be named."""


@dataclass(frozen=True, kw_only=True)
class Told:
    """What the command line tells of what was made."""

    fields: Mapping[str, JSON] = field(default_factory=dict)
    """A line each."""
    text: str
    """The lines after them."""
    failures: Sequence[str] = ()
    """What the infrastructure failed at; the first ones are told, and the exit code is 1."""


@with_field_docs
@dataclass(frozen=True, kw_only=True)
class Generator:
    """A kind of thing that `seal.generate` makes, with the command `seal generate KIND`.

    Code and classes may be given as `module:name`, so that they are imported where they are used.
    """

    make: Callable[..., Any] | str
    """(bench, out, **settings) that makes it; with a `stage` also `progress`, a function of how
    many are done and how many there are. It returns JSON, or an object with `to_json()`."""
    about: str
    """Help of its command."""
    settings: type | str | None = None
    """Dataclass whose fields are the flags: type, default, and as help the string below the field.
    A field without one has the help of a run's setting of its name. The metadata `metavar` and
    `argument` say how it is typed. Classes that it inherits all fields from are groups of flags:
    each begins its docstring with `Title: what it is about.`"""
    source: SourceFlag = SourceFlag()
    """How the command line names what it is made of."""
    stage: str = ""
    """What progress counts; empty: there is none."""
    is_slow: bool = False
    """Progress is told by lines too, where no terminal shows bars."""
    told: Callable[[Any, Any], Told] | str | None = None
    """(what was made, `out`) to what is told; None: its JSON, and how a pool is played."""


def check_kind(what: str, offered: Collection[str]) -> None:
    """Make sure that a kind of thing can be made.

    Args:
        what: The kind.
        offered: Those that installed benchmarks declare.

    Raises:
        UsageError: As `check_former`.
        UnknownNameError: There is no such kind.
    """
    if what not in offered:
        check_former(what)
    check_name("kind of generation", what, offered)


def check_former(what: str) -> None:
    """Refuse a kind that there was.

    Raises:
        UsageError: It is one; the text says what takes its place.
    """
    if what in _FORMER:
        raise UsageError(f"generate {what} is no more: {_FORMER[what]}")


def generator_of(declared: Any) -> Generator:
    """Return what a benchmark declares of a kind; a function alone is one without flags."""
    found = load_dotted(declared) if isinstance(declared, str) else declared
    if isinstance(found, Generator):
        return found
    return Generator(make=found, about=(found.__doc__ or "").partition("\n")[0])


def written(out: Any) -> str:
    """Return where a pool was written, and how it is played."""
    if not Path(out).exists():
        return f"nothing was written to {out}"
    return f"written to {out}; play it: seal run {out}"
