"""Runs as trajectories; verdicts of upstream's judges."""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import orjson

from seal.benchmarks.toolbench.answers import Move, Run
from seal.core import (
    JSON,
    DataError,
    Execution,
    Step,
    Stop,
    Tool,
    ToolCall,
    ToolResult,
    Trajectory,
    located,
)
from seal.core.values import json_text, json_value, literal_value
from seal.evaluation.llm_judge import QueryVerdicts, VerdictFile
from seal.pools.reading.files import expect, json_file
from seal.pools.reading.records import Made, chat_steps

# -- Recorded runs as trajectories: who said what to whom, as a chat of ours would record it.
#
# `seal.pools.reading.records` says who speaks. A run that gave up ends with "done" and no answer
# (`provenance["finish_type"]` is "give_up"), one that ran out of steps with "max_turns".
#
# Marks of what upstream cut, on which scorers and caches rely:
#
# - an answer that is cut: `ToolResult.error["kind"] == "truncated"`, `value` None; its "upstream"
#   is the service's own error as far as it can be read ("" where it reported none), and its "cut"
#   lists "response" and, where the arguments are cut too, "arguments"
# - arguments that are cut: `ToolCall.arguments` None with what is left in `raw`; unlike a model's
#   text that is no JSON, its result's "cut" holds "arguments"
# - `provenance["truncated"]`: {"arguments": n, "responses": n, "texts": n} (texts: thoughts);
#   absent where nothing is cut
#
# Other errors have the kind "service", or "unknown_tool" and "unparsable_arguments" as in
# `seal.core.validation` where no service was asked. `executed` holds the arguments as the run gave
# them, without defaults: those the service filled in by itself.

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
        value = json_value(text)
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None


def result_of(move: Move, call: ToolCall) -> ToolResult:
    """Return the recorded result of a call; what is cut is marked as said above."""
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
        value: Any = json_value(text)
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


# -- The verdicts that upstream's judges left (`pass_rate_results`).
#
# JSON: query id to `{query, final_step, is_solved: {run: "AnswerStatus.Solved"}}`. The same as CSV
# with tabs and Python literals, columns `query_id, query, model_final_step, is_solved`.

_STATUS = "AnswerStatus."
_FINAL = "Final step: "
_COLUMNS = ("query_id", "query", "model_final_step", "is_solved")


def read_verdicts(path: Path) -> VerdictFile:
    """Return the verdicts of a file, JSON or CSV.

    Raises:
        DataError: The file cannot be read or holds no verdicts; the text names the place.
    """
    records = _csv_records(path) if path.suffix == ".csv" else _json_records(path)
    queries = {}
    for query_id, record in records:
        with located(f"{path}: query {query_id}"):
            queries[query_id] = _verdicts(record)
    if not queries:
        raise DataError(f"{path}: no verdicts; expected a file of pass_rate_results")
    return VerdictFile(path, queries)


def _json_records(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    found = expect(json_file(path), dict, path, "an object of query ids")
    for query_id, record in found.items():
        yield query_id, expect(record, dict, f"{path}: query {query_id}")


def _csv_records(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for row in _table(path):
        solved = _literal(row["is_solved"], "is_solved")
        record = {"query": row["query"], "final_step": row["model_final_step"]}
        yield str(row["query_id"]), {**record, "is_solved": solved}


def _table(path: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a table by tabs.

    Raises:
        DataError: The file cannot be read, or lacks one of the columns.
    """
    limit = csv.field_size_limit(sys.maxsize)  # of the whole process, so it is put back
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            table = csv.DictReader(lines, delimiter="\t")
            lacking = [name for name in _COLUMNS if name not in (table.fieldnames or ())]
            if lacking:
                raise DataError(f"{path}: no column {', '.join(lacking)}; expected them, by tabs")
            yield from table
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: no table: {error}") from None
    finally:
        csv.field_size_limit(limit)


def _literal(text: Any, name: str) -> Any:
    try:
        return literal_value(text)
    except (ValueError, TypeError, AttributeError) as error:
        raise DataError(f"{name}: {error}") from error


def _verdicts(record: Mapping[str, Any]) -> QueryVerdicts:
    query, solved = record.get("query"), record.get("is_solved")
    if not isinstance(query, str) or not isinstance(solved, dict):
        raise DataError(
            "expected query (a text) and is_solved (an object of runs), got fields "
            f"{', '.join(sorted(map(str, record)))}"
        )
    labels = {}
    for run, status in solved.items():
        if not str(run).isdecimal():
            raise DataError(f"is_solved: run {run!r} is no whole number")
        labels[int(run)] = str(status).removeprefix(_STATUS).lower()
    return QueryVerdicts(query, labels, _final_answer(record.get("final_step")))


def _final_answer(step: Any) -> str | None:
    """Return the answer that a final step gives."""
    try:
        call = literal_value(str(step).removeprefix(_FINAL))
        if call["name"] != "Finish":
            return None
        arguments = call["arguments"]
        fields = json_value(arguments) if isinstance(arguments, str) else arguments
        answer = fields.get("final_answer")
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    return answer if isinstance(answer, str) else None
