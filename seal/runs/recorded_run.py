"""Trajectories that others recorded, as a run that can be scored."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from seal.core import JSON, UsageError
from seal.evaluation.rule_judge import RuleJudge
from seal.pools.importer import RECORDED, RECORDINGS
from seal.pools.imports import ImportReport, check_options
from seal.pools.writing import write_pool
from seal.runs.run_folder import RunFolder

CUTOFFS = (1, 5, 10)


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
    measure = {
        "cutoffs": list(CUTOFFS),
        "judge": {"judge": RuleJudge().identity},
        "metrics": [],
        "pool": benchmark,
        "pool_digest": report.digest,
        "seed": 0,
        "trials": 1,
    }
    played = source.name.partition(".")[0] if recording == benchmark else recording
    system = {"model": {"model": f"recorded:{played}"}}
    folder.write_json("run.json", {"measure": measure, "system": system, "warnings": []})
    return report
