"""Gold that is a sentence, as ToolSandbox's is: its values are what the agent is to tell.

Source: ToolSandbox compares the last sentence by ROUGE-L, which stays in `similarity`. Here no
wording counts: state and calls are held exactly, and of each sentence its values must be told.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from seal.core import Plan, Step, Verdict, shortened
from seal.core.conditions import MESSAGE, Condition, Match, parts, tells_user
from seal.core.facts import Record
from seal.core.quantities import WEEKDAYS, Day, Time, Unit, read
from seal.core.slots import Slot
from seal.core.state_conditions import AllOf, DependsOn, StateHas
from seal.core.telling import PHONE, find, outcome
from seal.core.text import words
from seal.evaluation.goals import WHOLLY
from seal.evaluation.plans import in_chat, measure_plan, view
from seal.evaluation.words import ORDER, known_to, verdict_of

if TYPE_CHECKING:
    from seal.evaluation.goals import GoalChat


def judge_sentences(goal: GoalChat, match: Match) -> Verdict | None:
    """Return whether a plan is kept, but for the wording of what the agent says; None: it has none.

    State and calls count exactly. Of each sentence that the agent was to say, the values must be
    told (`slots_in`); where it has none, words leave it open.

    Raises:
        DataError: The plan cannot be measured.
    """
    verdicts = [_of_sentences(goal, plan, match) for plan in goal.goal.plans or ()]
    known = [verdict for verdict in verdicts if verdict is not None]
    return min(known, key=_rank, default=None)


def _rank(verdict: Verdict) -> int:
    return ("solved", "unsure", "unsolved").index(verdict.label)


def _of_sentences(goal: GoalChat, plan: Plan, match: Match) -> Verdict | None:
    plan = in_chat(plan, goal.trajectory, goal.position)
    asked = [
        (part, node)
        for node in plan.milestones
        for part in parts(node.condition)
        if _is_sentence(part)
    ]
    if not asked:
        return None
    nodes = tuple(replace(one, condition=_whatever_said(one.condition)) for one in plan.milestones)
    steps = view(goal.trajectory, goal.position, goal.task.initial_state, match)
    result = measure_plan(replace(plan, milestones=nodes), steps, match)
    if result.minefield_similarity:
        return Verdict("unsolved", "a minefield was hit", 2)
    missed = [one for one in result.milestones if one.similarity < WHOLLY]
    if missed or len(result.milestones) < len(plan.milestones):
        wholly = " wholly" if any(one.similarity for one in missed) else ""
        lacking = ", ".join(str(one.node) for one in missed)
        return Verdict("unsolved", f"not reached{wholly}: milestone {lacking}", 2)
    places = {one.node: one.index for one in result.milestones}
    by_index = {step.index: step for step in steps}
    messages = [step.content for step in goal.steps if tells_user(step)]
    record = goal.chat.once(known_to, goal)
    verdicts = [
        _told_one(_texts(part, by_index, places), messages, record, goal.goal.text)
        for part, _ in asked
    ]
    return max(verdicts, key=_rank)


def _is_sentence(part: Condition) -> bool:
    if not isinstance(part, (StateHas, DependsOn)):
        return False
    column = part.columns.get("content")
    table = MESSAGE if isinstance(part, DependsOn) else part.table
    return table == MESSAGE and column is not None and column.measure == "rouge_l"


def _whatever_said(condition: Condition) -> Condition:
    """Return a condition that any words meet."""
    if isinstance(condition, AllOf):
        return AllOf(tuple(map(_whatever_said, condition.conditions)))
    if isinstance(condition, (StateHas, DependsOn)) and _is_sentence(condition):
        rows = tuple({n: v for n, v in row.items() if n != "content"} for row in condition.rows)
        return StateHas(MESSAGE, rows)
    return condition


def _texts(part: Condition, by_index: Mapping[int, Step], places: Mapping[int, int]) -> list[str]:
    """Return the sentences of which one was to be said; of earlier results, filled in."""
    if isinstance(part, DependsOn):
        filled = part.targets(by_index[places[part.since]]) if part.since in places else ()
        rows = [row for target in filled if target is not None for row in target]
    else:
        rows = [*part.rows] if isinstance(part, StateHas) else []
    return [text for row in rows if isinstance(text := row.get("content"), str)]


def _told_one(
    texts: Sequence[str], messages: Sequence[str], record: Record, request: str
) -> Verdict:
    """Return whether one of some sentences was told."""
    if any(text == message for text in texts for message in messages):
        return Verdict("solved", "the answer is that of gold", 2)
    ways = [slots for text in texts if (slots := slots_in(text))]
    if not ways:
        return Verdict("unsure", f"gold is a sentence without a value: {shortened(texts[:1])}", 2)
    found = [find(slots, messages, record, request=request) for slots in ways]
    best = min(found, key=lambda way: ORDER.index(outcome(way)))
    return verdict_of(best, ways)


def slots_in(text: str) -> list[Slot]:
    """Return the values that a sentence tells: numbers, days, times, names, codes, what is so.

    Of a sentence that tells none: none, so that its words alone say nothing certain.
    """
    whole = read(text)
    placed = [
        (one.start, one.end, Slot(str(one.number), unit=one.unit or "")) for one in whole.quantities
    ]
    spans = [match.span() for match in PHONE.finditer(whole.plain)]
    for token in whole.tokens:
        is_value = isinstance(token.value, (Day, Time)) or token.value in WEEKDAYS
        if is_value or (isinstance(token.value, str) and any(map(str.isdigit, token.value))):
            spans.append((token.start, token.end))
    spans += [match.span() for match in _NAMED.finditer(whole.source)]
    placed += [(start, end, Slot(whole.said(start, end))) for start, end in spans]
    units = {
        place
        for one in whole.tokens
        if isinstance(one.value, Unit)
        for place in range(one.start, one.end)
    }
    found, reached = list[Slot](), 0
    for start, end, slot in sorted(placed, key=lambda one: (one[0], -one[1])):
        if start >= reached and start not in units:
            reached = end
            found.append(slot)
    so = _SO.search(whole.plain)
    if so is not None and not found:
        value = so[2] not in ("off", "disabled", "deactivated")
        found.append(Slot(value, name=" ".join(words(so[1])[-_SUBJECT:])))
    return found


_NAMED = re.compile(r"(?<=[a-z,:] )[A-Z]\w+(?: [A-Z]\w+)*|^[A-Z]\w+ [A-Z]\w+")
_SO = re.compile(
    r"([\w ]{3,40}?) (?:is|are|has been|was)(?: now| currently| already| turned| switched| set to)*"
    r" (on|off|enabled|disabled|activated|deactivated)\b"
)
_SUBJECT = 3
"""Words of what is on or off, at most."""
