"""Was it known whether a tool is due, and what is to be done?

As published: where an API is due, every action counts that has to do with tools. Elsewhere the
named action must contain the gold one, as `inform_count` does `inform`; where gold is `confirm`,
every tool action counts. Exactly: the gold action. Source: DialogTool, section 4; AppBench's code.
"""

from __future__ import annotations

from seal.benchmarks.dialogtool.metrics.dialogue.turns import Turn
from seal.benchmarks.dialogtool.tool_life import AWARENESS, needs_tool, read_act
from seal.core.types import JSON
from seal.evaluation.goals import Value, undefined

MISSED = "tool_missed"
"""A tool was due, and the action is none of a tool (T. in DialogTool's table 4)."""
NO_TOOL = "no_tool_due"
"""No tool was due, and a tool's or another action was named (No T.)."""
NOT_SEATED = "the role is not seated"


def awareness(turn: Turn) -> tuple[Value, Value]:
    """Return the scores as published and exact, 0 or 1; a silent role is wrong."""
    if AWARENESS not in turn.seated:
        return undefined(f"{NOT_SEATED}: {AWARENESS}"), undefined(f"{NOT_SEATED}: {AWARENESS}")
    act = read_act(turn.said(AWARENESS) or "")
    lenient = _is_right(turn, act)
    return _value(turn, act, lenient), _value(turn, act, act == turn.act)


def _is_right(turn: Turn, act: str) -> bool:
    if not act:
        return False
    if turn.kind != "action":
        return needs_tool(act)
    return turn.act in act or (turn.act == "confirm" and needs_tool(act))


def _value(turn: Turn, act: str, right: bool) -> Value:
    details: dict[str, JSON] = {"act": turn.act, "said": act}
    if not right:
        details["error"] = NO_TOOL if turn.kind == "action" else MISSED
    return Value(float(right), details=details)
