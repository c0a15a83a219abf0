"""ToolBench and StableToolBench: queries, answer trees, converted answers, response examples.

Figures of the SEAL paper that are of ToolBench stand here too.
"""

from seal.pools.benchmark import Benchmark
from seal.pools.declarations import shipped_rows
from seal.report.seal_paper import sweep_table

_HERE = "seal.benchmarks.toolbench"

TOOLBENCH = Benchmark(
    "toolbench",
    published=f"{_HERE}:TABLES",
    importer=f"{_HERE}.importer:import_toolbench",
    verdicts=f"{_HERE}.trajectories:read_verdicts",
    answers={"stabletoolbench": f"{_HERE}.answers:import_stabletoolbench"},
)
ANYTOOL = Benchmark("anytool", importer=f"{_HERE}.importer:import_anytool")
TABLES = sweep_table("ToolBench", shipped_rows(_HERE)["table-3"])
