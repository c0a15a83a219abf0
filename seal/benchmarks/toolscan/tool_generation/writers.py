"""Who writes tools from descriptions, and the writer that asks a language model."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

from seal.benchmarks.toolscan.tool_generation.descriptions import Description
from seal.benchmarks.toolscan.tool_generation.rules import Fault
from seal.core import JSON, Message
from seal.core.canonical import derive_seed, digest
from seal.core.package_data import shipped_text
from seal.experiments.generation.writers import MAX_TOKENS, WritingModel

_NAMED = 200
"""Taken names that a model is told at most, the last ones."""


class Rejected(NamedTuple):
    """A text that was no acceptable draft."""

    text: str
    faults: tuple[Fault, ...]


class CutError(Exception):
    """A model's answer was cut off at its limit.

    Args:
        text: What came of it.
        reason: The limit, in words.
    """

    def __init__(self, text: str, reason: str) -> None:
        self.text = text
        super().__init__(reason)


class Writer(Protocol):
    """Writes tools from descriptions: a grammar, or a model."""

    identity: dict[str, JSON]
    """What stands in the provenance: name, version, settings; nothing secret."""

    def write(
        self, asked: Description, taken: Collection[str], rejected: Sequence[Rejected]
    ) -> str:
        """Return the JSON text of a draft (`seal.benchmarks.toolscan.tool_generation.rules`).

        Args:
            asked: What the tool is to do.
            taken: Names that it must not have.
            rejected: Former drafts of this tool, with why they were not taken.

        Raises:
            CutError: The answer was cut off; it counts as a draft that was not taken.
            RequestError: This tool cannot be asked for; others may be.
            ModelError: The model's server failed or refused.
        """
        ...


class ModelWriter:
    """Writes tools by a language model, which is told what was wrong with its former drafts.

    Args:
        model: Who is asked, and what it is.
        seed: Each try asks with a seed of its own.
    """

    def __init__(self, model: WritingModel, seed: int = 0) -> None:
        self._model = model
        self._seed = seed
        self._prompt = shipped_text(__package__, "prompts/write_tool.txt")
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
        completion = self._model.ask(messages, "tool_writer", seed)
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
