"""Runs made by hand: folders as `seal run` leaves them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from seal.core import (
    Execution,
    Goal,
    Milestone,
    Plan,
    Score,
    Step,
    Stop,
    Task,
    Tool,
    ToolCall,
    ToolResult,
    Trajectory,
    Usage,
    write_records,
)
from seal.core.conditions import Argument, Called
from seal.runs.run import RunFolder

WEATHER = Tool(id="own/weather/now", name="weather_now", description="The weather in a city.")


def task(task_id: str, text: str = "What is the weather in Paris?", **fields: Any) -> Task:
    gold = Called(WEATHER.id, {"city": Argument(("Paris", "Lutetia"))})
    goal = Goal(text, plans=(Plan((Milestone(gold),)),), relevant=(WEATHER.id,))
    tags = {"group": "single", "multi_tool": False}
    return Task(id=task_id, benchmark="own", goals=(goal,), **{"tags": tags, **fields})


def chat(task_id: str, trial: int = 0, result: str = '{"sky": "clear"}') -> Trajectory:
    call = ToolCall("call_0", "weather_now", {"city": "Paris"}, tool=WEATHER.id)
    answer = ToolResult("call_0", result, executed=Execution(WEATHER.id, {"city": "Paris"}))
    manager, executor, user = "execution_manager", "executor", "user_simulator"
    steps = (
        Step(0, user, manager, "What is the weather in Paris?"),
        Step(1, manager, executor, call=call, turn=1, usage=Usage(120, 15)),
        Step(2, executor, manager, result, result=answer, turn=2),
        Step(3, manager, user, "The sky is clear.", turn=3),
    )
    return Trajectory(
        task_id=task_id,
        trial=trial,
        steps=steps,
        offered=((WEATHER.id,),),
        stops=(Stop("done"),),
        answers=("The sky is clear.",),
    )


def failed_chat(task_id: str, error: str = "the server answered 500") -> Trajectory:
    return replace(chat(task_id), stops=(Stop("error", error),), answers=(None,))


def verdict(task_id: str, label: str, reason: str = "", trial: int = 0) -> Score:
    value = {"solved": 1.0, "unsolved": 0.0, "unsure": None}[label]
    return Score(
        task_id, trial, 0, "pass_rate", value, reason=reason, details={"label": label, "stage": 1}
    )


def metric(mean: float | None, n: int = 10, **fields: Any) -> dict[str, Any]:
    low, high = (None, None) if mean is None else (max(0, mean - 0.1), min(1, mean + 0.1))
    return {"mean": mean, "n": n, "undefined": 0, "low": low, "high": high, "by": {}, **fields}


@dataclass
class Writer:
    """Writes run folders below one folder."""

    root: Path

    def __call__(
        self,
        name: str = "run",
        tasks: Iterable[Task] = (),
        chats: Iterable[Trajectory] = (),
        scores: Iterable[Score] | None = (),
        metrics: dict[str, Any] | None = None,
        model: Any = "lexical",
        measure: dict[str, Any] | None = None,
    ) -> RunFolder:
        tasks = list(tasks)
        run = RunFolder(self.root / name)
        run.path.mkdir(parents=True, exist_ok=True)
        run.write_json("run.json", {"measure": measure or {"seed": 0}, "system": {"model": model}})
        write_records(run.path / "tasks.jsonl", tasks)
        write_records(run.path / "tools.jsonl", [WEATHER])
        write_records(run.trajectories_path, chats)
        if scores is not None:
            write_records(run.scores_path, scores)
        if metrics is not None:
            summary = {
                "tasks": len(tasks),
                "errors": 0,
                "skipped": 0,
                "stop_reasons": {"done": len(tasks)},
                "metrics": metrics,
                "usage": {"tokens_in": 1200, "tokens_out": 150, "estimated": True, "calls": 1},
            }
            run.write_json("summary.json", summary)
        return run


def live_line(task_id: str, step: dict[str, Any], trial: int = 0) -> str:
    return json.dumps({"task_id": task_id, "trial": trial, "step": step}) + "\n"


def blocks(page: str, kind: str) -> dict[str, Any]:
    """Return the data blocks of a kind by their keys: index and rows, of others their HTML."""
    pieces = [piece for _, found in _blocks(page, "parts") for piece in found]
    read = dict(_blocks(page, kind))
    if kind in ("index", "rows"):
        return read
    return {key: "".join(pieces[number] for number in found) for key, found in read.items()}


def rows_of(page: str) -> list[Any]:
    """Return the rows of the page's table of tasks."""
    return [row for portion in blocks(page, "rows").values() for row in portion]


def texts_of(html: str, tag: str, kind: str = "") -> list[str]:
    """Return the texts of the elements of a class, without their tags."""
    of_class = rf'[^>]*class="{kind}"' if kind else ""
    found = re.findall(rf"<{tag}\b{of_class}[^>]*>(.*?)</{tag}>", html, re.DOTALL)
    return [" ".join(unescape(re.sub("<[^>]*>", "", one)).split()) for one in found]


def _blocks(page: str, kind: str) -> list[tuple[str, Any]]:
    pattern = rf'<script type="application/json" data-{kind}="([^"]*)">(.*?)</script>'
    return [(key, json.loads(value)) for key, value in re.findall(pattern, page)]


@pytest.fixture
def make_run(tmp_path: Path) -> Writer:
    return Writer(tmp_path)


@pytest.fixture
def scored_run(make_run: Writer) -> RunFolder:
    """Three tasks, one solved, one not, one ended by the server; floor and ceiling beside."""
    ids = ("own/a", "own/b", "own/c")
    tasks = [task(id) for id in ids]
    run = make_run(
        "run",
        tasks,
        [chat("own/a"), chat("own/b"), failed_chat("own/c")],
        [
            verdict("own/a", "solved", "the answer states the sky"),
            verdict("own/b", "unsolved", "no city"),
        ],
        {
            "pass_rate": metric(
                0.5, 2, undefined=1, unsure=0.25, by={"x": metric(1.0), "y": metric(0.0)}
            ),
            "recall@1": metric(0.6),
            "recall@10": metric(0.9, micro=0.8),
            "tokens_in": metric(1234.5, low=1000.0, high=1500.0),
            "call_f1": metric(None, 0, undefined=3),
        },
    )
    for name, passed in (("floor", 0.0), ("ceiling", 1.0)):
        short = [
            Score("own/b", 0, 0, "call_recall", 0.5, reason="the gold tool is not in the pool")
        ]
        make_run(
            f"run/{name}",
            tasks,
            [chat(id) for id in ids],
            [*(verdict(id, "solved" if passed else "unsolved") for id in ids)]
            + (short if name == "ceiling" else []),
            {"pass_rate": metric(passed, 3), "recall@10": metric(passed)},
            model={"floor": "lexical", "ceiling": "oracle"}[name],
        )
    return run
