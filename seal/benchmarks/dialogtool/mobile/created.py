"""Answers of functions that a model wrote, instead of recorded ones (`--tools created`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from seal.benchmarks.dialogtool.mobile.answers import Refusal, open_api
from seal.benchmarks.dialogtool.mobile.effects import shown
from seal.benchmarks.dialogtool.mobile.recordings import Recordings, Row
from seal.core.types import JSON, Tool
from seal.sandbox.created import CreatedTools, Fault

KIND = "created_"
"""Begins the kind of a refusal by a function: `created_timeout`, `created_no_function`."""


@dataclass(frozen=True, slots=True)
class Created:
    """Rows that an API's created function chooses from its table and what bookings show in it.

    Args:
        created: The functions, in their sandbox.
        recordings: Of the pool: the tables, and the logins that an app takes.
        tools: By id.
    """

    created: CreatedTools
    recordings: Recordings
    tools: Mapping[str, Tool]

    def begin(self, goal: int) -> None:
        """Do nothing: a function knows no dialogue."""

    def answer(
        self, tool: Tool, arguments: Mapping[str, JSON], bookings: Sequence[Row]
    ) -> list[Row] | Refusal:
        """Return the function's rows; where it fails, how."""
        api = open_api(self.recordings, tool, arguments)
        if isinstance(api, Refusal):
            return api
        table = [*api.table, *shown(tool, bookings, self.tools)]
        found = self.created.call(tool, arguments, table)
        if isinstance(found, Fault):
            return Refusal(f"{KIND}{found.status}", f"{tool.name} failed: {found.message}")
        return found


__all__ = ["KIND", "Created"]
