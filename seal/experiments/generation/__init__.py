"""What generators of benchmarks share: the folder they work in, and the models that write."""
