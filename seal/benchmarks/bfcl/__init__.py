"""The Berkeley Function-Calling Leaderboard, version 4."""

from seal.pools import Benchmark

BFCL = Benchmark("bfcl", importer="seal.benchmarks.bfcl.importer:import_bfcl")
