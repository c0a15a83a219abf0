"""Whether a run may go on in its folder under the settings given now."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from seal.core import Milestone, Plan, Tool, UsageError
from seal.core.conditions import Called
from seal.core.files import content_of
from seal.core.records import encode
from seal.evaluation.goals import IN_ORDER
from seal.pools.importer import TOOLS
from seal.pools.own_benchmark import default_arguments
from seal.pools.pool import StoredPool
from seal.runs.settings import GROWING

# -- Whether a run may go on under the settings given now.

Plans = tuple[Plan, ...] | None
_FORMER = {"style"}
"""Parts of old records that another part says: an execution manager that is `react`."""


def differences(
    before: Mapping[str, Any],
    now: Mapping[str, Any],
    same: Callable[[str, Any, Any], bool] = lambda key, old, new: bool(old == new),
) -> list[str]:
    """Return in which settings two manifests differ, both values with each."""
    return [
        f"{part}.{key}: was {old.get(key)!r}, is {new.get(key)!r}"
        for part in ("measure", "system")
        for old, new in [(before.get(part, {}), now[part])]
        for key in sorted({*old, *new} - _FORMER)
        if not same(key, old.get(key), new.get(key))
    ]


def check_resumable(before: Mapping[str, Any], now: Mapping[str, Any], folder: Any) -> None:
    """Make sure that a run may go on under the settings given now.

    Raises:
        UsageError: Names each setting that differs, both values, and the repair.
    """
    if differing := differences(before, now, _same):
        judged = any(each.startswith("measure.judge:") for each in differing)
        scored = f"Let the judge of now score it (seal score {folder}), resume"
        raise UsageError(
            f"{folder} holds a run of other settings; " + "; ".join(differing) + ". "
            f"{scored if judged else 'Resume'} with the settings of then, or give another --out"
        )


def without_order(measure: dict[str, Any]) -> None:
    """Tell of an old run, whose limit took the head of the file, in the words of now."""
    if measure.get("limit") is not None and "order" not in measure:
        measure |= {"limit": None, "first": measure["limit"]}


def with_gold_of_now(measure: dict[str, Any], pool: StoredPool) -> None:
    """Tell of an old run, whose gold said nothing of defaults and order, in the words of now."""
    if measure.get("pool_digest") in (None, pool.digest):
        return
    tools = {tool.id: tool for tool in pool.tools()}
    written = hashlib.sha256()
    for task in pool.every_task():
        goals = (
            replace(
                goal,
                plans=_as_asked(goal.plans, tools),
                labels={name: said for name, said in goal.labels.items() if name != IN_ORDER},
            )
            for goal in task.goals
        )
        written.update(encode(replace(task, goals=tuple(goals))))
    tools_file = hashlib.sha256(content_of(pool.folder / TOOLS))
    then = hashlib.sha256(tools_file.digest() + written.digest()).hexdigest()
    if measure["pool_digest"] == then:
        measure["pool_digest"] = pool.digest


def _as_asked(plans: Plans, tools: Mapping[str, Tool]) -> Plans:
    """Return plans without the defaults that gold calls accept beside what they ask."""

    def node(milestone: Milestone) -> Milestone:
        gold = milestone.condition
        if not isinstance(gold, Called) or gold.arguments is None or gold.tool not in tools:
            return milestone
        defaults = default_arguments(tools[gold.tool])
        asked = {n: a for n, a in gold.arguments.items() if a != defaults.get(n)}
        return replace(milestone, condition=Called(gold.tool, asked))

    return plans and tuple(
        Plan(tuple(map(node, plan.milestones)), tuple(map(node, plan.minefields))) for plan in plans
    )


def _same(key: str, old: Any, new: Any) -> bool:
    """Tell whether a run may go on with a part: the same, grown, or told of by fewer versions."""
    if key == "versions" and isinstance(old, Mapping):
        return all(old[name] == new[name] for name in old.keys() & new.keys())
    if old == new or key not in GROWING:
        return bool(old == new)
    return new is None or (isinstance(old, int) and new >= old)
