"""SEAL evaluates language models and agents that use tools.

Importing it is free: each name is loaded from its module when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seal.agents.teams import Team
    from seal.api.generation import generate_missions, generate_queries, generate_tools
    from seal.api.models import probe
    from seal.api.objects.comparison import Comparison
    from seal.api.objects.frames import frames
    from seal.api.objects.retrieval import Retrieval
    from seal.api.objects.run import Run
    from seal.api.objects.sweep import Sweep
    from seal.api.plugins import register
    from seal.api.pools import augment, catalogue, count, fetch, import_benchmark, lint, load_pool
    from seal.api.results import (
        compare,
        explain,
        export_labels,
        export_ratings,
        import_labels,
        import_ratings,
        score,
    )
    from seal.api.retrieval import retrieve, train_retriever
    from seal.api.runs import ablate, plan_run, run, sweep
    from seal.core.conditions import Argument, Asked, Called, Condition, Replied
    from seal.core.errors import SealError
    from seal.core.protocols import (
        Agent,
        Chat,
        ChatModel,
        Completion,
        Message,
        Metric,
        Pool,
        Reply,
        Request,
        Response,
        Retriever,
        Simulator,
    )
    from seal.core.types import (
        Goal,
        Milestone,
        Plan,
        Query,
        Ranking,
        Score,
        Step,
        Stop,
        Task,
        Tool,
        ToolCall,
        ToolResult,
        Trajectory,
        Usage,
        Verdict,
    )
    from seal.models.specs import Model
    from seal.pools import Benchmark, ask, called
    from seal.runs.settings import RunSettings

    __version__: str

__all__ = [
    "Agent",
    "Argument",
    "Asked",
    "Benchmark",
    "Called",
    "Chat",
    "ChatModel",
    "Comparison",
    "Completion",
    "Condition",
    "Goal",
    "Message",
    "Metric",
    "Milestone",
    "Model",
    "Plan",
    "Pool",
    "Query",
    "Ranking",
    "Replied",
    "Reply",
    "Request",
    "Response",
    "Retrieval",
    "Retriever",
    "Run",
    "RunSettings",
    "Score",
    "SealError",
    "Simulator",
    "Step",
    "Stop",
    "Sweep",
    "Task",
    "Team",
    "Tool",
    "ToolCall",
    "ToolResult",
    "Trajectory",
    "Usage",
    "Verdict",
    "__version__",
    "ablate",
    "ask",
    "augment",
    "called",
    "catalogue",
    "compare",
    "count",
    "explain",
    "export_labels",
    "export_ratings",
    "fetch",
    "frames",
    "generate_missions",
    "generate_queries",
    "generate_tools",
    "import_benchmark",
    "import_labels",
    "import_ratings",
    "lint",
    "load_pool",
    "plan_run",
    "probe",
    "register",
    "retrieve",
    "run",
    "score",
    "sweep",
    "train_retriever",
]

_HOMES = {
    "seal.agents.teams": ("Team",),
    "seal.api.generation": ("generate_missions", "generate_queries", "generate_tools"),
    "seal.api.models": ("probe",),
    "seal.api.objects.comparison": ("Comparison",),
    "seal.api.objects.frames": ("frames",),
    "seal.api.objects.retrieval": ("Retrieval",),
    "seal.api.objects.run": ("Run",),
    "seal.api.objects.sweep": ("Sweep",),
    "seal.api.plugins": ("register",),
    "seal.api.pools": (
        "augment",
        "catalogue",
        "count",
        "fetch",
        "import_benchmark",
        "lint",
        "load_pool",
    ),
    "seal.api.results": (
        "compare",
        "explain",
        "export_labels",
        "export_ratings",
        "import_labels",
        "import_ratings",
        "score",
    ),
    "seal.api.retrieval": ("retrieve", "train_retriever"),
    "seal.api.runs": ("ablate", "plan_run", "run", "sweep"),
    "seal.core.conditions": ("Argument", "Asked", "Called", "Condition", "Replied"),
    "seal.core.errors": ("SealError",),
    "seal.core.protocols": (
        "Agent",
        "Chat",
        "ChatModel",
        "Completion",
        "Message",
        "Metric",
        "Pool",
        "Reply",
        "Request",
        "Response",
        "Retriever",
        "Simulator",
    ),
    "seal.models.specs": ("Model",),
    "seal.runs.settings": ("RunSettings",),
    "seal.pools": ("Benchmark", "ask", "called"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("seal-api-llms")
    if name not in __all__:
        raise AttributeError(f"module 'seal' has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF.get(name, "seal.core.types")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
