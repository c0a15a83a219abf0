"""What went wrong in a mission, and of what kind a mission is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Literal, get_args

from seal.evaluation.missions.graph import ANSWER, ASK, PSEUDO, Graph
from seal.evaluation.missions.turns import Turn
from seal.evaluation.missions.values import ArgumentError

ActionError = Literal[
    "reject tool calling",
    "call function without reject",
    "function name hallucination",
    "missing information in tool calling",
    "redundant tool calling",
    "call the wrong function",
    "early stop",
]
"""The first of them that applies: nothing was called; something was, where no tool is needed; a
tool that is not offered; the question was not asked; more was done than gold has; a tool that gold
does not call; some of what gold has was done, and nothing else."""

MissionKind = Literal["combine", "serial", "cs"]
"""Several calls: all at once; one after the other; both."""

NOT_OFFERED = "not_in_list"
"""Where it is not told which tools were offered, the name of one that was not; any other was."""

_ARGUMENT_ERRORS: tuple[ArgumentError, ...] = get_args(ArgumentError)
"""Those that come first tell more."""


def action_error(
    graph: Graph, turns: Sequence[Turn], offered: Collection[str] | None
) -> ActionError:
    """Return why a mission whose calls are not those of gold failed.

    As in Multi-Mission Tool Bench a turn without calls counts as a question, whatever it says: who
    answers too early where gold asks nothing has done what gold has not.

    Args:
        graph: The gold calls.
        turns: What the model did, up to the turn that was wrong.
        offered: Names of the tools that the model had; None: all but `NOT_OFFERED`.
    """
    gold = list(graph.names) if ANSWER in graph.names else [*graph.names, ANSWER]
    done = [name for turn in turns for name in _actions(turn)]
    if len(turns) == 1 and not turns[0].calls:
        return "reject tool calling"
    if gold == [ANSWER]:
        return "call function without reject"
    called = {call.name for turn in turns for call in turn.calls}
    if called & PSEUDO or (called - set(offered) if offered is not None else NOT_OFFERED in called):
        return "function name hallucination"
    if ASK in gold and ASK not in done:
        return "missing information in tool calling"
    if len(done) >= len(gold):
        return "redundant tool calling"
    if Counter(gold)[ASK] > Counter(done)[ASK]:
        return "missing information in tool calling"
    if Counter(done) - Counter(gold):
        return "redundant tool calling" if set(done) <= set(gold) else "call the wrong function"
    return "early stop"


def argument_error(errors: Collection[ArgumentError]) -> ArgumentError:
    """Return the error that counts, of those of one call."""
    return next((e for e in _ARGUMENT_ERRORS if e in errors), "param value error")


def mission_kind(graph: Graph) -> MissionKind | None:
    """Return how the tools of a mission follow each other; None: there are not two of them.

    Read in the order of the nodes: one that depends on one of the current group begins the next.
    """
    groups: list[list[int]] = [[]]
    for node, name in enumerate(graph.names):
        if name in PSEUDO:
            continue
        if set(graph.deps[node]) & set(groups[-1]):
            groups.append([])
        groups[-1].append(node)
    several = any(len(group) > 1 for group in groups)
    if len(groups) > 1:
        return "cs" if several else "serial"
    return "combine" if several else None


def _actions(turn: Turn) -> list[str]:
    """Return what a turn did: a turn without calls, whatever it says, counts as a question."""
    return [call.name for call in turn.calls] or [ASK]
