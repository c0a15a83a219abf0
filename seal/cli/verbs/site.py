"""Write a static site of the runs below folders, to publish."""

from pathlib import Path

from seal.cli.groups import argument, option, verb
from seal.cli.options import JSON
from seal.cli.output import output


@verb("site")
def site_command(
    folders: list[Path] = argument(
        "Folders that hold runs.  [default: runs]", None, metavar="[RUNS]..."
    ),
    out: Path = option("site", "Folder to write."),
    title: str = option("Leaderboard", "Title of the first page."),
    json: bool = JSON,
) -> int:
    """Write a leaderboard and a page for each run as files that any web server can publish."""
    from seal.viewer.shelf import Shelf
    from seal.viewer.site import write_site

    with output(json) as result:
        path = write_site(Shelf(folders or [Path("runs")]), out, title)
        result.result({"site": str(path)})
        result.show(f"site: {path}")
    return 0
