"""DialogTool, from the Schema-Guided Dialogue corpus."""

from pathlib import Path

from seal.pools import Benchmark

DIALOGTOOL = Benchmark(
    "dialogtool", importer="seal.benchmarks.dialogtool.importer:import_dialogtool"
)
MULTIWOZ = Benchmark("multiwoz", importer="seal.benchmarks.dialogtool.multiwoz:import_multiwoz")
SAMPLE = Benchmark(
    "dialogtool-sample",
    folder=Path(__file__).parent / "sample",
    importer="seal.benchmarks.dialogtool.sample.importer:import_sample",
)
