"""ToolSandbox's milestones and minefields as plans.

Upstream's constraints name databases, message roles and tools of its own; here they become tables,
parties and tool ids. Guardrails are expanded upstream already; those around the milestones, which
only the rules `clean` know, are added.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from seal.benchmarks.toolsandbox.phone import TOOL_IDS
from seal.core import JSON, DataError, Milestone, Plan, UnknownNameError, located, shortened
from seal.core.conditions import (
    MESSAGE,
    AllOf,
    Column,
    Condition,
    DependsOn,
    Match,
    StateHas,
    StateUnchanged,
)
from seal.core.conditions.messages import AGENT, EXECUTOR, SYSTEM, USER
from seal.evaluation.milestones.checks import check_plan
from seal.evaluation.milestones.plans import with_outer_guardrails
from seal.evaluation.rules import Rules
from seal.pools.reading.upstream_files import expect, field, named

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
    nodes = field(graph, "nodes", list)
    after = _after(field(graph, "edges", list), len(nodes), name)
    found = []
    for position, node in enumerate(nodes):
        place = f"{name}.nodes.{position}"
        constraints = field(node, "constraints", list)
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
    table = named(_DATABASES, field(constraint, "db", str), "database")
    measure = field(constraint, "measure", str)
    since = constraint.get("ref")
    if since is not None and type(since) is not int:
        raise DataError(f"ref: expected a node number, -1 or null, got {shortened(since)}")
    if measure == "unchanged":
        return StateUnchanged(table, since, _MATCH)
    rows = tuple(_row(row, table) for row in field(constraint, "target", list))
    columns = _columns(field(constraint, "columns", dict), table)
    if measure == "tool_trace_dependent":
        if since is None:
            raise DataError("ref: expected the node whose call the constraint depends on, got null")
        fill = named(_FILLED, field(constraint, "fill_to", str), "fill_to")
        extractor = field(constraint, "extractor", str)
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
            "tool": tool_id(field(call, "tool_name", str)),
            "arguments": field(call, "arguments", dict),
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
        measure: Any = _MEASURES.get(field(how, "measure", str), how["measure"])
        tolerances = how.get("atol") or {}
        if measure == "close":
            found[name] = Column(measure, tolerances.get(name, 0.0))
        else:
            found[_column(name, table)] = Column(measure, tolerances=dict(tolerances))
    return found


def _column(name: str, table: str) -> str:
    return named(_COLUMNS, name, "column of a message") if table == MESSAGE else name


def _declared(node: Mapping[str, Any]) -> list[str]:
    names = field(dict(node), "guardrail_dbs", list)
    return [named(TABLES, name, "database") for name in names if name != "SANDBOX"]
