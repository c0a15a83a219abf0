"""What queries become: tasks like their seeds, with gold of their own."""

from __future__ import annotations

from dataclasses import replace

from seal.benchmarks.toolscan.query_generation.bench import world_of
from seal.benchmarks.toolscan.query_generation.grammar.irrelevance import reply
from seal.benchmarks.toolscan.query_generation.results import answers
from seal.benchmarks.toolscan.query_generation.seeds import Seed
from seal.benchmarks.toolscan.query_generation.selection import Query
from seal.core.conditions import Argument, Called
from seal.core.types import JSON, Goal, Milestone, Plan, Step, Task

TAG = "query_kind"
"""Tag that names what was made: constraint, paraphrase or irrelevance; or `SEED`."""
SEED = "seed"
"""A task that queries were made of, beside them."""
_ANSWERER, _USER = "orchestrator", "user_simulator"


def task_of(query: Query, benchmark: str) -> Task:
    """Return the task of a query.

    Args:
        query: That passed the filters.
        benchmark: Name of the pool.
    """
    goal = replace(query.seed.goal, text=query.candidate.text)
    tags: dict[str, JSON] = {}
    if query.kind == "paraphrase":
        world = query.seed.task.world
    elif query.kind == "constraint":
        goal, tags = _constraint(query)
        world = world_of(query.seed.task)
    else:
        goal, tags = _irrelevant(query)
        world = world_of(query.seed.task)
    task = query.seed.task
    return replace(
        task,
        id=query.id,
        benchmark=benchmark,
        goals=(goal,),
        tags={"environment": query.seed.environment, **task.tags, **tags, TAG: query.kind},
        metadata={**task.metadata, "seed": query.seed.id},
        world=world,
    )


def seed_task(seed: Seed, benchmark: str) -> Task:
    """Return the task that a seed is, as a task of the new pool.

    Args:
        seed: As it was read.
        benchmark: Name of the pool.
    """
    tags = {"environment": seed.environment, **seed.task.tags, TAG: SEED}
    return replace(seed.task, benchmark=benchmark, tags=tags)


def _constraint(query: Query) -> tuple[Goal, dict[str, JSON]]:
    calls, results = query.candidate.calls, query.passed.results
    milestones = tuple(
        Milestone(
            Called(call.tool, {name: Argument((v,)) for name, v in call.arguments.items()}),
            result=result,
        )
        for call, result in zip(calls, results, strict=True)
    )
    called = tuple(dict.fromkeys(call.tool for call in calls))
    goal = Goal(
        query.candidate.text,
        (Plan(milestones),),
        answers(results[-1], query.candidate.ask),
        query.seed.goal.offered,
        called,
        labels={"action": "call"},
    )
    return goal, _shape("none", len(called) > 1, len(calls) > 1)


def _irrelevant(query: Query) -> tuple[Goal, dict[str, JSON]]:
    reason = query.candidate.reason
    goal = Goal(
        query.candidate.text,
        (Plan(),),
        offered=query.seed.offered,
        reference=(Step(0, _ANSWERER, _USER, reply(query.candidate)),),
        labels={"action": "abstain", "irrelevance": reason},
    )
    return goal, _shape(reason, False, False)


def _shape(irrelevance: str, several_tools: bool, several_steps: bool) -> dict[str, JSON]:
    return {
        "irrelevance": irrelevance,
        "alternative_plans": False,
        "multi_tool": several_tools,
        "multi_step": several_steps,
    }
