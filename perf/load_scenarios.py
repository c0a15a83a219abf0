"""Time to load ToolSandbox's scenarios from an imported pool, beside `json.loads` of its bytes.

    python perf/load_scenarios.py [SOURCE] [--short]

SOURCE is ToolSandbox's folder; without one, that of SEAL_DATA, else scenarios of that format are
generated. Loaded are tools and tasks, checked as a run checks them. Both sides run in this process,
in turns, on one thread; the least CPU times are compared. Prints one JSON object with the budget
in seconds, which is meant for all 1,032 scenarios.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from timing import seconds_of

from seal.pools.imports import import_benchmark
from seal.pools.pool import load_pool

BUDGET_SECONDS = 0.5
BUDGET_SCENARIOS = 1032


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path, nargs="?", help="folder of ToolSandbox's scenarios")
    parser.add_argument("--short", action="store_true", help="fewer repetitions")
    arguments = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        source = arguments.source or upstream() or generate(Path(folder) / "source")
        measured = measure(source, Path(folder) / "pool", 3 if arguments.short else 9)
    print(json.dumps(measured))
    return 0


def upstream() -> Path | None:
    data = Path(os.environ.get("SEAL_DATA") or Path(__file__).resolve().parents[2] / "shared/data")
    folder = data / "toolsandbox"
    return folder if folder.is_dir() else None


def measure(source: Path, out: Path, repetitions: int) -> dict[str, float]:
    imported = seconds_of(lambda: import_benchmark("toolsandbox", source, out))
    contents = [(out / name).read_bytes() for name in ("tools.jsonl", "tasks.jsonl")]
    lines = [line for content in contents for line in content.splitlines()]
    first = seconds_of(lambda: load(out))
    loads, ours = [], []
    for _ in range(repetitions):
        loads.append(seconds_of(lambda: [json.loads(line) for line in lines]))
        ours.append(seconds_of(lambda: load(out)))
    return {
        "scenarios": load(out),
        "megabytes": round(sum(map(len, contents)) / 1e6, 2),
        "import_seconds": round(imported, 4),
        "json_loads_seconds": round(min(loads), 4),
        "first_load_seconds": round(first, 4),
        "load_seconds": round(min(ours), 4),
        "ratio": round(min(ours) / min(loads), 2),
        "budget_seconds": BUDGET_SECONDS,
    }


def load(folder: Path) -> int:
    pool = load_pool(folder)
    pool.tools()
    return len(list(pool.tasks()))


def generate(folder: Path) -> Path:
    """Write as many scenarios as upstream has, of as many bytes."""
    folder.mkdir(parents=True)
    records = (_scenario(number) for number in range(BUDGET_SCENARIOS))
    lines = b"".join(json.dumps(record).encode() + b"\n" for record in records)
    (folder / "scenarios_core.jsonl.gz").write_bytes(gzip.compress(lines, 1))
    return folder


def _scenario(number: int) -> dict[str, Any]:
    names = ["set_wifi_status", "get_wifi_status", "search_contacts", "add_contact"]
    return {
        "id": f"scenario_{number}",
        "base": f"scenario_{number // 8}",
        "augmentation": "no_distraction_tools",
        "categories": ["MULTIPLE_TOOL_CALL", "SINGLE_USER_TURN"],
        "max_messages": 30,
        "tools": {
            "allow": names,
            "deny": None,
            "augmentations": [],
            "agent_tools": [[name, name] for name in names],
        },
        "initial_state": _state(),
        "messages": [{"content": "Turn on wifi and tell me the number of person 3"}],
        "milestones": {
            "nodes": [_node(position) for position in range(3)],
            "edges": [[0, 1], [1, 2]],
        },
        "minefields": {"nodes": [], "edges": []},
        "time_dependent": {},
    }


def _state() -> dict[str, list[dict[str, Any]]]:
    text = "A line of text about as long as those that people send each other"
    return {
        "SETTING": [{"device_id": "d", "wifi": False, "cellular": True}],
        "CONTACT": [_row(number, name="Person", phone_number="+1555010") for number in range(4)],
        "MESSAGING": [_row(number, content=text) for number in range(12)],
        "REMINDER": [_row(number, content=text) for number in range(6)],
    }


def _row(number: int, **fields: str) -> dict[str, Any]:
    return {
        "id": f"00000000-0000-0000-0000-{number:012}",
        **{name: f"{text} {number}" for name, text in fields.items()},
        "creation_timestamp": 1741515894.0 + number,
    }


def _node(position: int) -> dict[str, Any]:
    asked = {
        "db": "SETTING",
        "measure": "snapshot",
        "ref": None,
        "target": [{"wifi": True}],
        "columns": {"wifi": {"measure": "exact"}},
    }
    tables = ("CONTACT", "MESSAGING", "REMINDER") if position else ()
    kept = [{"db": table, "measure": "unchanged", "ref": position - 1} for table in tables]
    return {"constraints": [asked, *kept], "guardrail_dbs": ["CONTACT", "MESSAGING", "REMINDER"]}


if __name__ == "__main__":
    sys.exit(main())
