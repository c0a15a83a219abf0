"""How far a chat met plans of milestones and minefields, and which plan it met best."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, islice
from typing import Any, NamedTuple, get_args
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from seal.core import (
    JSON,
    DataError,
    Milestone,
    Plan,
    Score,
    Step,
    Tables,
    Task,
    Trajectory,
    UnknownNameError,
    Verdict,
    shortened,
)
from seal.core.conditions import (
    AGENT,
    CLEAN,
    EXECUTOR,
    FIRST,
    LAST,
    MESSAGE,
    USER,
    AtSteps,
    Called,
    Condition,
    Match,
    parts,
    party,
)
from seal.core.state_conditions import (
    COLUMNS,
    EXTRACTORS,
    AllOf,
    DependsOn,
    Ended,
    EndsAs,
    FinalState,
    StateHas,
    StateUnchanged,
    Unconfirmed,
)
from seal.core.table_matching import Column, Measure, TableChange
from seal.core.table_versions import Keys, Version
from seal.core.text import counted
from seal.core.values import json_bytes
from seal.evaluation.error_patterns import was_refused
from seal.evaluation.goals import (
    CRASHED,
    ENDS,
    WHOLLY,
    GoalChat,
    Value,
    match_of,
    milestone_match,
    undefined,
)
from seal.evaluation.milestone_search import Similarities, best_match

# -- One plan's similarity to what was done: its milestones, its minefields, and both together.
#
# Two sets of rules (`seal.core.conditions.Match`). Published rules are ToolSandbox's evaluator, bug
# for bug. `clean`, the default, departs from it:
#
# - Conditions are measured as one would expect (`seal.core.table_matching`, `.rows`): an absent
#   value is no match of a value, tables are compared as multisets, and rows in any order.
# - Guarded tables of which no milestone asks anything are unchanged also before the first milestone
#   and after the last one (`under`).
# - A minefield counts where it is met wholly; a message that is a little like a forbidden one does
#   no harm. The original voids the score for any partial match.
# - Where a plan has minefields alone, the agent must have said something to the user: doing nothing
#   is no answer. A milestone of its own (`Replied`, or `StateHas` of the table `message`) asks for
#   what it must say, such as what is missing. A mere refusal does not meet it.
# - The answers of one batch of calls have the worlds that each of them left.
#
# Guardrails say what must not happen on the way from one milestone to the next. Whoever writes a
# plan puts `StateUnchanged` where a table must stay as it was since an earlier milestone;
# ToolSandbox's records and the notation of scenarios do. Around the milestones they follow from the
# tables that are declared for each. Source: ToolSandbox, section 4, and its code.
#
# `view` shows a trajectory as milestones see it: who says what to whom, and the whole world after
# each step.


ENDS_AMISS = "the world does not end as gold leaves it"
"""Reason of a goal that failed by the end of its world (`seal.ends_as`)."""


@dataclass(frozen=True, slots=True)
class Reached:
    """The step that a node was matched to."""

    node: int
    index: int
    """`Step.index` of the step."""
    similarity: float
    conditions: tuple[float, ...]
    """Similarities of the node's conditions, in their order; guardrails around the milestones come
    last."""


@dataclass(frozen=True, slots=True)
class PlanResult:
    """How well a plan was kept, every similarity in [0, 1]."""

    milestone_similarity: float
    """Mean over the milestones; 1 where there are none."""
    minefield_similarity: float
    """Mean over the minefields; 0 where there are none."""
    milestones: tuple[Reached, ...]
    """In the order of the nodes."""
    minefields: tuple[Reached, ...]
    """In the order of assignment."""
    ends: Mapping[str, TableChange] = field(default_factory=dict)
    """Table to how its end differs from what gold asks (`Ended.differences`)."""

    @property
    def similarity(self) -> float:
        """The milestones' similarity; 0 where a minefield was hit."""
        return 0.0 if self.minefield_similarity else self.milestone_similarity


@dataclass(frozen=True, slots=True)
class Best:
    """The plan of a goal that was kept best."""

    plan: int
    """Its position among the goal's plans."""
    result: PlanResult
    turns: int
    """Messages between user, agent and executor."""


def measure_goal(goal: GoalChat, match: Match) -> Best:
    """Return how well the best of a goal's plans was kept, of equally good ones the first.

    Args:
        goal: One that is measured so (`goals.applies`), and what was done for it.
        match: By which rules.

    Raises:
        DataError: A plan cannot be measured, or asks of tables and the chat has none.
    """
    plans = goal.goal.plans or ()
    for plan in plans:
        check_plan(plan, measured=True)
    _check_has_tables(plans, goal.trajectory)
    plans = tuple(in_chat(plan, goal.trajectory, goal.position) for plan in plans)
    steps = view(goal.trajectory, goal.position, goal.task.initial_state, match)
    results = [measure_plan(plan, steps, match) for plan in plans]
    best = max(range(len(results)), key=lambda plan: results[plan].similarity)
    return Best(best, results[best], turn_count(steps))


def _check_has_tables(plans: Sequence[Plan], chat: Trajectory) -> None:
    """Refuse plans that ask of the tables of a world, where the chat was in no world.

    A chat in a world shows its tables on the first step. Where nothing was said, nothing is reached
    either way.

    Raises:
        DataError: Names the table.
    """
    if not chat.steps or any(step.state for step in chat.steps):
        return
    nodes = (node for plan in plans for node in (*plan.milestones, *plan.minefields))
    for part in (part for node in nodes for part in parts(node.condition)):
        if isinstance(part, StateHas | StateUnchanged | FinalState) and part.table != MESSAGE:
            raise DataError(
                f"gold asks of the table {part.table!r}, and the chat was in no world, so that "
                "there are no tables; play the task in its world"
            )


def in_chat(plan: Plan, chat: Trajectory, goal: int) -> Plan:
    """Return what is measured of a plan, with what the run recorded of it (`Condition.in_chat`).

    Raises:
        DataError: The run recorded nothing that one of them could be measured by.
    """
    nodes, mines = (
        tuple(replace(node, condition=node.condition.in_chat(chat, goal)) for node in some)
        for some in (asked_of(plan), plan.minefields)
    )
    return Plan(nodes, mines)


def asked_of(plan: Plan) -> tuple[Milestone, ...]:
    """Return the milestones that must be met: not calls that are one way to the end (`EndsAs`)."""
    if plan.without_end() is plan:
        return plan.milestones
    kept = [n for n, node in enumerate(plan.milestones) if not isinstance(node.condition, Called)]
    places = {before: now for now, before in enumerate(kept)}
    return tuple(
        replace(node, after=tuple(places[n] for n in node.after if n in places))
        for node in (plan.milestones[n] for n in kept)
    )


def verdict_on(goal: GoalChat, best: Best) -> Verdict | None:
    """Return what the milestones of a goal's best plan prove; None where they leave it open.

    - solved: every milestone was reached wholly, and no minefield.
    - unsolved: a minefield was hit, or a milestone was not reached at all.
    - open: each was reached, some in part, as where an answer is worded otherwise.
    """
    result = best.result
    if result.minefield_similarity:
        return Verdict("unsolved", "a minefield was hit", 2)
    if result.milestone_similarity >= WHOLLY:
        return Verdict("solved", "every milestone was reached", 2)
    missed = [str(one.node) for one in result.milestones if not one.similarity]
    if _ends_amiss(asked_of((goal.goal.plans or ())[best.plan]), result):
        return Verdict("unsolved", ENDS_AMISS, 2)
    if missed:
        return Verdict("unsolved", f"not reached: milestone {', '.join(missed)}", 2)
    if not result.milestone_similarity:
        return Verdict("unsolved", "nothing was reached", 2)
    return None


def _ends_amiss(nodes: Sequence[Milestone], result: PlanResult) -> bool:
    """Tell whether a milestone was missed that says how the world ends."""
    missed = (nodes[one.node] for one in result.milestones if not one.similarity)
    return any(
        getattr(part, "kind", "") in ENDS for node in missed for part in parts(node.condition)
    )


def end_verdict(goal: GoalChat) -> Value:
    """Return the value of `calls_right` where gold calls are one way to the end of a world.

    They were right if the world ends as they leave it, whatever was called.
    """
    try:
        best = goal.chat.once(measure_goal, goal, match_of(goal.task))
    except DataError as error:
        return undefined(f"the plan cannot be measured: {error}")
    verdict = verdict_on(goal, best)
    solved = verdict is not None and verdict.label == "solved"
    amiss = "" if verdict is None or solved else verdict.reason
    if solved and goal.stop == CRASHED:
        solved, amiss = False, "the agent crashed"
    return Value(float(solved), 1.0, amiss, {"needed": True})


def values_of(best: Best, match: Match) -> dict[str, Value]:
    """Return the metrics of a goal by name."""
    result = best.result
    whole: dict[str, JSON] = {"plan": best.plan, "match": match}
    if result.ends:
        whole["ends"] = {table: _told_change(change) for table, change in result.ends.items()}
    return {
        "similarity": Value(result.similarity, details=whole),
        "milestone_similarity": Value(
            result.milestone_similarity, details=_details(result.milestones)
        ),
        "minefield_similarity": Value(
            result.minefield_similarity, details=_details(result.minefields)
        ),
        "turn_count": Value(float(best.turns)),
    }


_ROWS = 20
"""Rows of a table that a score's details tell of each kind."""


def _told_change(change: TableChange) -> dict[str, JSON]:
    """Return the rows that a table has too many, that are missing, and that are different."""
    different: Iterator[dict[str, JSON]] = (
        {
            "row": _told_row([changed.name]),
            "column": cell.column,
            "expected": _told_cell(cell.before),
            "found": _told_cell(cell.after),
        }
        for changed in change.changed
        for cell in changed.cells
    )
    found: dict[str, Any] = {
        "too_many": [_told_row(row.items()) for row in change.added[:_ROWS]],
        "missing": [_told_row(row.items()) for row in change.removed[:_ROWS]],
        "different": list(islice(different, _ROWS)),
    }
    return {kind: rows for kind, rows in found.items() if rows}


def _told_row(cells: Iterable[tuple[str, Any]]) -> dict[str, JSON]:
    return {name: _told_cell(cell) for name, cell in cells}


def _told_cell(cell: Any) -> JSON:
    """Return a cell; a long one as the beginning of its JSON."""
    text = json_bytes(cell).decode()
    return cell if len(text) <= 200 else f"{text[:197]}..."


def _details(found: Sequence[Reached]) -> dict[str, JSON]:
    return {
        "mapping": [[one.node, one.index, one.similarity] for one in found],
        "conditions": [list(one.conditions) for one in found],
    }


class MeasuredPlan(NamedTuple):
    """What the scores of a goal were measured on, read again from their details."""

    plan: int
    """Position of the plan that counted."""
    match: Match
    nodes: list[Milestone]
    """Its milestones, by these rules."""
    steps: tuple[Step, ...]
    """As `view` gives them."""
    mapping: dict[int, tuple[int, float]]
    """Position of each node to (`Step.index` of its step, similarity)."""
    hits: dict[int, tuple[int, float]]
    """Likewise of the minefields."""


def measured_again(
    task: Task,
    trajectory: Trajectory,
    position: int,
    whole: Score,
    nodes: Score,
    mines: Score | None,
) -> MeasuredPlan:
    """Return what the scores of a goal were measured on.

    Args:
        task: What was played.
        trajectory: What was said and done.
        position: Of the goal.
        whole: The score `similarity`.
        nodes: The score `milestone_similarity`.
        mines: The score `minefield_similarity`; None: there is none.

    Raises:
        DataError: The scores are not of this plan and chat.
    """
    plans, plan = task.goals[position].plans or (), whole.details.get("plan")
    match = milestone_match(whole.details.get("match"), f"the rules of the score {whole.metric}")
    if type(plan) is not int or not 0 <= plan < len(plans):
        raise DataError(f"the score {whole.metric} names no plan of the goal")
    milestones = under(in_chat(plans[plan], trajectory, position).milestones, match)
    steps = view(trajectory, position, task.initial_state, match)
    mapping = _read_mapping(nodes, len(milestones))
    hits = {} if mines is None else _read_mapping(mines, len(plans[plan].minefields))
    if not {index for index, _ in mapping.values()} <= {step.index for step in steps}:
        raise DataError(f"the score {nodes.metric} names steps that the chat does not have")
    return MeasuredPlan(plan, match, milestones, steps, mapping, hits)


def _read_mapping(score: Score, count: int) -> dict[int, tuple[int, float]]:
    """Return the position of each node to (`Step.index`, similarity), as a score's details say.

    Raises:
        DataError: They have no mapping of so many nodes.
    """
    try:
        found = {node: (index, float(s)) for node, index, s in score.details["mapping"]}
    except (KeyError, TypeError, ValueError):
        found = None
    if found is None or not all(
        [type(node), type(index)] == [int, int] and 0 <= node < count
        for node, (index, _) in found.items()
    ):
        raise DataError(f"the score {score.metric} has no mapping of {counted(count, 'node')}")
    return found


def measure_plan(plan: Plan, steps: Sequence[Step], match: Match = CLEAN) -> PlanResult:
    """Return how well a plan was kept.

    Args:
        plan: That can be measured (`seal.evaluation.plans`).
        steps: As `view` gives them; none: nothing is reached.
        match: By which rules.
    """
    nodes = bound(under(plan.milestones, match), steps)
    milestones = _matched(nodes, steps)
    ended = (part for node in nodes for part in parts(node.condition) if isinstance(part, Ended))
    mines = [
        replace(mine, condition=mine.condition.among(steps))
        for mine in under(plan.minefields, match)
    ]
    minefields = _matched(mines, steps, WHOLLY if match == CLEAN else 0.0)
    return PlanResult(
        _mean(milestones, len(plan.milestones), _without_milestones(steps, match)),
        _mean(minefields, len(plan.minefields), 0.0),
        tuple(sorted(milestones, key=lambda reached: reached.node)),
        tuple(minefields),
        {table: change for one in ended for table, change in one.differences.items()},
    )


def _mean(found: Sequence[Reached], count: int, none: float) -> float:
    return sum(reached.similarity for reached in found) / count if count else none


def _without_milestones(steps: Sequence[Step], match: Match) -> float:
    if match != CLEAN:
        return 1.0
    said = (s for s in steps if party(s.author) == AGENT and s.recipient == USER)
    return float(any(step.content.strip() for step in said))


def _matched(
    nodes: Sequence[Milestone], steps: Sequence[Step], least: float = 0.0
) -> list[Reached]:
    """Return the step of each node, in the order of assignment.

    Args:
        nodes: Milestones or minefields, as they are measured in this chat.
        steps: All of them.
        least: Similarity below which a node counts as not met at all.
    """
    if not nodes or not steps:
        return []
    similarities = Similarities(nodes, steps, least)
    mapped: dict[int, int] = {}
    found = []
    for one in best_match([node.after for node in nodes], similarities):
        values = similarities.conditions(one.node, one.place, mapped)
        index = steps[one.place].index
        found.append(Reached(one.node, index, one.similarity, tuple(values)))
        mapped[one.node] = one.place
    return found


def bound(nodes: Iterable[Milestone], steps: Sequence[Step]) -> list[Milestone]:
    """Return milestones as they are measured in one chat, of which these are all steps.

    A call that was refused meets no `Called`, and of equal gold calls each needs one of its own. Of
    minefields that does not hold: who tries what is forbidden has done it.
    """
    results = (step.result for step in steps if step.result is not None)
    refused = frozenset(result.call_id for result in results if was_refused(result))
    earlier: list[Called] = []

    def made(gold: Called) -> Iterator[int]:
        calls = ((step, step.call.id) for step in steps if step.call is not None)
        for step, name in calls:
            if gold.similarity(step, {}) and (name in refused) == gold.refused:
                yield step.index

    def of_chat(condition: Condition) -> Condition:
        if isinstance(condition, AllOf):
            return AllOf(tuple(map(of_chat, condition.conditions)))
        if isinstance(condition, Called):
            taken = earlier.count(condition)
            earlier.append(condition)
            return AtSteps(frozenset(islice(made(condition), taken, None)))
        return condition.among(steps)

    return [replace(node, condition=of_chat(node.condition)) for node in nodes]


def with_outer_guardrails(plan: Plan, declared: Sequence[Collection[str]]) -> Plan:
    """Return a plan that also names the tables that are guarded before and after its milestones.

    These are all declared ones of which no milestone asks anything. The first milestone bears them.

    Args:
        plan: A plan.
        declared: Tables that each milestone guards, in their order.
    """
    if not plan.milestones:
        return plan
    asked = set().union(*map(asked_tables, plan.milestones))
    kept = sorted(set().union(*declared) - asked - {MESSAGE})
    if not kept:
        return plan
    first, *others = plan.milestones
    guards = (StateUnchanged(table) for table in kept)
    first = replace(first, condition=AllOf((*parts(first.condition), *guards)))
    return replace(plan, milestones=(first, *others))


def asked_tables(node: Milestone) -> set[str]:
    """Return the tables of which a milestone asks something: those that it does not only guard."""
    asked = {part.table for part in parts(node.condition) if isinstance(part, StateHas)}
    if any(isinstance(part, DependsOn) for part in parts(node.condition)):
        asked.add(MESSAGE)
    return asked


def under(nodes: Iterable[Milestone], match: Match) -> list[Milestone]:
    """Return milestones measured by other rules, with the guardrails around them spelt out.

    `clean`: a table that `StateUnchanged(table, since=None)` names is unchanged from the first step
    to each milestone that comes after none, and from each that none comes after to the last step.
    Published rules leave that condition out.
    """
    nodes = list(nodes)
    outer = [guard.table for node in nodes for guard in _guarded(node)]
    later = {position for node in nodes for position in node.after}
    found = []
    for position, node in enumerate(nodes):
        around = _guarded(node)
        conditions = [part for part in parts(node.condition) if part not in around]
        if match == CLEAN:
            if not node.after:
                conditions += [StateUnchanged(table, FIRST) for table in outer]
            if position not in later:
                conditions += [StateUnchanged(table, LAST) for table in outer]
        measured = tuple(condition.under(match) for condition in conditions)
        found.append(replace(node, condition=AllOf(measured)))
    return found


def _guarded(node: Milestone) -> list[StateUnchanged]:
    """Return the conditions of a milestone that guard a table around all milestones."""
    found = [part for part in parts(node.condition) if isinstance(part, StateUnchanged)]
    return [part for part in found if part.since is None]


def view(
    trajectory: Trajectory, goal: int, initial_state: Tables | None, match: Match
) -> tuple[Step, ...]:
    """Return what was said and done for one goal, each step with all tables after it.

    The agent's roles are one party: what they say to each other is left out. Equal versions of a
    table are one object, so that `is` tells whether a table changed, and so are equal rows.

    Args:
        trajectory: Of which each step holds the tables that changed in it.
        goal: Position of the goal.
        initial_state: Tables before the first step, where no step says so.
        match: By published rules the calls of one batch bring their changes all at once, as in
            ToolSandbox, which stamps them with the batch's first answer.
    """
    steps = [step for step in _with_tables(trajectory.steps, initial_state) if step.goal == goal]
    if match != CLEAN:
        steps = list(_batched(steps))
    return tuple(s for s in steps if not party(s.author) == party(s.recipient) == AGENT)


def turn_count(steps: Sequence[Step]) -> int:
    """Return the number of messages after the first one, without those that end the chat.

    The user calls its own tools, such as the one that ends the chat; these calls and their answers
    are none of the conversation. Source: ToolSandbox, which leaves out the request that the
    scenario itself makes.
    """
    return sum({step.author, step.recipient} != {USER, EXECUTOR} for step in steps[1:])


def _with_tables(steps: Iterable[Step], initial_state: Tables | None) -> Iterator[Step]:
    versions: dict[tuple[str, bytes], Version] = {}
    known: dict[bytes, dict[str, object]] = {}
    keys: Keys = {}

    def shared(name: str, rows: Sequence[dict[str, object]]) -> Version:
        if isinstance(rows, Version):  # as the chat was read
            return rows
        spelled = [json_bytes(row) for row in rows]
        key = name, b"\n".join(spelled)
        if key not in versions:
            shared_rows = (known.setdefault(s, r) for s, r in zip(spelled, rows, strict=True))
            versions[key] = Version(shared_rows, keys)
        return versions[key]

    tables: Tables = {name: shared(name, rows) for name, rows in (initial_state or {}).items()}
    for step in steps:
        if step.state:
            tables = {**tables, **{name: shared(name, rows) for name, rows in step.state.items()}}
        yield replace(step, state=tables)


def _batched(steps: Iterable[Step]) -> Iterator[Step]:
    """Yield the steps, each result with the world after the last result of its batch."""
    for (is_result, _), group in groupby(steps, lambda s: (s.result is not None, s.turn)):
        batch = list(group)
        if not is_result or len(batch) == 1:
            yield from batch
        else:
            yield from (replace(step, state=batch[-1].state) for step in batch)


# -- What can be wrong with a plan before anything is measured by it.

State = Mapping[str, Sequence[Mapping[str, JSON]]]


def check_plan(plan: Plan, state: State | None = None, measured: bool = False) -> None:
    """Make sure that a plan can be measured.

    Args:
        plan: With milestones and minefields.
        state: Tables as its world begins; None: unknown, so no name of a table or column is
            checked. A table without rows tells no columns.
        measured: Whether somebody measured by the plan before, so that a target may be all null.

    Raises:
        DataError: A graph has a cycle or an edge to nowhere. Or a condition refers to a milestone
            that need not come before its own. Or a table, column or extractor is unknown. Or a
            target has no row, no column or no value. The text names the place and the repair.
    """
    for name, nodes in (("milestones", plan.milestones), ("minefields", plan.minefields)):
        for position, fault in _faults(nodes, state, measured):
            raise DataError(f"{name}.{position}: {fault}")


def _faults(
    nodes: Sequence[Milestone], state: State | None, measured: bool
) -> Iterator[tuple[int, str]]:
    """Yield what is wrong, each with the position of its node."""
    for position, node in enumerate(nodes):
        for earlier in node.after:
            if not 0 <= earlier < len(nodes):
                yield position, f"after: no node {earlier}; there are 0 to {len(nodes) - 1}"
                return
    before = [ancestors(position, nodes) for position in range(len(nodes))]
    for position, node in enumerate(nodes):
        if position in before[position]:
            yield position, "after: the nodes form a cycle, so that none can come first; cut it"
            return
        for part in parts(node.condition):
            if getattr(part, "of_plan", False) and node is not nodes[-1]:
                yield position, "the end that the plan's own calls lead to stands last; move it"
            if isinstance(part, Called) and any(_is_end(nodes[n]) for n in before[position]):
                yield position, "after: no call comes after the end of the world; put that last"
            for fault in _faults_of(part, before[position], state):
                yield position, fault
            if not measured and _is_all_null(part):
                yield position, "rows: every value is null; name one that must be there"


def _is_end(node: Milestone) -> bool:
    return any(isinstance(part, EndsAs | FinalState) for part in parts(node.condition))


def ancestors(position: int, nodes: Sequence[Milestone]) -> set[int]:
    """Return the nodes that must come before one; itself where there is a cycle.

    An edge to nowhere is passed over.
    """
    found: set[int] = set()
    waiting = list(nodes[position].after)
    while waiting:
        earlier = waiting.pop()
        if earlier not in found and 0 <= earlier < len(nodes):
            found.add(earlier)
            waiting.extend(nodes[earlier].after)
    return found


def _faults_of(part: Condition, ancestors: Collection[int], state: State | None) -> Iterator[str]:
    for since in sorted((part.references() or frozenset()) - {FIRST, LAST}):
        if since not in ancestors:
            yield (
                f"since: {since} is no milestone that must come before; "
                f"expected -1 or one of {sorted(ancestors)}"
            )
    table = part.table if isinstance(part, StateUnchanged | StateHas | FinalState) else MESSAGE
    if state is not None and table not in {*state, MESSAGE}:
        yield str(UnknownNameError("table", table, {*state, MESSAGE}))
    if isinstance(part, StateHas | StateUnchanged | DependsOn) and part.match != CLEAN:
        yield from _faults_of_match(part.match)
    if isinstance(part, EndsAs | FinalState):
        yield from _faults_of_names("ignore", part.ignore, state)
    if isinstance(part, EndsAs):
        yield from _faults_of_names("cells", part.cells, state)
    if isinstance(part, FinalState):
        yield from _faults_of_rows(part.rows, {}, _columns_of(part.table, state))
    elif isinstance(part, StateHas):
        yield from _faults_of_measure(part)
        yield from _faults_of_rows(part.rows, part.columns, _columns_of(part.table, state))
    elif isinstance(part, DependsOn):
        if part.extractor not in EXTRACTORS:
            yield str(UnknownNameError("extractor", part.extractor, EXTRACTORS))
        if len(part.rows) != 1:
            yield f"rows: expected one message, got {len(part.rows)}"
        yield from _faults_of_rows(part.rows, part.columns, COLUMNS)
    elif isinstance(part, Unconfirmed):
        try:
            ZoneInfo(part.zone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            yield f"zone: expected a name such as Europe/Rome, got {part.zone!r}"


def _faults_of_names(field: str, names: Iterable[str], state: State | None) -> Iterator[str]:
    """Yield the names in a field of a condition that are no table, nor a column of one."""
    if state is None:
        return
    for name in names:
        tables = [table for table in state if name == table or name.startswith(f"{table}.")]
        if not tables:
            yield f"{field}: {UnknownNameError('table', name.partition('.')[0], state)}"
        elif name not in tables:
            table = max(tables, key=len)
            known = _columns_of(table, state)
            if known is not None and name[len(table) + 1 :] not in known:
                column = name[len(table) + 1 :]
                yield f"{field}: {UnknownNameError(f'column of {table}', column, known)}"


def _columns_of(table: str, state: State | None) -> Collection[str] | None:
    """Return the columns of a table; None where nothing tells them."""
    if table == MESSAGE:
        return COLUMNS
    rows = (state or {}).get(table)
    return {name for row in rows for name in row} if rows else None


def _faults_of_match(match: str) -> Iterator[str]:
    try:
        milestone_match(match, "match")
    except DataError as error:
        yield str(error)


def _faults_of_measure(part: StateHas) -> Iterator[str]:
    if part.measure == "snapshot":
        if not part.rows and (part.table == MESSAGE or part.match != CLEAN):
            yield f"rows: a snapshot of {part.table} without rows cannot be measured; name some"
        return
    if part.table == MESSAGE:
        yield f"measure: {part.measure!r} of {MESSAGE}, which knows only snapshot"
    if part.since is None:
        yield f"since: {part.measure} needs the milestone to compare with; -1 is the first step"
    if not part.rows:
        yield f"rows: expected the rows of the {part.measure}, got none"


def _faults_of_rows(
    rows: Sequence[Mapping[str, JSON]], columns: Mapping[str, Column], known: Collection[str] | None
) -> Iterator[str]:
    for number, row in enumerate(rows):
        if not row:
            yield f"rows.{number}: a row without columns, which every row is like; name some"
        for name, value in row.items():
            column = columns.get(name)
            if known is not None and name not in known:
                yield f"rows.{number}: {UnknownNameError('column', name, known)}"
            if column is not None and column.measure == "calls":
                yield from _faults_of_calls(number, value)
    measures: tuple[str, ...] = get_args(Measure)
    for name, column in columns.items():
        if column.measure not in measures:
            yield str(UnknownNameError(f"measure of the column {name}", column.measure, measures))


def _is_all_null(part: Condition) -> bool:
    values = [value for row in getattr(part, "rows", ()) for value in row.values()]
    return bool(values) and all(value is None for value in values)


def _faults_of_calls(number: int, value: JSON) -> Iterator[str]:
    candidates = value if isinstance(value, (list, tuple)) else [value]
    for call in candidates:
        if not (
            isinstance(call, Mapping)
            and isinstance(call.get("tool"), str)
            and isinstance(call.get("arguments"), Mapping)
        ):
            yield f"rows.{number}: expected calls {{tool, arguments}}, got {shortened(call)}"
