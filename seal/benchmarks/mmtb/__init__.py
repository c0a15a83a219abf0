"""Multi-Mission Tool Bench (MMTB): its tool lists, and its test records as tasks of missions."""

from pathlib import Path

from seal.lazy import give_names
from seal.pools import Benchmark

give_names(__name__)

_PAPER = "seal.benchmarks.mmtb.paper:TABLES"
MMTB = Benchmark(
    "mmtb",
    published=_PAPER,
    importer="seal.benchmarks.mmtb.importer:import_mmtb",
    generators={"missions": "seal.benchmarks.mmtb.generation.generate:generate_missions"},
)
SAMPLE = Benchmark("mmtb-sample", folder=Path(__file__).parent / "sample", published=_PAPER)
