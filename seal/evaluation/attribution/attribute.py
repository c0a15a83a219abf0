"""Every stage asked in order, for each goal of a chat."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from seal.core.types import Score, Task, Tool, Trajectory
from seal.evaluation.attribution.answers import OMITS, of_answer
from seal.evaluation.attribution.evidence import Evidence
from seal.evaluation.attribution.gold_steps import first_gold_step
from seal.evaluation.attribution.relevant import first_of_relevant
from seal.evaluation.attribution.retrieval import not_retrieved
from seal.evaluation.attribution.stages import Attribution, Cause
from seal.evaluation.attribution.users import broken_brief
from seal.evaluation.attribution.verdicts import DecidedBy, Decision, decide
from seal.evaluation.attribution.world_steps import first_world_step
from seal.evaluation.error_patterns.findings import Finding, diagnose
from seal.evaluation.error_patterns.gold import no_gold
from seal.evaluation.milestones.metrics import applies

Decided = tuple[Decision, Attribution | None]
"""Whether a goal is solved; why not, where it is not."""
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
) -> list[Decided]:
    """Return for each goal of a chat whether it is solved, and the first stage that explains.

    Args:
        task: What was played.
        trajectory: What was said and done.
        tools: The pool by id.
        scores: Of this task and trial.
        metric: Decide by this one; None: by the kind of each goal's gold (`verdicts`).
        decided_by: What the benchmark says of that.
        cause_of: What the benchmark says of a failure; it is asked before the calls are.
    """
    by_goal: list[dict[str, Score]] = [{} for _ in task.goals]
    for score in scores:
        if 0 <= score.goal < len(by_goal):
            by_goal[score.goal][score.metric] = score
    decisions = [
        decide(goal, trajectory, found, metric, decided_by)
        for goal, found in zip(task.goals, by_goal, strict=True)
    ]
    calls: dict[int, list[Finding]] = {}
    if any(decision.state in ("unsolved", "unsure") for decision in decisions):
        for finding in diagnose(trajectory, tools):
            if finding.call is not None and finding.kind != "finish":
                calls.setdefault(finding.goal, []).append(finding)
    found = []
    for position, decision in enumerate(decisions):
        evidence = Evidence(
            task, trajectory, position, tools, by_goal[position], decision, calls.get(position, ())
        )
        found.append((decision, _attributed(evidence, cause_of)))
    return found


def _attributed(evidence: Evidence, cause_of: CauseOf | None) -> Attribution | None:
    decision = evidence.decision
    if decision.state in ("solved", "unscored"):
        return None
    if decision.state == "error":
        cause = Cause("infrastructure", _broken(evidence), decision.reason[:400])
    else:
        cause = not_retrieved(evidence) or _of_chat(evidence, cause_of)
    return Attribution(
        evidence.task.id,
        evidence.trajectory.trial,
        evidence.position,
        cause,
        decision.metric,
        decision.state,
        decision.reason[:400],
    )


def _broken(evidence: Evidence) -> str:
    """Return what broke: the chat, or the judge or a metric after it."""
    return "chat" if evidence.trajectory.failed else "judge"


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
        return first_world_step(evidence)
    if not no_gold(goal):
        return first_gold_step(evidence)
    if goal.plans:
        return _needless(evidence)
    return first_of_relevant(evidence)


def _needless(evidence: Evidence) -> Cause | None:
    """Return the first call of a goal that needs no tool; None where none was made."""
    if not evidence.calls:
        return None
    first = evidence.calls[0]
    name = first.call.name if first.call is not None else ""
    said = f"{name} was called, and no tool was needed"
    return Cause("wrong_tool", "none_needed", said, first.step, name, None, name)
