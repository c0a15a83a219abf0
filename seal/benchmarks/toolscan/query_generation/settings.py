"""What a generation of queries is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from seal.core.errors import UnknownNameError, UsageError
from seal.core.types import JSON

Kind = Literal["constraint", "paraphrase", "irrelevance"]
"""What is made of a seed. Source: Kokane et al. (2024), the augmentation of queries."""
KINDS: tuple[Kind, ...] = get_args(Kind)
_MOST = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class QuerySettings:
    """Settings of one generation.

    Raises:
        UnknownNameError: A kind that there is not.
        UsageError: No kind, or a number that cannot be.
    """

    kinds: Sequence[Kind] = KINDS
    per_seed: int = 1
    """Queries of each kind that are kept of a seed at most."""
    limit: int | None = None
    """Seeds at most, the first ones; may grow."""
    seed: int = 0
    name: str = ""
    """Of the pool; empty: that of its folder."""
    allow_code: Sequence[str] = ()
    """Modules into which the pool's tasks may name their worlds by a dotted path."""

    def __post_init__(self) -> None:
        """Reject what cannot be."""
        for kind in self.kinds:
            if kind not in KINDS:
                raise UnknownNameError("kind of query", str(kind), KINDS)
        if not self.kinds:
            raise UsageError(f"kinds: expected at least one of {', '.join(KINDS)}")
        if not 1 <= self.per_seed <= _MOST:
            raise UsageError(f"per seed {self.per_seed}: expected 1 to {_MOST}")
        if self.limit is not None and self.limit < 1:
            raise UsageError(f"limit {self.limit}: expected at least 1")

    def shape(self) -> dict[str, JSON]:
        """Return what of the settings shapes the queries."""
        return {"kinds": list(self.kinds), "per_seed": self.per_seed, "seed": self.seed}
