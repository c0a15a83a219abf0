"""Mutants of gold: wrong variants, none of which may solve a task of a world, and right ones."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from random import Random
from typing import NamedTuple

from seal.core import (
    JSON,
    DataError,
    OverdueError,
    Task,
    Trajectory,
    UsageError,
    shortened,
)
from seal.core.concurrency import in_time, within
from seal.core.state_conditions import GOLD_ENDS, EndsAs, FinalState
from seal.core.text import counted, goal_name
from seal.core.values import canonical_json
from seal.environments.gold_play import End, gold_ends, varying
from seal.environments.policy import breaches, with_breaches
from seal.environments.world import Worlds
from seal.evaluation.effects import ends_asked
from seal.evaluation.goals import TaskChat
from seal.evaluation.pass_rates import PassRate
from seal.pools.gold_scripts import (
    Deed,
    Played,
    Script,
    offered_by,
    play,
    resolved,
    scripts_of,
    value_of,
)
from seal.pools.lint_findings import Finding
from seal.pools.other_words import (
    names_in,
)
from seal.pools.variants import RIGHT, WRONG, Case, Lent, Variant

# -- All variants of a pool, played and judged.

MOST = 24
"""Variants of one kind that are drawn for one goal."""
LONGEST_S = 300.0
"""Seconds that gold of one task may take to be played, and the variants of one goal."""
Told = Callable[[str, int, int], None]
"""Is told a stage, how many of its tasks are done, and how many there are."""
Rule = Callable[[Task, Trajectory, Worlds, int], tuple[float | None, str]]
"""(task, chat, world, goal) to a score in [0, 1], 1 for solved, None for undecided; and why."""


class Survivor(NamedTuple):
    """A variant that is not judged as it should be: solved if it is right, else failed."""

    task: str
    goal: int
    kind: str
    right: bool
    altered: str
    verdict: str
    """solved, failed or undecided."""
    reason: str

    @property
    def finding(self) -> str:
        """The kind of finding that it is (`seal.pools.lint_findings.KINDS`)."""
        if self.verdict == UNDECIDED:
            return "undecided_variant"
        return "refused_variant" if self.right else "surviving_mutant"


@dataclass(frozen=True, slots=True)
class MutantReport:
    """How the variants of a pool's gold are judged."""

    tasks: int
    """Of which gold was altered."""
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Kind to how many are solved, failed and undecided."""
    survivors: Sequence[Survivor] = ()
    """Wrong ones that are solved or undecided, and right ones that are failed or undecided."""
    left_out: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Why tasks were left out, to their ids."""

    def share(self, right: bool, verdict: str) -> float | None:
        """Return the share in [0, 1] of all right or wrong variants; None: there are none.

        Args:
            right: Whether right ones are asked of.
            verdict: solved, failed or undecided; solved and failed are shares of the decided ones.
        """
        found: Counter[str] = Counter()
        for kind in RIGHT if right else WRONG:
            found.update(self.counts.get(kind, {}))
        total = found.total() - (0 if verdict == UNDECIDED else found[UNDECIDED])
        return found[verdict] / total if total else None

    def findings(self) -> Iterator[Finding]:
        """Yield a finding for each survivor."""
        for one in self.survivors:
            told = f"{one.kind}: {one.altered}: {one.verdict}"
            told += f" ({one.reason})" if one.reason else ""
            message = f"task {one.task!r}, {goal_name(one.goal)}: {told}"
            yield Finding(one.finding, message, (one.task,), evidence=one._asdict())

    def to_json(self) -> dict[str, JSON]:
        """Return all of it."""
        shares = {
            "wrong_killed": self.share(False, FAILED),
            "wrong_undecided": self.share(False, UNDECIDED),
            "right_kept": self.share(True, SOLVED),
            "right_undecided": self.share(True, UNDECIDED),
        }
        return {
            "tasks": self.tasks,
            "shares": shares,
            "kinds": {
                kind: {"right": kind in RIGHT, **counts} for kind, counts in self.counts.items()
            },
            "survivors": [one._asdict() for one in self.survivors],
            "left_out": {why: list(ids) for why, ids in self.left_out.items()},
        }


SOLVED, FAILED, UNDECIDED = "solved", "failed", "undecided"
_LATE = f"{{}} longer than {LONGEST_S:.0f} s to play: a tool hangs, or texts are long"
_REPAIRS = {
    "its task is played in no world that has tables": "give the task a world (docs: own-benchmark, "
    "A world)",
    "its gold names no calls": "give gold as calls: seal.ends_as(...), seal.called(...), or a "
    "reference",
    "its gold leaves arguments open": "name the arguments of its gold calls",
}


def mutants(
    tasks: Sequence[Task],
    world_of: Callable[[str], Worlds | None],
    *,
    sample: int | None = None,
    seed: int = 0,
    told: Told = lambda stage, done, total: None,
    rule: Rule | None = None,
) -> MutantReport:
    """Return how variants of gold are judged by rule.

    Whether a variant is right or wrong follows from how the world ends, not from the verdict: a
    wrong one counts only where the world ends in no way that gold allows, or where its words lie.

    Args:
        tasks: Of a pool.
        world_of: Name to a kind of world; None: it has no tables, or is not known.
        sample: Number of tasks that are drawn; None: all.
        seed: Of the draws.
        told: Is told of progress.
        rule: Judges in place of pass_rate.

    Raises:
        UsageError: `sample` is below 1.
        DataError: No task can be altered, or a world is another each time; says the repair.
        InfrastructureError: What a tool asks outside of the world failed.
    """
    if sample is not None and sample < 1:
        raise UsageError(f"sample {sample}: expected at least 1 task")
    drawn = list(tasks)
    if sample is not None and sample < len(drawn):
        at = sorted(Random(seed).sample(range(len(drawn)), sample))
        drawn = [drawn[number] for number in at]
    rule = rule or judge
    left_out: defaultdict[str, list[str]] = defaultdict(list)
    cases: list[tuple[Case, Worlds]] = []
    for number, task in enumerate(drawn):
        try:
            world = world_of(task.world) if task.world else None
            if world is None or not world.tables:
                raise DataError(next(iter(_REPAIRS)))
            with within(LONGEST_S):
                found: list[Case] = in_time(partial(list, _cases(task, world, rule)))
            cases += [(case, world) for case in found]
        except DataError as error:
            left_out[str(error)].append(task.id)
        except OverdueError:
            left_out[_LATE.format("its gold takes")].append(task.id)
        told("gold played", number + 1, len(drawn))
    if not cases:
        why = "; ".join(f"{counted(len(ids), 'task')}: {said}" for said, ids in left_out.items())
        repairs = [repair for said, repair in _REPAIRS.items() if said in left_out]
        raise DataError(
            f"no gold can be altered: {why or 'there is no task'}. {'; '.join(repairs)}"
        )
    judged = _Judged(seed, _lent([case for case, _ in cases]), rule)
    for number, (case, world) in enumerate(cases):
        try:
            with within(LONGEST_S):
                in_time(partial(judged.judge, case, world))
        except OverdueError:
            left_out[_LATE.format("some of its variants are not judged: they take")].append(
                case.task.id
            )
        told("variants judged", number + 1, len(cases))
    played = len({case.task.id for case, _ in cases})
    return MutantReport(played, judged.counted(), judged.survivors, dict(left_out))


def _lent(cases: Sequence[Case]) -> Lent:
    """Return what each task lends to the others."""
    looks: dict[bytes, Deed] = {}
    deeds: dict[bytes, Deed] = {}
    columns: defaultdict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for case in cases:
        for deed in case.deeds:
            known = {n: value_of(one) for n, one in case.base.results.items() if one.error is None}
            given = {name: resolved(value, known) for name, value in deed.arguments.items()}
            own = deed._replace(arguments=given)
            kept = deeds if deed.number in case.base.changing else looks
            kept[canonical_json([deed.tool, given])] = own
        for table, rows in case.rows.items():
            for column, cell in chain.from_iterable(row.items() for row in rows):
                if isinstance(cell, str) and names_in(f"to {cell}") == [cell]:
                    columns[table, column][cell] = None
    names = [[*cells] for cells in columns.values() if len(cells) > 1]
    return Lent([*looks.values()], [*deeds.values()], names)


def _cases(task: Task, world: Worlds, rule: Rule) -> Iterator[Case]:
    """Yield the goals of a task with their gold as it was played.

    Raises:
        DataError: Gold cannot be played, does not solve its goal, or ends otherwise each time.
    """
    world.check(task)
    tools = {tool.id: tool for tool in world.documents()}
    before: list[Script] = []
    for number, goal in enumerate(task.goals):
        why = ""
        for script in scripts_of(goal):
            base = play(task, [*before, script], world)
            value, why = rule(task, base.chat, world, number)
            if value == 1.0:
                break
        else:
            raise DataError(f"its gold, as it is played, does not solve it: {why}")
        _check_steady(task, base, play(task, [*before, script], world))
        other = play(task, [*before, script], world, trial=1, late=True)
        varies = varying(End(base.changes), End(other.changes))
        asked = [
            part
            for plan in goal.plans or ()
            for node in plan.milestones
            for part in node.condition.parts()
        ]
        ends = [part for part in asked if isinstance(part, EndsAs | FinalState)]
        ignore = list(chain.from_iterable(one.ignore for one in ends))
        wanted = [base.changes]
        for each in _ends_of(task, base.chat, world).get(str(number), {}).values():
            wanted += [end.changes for end in each if not end.fault]
        offered = offered_by(goal, dict.fromkeys(tools, ""))
        own = {tool: tools[tool] for tool in offered if tool in tools}
        rows = base.chat.steps[0].state or {}
        yield Case(task, number, tuple(before), script, base, wanted, ignore, varies, own, rows)
        before.append(script)


def _check_steady(task: Task, one: Played, other: Played) -> None:
    """Make sure that a second fresh world does the same.

    Raises:
        DataError: Names the call, and the repair.
    """
    repair = "take times from world.now and ids from world.new_id(), and draw nothing by chance"
    steps = zip(one.chat.steps, other.chat.steps, strict=True)
    for step, twin in steps:
        call = next(
            (
                s.call
                for s in one.chat.steps
                if s.call and step.result and s.call.id == step.result.call_id
            ),
            None,
        )
        if step.content != twin.content or step.state != twin.state:
            name = call.name if call is not None else "the world"
            told = f"{shortened(step.content)} and {shortened(twin.content)}"
            odd = f"task {task.id!r}: {name} does not do the same in two fresh worlds"
            raise UsageError(f"{odd}: {told}; {repair}")


def _ends_of(task: Task, chat: Trajectory, world: Worlds) -> dict[str, dict[str, list[End]]]:
    """Return how the world ends after gold calls, as a run records it of a chat."""
    tools = {tool.id: tool for tool in world.documents()}
    of_calls = ends_asked(TaskChat(task, chat, tools))
    again = (lambda: world.open(task, chat.trial + 1)) if of_calls else None
    changing = {step.goal for step in chat.steps if step.result is not None and step.state}
    opened = lambda: world.open(task, chat.trial)  # noqa: E731
    return gold_ends(task, opened, tools, True, of_calls, again, changing)


def judge(task: Task, chat: Trajectory, world: Worlds, goal: int) -> tuple[float | None, str]:
    """Return the pass rate of a goal by rule, None for undecided, and the reason."""
    score = PassRate().of(as_recorded(task, chat, world))[goal]
    return score.value, str(score.details.get("reason") or score.reason or "")


def as_recorded(task: Task, chat: Trajectory, world: Worlds) -> TaskChat:
    """Return a chat as a run records it: with how the world ends after gold, and broken rules."""
    tools = {tool.id: tool for tool in world.documents()}
    told = {
        number: {key: [end.to_json() for end in ends] for key, ends in of.items()}
        for number, of in _ends_of(task, chat, world).items()
    }
    known = with_breaches(world.policy, task, replace(chat, provenance={GOLD_ENDS: told}))
    return TaskChat(task, known, tools)


class _Judged:
    """What was made of the variants.

    Args:
        seed: Of the draws.
        lent: What the tasks of the pool lend each other.
        rule: Judges.
    """

    def __init__(self, seed: int, lent: Lent, rule: Rule) -> None:
        self.survivors: list[Survivor] = []
        self._seed = seed
        self._lent = lent
        self._rule = rule
        self._found: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def counted(self) -> dict[str, dict[str, int]]:
        """Return the counts by kind, in the order of the kinds."""
        return {
            kind: {one: self._found[kind][one] for one in (SOLVED, FAILED, UNDECIDED)}
            for kind in (*WRONG, *RIGHT)
            if kind in self._found
        }

    def judge(self, case: Case, world: Worlds) -> None:
        """Play and judge the variants of a goal."""
        for kind, make in (*WRONG.items(), *RIGHT.items()):
            variants = list(make(case, self._lent))
            draw = Random(f"{self._seed} {case.task.id} {case.goal} {kind}")
            if len(variants) > MOST:
                variants = [variants[at] for at in sorted(draw.sample(range(len(variants)), MOST))]
            for variant in variants:
                self._one(case, world, kind, variant)

    def _one(self, case: Case, world: Worlds, kind: str, variant: Variant) -> None:
        played = play(case.task, [*case.before, variant.script], world)
        if not variant.counts(played):
            return
        if kind in RIGHT and any(breaches(world.policy, case.task, played.chat)):
            return  # whoever breaks a rule is not right, whatever the world ends as
        value, reason = self._rule(case.task, played.chat, world, case.goal)
        verdict = {1.0: SOLVED, None: UNDECIDED}.get(value, FAILED)
        self._found[kind][verdict] += 1
        if verdict != (SOLVED if kind in RIGHT else FAILED):
            task, right = case.task.id, kind in RIGHT
            self.survivors.append(
                Survivor(task, case.goal, kind, right, variant.altered, verdict, reason)
            )
