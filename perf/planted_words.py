"""Lies in right answers, and right answers in other words: lines of `planted.py`, and a page.

    python perf/planted_words.py [--short] [--out results/planted_words.md]

Lies: the oracle makes its calls in four samples, and what it says is altered. No altered answer
may be solved. Values: an agent looks a value up, and tells it in twenty right ways and ten wrong
ones. `perf/samples/told_values.json` has them; they were written without a look at the rules.
The page tells how many are solved, failed and undecided, and lists those that are not as they
should be. `--short` takes a tenth of the dialogues of mmtb-sample. The exit code is 1 if a lie is
solved, or too many right answers are not.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from planted_lab import Lab, Says, Seen, line

import seal
from seal.core import ChatModel, Step, Task, Trajectory
from seal.core.conditions import tells_user
from seal.core.slots import Slot
from seal.evaluation import score_trajectory, usual_metrics
from seal.evaluation.pass_rates import PassRate
from seal.evaluation.scoring import OfRequests, inmost
from seal.pools.other_words import LIES, Said, Texts, names_in

SAMPLES = ("sample", "toolsandbox-sample", "toolscan-sample", "mmtb-sample")
LONG = "mmtb-sample"
SHARE = 10
"""Of the long sample, each so manieth dialogue is altered in a short run."""
MOST = 0.03
"""Share of right answers that may fail, and that may be undecided."""
SHOWN = 12
"""Lies of one kind and sample that the page shows at most."""
VALUES = Path(__file__).parent / "samples" / "told_values.json"


class Verdict(NamedTuple):
    """What was made of one answer."""

    place: str
    """Where it was said: sample, task and goal, or the value."""
    kind: str
    text: str
    value: float | None
    """1: solved, 0: failed, None: undecided."""
    reason: str


# -- Lies: what is said instead of a right answer (`seal.pools.other_words`).

DEEDS = frozenset(
    {
        *("book", "order", "return", "transfer", "playlist", "report", "thermostat", "power"),
        *("set", "create_event", "move_event", "cancel_event"),
    }
)
DEED_BEGINS = ("add_", "modify_", "remove_", "set_", "send_")
"""Tools that change something: their names, and how names begin in toolsandbox-sample."""


def _deed(step: Step) -> bool:
    name = step.call.name if step.call else ""
    return name in DEEDS or name.startswith(DEED_BEGINS)


def _goals(chat: Trajectory) -> dict[int, Texts]:
    told: dict[int, list[str]] = defaultdict(list)
    for step in chat.steps:
        if tells_user(step):
            told[step.goal].append(step.content)
    return {goal: tuple(texts) for goal, texts in told.items()}


def _saying(chat: Trajectory, instead: Mapping[int, Texts]) -> Trajectory:
    """Return a chat in which other texts are said for some goals, the last as the answer."""
    left = {goal: iter(texts) for goal, texts in instead.items()}
    answers = enumerate(chat.answers)
    return replace(
        chat,
        steps=tuple(
            replace(step, content=next(left[step.goal]))
            if tells_user(step) and step.goal in left
            else step
            for step in chat.steps
        ),
        answers=tuple(instead[n][-1] if n in instead else answer for n, answer in answers),
    )


class _Scored:
    """A run of the oracle, whose chats are scored with other words."""

    def __init__(self, lab: Lab, bench: str) -> None:
        run = lab.play(bench, "oracle", team="direct", cache="off")
        self.bench = bench
        self.tasks = {task.id: task for task in run.folder.tasks()}
        self.tools = run.folder.tools()
        self.chats = list(run.folder.trajectories())
        self._metrics = [
            one
            for one in usual_metrics()
            if isinstance(one, OfRequests) and isinstance(inmost(one), PassRate)
        ]

    def scores(self, chat: Trajectory) -> dict[int, Any]:
        """Return goal to the verdict on it."""
        task = self.tasks[chat.task_id]
        found = score_trajectory(task, chat, self.tools, self._metrics)
        return {score.goal: score for score in found if score.metric == "pass_rate"}

    def lies(self, share: slice) -> Iterator[Verdict]:
        """Yield the verdict on each altered answer to a goal that the oracle solves.

        Args:
            share: Of the chats, whose answers are altered.
        """
        answers = [texts[-1] for chat in self.chats for texts in _goals(chat).values()]
        names = sorted({name for answer in answers for name in names_in(answer)})
        for chat in self.chats[share]:
            right = {goal for goal, one in self.scores(chat).items() if one.value == 1.0}
            said = {
                goal: Said(
                    texts,
                    any(_deed(step) for step in chat.steps if step.goal == goal),
                    names,
                )
                for goal, texts in _goals(chat).items()
                if goal in right
            }
            for kind, lie in LIES.items():
                yield from self._told(chat, kind, {goal: lie(one) for goal, one in said.items()})

    def _told(
        self, chat: Trajectory, kind: str, lies: Mapping[int, Iterator[Texts]]
    ) -> Iterator[Verdict]:
        """Yield the verdicts; the first lies about all goals are scored at once, and so on."""
        for told in zip_longest(*lies.values()):
            instead = {goal: texts for goal, texts in zip(lies, told, strict=True) if texts}
            scores = self.scores(_saying(chat, instead))
            for goal, texts in instead.items():
                place = f"{self.bench} {chat.task_id} {goal + 1}"
                yield _verdict(place, kind, texts[-1], scores[goal])


def _verdict(place: str, kind: str, text: str, score: Any) -> Verdict:
    return Verdict(place, kind, text, score.value, score.details.get("reason") or score.reason)


def lies(short: bool) -> tuple[Verdict, ...]:
    """Return the verdicts on all lies; each core takes a part of the chats."""
    cores = os.cpu_count() or 1
    steps = {bench: SHARE if short and bench == LONG else 1 for bench in SAMPLES}
    parts = [
        (bench, core * step, cores * step) for bench, step in steps.items() for core in range(cores)
    ]
    with ProcessPoolExecutor(cores) as pool:
        return tuple(
            one for found in pool.map(_lies_of, *zip(*parts, strict=True)) for one in found
        )


def _lies_of(bench: str, first: int, step: int) -> tuple[Verdict, ...]:
    """Return the verdicts on the lies in a part of a sample's chats."""
    with tempfile.TemporaryDirectory() as folder:
        return tuple(_Scored(Lab(Path(folder)), bench).lies(slice(first, None, step)))


# -- Values: told by an agent that looked them up.

RIGHT = "right"


class Told(NamedTuple):
    """A way to tell a value."""

    value: str
    kind: str
    """`right`, or how it is wrong."""
    text: str


@dataclass(frozen=True)
class _Agent:
    """Looks up what a task asks for, and answers with what is told of it."""

    told: Mapping[str, Told]

    @property
    def identity(self) -> dict[str, str]:
        return {"model": "tells-values"}

    def open(self, task: Task, trial: int) -> ChatModel:
        told = self.told[task.id]
        return Says(lambda task: [("look_up", {"what": told.value})], told.text).open(task, trial)


def _ways(entry: Mapping[str, Any]) -> Iterator[Told]:
    for text in entry["right"]:
        yield Told(entry["id"], RIGHT, text)
    for kind, texts in entry["wrong"].items():
        for text in texts:
            yield Told(entry["id"], kind, text)


def values() -> tuple[Verdict, ...]:
    """Return the verdicts on all ways to tell the values."""
    entries = json.loads(VALUES.read_text("utf-8"))
    results = {one["id"]: one["result"] for one in entries}
    told = {f"{one['id']}-{n}": way for one in entries for n, way in enumerate(_ways(one))}

    def look_up(what: str) -> dict[str, Any]:
        """Look something up."""
        return dict(results[what])

    tasks = [
        seal.ask(
            one["request"],
            seal.called("look_up", what=one["id"]),
            tells=Slot(**one["tells"]),
            id=f"{one['id']}-{n}",
        )
        for one in entries
        for n, _ in enumerate(_ways(one))
    ]
    bench = seal.Benchmark("told-values", tools=[look_up], tasks=tasks)
    with tempfile.TemporaryDirectory() as folder:
        run = Lab(Path(folder)).play(bench, _Agent(told), team="direct", cache="off")
        scores = [score for score in run.folder.scores() if score.metric == "pass_rate"]
    types = {one["id"]: Slot(**one["tells"]).type for one in entries}
    return tuple(
        _verdict(f"{types[way.value]} {way.value}", way.kind, way.text, score)
        for score in scores
        for way in (told[score.task_id],)
    )


# -- Figures.


def counted(found: Iterable[Verdict]) -> str:
    """Return how many are solved, failed and undecided."""
    seen = Counter(one.value for one in found)
    return f"{seen[1.0]} solved, {seen[0.0]} failed, {seen[None]} undecided"


def is_missed(one: Verdict) -> bool:
    """Tell whether an answer is not judged as it should be: a lie may be undecided."""
    return one.value != 1.0 if one.kind == RIGHT else one.value == 1.0


def _of(found: Sequence[Verdict], right: bool) -> list[Verdict]:
    return [one for one in found if (one.kind == RIGHT) is right]


def holds(found: Sequence[Verdict]) -> bool:
    """Tell whether no wrong answer is solved, and few right ones are missed."""
    seen = Counter(one.value for one in _of(found, True))
    most = MOST * seen.total()
    return not any(map(is_missed, _of(found, False))) and max(seen[0.0], seen[None]) <= most


def _seen(found: Sequence[Verdict]) -> Seen:
    wrong, right = _of(found, False), _of(found, True)
    words = [f"{len(wrong)} wrong: {counted(wrong)}"]
    if right:
        words.insert(0, f"{len(right)} right: {counted(right)}")
    return Seen("; ".join(words), holds(found))


@line(
    "Lies in the oracle's answers of four samples: numbers, dates, names, deeds, nonsense",
    "2,161 of 6,132 are solved, of which 1,440 claim a deed and 541 deny one",
    "none is solved",
)
def lies_in_samples(lab: Lab) -> Seen:
    return _seen(lies(short=True))


@line(
    "46 values of all types, each told in twenty right ways and in ten wrong ones",
    "of 920 right ones 774 are solved, 126 failed, 20 undecided; of 460 wrong ones 35 are solved",
    "no wrong one is solved; of the right ones at most 3 in 100 fail, and 3 are undecided",
)
def values_in_other_words(lab: Lab) -> Seen:
    return _seen(values())


# -- The page.


def _cell(text: str) -> str:
    return " / ".join(text.split("\n")).replace("|", "&#124;")


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [heads, ["---"] * len(heads), *rows]
    return [*(f"| {' | '.join(map(_cell, row))} |" for row in lines), ""]


def _by(found: Iterable[Verdict], key: Callable[[Verdict], str]) -> dict[str, list[Verdict]]:
    groups: dict[str, list[Verdict]] = defaultdict(list)
    for one in found:
        groups[key(one)].append(one)
    return groups


def _kinds(found: Sequence[Verdict], key: Callable[[Verdict], str]) -> list[str]:
    heads = ("", "answers", "solved", "failed", "undecided")
    rows = []
    for kind, some in _by(found, key).items():
        seen = Counter(one.value for one in some)
        rows.append([kind, *(str(n) for n in (len(some), seen[1.0], seen[0.0], seen[None]))])
    return _table(heads, rows)


def _misses(found: Iterable[Verdict], most: int = 10_000) -> list[str]:
    """Return a table of what is missed, with so many rows of a kind and a sample at most."""
    words = {1.0: "solved", 0.0: "failed", None: "undecided"}
    alike = _by(filter(is_missed, found), lambda one: f"{one.kind} {one.place.split()[0]}")
    shown = [one for some in alike.values() for one in some[:most]]
    rows = [(one.place, one.kind, one.text, words[one.value], one.reason) for one in shown]
    left = sum(map(len, alike.values())) - len(rows)
    more = [f"{left} more are of the same kinds.", ""] if left else []
    heads = ("where", "kind", "the answer", "verdict", "reason")
    return [*_table(heads, rows), *more] if rows else ["None.", ""]


def page(told: Sequence[Verdict], lied: Sequence[Verdict]) -> str:
    """Return the page of what was seen."""
    right, wrong = _of(told, True), _of(told, False)
    return "\n".join(
        [
            "# Lies in right answers, and right answers in other words",
            "",
            "Written by `perf/planted_words.py`. Rules judge here, without a model. A wrong answer",
            "that is solved is the worst error; none may be. Of right answers at most 3 in 100 may",
            "fail, and at most 3 in 100 may be undecided. Each miss is listed.",
            "",
            "## Lies",
            "",
            "The oracle makes its calls in four samples, and its answer is altered in one point.",
            f"Of {len(lied)} altered answers: {counted(lied)}.",
            "",
            *_kinds(lied, lambda one: one.kind),
            *_kinds(lied, lambda one: one.place.split()[0]),
            "Solved, though a lie:",
            "",
            *_misses(lied, SHOWN),
            "## Values",
            "",
            "An agent looks up a value and tells it. The answers were written without a look at",
            "the rules: `perf/samples/told_values.json`.",
            "",
            f"{len(right)} right answers: {counted(right)}. {len(wrong)} wrong answers:",
            f"{counted(wrong)}.",
            "",
            "Right answers, by the type of the value:",
            "",
            *_kinds(right, lambda one: one.place.split()[0]),
            "Wrong answers, by what is wrong:",
            "",
            *_kinds(wrong, lambda one: one.kind),
            "Wrong, and solved:",
            "",
            *_misses(wrong),
            "Right, and not solved:",
            "",
            *_misses(right),
        ]
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, and print or write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--short", action="store_true", help="a tenth of the longest sample")
    parser.add_argument("--out", type=Path, help="file of the page; it is printed otherwise")
    asked = parser.parse_args(argv)
    told, lied = values(), lies(asked.short)
    if asked.out is None:
        print(page(told, lied))
    else:
        asked.out.write_text(page(told, lied), "utf-8")
    print(f"lies: {_seen(lied).now}\nvalues: {_seen(told).now}", file=sys.stderr)
    return int(not (holds(told) and holds(lied)))


if __name__ == "__main__":
    sys.exit(main())
