"""What makes two runs the same: `measure` (what is asked and how it is judged) and `system`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
            same = _same_versions if key == "versions" else _grown_or_same(key)
            if not same(old.get(key), new.get(key)):
                differing.append(f"{part}.{key}: was {old.get(key)!r}, is {new.get(key)!r}")
    if differing:
        raise UsageError(
            f"{folder} holds a run of other settings; " + "; ".join(differing) + ". "
            "Resume with the settings of then, or give another --out"
        )


def _grown_or_same(key: str) -> Callable[[Any, Any], bool]:
    def same(old: Any, new: Any) -> bool:
        if old == new or key not in GROWING:
            return bool(old == new)
        return new is None or (old is not None and new >= old)

    return same


def _same_versions(old: Any, new: Any) -> bool:
    """Tell whether distributions that both tell of are alike: earlier runs told of further ones."""
    if not isinstance(old, Mapping):
        return bool(old == new)
    return all(old[name] == new[name] for name in old.keys() & new.keys())
