"""What each role of a run did."""

from __future__ import annotations

from seal.evaluation.role_work import RoleWork, Work
from seal.runs.run_folder import RunFolder


def work_of(run: RunFolder) -> dict[str, Work]:
    """Return what each role did in the chats of a run's tasks, its tokens as metered."""
    work = RoleWork()
    for task, trajectory in run.chats():
        work.add(task, trajectory)
    usage = run.summary().get("usage") or {}
    metered = {row["role"]: row for row in usage.get("roles", ())}
    for role in work.roles.keys() & metered.keys():
        work.roles[role].tokens_in = metered[role]["tokens_in"]
        work.roles[role].tokens_out = metered[role]["tokens_out"]
    return work.roles
