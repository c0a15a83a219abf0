"""Tools of MCP servers, as a pool without tasks."""

from seal.lazy import give_names
from seal.pools import Benchmark

give_names(__name__)

MCP = Benchmark("mcp", importer="seal.benchmarks.mcp.importer:import_mcp")
