"""APIGen, the data set xlam-function-calling-60k, and figures of the SEAL paper that are of it."""

from seal.pools.benchmark import Benchmark
from seal.report.seal_paper import sweep_table

APIGEN = Benchmark(
    "apigen",
    published="seal.benchmarks.apigen:TABLES",
    importer="seal.benchmarks.apigen.importer:import_apigen",
)
TABLES = sweep_table(
    "APIGen",
    {
        "10 APIs": (10.0, 1.0, 0.98, 0.93, 0.87),
        "50 APIs": (116.0, 0.96, 0.94, 0.80, 0.80),
        "100 APIs": (375.0, 0.97, 0.95, 0.84, 0.84),
        "200 APIs": (726.0, 0.95, 0.93, 0.82, 0.86),
        "500 APIs": (2456.0, 0.93, 0.87, 0.79, 0.85),
    },
)
