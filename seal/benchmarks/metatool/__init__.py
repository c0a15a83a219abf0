"""MetaTool."""

from pathlib import Path

from seal.pools import Benchmark

METATOOL = Benchmark(
    "metatool",
    importer="seal.benchmarks.metatool.importer:import_metatool",
    errata=Path(__file__).parent / "errata.json",
)
