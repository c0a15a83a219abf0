"""APIGen, the data set xlam-function-calling-60k."""

from seal.pools import Benchmark

APIGEN = Benchmark("apigen", importer="seal.benchmarks.apigen.importer:import_apigen")
