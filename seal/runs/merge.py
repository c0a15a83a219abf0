"""The parts of a run, played anywhere (`RunSettings.shard`), put together as one run."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from itertools import zip_longest
from pathlib import Path
from typing import Any

from seal.core import UsageError
from seal.core.folders import in_work, naming, part_of, remove
from seal.core.records import AtomicFile
from seal.core.text import counted
from seal.runs.identity import SHARD
from seal.runs.journal import Journal
from seal.runs.rescore import rescore
from seal.runs.resume import differences
from seal.runs.run import with_rankings
from seal.runs.run_folder import BASELINES, RunFolder
from seal.runs.score_settings import ScoreSettings
from seal.runs.settings import shard_of
from seal.runs.wholeness import check_whole


def merge(runs: Sequence[Path], out: Path) -> RunFolder:
    """Write the run of which some runs are the parts, its baselines too; it is not scored.

    Args:
        runs: All N parts, in any order, each played to its end.
        out: New folder.

    Raises:
        UsageError: A run is no part, a part is missing or stands twice, or parts are of other
            settings; names them. Or `out` holds something.
        DataError: A run is damaged, or not scored.
    """
    if out.exists() and not (out.is_dir() and not any(out.iterdir())):
        raise UsageError(
            f"{out} holds something: give a new folder; a run that was merged there and has no "
            f"scores gets them by `seal score {out}`"
        )
    parts = _in_order([RunFolder.open(run) for run in runs])
    order = [id for row in zip_longest(*(part.task_ids() for part in parts)) for id in row if id]
    written = part_of(out)
    written.mkdir(parents=True)
    try:
        with naming(out), in_work(written):
            for place in ("", *BASELINES):
                inner = [RunFolder(part.path / place) for part in parts]
                if all(part.is_begun for part in inner):
                    _join(inner, order, RunFolder(written / place))
            written.replace(out)
    finally:
        remove(written)
    return RunFolder(out)


def score_merged(folder: RunFolder, cache_dir: Path | None = None) -> dict[str, Any]:
    """Score a merged run and its baselines as they were; return the run's summary.

    Raises:
        UsageError: A model judged, whom the caller is to name.
    """
    every = [folder, *(RunFolder(folder.path / name) for name in BASELINES)]
    summaries = []
    for run in every:
        if run.is_begun:
            told = run.manifest()["measure"]
            alike = {name: told[name] for name in ("match", "without_spoilt") if name in told}
            how = ScoreSettings(cache_dir=cache_dir, **alike)
            summaries.append(rescore(run.path, how))
    return summaries[0]


def _in_order(found: Sequence[RunFolder]) -> list[RunFolder]:
    """Return the parts of a run in their order, all of them and of the same settings."""
    by_part: dict[int, RunFolder] = {}
    first = found[0].manifest()
    wanted = 0
    for run in found:
        check_whole(run)
        manifest = run.manifest()
        if SHARD not in manifest:
            raise UsageError(f"{run.path} is no part of a run: play it with --shard I/N")
        if other := differences(first, manifest):
            raise UsageError(f"{run.path} and {found[0].path} differ: {'; '.join(other)}")
        part, parts = shard_of(manifest[SHARD])
        wanted = wanted or parts
        if part in by_part or parts != wanted:
            raise UsageError(
                f"{run.path} is part {part}/{parts}, beside "
                f"{by_part.get(part, found[0]).path}; give each of {counted(wanted, 'part')} once"
            )
        by_part[part] = run
    if missing := [f"{n}/{wanted}" for n in range(1, wanted + 1) if n not in by_part]:
        raise UsageError(f"missing parts: {', '.join(missing)}; play them, and give all {wanted}")
    return [by_part[part] for part in sorted(by_part)]


def _join(parts: Sequence[RunFolder], order: Sequence[str], out: RunFolder) -> None:
    out.path.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(parts[0].path / "tools.jsonl", out.path / "tools.jsonl")
    for name in ("trajectories.jsonl", "timings.jsonl"):
        with AtomicFile(out.path / name) as file:
            for part in parts:
                with (part.path / name).open("rb") as own:
                    shutil.copyfileobj(own, file)
    ids = [set(part.task_ids()) for part in parts]
    with ExitStack() as stack, AtomicFile(out.path / "tasks.jsonl") as tasks:
        lines = [stack.enter_context((p.path / "tasks.jsonl").open("rb")) for p in parts]
        for id in order:
            mine = (line for line, held in zip(lines, ids, strict=True) if id in held)
            tasks.writelines(map(next, mine))
    with closing(Journal(out.trajectories_path)) as journal:
        journal.put_in_order({id: place for place, id in enumerate(order)})
    with AtomicFile(out.path / "rankings.jsonl") as rankings:
        for _ in with_rankings(out.trajectories(), rankings):
            pass
    out.write_json("run.json", _manifest([part.manifest() for part in parts]))


def _manifest(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what one run would tell of itself; which kept answers it was given, the parts say."""
    skipped = sum((Counter(part.get("skipped", {})) for part in parts), Counter[str]())
    told = {key: value for key, value in parts[0].items() if key not in (SHARD, "cache")}
    return {**told, "skipped": dict(sorted(skipped.items()))}
