"""What a generation of missions is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

from seal.benchmarks.mmtb.dialogues import MissionType, check_language
from seal.benchmarks.mmtb.generation.scenes import Relation
from seal.core.errors import UnknownNameError, UsageError
from seal.core.protocols import CacheMode
from seal.core.types import JSON

GRAMMAR = "grammar"
"""Name that stands for speakers by rule instead of a model."""
TYPES: tuple[MissionType, ...] = get_args(MissionType)
RELATIONS: tuple[Relation, ...] = get_args(Relation)
ROLES = ("user_simulator", "planner", "agent", "simulator")
"""Who may have a model of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MissionSettings:
    """Settings of one generation.

    Raises:
        UnknownNameError: A type, relation, role, cache mode or language that there is not.
        UsageError: A number that cannot be.
    """

    missions: int = 4
    """Of each dialogue."""
    types: Sequence[MissionType] = TYPES
    """What sequences are made of; up to four missions all sequences, else those that `cover`."""
    relations: Sequence[Relation] = RELATIONS
    """How a mission may lean on earlier ones."""
    cover: int = 2
    """Of more than four missions: each run of so many types stands in some dialogue."""
    model: Any = GRAMMAR
    """Plays user, planner and agent: `grammar`, a model as `seal run` takes it, or an object of
    `seal.benchmarks.mmtb.generation.scenes.Speakers`."""
    role_models: Mapping[str, Any] = field(default_factory=dict)
    """Models of single roles, and of the simulator `llm`."""
    model_options: Mapping[str, Any] = field(default_factory=dict)
    base_url: str | None = None
    simulator: Any = "template"
    """Brings the results of calls."""
    cache: CacheMode = "record"
    """How kept answers of models and simulators are used."""
    language: str = "en"
    limit: int | None = None
    """Dialogues at most."""
    workers: int = 1
    """Dialogues at once."""
    seed: int = 0
    name: str = ""
    """Of the pool; empty: that of its folder."""

    def __post_init__(self) -> None:
        """Reject what cannot be."""
        for kind, given, known in (
            ("mission type", self.types, TYPES),
            ("relation", self.relations, RELATIONS),
            ("role", tuple(self.role_models), ROLES),
            ("cache mode", (self.cache,), get_args(CacheMode)),
        ):
            for name in given:
                if name not in known:
                    raise UnknownNameError(kind, str(name), known)
        check_language(self.language)
        if self.model == GRAMMAR and self.language != "en":
            raise UsageError(f"the grammar speaks en, not {self.language}: name a model that does")
        for name, least in (("workers", 1), ("limit", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise UsageError(f"{name} {value}: expected at least {least}")

    def shape(self) -> dict[str, JSON]:
        """Return what of the settings shapes the dialogues, models and simulator apart."""
        return {
            "missions": self.missions,
            "types": list(self.types),
            "relations": list(self.relations),
            "cover": self.cover,
            "language": self.language,
            "seed": self.seed,
        }
