"""MetaTool."""

from pathlib import Path

from seal.pools.benchmark import Benchmark

METATOOL = Benchmark(
    "metatool",
    importer="seal.benchmarks.metatool.importer:import_metatool",
    errata=Path(__file__).parent / "errata.json",
)
