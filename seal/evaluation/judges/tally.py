"""What votes come to, by the rules of each published judge, coins replaced by their expectation.

Sources: ToolEval (ToolBench), the pass table and the printed pass rate; StableToolBench, the
solvable pass rate. Both toss coins for what is unsure: here each counts what it is expected to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import comb
from typing import Literal

Passing = Literal["pass", "fail", "unsure"]


def majority(labels: Sequence[str]) -> str | None:
    """Return the label of most votes; None where several have most, or there is no vote."""
    ranked = Counter(labels).most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]


def passing(solved: str, solvable: str) -> Passing:
    """Return ToolEval's outcome of one judgement.

    Args:
        solved: solved, unsolved or unsure.
        solvable: solvable, unsolvable or unsure; of what is solved it does not matter.
    """
    if solved == "solved" or solvable == "unsolvable":
        return "pass"
    if solved == "unsolved" and solvable == "solvable":
        return "fail"
    return "unsure"


def printed_pass(outcomes: Sequence[str]) -> float:
    """Return the probability that ToolEval prints a query as passed, in [0, 1].

    It passes where passes >= fails, after a fair coin for each unsure outcome.

    Args:
        outcomes: pass, fail or unsure, at least one.
    """
    return _chance(outcomes, 0)


def written_pass(outcomes: Sequence[str]) -> float:
    """Return the probability that ToolEval's csv has a query as passed: a coin decides ties."""
    return (_chance(outcomes, 0) + _chance(outcomes, 1)) / 2


def _chance(outcomes: Sequence[str], lead: int) -> float:
    """Return the probability that passes - fails >= lead."""
    counts = Counter(outcomes)
    coins, ahead = counts["unsure"], counts["pass"] - counts["fail"]
    enough = sum(comb(coins, up) for up in range(coins + 1) if ahead + 2 * up - coins >= lead)
    return float(enough / 2**coins)


def half_credit(label: str) -> float:
    """Return what a vote counts in the solvable pass rate: solved 1, unsure a half, else 0."""
    return {"solved": 1.0, "unsure": 0.5}.get(label, 0.0)
