"""The importer `mcp`: the tools of running MCP servers, as a pool without tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from seal.core import JSON, DataError, Tool, UsageError
from seal.environments.mcp import Origin
from seal.environments.mcp_servers import (
    TIMEOUT,
    McpListing,
    McpServer,
    Sessions,
    read_servers,
    schema_digest,
)
from seal.pools.importer import Notes
from seal.pools.own_benchmark import says_it_writes
from seal.pools.reading.tool_schemas import standard_schema


def import_mcp(
    source: Path | None,
    notes: Notes,
    *,
    servers: Mapping[str, Any] | None = None,
    timeout: float = TIMEOUT,
) -> Iterator[Tool]:
    """Yield the tools that MCP servers list; import.json says what else they offer.

    A tool is called `SERVER_NAME` where two servers have one of its name.

    Args:
        source: A file such as mcp.json; None: `servers` says which there are.
        notes: Gets what is told besides.
        servers: Names to commands and addresses (`seal.environments.mcp_servers.read_servers`).
        timeout: Seconds of a server's silence.

    Raises:
        UsageError: No server is given, or a command is not there.
        DataError: The file is no such file, or the servers list no tool.
        InfrastructureError: A server cannot be begun.
    """
    given = read_servers(servers or {}) | (read_servers(source) if source is not None else {})
    if not given:
        raise UsageError(
            'no MCP server is given; give --server "COMMAND", --server URL or --server mcp.json'
        )
    listings: dict[str, tuple[McpServer, McpListing]] = {}
    with Sessions(given, timeout) as sessions:
        for name, server in given.items():
            listing = sessions.of(name).listing()
            listings[name or _plain(listing.info)] = server, listing
    notes.lacks |= {"tasks"}
    notes.facts["servers"] = {name: _told(*each) for name, each in listings.items()}
    odd = [
        (f"malformed_{part.removesuffix('s')}", f"{name}: {fault}")
        for name, (_, listing) in listings.items()
        for part, faults in listing.odd.items()
        for fault in faults
    ]
    for reason, fault in odd:
        notes.leave_out(reason, fault)
    names = Counter(str(tool["name"]) for _, each in listings.values() for tool in each.tools)
    for name, (server, listing) in listings.items():
        seen: set[str] = set()
        for document in listing.tools:
            if document["name"] in seen:
                notes.leave_out("duplicate", f"{name}: {document['name']} is listed twice")
                continue
            seen.add(document["name"])
            shared = names[document["name"]] > 1 and len(listings) > 1
            yield _tool(name, server, document, f"{name}_" if shared else "")
    if not names:
        told = ", ".join(fault for _, fault in odd) or ", ".join(listings)
        raise DataError(
            f"the MCP servers list no tool: {told[:500]}; mend what they list, or give another "
            "--server"
        )


def _tool(name: str, server: McpServer, document: dict[str, JSON], prefix: str) -> Tool:
    named = str(document["name"])
    try:
        writes = says_it_writes(document)
    except UsageError as error:
        raise DataError(f"{name}: {named}: {error}") from error
    schema, hints = standard_schema(document["inputSchema"]), document.get("annotations") or {}
    origin = Origin(name, named, server.spec, server.is_reset, hints, schema_digest(document))
    return Tool(
        f"{name}/{named}",
        prefix + named,
        document.get("description") or document.get("title") or "",
        {**schema, "type": "object", **_properties(schema)},
        name,
        document.get("outputSchema"),
        origin.told(),
        writes,
    )


def _properties(schema: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return the declared arguments of a schema, which may be none."""
    found = schema.get("properties")
    return {"properties": found if isinstance(found, dict) else {}}


def _plain(info: Mapping[str, JSON]) -> str:
    """Return the name of a server that was given none: its own, else `server`."""
    own = "".join(c if c.isalnum() or c in "._-" else "_" for c in str(info.get("name", "")))
    return own.strip("._-") or "server"


def _told(server: McpServer, listing: McpListing) -> dict[str, JSON]:
    kind = "stdio" if server.command else "url"
    told = {**listing.info, "transport": kind, "tools": len(listing.tools)}
    return {**told, **{part: found for part, found in listing.others.items() if found}}
