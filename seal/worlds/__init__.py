"""Stateful worlds: tools that read and change tables, one world a chat."""

from seal.core.registry import Registry

REGISTRY = Registry(
    "world",
    "seal.environments",
    {
        "phone": "seal.worlds.phone.world:phone",
        "phone_with_timers": "seal.worlds.phone.timers:phone_with_timers",
        "mobile": "seal.worlds.mobile.world:mobile",
        "replay": "seal.worlds.replay:replay",
        "lookups": "seal.benchmarks.toolscan_sample.world:lookups",
    },
)
"""Worlds by name, each a factory that takes a `WorldSetup` and gives an `EnvironmentFactory`."""

__all__ = ["REGISTRY"]
