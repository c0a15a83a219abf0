"""Checks for tests of one's own: `check_benchmark` and `assert_passes`."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

from seal.api.benchmarks import augment, load_pool
from seal.api.run_result import Run
from seal.api.runs import run
from seal.core import ChatModel, DataError, Scale, Task, Tool, Trajectory
from seal.core.records import write_records
from seal.core.text import counted, goal_name
from seal.environments.gold_play import of_the_calls_before
from seal.environments.world import Worlds, WorldSetup, build_worlds
from seal.evaluation import REGISTRY as METRICS
from seal.evaluation.calls import EXTRA
from seal.evaluation.goals import RATE, failed, failure_reason, is_best
from seal.evaluation.own_metrics import is_foreign
from seal.evaluation.pattern_scores import IAC_UPSTREAM, PATTERNS, SERVICE_ANSWERS
from seal.evaluation.ranking_metrics import MEASURES
from seal.models.oracle import Oracle
from seal.pools.importer import Notes
from seal.pools.imports import write_pool
from seal.pools.lookup import Bench, bench_of, environments_beside
from seal.pools.reading.files import json_file
from seal.report.paper import tables_of
from seal.runs.finished import rescore
from seal.runs.role_models import with_roles
from seal.runs.run import RunFolder
from seal.runs.settings import ScoreSettings
from seal.testing.alterations import (
    EDITED,
    OF_WORDS,
    PLANTED,
    TURNS,
    WAYS,
    Alter,
    Edit,
    Turn,
    acting,
    has_told_milestones,
)

# -- What must hold of the scores of any benchmark, for tests of one's own.
#
#     from seal.testing import check_benchmark
#
#     def test_my_benchmark() -> None:
#         check_benchmark(my_benchmark)
#
# The gold is played (`oracle`) and scored. Then it is played again: in another way that is as
# right, which may change no score, and with a fault. Some metrics must see the fault, and no others
# may. The scores of an altered gold are always those against the gold of the benchmark.
#
# `assert_passes` lets a test of an agent fail where a metric of a run is below a bound.

MOST_KNOWN = 0.01
"""Share of a benchmark's tasks whose gold may contradict a metric, at most."""
_LISTED_METRICS = 20
"""Most ids of tasks that are told."""
_TOLD = 50
"""Most scores that are told one by one."""
_OF_RETRIEVAL = (*MEASURES, "relevant_called", "relevant_answered")
"""Metrics that tell what was retrieved, without their cut-offs."""
_OF_THE_WAY = ("optimal_path", "recovery", SERVICE_ANSWERS)
"""Metrics that tell how the gold is played, or what its calls brought."""
_OF_DIALOGUES = ("dialogue_accuracy", "progress", "optimal_path")
"""Metrics that tell of a goal by what else its dialogue holds."""
_CALLS_ARE_RIGHT = frozenset(
    {"calls_right", "mission_accuracy", "milestone_similarity", "all_gold_calls"}
)
_OF_MILESTONES = frozenset({"milestone_similarity", "similarity"})
_OF_THE_WORLD = _OF_MILESTONES | {"goal_state"}
_SUCCESS = "the benchmark's success"
_OF_FORM = frozenset({"ife", "ifn", "ian"})
_OF_ARGUMENTS = frozenset({"param_acc_gold", "param_acc_matched", "arg_name_f1", "arg_value_acc"})
_OF_CALLS = _OF_ARGUMENTS | {"abstention", "calls_right", "all_gold_calls", "call_recall"}
_OF_CALLS |= {"call_precision", "call_f1", *EXTRA, *PATTERNS, IAC_UPSTREAM}
_FAULTS: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "a call is left out": (
        _CALLS_ARE_RIGHT | {"call_recall", "param_acc_gold", "iac", IAC_UPSTREAM},
        _OF_FORM | {"call_precision", "param_acc_matched", "arg_name_f1", "arg_value_acc", "rac"},
    ),
    "a call is made twice": (
        frozenset({"calls_right", "call_precision", "extra_calls"}),
        _OF_FORM | {"call_recall", "param_acc_gold", "param_acc_matched", "arg_value_acc", "iac"},
    ),
    "an argument is wrong": (
        _CALLS_ARE_RIGHT | {"param_acc_gold", "param_acc_matched", "arg_value_acc"},
        _OF_FORM | {"call_recall", "call_precision", "call_f1", "arg_name_f1", "rac"},
    ),
    "a call that changes the world is left out": (
        _OF_THE_WORLD | {"pass_rate", _SUCCESS},
        _OF_FORM,
    ),
    "a call that changes the world is made otherwise": (_OF_THE_WORLD | {"pass_rate"}, _OF_FORM),
    "the answer states wrong values": (_OF_THE_WORLD | {"pass_rate"}, _OF_CALLS | {*MEASURES}),
    "the answer drops its values": (_OF_THE_WORLD | {"pass_rate"}, _OF_CALLS | {*MEASURES}),
    "the answer invents a value": (frozenset({"unsupported"}), _OF_CALLS | {*MEASURES}),
    "a gold tool is not retrieved": (
        frozenset({"recall", "all_found", "ndcg"}),
        _OF_CALLS | _CALLS_ARE_RIGHT | {"pass_rate", "similarity", "goal_state", "finished"},
    ),
    "nothing is done": (
        _CALLS_ARE_RIGHT | {"call_recall", "param_acc_gold", "pass_rate", "similarity", _SUCCESS},
        frozenset(),
    ),
}
"""Fault to the metrics that it lowers, where they apply, and to those that it leaves alone."""

_Key = tuple[str, int, int, str]
"""Task, trial, goal, metric."""
_Values = Mapping[_Key, float | None]


class Contradiction(NamedTuple):
    """A score that cannot be."""

    task: str
    told: str
    """What was done (`the gold`, a change, or a fault), the score, and what was expected."""


def check_benchmark(
    bench: Bench | Sequence[Task],
    *,
    limit: int | None = None,
    without_gold: int = 0,
    known: str | Path | Mapping[str, str] | None = None,
    gold_alone: bool = False,
    may_change: Collection[str] = (),
    **options: Any,
) -> None:
    """Make sure that a benchmark's gold and metrics agree.

    - The gold has the best value wherever a metric says so (`seal.core.Scale.gold_is_best`), and in
      the benchmark's `success`: 1.0, or 0.0 where low values are better.
    - The end of the world that gold asks for is the same if a call comes before gold's, such as a
      look, but for what gold ignores.
    - Other workers, more retrieved tools and other cut-offs, an added irrelevant tool and renamed
      tools change no metric but those of retrieval.
    - Calls may be made one by one or together, in another order that the plan leaves open, by
      another plan, or with other right values. Only counts change by that. Turns of a dialogue as
      dialogues of their own, and two tasks as the turns of one, change no metric of goals.
    - A planted fault lowers the metrics that see it, and no others. Faults are: a call left out,
      made twice, or made with a wrong argument; a call that changes the world, left out or made
      otherwise; an answer with wrong values, without its values, or with an invented one; a gold
      tool that was not retrieved. Whoever does nothing where a call is needed has no success.
    - Columns of published tables (`seal.pools.declarations.PublishedTable`) are of metrics that
      there are.
    - No task is passed over: how many have no gold that can be played is said beforehand.

    Args:
        bench: A benchmark, the name of one, a pool folder, or tasks with `tools` among the options.
        limit: Tasks at most, from the head of the file.
        without_gold: Tasks whose gold says what the world must be, and not how to get there. With
            `limit` it is the most that there may be, else their exact number.
        known: Task to why its gold contradicts a metric, or a JSON file of such: they may do so.
        gold_alone: Whether the first check is the only one, as for many thousands of tasks.
        may_change: Metrics of your own that what may change nothing may change, such as the
            share of replies that call, or a count of calls by their names.
        **options: Further settings of `seal.run`.

    Raises:
        AssertionError: A score cannot be, which the text names; a task is known to contradict and
            does not; more than 1 % of the tasks are known to; no task can be played, or the number
            of those that cannot is another.
        DataError: The file is no such JSON.
    """
    excused = _known(known)
    with tempfile.TemporaryDirectory() as folder:
        checks = _Checks(bench, Path(folder), {**options, "first": limit}, may_change)
        _check_played(checks, without_gold, exact=limit is None)
        checks.check_published()
        found = list(checks.of_gold() if gold_alone else checks.contradictions())
        tasks = len(checks.tasks)
        if limit is not None:  # of the others nothing is said
            played = {task.id for task in checks.tasks}
            excused = {task: why for task, why in excused.items() if task in played}
    new = [one for one in found if one.task not in excused]
    assert not new, _all_told(new)
    gone = sorted(excused.keys() - {one.task for one in found}) if limit is None else []
    assert not gone, f"known to contradict, and do not any more; remove: {', '.join(gone)}"
    assert len(excused) <= MOST_KNOWN * tasks or not excused, (
        f"{len(excused)} of {tasks} tasks are known to contradict; at most {MOST_KNOWN:.0%} may"
    )


def _all_told(found: Sequence[Contradiction]) -> str:
    """Return what cannot be, in lines; of many the first, and the tasks of the others."""
    told = [f"{counted(len(found), 'score')} cannot be:", *(one.told for one in found[:_TOLD])]
    first = {one.task for one in found[:_TOLD]}
    if others := sorted({one.task for one in found} - first):
        told.append(f"and scores of {counted(len(others), 'task')}: {', '.join(others)}")
    return "\n".join(told)


def _check_played(checks: _Checks, without_gold: int, exact: bool) -> None:
    """Make sure that the gold was played, but for as many tasks as are said to have none."""
    lacking, tasks = checks.unplayed(), len(checks.tasks)
    assert len(lacking) < tasks, f"none of {counted(tasks, 'task')} has gold that can be played"
    told = f"{len(lacking)} of {tasks} tasks have no gold that can be played"
    some = ", ".join(lacking[:_LISTED_METRICS])
    fits = len(lacking) == without_gold if exact else len(lacking) <= without_gold
    assert fits, f"{told}, expected {without_gold}: {some}"


def _failing(chat: Trajectory) -> str:
    """Return the first call of a chat of the gold that failed or has no result; empty: none."""
    for step, answer in chat.calls():
        result = None if answer is None else answer.result
        if step.call is not None and failed(result):
            given = ", ".join(f"{n}={v!r}" for n, v in (step.call.arguments or {}).items())
            error = (result.error if result is not None else None) or {}
            said = [str(error[part]) for part in ("kind", "message") if error.get(part)]
            return f"; the call {step.call.name}({given}) " + (
                f"failed: {': '.join(said)}" if said else "has no result"
            )
    return ""


def _known(given: str | Path | Mapping[str, str] | None) -> Mapping[str, str]:
    if given is None or isinstance(given, Mapping):
        return given or {}
    found = json_file(Path(given))
    if not isinstance(found, dict):
        raise DataError(f"{given}: expected an object of task to reason; mend it")
    return found


class _Checks:
    """Plays a benchmark's gold, and it again with changes.

    Args:
        bench: What is played.
        folder: For runs.
        options: Of each run.
        may_change: Metrics of its own that any change may change.
    """

    def __init__(
        self, bench: Any, folder: Path, options: Mapping[str, Any], may_change: Collection[str]
    ) -> None:
        self._folder, self._options = folder, {**options}
        self._bench = bench_of(bench, self._options.pop("tools", ()))
        self._pool = load_pool(self._bench)
        made = self._pool.benchmark
        self._success = made.success if made is not None else ""
        offered = all(goal.offered is not None for t in self._pool.tasks() for goal in t.goals)
        self._retriever = {} if offered else {"retriever": "oracle"}
        self._may_change = may_change
        self._gold = self._run("gold").folder
        self.tasks: list[Task] = list(self._gold.tasks())
        self._told = {
            (task.id, at)
            for task in self.tasks
            for at, goal in enumerate(task.goals)
            if has_told_milestones(goal)
        }
        """Goals whose milestones ask for values in what is said, by task and position."""
        self._chats = {chat.task_id: chat for chat in self._gold.trajectories() if chat.trial == 0}
        self._before = _values(self._gold)
        self._scales = self._gold.scales()
        # Prompts, and so tokens, grow with the tools that are offered.
        counts = [name for name, scale in self._scales.items() if not scale.bounded]
        known = (name for name in counts if not is_foreign(name, METRICS))
        self._free = (*_OF_RETRIEVAL, *known)

    def check_published(self) -> None:
        """Make sure that columns of published tables are of metrics that a run can have."""
        made = self._pool.benchmark
        measured = self._gold.summary()["metrics"]
        for table in tables_of(made) if made is not None else ():
            for heading, metric in table.columns.items() if table.of == "run" else ():
                name = metric.partition("|")[0]
                assert not name or name in measured or not is_foreign(name, METRICS), (
                    f"{table.name}: the column {heading!r} is of the metric {name!r}, which no run "
                    f"has; name one of: {', '.join(measured)}"
                )

    def contradictions(self) -> Iterator[Contradiction]:
        """Yield every score that cannot be."""
        yield from self.of_gold()
        yield from self._unsettled()
        for name, change in _SETTINGS.items():
            again = _values(self._run(name, **change).folder)
            yield from self._unchanged(name, again, self._free)
        for name, what in (("distraction=1", "an irrelevant tool"), ("names", "renamed tools")):
            yield from self._unchanged(what, self._augmented(name), self._free)
        for name, way in WAYS.items():
            after = self._altered(name, way)
            bounded = {key: value for key, value in after.items() if self._scale(key).bounded}
            yield from self._unchanged(name, bounded, _OF_THE_WAY)
        for name, turns in TURNS.items():
            yield from self._unchanged(name, self._turned(name, turns), ())
        for fault, make in PLANTED.items():
            yield from self._faulty(fault, self._altered(fault, make))
        for fault, edit in EDITED.items():
            yield from self._faulty(fault, self._edited(fault, edit))

    def unplayed(self) -> list[str]:
        """Return the ids of the tasks that the oracle could not play."""
        played = {key[0] for key in self._before}
        return [task.id for task in self.tasks if task.id not in played]

    def of_gold(self) -> Iterator[Contradiction]:
        """Yield every chat of the gold that ended with an error, and every score that must be best.

        Which gold calls failed is told.
        """
        for chat in self._gold.trajectories():
            if chat.failed:
                yield Contradiction(
                    chat.task_id,
                    f"the gold: {chat.task_id}: {failure_reason(chat)}{_failing(chat)}",
                )
        for key, value in self._before.items():
            scale = self._scale(key)
            must = scale.gold_is_best or key[3] == self._success
            if must and value is not None and not is_best(value, scale):
                best = "0.0" if scale.higher_is_better is False else "1.0"
                one = _contradiction("the gold", key, value, best)
                yield one._replace(told=one.told + _failing(self._chats[key[0]]))

    def _unsettled(self) -> Iterator[Contradiction]:
        """Yield the goals whose world ends otherwise if the agent makes a call before gold's."""
        code = self._options.get("allow_code", ())
        setup = WorldSetup(allow_code=code, own=environments_beside(self._pool.benchmark))
        for task in self.tasks:
            if not task.world or not any(goal.asks_for_end for goal in task.goals):
                continue
            worlds = build_worlds(task.world, setup)
            if not isinstance(worlds, Worlds):
                continue
            tools = {tool.id: tool for tool in worlds.documents()}
            for goal, names in of_the_calls_before(task, partial(worlds.open, task, 0), tools):
                told = (
                    f"a call before the gold: {task.id}, {goal_name(goal)}: {', '.join(names)} "
                    f"is other than after the gold alone, so that an agent that looks first fails; "
                    f"give ends_as(..., ignore={names})"
                )
                yield Contradiction(task.id, told)

    def _scale(self, key: _Key) -> Scale:
        return self._scales.get(key[3], RATE)

    def _run(self, name: str, bench: Any = None, **change: Any) -> Run:
        settings = {"model": "oracle", "baselines": False, "workers": 1, **self._retriever}
        options = {**settings, **self._options, **change}
        return run(bench or self._bench, out=self._folder / name, **options)

    def _augmented(self, name: str) -> _Values:
        pool, limit = self._folder / f"pool {name}", self._options.get("first")
        augment(self._bench, name, pool)
        bench = self._pool.at(pool)
        again = self._run(f"run {name}", bench, first=limit and 2 * limit).folder
        base = {task.id: str(task.metadata.get("base", task.id)) for task in again.tasks()}
        return {(base[key[0]], *key[1:]): value for key, value in _values(again).items()}

    def _altered(self, name: str, alter: Alter) -> _Values:
        """Return the scores of the goals whose gold can be altered, the last such of each task."""
        played, changed = {}, set()
        for task in self.tasks:
            goals = list(task.goals)
            chat = self._chats.get(task.id)
            if chat is None:
                continue
            acts = [acting(chat, at) for at in range(len(goals))]
            found = ((at, alter(goals[at], acts[at])) for at in reversed(range(len(goals))))
            at, other = next(((at, other) for at, other in found if other is not None), (0, None))
            if other is not None:
                goals[at] = other
                played[task.id] = replace(task, goals=tuple(goals))
                changed.add((task.id, at))
        if not changed:
            return {}
        model = _Altered(played, self._pool.benchmark)
        return _of_goals(self._run(name, model=model).folder, changed)

    def _edited(self, name: str, edit: Edit) -> _Values:
        """Return the scores of the goals in whose chats something was said or found otherwise."""
        chats, changed = dict(self._chats), set()
        for task in self.tasks:
            for at in range(len(task.goals)):
                other = edit(task, chats[task.id], at) if task.id in chats else None
                if other is not None:
                    chats[task.id] = other
                    changed.add((task.id, at))
        if not changed:
            return {}
        folder = RunFolder(Path(shutil.copytree(self._gold.path, self._folder / name)))
        write_records(folder.trajectories_path, chats.values())
        judge = dict(self._options.get("role_models") or {}).get("judge")
        how = ScoreSettings(
            bench=self._pool.benchmark,
            metrics=self._options.get("metrics", ()),
            match=self._options.get("match"),
            judge_model=judge,
        )
        rescore(folder.path, how)
        return _of_goals(folder, changed)

    def _turned(self, name: str, turns: Turn) -> _Values:
        """Return what is told of the goals of dialogues of another length, by what they were."""
        made = list(turns([task for task in self.tasks if self._is_free(task)]))
        if not made:
            return {}
        pool = self._folder / f"pool {name}"

        def records(source: Any, notes: Notes, **options: Any) -> Iterator[Tool | Task]:
            yield from self._pool.tools()
            yield from (task for task, _ in made)

        write_pool(self._pool.name, records, None, pool)
        again = _values(self._run(name, self._pool.at(pool), first=None).folder)
        were = {(task.id, at): goal for task, goals in made for at, goal in enumerate(goals)}
        before = ((were[task, goal], trial, name) for task, trial, goal, name in again)
        keys = [(task, trial, goal, name) for (task, goal), trial, name in before]
        told = zip(keys, again.values(), strict=True)
        return {
            key: value
            for key, value in told
            if self._scale(key).gold_is_best and key[3] not in _OF_DIALOGUES
        }

    def _is_free(self, task: Task) -> bool:
        """Tell whether the goals of a task depend on nothing that was before them."""
        chat = self._chats.get(task.id)
        still = chat is not None and not any(step.state for step in chat.steps)
        return still and task.persona is None and task.initial_state is None

    def _unchanged(
        self, check: str, after: _Values, free: Collection[str]
    ) -> Iterator[Contradiction]:
        for key, value in after.items():
            before, scale = self._before.get(key, value), self._scale(key)
            may = key[3].partition("@")[0] in free or key[3] in self._may_change
            # Of two right plans one may have no order, and so no progress in it.
            best = all(one is None or is_best(one, scale) for one in (value, before))
            whole = best and scale.gold_is_best
            if value != before and not may and not whole:
                yield _contradiction(check, key, value, str(before))

    def _faulty(self, fault: str, after: _Values) -> Iterator[Contradiction]:
        lowered, left = _FAULTS[fault]
        for key, value in after.items():
            before, metric = self._before.get(key), key[3].partition("@")[0]
            scale = self._scale(key)
            if before is None or value is None or not is_best(before, scale):
                continue
            worse = value > before if scale.higher_is_better is False else value < before
            sees = metric in lowered or (metric == self._success and _SUCCESS in lowered)
            if fault in OF_WORDS and metric in _OF_MILESTONES:
                sees = sees and (key[0], key[2]) in self._told
            if sees and not worse:
                yield _contradiction(fault, key, value, f"worse than {before}")
            elif metric in left and value != before:
                yield _contradiction(fault, key, value, str(before))


@dataclass(frozen=True)
class _Altered:
    """The oracle of tasks whose gold is other than that by which they are scored.

    Args:
        tasks: Id to the altered task.
        benchmark: Whose own roles are played by gold.
    """

    tasks: Mapping[str, Task]
    benchmark: Any
    plays_tasks = True
    identity = "altered gold"

    def open(self, task: Task, trial: int) -> ChatModel:
        """Return the model of one chat."""
        other = self.tasks.get(task.id, task)
        return with_roles(Oracle().open(other, trial), "oracle", self.benchmark, other)


def _values(folder: RunFolder) -> dict[_Key, float | None]:
    return {(s.task_id, s.trial, s.goal, s.metric): s.value for s in folder.scores()}


def _of_goals(folder: RunFolder, goals: Collection[tuple[str, int]]) -> _Values:
    return {key: value for key, value in _values(folder).items() if (key[0], key[2]) in goals}


def _contradiction(check: str, key: _Key, value: float | None, expected: str) -> Contradiction:
    task, _, goal, metric = key
    told = f"{task}, {goal_name(goal)}: {metric} is {value}, expected {expected}"
    return Contradiction(task, f"{check}: {told}")


_SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "other workers": {"workers": 2},
    "another K": {"top_k": 20, "cutoffs": (2, 3)},
}


# -- A bound that a run must reach, for tests of an agent or of a model.

_LISTED_BELOW = 5


def assert_passes(
    run: Run, metric: str = "pass_rate", *, at_least: float, by: Literal["mean", "low"] = "mean"
) -> None:
    """Make sure that a metric of a run reaches a bound.

    Args:
        run: As `seal.run` returns it, or `seal.Run.load`.
        metric: Name, such as `pass_rate`.
        at_least: The bound, 0 to 1 for a rate.
        by: mean, or low: the low end of the 95 % interval, which chance hardly reaches.

    Raises:
        AssertionError: It does not. The text has mean, interval and n, and the tasks that scored
            worst.
        DataError: Chats failed for no fault of what was tested, or the metric applies to no task:
            there is nothing to hold against the bound.
        UnknownKeyError: No such metric; names the closest.

    Example:
        >>> import seal
        >>> from seal.testing import assert_passes
        >>> run = seal.run("sample", model="oracle", limit=5, baselines=False)
        >>> assert_passes(run, "call_f1", at_least=0.9)
    """
    found = run[metric]
    if run.summary["errors"] or run.summary["unfinished"]:
        raise DataError(
            f"{run.folder.path}: {counted(run.summary['errors'], 'chat')} failed and "
            f"{run.summary['unfinished']} were not finished; go on with "
            "seal.run(..., resume=True) before a bound is asked for"
        )
    reached = getattr(found, by)
    if reached is None:
        raise DataError(
            f"{metric} has no {by}: it applies to {counted(found.n, 'goal')}; see run.tasks"
        )
    if reached >= at_least:
        return
    scores = [one for one in run.folder.scores() if one.metric == metric and one.value is not None]
    worst = sorted(scores, key=lambda one: (one.value or 0.0, one.task_id))
    below = list(dict.fromkeys(one.task_id for one in worst if (one.value or 0.0) < at_least))
    more = f" and {len(below) - _LISTED_BELOW} more" if len(below) > _LISTED_BELOW else ""
    raise AssertionError(
        f"{metric} {found}: its {by} is {reached:.3f}, expected at least {at_least:g}; "
        f"below it: {', '.join(below[:_LISTED_BELOW])}{more}"
    )
