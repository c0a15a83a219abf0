"""Where the simulated user first broke its brief (`evaluation.user_audit`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from seal.evaluation.attribution.evidence import Evidence, listed
from seal.evaluation.attribution.stages import Cause
from seal.evaluation.user_audit import NAMES


def broken_brief(evidence: Evidence) -> Cause | None:
    """Return the user's first error; None where it made none, or nobody audited it."""
    flags = sorted(_flags(evidence), key=lambda flag: int(flag["step"]))
    if not flags:
        return None
    first = flags[0]
    facts = [str(fact) for fact in first.get("facts") or ()]
    told = f": {listed(facts)}" if facts else ""
    return Cause(
        "user",
        str(first["flag"]),
        f"the user did {str(first['flag']).replace('_', ' ')}{told}",
        int(first["step"]),
        received=str(first.get("said") or "")[:200],
    )


def _flags(evidence: Evidence) -> Iterator[Mapping[str, Any]]:
    for name in NAMES:
        score = evidence.scores.get(name)
        for flag in score.details.get("flags") or () if score is not None else ():
            if isinstance(flag, dict) and type(flag.get("step")) is int and "flag" in flag:
                yield flag
