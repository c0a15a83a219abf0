"""Which wrong courses pass in ToolSandbox, in tau-bench and in our scenarios, by the same mutants.

    python perf/proof.py [--sample N] [--toolsandbox DIR] [--taubench DIR] [--out FILE]

Gold is altered as `seal lint --mutants` alters it, and every variant is played in the benchmark's
own world. Two rules judge it: the benchmark's own (ToolSandbox: a similarity of 1; tau-bench: its
reward) and `pass_rate`. GPT-4o's recorded conversations with tau-bench's airline are scored, too,
beside the rewards that stand in the records. `--taubench` names a checkout of
sierra-research/tau-bench whose code may be run, and `--toolsandbox` a checkout of apple/ToolSandbox
or the same files under SEAL_DATA; what is not there is left out, and the page says so.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import seal
from seal.benchmarks.taubench.metrics import REWARD, Reward
from seal.benchmarks.taubench.world import taubench
from seal.core import Task, Tool, Trajectory
from seal.core.environment import Environment
from seal.environments.world import Worlds, WorldSetup
from seal.evaluation.goals import GoalMetric
from seal.evaluation.scoring import Milestones
from seal.evaluation.significance import pass_hat
from seal.pools.augmentation import TAG, UNCHANGED
from seal.pools.gold_scripts import scripts_of
from seal.pools.lint import PlanCheck
from seal.pools.lookup import environments_beside, open_pool
from seal.pools.mutants import (
    FAILED,
    SOLVED,
    UNDECIDED,
    MutantReport,
    Rule,
    as_recorded,
    judge,
    mutants,
)
from seal.pools.variants import RIGHT, WRONG
from seal.runs.finished import import_run

SIMILARITY, PASS_RATE = "similarity", "pass_rate"
EFFECT = "an effect that nobody asked for"
LIES = (
    "a slot is told wrong",
    "a number, time or date is told wrong",
    "a name is told wrong",
    "a deed is denied that was done",
    "a refusal of what can be done",
)
OURS = ("toolsandbox-sample", "apps")


class Judged(NamedTuple):
    """What a rule says of the variants of a benchmark."""

    benchmark: str
    rule: str
    report: MutantReport


class Course(NamedTuple):
    """Variants of one group, judged by one rule."""

    wrong: bool
    kinds: Sequence[str]
    name: str


GROUPS = (
    Course(True, [one for one in WRONG if one != EFFECT and one not in LIES], "other wrong calls"),
    Course(True, [EFFECT], "effects that nobody asked for"),
    Course(True, LIES, "lies, and refusals of what can be done"),
    Course(False, [*RIGHT], "right courses"),
)


@dataclass(frozen=True)
class Upstream:
    """The world of tau-bench, as what plays gold knows worlds.

    Args:
        tools: Of the pool, by id.
    """

    tools: Mapping[str, Tool]
    name: str = "taubench"
    tables: Mapping[str, Any] = field(default_factory=lambda: {"data": ()})
    policy: Sequence[Any] = ()

    def __post_init__(self) -> None:
        setup = WorldSetup(tools=self.tools, allow_code=["tau_bench"])
        object.__setattr__(self, "_shops", taubench(setup))

    def documents(self) -> list[Tool]:
        """Return the tools."""
        return [*self.tools.values()]

    def check(self, task: Task) -> None:
        """Take any task: the importer has looked at it."""

    def open(self, task: Task, trial: int, offered: Sequence[str] = ()) -> Environment:
        """Return the data of one chat."""
        shops: Any = vars(self)["_shops"]
        opened: Environment = shops.open(task, trial, offered)
        return opened


def judged_by(metric: GoalMetric, name: str) -> Rule:
    """Return the rule that a metric's value is; a similarity below 1 does not solve."""

    def rule(task: Task, chat: Trajectory, world: Worlds, goal: int) -> tuple[float | None, str]:
        value = metric.measure(as_recorded(task, chat, world).goals[goal])[name]
        return value.value, value.reason or ""

    return rule


def benchmarks(
    asked: argparse.Namespace, folder: Path
) -> Iterator[tuple[str, list[Task], Any, Mapping[str, Rule]]]:
    """Yield of each benchmark its name, its tasks, what knows their worlds, and the rules."""
    for name in OURS:
        pool = open_pool(name)
        known = PlanCheck((), environments_beside(pool.benchmark))
        yield name, list(pool.every_task()), known.world_of, {PASS_RATE: judge}
    if asked.toolsandbox is not None:
        pool = _imported("toolsandbox", asked.toolsandbox, folder)
        known = PlanCheck((), environments_beside(pool.benchmark))
        tasks = [one for one in pool.every_task() if one.tags.get(TAG, UNCHANGED) == UNCHANGED]
        rules = {SIMILARITY: judged_by(Milestones(), SIMILARITY), PASS_RATE: judge}
        yield "ToolSandbox", tasks, known.world_of, rules
    if asked.taubench is not None:
        sys.path.append(str(asked.taubench))
        pool = _imported("taubench", asked.taubench, folder, allow_code=["tau_bench"])
        tools = {tool.id: tool for tool in pool.tools()}
        world = Upstream(tools)
        rules = {REWARD: judged_by(Reward(), REWARD)}
        yield "tau-bench", list(pool.every_task()), lambda name: world, rules


def _imported(name: str, source: Path, folder: Path, **options: Any) -> Any:
    place = folder / name
    seal.import_benchmark(name, source, place, **options)
    return open_pool(str(place))


class Recorded(NamedTuple):
    """A conversation of GPT-4o's with tau-bench's airline."""

    task: str
    calls: int
    """Of its gold."""
    reward: float
    """As recorded."""
    ours: float | None


def recorded(checkout: Path, folder: Path) -> list[Recorded]:
    """Return the conversations of a checkout, scored anew."""
    answers = checkout / "historical_trajectories" / "gpt-4o-airline.json"
    place = folder / "gpt-4o"
    options = {"answers": str(answers), "domains": "airline", "allow_code": ["tau_bench"]}
    import_run("taubench", checkout, place, options)
    seal.score(place)
    frame = seal.Run.load(place).scores.query("metric == @REWARD")
    ours = {(row.task_id, row.trial): row.value for row in frame.itertuples()}
    gold = {task.id: task for task in seal.Run.load(place).folder.tasks()}
    found = []
    for one in json.loads(answers.read_text("utf-8")):
        key = f"taubench/airline/{one['task_id']}"
        scripts = [scripts_of(goal)[0] for goal in gold[key].goals]
        calls = sum(len(move.deeds) for script in scripts for move in script)
        found.append(Recorded(key, calls, one["reward"], ours.get((key, one["trial"]))))
    return found


CALLS = ((0, 1), (2, 3), (4, 6), (7, 99))
"""Bounds of the numbers of gold calls that are told together."""


def _conversations(found: Sequence[Recorded]) -> Iterator[str]:
    """Yield how the recorded conversations are scored."""
    alike = sum(one.reward == one.ours for one in found)
    yield f"The reward is the recorded one in {alike} of {len(found)} conversations."
    trials, solved = Counter(one.task for one in found), Counter[str]()
    for one in found:
        solved[one.task] += one.ours == 1
    counts = np.array([*trials.values()])
    won = np.array([solved[task] for task in trials])
    shares = [f"{np.nanmean(pass_hat(won, counts, k)):.3f}" for k in range(1, 5)]
    yield from ("", "| pass^1 | pass^2 | pass^3 | pass^4 |", "|" + " ---: |" * 4)
    yield f"| {' | '.join(shares)} |"
    yield from ("", "| gold calls | rewarded |", "| --- | ---: |")
    for low, high in CALLS:
        name = f"{low} or more" if high == CALLS[-1][1] else f"{low} to {high}"
        yield f"| {name} | {_solved(one for one in found if low <= one.calls <= high)} |"


def _solved(found: Iterable[Recorded]) -> str:
    rewards = [one.ours for one in found]
    won = sum(one == 1 for one in rewards)
    return f"{won} of {len(rewards)} ({won / len(rewards):.3f})" if rewards else "-"


def page(
    found: Sequence[Judged], chats: Sequence[Recorded], absent: Sequence[str], command: str
) -> str:
    """Return the page."""
    lines = [
        "# Wrong courses that pass, by the same mutants",
        "",
        f"Written by `{command}`, which says how. Shares are of the variants that the rule "
        "decides. How the world ends says whether a variant is wrong, not the verdict.",
        "",
        "| benchmark | rule | tasks | "
        + " | ".join(f"{one.name}: {'passed' if one.wrong else 'kept'}" for one in GROUPS)
        + " | undecided |",
        "| --- | --- | ---: |" + " ---: |" * (len(GROUPS) + 1),
    ]
    for one in found:
        cells = [_share(one.report, group) for group in GROUPS]
        every = Counter[str]()
        for counts in one.report.counts.values():
            every.update(counts)
        cells.append(f"{every[UNDECIDED]} of {every.total()}")
        lines.append(f"| {one.benchmark} | {one.rule} | {one.report.tasks} | {' | '.join(cells)} |")
    if chats:
        lines += ["", "## GPT-4o with tau-bench's airline, recorded", "", *_conversations(chats)]
    lines += ["", "## By kind", "", "| kind | benchmark | rule | passed | failed | undecided |"]
    lines.append("| --- | --- | --- | ---: | ---: | ---: |")
    for kind in (*WRONG, *RIGHT):
        for one in found:
            if kind in one.report.counts:
                counts = one.report.counts[kind]
                told = " | ".join(str(counts[verdict]) for verdict in (SOLVED, FAILED, UNDECIDED))
                lines.append(f"| {kind} | {one.benchmark} | {one.rule} | {told} |")
    lines += ["", "## What passes by pass_rate, and is wrong", ""]
    for one in found:
        for each in one.report.survivors:
            if one.rule == PASS_RATE and not each.right and each.verdict == SOLVED:
                lines.append(f"- {one.benchmark}, {each.task}: {each.kind}: {each.altered}")
    lines += ["", "## Tasks that were left out", ""]
    lines += [f"- {one}: it is not there" for one in absent]
    for one in found:
        for why, ids in one.report.left_out.items():
            lines.append(f"- {one.benchmark}, {one.rule}: {len(ids)}: {why}")
    return "\n".join(lines).rstrip() + "\n"


def _share(report: MutantReport, group: Course) -> str:
    solved, failed = (
        sum(report.counts.get(kind, {}).get(verdict, 0) for kind in group.kinds)
        for verdict in (SOLVED, FAILED)
    )
    decided = solved + failed
    return f"{solved} of {decided} ({solved / decided:.1%})" if decided else "-"


def main(argv: Sequence[str] | None = None) -> int:
    """Play the variants, and print or write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sample", type=int, default=20, help="tasks of each benchmark")
    parser.add_argument("--seed", type=int, default=0, help="of the tasks and variants")
    parser.add_argument("--toolsandbox", type=Path, help="default: SEAL_DATA/toolsandbox")
    parser.add_argument("--taubench", type=Path, help="a checkout; its code is run")
    parser.add_argument("--short", action="store_true", help="two tasks of each, for CI")
    parser.add_argument("--out", type=Path, help="file of the page; it is printed otherwise")
    asked = parser.parse_args(argv)
    usual = Path(os.environ.get("SEAL_DATA", "../shared/data")) / "toolsandbox"
    asked.toolsandbox = asked.toolsandbox or (usual if usual.is_dir() else None)
    sample = 2 if asked.short else asked.sample
    absent = [name for name in ("toolsandbox", "taubench") if getattr(asked, name) is None]
    found: list[Judged] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, tasks, world_of, rules in benchmarks(asked, Path(folder)):
            for rule, judges in rules.items():
                report = mutants(tasks, world_of, sample=sample, seed=asked.seed, rule=judges)
                found.append(Judged(name, rule, report))
                print(f"{name}, {rule}: {report.tasks} tasks", file=sys.stderr)
        chats = [] if asked.taubench is None else recorded(asked.taubench, Path(folder))
    text = page(found, chats, absent, f"perf/proof.py --sample {sample} --taubench DIR --out FILE")
    if asked.out is None:
        print(text, end="")
    else:
        asked.out.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
