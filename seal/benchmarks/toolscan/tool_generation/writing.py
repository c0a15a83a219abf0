"""Who writes tools: the interface."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

from seal.benchmarks.toolscan.tool_generation.descriptions import Description
from seal.benchmarks.toolscan.tool_generation.rules import Fault
from seal.core.types import JSON


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
