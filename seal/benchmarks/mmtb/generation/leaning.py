"""What a mission leans on: values of its gold that only earlier missions say.

A value is said where a text states it (`core.conditions.stated`), of a day also as `18 May` or by
its weekday; truth values and whole numbers up to 31 are never evidence. Of what the agent replies,
its names and numbers are, and in a chat without calls its rarer words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files

from seal.benchmarks.mmtb.generation.days import day_forms, day_of
from seal.core.conditions import Asked, Called
from seal.core.conditions.messages import AGENT, USER, party
from seal.core.conditions.stated import states
from seal.core.types import JSON, Goal, Task, Tool
from seal.evaluation.leaves import Leaf, leaves

_COUNTS = 31
_NAME = re.compile(r"(?<=[\w,;:(\"'] )[A-Z][\w-]+|\b\w*\d[\w.,:-]*\b|\"[^\"]+\"")
_DAY = re.compile(r"\b\d{1,2} [A-Z][a-z]+\b")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Said:
    """What is said of a mission, and before it."""

    request: str
    answers: tuple[str, ...]
    """What the user answers to questions."""
    earlier: tuple[tuple[str, ...], ...]
    """Texts of each earlier mission."""
    reply: str
    """The golden one."""
    today: date | None

    @property
    def own(self) -> tuple[str, ...]:
        """What the user says in the mission itself."""
        return (self.request, *self.answers)


def said_of(task: Task, number: int) -> Said:
    """Return what is said of a task's mission, and before it."""
    replies = (task.persona or {}).get("replies") or [[]] * len(task.goals)
    goal = task.goals[number]
    texts = [tuple(_texts(earlier)) for earlier in task.goals[:number]]
    spoken = [
        step.content for step in goal.reference if party(step.author) == AGENT and step.content
    ]
    dates = [step.content for step in task.history]
    dates += [text for author, text in goal.labels.get("before", ()) if author == "system"]
    today = next((day for text in dates if (day := day_of(text)) is not None), None)
    return Said(
        goal.text, tuple(replies[number]), tuple(texts), spoken[-1] if spoken else "", today
    )


def leans(goal: Goal, said: Said, far: bool = False) -> bool:
    """Tell whether a mission needs something that earlier missions alone say.

    Args:
        goal: The mission.
        said: Of it, and before it.
        far: What is needed is not said by the mission right before it either.
    """
    texts = [text for mission in said.earlier for text in mission]
    last = said.earlier[-1] if far else ()

    def leant(value: Leaf) -> bool:
        here, near = (_is_said(value, among, said.today) for among in (said.own, last))
        return not here and not near and _is_said(value, texts, said.today)

    values = [value for called in _calls(goal) for value in _values(called)]
    if any(leant(value) for value in values):
        return True
    known = "\n".join((*said.own, *last)).casefold()
    before = "\n".join(texts).casefold()
    telling = [*_names(said.reply), *(() if any(_calls(goal)) else _words(said.reply))]
    return any(part not in known and part in before for part in telling)


def lacks(goal: Goal, said: Said, tools: Mapping[str, Tool]) -> bool:
    """Tell whether the request of a mission with a question lacks a value that is required.

    Args:
        goal: The mission.
        said: Of it, and before it.
        tools: By id.
    """
    before = (said.request, *(text for mission in said.earlier for text in mission))
    for called in _calls(goal):
        required = tools[called.tool].parameters.get("required", [])
        for name, argument in (called.arguments or {}).items():
            if name in required and not all(
                not _is_count(leaf) and _is_said(leaf, before, said.today)
                for leaf in _parts(argument.listed[0])
            ):
                return True
    return False


def told_before(goal: Goal, said: Said) -> list[Leaf]:
    """Return the values that the user answers, although they were said before."""
    if not any(
        isinstance(m.condition, Asked) for plan in goal.plans or () for m in plan.milestones
    ):
        return []
    before = (said.request, *(text for mission in said.earlier for text in mission))
    return [
        value
        for called in _calls(goal)
        for value in _values(called)
        if _is_said(value, said.answers, said.today) and _is_said(value, before, said.today)
    ]


def _texts(goal: Goal) -> Iterator[str]:
    yield goal.text
    for step in goal.reference:
        speaks = party(step.author) == AGENT or step.author == USER
        if speaks and step.content and step.call is None and step.result is None:
            yield step.content


def _calls(goal: Goal) -> Iterator[Called]:
    for plan in goal.plans or ():
        yield from plan.calls()


def _values(called: Called) -> Iterator[Leaf]:
    """Yield the values of a call that are evidence."""
    for argument in (called.arguments or {}).values():
        for leaf in _parts(argument.listed[0]):
            if not _is_count(leaf):
                yield leaf


def _is_count(leaf: Leaf) -> bool:
    return isinstance(leaf, float) and leaf.is_integer() and abs(leaf) <= _COUNTS


def _parts(value: JSON) -> Iterator[Leaf]:
    """Yield the texts and numbers of an argument, day and time apart, each whole."""
    for leaf in leaves(value if not isinstance(value, str) else [value]):
        if isinstance(leaf, float):
            yield leaf
        elif leaf == value or not isinstance(value, str):
            yield from leaf.split("T") if day_of(leaf.partition("T")[0]) else (leaf,)


def _is_said(value: Leaf, texts: Sequence[str], today: date | None) -> bool:
    day = day_of(value) if isinstance(value, str) else None
    forms: set[Leaf] = {value} if day is None else set(day_forms(day, today))
    return any(states(text, form, {}) for text in texts for form in forms)


def _names(reply: str) -> Iterator[str]:
    """Yield the names and numbers of a reply in lower case."""
    for found in [*_NAME.findall(reply), *_DAY.findall(reply)]:
        if len(found) > 2:
            yield found.strip('"').casefold()


def _words(reply: str) -> Iterator[str]:
    """Yield what of a reply is no coincidence, in lower case: its rarer words."""
    for found in _WORD.findall(reply.casefold()):
        if len(found) > 3 and found not in _common():
            yield found


@cache
def _common() -> frozenset[str]:
    """Return words that say nothing of what a text is about."""
    words = files(__package__).joinpath("common_words.txt").read_text(encoding="utf-8")
    return frozenset(words.split())
