"""What a benchmark is to the engine: tools, tasks, where calls run, what is measured."""

from seal.pools.benchmark import Benchmark
from seal.pools.own_tasks import ask, called

__all__ = ["Benchmark", "ask", "called"]
