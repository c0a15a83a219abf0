"""Trajectories that others recorded, as a run that can be scored."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from seal.core import JSON, UsageError
from seal.evaluation.recorded_scores import RecordedScores
from seal.evaluation.rule_judge import RuleJudge
from seal.pools.importer import RECORDED, RECORDINGS
from seal.pools.imports import ImportReport, check_options
from seal.pools.pool_writer import write_pool
from seal.runs.run_folder import RunFolder

CUTOFFS = (1, 5, 10)
_HEADLINE = 10
"""Scores of others that a short table shows."""


def import_run(
    name: str, source: Path, out: Path, options: Mapping[str, JSON] | None = None
) -> ImportReport:
    """Turn recorded trajectories into a run folder, of which `seal score` makes scores.

    The folder holds run.json, tasks.jsonl, tools.jsonl, trajectories.jsonl, and in import.json what
    was left out.

    Args:
        name: Of the benchmark.
        source: Its file of trajectories.
        out: New folder.
        options: Of the importer; ToolSandbox's has none: its chats are read as they are.

    Raises:
        UnknownNameError: No recorded trajectories of that benchmark can be read, or an option.
        UsageError: No such source, or the folder holds something.
        DataError: No record can be used; nothing is left behind.
    """
    importer = RECORDINGS.resolve(name)
    given = dict(options or {})
    check_options(importer, given, "option of recorded trajectories")
    if (out / "run.json").exists():
        raise UsageError(f"{out} holds a run already; give --out another folder")
    benchmark = name.rpartition(":")[2]
    report = write_pool(benchmark, importer, source, out, **given)
    folder = RunFolder(out)
    files = sorted((out / RECORDED).glob(f"*/{folder.trajectories_path.name}"))
    if len(files) != 1:
        shutil.rmtree(out)
        found = ", ".join(report.recordings) or "none"
        raise UsageError(
            f"{source} holds the recordings {found}; expected one, for a run is of one: leave the "
            "others out, or import without --trajectories and play them by --model recorded:NAME"
        )
    (recording,) = report.recordings
    files[0].replace(folder.trajectories_path)
    shutil.rmtree(out / RECORDED)
    played = source.name.partition(".")[0] if recording == benchmark else recording
    folder.write_json("run.json", _manifest(report, f"recorded:{played}"))
    return report


def _manifest(report: ImportReport, played: str) -> dict[str, JSON]:
    """Return the run.json of chats, as far as their importer knows what was played and scored."""
    facts = report.facts
    pool = str(facts.get("pool") or report.benchmark)
    scores = facts.get("scores")
    measure: dict[str, JSON] = {
        "cutoffs": list(CUTOFFS),
        "judge": {"judge": RuleJudge().identity},
        "metrics": [RecordedScores.name] if scores else [],
        "pool": pool,
        "pool_digest": report.digest,
        "seed": 0,
        "trials": facts.get("trials") or 1,
    }
    system: dict[str, JSON] = {"model": {"model": str(facts.get("model") or played)}}
    manifest: dict[str, JSON] = {"measure": measure, "system": system, "warnings": []}
    if isinstance(scores, list) and scores:
        manifest["benchmark"] = {"name": pool, "headline": scores[:_HEADLINE], "success": scores[0]}
    return manifest
