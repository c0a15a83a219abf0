"""Stateful worlds: tools that read and change tables, one world a chat."""

from seal.core.registry import Registry

REGISTRY = Registry(
    "world",
    "seal.environments",
    {"mcp": "seal.environments.mcp:mcp", "replay": "seal.environments.replay:replay"},
)
"""Worlds by name, each a factory that takes a `WorldSetup` and gives an `EnvironmentFactory`."""

__all__ = ["REGISTRY"]
