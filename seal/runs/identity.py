"""What makes two runs the same: `measure` (what is asked and how it is judged) and `system`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from seal.core.errors import UsageError

GROWING = ("limit", "trials")
"""Parts of the measure that a resumed run may raise."""


def warnings_of(measure: Mapping[str, Any], system: Mapping[str, Any]) -> list[str]:
    """Return what a reader of the run should be warned of."""
    judge = measure["judge"]
    named = [one.get("model") for one in judge.get("panel", [judge])]
    player = system["model"].get("model")
    if player is None or player not in named:
        return []
    return [
        f"{player} judges its own answers, which models tend to favour; "
        f"name another judge: --role-model judge=MODEL"
    ]


def versions() -> dict[str, str]:
    """Return the versions of the distributions that shape what is said and found."""
    return {name: version(name) for name in ("seal-api-llms", "autogen", "faiss-cpu")}


def check_resumable(before: Mapping[str, Any], now: Mapping[str, Any], folder: Any) -> None:
    """Make sure that a run may go on under the settings given now.

    Raises:
        UsageError: Names each setting that differs, both values, and the repair.
    """
    differing = []
    for part in ("measure", "system"):
        old, new = before.get(part, {}), now[part]
        for key in sorted({*old, *new}):
            if old.get(key) != new.get(key) and not _grown(key, old.get(key), new.get(key)):
                differing.append(f"{part}.{key}: was {old.get(key)!r}, is {new.get(key)!r}")
    if differing:
        raise UsageError(
            f"{folder} holds a run of other settings; " + "; ".join(differing) + ". "
            "Resume with the settings of then, or give another --out"
        )


def _grown(key: str, old: Any, new: Any) -> bool:
    if key not in GROWING:
        return False
    return new is None or (old is not None and new >= old)
