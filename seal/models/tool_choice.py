"""Which tool a text means, by the words that it shares with names and descriptions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from seal.core.text import words
from seal.core.types import Tool

_STOPWORDS = frozenset(
    words(
        "a an the of for to in on at by with from and or is are was be been i me my we our you "
        "your it its this that these those what which who how when where please can could would "
        "will do does give get show tell find want need like some any all about into as if also "
        "then there have has"
    )
)


@dataclass(frozen=True, slots=True)
class _Document:
    tool: Tool
    name: frozenset[str]
    description: frozenset[str]


class ToolChooser:
    """Finds the tool that shares most with a text, rare words counting more.

    A tool is chosen only where the text shares a word with its name or two with its description.

    Args:
        tools: To choose from.
    """

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._documents = [
            _Document(tool, stems(tool.name), stems(tool.description)) for tool in tools
        ]
        counts = Counter(word for d in self._documents for word in d.name | d.description)
        self._weights: Mapping[str, float] = {
            word: math.log(1 + len(tools) / count) for word, count in counts.items()
        }

    def choose(self, text: str) -> Tool | None:
        """Return the tool; of equal ones the first."""
        said = stems(text)
        best, best_score = None, 0.0
        for document in self._documents:
            in_name, described = said & document.name, said & document.description
            if not in_name and len(described) < 2:
                continue
            score = 2 * self._weigh(in_name) + self._weigh(described - in_name)
            if score > best_score:
                best, best_score = document.tool, score
        return best

    def _weigh(self, shared: frozenset[str]) -> float:
        return sum(self._weights[word] for word in sorted(shared))


@lru_cache(maxsize=4096)
def stems(text: str) -> frozenset[str]:
    """Return the words that carry meaning, without common English endings."""
    return frozenset(_stem(word) for word in words(text) if word not in _STOPWORDS)


def _stem(word: str) -> str:
    for ending, least in (("ing", 6), ("ed", 5), ("es", 5), ("s", 4)):
        if word.endswith(ending) and len(word) >= least and not word.endswith("ss"):
            return word.removesuffix(ending)
    return word
