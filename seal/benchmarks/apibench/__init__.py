"""APIBench, Gorilla's three model hubs."""

from seal.pools.benchmark import Benchmark

APIBENCH = Benchmark("apibench", importer="seal.benchmarks.apibench.importer:import_apibench")
