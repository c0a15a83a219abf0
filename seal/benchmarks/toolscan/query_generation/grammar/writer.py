"""The writer of queries that follows rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files

from seal.benchmarks.toolscan.query_generation.bench import Bench
from seal.benchmarks.toolscan.query_generation.candidates import Candidate, Unusable
from seal.benchmarks.toolscan.query_generation.grammar.constraints import Constraints
from seal.benchmarks.toolscan.query_generation.grammar.irrelevance import Irrelevance
from seal.benchmarks.toolscan.query_generation.grammar.paraphrases import Paraphrases
from seal.benchmarks.toolscan.query_generation.seeds import Seed
from seal.benchmarks.toolscan.query_generation.settings import Kind
from seal.core.canonical import digest
from seal.core.types import JSON, Tool


class GrammarWriter:
    """Writes queries by rule.

    Args:
        seeds: All.
        tools: The pool by id.
        bench: Makes calls.
        seed: Another one gives other queries.
    """

    def __init__(
        self, seeds: Sequence[Seed], tools: Mapping[str, Tool], bench: Bench, seed: int
    ) -> None:
        self.identity: dict[str, JSON] = {"writer": "grammar/1", "words": _digest()}
        self._constraints = Constraints(seeds, tools, bench, seed)
        self._paraphrases = Paraphrases(seed)
        self._irrelevance = Irrelevance(seeds, tools, seed)

    def write(
        self, kind: Kind, seed: Seed, count: int
    ) -> tuple[Sequence[Candidate], Sequence[Unusable]]:
        """Return candidates, best first; there is never an unusable answer."""
        if kind == "constraint":
            found = self._constraints.propose(seed, count)
            return found, [] if found else [Unusable("", "too_few_arguments")]
        if kind == "paraphrase":
            return self._paraphrases.propose(seed, count), []
        found = self._irrelevance.propose(seed, count)
        return found, [] if found else [Unusable("", "nothing_foreign")]


def _digest() -> str:
    texts = (item for item in files(__package__).iterdir() if item.name.endswith(".json"))
    return digest({item.name: item.read_text("utf-8") for item in texts})[:16]
