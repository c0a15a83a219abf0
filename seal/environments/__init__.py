"""Stateful worlds: tools that read and change tables, one world a chat."""

from seal.core.registry import Registry

REGISTRY = Registry(
    "world",
    "seal.environments",
    {
        "phone": "seal.benchmarks.toolsandbox.phone.world:phone",
        "phone_with_timers": "seal.benchmarks.toolsandbox.phone.timers:phone_with_timers",
        "mobile": "seal.benchmarks.dialogtool.mobile.world:mobile",
        "replay": "seal.environments.replay:replay",
        "lookups": "seal.benchmarks.toolscan.sample.world:lookups",
    },
)
"""Worlds by name, each a factory that takes a `WorldSetup` and gives an `EnvironmentFactory`."""

__all__ = ["REGISTRY"]
