"""Benchmarks: upstream files turned into tools and tasks, and the pool folders that hold them."""

from seal.benchmarks.importer import (
    REGISTRY,
    Importer,
    ImportReport,
    Notes,
    Recorded,
    import_benchmark,
)
from seal.benchmarks.pool import StoredPool, load_pool

__all__ = [
    "REGISTRY",
    "ImportReport",
    "Importer",
    "Notes",
    "Recorded",
    "StoredPool",
    "import_benchmark",
    "load_pool",
]
