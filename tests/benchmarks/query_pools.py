"""Small pools that queries are made of."""

from pathlib import Path
from typing import Any

from seal.benchmarks.toolscan.generation_filters import Seed
from seal.core import Goal, Milestone, Plan, Task, Tool, write_records
from seal.core.conditions import Argument, Called

PORTS = ("Velin", "Torsk", "Hallan")


def tool_of(name: str, description: str, **properties: dict[str, Any]) -> Tool:
    """Return a tool whose arguments are all required."""
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return Tool(f"boats/{name}", name, description, schema, "boats", {"vessel": "Sula", "berth": 7})


def sailings() -> Tool:
    """Return a tool of three arguments."""
    return tool_of(
        "find_sailings",
        "Sailings from a port on a day.",
        port={"type": "string"},
        date={"type": "string", "format": "date"},
        cars={"type": "integer", "minimum": 0},
    )


def radio() -> Tool:
    """Return a tool of another environment."""
    properties = {"show_title": {"type": "string", "examples": ["Tide Lines"]}}
    schema = {"type": "object", "properties": properties}
    return Tool("radio/episodes", "episodes", "Broadcasts of the past.", schema, "radio")


def seed_of(text: str, **arguments: Any) -> Seed:
    """Return a seed whose one call has these arguments."""
    tool = sailings()
    return Seed(task_of("one", text, **arguments), {tool.id: tool}, (tool.id,))


def task_of(own: str, text: str, **arguments: Any) -> Task:
    """Return a task of one call of the sailings."""
    called = Called("boats/find_sailings", {name: Argument((v,)) for name, v in arguments.items()})
    goal = Goal(text, (Plan((Milestone(called),)),), offered=("boats/find_sailings",))
    return Task(own, "boats", (goal,))


def write_pool(folder: Path, count: int = 3) -> Path:
    """Write a pool of so many tasks, and return its folder."""
    folder.mkdir()
    write_records(folder / "tools.jsonl", [sailings(), radio()])
    tasks = [
        task_of(
            f"t{n}",
            f"When does the {n + 2} o'clock ferry leave {PORTS[n % 3]} on 2026-07-{n + 10} "
            f"with {n + 3} cars?",
            port=PORTS[n % 3],
            date=f"2026-07-{n + 10}",
            cars=n + 3,
        )
        for n in range(count)
    ]
    write_records(folder / "tasks.jsonl", tasks)
    return folder
