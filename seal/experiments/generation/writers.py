"""Who writes what is generated: a language model that is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seal.core import JSON, ChatModel, Completion, Message, Request, UsageError
from seal.experiments.generation.writer_group import check_named
from seal.models import ModelSettings, build_model, is_offline, model_identity

MAX_TOKENS = 4096
"""Of an answer."""


@dataclass(frozen=True, slots=True)
class WritingModel:
    """A model that can be asked to write."""

    model: ChatModel
    identity: dict[str, JSON]
    """What it is, as provenance holds it; where it runs is not kept."""

    def ask(self, messages: Sequence[Message], role: str, seed: int) -> Completion:
        """Return the answer, which should be one JSON object of at most `MAX_TOKENS`.

        Raises:
            ModelError: The server failed or refused.
        """
        return self.model.complete(
            Request(tuple(messages), role=role, seed=seed, max_tokens=MAX_TOKENS, json_object=True)
        )


def writing_model(
    spec: Any, base_url: str | None, options: Mapping[str, Any] | None, writes: str
) -> WritingModel:
    """Return the model that is to write.

    Args:
        spec: A model, or its name as `seal run --model` takes it.
        base_url: Address of its server.
        options: Of the model.
        writes: What is asked of it, in the plural, for messages.

    Raises:
        UsageError: No model is named, or there is no such model, or it plays tasks by rule and
            writes nothing.
    """
    check_named(spec, writes)
    settings = ModelSettings(base_url=base_url).told(options or {})
    if is_offline(spec):
        raise UsageError(
            f"the model {spec!r} plays tasks by rule and writes no {writes}: name a server's "
            "model, such as openai/NAME, or local/NAME"
        )
    model = build_model(spec, settings)
    if not isinstance(model, ChatModel):
        raise UsageError(f"the model {spec!r} plays tasks and cannot be asked to write {writes}")
    identity = model_identity(spec, settings, model)
    return WritingModel(model, {name: v for name, v in identity.items() if name != "base_url"})
