"""Errata: corrections of a pool's gold, each with its reason and source, kept beside the pool.

A file is a JSON object:

    {"benchmark": "shop", "corrections": [
      {"task": "t7", "goal": 0, "was": "0f3a52c1d9e86b74", "gold": {"answers": ["Monday"]},
       "reason": "Order 7 ships on Monday.", "source": "orders.csv, line 8"}]}

`gold` has the fields of a goal that change (`GOLD`), as tasks.jsonl has them, and nothing of what
is asked. `plans: null`, `relevant: []` and the like say that nothing is known to be right: metrics
of gold have no value of such a goal. Where plans or answers change, the `reference` of the old gold
goes, unless the correction has one. `was` is the digest of the gold that the correction was made
for, so that none is laid over another version (`gold_digest`). `draft` writes a file to fill in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from seal.core import JSON, DataError, Goal, Task, Tool, UsageError, located, shortened
from seal.core.records import from_plain, to_plain
from seal.core.text import counted
from seal.core.values import digest
from seal.evaluation.plan_checks import check_plan
from seal.pools.catalogue import importing
from seal.pools.importer import REPORT, Notes, Recorded, WorldFile
from seal.pools.imports import ImportReport
from seal.pools.lookup import known_benchmark, world_files_of
from seal.pools.own_benchmark import GoldCheck
from seal.pools.pool import StoredPool, load_pool, named_tools
from seal.pools.reading.files import expect, field_of, json_file, refuse_deep

GOLD = ("plans", "answers", "relevant", "any_relevant", "any_answer", "reference")
"""Fields of a goal that a correction may change."""
_DIGITS = 16


@dataclass(frozen=True, slots=True)
class Correction:
    """What a goal's gold should be."""

    task: str
    goal: int
    was: str
    """`gold_digest` of the goal that it is made for."""
    gold: Mapping[str, JSON]
    """Field of `GOLD` to its value, as tasks.jsonl has it."""
    reason: str
    source: str
    """Who says so, or where it can be seen."""


@dataclass(frozen=True, slots=True)
class Errata:
    """A file of corrections."""

    path: Path
    benchmark: str
    corrections: Mapping[tuple[str, int], Correction]
    """By task id and position of the goal."""

    @property
    def facts(self) -> dict[str, JSON]:
        """What an import.json or a run.json says of it."""
        read = [asdict(correction) for correction in self.corrections.values()]
        return {"file": self.path.name, "digest": digest(read), "corrections": len(read)}

    def corrected(self, task: Task, tools: Mapping[str, Tool]) -> Task:
        """Return a task with the gold of its corrections.

        Args:
            task: As published.
            tools: Of its pool, by id.

        Raises:
            DataError: A correction is of another version of the task, or cannot be: a tool that
                the pool has not, a call that its tool's schema refuses, a plan that cannot be met.
        """
        goals = list(task.goals)
        for (named, place), correction in self.corrections.items():
            if named == task.id:
                with located(f"{self.path}: task {named!r}, goal {place}"):
                    goals[place] = _corrected(goals, correction)
        made = replace(task, goals=tuple(goals))
        for place, (goal, before) in enumerate(zip(goals, task.goals, strict=True)):
            if goal is not before:
                with located(f"{self.path}: task {task.id!r}, goal {place}"):
                    _check(made, goal, tools)
        return made

    def check_benchmark(self, name: str) -> None:
        """Raise DataError where the corrections are of another benchmark than this one."""
        if self.benchmark != name:
            raise DataError(
                f"{self.path}: corrects {self.benchmark!r}, not {name!r}; give the errata of {name}"
            )

    def check_tasks(self, known: Iterable[str], place: Path, partial: bool = False) -> None:
        """Raise DataError where a correction is of a task that is not there.

        Args:
            known: Ids of tasks.
            place: Where they are, for the message.
            partial: It is enough that one is there, for a part of the benchmark.
        """
        wanted, there = {task for task, _ in self.corrections}, set(known)
        unknown = sorted(wanted - there)
        if unknown and not (partial and wanted & there):
            listed = ", ".join(map(shortened, unknown[:3])) + (", ..." if len(unknown) > 3 else "")
            repair = "give errata of its tasks" if partial else "mend the ids, or give --partial"
            raise DataError(
                f"{self.path}: {len(unknown)} of {counted(len(wanted), 'task')} not in {place}: "
                f"{listed}; {repair}"
            )


def gold_digest(goal: Goal) -> str:
    """Return 16 hexadecimal digits of what a goal asks and its gold."""
    return digest([goal.text, *(to_plain(getattr(goal, name)) for name in GOLD)])[:_DIGITS]


def read_errata(file: str | Path) -> Errata:
    """Return the errata of a file, or those that ship with a benchmark of this name or alias.

    Raises:
        UsageError: There is neither such a file nor such a benchmark with errata.
        DataError: The file is malformed, a correction has no reason or source, or a goal is
            corrected twice; the text names the correction.
    """
    path = Path(file)
    if not path.exists():
        known = known_benchmark(importing(str(file))[0])
        if known is None or known.errata is None:
            raise UsageError(f"no file {file}, and no benchmark of this name has errata; give one")
        path = known.errata
    content = json_file(path)
    with located(path):
        refuse_deep(content)
        benchmark, listed = (
            field_of(content, "benchmark", str),
            field_of(content, "corrections", list),
        )
        found: dict[tuple[str, int], Correction] = {}
        for position, entry in enumerate(listed):
            with located(f"corrections.{position}"):
                read = _correction(entry)
                if found.setdefault((read.task, read.goal), read) is not read:
                    raise DataError(
                        f"goal {read.goal} of task {read.task!r} is corrected twice; keep one"
                    )
        if not found:
            raise DataError("corrections: there is none; add one, such as `seal errata draft` has")
    return Errata(path, benchmark, found)


def _correction(entry: Any) -> Correction:
    known = sorted(Correction.__slots__)
    unknown = sorted(expect(entry, dict).keys() - {*known})
    if unknown:
        raise DataError(f"unknown field {shortened(unknown[0])}; it has {', '.join(known)}")
    gold = field_of(entry, "gold", dict)
    wrong = sorted(gold.keys() - {*GOLD})
    if wrong or not gold:
        got = shortened(wrong[0]) if wrong else "nothing"
        raise DataError(f"gold: expected some of {', '.join(GOLD)}, got {got}")
    texts = {
        name: field_of(entry, name, str).strip() for name in ("task", "was", "reason", "source")
    }
    for name, text in texts.items():
        if not text:
            raise DataError(f"{name} is empty; a correction says its {name}")
    place = field_of(entry, "goal", int) if "goal" in entry else 0
    return Correction(goal=place, gold=gold, **texts)


def _corrected(goals: Sequence[Goal], correction: Correction) -> Goal:
    if not 0 <= correction.goal < len(goals):
        raise DataError("the task has no such goal; goals count from 0")
    goal = goals[correction.goal]
    if gold_digest(goal) != correction.was:
        raise DataError(
            f"made for another version: its gold is {gold_digest(goal)}, not {correction.was}; "
            "look at it anew, and write the new digest into `was`"
        )
    stale: dict[str, JSON] = (
        {"reference": []} if {"plans", "answers"} & correction.gold.keys() else {}
    )
    return from_plain({**to_plain(goal), **stale, **correction.gold}, Goal)


def _check(task: Task, goal: Goal, tools: Mapping[str, Tool]) -> None:
    """Make sure that corrected gold can be met with the tools that there are."""
    for role, tool in named_tools(replace(task, goals=(goal,))):
        if tool not in tools:
            raise DataError(f"the {role} tool {tool!r} is not in the pool; name one of its tools")
    check = GoldCheck(tools)
    for plan in goal.plans or ():
        check_plan(plan, measured=True)
        for call in plan.calls():
            refused = check.refused(call)
            if refused is not None:
                raise DataError(
                    f"the call of {call.tool!r} does not fit its schema: {refused.error.message} "
                    "Mend its values"
                )


def draft(pool: StoredPool, tasks: Sequence[str]) -> dict[str, JSON]:
    """Return errata for every goal of some tasks, with the gold as it is, to be filled in."""
    return {
        "benchmark": pool.made_of,
        "corrections": [
            {
                "task": task.id,
                "goal": place,
                "was": gold_digest(goal),
                "gold": {name: to_plain(getattr(goal, name)) for name in GOLD},
                "reason": "",
                "source": "",
            }
            for task in map(pool.task, tasks)
            for place, goal in enumerate(task.goals)
        ],
    }


def apply_errata(
    pool: StoredPool, errata: Errata, out: Path, partial: bool = False
) -> ImportReport:
    """Write a pool folder with corrected gold; the pool stays as it is.

    Args:
        pool: As published, with its recorded runs.
        errata: Of its benchmark.
        out: Folder to make; an earlier overlay of the same benchmark there is replaced.
        partial: Whether corrections of tasks that the pool has not are passed over.

    Raises:
        UsageError: `out` holds something else.
        DataError: The errata are of another benchmark or version, or cannot be; nothing is left.
    """
    from seal.pools.imports import write_pool

    errata.check_benchmark(pool.made_of)
    if (out / REPORT).is_file():
        there = load_pool(out)
        if there.made_of != pool.made_of or "errata" not in there.report:
            raise UsageError(f"{out} holds a pool that is no overlay; choose a new folder")
    errata.check_tasks((task.id for task in pool.every_task()), pool.folder, partial)

    def records(
        source: Path, notes: Notes, **_: Any
    ) -> Iterator[Tool | Task | Recorded | WorldFile]:
        notes.lacks.update(pool.report.get("lacks") or ())
        notes.facts.update({k: v for k, v in pool.report.items() if k not in _OWN})
        notes.facts["errata"] = {**errata.facts, "of": pool.digest}
        tools = {tool.id: tool for tool in pool.tools()}
        yield from tools.values()
        for task in pool.every_task():
            yield errata.corrected(task, tools)
        for name in pool.recordings():
            for trajectory in pool.recorded(name):
                yield Recorded(name, trajectory)
        yield from world_files_of(pool.folder)

    return write_pool(pool.made_of, records, pool.folder, out)


_OWN = {"benchmark", "tasks", "tools", "dropped", "lacks", "digest", "recordings", "malformed"}
"""Parts of import.json that each pool writes anew."""
