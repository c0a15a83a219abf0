"""Missions: gold calls in a partial order, and a model's turns beside them.

`judge` says whether a model did a mission right, in any order that gold allows; `match_arguments`
how well the arguments of one call fit. `Walk` follows a model while it plays.
"""

from seal.evaluation.missions.arguments import ArgumentMatch, match_arguments
from seal.evaluation.missions.graph import ANSWER, ASK, Graph, read_graph
from seal.evaluation.missions.judging import Verdict, judge
from seal.evaluation.missions.pairing import Pair, Pairing
from seal.evaluation.missions.turns import Call, Turn, read_turns
from seal.evaluation.missions.walking import Walk

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
