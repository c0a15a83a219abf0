"""The files of a retrieval experiment.

results.json             everything that was found, and how
results.csv              the same figures, one a line
POOL-RETRIEVER/          rankings.jsonl, run.trec and qrels.trec of the whole pool
POOL-RETRIEVER/SIZE-N/   run.trec and qrels.trec of the drawn pool N, in small experiments
draws.jsonl              {pool, size, sample, tools_digest, queries}: what each sample asked, by the
                         query ids of the TREC files; of drawn pools {distractors, tools} too:
                         how many tools no seed query needs, and the ids of all
timings.jsonl            what each measurement took; the one file that is another in every run

qrels.trec holds what any sample of its pool asked. Beside them stand the results.parquet and
figures/ of `seal.report`. Until all of them are written, results.json has no results, and
measured.jsonl has what each retriever measured: a resumed experiment goes on from there.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from seal.core import Ranking, SealError
from seal.core.plain import json_bytes
from seal.core.records import AtomicFile, write_records
from seal.core.trec import query_id
from seal.evaluation.ranking_metrics import qrels_of
from seal.evaluation.trec_files import write_trec_qrels, write_trec_run
from seal.experiments.generation.work_folder import RecordJournal
from seal.experiments.result_files import FIGURES, ExperimentFile, LongForm, figures_of, write_json
from seal.experiments.retrieval.contenders import Measured, Measurement, Seconds
from seal.experiments.retrieval.draws import Draw, Ranked, distinct

Figures = Callable[[Mapping[str, Any], Path], list[str]]
"""Writes what readers look at into a folder; returns a note on each thing that it left out."""
RESULTS = "results.json"
MEASURED = "measured.jsonl"
_MEASURED_1 = "retrieval-measured/1"
RETRIEVAL = ExperimentFile(
    RESULTS,
    "experiment in retrieval",
    ("protocol", "pools", "retrievers", "results"),
    telling=("protocol", "pools", "retrievers"),
)
DRAWS = "draws.jsonl"
TIMINGS = "timings.jsonl"
_PLACE = ("pool", "pool_digest", "size", "tools", "sample", "retriever", "identity")
_COLUMNS = (*_PLACE, *FIGURES, "queries", "samples", "unavailable")
"""Of the long form. `size`: as asked; `sample`: empty in the line of all samples together; `n`:
queries behind the value."""
TREC_LINES = 2_000_000
"""Ranked tools of drawn pools that are written at most: about 150 MB."""
_TOOL_IDS = 1_000_000
"""Ids of the tools of drawn pools that are written at most: about 50 MB."""
_NAME_LIMIT = 120
"""Characters of a folder's name."""


class Folder:
    """Where an experiment is written.

    Args:
        out: The folder.
        journal: What was measured.
        begun: Content of results.json before anything was measured.
        with_draws: Write the rankings of drawn pools too.
    """

    def __init__(
        self,
        out: Path,
        journal: RecordJournal[Measured],
        begun: Mapping[str, Any],
        with_draws: bool,
    ) -> None:
        self._out = out
        self._journal = journal
        self._with_draws = with_draws
        self._names = ranking_folders(begun)

    def finished(self) -> dict[str, Any] | None:
        """Return the content of results.json; None where something is still to be done.

        Who was unavailable is asked again.
        """
        held = RETRIEVAL.read(self._out / RESULTS)
        is_whole = not any("unavailable" in entry for entry in held["results"])
        return held if held["results"] and is_whole else None

    def kept(self, ranked: Ranked, retriever: str) -> Measured | None:
        """Return what a retriever measured before the experiment was interrupted."""
        return self._journal.made.get(self._key(ranked, retriever))

    def keep(self, ranked: Ranked, retriever: str, made: Measurement) -> Measured:
        """Write one retriever's rankings of a pool, the relevant tools, and what it measured."""
        self._write_rankings(ranked, retriever, made.rankings)
        with (self._out / TIMINGS).open("ab") as file:
            file.write(json_bytes(_timing(ranked, retriever, made.seconds)) + b"\n")
        return self._journal.add(replace(made.measured, id=self._key(ranked, retriever)))

    def _key(self, ranked: Ranked, retriever: str) -> str:
        return f"{self._place(ranked, retriever)} {ranked.digest}"

    def _place(self, ranked: Ranked, retriever: str) -> str:
        """Return the folder of a retriever's rankings, within the experiment's."""
        name = self._names[ranked.source.label, retriever]
        return name if ranked.whole else f"{name}/{ranked.size}-{ranked.draws[0].sample}"

    def _write_rankings(self, ranked: Ranked, retriever: str, rankings: Sequence[Ranking]) -> None:
        folder = self._out / self._place(ranked, retriever)
        if ranked.whole:
            write_records(folder / "rankings.jsonl", rankings)
        elif not self._with_draws:
            return
        qrels = qrels_of(ranked.tasks)
        asked = {query for draw in ranked.draws for query in draw.queries}
        write_trec_run(folder / "run.trec", rankings, retriever, qrels)
        write_trec_qrels(
            folder / "qrels.trec", {query: qrels[query] for query in qrels if query in asked}
        )

    def finish(
        self, result: dict[str, Any], parts: Sequence[Ranked], figures: Figures | None
    ) -> None:
        """Write which queries each sample asked and the figures; the results come last.

        What `figures` left out is added to the notes of the result.
        """
        with_tools = lists_tools(parts)
        with AtomicFile(self._out / DRAWS) as file:
            for ranked in parts:
                for draw in ranked.draws:
                    file.write(json_bytes(_draw_json(ranked, draw, with_tools)) + b"\n")
        LONG.write(result, self._out)
        if figures is not None:
            result["notes"] += figures(result, self._out)
        write_json(result, self._out / RESULTS)

    def discard(self) -> None:
        """Remove what an experiment wrote that cannot be."""
        for name in {Path(name).parts[0] for name in self._names.values()}:
            shutil.rmtree(self._out / name, ignore_errors=True)
        for name in (RESULTS, MEASURED, DRAWS, "results.csv", TIMINGS):
            (self._out / name).unlink(missing_ok=True)


@contextmanager
def open_folder(
    out: Path, begun: Mapping[str, Any], with_draws: bool, resume: bool
) -> Iterator[Folder]:
    """Give the folder of an experiment, for one process at a time.

    Of a new experiment that cannot be, nothing stays. One that is interrupted can be resumed.

    Args:
        out: New, empty, or with the same experiment.
        begun: Content of results.json before anything is measured.
        with_draws: Write the rankings of drawn pools too.
        resume: Go on with the experiment that the folder holds.

    Raises:
        UsageError: The folder holds something else, or another process writes into it.
        DataError: A file in it is malformed.
        OSError: It cannot be made.
    """
    out = out.resolve()
    journal = out / MEASURED
    with (
        RETRIEVAL.opened(out, begun, resume) as resumed,
        closing(RecordJournal(journal, Measured, _MEASURED_1)) as measured,
    ):
        folder = Folder(out, measured, begun, with_draws)
        try:
            yield folder
        except SealError:
            if not resumed:
                folder.discard()
            raise
        if folder.finished() is not None:
            journal.unlink()


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


def _timing(ranked: Ranked, retriever: str, seconds: Seconds) -> dict[str, Any]:
    return {
        "pool": ranked.source.label,
        "size": ranked.size,
        "sample": ranked.draws[0].sample,
        "retriever": retriever,
        "tools": len(ranked.tools),
        "queries": seconds.queries,
        "building_s": round(seconds.building, 4),
        "query_ms": round(1000 * seconds.ranking / max(1, seconds.queries), 4),
    }


def ranking_folders(content: Mapping[str, Any]) -> dict[tuple[str, str], str]:
    """Return pool and retriever to the folder of the rankings, by the content of results.json."""
    pools, retrievers = content["pools"], content["retrievers"]
    pairs = [(pool["pool"], each["retriever"]) for pool in pools for each in retrievers]
    named = (re.sub(r"[^A-Za-z0-9._-]+", ".", "-".join(pair))[:_NAME_LIMIT] for pair in pairs)
    return dict(zip(pairs, distinct(list(named)), strict=True))


def _long_rows(result: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the figures of an experiment one by one, each with `_COLUMNS`.

    A retriever that was unavailable has one line for each pool and size, with the reason.
    """
    for entry in result["results"]:
        common = {name: entry.get(name) for name in _COLUMNS}
        common |= {"size": str(entry["size"]), "sample": None}
        if "unavailable" in entry:
            yield common
        for metric, found in entry["metrics"].items():
            yield common | figures_of(metric, found)
        for sample in entry.get("by_sample", ()):
            own = {"sample": sample["sample"], "n": sample["queries"], "queries": sample["queries"]}
            for metric, value in sample["metrics"].items():
                yield {**common, **own, "samples": 1, "metric": metric, "value": value}


LONG = LongForm("results", _COLUMNS, _long_rows)
