"""Who asked how much in a run: the table of roles in the usage of its summary."""

from __future__ import annotations

from contextlib import closing
from typing import Any

from seal.core.records import repair_tail
from seal.runs.run_folder import BASELINES, RunFolder
from seal.runs.spending.ledger import Ledger, merged
from seal.runs.timings import Spending, Timings, chats_asked, spending_of


def note_judging(folder: RunFolder, asked: Ledger) -> list[dict[str, Any]]:
    """Write what judges were asked to the run's timings, and return the usage by role.

    Args:
        folder: Of the run.
        asked: By judges, while the run was scored.

    Returns:
        {role, model, requests, tokens_in, tokens_out, estimated} for each role that used tokens,
        kept answers too, so that a run played from them has the same; of chats that were played
        again the last counts, and of judges this scoring. What was spent, the timings say.
    """
    path = folder.path / "timings.jsonl"
    if asked:
        with closing(Timings(path)) as timings:
            timings.add_judging(asked)
    total = merged([chats_asked(path), asked])
    return [
        {
            "role": role,
            "model": model,
            "requests": spent.requests + spent.kept,
            "tokens_in": spent.tokens_in + spent.kept_in,
            "tokens_out": spent.tokens_out + spent.kept_out,
            "estimated": spent.estimated,
        }
        for (role, model), spent in total.items()
        if spent.tokens or spent.kept_in or spent.kept_out
    ]


def spent_on(folder: RunFolder) -> Spending:
    """Return what a run spent until now, its baselines with it; torn last lines are cut off."""
    total = Spending()
    for path in (folder.path, *(folder.path / name for name in BASELINES)):
        timings = path / "timings.jsonl"
        if timings.is_file():
            repair_tail(timings)
            spent = spending_of(timings)
            total.add(spent.tokens, spent.asked)
    return total
