"""Tools written without a model, from the words of their descriptions and a bank of parameters."""

from seal.generation.tools.grammar.writer import GrammarWriter

__all__ = ["GrammarWriter"]
