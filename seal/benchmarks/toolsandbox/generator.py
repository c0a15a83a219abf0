"""`seal.generate("milestones", ...)`: milestones drafted from what was done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from seal.benchmarks.toolsandbox.drafts.drafts import check_form, draft_tasks
from seal.core.records import AtomicFile
from seal.core.signatures import checked
from seal.core.types import JSON
from seal.environments.world import WorldSetup
from seal.pools.known import Bench
from seal.pools.lookup import open_pool
from seal.report.chat_records import Outcome, outcomes
from seal.runs.run_folder import RunFolder


@checked
def generate_milestones(
    bench: Bench,
    out: str | Path | None = None,
    *,
    tasks: Sequence[str] = (),
    form: str = "authored",
    world_options: Mapping[str, Any] | None = None,
    seed: int = 0,
    allow_code: Sequence[str] = (),
) -> dict[str, JSON]:
    """Propose milestones, their order and guarded tables from sequences that were done.

    Args:
        bench: A run folder, whose chats count; else a benchmark, whose references count.
        out: File to write the drafts to; None: none is written.
        tasks: Ids; none: all tasks.
        form: authored: as scenario files have them; plan: as tasks do.
        world_options: Of the tasks' world, where references are done anew.
        seed: Of that world.
        allow_code: Modules whose worlds tasks may name by a dotted path.

    Returns:
        {drafts, left_out, unsolved}; `unsolved` maps tasks that were drafted from a chat that did
        not solve them to what that chat is.

    Raises:
        UnknownNameError: No such form.
        DataError: The run or the pool is damaged.
    """
    written = check_form(form)
    place = bench if isinstance(bench, str | Path) else ""
    if place and (Path(place) / "run.json").is_file():
        run = RunFolder.open(place)
        found, tools, chats = run.tasks(), run.tools(), run.trajectories()
        web, unsolved = None, _unsolved(outcomes(run))
    else:
        pool = open_pool(bench)
        found, tools, chats = pool.tasks(), {tool.id: tool for tool in pool.tools()}, None
        web, unsolved = pool.web, {}
    setup = WorldSetup(
        seed=seed, options=world_options or {}, web=web, allow_code=tuple(allow_code)
    )
    drafts = draft_tasks(found, tools, chats, tasks, setup)
    drafted = {draft.task_id: unsolved.get(draft.task_id) for draft in drafts.drafts}
    plain = drafts.to_json(written)
    plain |= {"unsolved": {task: label for task, label in drafted.items() if label}}
    if out is not None:
        with AtomicFile(Path(out)) as file:
            file.write(orjson.dumps(plain, option=orjson.OPT_INDENT_2) + b"\n")
    return plain


def _unsolved(chats: Iterable[Outcome]) -> dict[str, str]:
    """Return the tasks whose first chat without an error is not solved, and what it is."""
    labels: dict[str, str] = {}
    for chat in chats:
        if chat.label != "error":
            labels.setdefault(chat.task_id, chat.label)
    return {task: label for task, label in labels.items() if label != "solved"}
