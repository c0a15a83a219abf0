"""Compare runs of one benchmark: paired differences, tests, power, tasks won and lost."""

import os
from dataclasses import dataclass
from pathlib import Path

from seal.cli import options as shared
from seal.cli.failure import tell
from seal.cli.groups import argument, option, settings_of, verb
from seal.cli.output import output
from seal.experiments.comparison.comparison_settings import CompareGroup, PreferenceSettings


@dataclass(frozen=True, kw_only=True)
class Written:
    """Output: what is written, and what is printed."""

    out: Path | None = option(
        None, "Folder for comparison.json, .md, .tex and .html.", metavar="DIR"
    )
    json: bool = shared.JSON


@verb("compare")
def compare_command(
    *,
    runs: list[Path] = argument("Run folders; the first is the base.", metavar="RUN RUN..."),
    compared: CompareGroup,
    preferred: PreferenceSettings,
    into: Written,
) -> int:
    """Compare runs of one benchmark, paired by task, trial and goal.

    For every metric the table has the mean difference, its 95 % bootstrap interval over tasks, and
    a randomisation test. It also has the smallest difference that these tasks could have shown, and
    how many tasks or trials would show the measured one. Then come the tasks won and lost, pass^k
    and pass@k. Runs that do not measure the same are refused. The exit code is 1 if the server of a
    judge failed.
    """
    # Of small matrices: several threads would wait longer for each other than they compute.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with output(into.json) as result:
        from seal.api.results import compare
        from seal.report.comparison_results import comparison_tables

        told = settings_of(compared, preferred)
        content = compare(runs, out=into.out, **told).content
        result.result(content)
        result.show(*(() if into.json else comparison_tables(content)))
        if into.out is not None:
            result.show(f"comparison: {into.out / 'comparison.html'}")
        for text in content["differs"]:
            tell(f"compared all the same: {text}")
    judged = [pair["win_rate"] for pair in content["pairs"] if pair["win_rate"] is not None]
    return int(any("error" in found["by"] for found in judged))
