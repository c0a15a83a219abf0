"""Missions: gold calls in a partial order, and a model's turns beside them.

`judge` says whether a model did a mission right, in any order that gold allows; `match_arguments`
how well the arguments of one call fit.
"""

from typing import TYPE_CHECKING

from seal.lazy import give_names

if TYPE_CHECKING:
    from seal.evaluation.missions.as_data import judge, match_arguments

__all__ = ["judge", "match_arguments"]

give_names(__name__)
