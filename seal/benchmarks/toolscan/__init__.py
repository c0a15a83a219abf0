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
            settings=f"{_HERE}.generation_seeds:QuerySettings",
            source=SourceFlag(
                help="Pool whose tasks with gold calls are the seeds; without gold its tools are.",
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
