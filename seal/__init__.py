"""SEAL evaluates language models and agents that use tools.

Importing it is free: each name is loaded from its module when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seal.agents.teams import Team as Team
    from seal.api.benchmarks import augment as augment
    from seal.api.benchmarks import generate as generate
    from seal.api.benchmarks import import_benchmark as import_benchmark
    from seal.api.benchmarks import lint as lint
    from seal.api.installation import register as register
    from seal.api.results import compare as compare
    from seal.api.results import explain as explain
    from seal.api.results import leaderboard as leaderboard
    from seal.api.results import report as report
    from seal.api.results import score as score
    from seal.api.run_result import Run as Run
    from seal.api.run_result import frames as frames
    from seal.api.runs import ablate as ablate
    from seal.api.runs import groupchat as groupchat
    from seal.api.runs import plan_run as plan_run
    from seal.api.runs import retrieve as retrieve
    from seal.api.runs import run as run
    from seal.api.runs import split as split
    from seal.api.runs import sweep as sweep
    from seal.core import Agent as Agent
    from seal.core import Chat as Chat
    from seal.core import ChatModel as ChatModel
    from seal.core import Completion as Completion
    from seal.core import Goal as Goal
    from seal.core import Metric as Metric
    from seal.core import Plan as Plan
    from seal.core import Reply as Reply
    from seal.core import Retriever as Retriever
    from seal.core import Score as Score
    from seal.core import SealError as SealError
    from seal.core import Task as Task
    from seal.core import Tool as Tool
    from seal.core import ToolCall as ToolCall
    from seal.core import ToolResult as ToolResult
    from seal.core import Trajectory as Trajectory
    from seal.core.conditions import ANY as ANY
    from seal.core.conditions import Argument as Argument
    from seal.core.earlier_results import result_of as result_of
    from seal.core.state_conditions import FinalState as FinalState
    from seal.environments.function_tools import writes as writes
    from seal.models.spec import Model as Model
    from seal.pools.benchmark import Benchmark as Benchmark
    from seal.pools.own_benchmark import ask as ask
    from seal.pools.own_benchmark import called as called
    from seal.pools.own_benchmark import ends_as as ends_as
    from seal.pools.own_benchmark import refused as refused
    from seal.retrievers.base import RetrieverSpec as RetrieverSpec

    __version__: str

_NAMES = {
    "seal.agents.teams": ("Team",),
    "seal.api.benchmarks": ("augment", "generate", "import_benchmark", "lint"),
    "seal.api.installation": ("register",),
    "seal.api.results": ("compare", "explain", "leaderboard", "report", "score"),
    "seal.api.run_result": ("Run", "frames"),
    "seal.api.runs": ("ablate", "groupchat", "plan_run", "retrieve", "run", "split", "sweep"),
    "seal.core": (
        "Agent",
        "Chat",
        "ChatModel",
        "Completion",
        "Goal",
        "Metric",
        "Plan",
        "Reply",
        "Retriever",
        "Score",
        "SealError",
        "Task",
        "Tool",
        "ToolCall",
        "ToolResult",
        "Trajectory",
    ),
    "seal.core.conditions": ("ANY", "Argument"),
    "seal.core.earlier_results": ("result_of",),
    "seal.core.state_conditions": ("FinalState",),
    "seal.environments.function_tools": ("writes",),
    "seal.models.spec": ("Model",),
    "seal.pools.benchmark": ("Benchmark",),
    "seal.pools.own_benchmark": ("ask", "called", "ends_as", "refused"),
    "seal.retrievers.base": ("RetrieverSpec",),
}
"""Module to its names, as type checkers read them above."""
_HOMES = {name: module for module, names in _NAMES.items() for name in names}
__all__ = sorted(_HOMES)
_FORMER = {
    "train_retriever": "seal.split and `seal export POOL --to triplets` give sentence-transformers "
    "what it trains on; see docs/train-a-retriever.md",
}
"""Former name to what replaces it."""


# `report` is a package too. Its first import binds it here, where it would hide the function of
# that name; so it is imported now, and unbound.
import_module("seal.report")
globals().pop("report", None)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("seal-api-llms")
    if name in _HOMES:
        globals()[name] = getattr(import_module(_HOMES[name]), name)
        return globals()[name]
    if name in _FORMER:
        raise AttributeError(f"seal.{name} is gone: {_FORMER[name]}")
    reads = name.partition("_")[0] in ("open", "load", "read")
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}; "
        + ("seal.Run.load reads the folder of a run, " if reads else "")
        + "names beyond dir(seal) are in seal.api, seal.core.types, seal.core.protocols and "
        "seal.core.conditions"
    )


def __dir__() -> list[str]:
    return __all__
