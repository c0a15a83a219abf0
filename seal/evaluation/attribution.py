"""The first stage that explains why a goal failed, from what a finished run left.

A goal is failed where it is not solved (`attribution_evidence`); an undecided one is neither. The
stages are asked in the order of `attribution_evidence.ORDER`, and the first with evidence is the
answer. Without evidence the goal is `unexplained`: nothing is guessed.

- infrastructure: the chat or its judge broke, or the first call that failed had no recorded or
  simulated answer. No failure of the model.
- not_retrieved: a gold tool was not offered. Gold tools are those of the gold calls, of the plan
  that lacks fewest; without gold calls `Goal.relevant`.
- user: the simulated user broke its brief before the step at which the agent first failed.
- not_called, wrong_tool, wrong_argument, tool_error: the first gold step, in the order of the
  plan, that was not done, or the first milestone where the plan asks of a world
  (`attribution_steps`). Without gold calls only what is certain: none of the relevant tools was
  called, or one was, and in vain.
- gave_up: nothing above, and the answer is empty, only refuses, or repeats the request.
- answer: nothing above, and the answer contradicts or omits what the calls brought.
- unexplained: the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from seal.core import Scale, Score, Task, Tool, Trajectory
from seal.core.conditions import Asked
from seal.core.statements import statement
from seal.core.text import counted
from seal.evaluation.attribution_evidence import (
    OMITS,
    Cause,
    DecidedBy,
    Decision,
    Evidence,
    decide,
    gave_up,
    in_answer,
    listed,
)
from seal.evaluation.error_patterns import findings_by_goal
from seal.evaluation.goals import TaskChat, applies, no_gold
from seal.evaluation.rule_judge import expected_values, judge_trajectory

Decided = tuple[Decision, Cause | None]
"""Whether a goal is solved, and why it failed; None: it did not fail."""
CauseOf = Callable[[Evidence], Cause | None]
"""Why a goal failed, where its benchmark knows better than the calls show; None: it does not."""


def attribute(
    task: Task,
    trajectory: Trajectory,
    tools: Mapping[str, Tool],
    scores: Iterable[Score],
    metric: str | None = None,
    decided_by: DecidedBy | None = None,
    cause_of: CauseOf | None = None,
    scales: Mapping[str, Scale] | None = None,
) -> list[Decided]:
    """Return for each goal of a chat whether it is solved, and the first stage that explains.

    Args:
        task: What was played.
        trajectory: What was said and done.
        tools: The pool by id.
        scores: Of this task and trial.
        metric: Decide by this one; None: by the kind of each goal's gold (`decide`).
        decided_by: What the benchmark says of that.
        cause_of: What the benchmark says of a failure; it is asked before the calls are.
        scales: What scores mean, by metric; those of other metrics are rates.
    """
    chat = TaskChat(task, trajectory, tools)
    by_goal: list[dict[str, Score]] = [{} for _ in task.goals]
    for score in scores:
        if 0 <= score.goal < len(by_goal):
            by_goal[score.goal][score.metric] = score
    found: list[Decided] = []
    for position, (goal, own) in enumerate(zip(task.goals, by_goal, strict=True)):
        decision = decide(goal, chat.failure, own, metric, decided_by, scales)
        cause = None
        if decision.state == "error":
            broken = "chat" if trajectory.failed else "judge"  # or a metric after it
            cause = Cause("infrastructure", broken, decision.reason[:400])
        elif decision.state == "unsolved":
            calls = chat.once(findings_by_goal, chat).get(position, ())
            made = [f for f in calls if f.call is not None and f.kind != "finish"]
            evidence = Evidence(chat, position, own, decision, made)
            cause = not_retrieved(evidence) or _of_chat(evidence, cause_of)
        found.append((decision, cause))
    return found


def _of_chat(evidence: Evidence, cause_of: CauseOf | None) -> Cause:
    """Return the agent's first failure, or the user's where that came before it."""
    own = None if cause_of is None else cause_of(evidence)
    agent = own or _of_steps(evidence) or of_answer(evidence)
    user = broken_brief(evidence)
    if user is None or user.step is None:
        return agent
    lacks = agent.stage == "not_called" or agent.cause == OMITS
    if lacks or agent.step is None or user.step < agent.step:
        return user  # what is lacking could have been done until the end
    return agent


def _of_steps(evidence: Evidence) -> Cause | None:
    """Return what the calls explain, by the kind of gold that there is."""
    goal = evidence.goal
    if applies(evidence.task, goal):
        # Of worlds alone: other runs do not load what measures milestones.
        from seal.evaluation.attribution_steps import first_world_step

        return first_world_step(evidence)
    if goal.plans and no_gold(goal):
        return _needless(evidence)
    # Of calls alone: a run whose failures are others does not load it.
    from seal.evaluation.attribution_steps import first_gold_step, first_of_relevant

    if not no_gold(goal):
        return first_gold_step(evidence)
    return first_of_relevant(evidence)


def _needless(evidence: Evidence) -> Cause | None:
    """Return the first call of a goal that needs no tool; None where none was made."""
    if not evidence.calls:
        return None
    first = evidence.calls[0]
    said = f"{first.name} was called, and no tool was needed"
    return Cause("wrong_tool", "none_needed", said, first.step, first.name, None, first.name)


def gold_sets(evidence: Evidence) -> list[tuple[str, ...]]:
    """Return alternative sets of tools of which one is needed; empty: no tool is known to be.

    With gold calls there is a set for each plan; if a plan needs no tool, no set at all. Without
    gold calls the relevant tools are one set, or one set each if they are alternatives.
    """
    goal = evidence.goal
    plans = goal.plans or ()
    if any(plan.calls() for plan in plans):
        called = [plan.tools() for plan in plans]
        return called if all(called) else []
    if goal.any_relevant:
        return [(tool,) for tool in goal.relevant]
    return [tuple(goal.relevant)] if goal.relevant else []


def not_retrieved(evidence: Evidence) -> Cause | None:
    """Return which gold tools the agent was not offered; None where it had what it needed."""
    sets, offered = gold_sets(evidence), frozenset(evidence.offered or ())
    if not sets or evidence.offered is None or any(map(offered.issuperset, sets)):
        return None
    needed = min(sets, key=lambda tools: len(set(tools) - offered))
    missing = [tool for tool in needed if tool not in offered]
    cause = "not_offered"
    if any(tool not in evidence.tools for tool in missing):
        cause = "not_in_pool"
    elif any(ranking.goal == evidence.position for ranking in evidence.trajectory.rankings):
        cause = "below_cutoff"
    lacking, wanted, got = (
        listed([evidence.named(tool) for tool in tools])
        for tools in (missing, needed, sorted(offered))
    )
    said = f"{lacking} was not among the {counted(len(offered), 'tool')} offered"
    passed = len(needed) - len(missing)
    return Cause("not_retrieved", cause, said, None, lacking, wanted, got, len(needed), passed)


def broken_brief(evidence: Evidence) -> Cause | None:
    """Return the user's first error; None where it made none, or nobody audited it."""
    from seal.evaluation.scoring import USER_ERRORS

    flags = [
        flag
        for name in USER_ERRORS
        if name in evidence.scores
        for flag in evidence.scores[name].details.get("flags") or ()
        if isinstance(flag, dict) and type(flag.get("step")) is int and "flag" in flag
    ]
    first = min(flags, key=lambda flag: int(flag["step"]), default=None)
    if first is None:
        return None
    facts = [str(fact) for fact in first.get("facts") or ()]
    told = f": {listed(facts)}" if facts else ""
    kind, step = str(first["flag"]), int(first["step"])
    said = f"the user did {kind.replace('_', ' ')}{told}"
    return Cause("user", kind, said, step, received=str(first.get("said") or "")[:200])


def of_answer(evidence: Evidence) -> Cause:
    """Return what the end of a chat explains, else `unexplained`."""
    return (
        gave_up(evidence)
        or _contradicts(evidence)
        or _omits(evidence)
        or _judged(evidence)
        or Cause("unexplained", "no_evidence", "nothing that is certain explains it")
    )


def _contradicts(evidence: Evidence) -> Cause | None:
    """Return that an expected number is in a result, and the answer has another one instead."""
    if not any(map(evidence.succeeded, evidence.calls)):
        return None
    verdict = judge_trajectory(evidence.goal, evidence.said, evidence.steps)
    if verdict.label != "unsolved":
        return None
    return in_answer(evidence, "contradicts", verdict.reason)


def _omits(evidence: Evidence) -> Cause | None:
    """Return that the answer lacks what it had to state."""
    if no_gold(evidence.goal) == "no gold calls annotated" and not evidence.goal.answers:
        return None
    lacking = [
        listed([value for value in values if statement(evidence.said, value) == "absent"])
        for values in expected_values(evidence.goal)
    ]
    if not lacking or not all(lacking):  # one of the sets is enough
        return None
    names = listed(lacking, "or")
    said = f"the answer does not state {names}"
    return in_answer(evidence, OMITS, said, name=names, expected=names)


def _judged(evidence: Evidence) -> Cause | None:
    """Return the answer by elimination: what gold asks of calls is known, and all of it was done.

    A goal whose gold names no calls has no such proof.
    """
    plans = evidence.goal.plans
    if not plans:
        return None
    conditions = [m.condition for plan in plans for m in plan.milestones]
    asks = bool(conditions) and all(isinstance(one, Asked) for one in conditions)
    said = (
        f"what gold asks of calls was done; {evidence.decision.metric} is not reached: "
        f"{evidence.decision.reason or 'no reason given'}"
    )
    return in_answer(evidence, "asked_nothing" if asks else "judged", said)
