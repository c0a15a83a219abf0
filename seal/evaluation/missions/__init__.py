"""Missions: gold calls in a partial order, and a model's turns beside them.

`judgement` says whether a model did a mission right, in any order that gold allows; `arguments` how
well the arguments of one call fit.
"""
