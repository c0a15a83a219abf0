"""The calls of the corpus: the virtual mobile's data, and the tests of tool creation.

Calls of one API with equal arguments stand once, with what the first of them brought, in the order
in which dialogues are read; where others brought something else the call is marked as conflicting.
Rows are kept as JSON text, each once, so that all splits fit in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import orjson

from seal.benchmarks.dialogtool.dialogues import RecordedCall
from seal.benchmarks.dialogtool.tool_life import CREATION
from seal.benchmarks.dialogtool.tools import BENCHMARK
from seal.core.types import JSON, Goal, Task, Tool

VERSION = 1
"""Of `mobile.json`."""
FEWEST_CASES = 2
"""Distinct calls of an API from which a task is made: one to show and one to test."""


class _Brought(NamedTuple):
    """What a call brought."""

    arguments: dict[str, JSON]
    rows: tuple[int, ...]
    conflict: bool


@dataclass(slots=True)
class _Calls:
    """The calls of one API."""

    rows: dict[bytes, int] = field(default_factory=dict)
    """Each row as JSON to its place."""
    calls: dict[bytes, _Brought] = field(default_factory=dict)
    """Arguments as JSON to what the first such call brought."""


class RecordedCalls:
    """The calls met so far, by API."""

    def __init__(self) -> None:
        self._apis: dict[str, _Calls] = {}

    def add(self, call: RecordedCall) -> None:
        """Keep a call."""
        api = self._apis.setdefault(call.api.tool, _Calls())
        places = tuple(api.rows.setdefault(row, len(api.rows)) for row in call.rows)
        known = api.calls.get(call.key)
        if known is None:
            api.calls[call.key] = _Brought(call.arguments, places, False)
        elif known.rows != places and not known.conflict:
            api.calls[call.key] = known._replace(conflict=True)

    def mobile(self) -> bytes:
        """Return the content of `mobile.json`.

        {version, apis: {tool id: {rows, calls: [[arguments, [places of rows], conflict]]}}}
        """
        apis = {
            tool: {
                "rows": list(map(orjson.Fragment, api.rows)),
                "calls": list(api.calls.values()),
            }
            for tool, api in sorted(self._apis.items())
        }
        return orjson.dumps({"version": VERSION, "apis": apis}, default=list)

    def creation_tasks(self, tools: Mapping[str, Tool], split: str) -> Iterator[Task]:
        """Yield a task of writing its function for each API, in the order of their ids.

        Args:
            tools: By id.
            split: Of the dialogues.
        """
        for tool_id, api in sorted(self._apis.items()):
            if len(api.calls) >= FEWEST_CASES:
                yield _creation_task(tools[tool_id], api, split)


def _creation_task(tool: Tool, api: _Calls, split: str) -> Task:
    service, name = str(tool.source["tool"]), str(tool.source["api"])
    calls = list(api.calls.values())
    text = f"Write the function of the API {name} of {tool.category}: {tool.description}"
    labels: dict[str, JSON] = {"task": CREATION, "tool": tool.id}
    return Task(
        f"{BENCHMARK}/create/{tool.id.partition('/')[2]}",
        BENCHMARK,
        (Goal(text, offered=(tool.id,), labels=labels),),
        split=split,
        tags={"group": CREATION, "split": split, "domain": tool.category, "service": service},
        metadata={
            "table": [orjson.loads(row) for row in api.rows],
            "cases": [[call.arguments, list(call.rows)] for call in calls],
            "example": next((n for n, call in enumerate(calls) if call.rows), 0),
        },
    )
