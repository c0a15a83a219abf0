"""Retrieval sets in BEIR's and ToolRet's layouts."""

from seal.pools.benchmark import Benchmark

BEIR = Benchmark(
    "beir",
    importer="seal.benchmarks.beir.importer:import_beir",
    exports={"beir": "seal.benchmarks.beir.importer:write_beir"},
)
