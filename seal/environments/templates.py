"""Goal templates of a world: what `seal generate scenarios` makes scenarios of.

A template is a scenario with slots (`seal.benchmarks.toolsandbox.scenarios` tells the form of one).
Its texts and values have `{slot}` where a drawn value stands; a text that is a slot alone becomes
the value itself. `draw` takes the tables of a fresh world, changes rows as it needs them, and
returns the slots:

    def parcel(rows, slots, drawn):
        row = drawn.choice([row for row in rows["parcels"] if row["state"] == "open"])
        return {"parcel": row["parcel_id"], "weight": row["weight"]}

Gold is parts by name, each a list of calls (`do`) and of texts to the user (`say`). A result that
is `kept` under a name is a slot of later calls. What the user answers to what is said follows from
the brief. A `Twist` makes the task another one: it draws
in turn, and puts other parts in the place of those of its names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from seal.core import JSON, Tables, UsageError
from seal.core.registry import load_dotted
from seal.environments.tables import Row

Slots = Mapping[str, Any]
Rows = dict[str, list[Row]]
"""Tables of a world that begins, to be changed."""
Draw = Callable[[Rows, Slots, Random], Slots | None]
"""(rows, slots so far, draws) to further slots; None: these rows do not serve."""
Moves = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Twist:
    """What makes a task another one, so that the plan without it fails."""

    kind: str
    """In words, such as `stale data`; a tag of its tasks."""
    draw: Draw | None = None
    goal: str = ""
    """Of the brief; empty: as the template has it."""
    asks: str = ""
    """What the first message asks besides, such as what is to be done if the rest cannot be. It
    also stands in some scenarios without the twist, so that it gives nothing away."""
    then: Sequence[str] = ()
    """What the user asks for after that."""
    facts: Mapping[str, JSON] = field(default_factory=dict)
    """Besides those of the template, or in their place."""
    gold: Mapping[str, Moves] = field(default_factory=dict)
    """Parts that stand in the place of those of their names; an empty one leaves a part out."""
    tells: Mapping[str, JSON] | None = None
    """Instead of those of the template; None: these."""


@dataclass(frozen=True, kw_only=True)
class Template:
    """A goal with slots."""

    name: str
    draw: Draw
    request: Sequence[str]
    """Wordings of the first message, of which one is drawn."""
    asks: str = ""
    """What the first message asks at its end, such as what is to be told."""
    goal: str
    """The brief: all that the user wants."""
    facts: Mapping[str, JSON] = field(default_factory=dict)
    """What the user says when it is asked (`seal.agents.users`)."""
    gold: Mapping[str, Moves]
    tells: Mapping[str, JSON] = field(default_factory=dict)
    """As of a scenario."""
    twists: Sequence[Twist] = ()


@dataclass(frozen=True, kw_only=True)
class Goals:
    """What scenarios of a world are made of: its templates, and how its worlds begin."""

    templates: Sequence[Template]
    rows: Callable[[int], Tables] | None = None
    """Seed to tables; None: the world's own."""
    facts: Mapping[str, JSON] = field(default_factory=dict)
    """What the user of every template knows, such as who it is."""
    gold: Mapping[str, Moves] = field(default_factory=dict)
    """Parts with which the gold of every template begins."""
    twists: Sequence[Twist] = ()
    """Of every template, besides its own."""
    records: Sequence[Draw] = ()
    """Add rows that almost fit, after all others have drawn."""
    ignore: Sequence[str] = ()
    """Tables, and columns as `table.column`, that may end in any way."""
    cells: Mapping[str, str] = field(default_factory=dict)
    """`table.column` to the type by which cells are compared."""
    clock: Mapping[str, JSON] = field(default_factory=dict)
    """As `metadata.clock` of a task."""
    boundary: str = "You say what you know only when you are asked."
    """What the user is told of how to speak."""


def do(tool: str, **arguments: Any) -> dict[str, Any]:
    """Return a call as a move of gold."""
    return {"do": {tool: arguments}}


def kept(name: str, move: Mapping[str, Any]) -> dict[str, Any]:
    """Return a call as a move of gold whose result later calls take by a name."""
    return {**move, "keep": name}


def say(text: str) -> dict[str, Any]:
    """Return what the agent says as a move of gold."""
    return {"say": text}


_SLOT = re.compile(r"\{(\w+)\}")


def filled(value: Any, slots: Slots) -> Any:
    """Return a text, or what holds texts, with slots filled; whole numbers have no decimals.

    Raises:
        UsageError: There is no such slot.

    Example:
        >>> filled(["{n}", "{n} EUR of {total}"], {"n": 2.5, "total": 40.0})
        [2.5, '2.50 EUR of 40']
    """
    if isinstance(value, Mapping):
        return {name: filled(one, slots) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [filled(one, slots) for one in value]
    if not isinstance(value, str):
        return value
    whole = _SLOT.fullmatch(value)
    if whole is not None:
        return _slot(whole[1], slots)
    return _SLOT.sub(lambda found: _spelled(_slot(found[1], slots)), value)


def _slot(name: str, slots: Slots) -> Any:
    if name not in slots:
        known = ", ".join(sorted(slots)) or "none"
        raise UsageError(f"{{{name}}}: nothing drew this slot; drawn: {known}")
    return slots[name]


def _spelled(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.0f}" if value == round(value) else f"{value:.2f}"
    return str(value)


def goals_of(named: Sequence[Any], world: str) -> list[Goals]:
    """Return the goals of a world, those that are named by `module:name` imported.

    Raises:
        UsageError: There are none, or one is no `Goals`.
    """
    found = [load_dotted(one) if isinstance(one, str) else one for one in named]
    for one in found:
        if not isinstance(one, Goals):
            raise UsageError(f"world {world!r}: goals: expected Goals, got {one!r}")
    if not found:
        raise UsageError(
            f"the world {world!r} has no goal templates; give it Worlds(goals=[Goals(...)]), as "
            "seal.environments.templates tells"
        )
    return found
