"""Tools written without a model, from the words of their descriptions and a bank of parameters."""

from seal.benchmarks.toolscan.tool_generation.grammar.writer import GrammarWriter

__all__ = ["GrammarWriter"]
