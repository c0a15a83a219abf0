"""Which parts of a persona (`seal.agents.personas`) the user is told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from seal.core import JSON

Brief = Literal["goal", "goal+boundary", "goal+boundary+demonstration"]
WHOLE: Brief = "goal+boundary+demonstration"


def reduced(persona: Mapping[str, JSON], brief: Brief) -> dict[str, JSON]:
    """Return the parts of a persona that a brief has.

    `goal` keeps the entries `goal` and `then`; `goal+boundary` drops the demonstration alone.
    """
    if brief == "goal":
        return {name: value for name, value in persona.items() if name in ("goal", "then")}
    if brief == "goal+boundary":
        return {name: value for name, value in persona.items() if name != "demonstration"}
    return dict(persona)
