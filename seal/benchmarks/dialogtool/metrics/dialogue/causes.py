"""Turns of a dialogue that was not played through tools: what was decided and written."""

from __future__ import annotations

from dataclasses import replace

from seal.benchmarks.dialogtool.metrics.dialogue.turns import DECIDING
from seal.evaluation.attribution.evidence import Cause, Evidence, argument
from seal.evaluation.attribution.gold_steps import first_gold_step
from seal.evaluation.error_patterns.gold import no_gold

_MISSED = ("missing_call", "tool_missed")
"""Errors of awareness and selection by which no tool was called where one was due."""


def cause_of(evidence: Evidence) -> Cause | None:
    """Return why a turn failed, by the first of awareness, selection and execution that did.

    None for a goal that another metric decides.
    """
    if evidence.decision.metric not in DECIDING:
        return None
    score = evidence.scores[evidence.decision.metric]
    error = str(score.details.get("error") or "wrong")
    name = str(score.details.get("called") or "")
    if score.metric == "execution":
        found = None if no_gold(evidence.goal) else first_gold_step(evidence)
        if found is not None and found.stage == "wrong_argument":
            return found
        step = evidence.calls[-1].step if evidence.calls else None
        return replace(argument(error, name, step=step), of=1)
    step = evidence.calls[0].step if evidence.calls else None
    if error in _MISSED:
        return Cause("not_called", error, "a tool was due and none was called", step, of=1)
    called = evidence.calls[0].call if evidence.calls else None
    received = called.name if called is not None else str(score.details.get("said") or "")
    said = f"{received or 'the request'}: {error.replace('_', ' ')}"
    return Cause("wrong_tool", error, said, step, received, None, received)
