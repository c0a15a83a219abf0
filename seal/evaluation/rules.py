"""The rules that scores are computed by.

`--match`, and `match` in the metadata of tasks, take rules under one name. `clean`: ours,
everywhere. `lenient`, `exact`: the turns of dialogues as they are published, or by the very action,
API and arguments. Packs have others under the entry point `seal.matches`: milestones as a published
evaluator measures them, or missions as published code judges them. Rules that a benchmark declares
(`Benchmark.matches`): `calls_right` as its authors judge it, for its runs alone. Not named: each
task's own rules of milestones, `clean` for missions and `lenient` for dialogues.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from seal.core import DataError, UnknownNameError, UsageError
from seal.core.conditions import Match
from seal.core.registry import Registry

if TYPE_CHECKING:
    from seal.evaluation.calls import Verdict
    from seal.evaluation.missions.judgement import MissionRules

DialogueMatch = Literal["lenient", "exact"]
"""Lenient: as published. Exact: the very action, API, argument names and values."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What a name stands for."""

    milestones: Match | None = None
    """None: each task's own."""
    missions: MissionRules | None = None
    """None: `seal.evaluation.missions.judgement.CLEAN`."""
    dialogue: DialogueMatch = "lenient"
    calls: Verdict | None = None
    """Says `calls_right`; None: `seal.evaluation.calls` does."""


_HERE = "seal.evaluation.rules"
MATCHES = Registry(
    "match",
    "seal.matches",
    {"clean": f"{_HERE}:OURS", "exact": f"{_HERE}:EXACT", "lenient": f"{_HERE}:LENIENT"},
)
"""Rules by name: each a `Rules`."""
OURS = Rules(milestones="clean")
LENIENT = Rules(dialogue="lenient")
EXACT = Rules(dialogue="exact")


def rules_named(
    name: str | None, declared: Mapping[str, Callable[[], Verdict]] | None = None
) -> Rules:
    """Return the rules of a name; None: none is asked for.

    Args:
        name: Of the rules.
        declared: Rules that the benchmark declares, by name.

    Raises:
        UsageError: There are no such rules.
    """
    declared = declared or {}
    if name is None:
        return Rules()
    if name in declared:
        return Rules(calls=declared[name]())
    try:
        return _registered(name)
    except UnknownNameError as error:
        known = ", ".join((*error.known, *declared))
        raise UsageError(f"match: expected one of {known}, got {name!r}") from None


def milestone_match(name: object, place: str) -> Match:
    """Return the name of rules of milestones that stands in data.

    Args:
        name: What stands there.
        place: Where it stands, for messages.

    Raises:
        DataError: There are no such rules, or they say nothing of milestones.
    """
    with suppress(UnknownNameError):
        if isinstance(name, str) and _registered(name).milestones:
            return name
    known = ", ".join(each for each in MATCHES.names() if _registered(each).milestones)
    raise DataError(f"{place}: expected one of {known}, got {name!r}")


@cache  # an unknown name is looked for again: it may be registered later
def _registered(name: str) -> Rules:
    if name not in MATCHES:  # a dotted path of data is no name, and is not imported
        raise UnknownNameError("match", name, MATCHES.names())
    rules: Rules = MATCHES.resolve(name)
    return rules
