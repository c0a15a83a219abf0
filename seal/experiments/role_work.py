"""What each role of a team did, and which errors it caught and caused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, NamedTuple, get_args

from seal.core import Goal, Step, Task, ToolCall, Trajectory
from seal.core.conditions import Called
from seal.evaluation.goals import goal_steps, made_calls
from seal.evaluation.rule_judge import RuleJudge
from seal.runs.run import RunFolder

# -- What each role of a run did.


def work_of(run: RunFolder) -> dict[str, Work]:
    """Return what each role did in the chats of a run's tasks, its tokens as metered."""
    work, tools = RoleWork(), run.tools()
    for task, trajectory in run.chats():
        work.add(task.of_tools(tools), trajectory)
    usage = run.summary().get("usage") or {}
    metered = {row["role"]: row for row in usage.get("roles", ())}
    for role in work.roles.keys() & metered.keys():
        work.roles[role].tokens_in = metered[role]["tokens_in"]
        work.roles[role].tokens_out = metered[role]["tokens_out"]
    return work.roles


# -- Who spoke in a chat, what it took, and which errors each role caught and caused.
#
# All by rule, from the trajectory and the gold:
#
# - verifier: looks at the calls and results of one reply. They are wrong where a result is an
#   error, or where the goal has gold calls and a call is accepted by none of them.
# - checker: looks at a final answer. It is wrong where `RuleJudge` with the gold says unsolved,
#   right where it says solved; where it is unsure, the verdict counts in neither.
# - planner: its sub-steps. One is wrong where the goal has gold calls and none of them was made for
#   it; nobody is caught by a plan.
#
# Sent back and wrong: caught. Sent back and right: caused. Let pass and wrong: missed. Let pass and
# right: passed. A checker that says unsure neither sends back nor lets pass.

PLANNER = "planner"
VERIFIER = "verifier"
CHECKER = "checker"
MANAGER = "execution_manager"
ORCHESTRATOR = "orchestrator"
_JUDGED = RuleJudge()
Outcome = Literal["caught", "caused", "missed", "passed"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


class Place(NamedTuple):
    """A step of a chat."""

    task: str
    trial: int
    step: int


@dataclass(slots=True)
class Work:
    """What one role did."""

    replies: int = 0
    goals: set[tuple[str, int, int]] = field(default_factory=set)
    """(task id, trial, goal) in which it spoke."""
    tokens_in: int = 0
    tokens_out: int = 0
    places: dict[Outcome, list[Place]] = field(
        default_factory=lambda: {outcome: [] for outcome in OUTCOMES}
    )
    """Where it caught an error, caused one, missed one, or rightly let pass."""

    def count(self, outcome: Outcome) -> int:
        """Return how often it did so."""
        return len(self.places[outcome])

    def record(self) -> dict[str, int]:
        """Return the counts."""
        tokens = {"tokens_in": self.tokens_in, "tokens_out": self.tokens_out}
        return {
            **{"replies": self.replies, "goals": len(self.goals), **tokens},
            **{outcome: self.count(outcome) for outcome in OUTCOMES},
        }


class RoleWork:
    """Adds up what roles did over chats."""

    def __init__(self) -> None:
        self.roles: dict[str, Work] = {}

    def add(self, task: Task, trajectory: Trajectory) -> None:
        """Count one chat; one that the infrastructure ended counts for nothing."""
        if trajectory.failed:
            return
        for position, goal in enumerate(task.goals):
            steps = goal_steps(trajectory, position)
            turns = set()
            for step in steps:
                work = self.roles.setdefault(step.author, Work())
                work.replies += step.turn not in turns
                turns.add(step.turn)
                work.goals.add((task.id, trajectory.trial, position))
                if step.usage is not None:
                    work.tokens_in += step.usage.tokens_in
                    work.tokens_out += step.usage.tokens_out
            for role, outcome, step in _outcomes(goal, steps):
                place = Place(task.id, trajectory.trial, step.index)
                self.roles[role].places[outcome].append(place)


def _outcomes(goal: Goal, steps: Sequence[Step]) -> Iterator[tuple[str, Outcome, Step]]:
    """Yield which role did what, and in which step it did so."""
    gold = [called for plan in goal.plans or () for called in plan.calls()]
    for place, step in enumerate(steps):
        if step.call is not None:
            continue
        if step.author == VERIFIER:
            wrong = _wrong_step(gold, _before(steps, place))
            accepted = step.content.strip().casefold().startswith("accepted")
            if wrong is not None:
                yield VERIFIER, _outcome(not accepted, wrong), step
        elif step.author == CHECKER:
            before = _before(steps, place)
            answer = before[-1].content if before else ""
            verdict = _JUDGED.judge(goal, answer, before)
            label = step.content.partition(":")[0].strip()
            if verdict.label != "unsure" and label in ("solved", "unsolved"):
                wrong = verdict.label == "unsolved"
                yield CHECKER, _outcome(label == "unsolved", wrong), step
    if gold:
        for handed, made in _made_by_substep(steps):
            fitting = any(_is_gold(call, gold) for call in made)
            yield PLANNER, "passed" if fitting else "caused", handed


def _before(steps: Sequence[Step], place: int) -> list[Step]:
    """Return what was said before a step, without what its author tried by calls of its own."""
    author = steps[place].author
    own = {s.call.id for s in steps[:place] if s.call is not None and s.author == author}
    return [
        s
        for s in steps[:place]
        if not (s.call and s.call.id in own) and not (s.result and s.result.call_id in own)
    ]


def _outcome(sent_back: bool, wrong: bool) -> Outcome:
    if sent_back:
        return "caught" if wrong else "caused"
    return "missed" if wrong else "passed"


def _wrong_step(gold: Sequence[Called], before: Sequence[Step]) -> bool | None:
    """Tell whether the reply that was just run is wrong; None: nothing was run."""
    results = [step for step in before if step.result is not None]
    if not results:
        return None
    ids = {s.result.call_id for s in results if s.result and s.turn == results[-1].turn}
    failed = any(s.result.error for s in results if s.result and s.result.call_id in ids)
    calls = [s.call for s in before if s.call is not None and s.call.id in ids]
    return failed or (bool(gold) and not all(_is_gold(call, gold) for call in calls))


def _is_gold(call: ToolCall, gold: Sequence[Called]) -> bool:
    return any(each.tool == call.tool and each.accepts(call.arguments) for each in gold)


def _made_by_substep(steps: Sequence[Step]) -> Iterator[tuple[Step, list[ToolCall]]]:
    """Yield the step that hands over each sub-step of a plan, and the calls made for it."""
    planned = next((n for n, step in enumerate(steps) if step.author == PLANNER), None)
    if planned is None:
        return
    handed = [
        n
        for n, step in enumerate(steps)
        if n > planned and step.author == ORCHESTRATOR and step.recipient == MANAGER
    ]
    for start, end in pairwise([*handed, len(steps)]):
        yield steps[start], made_calls(steps[start:end])


def roles_record(work: Mapping[str, Work]) -> list[dict[str, int | str]]:
    """Return the counts of each role as JSON, in the order of their names."""
    return [{"role": role, **work[role].record()} for role in sorted(work)]
