"""ToolScan: the API lists of its environments, and queries in its input format."""

from pathlib import Path

from seal.lazy import give_names
from seal.pools import Benchmark

give_names(__name__)

_HERE = "seal.benchmarks.toolscan"
_PAPER = f"{_HERE}.paper:TABLES"

TOOLSCAN = Benchmark(
    "toolscan",
    metrics=("toolscan",),
    published=_PAPER,
    importer=f"{_HERE}.importer:import_toolscan",
    generators={
        "queries": f"{_HERE}.query_generation.generate:generate_queries",
        "tools": f"{_HERE}.tool_generation.generate:generate_tools",
    },
)
SAMPLE = Benchmark(
    "toolscan-sample",
    metrics=("toolscan",),
    published=_PAPER,
    folder=Path(__file__).parent / "sample",
    importer="seal.benchmarks.toolscan.sample.importer:import_sample",
)
