"""Turns of dialogues, gold and played, built from what a test of their scores cares about."""

from collections.abc import Sequence
from typing import Any

from seal.benchmarks.dialogtool.metrics import Dialogue
from seal.core import Goal, Milestone, Plan, Score, Step, Stop, Task, Tool, ToolCall, Trajectory
from seal.core.conditions import Argument, Called

USER = "user_simulator"
SCHEMA = {"type": "object", "properties": {}}


def api(service: str, name: str, app: str) -> Tool:
    source = {"tool": service, "api": name}
    return Tool(f"d/{service}/{name}", f"{service}_{name}", "", SCHEMA, app, None, source)


FIND = api("Restaurants_2", "FindRestaurants", "Restaurants")
TWIN = api("Restaurants_1", "FindRestaurants", "Restaurants")
BOOK = api("Restaurants_2", "ReserveRestaurant", "Restaurants")
MOVIES = api("Movies_1", "FindMovies", "Movies")
MEDIA = api("Media_3", "FindMovies", "Media")
TOOLS = {tool.id: tool for tool in (FIND, TWIN, BOOK, MOVIES, MEDIA)}


def due(
    act: str,
    tool: Tool = FIND,
    missing: Sequence[str] = (),
    reply: str = "How about Nopa?",
    **arguments: Any,
) -> Goal:
    """A turn on which an API is due, with every value that gold accepts; `?` where missing."""
    wanted = {n: Argument(v if isinstance(v, tuple) else (v,)) for n, v in arguments.items()}
    wanted |= {name: Argument(("?",)) for name in missing}
    labels: dict[str, Any] = {"act": act, "kind": "request" if missing else "call"}
    if missing:
        labels["missing"] = list(missing)
    return Goal(
        "Find me a place.",
        plans=(Plan((Milestone(Called(tool.id, wanted)),)),),
        reference=(Step(0, "execution_manager", USER, reply),),
        labels=labels,
    )


def other(act: str, reply: str = "Anything else?") -> Goal:
    """A turn on which no API is due."""
    reference = (Step(0, "execution_manager", USER, reply),)
    labels = {"act": act, "kind": "action"}
    return Goal("Thanks.", plans=(Plan(),), reference=reference, labels=labels)


def call(tool: Tool | str, /, **arguments: Any) -> ToolCall:
    """A request as it was read; of a text, one that means no tool."""
    if isinstance(tool, str):
        return ToolCall("c", tool, arguments, tool=None)
    return ToolCall("c", tool.name, arguments, tool=tool.id)


def unread(tool: Tool = FIND) -> ToolCall:
    return ToolCall("c", tool.name, None, f"[{tool.name}(#city='", tool.id)


def turn(position: int = 0, calls: Sequence[ToolCall] = (), **said: str) -> list[Step]:
    """What the roles said in a turn, the requester's calls among it."""
    steps = [
        Step(0, role, USER, text, goal=position) for role, text in said.items() if text is not None
    ]
    return steps + [Step(0, "requester", "executor", "", c, goal=position) for c in calls]


def play(*turns: Sequence[Step], error: str | None = None, **provenance: Any) -> Trajectory:
    steps = tuple(step for steps in turns for step in steps)
    stops = (Stop("error", error),) if error else (Stop("done"),) * len(turns)
    return Trajectory("t", 0, steps, stops=stops, provenance=provenance)


def task(*goals: Goal) -> Task:
    return Task("t", "dialogtool", goals)


def scores(
    goal: Goal, steps: Sequence[Step], match="lenient", **provenance: Any
) -> dict[str, Score]:
    """Return the scores of one turn by name."""
    found = Dialogue(match).score(task(goal), play(steps, **provenance), TOOLS)
    return {score.metric: score for score in found}
