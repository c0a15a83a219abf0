"""Make a benchmark of your own tools and questions."""

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from seal.cli.groups import argument, flag, option, repeated, verb
from seal.cli.options import JSON
from seal.cli.output import Output, output
from seal.cli.words import pairs
from seal.core import UsageError

if TYPE_CHECKING:
    from seal.pools import Benchmark
    from seal.pools.importer import Notes

_SHOWN = 3
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
        "Column that holds the query, calls, tools, answer or id: query=question.",
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


def _show(bench: "Benchmark", notes: "Notes", out: Path, result: Output) -> None:
    from seal.pools.importer import REPORT
    from seal.pools.own_parts import FUNCTION
    from seal.pools.own_preview import gold_of, said_by
    from seal.pools.pool import load_pool
    from seal.report.grids import Grid, counts_of

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
        [task.goals[0].text, gold_of(task.goals[0]), ", ".join(task.goals[0].answers) or "-"]
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
    from seal.pools import Benchmark

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
