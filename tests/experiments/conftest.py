"""Every test has a cache and variables of its own, and may ask for a pool and for servers."""

from run_fixtures import model_server, own_cache, pool

__all__ = ["model_server", "own_cache", "pool"]
