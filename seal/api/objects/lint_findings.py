"""What `seal.lint` returns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from seal.api.objects.base import Shown
from seal.pools.lint import KINDS, LintReport
from seal.report.glance import Glance
from seal.report.grids import Grid, counts_of

_COLUMNS = ("finding", "severity", "count", "what it is; examples")


@dataclass(frozen=True, repr=False)
class Findings(Shown, LintReport):
    """What is wrong or doubtful in a pool."""

    pool: str = ""
    """Its name or folder."""

    def _glance(self) -> Glance:
        return Glance(_grid(self, _title(self.pool, self), 0))

    def _tables(self) -> Iterator[Any]:
        return lint_tables(self.pool, self)


def lint_tables(pool: str, report: LintReport, examples: int = 2) -> Iterator[Any]:
    """Yield what the command line prints of a report.

    Args:
        pool: Its name or folder.
        report: What lint found.
        examples: Findings of each kind that are shown.
    """
    yield _title(pool, report)
    if report.findings:
        yield _grid(report, "", max(examples, 0))


def _grid(report: LintReport, title: str, examples: int) -> Grid:
    rows = []
    for kind, count in report.counts().items():
        severity, about = KINDS[kind]
        shown = [f.message for f in report.findings if f.kind == kind][:examples]
        rows.append((kind, severity, f"{count:5}", "\n- ".join([about, *shown])))
    return Grid(title, _COLUMNS, rows, names=len(_COLUMNS))


def _title(pool: str, report: LintReport) -> str:
    found = counts_of(tool=report.tools, task=report.tasks, finding=len(report.findings))
    return f"{pool}: {found}"
