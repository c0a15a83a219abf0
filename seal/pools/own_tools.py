"""Tools as people have them: Python functions, schemas of model providers, `Tool` records."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from seal.core.errors import UsageError, shortened
from seal.core.types import Tool

OwnTool = Tool | Mapping[str, Any] | Callable[..., Any]
"""A record, a schema (of OpenAI's chat completions or responses, of Anthropic's or MCP's tools), or
a function with types and a docstring of Google's style."""
_SCHEMAS = ("parameters", "input_schema", "inputSchema")
"""Where the argument map's JSON Schema stands: OpenAI, Anthropic, MCP."""


@dataclass(frozen=True, slots=True)
class OwnTools:
    """The tools of one benchmark."""

    by_id: Mapping[str, Tool] = field(default_factory=dict)
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    """Tool id to the function that runs; calls of all other tools are simulated."""

    def ids(self) -> dict[str, str]:
        """Return name to id, of the tools and of their ids themselves."""
        return {tool.name: tool.id for tool in self.by_id.values()} | {i: i for i in self.by_id}


def own_tools(benchmark: str, tools: Iterable[OwnTool]) -> OwnTools:
    """Return tools under their ids; those that have none get `benchmark/name`.

    Raises:
        UsageError: No tool, one that is none of the kinds, or two of one name.
    """
    by_id: dict[str, Tool] = {}
    functions = {}
    for what in _listed(benchmark, tools):
        tool = _tool(benchmark, what)
        if tool.id in by_id or any(tool.name == other.name for other in by_id.values()):
            raise UsageError(
                f"benchmark {benchmark!r} has two tools named {tool.name!r}; rename one"
            )
        by_id[tool.id] = tool
        if callable(what):
            functions[tool.id] = what
    return OwnTools(by_id, functions)


def _listed(benchmark: str, tools: Iterable[OwnTool]) -> list[OwnTool]:
    if isinstance(tools, (str, Mapping)) or not isinstance(tools, Iterable):
        raise UsageError(
            f"benchmark {benchmark!r}: tools: expected a list of functions, schemas or Tool "
            f"records, got {shortened(tools)}"
        )
    found = list(tools)
    if not found:
        raise UsageError(
            f"benchmark {benchmark!r} has no tools; give functions, schemas or Tool records"
        )
    return found


def _tool(benchmark: str, what: OwnTool) -> Tool:
    if isinstance(what, Tool):
        return what
    if isinstance(what, Mapping):
        return _of_schema(benchmark, what)
    if inspect.iscoroutine(what):
        what.close()
        raise UsageError(
            f"benchmark {benchmark!r}: a coroutine is no tool; give the function itself, not what "
            "calling it returns"
        )
    if not callable(what) or isinstance(what, type):
        raise UsageError(
            f"benchmark {benchmark!r}: {shortened(what)} is no tool; expected a function, a schema "
            "such as OpenAI's, or a Tool record"
        )
    if not str(getattr(what, "__name__", "")).isidentifier():
        kind = "a lambda" if hasattr(what, "__name__") else type(what).__name__
        raise UsageError(
            f"benchmark {benchmark!r}: {kind} has no name that a model could call; "
            "wrap it in a function with def"
        )
    from seal.environments.functions import function_tool

    return function_tool(f"{benchmark}/{what.__name__}", what)


def _of_schema(benchmark: str, schema: Mapping[str, Any]) -> Tool:
    """Return the tool of a provider's schema.

    Raises:
        UsageError: It has no name, or its parameters are no JSON Schema of an argument map.
    """
    inner = schema.get("function", schema)
    name = inner.get("name") if isinstance(inner, Mapping) else None
    if not isinstance(name, str) or not name:
        raise UsageError(
            f"benchmark {benchmark!r}: no tool in {shortened(dict(schema))}; expected an object "
            "with `name`, `description` and `parameters`, such as OpenAI's tools"
        )
    found: Any = next((inner[key] for key in _SCHEMAS if inner.get(key) is not None), {})
    if not isinstance(found, Mapping):
        raise UsageError(
            f"benchmark {benchmark!r}: parameters of {name!r}: expected a JSON Schema, "
            f"got {shortened(found)}"
        )
    parameters = {"type": "object", "properties": {}, **found}
    if parameters["type"] != "object" or not isinstance(parameters["properties"], Mapping):
        raise UsageError(
            f"benchmark {benchmark!r}: parameters of {name!r}: expected the schema of an object "
            "with `properties`"
        )
    description = inner.get("description") or ""
    return Tool(
        f"{benchmark}/{name}",
        name,
        description if isinstance(description, str) else str(description),
        parameters,
        returns=inner.get("outputSchema"),
    )
