"""What an agent's words come to: whether all that gold asks to be told is told.

What is read of the words is said in `seal.core.telling`; here stand the slots of a goal, what was
known when the agent spoke, and the verdict with its reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from seal.core import Goal, Step, Task, Verdict
from seal.core.conditions import Replied, parts, tells_user
from seal.core.facts import Record
from seal.core.slots import Slot, says_something
from seal.core.statements import listed_values
from seal.core.telling import Finding, find, outcome

if TYPE_CHECKING:
    from seal.evaluation.goals import GoalChat


def slots_for(goal: Goal) -> list[tuple[Slot, ...]]:
    """Return what gold asks to be told: sets of slots, of which one must be told.

    Answers that gold gives as texts are read once: each value that they list is a slot.
    """
    if goal.tells:
        return [goal.tells]
    sets = [[one] for one in goal.answers] if goal.any_answer else [[*goal.answers]]
    if not goal.answers:
        replies = [
            part
            for plan in goal.plans or ()
            for milestone in plan.milestones
            for part in parts(milestone.condition)
            if isinstance(part, Replied)
        ]
        sets = [[*reply.states] for reply in replies]
    told = [[text for text in one if says_something(text)] for one in sets]
    return [tuple(slot for text in one for slot in _slots_in(text)) for one in told if one]


def _slots_in(text: str) -> Iterator[Slot]:
    yield from map(Slot, next(iter(listed_values(text)), [text]))


def record_of(texts: Iterable[str], steps: Iterable[Step], today: date | None = None) -> Record:
    """Return what some texts, a user, calls and their results tell."""
    record = Record(texts, today)
    for step in steps:
        record.add_step(step)
    return record


def findings_of(goal: GoalChat) -> list[Finding]:
    """Return what was told of each slot of a goal; none where the agent said nothing."""
    if not goal.answer:
        return []
    record = goal.chat.once(known_to, goal)
    return judge_words(goal.goal, goal.answer, goal.steps, record)[1]


def known_to(goal: GoalChat) -> Record:
    """Return what anyone but the agent told up to the end of a goal, and what gold tells."""
    steps = (step for step in goal.trajectory.steps if step.goal <= goal.position)
    return record_of(gold_texts(goal), steps, _today(goal.task))


def gold_texts(goal: GoalChat) -> list[str]:
    """Return the texts of a task up to a goal: what was said before, requests, and gold's."""
    texts = [step.content for step in (*goal.task.before, *goal.goal.reference)]
    texts += gold_sentences(goal.goal)
    texts += [one.text for one in goal.task.goals[: goal.position + 1]]
    return [
        *texts,
        *(text for slots in slots_for(goal.goal) for slot in slots for text in slot.texts),
    ]


def gold_sentences(goal: Goal) -> list[str]:
    """Return the sentences that a goal's plans ask the agent for, as they are written."""
    asked = (
        p for plan in goal.plans or () for one in plan.milestones for p in parts(one.condition)
    )
    rows = (row for part in asked for row in getattr(part, "rows", ()))
    return [text for row in rows if isinstance(text := row.get("content"), str)]


def _today(task: Task) -> date | None:
    """Return the day on which the clock of a task's world begins; None: it has no such clock."""
    clock = task.metadata.get("clock")
    start = clock.get("start") if isinstance(clock, dict) else None
    if not isinstance(start, (int, float)) or not isinstance(clock, dict):
        return None
    return datetime.fromtimestamp(start, ZoneInfo(str(clock.get("zone", "UTC")))).date()


def judge_words(
    goal: Goal, answer: str, steps: Sequence[Step] = (), record: Record | None = None
) -> tuple[Verdict | None, list[Finding]]:
    """Return what the words of an agent prove of a goal, and what was told of each slot.

    Args:
        goal: With its gold; of alternatives the one that was told best counts.
        answer: The final answer.
        steps: What was said and done for the goal.
        record: What is known besides, and of these steps; None: of these alone.

    Returns:
        None: gold names nothing to tell.
    """
    sets = slots_for(goal)
    if not sets:
        return None, []
    texts = [goal.text, *(text for slots in sets for slot in slots for text in slot.texts)]
    known = record or record_of(texts, steps)
    messages = [step.content for step in steps if tells_user(step)]
    if answer not in messages:
        messages.append(answer)
    ways = [find(slots, messages, known, request=goal.text) for slots in sets]
    best = min(ways, key=lambda way: ORDER.index(outcome(way)))
    return verdict_of(best, sets), best


def verdict_of(best: Sequence[Finding], sets: Sequence[Sequence[Slot]]) -> Verdict:
    """Return what the findings of the set of slots that was told best prove."""
    result = outcome(best)
    if result == "told":
        return Verdict("solved", f"the answer states {_listed(best)}")
    if result == "undecided":
        unread = _listed([one for one in best if one.state == "undecided"])
        return Verdict("unsure", f"words do not tell whether the answer states {unread}", 2)
    bad = [one for one in best if one.state in ("contradicted", "left out")]
    if len(sets) > 1 and bad[0].state == "left out":
        wanted = " or ".join(repr(text) for slots in sets for text in slots[0].texts)
        return Verdict("unsolved", f"the answer does not state {wanted}", 2)
    return Verdict("unsolved", reason_of(bad[0]), 2)


ORDER = ("told", "undecided", "untold")
"""What findings come to, the best first."""


def reason_of(finding: Finding) -> str:
    """Return in words why a slot is not told."""
    slot = finding.slot
    wanted = " or ".join(map(repr, slot.texts))
    name = f"{slot.name}: " if slot.name and slot.type != "truth" else ""
    if slot.type == "question":
        return f"{name}the agent does not ask for {wanted}"
    if slot.type == "lack":
        claims = f"the agent claims a deed: {finding.said!r}"
        lacks = f"the agent does not say that it lacks {wanted}"
        return name + (claims if finding.state == "contradicted" else lacks)
    if slot.type == "truth":
        wanted = f"that {slot.name or 'it'} is {'so' if slot.value else 'not so'}"
    if finding.denied:
        return f"{name}the answer denies {wanted}"
    if finding.state == "contradicted":
        return f"{name}the answer says {finding.said!r}, gold is {wanted}"
    return f"{name}the answer does not state {wanted}"


def _listed(findings: Sequence[Finding]) -> str:
    shown = ", ".join(" or ".join(map(repr, one.slot.texts)) for one in findings[:3])
    return f"{shown} and {len(findings) - 3} more" if len(findings) > 3 else shown
