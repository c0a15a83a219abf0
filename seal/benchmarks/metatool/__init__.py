"""MetaTool."""

from pathlib import Path

from seal.evaluation.calls import CALL_HEADLINE, VERDICT
from seal.pools import Benchmark

METATOOL = Benchmark(
    "metatool",
    importer="seal.benchmarks.metatool.importer:import_metatool",
    errata=Path(__file__).parent / "errata.json",
    headline=CALL_HEADLINE,
    success=VERDICT,
)
