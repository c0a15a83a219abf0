"""APIGen, the data set xlam-function-calling-60k."""

from seal.pools.benchmark import Benchmark

APIGEN = Benchmark(
    "apigen",
    published="seal.benchmarks.apigen.paper:TABLES",
    importer="seal.benchmarks.apigen.importer:import_apigen",
)
