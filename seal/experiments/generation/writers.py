"""Who writes what is generated: a language model that is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seal.core import JSON, ChatModel, Completion, Message, Request, UsageError
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
) -> WritingModel | None:
    """Return the model that is to write; None: no model is named, so a grammar writes.

    Args:
        spec: A model, or its name as `seal run --model` takes it.
        base_url: Address of its server.
        options: Of the model.
        writes: What is asked of it, in the plural, for messages.

    Raises:
        UsageError: No such model, or one that plays tasks by rule and writes nothing; or an address
            or options without a model.
    """
    if spec is None and (options or base_url):
        raise UsageError("options and an address are a model's: name the model too")
    settings = ModelSettings(base_url=base_url).told(options or {})
    if spec is None:
        return None
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
