"""SEAL evaluates language models and agents that use tools.

Importing it is free: each name is loaded from its module when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from seal.lazy import loader

if TYPE_CHECKING:
    from seal.agents.teams import Team
    from seal.api.chats import groupchat
    from seal.api.objects.frames import frames
    from seal.api.objects.run import Run
    from seal.api.plugins import register
    from seal.api.pools import augment, generate, import_benchmark, lint
    from seal.api.results import compare, explain, report, score
    from seal.api.retrieval import retrieve, train_retriever
    from seal.api.runs import ablate, plan_run, run, sweep
    from seal.core import (
        Agent,
        Chat,
        ChatModel,
        Completion,
        Goal,
        Metric,
        Plan,
        Reply,
        Retriever,
        Score,
        SealError,
        Task,
        Tool,
        ToolCall,
        ToolResult,
        Trajectory,
    )
    from seal.core.conditions import Argument
    from seal.models.specs import Model
    from seal.pools import Benchmark
    from seal.pools.own import ask, called

    __version__: str

_HOMES = {
    "seal.agents.teams": ("Team",),
    "seal.api.chats": ("groupchat",),
    "seal.api.objects.frames": ("frames",),
    "seal.api.objects.run": ("Run",),
    "seal.api.plugins": ("register",),
    "seal.api.pools": ("augment", "generate", "import_benchmark", "lint"),
    "seal.api.results": ("compare", "explain", "report", "score"),
    "seal.api.retrieval": ("retrieve", "train_retriever"),
    "seal.api.runs": ("ablate", "plan_run", "run", "sweep"),
    "seal.core.conditions": ("Argument",),
    "seal.core.errors": ("SealError",),
    "seal.core.protocols": (
        "Agent",
        "Chat",
        "ChatModel",
        "Completion",
        "Metric",
        "Reply",
        "Retriever",
    ),
    "seal.core.types": (
        "Goal",
        "Plan",
        "Score",
        "Task",
        "Tool",
        "ToolCall",
        "ToolResult",
        "Trajectory",
    ),
    "seal.models.specs": ("Model",),
    "seal.pools": ("Benchmark",),
    "seal.pools.own": ("ask", "called"),
}
_LOAD = loader(
    __name__,
    _HOMES,
    "; names beyond dir(seal) are in seal.api, seal.core.types, seal.core.protocols and "
    "seal.core.conditions",
)

__all__ = [
    "Agent",
    "Argument",
    "Benchmark",
    "Chat",
    "ChatModel",
    "Completion",
    "Goal",
    "Metric",
    "Model",
    "Plan",
    "Reply",
    "Retriever",
    "Run",
    "Score",
    "SealError",
    "Task",
    "Team",
    "Tool",
    "ToolCall",
    "ToolResult",
    "Trajectory",
    "ablate",
    "ask",
    "augment",
    "called",
    "compare",
    "explain",
    "frames",
    "generate",
    "groupchat",
    "import_benchmark",
    "lint",
    "plan_run",
    "register",
    "report",
    "retrieve",
    "run",
    "score",
    "sweep",
    "train_retriever",
]

# `report` is a package too. Its first import binds it here, where it would hide the function of
# that name; so it is imported now, and unbound.
import_module("seal.report")
globals().pop("report", None)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("seal-api-llms")
    return _LOAD(name)


def __dir__() -> list[str]:
    return __all__
