"""ToolBench and StableToolBench: queries, answer trees, converted answers, response examples."""

from pathlib import Path

from seal.lazy import give_names
from seal.pools import Benchmark

give_names(__name__)

_HERE = "seal.benchmarks.toolbench"

TOOLBENCH = Benchmark(
    "toolbench",
    published=f"{_HERE}.paper:TABLES",
    importer=f"{_HERE}.importer:import_toolbench",
    errata=Path(__file__).parent / "errata.json",
    verdicts=f"{_HERE}.verdicts:read_verdicts",
    preferences=f"{_HERE}.verdicts:read_preferences",
    answers={
        "stabletoolbench": f"{_HERE}.answer_files:import_stabletoolbench",
        "toolbench": f"{_HERE}.answer_files:import_response_examples",
    },
)
ANYTOOL = Benchmark("anytool", importer=f"{_HERE}.anytool:import_anytool")
