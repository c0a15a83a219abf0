"""Benchmarks, a folder each: all that is only this benchmark's."""
