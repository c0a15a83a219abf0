"""Language models that write what is generated: tools, queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from seal.core.errors import UsageError
from seal.core.protocols import ChatModel
from seal.core.types import JSON
from seal.models import ModelSettings, build_model, is_offline, model_identity


@dataclass(frozen=True, slots=True)
class WritingModel:
    """A model that can be asked to write."""

    model: ChatModel
    identity: dict[str, JSON]
    """What it is, as provenance holds it; where it runs is not kept."""


def writer_settings(
    model: Any, base_url: str | None, options: Mapping[str, Any] | None
) -> ModelSettings:
    """Return how the model that writes is asked.

    Raises:
        UsageError: An address or options, but no model.
    """
    if model is None and (options or base_url):
        raise UsageError("options and an address are a model's: name the model too")
    return ModelSettings.from_options(options or {}, base_url=base_url)


def writing_model(spec: Any, settings: ModelSettings, writes: str) -> WritingModel:
    """Return the model that is to write.

    Args:
        spec: A model, or its name as `seal run --model` takes it.
        settings: Of the model.
        writes: What is asked of it, in the plural, for messages.

    Raises:
        UsageError: No such model, or one that plays tasks by rule and writes nothing.
    """
    if is_offline(spec):
        raise UsageError(
            f"the model {spec!r} plays tasks by rule and writes no {writes}: name a server's "
            "model, such as openai/NAME, or leave --model out, so that the grammar writes them"
        )
    model = build_model(spec, settings)
    if not isinstance(model, ChatModel):
        raise UsageError(f"the model {spec!r} plays tasks and cannot be asked to write {writes}")
    identity = model_identity(spec, settings, model)
    return WritingModel(model, {name: v for name, v in identity.items() if name != "base_url"})
