"""ToolScan: the API lists of its environments, and queries in its input format."""

from pathlib import Path

from seal.lazy import give_names
from seal.pools import Benchmark
from seal.pools.generator import Generator, SourceFlag

give_names(__name__)

_HERE = "seal.benchmarks.toolscan"
_PAPER = f"{_HERE}.paper:TABLES"

TOOLSCAN = Benchmark(
    "toolscan",
    metrics=("toolscan",),
    published=_PAPER,
    importer=f"{_HERE}.importer:import_toolscan",
    generators={
        "queries": Generator(
            make=f"{_HERE}.query_generation.generate:generate_queries",
            about="Make harder queries from a pool's tasks by a model; filters check each.",
            settings=f"{_HERE}.query_generation.candidates:QuerySettings",
            source=SourceFlag(
                help="Pool whose tasks with gold calls are the seeds; without gold its tools are.",
                flag="--tools",
            ),
            stage="drafts",
            told=f"{_HERE}.query_generation.generate:queries_told",
        ),
    },
)
SAMPLE = Benchmark(
    "toolscan-sample",
    metrics=("toolscan",),
    published=_PAPER,
    folder=Path(__file__).parent / "sample",
)
