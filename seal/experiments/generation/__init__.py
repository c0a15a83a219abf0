"""What generators of benchmarks share: the journal they go on with, who writes, and the pool."""
