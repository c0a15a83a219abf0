"""What a benchmark is to the engine: tools, tasks, where calls run, what is measured."""

from seal.pools.benchmark import Benchmark
from seal.pools.importer import (
    REGISTRY,
    Importer,
    ImportReport,
    Notes,
    Recorded,
    import_benchmark,
)
from seal.pools.pool import StoredPool, load_pool

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
