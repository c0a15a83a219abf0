"""Lint: faults of a pool, as findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seal.core import JSON, UsageError
from seal.core.signatures import checked_names
from seal.pools.gold_values import GoldCheck
from seal.pools.lint.lint_report import KINDS, Finding, ReadPool, Severity, read_leniently
from seal.pools.lint.tasks import (
    PlanCheck,
    invalid_calls,
    missing_tools,
    refused_worlds,
    same_queries,
)
from seal.pools.lint.tools import (
    THRESHOLD,
    broken_schemas,
    descriptions,
    duplicates,
    near_duplicates,
)
from seal.pools.lint.unknowable_values import ungrounded_values


@checked_names
@dataclass(frozen=True, slots=True)
class LintReport:
    """What lint found in one pool."""

    tasks: int
    """Tasks that could be read."""
    tools: int
    """Tools that could be read."""
    findings: tuple[Finding, ...]
    """In the order of `KINDS`."""

    def counts(self) -> dict[str, int]:
        """Return the number of findings of each kind that was found, in the order of `KINDS`."""
        return dict(Counter(finding.kind for finding in self.findings))

    def to_json(self) -> dict[str, JSON]:
        """Return the report with every finding."""
        return {
            "tasks": self.tasks,
            "tools": self.tools,
            "counts": self.counts(),
            "findings": [_plain(finding) for finding in self.findings],
        }


def lint(
    folder: Path,
    threshold: float = THRESHOLD,
    allow_code: Collection[str] = (),
    worlds: Callable[[str], Any] | None = None,
) -> LintReport:
    """Return what is wrong or doubtful in a pool folder.

    Args:
        folder: With tools.jsonl and tasks.jsonl; lines that are no record are findings.
        threshold: Least likeness of near duplicates, in (0, 100] (`seal.pools.lint.tools`).
        allow_code: Modules into which tasks may name their worlds by a dotted path; other code is
            not loaded, which is a finding.
        worlds: Gives the environments of benchmarks by name (`environments_beside`); None: only
            registered worlds are known.

    Raises:
        UsageError: The threshold is not in (0, 100].
    """
    if not 0 < threshold <= 100:
        raise UsageError(f"threshold {threshold}: expected a number above 0 and up to 100")
    pool = read_leniently(folder)
    order = list(KINDS)
    unsorted = _findings(pool, threshold, PlanCheck(allow_code, worlds))
    found = sorted(unsorted, key=lambda finding: order.index(finding.kind))
    return LintReport(len(pool.tasks), len(pool.tools), tuple(found))


def _findings(pool: ReadPool, threshold: float, plans: PlanCheck) -> Iterator[Finding]:
    yield from pool.findings
    yield from refused_worlds(pool.tasks.values(), plans.allow_code)
    check = GoldCheck(pool.tools)
    for task in pool.tasks.values():
        yield from missing_tools(task, pool.tools)
        yield from invalid_calls(task, pool.tools, check)
        yield from plans.findings(task)
        yield from ungrounded_values(task, pool.tools)
    yield from same_queries(pool.tasks.values())
    tools = list(pool.tools.values())
    yield from broken_schemas(tools)
    yield from duplicates(tools)
    yield from near_duplicates(tools, threshold)
    yield from descriptions(tools)


def _plain(finding: Finding) -> dict[str, JSON]:
    return {
        "kind": finding.kind,
        "severity": finding.severity,
        "message": finding.message,
        "tasks": list(finding.tasks),
        "tools": list(finding.tools),
        "evidence": finding.evidence,
    }


__all__ = ["KINDS", "Finding", "LintReport", "Severity", "lint"]
