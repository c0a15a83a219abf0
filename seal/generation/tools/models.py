"""The writer of tools that asks a language model."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from importlib.resources import files
from typing import Any

from seal.core.canonical import derive_seed, digest
from seal.core.errors import UsageError
from seal.core.protocols import ChatModel, Message, Request
from seal.core.types import JSON
from seal.generation.tools.descriptions import Description
from seal.generation.tools.writing import CutError, Rejected
from seal.models import ModelSettings, build_model, is_offline, model_identity

MAX_TOKENS = 4096
_NAMED = 200
"""Taken names that a model is told at most, the last ones."""


class ModelWriter:
    """Writes tools by a language model, which is told what was wrong with its former drafts.

    Args:
        model: The model.
        identity: What it is (`seal.models.model_identity`); where it runs is not kept.
        seed: Each try asks with a seed of its own.
    """

    def __init__(self, model: ChatModel, identity: dict[str, JSON], seed: int = 0) -> None:
        self._model = model
        self._seed = seed
        self._prompt = files(__package__).joinpath("prompts/write_tool.txt").read_text("utf-8")
        prompt = digest([self._prompt, MAX_TOKENS])[:16]
        known = {name: value for name, value in identity.items() if name != "base_url"}
        self.identity: dict[str, JSON] = {"writer": "model/1", **known, "prompt": prompt}

    def write(
        self, asked: Description, taken: Collection[str], rejected: Sequence[Rejected] = ()
    ) -> str:
        """Return what the model answers.

        Raises:
            CutError: The answer was longer than `MAX_TOKENS`.
            ModelError: The server failed or refused.
        """
        messages = [Message("system", self._prompt), Message("user", _request(asked, taken))]
        for text, faults in rejected:
            told = "\n".join(f"- {fault.text}" for fault in faults)
            messages.append(Message("assistant", text))
            messages.append(Message("user", f"That was wrong:\n{told}\nWrite it again."))
        seed = derive_seed(self._seed, asked.text, asked.name, asked.category, len(rejected))
        request = Request(
            tuple(messages),
            role="tool_writer",
            seed=seed,
            max_tokens=MAX_TOKENS,
            json_object=True,
        )
        completion = self._model.complete(request)
        if completion.truncated:
            raise CutError(completion.content, f"longer than {MAX_TOKENS} tokens")
        return completion.content


def model_writer(spec: Any, settings: ModelSettings, seed: int = 0) -> ModelWriter:
    """Return the writer that asks a model.

    Args:
        spec: A model, or its name as `seal run --model` takes it.
        settings: Of the model.
        seed: Of the generation.

    Raises:
        UsageError: No such model, or one that plays tasks by rule and writes nothing.
    """
    if is_offline(spec):
        raise UsageError(
            f"the model {spec!r} plays tasks by rule and writes no tools: name a server's model, "
            "such as openai/NAME, or leave --model out, so that the grammar writes them"
        )
    model = build_model(spec, settings)
    if not isinstance(model, ChatModel):
        raise UsageError(f"the model {spec!r} plays tasks and cannot be asked to write tools")
    return ModelWriter(model, model_identity(spec, settings, model), seed)


def _request(asked: Description, taken: Collection[str]) -> str:
    given: dict[str, JSON] = {
        "does": asked.text,
        "name": asked.name,
        "category": asked.category,
        "names that are taken": sorted(taken)[-_NAMED:],
    }
    return json.dumps({k: v for k, v in given.items() if v}, ensure_ascii=False, indent=1)
