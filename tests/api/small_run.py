"""A run made by hand, whose tasks, calls and names are hostile."""

import json
from pathlib import Path

from seal.core import (
    Execution,
    Goal,
    Score,
    Step,
    Stop,
    Task,
    ToolCall,
    ToolResult,
    Trajectory,
    Usage,
    write_records,
)
from seal.runs.run import RunFolder

HOSTILE = "<script>alert(1)</script>\x1b[31m"
TASK = Task(
    "t-1",
    "made",
    (Goal("Where is order 7?"), Goal(HOSTILE)),
    tags={"group": "shop", "hard": True, "topics": ["orders", "post"]},
)
REJECTED = ToolResult("call_1", "no such tool", {"kind": "unknown_tool", "message": HOSTILE})
STEPS = (
    Step(0, "user_simulator", "executor", "Where is order 7?"),
    Step(
        1,
        "execution_manager",
        "executor",
        call=ToolCall("call_0", "find", {"b": 1, "a": [2]}, tool="made/find"),
        turn=1,
        usage=Usage(30, 4),
    ),
    Step(2, "execution_manager", "executor", call=ToolCall("call_1", "x", None, "{oops"), turn=1),
    Step(3, "executor", "execution_manager", "7", turn=2, result=ToolResult(
        "call_0", "7", value=7, executed=Execution("made/find", {"b": 1, "a": [2]})
    )),
    Step(4, "executor", "execution_manager", "no such tool", result=REJECTED, turn=2),
    Step(5, "execution_manager", "user_simulator", "It is here.", turn=3),
)  # fmt: skip
CHAT = Trajectory("t-1", 0, STEPS, stops=(Stop("done"),), answers=("It is here.",))


def write_run(path: Path, model: str = "lexical", pass_rate: float = 1.0) -> RunFolder:
    """Write a scored run of one task with two goals, of which one was played."""
    path.mkdir(parents=True)
    run = RunFolder(path)
    measure = {"pool": "made", "trials": 1, "pool_digest": "d"}
    run.write_json("run.json", {"measure": measure, "system": {"model": {"model": model}}})
    write_records(path / "tasks.jsonl", [TASK])
    write_records(path / "tools.jsonl", [])
    write_records(run.trajectories_path, [CHAT])
    scores = [
        Score("t-1", 0, 0, "pass_rate", pass_rate, details={"label": "solved"}),
        Score("t-1", 0, 0, "calls", 2.0),
        Score("t-1", 0, 1, "pass_rate", None, reason="never played"),
    ]
    write_records(run.scores_path, scores)
    entry = {"mean": pass_rate, "low": 0.25, "high": 1.0, "n": 1, "undefined": 1}
    entry["reasons"] = {"never played": 1}
    by = {"shop": {"mean": 1.0, "n": 1}, "hard=true": {"mean": 0.5, "n": 2}, "rule=a=b": {"n": 0}}
    metrics = {"pass_rate": {**entry, "by": by}, HOSTILE: {"mean": None, "n": 0, "undefined": 2}}
    metrics |= {f"recall@{k}": {"mean": 0.5, "low": None, "high": None, "n": 1} for k in (5, 10)}
    summary = {"tasks": 1, "errors": 0, "skipped": 0, "unfinished": 0, "metrics": metrics}
    run.write_json("summary.json", summary)
    return run


def damage(path: Path, name: str, value: object) -> None:
    """Write a value into a file of a run."""
    (path / name).write_text(json.dumps(value))
