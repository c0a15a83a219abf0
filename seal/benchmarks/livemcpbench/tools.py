"""The tools of LiveMCPBench's servers, by server and name."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from seal.core import JSON, Tool
from seal.pools.importer import Notes
from seal.pools.reading.tolerance import usable
from seal.pools.reading.upstream_files import expect, field, function_name, tool_id

BENCHMARK = "livemcpbench"


class Meant(NamedTuple):
    """What the names that annotators wrote down mean."""

    tools: tuple[str, ...]
    """Ids."""
    unknown: tuple[str, ...]
    """Names that no server has."""
    several: tuple[str, ...]
    """Names of which nothing tells the server: each server's tool counts."""


class ServerTools:
    """The tools that servers list, kept apart by server.

    A tool is called `SERVER_NAME` where two servers have one of its name.

    Args:
        path: File of entries, each with the listing of its servers.
        notes: Gets the counts of what is left out.

    Raises:
        DataError: The file cannot be read, or no entry of it can be used.
    """

    def __init__(self, path: Path, notes: Notes) -> None:
        listed: dict[tuple[str, str], dict[str, Any]] = {}
        for entry in usable(path, _listed, notes):
            for server, document in entry:
                place = server, document["name"]
                if place in listed:
                    notes.leave_out("duplicate_tool", f"{server}: {place[1]} is listed twice")
                listed.setdefault(place, document)
        names = Counter(name for _, name in listed)
        self._tools: dict[tuple[str, str], Tool] = {}
        self._servers: defaultdict[str, list[str]] = defaultdict(list)
        for (server, name), document in listed.items():
            shown = f"{server}_{name}" if names[name] > 1 else name
            self._tools[server, name] = _tool(server, shown, document)
            self._servers[name].append(server)

    def __iter__(self) -> Iterator[Tool]:
        """Yield the tools in the order of the file."""
        return iter(self._tools.values())

    def find(self, server: JSON, name: JSON) -> Tool | None:
        """Return a server's tool; None: there is none."""
        return self._tools.get((str(server), str(name)))

    def meant(self, names: Sequence[str]) -> Meant:
        """Return what the names of one task mean.

        The annotators name no server. A name that several servers have means that of a server which
        another name of the task tells; without one it means each of them.
        """
        sure = {servers[0] for name in names if len(servers := self._of(name)) == 1}
        tools: list[str] = []
        several = []
        for name in names:
            servers = [one for one in self._of(name) if one in sure] or self._of(name)
            tools += [self._tools[server, name].id for server in servers]
            several += [name] * (len(servers) > 1)
        unknown = tuple(name for name in names if not self._of(name))
        return Meant(tuple(dict.fromkeys(tools)), unknown, tuple(several))

    def _of(self, name: str) -> list[str]:
        return self._servers.get(name, [])


def _listed(entry: Any) -> list[tuple[str, dict[str, Any]]]:
    """Return each server of an entry with each of its tools' documents."""
    found = []
    for server, listing in field(entry, "tools", dict).items():
        for document in field(listing, "tools", list):
            field(document, "name", str)
            expect(document.setdefault("inputSchema", {}), dict, "inputSchema")
            found.append((server, document))
    return found


def _tool(server: str, name: str, document: Mapping[str, Any]) -> Tool:
    schema = document["inputSchema"]
    properties = schema.get("properties")
    return Tool(
        tool_id(BENCHMARK, server, document["name"]),
        function_name(name),
        str(document.get("description") or ""),
        {
            **schema,
            "type": "object",
            "properties": properties if isinstance(properties, dict) else {},
        },
        server,
        document.get("outputSchema"),
        {"server": server, "name": document["name"]},
    )
