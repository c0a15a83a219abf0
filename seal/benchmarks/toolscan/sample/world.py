"""The world of the sample's tasks: its tools look their answers up."""

from __future__ import annotations

from seal.benchmarks.toolscan.sample import NAME, authored, folder
from seal.benchmarks.toolscan.sample.lookup import Lookup
from seal.core.environment import EnvironmentFactory
from seal.environments.world import WorldSetup, check_options
from seal.pools.pool import load_pool
from seal.simulator_cache.environments import SimulatedEnvironments

WORLD = "lookups"
"""Name of the world."""


def lookups(setup: WorldSetup) -> EnvironmentFactory:
    """Return what opens the sample's environments; calls are checked by rule before.

    Raises:
        OptionError: An option is given; there is none.
    """
    check_options(NAME, setup, ())
    tools = {tool.id: tool for tool in load_pool(folder()).tools()}
    return SimulatedEnvironments(Lookup.read(authored() / "answers.json"), tools)
