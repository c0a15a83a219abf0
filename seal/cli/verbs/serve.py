"""Show the runs below folders in a browser."""

from pathlib import Path

from seal.cli.failure import tell
from seal.cli.groups import argument, option, verb


@verb("serve")
def serve_command(
    folders: list[Path] = argument(
        "Folders that hold runs.  [default: runs]", None, metavar="[RUNS]..."
    ),
    port: int = option(7325, "Port; 0 takes a free one."),
    host: str = option(
        "127.0.0.1", "Address to listen at; at another one, whoever reaches it can read the runs."
    ),
) -> int:
    """Show runs, chats, comparisons and retrieval in a browser; Ctrl-C ends it."""
    from seal.viewer.server import serve
    from seal.viewer.shelf import Shelf

    serve(Shelf(folders or [Path("runs")]), host, port, lambda address: tell(f"open {address}"))
    return 0
