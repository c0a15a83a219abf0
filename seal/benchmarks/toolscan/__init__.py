"""ToolScan: the API lists of its environments, and queries in its input format."""

from pathlib import Path

from seal.pools import Benchmark

TOOLSCAN = Benchmark("toolscan", importer="seal.benchmarks.toolscan.importer:import_toolscan")
SAMPLE = Benchmark(
    "toolscan-sample",
    folder=Path(__file__).parent / "sample",
    importer="seal.benchmarks.toolscan.sample.importer:import_sample",
)
