"""APIGen, the data set xlam-function-calling-60k."""

from seal.evaluation.calls import CALL_HEADLINE, VERDICT
from seal.pools import Benchmark

APIGEN = Benchmark(
    "apigen",
    published="seal.benchmarks.apigen.paper:TABLES",
    importer="seal.benchmarks.apigen.importer:import_apigen",
    headline=CALL_HEADLINE,
    success=VERDICT,
)
