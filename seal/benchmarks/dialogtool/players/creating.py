"""A tool's function written without a model: by rule, by chance, or with gold's help."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from seal.benchmarks.dialogtool.tool_life import DOCUMENT_MARK
from seal.core.protocols import Completion, Request
from seal.core.types import JSON, Tool
from seal.sandbox.functions import signature
from seal.sandbox.written import Recorded, oracle_written, rule_written


def create(request: Request) -> Completion:
    """Return a function that filters the table by the arguments which are columns of it."""
    tool = _tool(request)
    return Completion(rule_written(tool) if tool is not None else "")


def create_blindly(request: Request) -> Completion:
    """Return a function that brings every row."""
    tool = _tool(request)
    return Completion(f"{signature(tool)}\n    return table\n" if tool is not None else "")


def create_knowingly(request: Request, metadata: Mapping[str, JSON]) -> Completion:
    """Return the function that reproduces most recorded calls.

    Args:
        request: The prompt.
        metadata: Of a task of creation; where it records nothing, the function is by rule.
    """
    tool, table, cases = _tool(request), metadata.get("table"), metadata.get("cases")
    if tool is None or not isinstance(table, list) or not isinstance(cases, list):
        return create(request)
    example = metadata.get("example")
    recorded = [Recorded(case[0], case[1]) for n, case in enumerate(cases) if n != example]
    return Completion(oracle_written(tool, table, recorded))


def _tool(request: Request) -> Tool | None:
    """Return the API whose document the prompt holds; None where there is none."""
    lines = "\n".join(message.content for message in request.messages).splitlines()
    told = next((line for line in lines if line.startswith(DOCUMENT_MARK)), "")
    try:
        document: Any = orjson.loads(told.removeprefix(DOCUMENT_MARK))
    except orjson.JSONDecodeError:
        return None
    if not isinstance(document, dict) or not isinstance(document.get("parameters"), dict):
        return None
    name = str(document.get("name", ""))
    return Tool("", name, parameters=document["parameters"], returns=document.get("returns"))
