"""How far a chat met plans of milestones and minefields, and which plan it met best."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple

import orjson

from seal.core import JSON, DataError, Milestone, Plan, Score, Step, Tables, Task, Trajectory
from seal.core.conditions import (
    AGENT,
    CLEAN,
    EXECUTOR,
    FIRST,
    LAST,
    MESSAGE,
    USER,
    Match,
    parts,
    party,
)
from seal.core.state_conditions import AllOf, DependsOn, StateHas, StateUnchanged
from seal.core.table_matching import Keys, Version
from seal.core.text import counted
from seal.evaluation.goals import WHOLLY, GoalChat, Value, milestone_match
from seal.evaluation.milestone_search import Similarities, best_match
from seal.evaluation.plan_checks import check_plan

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
        DataError: A plan cannot be measured.
    """
    plans = goal.goal.plans or ()
    for plan in plans:
        check_plan(plan, measured=True)
    steps = view(goal.trajectory, goal.position, goal.task.initial_state, match)
    results = [measure_plan(plan, steps, match) for plan in plans]
    best = max(range(len(results)), key=lambda plan: results[plan].similarity)
    return Best(best, results[best], turn_count(steps))


def values_of(best: Best, match: Match) -> dict[str, Value]:
    """Return the metrics of a goal by name."""
    result = best.result
    return {
        "similarity": Value(result.similarity, details={"plan": best.plan, "match": match}),
        "milestone_similarity": Value(
            result.milestone_similarity, details=_details(result.milestones)
        ),
        "minefield_similarity": Value(
            result.minefield_similarity, details=_details(result.minefields)
        ),
        "turn_count": Value(float(best.turns)),
    }


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
    milestones = under(plans[plan].milestones, match)
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
        plan: That can be measured (`seal.evaluation.plan_checks`).
        steps: As `view` gives them; none: nothing is reached.
        match: By which rules.
    """
    milestones = _matched(under(plan.milestones, match), steps)
    minefields = _matched(under(plan.minefields, match), steps, WHOLLY if match == CLEAN else 0.0)
    return PlanResult(
        _mean(milestones, len(plan.milestones), _without_milestones(steps, match)),
        _mean(minefields, len(plan.minefields), 0.0),
        tuple(sorted(milestones, key=lambda reached: reached.node)),
        tuple(minefields),
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
        nodes: Milestones or minefields.
        steps: All of them.
        least: Similarity below which a node counts as not met at all.
    """
    if not nodes or not steps:
        return []
    bound = [replace(node, condition=node.condition.among(steps)) for node in nodes]
    similarities = Similarities(bound, steps, least)
    mapped: dict[int, int] = {}
    found = []
    for one in best_match([node.after for node in nodes], similarities):
        values = similarities.conditions(one.node, one.place, mapped)
        index = steps[one.place].index
        found.append(Reached(one.node, index, one.similarity, tuple(values)))
        mapped[one.node] = one.place
    return found


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
        spelled = [orjson.dumps(row) for row in rows]
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
