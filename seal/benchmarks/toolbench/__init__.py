"""ToolBench and StableToolBench: queries, answer trees, converted answers, response examples.

Figures of the SEAL paper that are of ToolBench stand here too.
"""

from pathlib import Path

from seal.pools.benchmark import Benchmark
from seal.report.seal_paper import sweep_table

_HERE = "seal.benchmarks.toolbench"

TOOLBENCH = Benchmark(
    "toolbench",
    published=f"{_HERE}:TABLES",
    importer=f"{_HERE}.importer:import_toolbench",
    errata=Path(__file__).parent / "errata.json",
    verdicts=f"{_HERE}.trajectories:read_verdicts",
    preferences=f"{_HERE}.trajectories:read_preferences",
    answers={
        "stabletoolbench": f"{_HERE}.cached_answers:import_stabletoolbench",
        "toolbench": f"{_HERE}.cached_answers:import_response_examples",
    },
)
ANYTOOL = Benchmark("anytool", importer=f"{_HERE}.importer:import_anytool")
TABLES = sweep_table(
    "ToolBench",
    {
        "10 APIs": (30.67, 1.0, 0.62, 0.34, 0.68),
        "50 APIs": (279.0, 0.95, 0.56, 0.31, 0.78),
        "100 APIs": (524.0, 0.95, 0.57, 0.39, 0.82),
        "200 APIs": (865.0, 0.91, 0.63, 0.43, 0.73),
        "500 APIs": (2019.0, 0.85, 0.59, 0.44, 0.76),
    },
)
