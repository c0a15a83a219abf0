"""The settings of who writes, which generators share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from seal.runs.settings import ModelChoice


@dataclass(frozen=True, kw_only=True)
class WriterGroup:
    """Model: who writes."""

    model: ModelChoice | None = None
    """Model that writes, as PROVIDER/MODEL.  [default: a grammar]"""
    model_options: Mapping[str, Any] | None = None
    base_url: str | None = None
