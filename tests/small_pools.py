"""Small pools, models that play them in this process, and a server's script that does the same."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from servers import Answer, Received, calls, text

from seal.core import (
    Completion,
    Goal,
    Milestone,
    Plan,
    Request,
    Step,
    Stop,
    Task,
    Tool,
    ToolCall,
    ToolResult,
    write_records,
)
from seal.core import Trajectory as Played
from seal.core.conditions import Argument, Called
from seal.runs.play import RunResult, run
from seal.runs.settings import RunSettings

CITIES = ("Rome", "Oslo", "Bern", "Lima")
IDENTICAL = ("trajectories.jsonl", "scores.jsonl", "rankings.jsonl", "summary.json")
"""Files that equal inputs make equal."""


def tool(name: str, description: str, **properties: str) -> Tool:
    """Return a tool whose arguments are all required; a property is given as its JSON type."""
    return Tool(
        f"small/{name}/get",
        name,
        description,
        {
            "type": "object",
            "properties": {key: {"type": kind} for key, kind in properties.items()},
            "required": list(properties),
        },
        category="small",
        returns={"type": "object", "properties": {"text": {"type": "string"}}},
    )


WEATHER = tool("weather", "Weather of a city now.", city="string")
NEWS = tool("news", "News about a topic.", topic="string")
CONVERT = tool("convert", "Convert an amount between currencies.", amount="number")
TOOLS = (WEATHER, NEWS, CONVERT)


def weather_goal(city: str, **changes: Any) -> Goal:
    """Return a goal with one gold call, its recorded result and a reference."""
    gold = Milestone(
        Called(WEATHER.id, {"city": Argument((city,))}), result={"text": f"sunny in {city}"}
    )
    call = ToolCall("call_0", WEATHER.name, {"city": city}, tool=WEATHER.id)
    reference = (
        Step(0, "execution_manager", "executor", call=call, turn=0),
        Step(
            1,
            "executor",
            "execution_manager",
            "sunny",
            result=ToolResult("call_0", f"sunny in {city}"),
            turn=1,
        ),
        Step(2, "orchestrator", "user_simulator", f"It is sunny in {city}.", turn=2),
    )
    goal = Goal(
        f"What is the weather in {city}?",
        plans=(Plan((gold,)),),
        answers=(f"sunny in {city}",),
        relevant=(WEATHER.id,),
        reference=reference,
    )
    return replace(goal, **changes)


def weather_task(city: str, number: int = 0, **changes: Any) -> Task:
    """Return a task of one goal."""
    task = Task(f"{city.lower()}-{number}", "small", (weather_goal(city),), tags={"group": "one"})
    return replace(task, **changes)


def many(count: int) -> list[Task]:
    """Return so many tasks."""
    return [weather_task(CITIES[n % len(CITIES)], n) for n in range(count)]


def write_pool(
    folder: Path,
    tasks: Sequence[Task] | None = None,
    tools: Sequence[Tool] = TOOLS,
    recorded: Mapping[str, Sequence[Played]] | None = None,
) -> Path:
    """Write a pool folder and return it."""
    write_records(folder / "tools.jsonl", tools)
    write_records(folder / "tasks.jsonl", many(4) if tasks is None else tasks)
    for name, trajectories in (recorded or {}).items():
        write_records(folder / "recorded" / name / "trajectories.jsonl", trajectories)
    return folder


def play(pool: Path | str, out: Path, resume: bool = False, **settings: Any) -> RunResult:
    """Play without baselines."""
    settings = {"baselines": False, **settings}
    return run(RunSettings(pool=pool, **settings), out, resume)


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files that equal inputs make equal."""
    return {name: (folder / name).read_bytes() for name in IDENTICAL}


def asked_city(texts: Sequence[str]) -> str:
    """Return the city that was asked for last."""
    return str(re.findall(r"weather in (\w+)", "\n".join(texts))[-1])


@dataclass
class Weatherman:
    """A model in this process: calls `weather`, then tells it. Keeps what it was asked."""

    identity: str = "weatherman"
    seen: list[Request] = field(default_factory=list, repr=False)

    def complete(self, request: Request) -> Completion:
        self.seen.append(request)
        city = asked_city([m.content for m in request.messages])
        asked = max(n for n, m in enumerate(request.messages) if "weather in" in m.content)
        told = any(message.role == "tool" for message in request.messages[asked:])
        if request.role == "execution_manager" and not told:
            return Completion(calls=(ToolCall("", "weather", {"city": city}),))
        return Completion(f"It is sunny in {city}.")


def by_server(request: Received) -> Answer:
    """Answer as `Weatherman` does; of a judge, solved."""
    body = request.body
    if "response_format" in body:
        return text('{"verdict": "solved", "reason": "it says so"}')
    city = asked_city([m["content"] or "" for m in body["messages"]])
    if "tools" in body and body["messages"][-1]["role"] != "tool":
        return calls(("weather", {"city": city}))
    return text(f"It is sunny in {city}.")


def recording(task: Task, observation: str, trial: int = 0) -> Played:
    """Return a recorded run of a task that called the weather once."""
    city = asked_city([task.goals[0].text])
    call = ToolCall("call_0", "weather", {"city": city}, tool=WEATHER.id)
    steps = (
        Step(0, "user_simulator", "execution_manager", task.goals[0].text, turn=0),
        Step(1, "execution_manager", "executor", call=call, turn=1),
        Step(
            2,
            "executor",
            "execution_manager",
            observation,
            result=ToolResult("call_0", observation),
            turn=2,
        ),
        Step(3, "execution_manager", "user_simulator", f"Recorded: {observation}", turn=3),
    )
    return Played(
        task.id,
        trial,
        steps,
        offered=((WEATHER.id,),),
        stops=(Stop("done"),),
        answers=(f"Recorded: {observation}",),
    )
