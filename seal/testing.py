"""What must hold of the scores of any benchmark, for tests of one's own.

    from seal.testing import check_benchmark

    def test_my_benchmark() -> None:
        check_benchmark(my_benchmark)

The gold is played (`oracle`) and scored, and then played or scored again with a change that may
change nothing, or with a fault that must be seen by some metrics and by no others.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seal.api.pools import augment, load_pool
from seal.api.results import score
from seal.api.runs import run
from seal.core import DataError, Goal, Step, Task
from seal.core.conditions import Called
from seal.core.records import AtomicFile, encode
from seal.evaluation.goals import WHOLLY, no_gold
from seal.pools.lookup import Bench
from seal.pools.reading.records import json_file
from seal.runs.run_folder import RunFolder

if TYPE_CHECKING:
    from seal.api.objects.run import Run

PERFECT = (
    "abstention",
    "arg_name_f1",
    "arg_value_acc",
    "call_f1",
    "call_precision",
    "call_recall",
    "calls_right",
    "dialogue_accuracy",
    "milestone_similarity",
    "mission_accuracy",
    "param_acc_gold",
    "param_acc_matched",
    "pass_rate",
    "similarity",
)
"""Metrics in which the gold has 1.0 wherever they apply."""
MOST_KNOWN = 0.01
"""Share of a benchmark's tasks whose gold may contradict a metric, at most."""
_OF_RETRIEVAL = ("recall@", "mrr", "ndcg@", "all_found@", "relevant_", "tokens", "precision@")
_FAULTS: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "a call is left out": (
        frozenset({"calls_right", "call_recall", "param_acc_gold"}),
        frozenset({"call_precision", "param_acc_matched", "arg_name_f1", "arg_value_acc"}),
    ),
    "a call is made twice": (
        frozenset({"calls_right", "call_precision"}),
        frozenset({"call_recall", "param_acc_gold", "param_acc_matched", "arg_value_acc"}),
    ),
    "an argument is wrong": (
        frozenset({"calls_right", "param_acc_gold", "param_acc_matched", "arg_value_acc"}),
        frozenset({"call_recall", "call_precision", "call_f1", "arg_name_f1"}),
    ),
}
"""Fault to the metrics that it lowers, where they apply, and to those that it leaves alone."""

_Key = tuple[str, int, int, str]
"""Task, trial, goal, metric."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A score that cannot be."""

    check: str
    """What was done: `the gold`, a change, or a fault."""
    task: str
    goal: int
    metric: str
    value: float | None
    expected: str

    def __str__(self) -> str:
        """Return it as a line."""
        place = f"{self.task}, goal {self.goal}"
        return f"{self.check}: {place}: {self.metric} is {self.value}, expected {self.expected}"


def check_benchmark(
    bench: Bench | Sequence[Task],
    *,
    limit: int | None = None,
    known: str | Path | Mapping[str, str] | None = None,
    **options: Any,
) -> None:
    """Make sure that a benchmark's gold and metrics agree.

    - The gold has 1.0 in every metric that applies (`PERFECT`).
    - Other workers, other cut-offs, an added irrelevant tool, renamed tools, other right values and
      another order of calls that gold leaves unordered change no metric but those of retrieval.
    - A call that is left out, made twice, or made with a wrong argument lowers the metrics that see
      it, and no others.

    Args:
        bench: A benchmark, the name of one, a pool folder, or tasks with `tools` among the options.
        limit: Tasks at most.
        known: Task to why its gold contradicts a metric, or a JSON file of such: they may do so.
        **options: Further settings of `seal.run`.

    Raises:
        AssertionError: A score cannot be, which the text names; a task is known to contradict and
            does not; or more than 1 % of the tasks are known to.
        DataError: The file is no such JSON.
    """
    excused = _known(known)
    with tempfile.TemporaryDirectory() as folder:
        checks = _Checks(bench, Path(folder), {**options, "limit": limit})
        found = list(checks.contradictions())
        tasks = sum(1 for _ in checks.played.tasks())
    new = [str(one) for one in found if one.task not in excused]
    assert not new, "\n".join([f"{len(new)} scores cannot be:", *new[:50]])
    gone = sorted(excused.keys() - {one.task for one in found}) if limit is None else []
    assert not gone, f"known to contradict, and do not any more; remove: {', '.join(gone)}"
    assert len(excused) <= MOST_KNOWN * tasks or not excused, (
        f"{len(excused)} of {tasks} tasks are known to contradict; at most {MOST_KNOWN:.0%} may"
    )


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
    """

    def __init__(self, bench: Any, folder: Path, options: Mapping[str, Any]) -> None:
        self._bench, self._folder, self._options = bench, folder, options
        tasks = bench if isinstance(bench, (list, tuple)) else load_pool(bench).tasks()
        offered = all(goal.offered is not None for task in tasks for goal in task.goals)
        self._retriever = {} if offered else {"retriever": "oracle"}
        self._gold = self._run("gold")
        self.played = self._gold.folder
        self._before = _values(self.played)

    def contradictions(self) -> Iterator[Contradiction]:
        """Yield every score that cannot be."""
        for key, value in self._before.items():
            if key[3] in PERFECT and value is not None and value < WHOLLY:
                yield _contradiction("the gold", key, value, "1.0")
        for name, change in (("workers", {"workers": 2}), ("cutoffs", {"cutoffs": (2, 3)})):
            yield from self._unchanged(f"other {name}", _values(self._run(name, **change).folder))
        for name, what in (("distraction=1", "an irrelevant tool"), ("names", "renamed tools")):
            yield from self._augmented(name, what)
        yield from self._unchanged("another order", self._scored("order", _reordered))
        yield from self._unchanged("other right values", self._scored("values", _other_values))
        for fault, mend in _PLANTED.items():
            yield from self._faulty(fault, self._scored(fault, mend))

    def _run(self, name: str, bench: Any = None, **change: Any) -> Run:
        settings = {"model": "oracle", "baselines": False, "workers": 1, **self._retriever}
        options = {**settings, **self._options, **change}
        return run(bench or self._bench, out=self._folder / name, **options)

    def _augmented(self, name: str, what: str) -> Iterator[Contradiction]:
        options = dict(self._options)
        tools = {"tools": options.pop("tools")} if "tools" in options else {}
        pool = self._folder / f"pool {name}"
        augment(self._bench, name, pool, **tools)
        limit = options.get("limit")
        again = self._run(f"run {name}", pool, tools=(), limit=limit and 2 * limit).folder
        base = {task.id: str(task.metadata.get("base", task.id)) for task in again.tasks()}
        values = {(base[key[0]], *key[1:]): value for key, value in _values(again).items()}
        yield from self._unchanged(what, values)

    def _unchanged(self, check: str, after: Mapping[_Key, float | None]) -> Iterator[Contradiction]:
        for key, value in after.items():
            before = self._before.get(key, value)
            if value != before and not key[3].startswith(_OF_RETRIEVAL):
                yield _contradiction(check, key, value, str(before))

    def _faulty(self, fault: str, after: Mapping[_Key, float | None]) -> Iterator[Contradiction]:
        lowered, left = _FAULTS[fault]
        for key, value in after.items():
            before, metric = self._before.get(key), key[3]
            if before is None or value is None or before < WHOLLY:
                continue
            if metric in lowered and value >= before:
                yield _contradiction(fault, key, value, f"less than {before}")
            elif metric in left and value != before:
                yield _contradiction(fault, key, value, str(before))

    def _scored(self, name: str, mend: _Mend) -> dict[_Key, float | None]:
        """Return the scores of the goals that a mend changes."""
        folder = self._folder / name
        shutil.copytree(self.played.path, folder)
        changed = set()
        with AtomicFile(folder / "trajectories.jsonl") as out:
            for task, trajectory in self.played.chats():
                steps = list(trajectory.steps)
                for position, goal in enumerate(task.goals):
                    mended = mend(goal, _calls_at(steps, position), steps)
                    if mended is not None:
                        steps = mended
                        changed.add((task.id, position))
                out.write(encode(replace(trajectory, steps=tuple(steps))))
        values = _values(score(replace(self._gold, folder=RunFolder.open(folder))).folder)
        return {key: value for key, value in values.items() if (key[0], key[2]) in changed}


_Mend = Callable[[Goal, Sequence[int], list[Step]], list[Step] | None]
"""(goal, places of its calls, the steps) to other steps; None: it does not apply."""


def _values(folder: RunFolder) -> dict[_Key, float | None]:
    return {(s.task_id, s.trial, s.goal, s.metric): s.value for s in folder.scores()}


def _contradiction(check: str, key: _Key, value: float | None, expected: str) -> Contradiction:
    return Contradiction(check, key[0], key[2], key[3], value, expected)


def _calls_at(steps: Sequence[Step], goal: int) -> list[int]:
    return [
        place
        for place, step in enumerate(steps)
        if step.goal == goal and step.call is not None and step.author != "user_simulator"
    ]


def _gold(goal: Goal) -> list[Called]:
    """Return the gold calls of a goal that is calls in any order, of one plan; else none."""
    if no_gold(goal) or len(goal.plans or ()) != 1:
        return []
    (plan,) = goal.plans or ()
    found = [node.condition for node in plan.milestones if not node.after]
    calls = [one for one in found if isinstance(one, Called) and one.arguments is not None]
    return calls if len(calls) == len(plan.milestones) else []


def _reordered(goal: Goal, places: Sequence[int], steps: list[Step]) -> list[Step] | None:
    """Swap what is called, and what came of it, from behind."""
    if len(places) < 2 or len(_gold(goal)) != len(places):
        return None
    called = [steps[place].call for place in places]
    for place, call in zip(places, reversed(called), strict=True):
        steps[place] = replace(steps[place], call=call)
    results = {s.result.call_id: s.result for s in steps if s.result is not None}
    turned = {a.id: b.id for a, b in zip(called, reversed(called), strict=True) if a and b}
    for place, step in enumerate(steps):
        if step.result is not None and step.result.call_id in turned:
            result = results.get(turned[step.result.call_id])
            steps[place] = replace(step, result=result, content=result.content if result else "")
    return steps


def _other_values(goal: Goal, places: Sequence[int], steps: list[Step]) -> list[Step] | None:
    """Give the last right value of each argument."""
    gold = _gold(goal)
    if not gold or len(gold) != len(places):
        return None
    changed = None
    for one, place in zip(gold, places, strict=True):
        call = steps[place].call
        if call is None or call.tool != one.tool or not call.arguments:
            return None
        listed = {name: gold.listed for name, gold in (one.arguments or {}).items()}
        wanted = {  # of the first one's type: gold may list what the tool's schema refuses
            name: [value for value in listed[name] if type(value) is type(listed[name][0])][-1]
            for name in call.arguments
            if listed.get(name)
        }
        if wanted != call.arguments:
            changed = steps
            arguments = {**call.arguments, **wanted}
            steps[place] = replace(steps[place], call=replace(call, arguments=arguments))
    return changed


def _left_out(goal: Goal, places: Sequence[int], steps: list[Step]) -> list[Step] | None:
    call = steps[places[-1]].call if len(places) > 1 and _gold(goal) else None
    if call is None:
        return None
    of_it = (step.call is call or _answers(step, call.id) for step in steps)
    return [step for step, is_of_it in zip(steps, of_it, strict=True) if not is_of_it]


def _made_twice(goal: Goal, places: Sequence[int], steps: list[Step]) -> list[Step] | None:
    if not places or not _gold(goal):
        return None
    again = steps[places[-1]]
    call = again.call and replace(again.call, id=f"{again.call.id}-again")
    twin = replace(again, call=call)
    return [*steps[: places[-1] + 1], twin, *steps[places[-1] + 1 :]]


def _wrong(goal: Goal, places: Sequence[int], steps: list[Step]) -> list[Step] | None:
    gold = _gold(goal)
    call = steps[places[-1]].call if places else None
    owned = [one for one in gold if call is not None and one.tool == call.tool]
    if call is None or not call.arguments or len(owned) != 1:
        return None
    name = next((n for n, a in (owned[0].arguments or {}).items() if a.listed), None)
    if name not in call.arguments:
        return None
    arguments = {**call.arguments, name: ["no such value"]}
    steps[places[-1]] = replace(steps[places[-1]], call=replace(call, arguments=arguments))
    return steps


def _answers(step: Step, call_id: str) -> bool:
    return step.result is not None and step.result.call_id == call_id


_PLANTED: Mapping[str, _Mend] = {
    "a call is left out": _left_out,
    "a call is made twice": _made_twice,
    "an argument is wrong": _wrong,
}
