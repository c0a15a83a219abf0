"""The settings of who writes, which generators share: a language model, which must be named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from seal.core import UsageError
from seal.runs.settings import ModelChoice


@dataclass(frozen=True, kw_only=True)
class WriterGroup:
    """Model: who writes."""

    model: ModelChoice | None = None
    """Model that writes, as PROVIDER/MODEL; it must be named."""
    model_options: Mapping[str, Any] | None = None
    base_url: str | None = None


def check_named(spec: Any, writes: str) -> None:
    """Make sure that a model is named; the grammars that there were write nothing any more.

    Args:
        spec: A model, or its name.
        writes: What is asked of it, in the plural, for messages.

    Raises:
        UsageError: None is.
    """
    if spec is None or spec == "grammar":
        raise UsageError(
            f"name the model that writes the {writes}: --model PROVIDER/MODEL, such as "
            "openai/NAME or local/NAME"
        )
