"""The writer of tools that asks a language model."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from importlib.resources import files

from seal.benchmarks.toolscan.tool_generation.descriptions import Description
from seal.benchmarks.toolscan.tool_generation.writing import CutError, Rejected
from seal.core.canonical import derive_seed, digest
from seal.core.protocols import Message, Request
from seal.core.types import JSON
from seal.experiments.generation.writing_models import WritingModel

MAX_TOKENS = 4096
_NAMED = 200
"""Taken names that a model is told at most, the last ones."""


class ModelWriter:
    """Writes tools by a language model, which is told what was wrong with its former drafts.

    Args:
        model: Who is asked, and what it is.
        seed: Each try asks with a seed of its own.
    """

    def __init__(self, model: WritingModel, seed: int = 0) -> None:
        self._model = model.model
        self._seed = seed
        self._prompt = files(__package__).joinpath("prompts/write_tool.txt").read_text("utf-8")
        prompt = digest([self._prompt, MAX_TOKENS])[:16]
        self.identity: dict[str, JSON] = {"writer": "model/1", **model.identity, "prompt": prompt}

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


def _request(asked: Description, taken: Collection[str]) -> str:
    given: dict[str, JSON] = {
        "does": asked.text,
        "name": asked.name,
        "category": asked.category,
        "names that are taken": sorted(taken)[-_NAMED:],
    }
    return json.dumps({k: v for k, v in given.items() if v}, ensure_ascii=False, indent=1)
