"""Many runs: retrieval, sweeps, ablations, comparisons, explanations, people's labels."""
