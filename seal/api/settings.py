"""Settings that the public functions take by name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields

from seal.core.errors import UnknownNameError


def check_settings(settings: Iterable[str], *kinds: type) -> None:
    """Raise UnknownNameError where a setting is no field of the dataclasses."""
    known = {setting.name for kind in kinds for setting in fields(kind)}
    for name in settings:
        if name not in known:
            raise UnknownNameError("setting", name, known)
