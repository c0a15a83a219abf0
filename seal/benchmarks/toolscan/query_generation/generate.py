"""A pool of harder queries made of a pool, in a folder that a killed generation goes on with.

    tools.jsonl  tasks.jsonl  import.json      the pool, as an import writes it
    statistics.json                            what was proposed and kept, and why the rest was not
    rejected.jsonl                             each query that is not kept, with the reason
    generation/settings.json                   what the queries are made by
    generation/requests.jsonl                  of a pool without tasks, its tools' calls in words
    generation/drafts.jsonl                    what was proposed for each seed and kind, as it came

What is proposed is written down first. The filters then go through all of it in the order of the
pool. So what is kept does not depend on when a generation was killed.

Behind the queries stand the seeds of the irrelevant ones, tagged `query_kind=seed`. How often a
model abstains means little unless one knows how often it does so although a tool serves.

Source: Kokane et al. (2024), "ToolScan", the making of queries: seeds are augmented, and filtered
for feasible ones with results, for difficulty, diversity and near-duplicates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Unpack

from seal.api.objects.products import Generated
from seal.benchmarks.toolscan.query_generation.calls import Bench as Played
from seal.benchmarks.toolscan.query_generation.calls import world_of
from seal.benchmarks.toolscan.query_generation.candidates import (
    Draft,
    Kind,
    QueryOptions,
    QuerySettings,
    Request,
)
from seal.benchmarks.toolscan.query_generation.filters import Filters, Query, Selection, counted
from seal.benchmarks.toolscan.query_generation.review import check_review, read_review, write_review
from seal.benchmarks.toolscan.query_generation.seeds import Seed, Seeds, read_seeds
from seal.benchmarks.toolscan.query_generation.writers import ModelWriter
from seal.core import JSON, DataError, Goal, Milestone, Plan, Task
from seal.core.conditions import Called
from seal.core.plain import json_bytes
from seal.core.records import AtomicFile, to_plain
from seal.core.signatures import checked
from seal.experiments.generation.scaffold import Progress, filled, unheard, write_pool
from seal.experiments.generation.work_folder import (
    WORK,
    RecordJournal,
    check_folder,
    open_journal,
)
from seal.experiments.generation.writers import writing_model
from seal.experiments.result_files import write_json
from seal.pools.counts import PSEUDO_ACTIONS
from seal.pools.generator import Told, written
from seal.pools.lookup import Bench, open_pool, world_files_of
from seal.pools.pool import StoredPool

DRAFTS = "drafts.jsonl"
SCHEMA = "query_draft/1"
REQUESTS = "requests.jsonl"
REQUEST = "query_request/1"
STATISTICS = "statistics.json"
REJECTED = "rejected.jsonl"
TAG = "query_kind"
"""Tag that names what was made: constraint, paraphrase or irrelevance; or `SEED`."""
SEED = "seed"
"""A task that queries were made of, beside them."""


@checked
def generate_queries(
    bench: Bench,
    out: str | Path,
    *,
    progress: Progress | None = None,
    **options: Unpack[QueryOptions],
) -> Generated:
    """Make harder queries of a pool's tasks: constraints, paraphrases, requests no tool serves.

    Args:
        bench: A benchmark, the name of one, or a pool folder, whose tasks are the seeds.
        out: Folder to make. A folder that was begun under the same settings is continued.
        progress: Called with how many seeds and kinds are done, and how many there are.
        **options: Fields of `QuerySettings`.

    Raises:
        UsageError: No model is named, a setting cannot be, the pool has no seed, or `out` holds
            something else.
        DataError: No query was kept, or a file is malformed.
        ModelError: The model's server failed; what is done is kept.
    """
    settings, out = QuerySettings(**options), Path(out)
    by = writing_model(settings.model, settings.base_url, settings.model_options, "queries")
    pool, table = open_pool(bench), None if settings.review is None else Path(settings.review)
    check_folder(out)
    said = read_review(table)
    tools = {tool.id: tool for tool in pool.tools()}
    every = read_seeds(pool, tools, settings.seed)
    seeds = replace(every, seeds=every.seeds[: settings.limit])
    # What is proposed for a seed must not depend on how many are asked for, which may grow.
    played = Played(pool, tools, [seed.task for seed in every.seeds], settings.allow_code)
    writer = ModelWriter(by, settings.seed)
    shape: dict[str, JSON] = {"pool": pool.digest, **settings.shape(), "by": writer.identity}
    if any(seed.made for seed in seeds.seeds):
        shape["requests"] = writer.wording

    def drafted(own: str, kind: Kind, seed: Seed) -> Draft:
        return Draft.of(own, seed.id, kind, writer.write(kind, seed, settings.per_seed))

    with open_journal(out, shape, DRAFTS, Draft, SCHEMA) as journal:
        seeds = _worded(seeds, writer, out / WORK / REQUESTS)
        of_draft = {
            f"{kind}/{seed.id}": (kind, seed) for kind in settings.kinds for seed in seeds.seeds
        }
        wanted = {own: partial(drafted, own, *of) for own, of in of_draft.items()}
        drafts = filled(journal, wanted, progress or unheard)
        journal.put_in_order(list(wanted))
        selection = Selection(Filters(tools, played), seeds.seeds, settings.per_seed)
        for draft in drafts:
            selection.take(draft, of_draft[draft.id][1])
        passed = selection.kept
        check_review(said, [query.id for query in passed])
        selection.review(said)
        if table is not None and passed:
            write_review(table, passed, said)
        statistics = shape | _statistics(seeds, settings.kinds, selection)
        return _write(pool, out, settings.name or out.resolve().name, statistics, selection)


def _worded(seeds: Seeds, writer: ModelWriter, path: Path) -> Seeds:
    """Return seeds with words for the calls that were made of tools, as the journal has them.

    Args:
        seeds: The seeds; those that are tasks of the pool stay as they are.
        writer: Words what the journal lacks.
        path: The journal; it is made only where there is something to word.

    Raises:
        DataError: No call has words.
        ModelError: The model's server failed; what is worded is kept.
    """
    wordless = {seed.id: partial(writer.word, seed) for seed in seeds.seeds if seed.made}
    if not wordless:
        return seeds
    with closing(RecordJournal(path, Request, REQUEST)) as journal:
        said = {one.id: one.text for one in filled(journal, wordless, unheard)}
        journal.put_in_order(list(wordless))
    worded = [_saying(seed, said[seed.id]) for seed in seeds.seeds if said[seed.id]]
    if not worded:
        raise DataError(
            "the model found no words that state the values of a tool's call: "
            f"{path} has its answers; name another model"
        )
    lost = len(seeds.seeds) - len(worded)
    skipped = seeds.skipped | ({"call_without_words": lost} if lost else {})
    return Seeds(worded, skipped)


def _saying(seed: Seed, text: str) -> Seed:
    """Return a seed whose request has these words."""
    goal = replace(seed.goal, text=text)
    return replace(seed, task=replace(seed.task, goals=(goal,)))


def queries_told(made: Generated, out: Path) -> Told:
    """Return what the command line tells of queries: counts, those of each kind too."""
    shown = {**made.statistics, **_by_kind(made.statistics["of_kind"])}
    del shown["of_kind"]
    return Told(fields={**shown, "digest": made["digest"]}, text=written(out))


def _by_kind(counts: dict[str, Any]) -> dict[str, JSON]:
    """Return for each kind of query what was proposed, kept, and left out by which filter."""
    shown: dict[str, JSON] = {}
    for kind, of_kind in counts.items():
        reasons = {
            f"{name} {reason}": count
            for name, found in of_kind["rejected"].items()
            for reason, count in found.items()
        }
        shown[kind] = {"proposed": of_kind["proposed"], "kept": of_kind["kept"], **reasons}
    return shown


def _statistics(seeds: Seeds, kinds: Sequence[Kind], selection: Selection) -> dict[str, JSON]:
    kept, rejected = selection.kept, selection.rejected
    of_kind: dict[str, JSON] = {}
    for kind in kinds:
        own = [query for query in kept if query.kind == kind]
        left_out = [one for one in rejected if one.kind == kind]
        of_kind[kind] = {
            "proposed": len(own) + len(left_out),
            "kept": len(own),
            "seeds_with_any": len({query.seed.id for query in own}),
            "rejected": counted(left_out),
        }
    reasons = Counter(query.candidate.reason for query in kept if query.candidate.reason)
    return {
        "seeds": len(seeds.seeds),
        "made_seeds": sum(seed.made for seed in seeds.seeds),
        "skipped_tasks": seeds.skipped,
        "proposed": len(kept) + len(rejected),
        "kept": len(kept),
        "seed_tasks": len(_seeds_beside(kept)),
        "of_kind": of_kind,
        "abstentions": dict(sorted(reasons.items())),
    }


def _write(
    pool: StoredPool, out: Path, name: str, statistics: dict[str, JSON], selection: Selection
) -> Generated:
    """Write everything and return the counts.

    Raises:
        DataError: No query was kept.
    """
    kept, rejected = selection.kept, selection.rejected
    with AtomicFile(out / REJECTED) as file:
        for one in rejected:
            file.write(json_bytes(to_plain(one)) + b"\n")
    write_json(statistics, out / STATISTICS)
    if not kept:
        raise DataError(
            f"no query of {len(rejected)} was kept: {out / REJECTED} says why of each, "
            f"{out / STATISTICS} how many of each reason"
        )
    tasks = [_task(query, name) for query in kept]
    for seed in _seeds_beside(kept):
        tags = {"environment": seed.environment, **seed.task.tags, TAG: SEED}
        tasks.append(replace(seed.task, benchmark=name, tags=tags))
    dropped = {name: sum(reasons.values()) for name, reasons in counted(rejected).items()}
    pseudo = pool.report.get(PSEUDO_ACTIONS)
    facts = {} if pseudo is None else {PSEUDO_ACTIONS: pseudo}
    facts["generation"] = statistics
    report = write_pool(
        out,
        name,
        pool.tools(),
        tasks,
        dropped=dropped,
        facts=facts,
        beside=world_files_of(pool.folder),
    )
    return Generated(report.to_json(), out, report)


def _seeds_beside(kept: Sequence[Query]) -> list[Seed]:
    """Return the seeds of the irrelevant queries, each once."""
    return list({q.seed.id: q.seed for q in kept if q.kind == "irrelevance"}.values())


def _task(query: Query, benchmark: str) -> Task:
    """Return what a query becomes: a task like its seed, with gold of its own."""
    task, goal = query.seed.task, replace(query.seed.goal, text=query.text)
    tags: Mapping[str, JSON] = {}
    if query.kind == "constraint":
        goal, tags = _constraint(query)
    elif query.kind == "irrelevance":
        goal, tags = _irrelevant(query)
    return replace(
        task,
        id=query.id,
        benchmark=benchmark,
        goals=(goal,),
        tags={"environment": query.seed.environment, **task.tags, **tags, TAG: query.kind},
        metadata={**task.metadata, "seed": query.seed.id},
        world=task.world if query.kind == "paraphrase" else world_of(task),
    )


def _constraint(query: Query) -> tuple[Goal, dict[str, JSON]]:
    calls = query.candidate.calls
    milestones = tuple(
        Milestone(Called.exact(*call), result=result)
        for call, result in zip(calls, query.results, strict=True)
    )
    plan = Plan(milestones)
    goal = Goal(
        query.text,
        (plan,),
        offered=query.seed.goal.offered,
        relevant=plan.tools(),
        labels={"action": "call"},
    )
    return goal, _shape("none", len(plan.tools()) > 1, len(calls) > 1)


def _irrelevant(query: Query) -> tuple[Goal, dict[str, JSON]]:
    reason = query.candidate.reason
    goal = Goal(
        query.text,
        (Plan(),),
        offered=query.seed.offered,
        labels={"action": "abstain", "irrelevance": reason},
    )
    return goal, _shape(reason, False, False)


def _shape(irrelevance: str, several_tools: bool, several_steps: bool) -> dict[str, JSON]:
    return {
        "irrelevance": irrelevance,
        "alternative_plans": False,
        "multi_tool": several_tools,
        "multi_step": several_steps,
    }
