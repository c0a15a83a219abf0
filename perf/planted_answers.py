"""What an answer says, altered: lines of `planted.py`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from planted_faults import Planted, faultless
from planted_lab import Lab, Seen, line

import seal
from seal.core import Completion, Request, Task
from seal.core.conditions import tells_user

SAMPLES = ("sample", "toolscan-sample")
"""The samples whose gold says in values what is to be told."""
NONSENSE = "The moon is a purple cheese and 17 dragons agree."
_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?!\w)")

Goals = dict[tuple[str, int], Any]
"""(task, goal) to what is known of it."""


@dataclass(frozen=True)
class Altered:
    """The oracle's last words in each message to its user, altered."""

    alter: Callable[[str], str]

    def __call__(self, request: Request, said: Completion, task: Task) -> Completion:
        """Return what is said instead."""
        return said if said.calls else replace(said, content=self.alter(said.content))

    @property
    def __name__(self) -> str:
        return "altered"


def shifted(place: int) -> Callable[[str], str]:
    """Return what adds 13 to the number at a place of a text."""

    def alter(text: str) -> str:
        for number, found in enumerate(_NUMBER.finditer(text)):
            if number == place:
                figures = found[0].replace(",", "")
                new = f"{float(figures) + 13:.{len(figures.partition('.')[2])}f}"
                return text[: found.start()] + new + text[found.end() :]
        return text

    return alter


def played(lab: Lab, bench: str, model: Any) -> tuple[Goals, Goals]:
    """Return the verdict on each goal, and what was said last to its user."""
    run = lab.play(bench, model, team="direct", cache="off")
    verdicts = {
        (one.task_id, one.goal): one.value
        for one in run.folder.scores()
        if one.metric == "pass_rate"
    }
    answers = {
        (chat.task_id, step.goal): step.content
        for chat in run.folder.trajectories()
        for step in chat.steps
        if tells_user(step)
    }
    return verdicts, answers


def altered(
    lab: Lab, bench: str, alter: Callable[[str], str], told: Goals
) -> Iterator[float | None]:
    """Yield the verdicts on the goals whose answer differs from what was told."""
    verdicts, answers = played(lab, bench, Planted(Altered(alter)))
    yield from (verdicts[goal] for goal in told if answers.get(goal) != told[goal])


def _words(found: Counter[float | None]) -> str:
    told = f"{found[1.0]} solved, {found[0.0]} failed, {found[None]} undecided"
    return f"{found.total()} altered: {told}"


@line(
    "Each number of each answer of two samples, one by one, + 13, after the oracle's calls",
    "60 of 1,037 are solved, of four samples",
    "none is solved; the oracle's own answers all are",
)
def altered_numbers(lab: Lab) -> Seen:
    found: Counter[float | None] = Counter()
    right: Counter[float | None] = Counter()
    for bench in SAMPLES:
        verdicts, answers = played(lab, bench, Planted(faultless))
        right.update(verdicts.values())
        told = {goal: text for goal, text in answers.items() if verdicts.get(goal) == 1.0}
        for place in count():
            new = list(altered(lab, bench, shifted(place), told))
            if not new:
                break
            found.update(new)
    unsolved = right.total() - right[1.0]
    return Seen(
        f"{_words(found)}; own answers: {unsolved} of {right.total()} not solved", not found[1.0]
    )


@line(
    "Nonsense in the place of each answer of three samples, after the oracle's calls",
    "12 of 53 of toolsandbox-sample are solved",
    "none is solved",
)
def nonsense(lab: Lab) -> Seen:
    found: Counter[float | None] = Counter()
    for bench in (*SAMPLES, "toolsandbox-sample"):
        verdicts, answers = played(lab, bench, Planted(faultless))
        told = {goal: text for goal, text in answers.items() if verdicts.get(goal) == 1.0}
        found.update(altered(lab, bench, lambda text: NONSENSE, told))
    return Seen(_words(found), not found[1.0])


RIGHT = (
    "They cost 410.60 euros.",
    "€410.60 for the two of you.",
    "Four hundred ten euros and sixty cents, and the train leaves at quarter to eight.",
    "It is 62.5 km, about 38.8 miles, for EUR 410.60; departure 7.45pm.",
)
FOREIGN = (
    "Die Fahrkarten kosten 410,60 Euro für die beiden.",
    "Les deux billets coûtent 410,60 euros et le train part à 19h45.",
    "两张票共410.60欧元。",
)


def fare(city: str) -> dict[str, Any]:
    """Tell the fare to a city."""
    return {"city": city, "eur": 410.6, "at": "19:45", "km": 62.5}


@line(
    "A right call, and its answer in other words, units and languages",
    "unsolved, 0.0, in German, French, Chinese and in number words",
    "solved in English; undecided in another language",
)
def other_words(lab: Lab) -> Seen:
    task = seal.ask("Two tickets to Graz?", seal.called("fare", city="Graz"), answer="410.60 EUR")
    bench = seal.Benchmark("fares", tools=[fare], tasks=[task])
    told = {
        text: lab.says(bench, ("fare", {"city": "Graz"}), answer=text)["pass_rate"]
        for text in (*RIGHT, *FOREIGN)
    }
    solved = sum(told[text] == 1.0 for text in RIGHT)
    undecided = sum(told[text] is None for text in FOREIGN)
    return Seen(
        f"{solved} of {len(RIGHT)} solved; {undecided} of {len(FOREIGN)} undecided",
        solved == len(RIGHT) and undecided == len(FOREIGN),
    )
