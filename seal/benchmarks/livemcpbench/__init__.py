"""LiveMCPBench: tasks for many MCP servers, runs of a frontier model, and who judged them how."""

from seal.pools.benchmark import Benchmark

_HERE = "seal.benchmarks.livemcpbench"

LIVEMCPBENCH = Benchmark(
    "livemcpbench",
    importer=f"{_HERE}.importer:import_livemcpbench",
    verdicts=f"{_HERE}.importer:read_verdicts",
)
