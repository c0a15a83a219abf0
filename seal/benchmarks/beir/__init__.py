"""Retrieval sets in BEIR's and ToolRet's layouts."""

from seal.pools import Benchmark

BEIR = Benchmark("beir", importer="seal.benchmarks.beir.importer:import_beir")
