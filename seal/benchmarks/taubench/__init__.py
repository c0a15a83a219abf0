"""tau-bench and tau2-bench: customers of an airline and of a shop, served under a policy."""

from dataclasses import replace

from seal.pools.benchmark import Benchmark

_HERE = "seal.benchmarks.taubench"
TAUBENCH = Benchmark(
    "taubench",
    importer=f"{_HERE}.importer:import_taubench",
    needs_world=f"{_HERE}.world:needed",
    measures=f"{_HERE}.metrics:measures",
    headline=("reward", "reward_state", "reward_outputs"),
    success="reward",
    decided_by=f"{_HERE}.metrics:decided_by",
    play={"team": "direct"},
)
TAU2 = replace(TAUBENCH, name="tau2", importer=f"{_HERE}.importer:import_tau2")
