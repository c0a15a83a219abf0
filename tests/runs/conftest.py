"""Every test has a cache and variables of its own, and may ask for a pool and for servers."""

from report_runs import make_run
from run_fixtures import model_server, own_cache, pool

__all__ = ["make_run", "model_server", "own_cache", "pool"]
