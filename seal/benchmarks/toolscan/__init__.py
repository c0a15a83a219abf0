"""ToolScan: the API lists of its environments, and queries in its input format."""

from pathlib import Path

from seal.pools.benchmark import Benchmark
from seal.pools.declarations import Generator, SourceFlag

_HERE = "seal.benchmarks.toolscan"
_PAPER = f"{_HERE}.metrics:TABLES"

TOOLSCAN = Benchmark(
    "toolscan",
    metrics=("toolscan",),
    published=_PAPER,
    importer=f"{_HERE}.importer:import_toolscan",
    generators={
        "queries": Generator(
            make=f"{_HERE}.generation:generate_queries",
            about="Make harder queries from a pool's tasks by a model; filters check each.",
            settings=f"{_HERE}.generation_filters:QuerySettings",
            source=SourceFlag(
                help="Pool whose tasks with gold calls are the seeds.",
                flag="--tools",
            ),
            stage="drafts",
            told=f"{_HERE}.generation:queries_told",
        ),
    },
)
SAMPLE = Benchmark(
    "toolscan-sample",
    metrics=("toolscan",),
    published=_PAPER,
    folder=Path(__file__).parent / "sample",
)
"""The benchmark of similar tools that ships: 6 environments, all of our own making.

`sample/authored/` holds what was written. `tools.json` has tools in ToolScan's neutral list.
`queries.jsonl` has queries in its input format (`seal.benchmarks.toolscan.importer`).
`answers.json` has the tables out of which the tools answer (`seal.benchmarks.toolscan.world`).
Beside it lies the pool that they compile to:

    python perf/samples/compile_samples.py toolscan-sample AUTHORED POOL

The compiler makes every gold call and refuses a query one of whose plans brings nothing, or does
not bring the answer (`perf/samples/toolscan_sample.py`). The tags `environment`,
`alternative_plans` and `irrelevance` say what a task is. If no tool serves a task, `irrelevance`
names the reason, and its metadata `seed` names the task that it was made of.

Works, persons, places, sailings and companies are invented.
"""
