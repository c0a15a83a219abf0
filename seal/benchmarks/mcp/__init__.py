"""Tools of MCP servers, as a pool without tasks."""

from seal.pools.benchmark import Benchmark

MCP = Benchmark("mcp", importer="seal.benchmarks.mcp.importer:import_mcp")
