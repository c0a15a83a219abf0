"""A small source in the form of LiveMCPBench's repository, written for these tests."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

RUN = "captain_lantern"
"""Name of the recorded runs: model and embedder."""
TASKS = ("ferry", "tide", "chart")
VERDICTS = {
    "people": ("success", "failure", "success"),
    "strict": ("failure", "Thoughts: none.\nStatus: failure", "success"),
    "mild": ("success", 'Thoughts: fine.\nStatus: "Success"', "success"),
}
"""Who judged, to what they said of each task."""

_ASKED = {
    "ferry": ("When does the ferry leave Oban?", "1. search", "", "Travel"),
    "tide": ("How high is the tide? Save it.", "1. high_tide\n2.  save", "file /t.md", "Travel"),
    "chart": ("What does line 3 of the chart say?", "1. search\n2. read_line", "shoal", "Office"),
}
_LONGEST = 10_000


def tools() -> list[dict[str, Any]]:
    """Return three servers; `search` is a tool of two of them."""
    query = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
    return [
        _server("harbour", _tool("search", "Find ferries.", query), _tool("high_tide", "Tides.")),
        _server("charts", _tool("search", "Find charts.", query), _tool("read_line", "Read.")),
        _server("disk 1", _tool("write_file", "Write a file.")),
    ]


def _server(name: str, *listed: dict[str, Any]) -> dict[str, Any]:
    listing = {"server_name": name, "version": "1", "tools": list(listed)}
    return {"name": name.title(), "category": "Sea", "tools": {name: listing}}


def _tool(name: str, description: str, schema: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"name": name, "description": description, "inputSchema": schema or {}}


def tasks() -> list[dict[str, Any]]:
    """Return the annotated tasks; no server has `save`."""
    return [
        {
            "task_id": task,
            "Question": question,
            "answers": answer,
            "category": category,
            "file_name": "",
            "Annotator Metadata": {"Steps": "1. Look.", "Tools": named, "Number of tools": "1"},
        }
        for task, (question, named, answer, category) in _ASKED.items()
    ]


def runs() -> list[dict[str, Any]]:
    """Return what the agent did about each task: it searches, calls, fails, and answers."""
    found = _listing(("harbour", "search"), ("harbour", "high_tide"), ("ghost", "search"))
    ferry = [
        [("route", {"query": "<tool_assistant>\nserver: sea\ntool: ferries\n</tool_assistant>"})],
        [found],
        [("execute-tool", _execute("harbour", "search", query="Oban"))],
        [_answer(json.dumps({"leaves": "9:40"}))],
    ]
    tide = [
        [
            ("route", {"query": "tides"}),
            ("execute-tool", _execute("ghost", "dive")),
            ("execute-tool", _execute("harbour", "high_tide")),
        ],
        [
            found + "x" * _LONGEST,
            _wrapped("Error executing tool execute-tool: no server", True),
            "Tool call timed out.",
        ],
    ]
    chart = [
        [("route", {"query": "charts"})],
        [_listing(("charts", "search"), ("charts", "read_line"))],
        [("execute-tool", _execute("charts", "read_line", line="three"))],
        [_answer("line: expected a number", failed=True)],
    ]
    said = ("It leaves at 9:40.", "Error: Connection error.", "It says shoal.")
    return [
        {**asked, "response": response, "messages": _messages(asked["Question"], plays, response)}
        for asked, plays, response in zip(tasks(), (ferry, tide, chart), said, strict=True)
    ]


def _execute(server: str, tool: str, **params: Any) -> dict[str, Any]:
    return {"server_name": server, "tool_name": tool, "params": params}


def _wrapped(text: str, failed: bool = False) -> str:
    """Return a text as upstream's client prints the answer that holds it."""
    return f"meta=None content=[TextContent(type='text', text={text!r})] isError={failed}"


def _listing(*hits: tuple[str, str]) -> str:
    found = (f"- server_name: {s}\n  tool_name: {t}\n  tool_description: It.\n" for s, t in hits)
    return _wrapped("success: true\nmatched_tools:\n" + "".join(found))


def _answer(text: str, failed: bool = False) -> str:
    told = {"_meta": None, "content": [{"type": "text", "text": text}], "isError": failed}
    return _wrapped(json.dumps(told))


def _messages(question: str, plays: list[list[Any]], response: str) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You have two tools."},
        {"role": "user", "content": question},
    ]
    number = 0
    for asked, answered in zip(plays[::2], plays[1::2], strict=True):
        ids = [f"toolu_{number + place}" for place in range(len(asked))]
        number += len(asked)
        calls = [
            {
                "id": id,
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(given)},
            }
            for id, (name, given) in zip(ids, asked, strict=True)
        ]
        messages.append({"role": "assistant", "content": "Let me see.", "tool_calls": calls})
        messages += [
            {"role": "tool", "tool_call_id": id, "content": content[:_LONGEST]}
            for id, content in zip(ids, answered, strict=True)
        ]
    return [*messages, {"role": "assistant", "content": response}]


def write_source(folder: Path) -> Path:
    """Write a repository as upstream has it: tools, tasks, runs with labels, and verdicts."""
    labelled = [
        {**run, "task_success": label}
        for run, label in zip(runs(), VERDICTS["people"], strict=True)
    ]
    files: Mapping[str, Any] = {
        "tools/LiveMCPTool/tools.json": tools(),
        "annotated_data/all_annotations.json": tasks(),
        f"baseline/annotation/{RUN}.json": labelled,
        **{
            f"evaluator/output/{judge}/{RUN}.json": [
                {"task_id": run["task_id"], "judge": label, "response": run["response"]}
                for run, label in zip(runs(), labels, strict=True)
            ]
            for judge, labels in VERDICTS.items()
            if judge != "people"
        },
    }
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content, indent=1), encoding="utf-8")
    return folder
