"""Sources of every importer in small, and the ways in which a file of them can be spoilt."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

import mmtb_sources as mmtb
import toolbench_sources as toolbench
import toolsandbox_sources as toolsandbox
import toolscan_checkout
from bfcl_sources import BfclShelf, answer, single
from livemcp_sources import write_source as livemcpbench
from sgd_sources import Sgd
from toolsandbox_checkout import write_checkout

from seal.core import SealError
from seal.pools.imports import import_benchmark
from seal.pools.pool import load_pool


def write(folder: Path, files: dict[str, Any]) -> Path:
    """Write JSON values as files; a tuple is JSON Lines, a text stays as it is."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        parts = content if isinstance(content, tuple) else (content,)
        texts = (part if isinstance(part, str) else json.dumps(part) for part in parts)
        path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return folder


def apigen(folder: Path) -> Path:
    parameters = {
        "harbour": {"type": "str", "description": "its name", "default": ""},
        "days": {"type": "List[int], optional", "description": "how many", "default": "[3]"},
    }
    tool = {"name": "tides", "description": "Tides", "parameters": parameters}
    call = {"name": "tides", "arguments": {"harbour": "Oban"}}
    told = {"tools": json.dumps([tool]), "answers": json.dumps([call])}
    return write(folder, {"xlam.json": [{"id": n, "query": f"Tide {n}?", **told} for n in (0, 1)]})


def apibench(folder: Path) -> Path:
    call = "torch.hub.load(repo_or_dir='oban/tides', model='tide_net')"
    document = {
        "domain": "Forecast",
        "framework": "PyTorch",
        "functionality": "Tide forecast",
        "api_name": "tide_net",
        "api_call": call,
        "api_arguments": {"pretrained": "True"},
        "python_environment_requirements": ["torch"],
        "example_code": ["import torch"],
        "performance": {"dataset": "N/A", "accuracy": "N/A"},
        "description": "Forecasts tides.",
    }
    code = "###Instruction: Forecast the tide.\n###Output: <<<domain>>>: x"
    request = {"code": code, "api_call": call, "provider": "PyTorch", "api_data": document}
    files = {"torchhub_api.jsonl": (document,), "torchhub_eval.json": (request, request)}
    return write(folder, files)


def anytool(folder: Path) -> Path:
    gold = {"category_name": "Weather", "tool_name": "Tide Tables", "api_name": "High Water"}
    record = {"query": "When?", "final_answer": "Noon.", "query_id": "7", "gt_api_list": [gold]}
    return write(folder, {"atb_data/anytoolbench.json": [record]})


def beir(folder: Path) -> Path:
    documents = ({"_id": "d1", "title": "Tides", "text": "High water."}, {"_id": "d2", "text": "x"})
    queries = ({"_id": "q1", "text": "When?"}, {"_id": "q2", "text": "Where?", "metadata": {}})
    judged = "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t2"
    files = {"corpus.jsonl": documents, "queries.jsonl": queries, "qrels/test.tsv": judged}
    return write(folder, files)


def judged_in_lines(folder: Path) -> Path:
    judged = (
        {"query-id": "q1", "corpus-id": "d1", "score": 1},
        {"query-id": "q2", "corpus-id": "d2", "score": 2},
    )
    source = write(beir(folder), {"qrels/test.jsonl": judged})
    (source / "qrels" / "test.tsv").unlink()
    return source


def toolret(folder: Path) -> Path:
    tool = {"name": "tides", "description": "Tides", "parameters": {"at": {"type": "str"}}}
    labels = json.dumps([{"id": "d1", "doc": tool, "relevance": 1}])
    query = {"id": "q1", "query": "When?", "instruction": "Find", "labels": labels}
    tools = ({"id": "d1", "documentation": json.dumps(tool)},)
    return write(folder, {"queries.jsonl": (query,), "tools.jsonl": tools})


def bfcl(folder: Path) -> Path:
    shelf = BfclShelf(folder)
    gold = answer("a_0", {"tide.height": {"port": ["Oban"], "day": [3, ""]}})
    shelf.category("simple_python", [single("a_0")], [gold])
    return shelf.source


def dialogtool(folder: Path) -> Path:
    return Sgd(folder).folder


def metatool(folder: Path) -> Path:
    multi = [{"query": "Tides and buses", "tool": ["TideTool", "BusTool"]}]
    files = {
        "plugin_des.json": {"TideTool": "Tells tides.", "BusTool": "Finds buses."},
        "data/all_clean_data.csv": "Query,Tool\nWhen is high water?,TideTool",
        "data/multi_tool_query_golden.json": multi,
    }
    return write(folder, files)


def multi_mission(folder: Path) -> Path:
    records = (mmtb.record(mmtb.MIXED, mmtb.CHAT, id="d1"), mmtb.record(mmtb.CLARIFY, id="d2"))
    mmtb.write_records(folder / "data" / "Multi-Mission-Tool-Bench.jsonl", *records)
    return folder


def tool_trees(folder: Path) -> Path:
    shop = toolbench.Workshop(folder)
    shop.queries()
    shop.gold(toolbench.good_tree())
    shop.run(toolbench.good_tree())
    return shop.source


def phone(folder: Path) -> Path:
    traced = toolsandbox.traced("set_wifi_status", on=True)
    two = toolsandbox.graph(toolsandbox.constraint(), traced)
    path = toolsandbox.write(folder, toolsandbox.scenario(milestones=two))
    path.with_suffix("").write_bytes(gzip.decompress(path.read_bytes()))
    path.unlink()
    return folder


def toolscan(folder: Path) -> Path:
    parameter = {"name": "harbour", "type": "string", "required": True, "description": ""}
    told = {"pseudo": False, "environment": "sea", "tool": "TIDES", "description": "Tells tides"}
    returns = {"height": {"description": "In metres"}}
    further = {"parameters": [parameter], "returns": returns, "source": "apilist/sea.py"}
    tools = [{**told, **further, "name": name} for name in ("get_tide", "get_ebb")]
    content = {"format": "toolscan-neutral/1", "source": "s", "tools": tools}
    return write(folder, {"tools.json": content})


SOURCES: dict[str, tuple[str, Callable[[Path], Path]]] = {
    "anytool": ("anytool", anytool),
    "apibench": ("apibench", apibench),
    "apigen": ("apigen", apigen),
    "beir": ("beir", beir),
    "beir in lines": ("beir", judged_in_lines),
    "bfcl": ("bfcl", bfcl),
    "dialogtool": ("dialogtool", dialogtool),
    "livemcpbench": ("livemcpbench", livemcpbench),
    "metatool": ("metatool", metatool),
    "mmtb": ("mmtb", multi_mission),
    "toolbench": ("toolbench", tool_trees),
    "toolret": ("beir", toolret),
    "toolsandbox": ("toolsandbox", phone),
    "toolsandbox's checkout": ("toolsandbox", write_checkout),
    "toolscan": ("toolscan", toolscan),
    "toolscan's checkout": ("toolscan", toolscan_checkout.write_checkout),
}
"""Case to the name of its importer, and what writes its source and returns it."""

GET = {
    "name": "get",
    "description": "Gets it.",
    "parameters": {
        "type": "object",
        "properties": {"id": {"type": "string"}},
        "required": ["id"],
    },
}
_ORDER = {
    "type": "object",
    "properties": {"note": {"type": "string"}, "parent": {"$ref": "#/components/schemas/Order"}},
    "required": ["note"],
}
_BODY = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Order"}}}}
_FULL = {"name": "full", "in": "query", "schema": {"type": "boolean"}, "description": "All of it"}
OPENAPI = {
    "openapi": "3.1.0",
    "paths": {
        "/orders/{id}": {
            "parameters": [{"$ref": "#/components/parameters/Id"}],
            "get": {"operationId": "getOrder", "summary": "Look it up", "parameters": [_FULL]},
            "post": {"requestBody": _BODY},
        }
    },
    "components": {
        "parameters": {
            "Id": {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
        },
        "schemas": {"Order": _ORDER},
    },
}
OWN_TOOLS = {
    "list.json": [GET, {"type": "function", "function": {"name": "put"}}],
    "mcp.json": {"result": {"tools": [GET]}},
    "openapi.json": OPENAPI,
    "tools.csv": 'name,description,parameters\nget,Gets.,"id: str, days: int = 3"\nput,Puts.,',
    "tools.jsonl": (GET,),
}
"""Files of one's own tools."""
OWN_TASKS = {
    "asked.csv": 'query,calls,answer,kind\nWhen?,"get(id=""7"")",Monday,a\nHi,[],,b\nX,get,"[1]",',
    "asked.jsonl": (
        {"query": "a", "calls": [{"name": "get", "arguments": {"id": "7"}}], "answer": ["x"]},
        {"query": "b", "calls": [{"function": {"name": "get", "arguments": '{"id": "7"}'}}]},
        {"query": "c", "tools": ["get"], "id": 3, "share": 1.5},
    ),
}
"""Files of one's own tasks."""

VALUES: Sequence[Any] = (
    *(None, True, False, 0, -1, 2**70, 1e308, 0.5, float("nan")),
    *("", " ", "x", "0", "\0", "\ud800", "../../x", "{", "[1,", "x" * 5000, "é" * 300),
    *([], {}, [[]], [None], {"": ""}, {"x": [{}]}, ["x", 1, None], [[["x"]]]),
    json.loads("[" * 300 + "]" * 300),
)
"""What stands where something else should."""


def places(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the ways to everything within a JSON value."""
    items: Any = value.items() if isinstance(value, dict) else ()
    for key, item in enumerate(value) if isinstance(value, list) else items:
        yield (*way, key)
        yield from places(item, (*way, key))


def spoilt_value(value: Any, chance: Random) -> Any:
    """Return a JSON value with one thing in it replaced, removed, doubled or renamed."""
    ways = list(places(value))
    if not ways:
        return chance.choice(VALUES)
    way = chance.choice(ways)
    copy = inner = json.loads(json.dumps(value))
    for key in way[:-1]:
        inner = inner[key]
    kind, key = chance.randrange(6), way[-1]
    if kind == 0:
        del inner[key]
    elif kind == 1 and isinstance(inner, list):
        inner.insert(key, inner[key])
    elif kind == 1:
        inner[f"{key}x"] = inner.pop(key)
    elif kind == 2:
        inner[key] = json.dumps(inner[key])
    else:
        inner[key] = chance.choice(VALUES)
    return copy


def spoilt_bytes(content: bytes, chance: Random) -> bytes:
    """Return the bytes of a file cut, flipped, emptied, or in another order."""
    at = chance.randrange(len(content) + 1)
    other = chance.choice((b"\0", b"\xff", b'"', b"{", b"\n", b"\t", b",", b"\xef\xbb\xbf", b""))
    lines = content.split(b"\n")
    line = chance.randrange(len(lines))
    return chance.choice(
        (
            content[:at],
            content[at:],
            content[:at] + other + content[at + 1 :],
            content[:at] + other + content[at:],
            b"\n".join(lines[:line] + lines[line + 1 :]),
            b"\n".join(lines[: line + 1] + lines[line:]),
            b"\r\n".join(lines),
        )
    )


def mutant(content: bytes, chance: Random) -> bytes:
    """Return what a file could hold instead of what it does."""
    if chance.random() < 0.2:
        return spoilt_bytes(content, chance)
    try:
        return json.dumps(spoilt_value(json.loads(content), chance)).encode()
    except ValueError:
        pass
    lines = content.split(b"\n")
    at = chance.randrange(len(lines))
    try:
        spoilt = json.dumps(spoilt_value(json.loads(lines[at]), chance)).encode()
    except ValueError:
        return spoilt_bytes(content, chance)
    return b"\n".join(chain(lines[:at], [spoilt], lines[at + 1 :]))


def outcome(name: str, source: Path, out: Path) -> str:
    """Import a source and read its pool; return what is wrong with how that went, or nothing."""
    try:
        report = import_benchmark(name, source, out)
    except SealError as error:
        return "" if str(error).strip() else "an error without a text"
    except Exception as error:  # what is looked for
        return f"{type(error).__name__}: {error}"
    try:
        pool = load_pool(out)
        tools, tasks = len(pool.tools()), len(list(pool.every_task()))
    except Exception as error:  # a pool that was made must be readable
        return f"its pool: {type(error).__name__}: {error}"
    if (tools, tasks) != (report.tools, report.tasks):
        return f"its report tells {report.tools} and {report.tasks}, not {tools} and {tasks}"
    unused = report.dropped and "tasks" not in report.lacks
    return "a success without a task" if not tasks and (unused or name == "beir") else ""
