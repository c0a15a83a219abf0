"""What a benchmark is to the engine: tools, tasks, where calls run, what is measured."""

from typing import TYPE_CHECKING

from seal.lazy import loader
from seal.pools.benchmark import Benchmark
from seal.pools.importer import REGISTRY, Importer, Notes, Recorded
from seal.pools.pool import StoredPool, load_pool

if TYPE_CHECKING:
    from seal.pools.imports import ImportReport, import_benchmark

__all__ = [
    "REGISTRY",
    "Benchmark",
    "ImportReport",
    "Importer",
    "Notes",
    "Recorded",
    "StoredPool",
    "import_benchmark",
    "load_pool",
]

__getattr__ = loader(__name__, {".imports": ["ImportReport", "import_benchmark"]})
