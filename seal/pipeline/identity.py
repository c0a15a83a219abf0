"""What makes two runs the same: `measure` (what is asked and how it is judged) and `system`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from importlib.metadata import version
from typing import Any

from seal.core.canonical import digest, normalise
from seal.core.errors import UsageError

GROWING = ("limit", "trials")
"""Parts of the measure that a resumed run may raise."""


def name_of(what: Any) -> Any:
    """Return the name that identifies a part: the text it was asked by, else its class.

    An object may say itself what it is by a text `identity`; the arguments of a `partial` and the
    fields of a dataclass that JSON can hold count by their digest, for they may be secrets.
    """
    if what is None or isinstance(what, str):
        return what
    if isinstance(what, partial):
        given = [list(map(_plain, what.args)), {k: _plain(v) for k, v in what.keywords.items()}]
        return f"{name_of(what.func)}#{digest(given)[:8]}"
    if not isinstance(what, type) and isinstance(getattr(what, "identity", None), str):
        return what.identity
    kind = what if isinstance(what, type) or callable(what) else type(what)
    name = f"{kind.__module__}:{getattr(kind, '__qualname__', type(kind).__qualname__)}"
    if isinstance(what, type) or not is_dataclass(what):
        return name
    values = {field.name: _plain(getattr(what, field.name)) for field in fields(what)}
    return f"{name}#{digest(values)[:8]}" if values else name


def _plain(value: Any) -> Any:
    """Return a value that JSON holds as it is, any other as the name of its class."""
    try:
        return normalise(value)
    except (TypeError, ValueError):
        return type(value).__name__


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
    return {
        name: version(name) for name in ("seal-api-llms", "autogen", "scikit-learn", "faiss-cpu")
    }


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
