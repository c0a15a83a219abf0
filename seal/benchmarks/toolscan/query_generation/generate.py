"""A pool of harder queries made of a pool, in a folder that a killed generation goes on with.

    tools.jsonl  tasks.jsonl  import.json      the pool, as an import writes it
    statistics.json                            what was proposed and kept, and why the rest was not
    rejected.jsonl                             each query that is not kept, with the reason
    generation/settings.json                   what the queries are made by
    generation/drafts.jsonl                    what was proposed for each seed and kind, as it came

What is proposed is written down first; the filters then go through all of it in the order of the
pool, so what is kept does not depend on when a generation was killed.

Behind the queries stand the seeds of the irrelevant ones, tagged `query_kind=seed`: how often a
model abstains means little without how often it does where a tool serves.

Source: Kokane et al. (2024), "ToolScan", the making of queries: seeds are augmented, and filtered
for feasible ones with results, for difficulty, diversity and near-duplicates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import orjson

from seal.benchmarks.toolscan.query_generation.bench import Bench
from seal.benchmarks.toolscan.query_generation.candidates import Draft, Writer, draft_id
from seal.benchmarks.toolscan.query_generation.filters import Fault, Filters
from seal.benchmarks.toolscan.query_generation.grammar.writer import GrammarWriter
from seal.benchmarks.toolscan.query_generation.review import Review, write_review
from seal.benchmarks.toolscan.query_generation.seeding import read_seeds
from seal.benchmarks.toolscan.query_generation.seeds import Seed, Seeds
from seal.benchmarks.toolscan.query_generation.selection import (
    Query,
    Rejected,
    Selection,
    counted,
    rejection,
)
from seal.benchmarks.toolscan.query_generation.settings import QuerySettings
from seal.benchmarks.toolscan.query_generation.tasks import seed_task, task_of
from seal.core.errors import DataError
from seal.core.plain import json_bytes
from seal.core.records import AtomicFile, to_plain, write_records
from seal.core.types import JSON, Tool
from seal.experiments.generation.journal import Journal, check_folder, open_journal
from seal.pools.categories import PSEUDO_ACTIONS
from seal.pools.importer import REPORT, TASKS, TOOLS, WEB, ImportReport, pool_digest
from seal.pools.pool import StoredPool

DRAFTS = "drafts.jsonl"
SCHEMA = "query_draft/1"
STATISTICS = "statistics.json"
REJECTED = "rejected.jsonl"

Progress = Callable[[int, int], None]
"""Told how many seeds and kinds are done, and how many there are."""


@dataclass(frozen=True, slots=True)
class GeneratedQueries:
    """What a generation made."""

    report: ImportReport
    statistics: dict[str, JSON]

    def to_json(self) -> dict[str, JSON]:
        """Return the content of `import.json`, which holds the statistics."""
        return {**self.report.to_json(), "generation": self.statistics}


def generate_queries(
    pool: StoredPool,
    out: Path,
    settings: QuerySettings,
    writer: Writer | None = None,
    *,
    review: Path | None = None,
    progress: Progress = lambda done, total: None,
) -> GeneratedQueries:
    """Make queries of a pool's tasks, and of them a pool.

    Args:
        pool: Its tasks with gold calls are the seeds, else its tools are.
        out: Folder of the new pool; one begun under the same settings is gone on with.
        settings: What is made.
        writer: Proposes the queries; None: the grammar.
        review: Table whose words are taken where it exists, and that gets all queries that pass.
        progress: Told how far it is.

    Raises:
        UsageError: `out` holds something else, or queries of other settings, or the pool has no
            seed.
        DataError: No query was kept, or a file is malformed.
        ModelError: The model's server failed; what is done is kept.
    """
    check_folder(out)
    said = Review.read(review)
    settings = replace(settings, name=settings.name or out.resolve().name)
    tools = {tool.id: tool for tool in pool.tools()}
    every = read_seeds(pool, tools, settings.seed)
    seeds = replace(every, seeds=every.seeds[: settings.limit])
    # What is proposed for a seed must not depend on how many are asked for, which may grow.
    bench = Bench(pool, tools, [seed.task for seed in every.seeds], settings.allow_code)
    writer = writer or GrammarWriter(every.seeds, tools, bench, settings.seed)
    shape: dict[str, JSON] = {"pool": pool.digest, **settings.shape(), "by": writer.identity}
    with open_journal(out, shape, DRAFTS, Draft, SCHEMA) as journal:
        drafts = _drafts(seeds.seeds, settings, writer, journal, progress)
        journal.put_in_order([draft.id for draft, _ in drafts])
        selection = Selection(Filters(tools, bench), seeds.seeds, settings.per_seed)
        for draft, seed in drafts:
            selection.take(draft, seed)
        passed = list(selection.kept)
        said.check([query.id for query in passed])
        kept, refused = _reviewed(selection, Filters(tools, bench), said)
        if review is not None and passed:
            write_review(review, passed, said)
        work = _Work(pool, tools, seeds, settings, shape)
        return work.write(out, kept, [*selection.rejected, *refused])


def _drafts(
    seeds: Sequence[Seed],
    settings: QuerySettings,
    writer: Writer,
    journal: Journal[Draft],
    progress: Progress,
) -> list[tuple[Draft, Seed]]:
    """Return what is proposed for each seed and kind; what is not written yet is."""
    found = []
    total = len(seeds) * len(settings.kinds)
    for kind in settings.kinds:
        for seed in seeds:
            own = draft_id(kind, seed)
            draft = journal.made.get(own)
            if draft is None:
                candidates, unusable = writer.write(kind, seed, settings.per_seed)
                draft = journal.add(Draft(own, seed.id, kind, [*candidates], [*unusable]))
            found.append((draft, seed))
            progress(len(found), total)
    return found


def _reviewed(
    selection: Selection, filters: Filters, review: Review
) -> tuple[list[Query], list[Rejected]]:
    """Return what is left after a person's words, and what is not."""
    kept, refused = [], []
    for query in selection.kept:
        word = review.words.get(query.id)
        if word is None or (word.accept and word.text == query.candidate.text):
            kept.append(query)
        elif not word.accept:
            refused.append(rejection(query, Fault("review", "refused", word.note)))
        else:
            edited = _edited(query, word.text)
            found = filters.judge(query.kind, edited.candidate, query.seed)
            fault = found if isinstance(found, Fault) else selection.near(edited, query.id)
            if fault is None and not isinstance(found, Fault):
                kept.append(replace(edited, passed=found))
            elif fault is not None:
                told = f"{fault.filter}: {fault.detail}".rstrip(": ")
                refused.append(rejection(edited, Fault("review", f"edited_{fault.reason}", told)))
    return kept, refused


def _edited(query: Query, text: str) -> Query:
    """Return a query with a person's wording; of an unrelated request it is the whole claim."""
    claim = query.candidate.claim
    if query.candidate.reason == "unrelated_request":
        claim = text
    return replace(query, candidate=replace(query.candidate, text=text, claim=claim))


class _Work:
    """Writes the pool of one generation.

    Args:
        pool: Of the seeds.
        tools: Its tools by id.
        seeds: What the queries were made of.
        settings: Of the generation.
        shape: What the queries are made by.
    """

    def __init__(
        self,
        pool: StoredPool,
        tools: Mapping[str, Tool],
        seeds: Seeds,
        settings: QuerySettings,
        shape: Mapping[str, JSON],
    ) -> None:
        self._pool = pool
        self._tools = tools
        self._seeds = seeds
        self._settings = settings
        self._shape = shape

    def write(
        self, out: Path, kept: Sequence[Query], rejected: Sequence[Rejected]
    ) -> GeneratedQueries:
        """Write everything and return the counts.

        Raises:
            DataError: No query was kept.
        """
        statistics = self._statistics(kept, rejected)
        with AtomicFile(out / REJECTED) as file:
            for one in rejected:
                file.write(json_bytes(to_plain(one)) + b"\n")
        _write_json(out / STATISTICS, statistics)
        if not kept:
            raise DataError(
                f"no query of {len(rejected)} was kept: {out / REJECTED} says why of each, "
                f"{out / STATISTICS} how many of each reason"
            )
        name = self._settings.name
        tasks = [task_of(query, name) for query in kept]
        tasks += [seed_task(seed, name) for seed in _seeds_beside(kept)]
        write_records(out / TOOLS, list(self._tools.values()))
        write_records(out / TASKS, tasks)
        if self._pool.web is not None:
            with AtomicFile(out / WEB) as file:
                file.write(self._pool.web.read_bytes())
        report = ImportReport(
            name,
            len(tasks),
            len(self._tools),
            {name: sum(reasons.values()) for name, reasons in counted(rejected).items()},
            (),
            pool_digest(out),
            {},
            dict(self._facts()),
        )
        made = GeneratedQueries(report, statistics)
        _write_json(out / REPORT, made.to_json())
        return made

    def _facts(self) -> Iterator[tuple[str, JSON]]:
        pseudo = self._pool.report.get(PSEUDO_ACTIONS)
        if pseudo is not None:
            yield PSEUDO_ACTIONS, pseudo

    def _statistics(self, kept: Sequence[Query], rejected: Sequence[Rejected]) -> dict[str, JSON]:
        return {
            **self._shape,
            "seeds": len(self._seeds.seeds),
            "made_seeds": sum(seed.made for seed in self._seeds.seeds),
            "skipped_tasks": self._seeds.skipped,
            "proposed": len(kept) + len(rejected),
            "kept": len(kept),
            "seed_tasks": len(_seeds_beside(kept)),
            "of_kind": {kind: self._of_kind(kind, kept, rejected) for kind in self._settings.kinds},
            "abstentions": _numbers(q.candidate.reason for q in kept if q.candidate.reason),
            "templates": len({q.candidate.template for q in kept if q.candidate.template}),
        }

    def _of_kind(
        self, kind: str, kept: Sequence[Query], rejected: Sequence[Rejected]
    ) -> dict[str, JSON]:
        own = [query for query in kept if query.kind == kind]
        left_out = [one for one in rejected if one.kind == kind]
        return {
            "proposed": len(own) + len(left_out),
            "kept": len(own),
            "seeds_with_any": len({query.seed.id for query in own}),
            "rejected": counted(left_out),
        }


def _seeds_beside(kept: Iterable[Query]) -> list[Seed]:
    """Return the seeds of the irrelevant queries, each once."""
    return list({q.seed.id: q.seed for q in kept if q.kind == "irrelevance"}.values())


def _numbers(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))


def _write_json(path: Path, value: Mapping[str, JSON]) -> None:
    with AtomicFile(path) as file:
        file.write(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


__all__ = ["GeneratedQueries", "generate_queries"]
