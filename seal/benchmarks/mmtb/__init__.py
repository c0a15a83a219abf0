"""Multi-Mission Tool Bench (MMTB): its tool lists, and its test records as tasks of missions."""

from pathlib import Path

from seal.pools import Benchmark

MMTB = Benchmark(
    "mmtb",
    importer="seal.benchmarks.mmtb.importer:import_mmtb",
    generators={"missions": "seal.benchmarks.mmtb.generator:generate_missions"},
)
SAMPLE = Benchmark("mmtb-sample", folder=Path(__file__).parent / "sample")
