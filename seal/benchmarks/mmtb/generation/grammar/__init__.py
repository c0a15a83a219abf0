"""A user, a planner and an agent that need no model: a grammar over the sample's tools."""

from seal.benchmarks.mmtb.generation.grammar.speakers import GrammarSpeakers

__all__ = ["GrammarSpeakers"]
