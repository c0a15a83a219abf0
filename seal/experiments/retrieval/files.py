"""The files of a retrieval experiment.

results.json             everything that was found, and how
results.csv              the same figures, one a line
POOL-RETRIEVER/          rankings.jsonl, run.trec and qrels.trec of the whole pool
POOL-RETRIEVER/SIZE-N/   run.trec and qrels.trec of the drawn pool N, in small experiments
draws.jsonl              {pool, size, sample, tools_digest, queries}: what each sample asked, by the
                         query ids of the TREC files; of drawn pools {distractors, tools} too:
                         how many tools no seed query needs, and the ids of all

qrels.trec holds what any sample of its pool asked. Beside them stand the results.parquet and
figures/ of `seal.report`.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from seal.core import Ranking, UsageError
from seal.core.folders import LOCK, Lock
from seal.core.plain import json_bytes
from seal.core.records import AtomicFile, write_records
from seal.evaluation.retrieval import qrels_of
from seal.evaluation.trec import query_id, write_trec_qrels, write_trec_run
from seal.experiments.result_files import write_json, write_table
from seal.experiments.retrieval.draws import Draw, Ranked, distinct

RESULTS = "results.json"
DRAWS = "draws.jsonl"
TABLE = "results.csv"
COLUMNS = (
    "pool",
    "pool_digest",
    "size",
    "tools",
    "sample",
    "retriever",
    "identity",
    "metric",
    "value",
    "deviation",
    "low",
    "high",
    "n",
    "queries",
    "samples",
    "unavailable",
)
"""Of the long form. `size`: as asked; `sample`: empty in the line of all samples together; `n`:
queries behind the value."""
_TREC_LINES = 2_000_000
"""Ranked tools of drawn pools that are written at most: about 150 MB."""
_TOOL_IDS = 1_000_000
"""Ids of the tools of drawn pools that are written at most: about 50 MB."""
_NAME_LIMIT = 120
"""Characters of a folder's name."""


class Folder:
    """Where an experiment is written: beside its place, which it takes when it is finished.

    The place is locked meanwhile, so that no other process takes it.

    Args:
        out: The folder: new or empty.
        pools: Labels of the pools.
        retrievers: Labels of the retrievers.
        lines: Ranked tools of all drawn pools.

    Raises:
        UsageError: The folder holds something, or another process writes into it.
        OSError: It cannot be made.
    """

    def __init__(
        self, out: Path, pools: Sequence[str], retrievers: Sequence[str], lines: int
    ) -> None:
        out = out.resolve()
        self._made = not out.exists()
        if self._made:
            out.mkdir(parents=True)
        _check_empty(out)
        self.out = out
        self._lock = Lock(out).__enter__()
        self.draws_written = lines <= _TREC_LINES
        pairs = [(pool, retriever) for pool in pools for retriever in retrievers]
        names = distinct([_folder_name(*pair) for pair in pairs])
        self._names = dict(zip(pairs, names, strict=True))
        self._part = out.with_name(f".{out.name}.{os.getpid()}.part")
        self._part.mkdir()

    def write_rankings(self, ranked: Ranked, retriever: str, rankings: Sequence[Ranking]) -> None:
        """Write one retriever's rankings of a pool and the relevant tools."""
        folder = self._part / self._names[ranked.source.label, retriever]
        if ranked.whole:
            write_records(folder / "rankings.jsonl", rankings)
        elif self.draws_written:
            folder = folder / f"{ranked.size}-{ranked.draws[0].sample}"
        else:
            return
        qrels = qrels_of(ranked.tasks)
        asked = {query for draw in ranked.draws for query in draw.queries}
        write_trec_run(folder / "run.trec", rankings, retriever, qrels)
        write_trec_qrels(
            folder / "qrels.trec", {query: qrels[query] for query in qrels if query in asked}
        )

    def finish(self, result: Mapping[str, Any], parts: Sequence[Ranked]) -> None:
        """Write the results and which queries each sample asked; put all in its place."""
        with_tools = lists_tools(parts)
        with AtomicFile(self._part / DRAWS) as file:
            for ranked in parts:
                for draw in ranked.draws:
                    file.write(json_bytes(_draw_json(ranked, draw, with_tools)) + b"\n")
        write_json(result, self._part / RESULTS)
        write_table(self._part / TABLE, COLUMNS, long_rows(result))
        # The results come last: a folder without them holds no experiment.
        for path in sorted(self._part.iterdir(), key=lambda path: path.name == RESULTS):
            shutil.move(path, self.out / path.name)
        self._part.rmdir()

    def close(self) -> None:
        """Free the place; of an experiment that was not finished, nothing stays."""
        shutil.rmtree(self._part, ignore_errors=True)
        self._lock.__exit__(None, None, None)
        (self.out / LOCK).unlink(missing_ok=True)
        if self._made:
            with suppress(OSError):  # it holds the experiment
                self.out.rmdir()


def _check_empty(out: Path) -> None:
    held = (
        [path.name for path in out.iterdir() if path.name != LOCK] if out.is_dir() else [out.name]
    )
    if RESULTS in held:
        raise UsageError(
            f"{out} holds an experiment already: choose a new folder, or remove that one"
        )
    if held:
        raise UsageError(f"{out} holds {min(held)}: choose a new folder or empty it")


def lists_tools(parts: Sequence[Ranked]) -> bool:
    """Tell whether the tools of drawn pools are few enough for their ids to be written."""
    return sum(len(part.tools) for part in parts if not part.whole) <= _TOOL_IDS


def _draw_json(ranked: Ranked, draw: Draw, with_tools: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        "pool": ranked.source.label,
        "size": ranked.size,
        "sample": draw.sample,
        "tools_digest": ranked.digest,
        "queries": [query_id(query) for query in draw.queries],
    }
    if not ranked.whole:
        found["distractors"] = ranked.distractors
        if with_tools:
            found["tools"] = [tool.id for tool in ranked.tools]
    return found


def _folder_name(pool: str, retriever: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", ".", f"{pool}-{retriever}")[:_NAME_LIMIT]


def long_rows(result: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the figures of an experiment one by one, each with `COLUMNS`; None where there is none.

    A retriever that was unavailable has one line for each pool and size, with the reason.
    """
    for entry in result["results"]:
        common = {name: entry.get(name) for name in COLUMNS} | {"sample": None}
        if "unavailable" in entry:
            yield common
        for metric, found in entry["metrics"].items():
            figures = {name: found[name] for name in ("deviation", "low", "high", "n")}
            yield {**common, "metric": metric, "value": found["mean"], **figures}
        for sample in entry.get("by_sample", ()):
            own = {"sample": sample["sample"], "n": sample["queries"], "queries": sample["queries"]}
            for metric, value in sample["metrics"].items():
                yield {**common, **own, "samples": 1, "metric": metric, "value": value}
