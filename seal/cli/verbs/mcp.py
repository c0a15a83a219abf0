"""Offer a benchmark's tasks to MCP clients, which are evaluated as agents."""

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import typer

from seal.cli.failure import tell
from seal.cli.groups import flag, option, verb
from seal.cli.run_options import PLAYED, Play, Retriever
from seal.core import UsageError
from seal.runs.attendance import PATIENT, Patience


@dataclass(frozen=True, kw_only=True)
class Offer:
    """Sessions: which task a client gets, how it is reached, and where the run is written."""

    task: str | None = option(None, "Id of the task.  [default: all, one after the other]")
    stdio: bool = flag("Serve one task by stdin and stdout; so it is without --http.")
    http: bool = flag("Serve all tasks by HTTP, each at its own address.")
    port: int = option(8000, "Port of --http, on this machine only; 0 takes a free one.")
    closed: float = option(
        PATIENT.closed,
        "With --http: seconds within which a client that closed may come back.",
        least=0,
    )
    idle: float = option(
        600.0, "With --http: seconds without a request after which a client counts as gone."
    )
    name: str = option("mcp-client", "Name of the agent in the run.")
    out: Path = option(..., "Run folder; a run that it holds is continued.")


@verb("mcp", ("task", "stdio", "http", "port", "name", "out", "limit"))
def mcp_command(
    context: typer.Context, offer: Offer, play: Play, retriever: Retriever, pool: str = PLAYED
) -> int:
    """Offer a benchmark's tasks to MCP clients, which are evaluated as agents.

    A session is one chat: the request is the prompt `task`, the tools are those of the task, and
    the client answers with the tool `submit`. The run is written and scored like any other.
    """
    from seal.report.html import write_report
    from seal.runs.task_server import serve_http, serve_stdio

    if play.model.agent is not None or (offer.stdio and offer.http):
        raise UsageError(
            "the client is the agent, and comes in one way: leave --agent out, and one of --stdio "
            "and --http"
        )
    asked = context.get_parameter_source("baselines")
    settings = play.settings(
        context,
        pool,
        retriever=retriever.retriever,
        top_k=retriever.top_k,
        baselines=play.judging.baselines and asked is not None and asked.name != "DEFAULT",
    )
    with ExitStack() as served:
        if offer.http:
            patience = Patience(offer.closed, offer.idle)
            done = serve_http(
                settings, offer.out, offer.task, offer.name, offer.port, tell, patience
            )
        else:
            session = serve_stdio(settings, offer.out, offer.task, offer.name)
            done = served.enter_context(session)
        report = write_report([done.folder], done.folder.report_path)
        tell(f"run: {done.folder.path}; report: {report}")
    return done.exit_code
