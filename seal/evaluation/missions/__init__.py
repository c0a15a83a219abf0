"""Missions: gold calls in a partial order, and a model's calls, turn by turn, beside them."""

from seal.evaluation.missions.arguments import ArgumentMatch, match_arguments

__all__ = ["ArgumentMatch", "match_arguments"]
