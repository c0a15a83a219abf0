"""Find what is wrong or doubtful in a pool."""

from seal.cli.groups import option, repeated, verb
from seal.cli.options import ALLOW_CODE, JSON, POOL
from seal.cli.output import output
from seal.core import UnknownNameError


@verb("lint")
def lint_command(
    pool: str = POOL,
    threshold: float = option(
        90.0, "Least similarity of near-duplicate tools: above 0, at most 100."
    ),
    examples: int = option(2, "Number of findings of each kind to show."),
    fail_on: tuple[str, ...] = repeated(
        "Exit with 1 if there is a finding of this kind or severity; repeatable.", metavar="KIND"
    ),
    allow_code: tuple[str, ...] = ALLOW_CODE,
    json: bool = JSON,
) -> int:
    """Find what is wrong or doubtful in a pool; nothing is changed."""
    from seal.api.objects.lint_findings import lint_tables
    from seal.pools.lint import lint
    from seal.pools.lookup import environments_beside, open_pool

    with output(json) as result:
        refused = _refused(fail_on)
        found = open_pool(pool)
        worlds = environments_beside(found.benchmark)
        report = lint(found.folder, threshold, allow_code, worlds)
        result.result({"pool": pool, **report.to_json()})
        result.show(*lint_tables(pool, report, examples))
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
