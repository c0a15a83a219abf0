"""Who spoke in a chat, what it took, and which errors each role caught and caused.

All by rule, from the trajectory and the gold:

- verifier: looks at the calls and results of one reply. They are wrong where a result is an error,
  or where the goal has gold calls and a call is accepted by none of them.
- checker: looks at a final answer. It is wrong where `RuleJudge` with the gold says unsolved, right
  where it says solved; where it is unsure, the verdict counts in neither.
- planner: its sub-steps. One is wrong where the goal has gold calls and none of them was made for
  it; nobody is caught by a plan.

Sent back and wrong: caught. Sent back and right: caused. Let pass and wrong: missed. Let pass and
right: passed. A checker that says unsure neither sends back nor lets pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field

from seal.core.conditions import Called
from seal.core.types import Goal, Step, Task, ToolCall, Trajectory
from seal.evaluation.goals import goal_steps, made_calls
from seal.evaluation.rule_judge import RuleJudge

PLANNER = "planner"
VERIFIER = "verifier"
CHECKER = "checker"
MANAGER = "execution_manager"
ORCHESTRATOR = "orchestrator"
_JUDGED = RuleJudge()


@dataclass(slots=True)
class Work:
    """What one role did."""

    replies: int = 0
    goals: int = 0
    """In which it spoke."""
    tokens_in: int = 0
    tokens_out: int = 0
    caught: int = 0
    caused: int = 0
    missed: int = 0
    passed: int = 0
    _goals: set[tuple[str, int, int]] = field(default_factory=set, repr=False)

    def record(self) -> dict[str, int]:
        """Return the counts."""
        return {name: value for name, value in asdict(self).items() if name != "_goals"}


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
            key = (task.id, trajectory.trial, position)
            self._count_replies(steps, key)
            for role, outcome in _outcomes(goal, steps):
                work = self.roles[role]
                setattr(work, outcome, getattr(work, outcome) + 1)

    def _count_replies(self, steps: Sequence[Step], key: tuple[str, int, int]) -> None:
        turns = set()
        for step in steps:
            work = self.roles.setdefault(step.author, Work())
            if step.turn not in turns:
                turns.add(step.turn)
                work.replies += 1
            if key not in work._goals:
                work._goals.add(key)
                work.goals += 1
            if step.usage is not None:
                work.tokens_in += step.usage.tokens_in
                work.tokens_out += step.usage.tokens_out


def _outcomes(goal: Goal, steps: Sequence[Step]) -> Iterator[tuple[str, str]]:
    gold = _gold_calls(goal)
    for place, step in enumerate(steps):
        if step.author == VERIFIER:
            wrong = _wrong_step(gold, steps[:place])
            if wrong is not None:
                yield VERIFIER, _outcome(not _accepts(step), wrong)
        elif step.author == CHECKER:
            verdict = _JUDGED.judge(goal, _answer(steps[:place]), steps[:place])
            label = step.content.partition(":")[0].strip()
            if verdict.label != "unsure" and label in ("solved", "unsolved"):
                yield CHECKER, _outcome(label == "unsolved", verdict.label == "unsolved")
    if gold:
        for made in _made_by_substep(steps):
            fitting = any(_is_gold(call, gold) for call in made)
            yield PLANNER, "passed" if fitting else "caused"


def _outcome(sent_back: bool, wrong: bool) -> str:
    if sent_back:
        return "caught" if wrong else "caused"
    return "missed" if wrong else "passed"


def _gold_calls(goal: Goal) -> list[Called]:
    return [called for plan in goal.plans or () for called in plan.calls()]


def _accepts(step: Step) -> bool:
    return step.content.strip().casefold().startswith("accepted")


def _answer(steps: Sequence[Step]) -> str:
    return steps[-1].content if steps else ""


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


def _made_by_substep(steps: Sequence[Step]) -> Iterator[list[ToolCall]]:
    """Yield the calls that were made for each sub-step of a plan."""
    planned = next((n for n, step in enumerate(steps) if step.author == PLANNER), None)
    if planned is None:
        return
    handed = [
        n
        for n, step in enumerate(steps)
        if n > planned and step.author == ORCHESTRATOR and step.recipient == MANAGER
    ]
    for start, end in zip(handed, [*handed[1:], len(steps)], strict=True):
        yield made_calls(steps[start:end])


def roles_record(work: Mapping[str, Work]) -> list[dict[str, int | str]]:
    """Return the counts of each role as JSON, in the order of their names."""
    return [{"role": role, **work[role].record()} for role in sorted(work)]
