"""Time of an import, writing included, as a multiple of `json.loads` of the same bytes.

    python perf/import_toolbench.py [SOURCE] [--short]

SOURCE is a folder of ToolBench files; without one, files of that format are generated. Both sides
run in this process, in turns, on one thread; the least CPU times are compared, which other work on
the machine disturbs least. Prints one JSON object with the budget beside the ratio.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from timing import beside_json_loads

from seal.benchmarks.toolbench.tasks import find_files
from seal.pools.imports import import_benchmark

BUDGET = 3.0
"""At most so many times the reference (design: budgets)."""

READ = ("queries", "tree", "converted", "responses", "ids")
"""Kinds of files that an import reads into records."""


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path, nargs="?", help="folder of ToolBench files")
    parser.add_argument("--short", action="store_true", help="fewer records and repetitions")
    arguments = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        source = arguments.source or generate(
            Path(folder) / "source", 40 if arguments.short else 400
        )
        measured = measure(source, Path(folder) / "pool", 3 if arguments.short else 7)
    print(json.dumps(measured))
    return 0


def measure(source: Path, out: Path, repetitions: int) -> dict[str, float]:
    found = find_files(source).files
    paths = [file.path for kind in READ for file in found.get(kind, [])]
    contents = [Path(path).read_bytes() for path in paths]
    measured = beside_json_loads(
        lambda: import_benchmark("toolbench", source, out), contents, repetitions
    )
    return {**measured, "budget": BUDGET}


def generate(folder: Path, count: int) -> Path:
    """Write query files and answer trees of invented services, `count` of each."""
    queries = folder / "test_instruction"
    runs = folder / "A_G1_tool_sketch-1"
    queries.mkdir(parents=True)
    runs.mkdir()
    records = [_query(number) for number in range(count)]
    (queries / "G1_tool.json").write_text(json.dumps(records, indent=4))
    for number in range(count):
        text = json.dumps(_tree(number), indent=4)
        (runs / f"{number}_DFS_woFilter_w2.json").write_text(text)
    return folder


def _query(number: int) -> dict[str, object]:
    tool = f"Harbour Desk {number // 3}"
    names = [f"Find Berth {position}" for position in range(6)]
    return {
        "api_list": [_api(tool, name) for name in names],
        "query": _text(number),
        "relevant APIs": [[tool, names[0]], [tool, names[1]]],
        "query_id": number,
    }


def _text(number: int) -> str:
    return f"Which berth is free for ship {number} tonight, and what does a week there cost? " * 3


def _api(tool: str, name: str) -> dict[str, object]:
    return {
        "category_name": "Shipping",
        "tool_name": tool,
        "api_name": name,
        "api_description": "Lists the free berths of a harbour with depth, length and price. " * 4,
        "required_parameters": [_parameter("harbourId", "NUMBER", "17")],
        "optional_parameters": [_parameter("since", "DATE (YYYY-MM-DD)", "")],
        "method": "GET",
        "template_response": {"berths": [{"name": "str", "price": "float"}], "next": "str"},
    }


def _parameter(name: str, kind: str, value: str) -> dict[str, str]:
    return {"name": name, "type": kind, "description": f"The {name} to look up.", "default": value}


def _tree(number: int) -> dict[str, object]:
    """Return a run of three calls; as upstream, each chain repeats what was said before it."""
    name = f"find_berth_0_for_harbour_desk_{number // 3}"
    observation = json.dumps({"error": "", "response": "berth 7, depth 9 m, free; " * 8})
    call = {"name": name, "arguments": '{\n  "harbourid": 17\n}'}
    answer = json.dumps({"return_type": "give_answer", "final_answer": "Berth 7 is free."})
    thought = "The berths of this harbour must be known first, so I look them up. " * 5
    chain: list[dict[str, object]] = [
        {"role": "system", "content": "You answer with the help of functions. " * 45},
        {"role": "user", "content": f"\n{_text(number)}\nBegin!\n"},
    ]
    chains, nodes = [], []
    for _ in range(3):
        chain.append({"role": "assistant", "content": thought, "function_call": call})
        chains.append(list(chain))
        chain.append({"role": "function", "name": name, "content": observation})
        nodes += _nodes(thought, name, call["arguments"], observation)
    finish = {"name": "Finish", "arguments": answer}
    chains.append([*chain, {"role": "assistant", "content": "", "function_call": finish}])
    names = [f"find_berth_{position}_for_harbour_desk_{number // 3}" for position in range(6)]
    return {
        "win": True,
        "tree": {"size": 10, "max_length": 10, "tree": _nested(nodes)},
        "compare_candidates": [nodes],
        "answer_generation": {
            "valid_data": True,
            "finish_type": "give_answer",
            "final_answer": answer,
            "function": [_function(name) for name in names],
            "train_messages": chains,
            "query": _text(number),
        },
    }


def _nodes(thought: str, name: str, arguments: str, observation: str) -> list[dict[str, object]]:
    described = [("Thought", thought), ("Action", name), ("Action Input", arguments)]
    nodes: list[dict[str, object]] = [
        {"is_terminal": False, "pruned": False, "node_type": kind, "description": text}
        for kind, text in described
    ]
    nodes[-1]["observation"] = observation
    return nodes


def _nested(nodes: list[dict[str, object]]) -> dict[str, object]:
    tree: dict[str, object] = {"node_type": "Action Input", "description": "", "children": []}
    for node in reversed(nodes):
        tree = {**node, "children": [tree]}
    return tree


def _function(name: str) -> dict[str, object]:
    return {
        "name": name,
        "description": "This function lists the free berths of a harbour. " * 5,
        "parameters": {
            "type": "object",
            "properties": {"harbourid": {"type": "integer", "description": "The harbour."}},
            "required": ["harbourid"],
            "optional": [],
        },
    }


if __name__ == "__main__":
    sys.exit(main())
