"""Put together the parts of a run that were played separately."""

from pathlib import Path

from seal.cli.failure import tell
from seal.cli.groups import argument, option, verb
from seal.cli.options import CACHE_DIR, JSON
from seal.cli.output import output
from seal.core import UsageError


@verb("merge")
def merge_command(
    runs: list[Path] = argument(
        "All parts of a run that `seal run --shard I/N` played.", metavar="RUN..."
    ),
    out: Path = option(..., "Run folder to write."),
    cache_dir: Path | None = CACHE_DIR,
    json: bool = JSON,
) -> int:
    """Put together the parts of a run; it has the bytes of a run that was played in one piece.

    A run that a model judged gets no scores here: `seal score` gives them.
    """
    from seal.report.html import write_report
    from seal.report.run_results import result_tables
    from seal.runs.merge import merge, score_merged
    from seal.runs.run_folder import exit_code_of

    with output(json) as result:
        folder = merge(runs, out)
        result.result({"run": str(out)})
        try:
            summary = score_merged(folder, cache_dir)
        except UsageError as error:
            tell(f"{out} is made and has no scores yet; seal score {out} gives them: {error}")
            return 0
        result.result({"run": str(out), **summary})
        result.show(*result_tables(folder), f"run: {out}")
        result.show(f"report: {write_report([folder], folder.report_path)}")
    return exit_code_of(summary)
