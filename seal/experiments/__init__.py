"""Many runs: retrieval, sweeps, ablations, comparisons, explanations, people's labels."""

from seal.lazy import give_names

give_names(__name__)
