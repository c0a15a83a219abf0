"""Recorded runs as trajectories: who said what to whom, as a chat of ours would record it.

`seal.pools.reading.chats` says who speaks. A run that gave up ends with "done" and no answer
(`provenance["finish_type"]` is "give_up"), one that ran out of steps with "max_turns".

Marks of what upstream cut, on which scorers and caches rely:

- an answer that is cut: `ToolResult.error["kind"] == "truncated"`, `value` None; its "upstream" is
  the service's own error as far as it can be read ("" where it reported none), and its "cut" lists
  "response" and, where the arguments are cut too, "arguments"
- arguments that are cut: `ToolCall.arguments` None with what is left in `raw`; unlike a model's
  text that is no JSON, its result's "cut" holds "arguments"
- `provenance["truncated"]`: {"arguments": n, "responses": n, "texts": n} (texts: thoughts); absent
  where nothing is cut

Other errors have the kind "service", or "unknown_tool" and "unparsable_arguments" as in
`seal.core.validation` where no service was asked. `executed` holds the arguments as the run gave
them, without defaults: those the service filled in by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import orjson

from seal.benchmarks.toolbench.answers import Move, Run
from seal.core import JSON, Execution, Step, Stop, Tool, ToolCall, ToolResult, Trajectory
from seal.core.plain import json_text
from seal.pools.reading.chats import Made, chat_steps

_READABLE_ERROR = re.compile(r'\{"error": "((?:[^"\\]|\\.)*)"')


def trajectory_of(
    run: Run, task_id: str, trial: int, tools: Mapping[str, Tool], provenance: dict[str, JSON]
) -> Trajectory:
    """Return a run as a trajectory.

    Args:
        run: As recorded.
        task_id: The task that it plays.
        trial: Number of the run among those of this recording and task.
        tools: The task's tools by their names of ToolBench's rule.
        provenance: Recording and file; what the run says of itself is added.
    """
    steps = list(_steps(run, tools))
    offered = [tools[f["name"]].id for f in run.functions if f.get("name") in tools]
    stop = Stop("max_turns" if run.finish is None else "done")
    return Trajectory(
        task_id,
        trial,
        tuple(steps),
        (),
        (tuple(dict.fromkeys(offered)),),
        (stop,),
        (run.answer,),
        {**provenance, **_said_of_itself(run)},
    )


def _said_of_itself(run: Run) -> dict[str, JSON]:
    said: dict[str, JSON] = {
        "steps_from": run.steps_from,
        "finish_type": run.finish or run.finish_type,
    }
    if run.valid is not None:
        said |= {"valid_data": run.valid, "win": run.win}
    cut = truncations(run)
    if any(cut.values()):
        said["truncated"] = cut
    return said


def truncations(run: Run) -> dict[str, int]:
    """Count what upstream cut in a run: arguments, responses and texts, each maybe 0."""
    return {
        "arguments": sum(move.arguments_cut for move in run.moves),
        "responses": sum(move.observation_cut for move in run.moves),
        "texts": run.texts_cut,
    }


def _steps(run: Run, tools: Mapping[str, Tool]) -> Iterator[Step]:
    report = "\n\n".join(filter(None, (run.closing, run.answer)))
    ended = run.finish is not None or bool(run.closing)
    replies = replies_of(run.moves, tools)
    return chat_steps(run.query, replies, report if ended else None, run.answer or "")


def replies_of(moves: Sequence[Move], tools: Mapping[str, Tool]) -> Iterator[list[Made]]:
    """Yield the calls of each reply.

    Args:
        moves: In the order made.
        tools: By their names of ToolBench's rule.
    """
    number = 0
    for _, group in groupby(moves, key=lambda move: move.reply):
        made = []
        for move in group:
            call = call_of(move, f"call_{number}", tools)
            result = None if move.observation is None else result_of(move, call)
            made.append(Made(move.thought, call, result))
            number += 1
        yield made


def call_of(move: Move, call_id: str, tools: Mapping[str, Tool]) -> ToolCall:
    """Return a move's call; its name is the tool's own where the tool is known."""
    tool = tools.get(move.name)
    arguments = None if move.arguments_cut else parse_object(move.arguments)
    raw = "" if arguments is not None else move.arguments
    name, tool_id = (move.name, None) if tool is None else (tool.name, tool.id)
    return ToolCall(call_id, name, arguments, raw, tool_id)


def parse_object(text: str) -> dict[str, JSON] | None:
    """Return the JSON object that a text is, or None."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None


def result_of(move: Move, call: ToolCall) -> ToolResult:
    """Return the recorded result of a call; what is cut is marked (this module's text)."""
    text = move.observation or ""
    executed = None
    if call.tool is not None and call.arguments is not None:
        executed = Execution(call.tool, call.arguments)
    if move.observation_cut:
        return ToolResult(call.id, text, _truncated(move, text), None, executed)
    value, error = read_observation(text)
    if not error:
        return ToolResult(call.id, text, None, value, executed)
    kind = "service"
    if call.tool is None:
        kind = "unknown_tool"
    elif call.arguments is None:
        kind = "unparsable_arguments"
    return ToolResult(call.id, text, {"kind": kind, "message": error}, value, executed)


def read_observation(text: str) -> tuple[JSON, str]:
    """Return an observation's response and error text; a text that is no JSON is the response."""
    try:
        value: Any = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text, ""
    if not isinstance(value, dict) or "response" not in value:
        return value, ""
    error = value.get("error") or ""
    return value["response"], error if isinstance(error, str) else json_text(error)


def _truncated(move: Move, text: str) -> dict[str, JSON]:
    readable = _READABLE_ERROR.match(text)
    return {
        "kind": "truncated",
        "message": "upstream cut this text: it is neither scored nor cached",
        "upstream": readable[1] if readable else "",
        "cut": ["arguments", "response"] if move.arguments_cut else ["response"],
    }
