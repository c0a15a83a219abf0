"""Simulated and recorded answers to API calls, kept so that equal calls get equal answers."""

from seal.core.registry import Registry

REGISTRY = Registry(
    "simulator",
    "seal.simulators",
    {
        "template": "seal.simulator_cache.simulators:template",
        "llm": "seal.simulator_cache.simulators:llm",
        "recorded": "seal.simulator_cache.simulators:recorded",
    },
)
"""Simulators by name, each a factory that takes a `SimulatorSetup`."""

__all__ = ["REGISTRY"]
