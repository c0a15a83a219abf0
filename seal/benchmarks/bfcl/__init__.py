"""The Berkeley Function-Calling Leaderboard, version 4."""

from seal.evaluation.calls import CALL_HEADLINE, VERDICT
from seal.pools.benchmark import Benchmark

BFCL = Benchmark(
    "bfcl",
    importer="seal.benchmarks.bfcl.importer:import_bfcl",
    needs_world="seal.benchmarks.bfcl.world:needed",
    headline=CALL_HEADLINE,
    exports={"bfcl": "seal.benchmarks.bfcl.files:write_bfcl"},
    matches={"bfcl": "seal.benchmarks.bfcl.leaderboard:Leaderboard"},
    success=VERDICT,
)
