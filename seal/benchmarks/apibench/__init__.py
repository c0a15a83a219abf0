"""APIBench, Gorilla's three model hubs."""

from seal.pools import Benchmark

APIBENCH = Benchmark("apibench", importer="seal.benchmarks.apibench.importer:import_apibench")
