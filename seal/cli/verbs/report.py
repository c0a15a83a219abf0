"""Write one HTML report of one or several runs."""

from pathlib import Path

from seal.cli.failure import tell
from seal.cli.groups import argument, option, verb
from seal.cli.options import JSON
from seal.cli.output import output


@verb("report")
def report_command(
    runs: list[Path] = argument("Run folders.", metavar="RUN..."),
    out: Path | None = option(
        None,
        "HTML file to write.  [default: report.html in the run; for several runs in the "
        "working folder]",
    ),
    json: bool = JSON,
) -> int:
    """Write one HTML file of one or several runs, readable without a network."""
    from seal.api.results import report
    from seal.report.lanes import lanes_of
    from seal.report.run_results import missing_notes
    from seal.runs.run_folder import RunFolder

    folders = [RunFolder.open(path) for path in runs]
    with output(json) as result:
        path = report(folders, out)
        result.result({"report": str(path)})
        result.show(f"report: {path}")
        for text in missing_notes(lanes_of(folders)):
            tell(text)
    return 0
