"""APIGen, the data set xlam-function-calling-60k, and figures of the SEAL paper that are of it."""

from seal.pools.benchmark import Benchmark
from seal.pools.declarations import shipped_rows
from seal.report.seal_paper import sweep_table

APIGEN = Benchmark(
    "apigen",
    published="seal.benchmarks.apigen:TABLES",
    importer="seal.benchmarks.apigen.importer:import_apigen",
)
TABLES = sweep_table("APIGen", shipped_rows("seal.benchmarks.apigen")["table-3"])
