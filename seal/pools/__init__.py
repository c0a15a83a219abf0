"""What a benchmark is to the engine: tools, tasks, where calls run, what is measured."""

from typing import TYPE_CHECKING

from seal.pools.benchmark import Benchmark as Benchmark
from seal.pools.importer import REGISTRY as REGISTRY
from seal.pools.importer import Importer as Importer
from seal.pools.importer import Notes as Notes
from seal.pools.importer import Recorded as Recorded
from seal.pools.pool import StoredPool as StoredPool
from seal.pools.pool import load_pool as load_pool

if TYPE_CHECKING:
    from seal.pools.imports import ImportReport as ImportReport
    from seal.pools.imports import import_benchmark as import_benchmark
