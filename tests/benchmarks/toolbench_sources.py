"""Files in ToolBench's formats, of invented services."""

import json
from pathlib import Path
from typing import Any

from seal.pools.imports import ImportReport, import_benchmark


def api(name: str, tool: str = "Tide Tables", **fields: Any) -> dict[str, Any]:
    """Return an entry of an api_list."""
    return {
        "category_name": "Weather",
        "tool_name": tool,
        "api_name": name,
        "api_description": f"{name} of a harbour",
        "required_parameters": [
            {"name": "id", "type": "NUMBER", "description": "the harbour", "default": "12"}
        ],
        "optional_parameters": [
            {"name": "Unit", "type": "STRING", "description": "", "default": "metre"}
        ],
        "method": "GET",
        **fields,
    }


def query(query_id: int = 7, text: str = "When is high water in Oban?", **fields: Any) -> dict:
    """Return a record of a query file."""
    return {
        "api_list": [api("High Water"), api("Low Water")],
        "query": text,
        "relevant APIs": [["Tide Tables", "High Water"]],
        "query_id": query_id,
        **fields,
    }


def function(name: str, **properties: dict[str, Any]) -> dict[str, Any]:
    """Return an entry of a run's function list."""
    tool = name.rpartition("_for_")[2]
    return {
        "name": name,
        "description": f'This is the subfunction for tool "{tool}", you can use this tool.'
        f'The description of this function is: "about {name}"',
        "parameters": {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "optional": [],
        },
    }


FUNCTIONS = [
    function("high_water_for_tide_tables", is_id={"type": "integer", "description": ""}),
    function("low_water_for_tide_tables", is_id={"type": "integer", "description": ""}),
    {"name": "Finish", "description": "", "parameters": {"type": "object", "properties": {}}},
]


def said(name: str, arguments: str, thought: str = "") -> dict[str, Any]:
    """Return an assistant's message with a call."""
    call = {"name": name, "arguments": arguments}
    return {"role": "assistant", "content": thought, "function_call": call}


def heard(name: str, content: str) -> dict[str, Any]:
    """Return a function's message."""
    return {"role": "function", "name": name, "content": content}


def observation(response: Any, error: str = "") -> str:
    return json.dumps({"error": error, "response": response})


def finish(answer: str = "At noon.") -> str:
    return json.dumps({"return_type": "give_answer", "final_answer": answer})


GIVE_UP = '{"return_type": "give_up_and_restart"}'


def tree(
    *messages: dict[str, Any],
    text: str = "When is high water in Oban?",
    final_answer: str | None = None,
    **generation: Any,
) -> dict[str, Any]:
    """Return a valid answer tree whose last chain holds the messages."""
    opening = [{"role": "system", "content": "s"}, {"role": "user", "content": f"{text} Begin!"}]
    return {
        "win": True,
        "tree": {"tree": {"node_type": "Action Input", "description": "", "children": []}},
        "answer_generation": {
            "valid_data": True,
            "final_answer": finish() if final_answer is None else final_answer,
            "finish_type": "give_answer",
            "function": FUNCTIONS,
            "train_messages": [[opening[0]], [*opening, *messages]],
            "query": text,
            **generation,
        },
    }


CALL = "high_water_for_tide_tables"
LATER = "low_water_for_tide_tables"


def good_tree(**fields: Any) -> dict[str, Any]:
    """Return a tree with one call that succeeds."""
    return tree(
        said(CALL, '{"is_id": 12}', "I look."),
        heard(CALL, observation({"at": "12:00"})),
        said("Finish", finish()),
        **fields,
    )


def nodes(*described: tuple[str, str] | tuple[str, str, str]) -> list[dict[str, Any]]:
    """Return nodes of a chain from (type, description[, observation])."""
    made = []
    for kind, text, *seen in described:
        node: dict[str, Any] = {"node_type": kind, "description": text, "children": []}
        if seen:
            node["observation"] = seen[0]
        made.append(node)
    return made


def converted(*chain: tuple[str, Any], text: str = "When?", final_answer: str = "") -> dict:
    """Return an entry of a converted file whose messages follow each other."""
    details: list[dict[str, Any]] = []
    for role, message in reversed(chain):
        details = [{"role": role, "message": message, "next": details}]
    start = [("system", ""), ("user", text[:100])]
    for role, message in reversed(start):
        details = [{"role": role, "message": message, "next": details}]
    return {
        "query": text,
        "available_tools": FUNCTIONS,
        "answer": {
            "method": "sketch_CoT",
            "total_steps": len(chain),
            "final_answer": final_answer,
            "answer_details": details,
        },
    }


class Workshop:
    """Writes a source and imports it."""

    def __init__(self, folder: Path) -> None:
        self.source = folder / "source"
        self.out = folder / "pool"
        self.source.mkdir()

    def write(self, name: str, content: Any) -> Path:
        path = self.source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    def queries(self, *records: dict, name: str = "test_instruction/G1_tool.json") -> Path:
        return self.write(name, list(records) or [query()])

    def run(self, content: Any, query_id: int = 7) -> Path:
        return self.write(f"A_G1_tool_sketch-1/{query_id}_DFS_woFilter_w2.json", content)

    def gold(self, content: Any, query_id: int = 7, name: str = "DFS_w2") -> Path:
        return self.write(f"answer/G1_tool/{query_id}_{name}.json", content)

    def imported(self, source: Path | None = None, **options: str) -> ImportReport:
        return import_benchmark("toolbench", source or self.source, self.out, **options)
