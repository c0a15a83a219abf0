"""Whether a run may go on under the settings given now."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from seal.core import UsageError
from seal.runs.settings import GROWING


def differences(
    before: Mapping[str, Any],
    now: Mapping[str, Any],
    same: Callable[[str, Any, Any], bool] = lambda key, old, new: bool(old == new),
) -> list[str]:
    """Return in which settings two manifests differ, both values with each."""
    return [
        f"{part}.{key}: was {old.get(key)!r}, is {new.get(key)!r}"
        for part in ("measure", "system")
        for old, new in [(before.get(part, {}), now[part])]
        for key in sorted({*old, *new})
        if not same(key, old.get(key), new.get(key))
    ]


def check_resumable(before: Mapping[str, Any], now: Mapping[str, Any], folder: Any) -> None:
    """Make sure that a run may go on under the settings given now.

    Raises:
        UsageError: Names each setting that differs, both values, and the repair.
    """
    if differing := differences(before, now, _same):
        judged = any(each.startswith("measure.judge:") for each in differing)
        scored = f"Let the judge of now score it (seal score {folder}), resume"
        raise UsageError(
            f"{folder} holds a run of other settings; " + "; ".join(differing) + ". "
            f"{scored if judged else 'Resume'} with the settings of then, or give another --out"
        )


def without_order(measure: dict[str, Any]) -> None:
    """Tell of an old run, whose limit took the head of the file, in the words of now."""
    if measure.get("limit") is not None and "order" not in measure:
        measure |= {"limit": None, "first": measure["limit"]}


def _same(key: str, old: Any, new: Any) -> bool:
    """Tell whether a run may go on with a part: the same, grown, or told of by fewer versions."""
    if key == "versions" and isinstance(old, Mapping):
        return all(old[name] == new[name] for name in old.keys() & new.keys())
    if old == new or key not in GROWING:
        return bool(old == new)
    return new is None or (isinstance(old, int) and new >= old)
