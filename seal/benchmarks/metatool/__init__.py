"""MetaTool."""

from seal.pools import Benchmark

METATOOL = Benchmark("metatool", importer="seal.benchmarks.metatool.importer:import_metatool")
