"""`seal generate queries`: who writes, the pool, and the sheet for a person."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from seal.api.experiment_results import Generated
from seal.benchmarks.toolscan.generation_filters import (
    KINDS,
    Candidate,
    Draft,
    Filters,
    GoldCall,
    Kind,
    Query,
    QuerySettings,
    Seed,
    Selection,
    Unusable,
    Word,
    counted_reasons,
    gold_calls,
    read_seeds,
    world_of,
)
from seal.benchmarks.toolscan.generation_filters import Bench as Played
from seal.benchmarks.toolscan.importer import IRRELEVANCE
from seal.core import (
    JSON,
    DataError,
    Goal,
    Message,
    Milestone,
    Plan,
    RequestError,
    Task,
    Tool,
    located,
    shortened,
)
from seal.core.conditions import Called
from seal.core.files import AtomicFile
from seal.core.records import to_plain
from seal.core.settings import checked
from seal.core.text import counted, shipped_text
from seal.core.values import derive_seed, digest, json_bytes, json_text, nested_deeper, well_formed
from seal.experiments.generation import (
    MAX_TOKENS,
    Progress,
    WritingModel,
    check_folder,
    filled,
    open_journal,
    unheard,
    write_pool,
    writing_model,
)
from seal.experiments.series import write_json
from seal.pools.declarations import Told, written
from seal.pools.importer import PSEUDO_ACTIONS
from seal.pools.lookup import Bench, open_pool, world_files_of
from seal.pools.pool import StoredPool
from seal.pools.reading.tables import CsvRows, escaped, unescaped, write_csv

# -- A pool of harder queries made of a pool, in a folder that a killed generation goes on with.
#
#     tools.jsonl  tasks.jsonl  import.json      the pool, as an import writes it
#   statistics.json                            what was proposed and kept, and why the rest was not
#     rejected.jsonl                             each query that is not kept, with the reason
#     generation/settings.json                   what the queries are made by
#   generation/drafts.jsonl                    what was proposed for each seed and kind, as it came
#
# What is proposed is written down first. The filters then go through all of it in the order of the
# pool. So what is kept does not depend on when a generation was killed.
#
# Behind the queries stand the seeds of the irrelevant ones, tagged `query_kind=seed`. How often a
# model abstains means little unless one knows how often it does so although a tool serves.
#
# Source: Kokane et al. (2024), "ToolScan", the making of queries: seeds are augmented, and filtered
# for feasible ones with results, for difficulty, diversity and near-duplicates.

DRAFTS = "drafts.jsonl"
SCHEMA = "query_draft/1"
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
    **options: Any,
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
    every, skipped = read_seeds(pool, tools)
    seeds = every[: settings.limit]
    # What is proposed for a seed must not depend on how many are asked for, which may grow.
    played = Played(pool, tools, [seed.task for seed in every], settings.allow_code)
    writer = ModelWriter(by, settings.seed)
    shape: dict[str, JSON] = {"pool": pool.digest, **settings.shape(), "by": writer.identity}

    def drafted(own: str, kind: Kind, seed: Seed) -> Draft:
        return Draft.of(own, seed.id, kind, writer.write(kind, seed, settings.per_seed))

    with open_journal(out, shape, DRAFTS, Draft, SCHEMA) as journal:
        of_draft = {f"{kind}/{seed.id}": (kind, seed) for kind in settings.kinds for seed in seeds}
        wanted = {own: partial(drafted, own, *of) for own, of in of_draft.items()}
        drafts = filled(journal, wanted, progress or unheard)
        journal.put_in_order(list(wanted))
        selection = Selection(Filters(tools, played), seeds, settings.per_seed)
        for draft in drafts:
            selection.take(draft, of_draft[draft.id][1])
        passed = selection.kept
        check_review(said, [query.id for query in passed])
        selection.review(said)
        if table is not None and passed:
            write_review(table, passed, said)
        statistics = shape | _statistics(seeds, skipped, settings.kinds, selection)
        return _write(pool, out, settings.name or out.resolve().name, statistics, selection)


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


def _statistics(
    seeds: Sequence[Seed], skipped: dict[str, int], kinds: Sequence[Kind], selection: Selection
) -> dict[str, JSON]:
    kept, rejected = selection.kept, selection.rejected
    of_kind: dict[str, JSON] = {}
    for kind in kinds:
        own = [query for query in kept if query.kind == kind]
        left_out = [one for one in rejected if one.kind == kind]
        of_kind[kind] = {
            "proposed": len(own) + len(left_out),
            "kept": len(own),
            "seeds_with_any": len({query.seed.id for query in own}),
            "rejected": counted_reasons(left_out),
        }
    reasons = Counter(query.candidate.reason for query in kept if query.candidate.reason)
    return {
        "seeds": len(seeds),
        "skipped_tasks": dict(skipped),
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
    dropped = {name: sum(reasons.values()) for name, reasons in counted_reasons(rejected).items()}
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


# -- Who proposes queries: a language model, whose answers are read without trust in them.

TRIES = 2
"""Requests for a seed and kind: the second where the first failed."""
_SPARE = 2
"""Queries that are asked for beyond those that are wanted."""
_MOST = 60
"""Queries of an answer that are read."""
_KEPT = 2000
"""Characters of an unusable answer that are kept."""
_FOREIGN = 12
"""Foreign parameters that a model is told."""
_DEEPEST = 20


class ModelWriter:
    """Writes queries by a language model.

    Args:
        model: Who is asked, and what it is.
        seed: Each request asks with a seed of its own.
    """

    def __init__(self, model: WritingModel, seed: int = 0) -> None:
        self._model = model
        self._seed = seed
        self._prompts = {
            kind: shipped_text(__package__, f"generation_prompts/{kind}.txt") for kind in KINDS
        }
        prompt = digest([self._prompts, MAX_TOKENS])[:16]
        self.identity: dict[str, JSON] = {"writer": "model/1", **model.identity, "prompts": prompt}

    def write(self, kind: Kind, seed: Seed, count: int) -> Sequence[Candidate | Unusable]:
        """Return what the model proposes, and those of its answers that are no candidates.

        Raises:
            ModelError: The server failed.
        """
        found: list[Candidate | Unusable] = []
        asked = _asked(kind, seed, count + _SPARE)
        messages = [Message("system", self._prompts[kind]), Message("user", asked)]
        for turn in range(TRIES):
            try:
                own = derive_seed(self._seed, kind, seed.id, turn)
                completion = self._model.ask(messages, "query_writer", own)
            except RequestError as error:
                return [*found, Unusable(str(error)[:_KEPT], "refused")]
            told = list(read_candidates(kind, completion.content))
            if any(isinstance(one, Candidate) for one in told):
                return [*found, *told]
            cut_off = [Unusable(completion.content[:_KEPT], "cut_off")]
            found += cut_off if completion.truncated else told
        return found


def read_candidates(kind: Kind, answer: str) -> Iterator[Candidate | Unusable]:
    """Yield each query of a model's answer, or what is wrong with it.

    Args:
        kind: That was asked for.
        answer: Any text.
    """
    content = _parsed(answer)
    if content is None:
        yield Unusable(answer[:_KEPT], "not_json")
        return
    queries = content.get("queries") if isinstance(content, dict) else content
    if not isinstance(queries, list) or not queries:
        yield Unusable(answer[:_KEPT], "no_list_of_queries")
        return
    for number, record in enumerate(queries):
        candidate = _candidate(kind, record) if number < _MOST else None
        reason = "malformed_query" if number < _MOST else "too_many_queries"
        text = record if isinstance(record, str) else json.dumps(record, ensure_ascii=False)
        yield candidate or Unusable(text[:_KEPT], reason)


def _parsed(answer: str) -> Any:
    """Return the JSON of an answer, which may stand in a fence; None: it is none."""
    text = answer.strip()
    if text.startswith("```"):
        text = text.partition("\n")[2].rpartition("```")[0]

    def refuse(constant: str) -> Any:
        raise ValueError(f"{constant} is no JSON")

    try:
        content = json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError):
        return None
    return None if nested_deeper(content, _DEEPEST) else content


def _candidate(kind: Kind, record: Any) -> Candidate | None:
    if isinstance(record, str):
        record = {"text": record}
    if not isinstance(record, dict) or not isinstance(record.get("text"), str):
        return None
    text = record["text"].strip()
    if kind == "paraphrase":
        return Candidate(text)
    if kind == "constraint":
        calls = _calls_of_records(record.get("calls"))
        return Candidate(text, calls=calls) if calls else None
    claim, reason, foreign = record.get("claim"), record.get("kind"), record.get("foreign") or []
    if reason not in IRRELEVANCE or not (isinstance(claim, str) or reason == IRRELEVANCE[-1]):
        return None
    if not isinstance(foreign, list) or not all(isinstance(part, str) for part in foreign):
        return None
    said = text if reason == IRRELEVANCE[-1] else str(claim)
    return Candidate(text, reason=str(reason), claim=said, foreign=foreign[:2])


def _calls_of_records(records: Any) -> list[GoldCall]:
    """Return the calls of a record; none where one is malformed."""
    found = []
    for record in records if isinstance(records, list) else ():
        call = record if isinstance(record, dict) else {}
        tool, arguments = call.get("tool"), call.get("arguments")
        if not isinstance(tool, str) or not isinstance(arguments, dict):
            return []
        found.append(GoldCall(tool, arguments))
    return found


def _asked(kind: Kind, seed: Seed, count: int) -> str:
    """Return what a model is told of a seed."""
    calls = [call._asdict() for call in gold_calls(seed.plans[0])]
    told: dict[str, JSON] = {"request": seed.text}
    if kind != "irrelevance":
        told |= {"calls": calls, "queries wanted": count}
    if kind == "constraint":
        gold = dict.fromkeys(call.tool for plan in seed.plans for call in plan)
        told["tools"] = [_document(seed.tools[tool]) for tool in gold]
    if kind == "irrelevance":
        told["tools"] = [_document(seed.tools[tool]) for tool in seed.offered]
        told["parameters of other tools"] = _foreign(seed)
        told["queries wanted of each kind"] = dict.fromkeys(IRRELEVANCE, count)
    return json_bytes(told, orjson.OPT_INDENT_2).decode()


def _document(tool: Tool) -> dict[str, JSON]:
    return {"tool": tool.id, "description": tool.description, "parameters": tool.parameters}


def _foreign(seed: Seed) -> list[JSON]:
    """Return parameters of tools that are not offered, drawn by the seed's id."""
    others = [tool for tool in seed.tools if tool not in seed.offered]
    ordered = sorted(others, key=lambda tool: digest([seed.id, tool]))
    declared = ((tool, seed.tools[tool].parameters.get("properties")) for tool in ordered)
    named = ([t, name] for t, found in declared if isinstance(found, dict) for name in found)
    return list(islice(named, _FOREIGN))


# -- Queries put before a person as a table, and the person's word taken back.
#
# The file is CSV with a row a query that the filters let pass, in the order of the pool:
#
#     id, kind, seed, text, calls, accept, note
#
# `accept` says yes or no; a query that is refused leaves the pool, and no other takes its place. A
# changed `text` is checked by the filters again and taken where it passes them. `note` is the
# person's own; the other columns only inform. Rows that are missing are accepted as they are. Each
# generation writes the file anew, with the choices that it holds.
#
# A cell that a spreadsheet would take for a formula gets an apostrophe before it, which is taken
# off again.

COLUMNS = ("id", "kind", "seed", "text", "calls", "accept", "note")
_YES = frozenset({"", "yes", "y", "true", "1", "x", "ok"})
_NO = frozenset({"no", "n", "false", "0"})
_NEEDED = ("id", "text", "accept")


def read_review(path: Path | None) -> dict[str, Word]:
    """Return what a person says in a file, by the query's id; nothing where there is no file yet.

    Raises:
        DataError: It is malformed; the text names the row.
    """
    if path is None or not path.exists():
        return {}
    table = CsvRows(path, "queries that a person goes through")
    lacking = [name for name in _NEEDED if name not in table.columns]
    if lacking:
        raise DataError(
            f"{path}: no column {', '.join(lacking)}; expected a first row "
            f"{','.join(COLUMNS)}, separated by commas, got {shortened(table.columns)}"
        )
    said: dict[str, Word] = {}
    for row in table:
        if isinstance(row, str):
            raise DataError(row)
        where, cells = row
        if not any(cells.values()):
            continue
        with located(where):
            own, word = _read(cells)
            if own in said:
                raise DataError(f"the query {own!r} stands twice")
        said[own] = word
    return said


def check_review(said: Collection[str], known: Iterable[str]) -> None:
    """Make sure that every row is about a query that is made.

    Raises:
        DataError: One is about another.
    """
    unknown = sorted(set(said) - set(known))
    if unknown:
        raise DataError(
            f"the review has {counted(len(unknown), 'row')} about queries that are not made, "
            "such as "
            f"{unknown[0]!r}: it is of another pool or of other settings; name another file"
        )


def write_review(path: Path, queries: Iterable[Query], said: Mapping[str, Word]) -> None:
    """Write queries with what a person said of them, for the person to go on."""
    rows = []
    for query in queries:
        word = said.get(query.id, Word(query.text, True, ""))
        kind = query.candidate.reason or query.kind
        accept = "yes" if word.accept else "no"
        cells = (
            *(query.id, kind, query.seed.text, word.text),
            *(_calls_told(query), accept, word.note),
        )
        rows.append([escaped(well_formed(cell)) for cell in cells])
    write_csv(path, COLUMNS, rows, "utf-8-sig")


def _read(row: Mapping[str, str]) -> tuple[str, Word]:
    said = row["accept"].strip().casefold()
    if said not in _YES | _NO:
        raise DataError(f"accept: expected yes or no, got {shortened(row['accept'])}")
    text = unescaped(row["text"]).strip()
    return unescaped(row["id"]).strip(), Word(text, said in _YES, unescaped(row.get("note", "")))


def _calls_told(query: Query) -> str:
    """Return the gold calls as a person reads them: the first plan's."""
    if query.kind == "irrelevance":
        return "none"
    calls = query.candidate.calls or gold_calls(query.seed.plans[0])
    named = [(query.seed.tools[call.tool].name, call.arguments) for call in calls]
    return "; ".join(f"{name}({json_text(arguments)})" for name, arguments in named)
