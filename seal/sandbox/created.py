"""Tools that a model created, at work: a call's rows come from its function in the sandbox."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from seal.core.canonical import digest
from seal.core.types import JSON, Tool
from seal.sandbox.functions import code_of, function_name, keywords
from seal.sandbox.types import Case, Row, Sandbox, Status


class Fault(NamedTuple):
    """Why a created tool brings no rows."""

    status: Status
    message: str


@dataclass(frozen=True, slots=True)
class CreatedTools:
    """Calls functions that a model wrote. Safe in threads.

    A call runs in a session of its own, so that equal calls bring equal rows whatever came before;
    what was run once is kept. Time is on the wall, so a busy machine may lose a call that an
    idle one ends: what ran out of time runs once more before that is kept.

    Args:
        sandbox: Where they run.
        source_of: A tool to the model's text that holds its function: asked once for each tool,
            when it is first called.
    """

    sandbox: Sandbox
    source_of: Callable[[Tool], str]
    _sources: dict[str, str] = field(default_factory=dict, init=False, repr=False)
    _answers: dict[str, list[Row] | Fault] = field(default_factory=dict, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def call(
        self, tool: Tool, arguments: Mapping[str, JSON], table: Sequence[Row]
    ) -> list[Row] | Fault:
        """Return the rows that a tool's function brings, or why it brings none.

        Args:
            tool: The API.
            arguments: Of the call.
            table: Rows of the API; the function gets a copy.

        Raises:
            UsageError: The sandbox cannot be used here.
        """
        key = digest([tool.id, dict(arguments), list(table)])
        with self._lock:
            known = self._answers.get(key)
        if known is None:
            known = self._run(tool, keywords(arguments), table)
            with self._lock:
                known = self._answers.setdefault(key, known)
        return known if isinstance(known, Fault) else [dict(row) for row in known]

    def _run(
        self, tool: Tool, arguments: dict[str, JSON], table: Sequence[Row]
    ) -> list[Row] | Fault:
        source, name = self._source(tool), function_name(tool)
        (outcome,) = self.sandbox.run(source, name, table, [Case(arguments)])
        if outcome.status == "timeout":
            (outcome,) = self.sandbox.run(source, name, table, [Case(arguments)])
        if outcome.status != "pass":
            return Fault(outcome.status, outcome.message)
        rows = outcome.received
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            return Fault("wrong", f"{name} returned {type(rows).__name__}, not a list of rows")
        return rows

    def _source(self, tool: Tool) -> str:
        with self._lock:
            if tool.id not in self._sources:
                self._sources[tool.id] = code_of(self.source_of(tool)).source
            return self._sources[tool.id]


__all__ = ["CreatedTools", "Fault"]
