"""What `perf/recall.py` measures, on which benchmarks, and how it is written down."""
