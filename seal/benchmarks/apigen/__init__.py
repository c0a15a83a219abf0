"""APIGen, the data set xlam-function-calling-60k."""

from seal.lazy import give_names
from seal.pools import Benchmark

give_names(__name__)

APIGEN = Benchmark(
    "apigen",
    published="seal.benchmarks.apigen.paper:TABLES",
    importer="seal.benchmarks.apigen.importer:import_apigen",
)
