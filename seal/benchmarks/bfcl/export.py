"""The form `bfcl` of `seal export`: BFCL_v4_CATEGORY.json, possible_answer/; of a run result/."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from seal.core import JSON, Goal, Plan
from seal.core.plain import json_text
from seal.experiments.export import Writer

_BESIDE = (("possible_answer/", "answers", ""), ("result/", "results", "_result"))


def write_bfcl(to: Writer) -> None:
    """Write the single turns of a pool, and of a run the calls that were made."""
    to.read_back = "SEAL reads it: `seal import bfcl FOLDER --out POOL`."
    items: defaultdict[str, dict[str, list[dict[str, JSON]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    names: dict[str, str] = {}
    for key, task, goal in to.goals():
        truth = _truth(to, goal) if len(task.goals) == 1 else None
        if truth is None:
            to.left_out["goals that are no single turn with gold arguments, all in one step"] += 1
            continue
        offered = to.offered(goal)
        name = names[key] = _category(len(offered), len(truth))
        question: JSON = [[{"role": "user", "content": goal.text}]]
        functions: Any = to.documents(tool.id for tool in offered)
        items[""][name].append({"id": key, "question": question, "function": functions})
        if truth:
            items["possible_answer/"][name].append({"id": key, "ground_truth": truth})
    for trajectory in () if to.run is None else to.run.trajectories():
        if trajectory.task_id in names:
            calls = [step.call for step in trajectory.steps if step.call is not None]
            made: JSON = [{call.name: call.raw or json_text(call.arguments)} for call in calls]
            result: dict[str, JSON] = {"id": trajectory.task_id, "result": made}
            items["result/"][names[trajectory.task_id]].append(result)
    for folder, kind, end in (("", "items", ""), *_BESIDE):
        for name, lines in items[folder].items():
            to.lines(f"{folder}BFCL_v4_{name}{end}.json", kind, lines)


def _truth(to: Writer, goal: Goal) -> list[JSON] | None:
    """Return BFCL's ground truth of a goal: the right values of each argument.

    None: the right values are not known, or a call waits for another.
    """
    if goal.plans is None:
        return None
    plan = goal.plans[0] if goal.plans else Plan()
    if any(step.after for step in plan.milestones):
        return None
    truth: list[JSON] = []
    for call in plan.calls():
        if call.arguments is None or any(a.values is None for a in call.arguments.values()):
            return None
        right: dict[str, JSON] = {
            name: [*(gold.values or ()), *([""] if gold.optional else [])]
            for name, gold in call.arguments.items()
        }
        truth.append({to.names[call.tool]: right})
    return truth


def _category(offered: int, calls: int) -> str:
    if not calls:
        return "irrelevance"
    several = "multiple" if offered > 1 else ""
    return "_".join(filter(None, ["parallel" * (calls > 1), several])) or "simple_python"
