"""APIBench, Gorilla's three model hubs."""

from seal.lazy import give_names
from seal.pools import Benchmark

give_names(__name__)

APIBENCH = Benchmark("apibench", importer="seal.benchmarks.apibench.importer:import_apibench")
