"""`seal.generate("milestones", ...)`: milestones drafted from what was done."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from seal.api.objects.products import Generated
from seal.benchmarks.toolsandbox.drafts.milestones import Draft, draft_task
from seal.benchmarks.toolsandbox.drafts.settings import MilestoneSettings
from seal.core import JSON, DataError, Task, Tool, Trajectory, check_name
from seal.core.plain import INDENTED, json_bytes
from seal.core.records import to_plain
from seal.core.signatures import checked
from seal.core.text import counted
from seal.environments.world import WorldSetup
from seal.evaluation.goals import WHOLLY
from seal.experiments.result_files import write_json
from seal.pools.generator import Told
from seal.pools.lookup import Bench, environments_beside, open_pool
from seal.report.chat_records import ChatOutcome, outcomes
from seal.runs.run_folder import RunFolder


@checked
def generate_milestones(
    bench: Bench,
    out: str | Path | None = None,
    **options: Any,
) -> Generated:
    """Propose milestones, their order and guarded tables from sequences that were done.

    Args:
        bench: A run folder, whose chats count; else a benchmark, whose references count.
        out: File to write the drafts to; None: none is written.
        **options: Fields of `MilestoneSettings`.

    Returns:
        {drafts, left_out, unsolved}; `unsolved` maps tasks that were drafted from a chat that did
        not solve them to what that chat is.

    Raises:
        UnknownNameError: No such form.
        DataError: The run or the pool is damaged.
    """
    asked = MilestoneSettings(**options)
    place = bench if isinstance(bench, str | Path) else ""
    if place and (Path(place) / "run.json").is_file():
        run = RunFolder.open(place)
        found, tools, chats = run.tasks(), run.tools(), run.trajectories()
        folder, unsolved, played = None, _unsolved(outcomes(run)), run.benchmark()
    else:
        pool = open_pool(bench)
        found, tools, chats = pool.tasks(), {tool.id: tool for tool in pool.tools()}, None
        folder, unsolved, played = pool.folder, {}, pool.benchmark
    code, world = tuple(asked.allow_code), asked.world_options or {}
    own = environments_beside(played)
    setup = WorldSetup(seed=asked.seed, options=world, folder=folder, own=own, allow_code=code)
    drafts, left_out = draft_tasks(found, tools, chats, asked.tasks, setup)
    drafted = {draft.task_id: unsolved.get(draft.task_id) for draft in drafts}
    plain: dict[str, JSON] = {
        "drafts": [_written(draft, asked.form) for draft in drafts],
        "left_out": left_out,
        "unsolved": {task: label for task, label in drafted.items() if label},
    }
    if out is not None:
        write_json(plain, Path(out))
    return Generated(plain, None if out is None else Path(out))


def milestones_told(made: Mapping[str, Any], out: Path | None) -> Told:
    """Return what the command line tells of drafts: without a file these themselves."""
    notes = [
        f"task {name} is drafted from a chat that is {label}: its milestones ask for what was done "
        "there, right or not"
        for name, label in made["unsolved"].items()
    ]
    text = _summary(made, out) if out else json_bytes(dict(made), INDENTED).decode().rstrip()
    return Told(text=text, notes=notes)


def _summary(made: Mapping[str, Any], out: Path) -> str:
    unfit = [draft["id"] for draft in made["drafts"] if draft["similarity"] < WHOLLY]
    below = f"; below 1 on their own sequence: {', '.join(unfit)}" if unfit else ""
    drafts, left = counted(len(made["drafts"]), "draft"), counted(len(made["left_out"]), "task")
    return f"{drafts}, {left} left out{below}; written to {out}"


def _unsolved(chats: Iterable[ChatOutcome]) -> dict[str, str]:
    """Return the tasks whose first chat without an error is not solved, and what it is."""
    labels: dict[str, str] = {}
    for chat in chats:
        if chat.label != "error":
            labels.setdefault(chat.task_id, chat.label)
    return {task: label for task, label in labels.items() if label != "solved"}


def _written(draft: Draft, form: str) -> dict[str, JSON]:
    own = {"plan": to_plain(draft.plan)} if form == "plan" else {"milestones": draft.milestones()}
    similarity = round(draft.similarity, 6)
    return {"id": draft.task_id, "goal": draft.goal, "similarity": similarity, **own}


def draft_tasks(
    tasks: Iterable[Task],
    tools: Mapping[str, Tool],
    trajectories: Iterable[Trajectory] | None = None,
    wanted: Collection[str] = (),
    setup: WorldSetup | None = None,
) -> tuple[list[Draft], dict[str, str]]:
    """Return the drafted milestones of tasks, and task's id to why it has no draft.

    Args:
        tasks: With their goals.
        tools: By id.
        trajectories: What was done; of each task the first one that did not fail counts. None: the
            references of the tasks.
        wanted: Ids of tasks; none: all.
        setup: Of the worlds; None: without options.

    Raises:
        UnknownNameError: A wanted task is not among the tasks.
        DataError: There is no draft at all; the text says why.
    """
    known = {task.id: task for task in tasks}
    for name in wanted:
        check_name("task", name, known)
    by_id = {name: task for name, task in known.items() if not wanted or name in wanted}
    played = None if trajectories is None else _first(trajectories, by_id)
    drafts: list[Draft] = []
    left_out: dict[str, str] = {}
    for task in by_id.values():
        trajectory = None if played is None else played.get(task.id)
        if played is not None and trajectory is None:
            left_out[task.id] = "it was not played to its end"
            continue
        try:
            drafts += draft_task(task, tools, trajectory, setup)
        except DataError as error:
            left_out[task.id] = str(error).removeprefix(f"task {task.id}: ")
    if not drafts:
        why = next(iter(left_out.values()), "there is no task")
        raise DataError(f"no milestones can be drafted: {why}")
    return drafts, left_out


def _first(trajectories: Iterable[Trajectory], tasks: Collection[str]) -> dict[str, Trajectory]:
    found: dict[str, Trajectory] = {}
    for trajectory in trajectories:
        if trajectory.task_id in tasks and not trajectory.failed:
            found.setdefault(trajectory.task_id, trajectory)
    return found
