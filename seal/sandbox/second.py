"""Code that one sandbox lacks a construct for runs again in another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from seal.core.types import JSON
from seal.sandbox.types import Case, Outcome, Row, Sandbox


@dataclass(frozen=True, slots=True)
class Second:
    """Two sandboxes: what is `unsupported` in the first runs in the second, every case of it.

    Args:
        first: Runs everything.
        second: Runs the functions of which the first could not run some case.
    """

    first: Sandbox
    second: Sandbox

    def identity(self) -> dict[str, JSON]:
        """Return the first's identity, and under "second" the other's."""
        return {**self.first.identity(), "second": self.second.identity()}

    def run(
        self, source: str, function: str, table: Sequence[Row], cases: Sequence[Case]
    ) -> list[Outcome]:
        """Return one outcome for each case (`Sandbox.run`)."""
        outcomes = self.first.run(source, function, table, cases)
        if all(outcome.status != "unsupported" for outcome in outcomes):
            return outcomes
        return self.second.run(source, function, table, cases)
