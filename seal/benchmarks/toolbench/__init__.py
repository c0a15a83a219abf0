"""ToolBench and StableToolBench: queries, answer trees, converted answers, response examples."""

from seal.pools import Benchmark

TOOLBENCH = Benchmark("toolbench", importer="seal.benchmarks.toolbench.importer:import_toolbench")
ANYTOOL = Benchmark("anytool", importer="seal.benchmarks.toolbench.anytool:import_anytool")
