"""CPU of diagnosing recorded chats, as a multiple of decoding them.

    python perf/error_patterns.py [--short] [POOL]

The reference is `seal.core.records.decode` of the same lines. POOL is an imported folder with
recordings; without it, where SEAL_DATA has them, ToolBench's 928 ToolLLaMA-2 runs are imported.
Beside them a chat of 10,000 calls, a quarter of them new, the others right or wrong again. Budget:
5 s for all recorded runs.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from timing import seconds_of

from seal.core import Step, Tool, ToolCall, ToolResult, Trajectory
from seal.core.records import read_records, write_records
from seal.evaluation.error_patterns import diagnose, repairs
from seal.pools.imports import import_benchmark

DATA = Path(os.environ.get("SEAL_DATA") or Path(__file__).resolve().parents[2] / "shared/data")
BUDGET_S = 5.0
CALLS = 10_000


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; beside the budget; exceeding it is no failure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--short", action="store_true", help="the long chat alone")
    parser.add_argument("pool", nargs="?", type=Path, metavar="POOL")
    asked = parser.parse_args(argv)
    print(f"{'':28}{'calls':>8}{'CPU s':>9}{'per call':>12}{'ratio':>8}")
    tool = Tool("b/t/f", "f", parameters={"properties": {"x": {"type": "integer"}}})
    with tempfile.TemporaryDirectory() as folder:
        if not asked.short and (asked.pool or (DATA / "toolbench").is_dir()):
            pool = asked.pool or Path(folder, "pool")
            if asked.pool is None:
                import_benchmark("toolbench", DATA / "toolbench", pool)
            tools = {found.id: found for found in read_records(pool / "tools.jsonl", Tool)}
            for path in sorted(pool.glob("recorded/*/trajectories.jsonl")):
                row(path.parent.name, path, tools)
        path = Path(folder, "long.jsonl")
        write_records(path, [long_chat(tool)])
        row(f"a chat of {CALLS:,} calls", path, {tool.id: tool})
    print(f"budget: {BUDGET_S:.0f} s for all recorded runs")
    return 0


def long_chat(tool: Tool) -> Trajectory:
    """Return calls of which each fourth is new, repeated, of a wrong type, or of no tool."""
    steps = []
    for number in range(CALLS):
        values = (number, 0, "0", 0)
        known = tool.id if number % 4 < 3 else None
        call = ToolCall(f"call_{number}", "f", {"x": values[number % 4]}, tool=known)
        error = {"kind": "wrong_type", "message": "no"} if number % 4 > 1 else None
        result = ToolResult(call.id, "x", error)
        steps.append(Step(2 * number, "execution_manager", "executor", call=call, turn=2 * number))
        steps.append(Step(2 * number + 1, "executor", "execution_manager", result=result))
    return Trajectory("long", 0, tuple(steps))


def row(name: str, path: Path, tools: dict[str, Tool]) -> None:
    """Decode and diagnose the chats of a file, and print what each took."""
    chats: list[Trajectory] = []
    decoding = seconds_of(lambda: chats.extend(read_records(path, Trajectory)))
    diagnosing = seconds_of(lambda: [repairs(diagnose(chat, tools)) for chat in chats])
    calls = sum(1 for chat in chats for _ in chat.calls())
    print(
        f"{name[:27]:28}{calls:8}{diagnosing:9.2f}{diagnosing / max(1, calls) * 1e6:9.0f} us"
        f"{diagnosing / decoding:8.2f}"
    )


if __name__ == "__main__":
    sys.exit(main())
