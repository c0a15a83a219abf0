"""Upstream's records: scenarios checked, and their milestones as plans."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

import orjson

from seal.benchmarks.toolsandbox.phone import TOOL_IDS
from seal.core import (
    JSON,
    DataError,
    Milestone,
    Plan,
    UnknownNameError,
    located,
    shortened,
)
from seal.core.conditions import AGENT, EXECUTOR, MESSAGE, SYSTEM, USER, Condition, Match
from seal.core.files import lines_of
from seal.core.state_conditions import AllOf, DependsOn, StateHas, StateUnchanged
from seal.core.table_matching import Column
from seal.core.values import json_value
from seal.evaluation.goals import Rules
from seal.evaluation.plans import check_plan, with_outer_guardrails
from seal.pools.reading.files import (
    Placed,
    Torn,
    expect,
    field_of,
    json_values,
    named,
    parse_exactly,
    refuse_deep,
)

# -- The file of ToolSandbox's scenarios, read and checked.

BENCHMARK = "toolsandbox"
FILES = ("scenarios_core.jsonl.gz", "scenarios_core.jsonl")

CATEGORIES = {
    "SINGLE_TOOL_CALL": "single_tool",
    "MULTIPLE_TOOL_CALL": "multiple_tool",
    "SINGLE_USER_TURN": "single_turn",
    "MULTIPLE_USER_TURN": "multiple_turn",
    "STATE_DEPENDENCY": "state_dependency",
    "CANONICALIZATION": "canonicalization",
    "INSUFFICIENT_INFORMATION": "insufficient_information",
}
"""Upstream's category of scenarios to the tag that is true of its tasks, false of the others."""

_FIELDS: dict[str, Any] = {
    "id": str,
    "base": str,
    "augmentation": str,
    "categories": list,
    "max_messages": int,
    "tools": dict,
    "initial_state": dict,
    "messages": list,
    "milestones": dict,
    "minefields": dict,
}


def scenario_lines(path: Path, torn: Torn) -> Iterator[Placed]:
    """Yield what the lines of a file hold, compressed or not.

    Args:
        path: The file.
        torn: Told a line that is no JSON, or has a number that is infinite or none. Such a line is
            passed over.

    Raises:
        DataError: The file is no whole gzip file, is too large when unpacked, or is empty.
    """
    lines = lines_of(path)
    first = next(lines, None)
    if first is None:
        raise DataError(f"{path} holds no scenario: is the file cut? Fetch it again")
    yield from json_values(chain([first], lines), path, torn, _parse)


def _parse(line: bytes, place: str) -> Any:
    """Return the value of a line, as long as each number in it is one.

    Raises:
        DataError: It is no JSON, or a number is infinite or none; names what holds it.
    """
    try:
        return json_value(line)
    except orjson.JSONDecodeError:
        return parse_exactly(line, place)


def check_scenario(record: Any) -> None:
    """Make sure that a record has a scenario's fields.

    Raises:
        DataError: One is missing or of another kind; the text names it.
    """
    for name, kind in _FIELDS.items():
        field_of(record, name, kind)
    refuse_deep(record)
    if not record["messages"]:
        raise DataError("messages: expected the user's first message, got none")
    field_of(record["tools"], "augmentations", list)
    for pair in field_of(record["tools"], "agent_tools", list):
        if not (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[1], str)):
            raise DataError(f"tools.agent_tools: expected pairs of names, got {shortened(pair)}")


START = datetime(2025, 3, 12, 14, 30, tzinfo=UTC)
"""What the clock shows while the scenarios are built."""


# -- ToolSandbox's milestones and minefields as plans.
#
# Upstream's constraints name databases, message roles and tools of its own; here they become
# tables, parties and tool ids. Guardrails are expanded upstream already; those around the
# milestones, which only the rules `clean` know, are added.

TABLES = {
    "SETTING": "settings",
    "CONTACT": "contacts",
    "MESSAGING": "messages",
    "REMINDER": "reminders",
}
"""Upstream's database to the phone's table."""
PARTIES = {"AGENT": AGENT, "USER": USER, "EXECUTION_ENVIRONMENT": EXECUTOR, "SYSTEM": SYSTEM}
"""Upstream's role to the party of a message."""

_DATABASES = {**TABLES, "SANDBOX": MESSAGE}
_COLUMNS = {
    "sender": "author",
    "recipient": "recipient",
    "content": "content",
    "tool_trace": "calls",
    "openai_tool_call_id": "call_id",
    "openai_function_name": "name",
    "tool_call_exception": "error",
}
"""Upstream's column of a message to ours."""
_MEASURES = {"tool_trace": "calls"}
"""Upstream's measure of a column to ours, where the names differ."""
_FILLED = {"tool_trace": "calls", "content": "content"}
_CHANGES = frozenset({"snapshot", "addition", "removal", "update"})
_MATCH: Match = "toolsandbox"
RULES = Rules(milestones=_MATCH)


def plan_of(
    milestones: Mapping[str, Any],
    minefields: Mapping[str, Any],
    state: Mapping[str, list[dict[str, JSON]]] | None = None,
    measured: bool = False,
) -> Plan:
    """Return upstream's graphs as one plan.

    Args:
        milestones: {nodes: [{constraints, guardrail_dbs}], edges: [[from, to], ...]}.
        minefields: Of the same form.
        state: Tables as the plan's world begins, by which their names and columns are checked;
            None: unknown.
        measured: Whether upstream measured by it: of a recorded trajectory.

    Raises:
        DataError: A constraint is malformed, names what there is not, or refers to a milestone that
            need not come before; the text names the place.
    """
    nodes = _nodes(milestones, "milestones")
    plan = Plan(nodes, _nodes(minefields, "minefields"))
    check_plan(plan, state, measured)
    declared = [_declared(node) for node in milestones["nodes"]]
    return with_outer_guardrails(plan, declared)


def _nodes(graph: Mapping[str, Any], name: str) -> tuple[Milestone, ...]:
    nodes = field_of(graph, "nodes", list)
    after = _after(field_of(graph, "edges", list), len(nodes), name)
    found = []
    for position, node in enumerate(nodes):
        place = f"{name}.nodes.{position}"
        constraints = field_of(node, "constraints", list)
        if not constraints:
            raise DataError(f"{place}: expected at least one constraint, got none")
        conditions = []
        for number, constraint in enumerate(constraints):
            with located(f"{place}.constraints.{number}"):
                conditions.append(_condition(constraint))
        found.append(Milestone(AllOf(tuple(conditions)), after[position]))
    return tuple(found)


def _after(edges: Iterable[Any], count: int, name: str) -> list[tuple[int, ...]]:
    """Return for each node those right before it.

    Raises:
        DataError: An edge is malformed, or there are several nodes and one is in no edge. Upstream
            never assigns such a node, and a plan cannot say that.
    """
    before: list[list[int]] = [[] for _ in range(count)]
    joined = set()
    for edge in edges:
        ends = edge if isinstance(edge, list) else []
        if len(ends) != 2 or not all(type(end) is int and 0 <= end < count for end in ends):
            raise DataError(f"{name}.edges: expected two node numbers, got {shortened(edge)}")
        first, last = ends
        joined.update(ends)
        if first not in before[last]:
            before[last].append(first)
    alone = sorted(set(range(count)) - joined)
    if count > 1 and alone:
        raise DataError(f"{name}.edges: the nodes {shortened(alone)} are in no edge; add them")
    return [tuple(sorted(nodes)) for nodes in before]


def _condition(constraint: Any) -> Condition:
    table = named(_DATABASES, field_of(constraint, "db", str), "database")
    measure = field_of(constraint, "measure", str)
    since = constraint.get("ref")
    if since is not None and type(since) is not int:
        raise DataError(f"ref: expected a node number, -1 or null, got {shortened(since)}")
    if measure == "unchanged":
        return StateUnchanged(table, since, _MATCH)
    rows = tuple(_row(row, table) for row in field_of(constraint, "target", list))
    columns = _columns(field_of(constraint, "columns", dict), table)
    if measure == "tool_trace_dependent":
        if since is None:
            raise DataError("ref: expected the node whose call the constraint depends on, got null")
        fill = named(_FILLED, field_of(constraint, "fill_to", str), "fill_to")
        extractor = field_of(constraint, "extractor", str)
        return DependsOn(since, rows, extractor, fill, columns, _MATCH)  # type: ignore[arg-type]
    if measure not in _CHANGES:
        known = {*_CHANGES, "unchanged", "tool_trace_dependent"}
        raise DataError(str(UnknownNameError("measure of a table", measure, known)))
    return StateHas(table, rows, measure, since, columns, _MATCH)  # type: ignore[arg-type]


def _row(row: Any, table: str) -> dict[str, JSON]:
    expect(row, dict, "target")
    if table != MESSAGE:
        return dict(row)
    return {_column(name, table): _cell(name, value) for name, value in row.items()}


def _cell(column: str, value: Any) -> JSON:
    if column in ("sender", "recipient"):
        return named(PARTIES, value, "role")
    return _calls(value) if column == "tool_trace" else value


def _calls(value: Any) -> JSON:
    """Return the candidates of a tool trace with our tool ids."""
    candidates = value if isinstance(value, list) else [value]
    return [
        {
            "tool": tool_id(field_of(call, "tool_name", str)),
            "arguments": field_of(call, "arguments", dict),
        }
        for call in candidates
    ]


def tool_id(name: str) -> str:
    """Return the id of upstream's tool.

    Raises:
        UnknownNameError: The phone has no such tool.
    """
    return named(TOOL_IDS, name, "tool of the phone")


def _columns(columns: Mapping[str, Any], table: str) -> dict[str, Column]:
    found = {}
    for name, how in columns.items():
        measure: Any = _MEASURES.get(field_of(how, "measure", str), how["measure"])
        tolerances = how.get("atol") or {}
        if measure == "close":
            found[name] = Column(measure, tolerances.get(name, 0.0))
        else:
            found[_column(name, table)] = Column(measure, tolerances=dict(tolerances))
    return found


def _column(name: str, table: str) -> str:
    return named(_COLUMNS, name, "column of a message") if table == MESSAGE else name


def _declared(node: Mapping[str, Any]) -> list[str]:
    names = field_of(dict(node), "guardrail_dbs", list)
    return [named(TABLES, name, "database") for name in names if name != "SANDBOX"]
