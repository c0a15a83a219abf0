"""LiveMCPBench: tasks for many MCP servers, runs of a frontier model, and who judged them how."""

from seal.lazy import give_names
from seal.pools import Benchmark

give_names(__name__)

_HERE = "seal.benchmarks.livemcpbench"

LIVEMCPBENCH = Benchmark(
    "livemcpbench",
    importer=f"{_HERE}.importer:import_livemcpbench",
    verdicts=f"{_HERE}.verdicts:read_verdicts",
)
