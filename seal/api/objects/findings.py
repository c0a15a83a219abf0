"""What `seal.lint` returns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from seal.api.objects.base import Shown
from seal.core.signatures import checked_names
from seal.pools.lint import KINDS, LintReport
from seal.report.glance import Glance
from seal.report.grids import Grid, drawn

if TYPE_CHECKING:
    from seal.pools.lint.findings import Finding

_COLUMNS = ("finding", "severity", "count", "what it is; examples")


@checked_names
class Findings(Shown):
    """What is wrong or doubtful in a pool.

    Args:
        pool: Its name or folder.
        report: What lint found.
    """

    def __init__(self, pool: str, report: LintReport) -> None:
        self._pool = pool
        self.report = report
        self.tasks: int = report.tasks
        """Tasks that could be read."""
        self.tools: int = report.tools
        """Tools that could be read."""
        self.twin_share: float | None = report.twin_share
        """Share of the tasks with relevant tools of which one has a near duplicate; None: no task
        has relevant tools."""
        self.findings: tuple[Finding, ...] = report.findings
        """By kind, the worst first."""

    def counts(self) -> dict[str, int]:
        """Return the number of findings of each kind that was found."""
        return self.report.counts()

    def to_json(self) -> dict[str, Any]:
        """Return the report with every finding."""
        return self.report.to_json()

    def _glance(self) -> Glance:
        return Glance(_grid(self.report, _title(self._pool, self.report), 0))

    def _tables(self) -> Iterator[Any]:
        return lint_tables(self._pool, self.report)


def lint_tables(pool: str, report: LintReport, examples: int = 2) -> Iterator[Any]:
    """Yield what the command line prints of a report.

    Args:
        pool: Its name or folder.
        report: What lint found.
        examples: Findings of each kind that are shown.
    """
    yield _title(pool, report)
    if report.findings:
        yield drawn(_grid(report, "", max(examples, 0)))


def _grid(report: LintReport, title: str, examples: int) -> Grid:
    rows = []
    for kind, count in report.counts().items():
        severity, about = KINDS[kind]
        shown = [f.message for f in report.findings if f.kind == kind][:examples]
        rows.append((kind, severity, f"{count:5}", "\n- ".join([about, *shown])))
    return Grid(title, _COLUMNS, rows, names=len(_COLUMNS))


def _title(pool: str, report: LintReport) -> str:
    found = f"{report.tools} tools, {report.tasks} tasks, {len(report.findings)} findings"
    if not report.twin_share:
        return f"{pool}: {found}"
    twins = f"{report.twin_share:.1%} of the tasks need a tool that has a near duplicate"
    return f"{pool}: {found}; {twins}"
