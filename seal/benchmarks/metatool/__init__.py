"""MetaTool."""

from seal.pools.benchmark import Benchmark

METATOOL = Benchmark(
    "metatool",
    importer="seal.benchmarks.metatool.importer:import_metatool",
)
