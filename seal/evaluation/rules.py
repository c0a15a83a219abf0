"""The rules that scores are computed by, under the one name that `--match` takes.

`clean`: ours, everywhere. `toolsandbox`: milestones as ToolSandbox measures them. `mmtb`: missions
as Multi-Mission Tool Bench's code judges them. `lenient`, `exact`: the turns of dialogues as
they are published, or by the very action, API and arguments. Not named: each task's own
rules of milestones, `clean` for missions and `lenient` for dialogues.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from seal.core.conditions import Match
from seal.core.errors import UsageError
from seal.evaluation.milestones.metrics import check_match
from seal.evaluation.missions.judging import Match as MissionMatch

MMTB = "mmtb"
DialogueMatch = Literal["lenient", "exact"]
"""Lenient: as published. Exact: the very action, API, argument names and values."""
DIALOGUE: tuple[DialogueMatch, ...] = get_args(DialogueMatch)


@dataclass(frozen=True, slots=True)
class Rules:
    """What a name stands for."""

    milestones: Match | None = None
    """None: each task's own."""
    missions: MissionMatch = "clean"
    dialogue: DialogueMatch = "lenient"


def rules_named(name: str | None) -> Rules:
    """Return the rules of a name; None: none is asked for.

    Raises:
        UsageError: There are no such rules.
    """
    if name == MMTB:
        return Rules(missions="mmtb")
    for match in DIALOGUE:
        if name == match:
            return Rules(dialogue=match)
    try:
        return Rules(milestones=check_match(name))
    except UsageError as error:
        text = str(error).replace(", got", f", {MMTB}, {', '.join(DIALOGUE)}, got")
        raise UsageError(text) from error


__all__ = ["MMTB", "DialogueMatch", "Rules", "rules_named"]
