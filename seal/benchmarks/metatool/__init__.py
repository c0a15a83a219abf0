"""MetaTool."""

from pathlib import Path

from seal.lazy import give_names
from seal.pools import Benchmark

give_names(__name__)

METATOOL = Benchmark(
    "metatool",
    importer="seal.benchmarks.metatool.importer:import_metatool",
    errata=Path(__file__).parent / "errata.json",
)
