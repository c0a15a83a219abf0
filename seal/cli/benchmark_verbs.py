"""The verbs of benchmarks, from benchmarks and import to augment."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from seal.cli.groups import argument, flag, option, repeated, verb
from seal.cli.options import ALLOW_CODE, JSON, POOL, SERVERS
from seal.cli.output import Output, output, progress
from seal.cli.words import choice, pairs, typed_pairs
from seal.core import UnknownNameError, UsageError
from seal.core.records import to_plain
from seal.core.text import field_lines, goal_name, one_line
from seal.experiments.export import TRIPLETS, forms
from seal.pools.benchmark import FUNCTION, Benchmark
from seal.pools.catalogue import Card, catalogue, fetch, find_entry, import_named
from seal.pools.counts import count_missions, count_stored
from seal.pools.importer import RECORDINGS, REGISTRY, REPORT, Notes
from seal.pools.imports import ImportReport
from seal.pools.lookup import installed_benchmarks, open_pool
from seal.pools.pool import load_pool
from seal.report import seal_paper as tables
from seal.report.grids import Grid, counts_of
from seal.runs.finished import import_run

# -- List the benchmarks that ship and those that can be imported.


@verb("benchmarks")
def benchmarks_command(
    name: str | None = argument(
        "Name of a benchmark, or folder of a pool, to show in full.", None, metavar="[NAME|POOL]"
    ),
    count: bool = flag(
        "Count what the benchmarks hold whose files are here; they are imported once."
    ),
    json: bool = JSON,
) -> int:
    """List what the benchmarks hold that ship, and those that can be imported."""
    with output(json) as result:
        if name is None:
            _show_all(count, result)
        else:
            _show_one(name, count, result)
    return 0


def _measured(entries: Sequence[Card]) -> dict[str, tables.Counted]:
    """Return the counts of benchmarks by name."""
    measured = {}
    with progress() as advance:
        for done, entry in enumerate(entries, 1):
            measured[entry.name] = tables.measure(entry)
            advance("count", done, len(entries), unit="benchmarks")
    return measured


def _show_one(name: str, count: bool, result: Output) -> None:
    pool = tables.named_pool(name)
    if pool is not None:
        plain, lines = tables.of_pool(pool)
    else:
        entry = find_entry(name)
        measured = _measured([entry] if count else []).get(entry.name)
        plain, lines = tables.plain(entry, measured), tables.details(entry, measured)
    result.result(plain)
    result.show(*lines)


def _show_all(count: bool, result: Output) -> None:

    entries = list(catalogue().values())
    measured = _measured(entries if count else [])
    sound, broken = installed_benchmarks()
    complete = []
    for name, bench in sound.items():
        try:
            complete += [name] if bench.is_complete else []
        except UsageError as error:  # of its tools
            broken[name] = str(error)
    importers = [name for name, bench in sound.items() if bench.importer is not None]
    described = [tables.plain(entry, measured.get(entry.name)) for entry in entries]
    shipped = [name for name in complete if REGISTRY.is_ours(name)]
    others = [name for name in complete if name not in shipped]
    found = {"shipped": shipped, "others": others, "importers": importers, "broken": broken}
    result.result({**found, "benchmarks": described})
    result.show(
        tables.overview(entries),
        f"shipped, played by 'seal run NAME': {', '.join(shipped)}",
        *([f"of others, played by 'seal run NAME': {', '.join(others)}"] if others else []),
        f"imported by 'seal import NAME SOURCE --out DIR': {', '.join(importers)}",
        *(f"broken, {name}: {why}" for name, why in sorted(broken.items())),
        tables.table_1(entries, measured),
        *tables.notes(entries, measured),
    )


# -- Download a benchmark's upstream files, pinned and checked.


@verb("fetch")
def fetch_command(
    name: str = argument("Name of a benchmark; `seal benchmarks` lists them.", metavar="NAME"),
    out: Path | None = option(
        None, "Folder for the files.  [default: the benchmark's own in SEAL_DATA, else in data/]"
    ),
    mirror: str | None = option(
        None, "Address to download from, instead of the repository.", metavar="URL"
    ),
    json: bool = JSON,
) -> int:
    """Download a benchmark's upstream files; each is checked against its SHA-256."""
    with output(json) as result, progress() as advance:
        entry = find_entry(name)
        data = Path(os.environ.get("SEAL_DATA") or "data")
        folder = out or data / (entry.folder or entry.name)
        report = asdict(fetch(name, folder, mirror, advance))
        result.fields(report, f"import them: seal import {entry.importer} {folder} --out POOL")
    return 0


# -- Turn a benchmark's upstream files into tools and tasks.


@dataclass(frozen=True, kw_only=True)
class Importing:
    """Options: where the benchmark goes, and what of it."""

    out: Path = option(..., "Folder to write; `seal run` takes it.")
    trajectories: bool = flag("Read SOURCE as recorded chats, and write a run to score.")
    task_option: dict[str, Any] = repeated(
        "Option of this benchmark; repeatable.",
        "--task-option",
        "-T",
        metavar="KEY=VALUE",
        read=typed_pairs,
    )
    language: str | None = option(
        None, "Same as -T language=..., for a benchmark in several languages."
    )
    split: str | None = option(None, "Same as -T split=..., for a benchmark of several splits.")
    allow_code: tuple[str, ...] = ALLOW_CODE
    servers: dict[str, Any] = SERVERS
    json: bool = JSON


@verb("import")
def import_command(
    *,
    name: str = argument(
        "Name of a benchmark; `seal benchmarks` lists them. inspect: a log of inspect_ai, as "
        "a run.",
        metavar="NAME",
    ),
    source: Path | None = argument(
        "The benchmark's upstream files; mcp has none.", None, metavar="[SOURCE]"
    ),
    asked: Importing,
) -> int:
    """Turn a benchmark's upstream files into tools.jsonl, tasks.jsonl and import.json."""
    out, options = asked.out, asked.task_option
    with output(asked.json) as result:
        for same, value in (("language", asked.language), ("split", asked.split)):
            if value is not None and options.setdefault(same, value) != value:
                raise UsageError(f"--{same} {value} and -T {same}={options[same]}: give one")
        if asked.allow_code:
            options["allow_code"] = asked.allow_code
        if asked.servers:
            options["servers"] = asked.servers
        elif source is None:
            raise UsageError(
                f"seal import {name}: SOURCE is missing: name its upstream files, or of mcp a "
                'server: --server "COMMAND", --server URL or --server FILE'
            )
        has_chats_alone = name in RECORDINGS and name not in REGISTRY
        if (asked.trajectories or has_chats_alone) and source is not None:
            report = import_run(name, source, out, options).to_json()
            next_step = f"score it: seal score {out}"
        else:
            report = _imported(name, source, out, options).to_json()
            next_step = _next(report, out)
        result.result(report)
        told = {
            name: value for name, value in report.items() if name not in ("malformed", "remarks")
        }
        places = [f"left out: {fault}" for fault in report.get("malformed", ())]
        places += [f"note: {remark}" for remark in report.get("remarks", ())]
        result.show(*field_lines(told), *places, f"written to {out}; {next_step}")
    return 0


def _imported(
    name: str, source: Path | None, out: Path, options: Mapping[str, Any]
) -> ImportReport:

    try:
        return import_named(name, source, out, **options)
    except UnknownNameError as error:
        if error.name not in options:
            raise
        raise UsageError(
            f"{error} `seal run` takes other options -T, which say how tasks are played"
        ) from error


def _next(report: Mapping[str, Any], out: Path) -> str:
    """Return what can be done with the pool."""
    if report["tasks"]:
        return f"play it: seal run {out}"
    if report["recordings"]:
        return f"it has recorded runs and no tasks to play; look for faults: seal lint {out}"
    return f"it has tools and no tasks to play; look for faults: seal lint {out}"


# -- Make a benchmark of your own tools and questions.

_SHOWN = 3
_LONGEST_CELL = 200
"""Characters of a cell of the first tasks."""
"""Tasks of the preview."""
_FAULTS = 5
"""Rows left out that are shown."""


@dataclass(frozen=True, kw_only=True)
class Making:
    """Options: what the benchmark is made of."""

    tools: str = option(
        "", "Python module of functions, or schemas as JSON, YAML or CSV.", metavar="FILE"
    )
    tasks: str = option(
        "",
        "Table of tasks: CSV, JSON Lines, JSON, Parquet, a folder of these, or hf:NAME[:SPLIT].",
        metavar="FILE",
    )
    map: dict[str, str] = repeated(
        "Column that holds the query, calls, tools, answer, tells or id: query=question.",
        metavar="KEY=COLUMN,...",
        read=lambda flag, words: pairs(flag, [p for w in words or () for p in w.split(",")]),
    )
    out: Path = option(..., "Folder to write; `seal run` takes it.")
    template: bool = flag("Write example files to begin with, and nothing else.")
    json: bool = JSON


@verb("new")
def new_command(
    *, name: str = argument("Name of the benchmark, such as shop.", metavar="NAME"), asked: Making
) -> int:
    """Make a benchmark of your own tools and questions: a folder that `seal run` takes."""
    with output(asked.json) as result:
        if asked.template:
            _write_template(name, asked.out, result)
            return 0
        if not asked.tools or not asked.tasks:
            raise UsageError(
                "give --tools FILE and --tasks FILE; `seal new NAME --template --out DIR` writes "
                "examples of both"
            )
        from seal.pools.own_files import benchmark_of, save

        bench, notes = benchmark_of(name, asked.tools, asked.tasks, asked.map)
        save(bench, notes, asked.out)
        _show(bench, notes, asked.out, result)
    return 0


def _show(bench: Benchmark, notes: Notes, out: Path, result: Output) -> None:
    from seal.pools.own_files import gold_of, said_by

    pool = load_pool(out)
    tools, tasks = pool.tools(), list(pool.every_task())
    said = said_by(tasks)
    dropped = sum(notes.dropped.values())
    result.result(
        {
            "name": bench.name,
            "folder": str(out),
            "tools": len(tools),
            "tasks": len(tasks),
            "left_out": dropped,
            "faults": notes.malformed,
            "metrics": [one._asdict() for one in said],
        }
    )
    shown = [
        [
            one_line(cell, _LONGEST_CELL)
            for cell in (
                task.goals[0].text,
                gold_of(task.goals[0]),
                ", ".join(task.goals[0].told) or "-",
            )
        ]
        for task in tasks[:_SHOWN]
    ]
    values = [[one.metrics, f"{one.tasks} of {len(tasks)}", one.why] for one in said]
    modules = {str(tool.source[FUNCTION]).partition(":")[0] for tool in tools if tool.source}
    allow = "".join(f" --allow-code {module}" for module in sorted(modules))
    result.show(
        f"{bench.name}: {counts_of(tool=len(tools), task=len(tasks))}, rows left out: {dropped}",
        *(f"left out: {fault}" for fault in notes.malformed[:_FAULTS]),
        *([f"and {dropped - _FAULTS} more: see {out / REPORT}"] if dropped > _FAULTS else []),
        Grid("", ["the first tasks", "gold calls", "answer"], shown, names=3),
        Grid("", ["metric", "has a value of", "by"], values, names=3),
        f"written to {out}; play it: seal run {out}{allow}",
    )


def _write_template(name: str, out: Path, result: Output) -> None:

    Benchmark(name)  # refuses a name that none can have
    module = f"{name.replace('-', '_')}_tools"
    if out.exists() and any(out.iterdir()):
        raise UsageError(f"{out} holds something; choose a new folder")
    out.mkdir(parents=True, exist_ok=True)
    place = files("seal.pools") / "template"
    written = {"tools.txt": f"{module}.py", "questions.csv": "questions.csv"}
    for source, target in written.items():
        (out / target).write_bytes((place / source).read_bytes())
    result.result({"folder": str(out), "files": list(written.values())})
    result.show(
        f"written to {out}: {', '.join(written.values())}; then: cd {out} && "
        f"seal new {name} --tools {module}.py --tasks questions.csv --out {name}"
    )


# -- Search a pool by words, show its tasks and tools, and count it.


@verb("pools", name="search")
def pools_search(
    pool: str = POOL,
    words: str = argument("Words to look for.", metavar="WORDS"),
    k: int = option(5, "Number of hits to show.", "-k"),
    of: Literal["tools", "tasks"] = option("tools", "What to search."),
    json: bool = JSON,
) -> int:
    """Rank a pool's tools or tasks for some words, by BM25."""
    with output(json) as result:
        hits = open_pool(pool).search(words, k, of)
        result.result({"pool": pool, "words": words, "hits": list(map(asdict, hits))})
        rows = [[hit.id, hit.text, f"{hit.score:.2f}"] for hit in hits]
        grid = Grid("", [of.removesuffix("s"), "text", "score"], rows, names=2)
        result.show(grid if rows else f"none of the {of} of {pool} has any of these words")
    return 0


@verb("pools", name="show")
def pools_show(
    pool: str = POOL,
    id: str = argument("Id of a task or tool, or its beginning or end.", metavar="ID"),
    json: bool = JSON,
) -> int:
    """Show a task with its gold tools, or a tool."""
    from seal.pools.own_files import gold_of

    with output(json) as result:
        opened = open_pool(pool)
        try:
            task = opened.task(id)
        except UnknownNameError:
            tool = opened.tool(id)
            result.result(to_plain(tool))
            told = {"tool": tool.id, "called as": tool.name, "description": tool.description}
            arguments = tool.parameters.get("properties", {})
            needed = tool.parameters.get("required", [])
            result.show(*field_lines({**told, "arguments": arguments, "required": needed}))
            return 0
        gold = [tool.id for tool in opened.tools_of(task.id)]
        result.result({**to_plain(task), "tools_of": gold})
        shown: dict[str, Any] = {"task": task.id, "tags": task.tags}
        for place, goal in enumerate(task.goals):
            answers = list(goal.told) or "not known"
            parts = {"asks": goal.text, "gold calls": gold_of(goal), "answer": answers}
            named = goal_name(place, len(task.goals))
            shown |= {f"{named}, {part}": value for part, value in parts.items()}
        result.show(*field_lines({**shown, "gold tools": gold}))
    return 0


@verb("pools", name="stats")
def pools_stats(pool: str = POOL, json: bool = JSON) -> int:
    """Count a pool's tasks, tools, kinds of gold and types of missions."""
    with output(json) as result:
        opened = open_pool(pool)
        counts = asdict(count_stored(opened))
        missions = asdict(count_missions(opened.every_task() if counts["tasks"] else ()))
        told = {name: value for name, value in missions.items() if value}
        result.fields({"pool": pool, **counts, **told})
    return 0


# -- Find what is wrong or doubtful in a pool.


@verb("lint")
def lint_command(
    pool: str = POOL,
    threshold: float = option(
        90.0, "Least similarity of near-duplicate tools: above 0, at most 100."
    ),
    examples: int = option(2, "Number of findings of each kind to show."),
    fail_on: tuple[str, ...] = repeated(
        "Exit with 1 if there is a finding of this kind or severity; repeatable.", metavar="KIND"
    ),
    mutants: bool = flag(
        "Also play wrong variants of gold in its world, which must not solve the task, and right "
        "ones, which must."
    ),
    sample: int | None = option(
        None, "Number of tasks whose gold is altered.  [default: all]", metavar="N"
    ),
    seed: int | None = option(
        None, "Seed of the tasks and variants that are drawn.  [default: 0]", metavar="N"
    ),
    allow_code: tuple[str, ...] = ALLOW_CODE,
    json: bool = JSON,
) -> int:
    """Find what is wrong or doubtful in a pool; nothing is changed."""
    from seal.api.benchmarks import lint
    from seal.api.pool_results import lint_tables

    with output(json) as result, progress() as advance:
        refused = _refused(fail_on)
        drawn: dict[str, Any] = {"mutants": mutants, "sample": sample, "seed": seed or 0}
        report = lint(pool, threshold=threshold, allow_code=allow_code, progress=advance, **drawn)
        result.result({"pool": pool, **report.to_json()})
        result.show(*lint_tables(pool, report, examples, report.mutants))
    return int(any({finding.kind, finding.severity} & refused for finding in report.findings))


def _refused(kinds: tuple[str, ...]) -> set[str]:
    """Return the kinds and severities that end with 1.

    Raises:
        UnknownNameError: There is no such kind or severity.
    """
    from seal.pools.lint_findings import KINDS

    known = {*KINDS, *(severity for severity, _ in KINDS.values())}
    for kind in kinds:
        if kind not in known:
            raise UnknownNameError("kind or severity of finding", kind, known)
    return set(kinds)


# -- Write a pool or a run for OpenAI, TREC, Hugging Face, inspect_ai and others.


@verb("export")
def export_command(
    what: str = argument(
        "Name of a shipped benchmark, folder of an imported one or of a run, or your own as "
        "module:name.",
        metavar="NAME|DIR",
    ),
    to: str = option(..., "Format to write.", words=choice(forms())),
    out: Path = option(..., "Folder to write."),
    licence: str = option(
        "", "Licence of the data, for the card.  [default: that of the catalogue]"
    ),
    negatives: int | None = option(
        None, "Number of hard negatives in a line of triplets.  [default: 1]", metavar="N"
    ),
    negatives_by: str | None = option(
        None,
        "Retriever that finds the hard negatives of triplets.  [default: tfidf]",
        metavar="NAME[,KEY=VALUE...]",
    ),
    seed: int | None = option(
        None,
        "Seed of the negatives of triplets that are drawn by chance.  [default: 0]",
        metavar="N",
    ),
    json: bool = JSON,
) -> int:
    """Write a pool or a run in another format, with a card of its source and licence."""
    from seal.api.benchmarks import export

    # A seed of seal.toml is meant for the verbs and forms that draw.
    drawn_by = seed if to == TRIPLETS else None
    mined_by: dict[str, Any] = {"negatives": negatives, "negatives_by": negatives_by}
    with output(json) as result:
        result.fields(asdict(export(what, to, out, licence=licence, seed=drawn_by, **mined_by)))
    return 0


# -- Tell which code, servers and files a pool or run from elsewhere asks for.


@verb("trust")
def trust_command(
    pool: str = POOL, allow_code: tuple[str, ...] = ALLOW_CODE, json: bool = JSON
) -> int:
    """Tell which code, servers and files a pool or run asks for; none of its code is imported.

    The exit code is 1 if it names code that is refused, or a world or team that nobody here offers.
    """
    from seal.pools.lint_findings import asked_by

    if (":" in pool or pool.endswith(".py")) and not Path(pool).is_dir():
        raise UsageError(
            f"{pool} names code, which would be imported; name the folder of a pool or run"
        )
    with output(json) as result:
        asked = asked_by(open_pool(pool).folder, allow_code)
        result.result({"pool": pool, "asked": list(map(asdict, asked))})
        rows = [[one.what, one.name, one.place, one.answer] for one in asked]
        grid = Grid("", ["asks for", "name", "where", "answer"], rows, names=4)
        result.show(grid if rows else f"{pool} asks for nothing")
    return int(any(one.refused for one in asked))


# -- Write a copy of a benchmark with distraction tools, or with scrambled ones.


@verb("augment")
def augment_command(
    pool: str = POOL,
    augment: list[str] = option(
        ...,
        "How to change the tools: distraction=N, distraction=all, names, descriptions, "
        "argument-descriptions, argument-types, or several joined by commas. Repeated, it "
        "gives every task once for each. Or several by a name that a benchmark declares.",
        metavar="WHAT[,WHAT...]",
    ),
    out: Path = option(..., "Folder to write; `seal run` takes it."),
    json: bool = JSON,
) -> int:
    """Write a copy of a benchmark whose tasks have distraction tools, or scrambled ones."""
    from seal.api.benchmarks import augment as written

    with output(json) as result:
        report = written(pool, augment, out).to_json()
        result.fields(report, f"written to {out}; play it: seal run {out}")
    return 0
