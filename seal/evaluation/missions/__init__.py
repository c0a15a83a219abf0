"""Missions: gold calls in a partial order, and a model's turns beside them.

`judge` says whether a model did a mission right, in any order that gold allows; `match_arguments`
how well the arguments of one call fit. `Walk` follows a model while it plays.
"""

from seal.evaluation.missions.arguments import ArgumentMatch, match_arguments
from seal.evaluation.missions.graph import ANSWER, ASK, Call, Graph, Turn, read_graph, read_turns
from seal.evaluation.missions.judgement import Verdict, judge
from seal.evaluation.missions.pairs import Pair, Pairing
from seal.evaluation.missions.walk import Walk

__all__ = [
    "ANSWER",
    "ASK",
    "ArgumentMatch",
    "Call",
    "Graph",
    "Pair",
    "Pairing",
    "Turn",
    "Verdict",
    "Walk",
    "judge",
    "match_arguments",
    "read_graph",
    "read_turns",
]
