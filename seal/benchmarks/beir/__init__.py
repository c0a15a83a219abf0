"""Retrieval sets in BEIR's and ToolRet's layouts."""

from seal.lazy import give_names
from seal.pools import Benchmark

give_names(__name__)

BEIR = Benchmark(
    "beir",
    importer="seal.benchmarks.beir.importer:import_beir",
    exports={"beir": "seal.benchmarks.beir.export:write_beir"},
)
