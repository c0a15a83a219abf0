"""Print a paper's tables with your runs beside the published rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from seal.cli.groups import argument, option, verb
from seal.cli.options import JSON
from seal.cli.output import output
from seal.core import UsageError

if TYPE_CHECKING:
    pass

_FORMATS = {".tex": "latex", ".html": "html"}


@verb("paper")
def paper_command(
    name: str = argument("Name of a benchmark, or of its paper.", metavar="NAME"),
    folders: list[Path] | None = argument(
        "Runs, pools, sweeps and experiments in retrieval.", None, metavar="[RUN]..."
    ),
    table: str | None = option(
        None, "Show this table only, such as table-3, with what it lacks.", metavar="TABLE"
    ),
    out: Path | None = option(
        None,
        "File to write instead of printing: text, LaTeX (.tex) or a page (.html).",
        metavar="FILE",
    ),
    json: bool = JSON,
) -> int:
    """Print the tables and figures of a paper, with the figures of your runs beside them.

    Published rows stand first, then each run with its difference. A table or figure for which the
    folders hold nothing is left out. Without a folder the tables are
    listed, with what each is made of.
    """
    with output(json) as result:
        from seal.core.records import AtomicFile
        from seal.report.paper_forms import document, shown_parts
        from seal.report.paper_sources import declared_tables, paper_tables, table_list

        if not folders:
            if table or out:
                raise UsageError("--table and --out need a folder: seal paper NAME RUN...")
            listed = declared_tables(name)
            tables = [each.table.to_json() for each in listed]
            result.result({"paper": name, "tables": tables})
            result.show(table_list(name, listed))
            return 0
        shown, lines = paper_tables(name, folders, table)
        tables = [each.to_json() for each in shown]
        result.result({"paper": name, "tables": tables, "lines": lines})
        if out is None:
            result.show(*shown_parts(shown, lines))
        else:
            kind = _FORMATS.get(out.suffix.lower(), "text")
            with AtomicFile(out) as file:
                file.write(document(name, shown, lines, kind).encode())
            result.show(f"{kind}: {out}")
    return 0
