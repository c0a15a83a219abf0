"""Find what is wrong or doubtful in a pool."""

from typing import TYPE_CHECKING

from seal.cli.groups import option, repeated, verb
from seal.cli.options import ALLOW_CODE, JSON, POOL, new_app
from seal.cli.output import output
from seal.core import UnknownNameError

if TYPE_CHECKING:
    from seal.pools.lint import LintReport
    from seal.report.grids import Grid

app = new_app()


@verb(app)
def command(
    pool: str = POOL,
    threshold: float = option(90.0, "Least likeness of near-duplicate tools, in (0, 100]."),
    examples: int = option(2, "Findings of each kind that are shown."),
    fail_on: tuple[str, ...] = repeated(
        "Exit with 1 where there is such a finding: a kind or severity.", metavar="KIND"
    ),
    allow_code: tuple[str, ...] = ALLOW_CODE,
    json: bool = JSON,
) -> int:
    """Find what is wrong or doubtful in a pool; nothing is changed."""
    from seal.pools.lint import lint
    from seal.pools.lookup import open_pool

    with output(json) as result:
        refused = _refused(fail_on)
        report = lint(open_pool(pool).folder, threshold, allow_code)
        result.result({"pool": pool, **report.to_json()})
        result.show(_headline(pool, report), *_tables(report, examples))
    return int(any({finding.kind, finding.severity} & refused for finding in report.findings))


def _refused(kinds: tuple[str, ...]) -> set[str]:
    """Return the kinds and severities that end with 1.

    Raises:
        UnknownNameError: There is no such kind or severity.
    """
    from seal.pools.lint import KINDS

    known = {*KINDS, *(severity for severity, _ in KINDS.values())}
    for kind in kinds:
        if kind not in known:
            raise UnknownNameError("kind or severity of finding", kind, known)
    return set(kinds)


def _headline(pool: str, report: "LintReport") -> str:
    found = f"{pool}: {report.tools} tools, {report.tasks} tasks, {len(report.findings)} findings"
    if not report.twin_share:
        return found
    return f"{found}; {report.twin_share:.1%} of the tasks need a tool that has a near duplicate"


def _tables(report: "LintReport", examples: int) -> list["Grid"]:
    from seal.pools.lint import KINDS
    from seal.report.grids import Grid

    rows = []
    for kind, count in report.counts().items():
        severity, about = KINDS[kind]
        shown = [f.message for f in report.findings if f.kind == kind][: max(examples, 0)]
        rows.append((kind, severity, f"{count:5}", "\n- ".join([about, *shown])))
    columns = ("finding", "severity", "count", "what it is; examples")
    return [Grid("", columns, rows, names=len(columns))] if rows else []
