"""One model of a run: what names it, how it is asked, and what a record says of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from seal.core.protocols import Lookup
from seal.core.types import JSON
from seal.models import (
    Flagged,
    account_of,
    build_model,
    is_cached,
    is_offline,
    model_identity,
    shown_at,
)


class RunModel:
    """A model, built once a process.

    Args:
        flagged: What was asked for, and the flags that hold for it.
        recordings: Finds what `recorded:NAME` and `replay:RUN` play.

    Raises:
        UsageError: No such model, an option that it cannot have, or it lacks what it needs.
    """

    def __init__(self, flagged: Flagged, recordings: Callable[[str], Lookup]) -> None:
        self.spec: Any = flagged.spec
        self._settings = flagged.settings(recordings)
        self.model: Any = build_model(self.spec, self._settings)

    @property
    def identity(self) -> dict[str, JSON]:
        """What a run's record says about it."""
        return model_identity(self.spec, self._settings, self.model)

    @property
    def is_cached(self) -> bool:
        """True where its answers are kept."""
        return is_cached(self.model)

    @cached_property
    def account(self) -> str:
        """The name under which what it takes is booked, as prices name it."""
        name, url = self._named()
        return account_of(name, url)

    @property
    def shown(self) -> str:
        """The model and where it is asked, for people."""
        return shown_at(*self._named())

    @property
    def is_served(self) -> bool:
        """True where a server that we know of is asked."""
        name, _ = self._named()
        return not is_offline(self.spec) and self.shown != name

    def _named(self) -> tuple[str, str | None]:
        identity = self.identity
        own = isinstance(getattr(self.model, "identity", None), dict)
        served = own or (isinstance(self.spec, str) and not is_offline(self.spec))
        url = identity.get("base_url") if served else None
        return str(identity.get("model")), url if isinstance(url, str) else None
