"""What a folder of data would ask for: code, servers, files. Nothing is imported to find out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from seal.agents.teams import REGISTRY as TEAMS
from seal.core import CodeRefusedError, DataError, SealError, Tool
from seal.core.registry import Registry
from seal.core.text import counted
from seal.environments import REGISTRY as WORLDS
from seal.evaluation import REGISTRY as METRICS
from seal.models.endpoints import FILE as SETTINGS
from seal.pools.importer import REGISTRY, TASKS, TOOLS
from seal.pools.lint.lint_report import read_leniently
from seal.pools.lookup import world_files
from seal.pools.own_parts import FUNCTION
from seal.pools.pool import StoredPool
from seal.pools.reading.upstream_files import json_file


@dataclass(frozen=True, slots=True)
class NamedPart:
    """One thing that data names."""

    what: str
    """benchmark, world, team, metric, functions, MCP server or file."""
    name: str
    place: str
    """Where data names it, such as "3 tasks"."""
    answer: str
    """Who offers it, or what would have to be allowed."""
    refused: bool = False
    """Whether no run has it: code that the user does not allow, or what nobody here offers."""


def asked_by(folder: Path, allow_code: Collection[str] = ()) -> list[NamedPart]:
    """Return what a pool folder or run folder asks for, in the order of `Asked.what` above.

    Args:
        folder: With tools.jsonl and tasks.jsonl.
        allow_code: Modules that the user allows.

    Raises:
        DataError: It is neither, or a file that is no list of records is damaged.
    """
    if not (folder / TOOLS).is_file() or not (folder / TASKS).is_file():
        raise DataError(f"{folder} is neither pool nor run: it has no {TOOLS} and {TASKS}")
    return list(_asked(folder, allow_code))


def _asked(folder: Path, allowed: Collection[str]) -> Iterator[NamedPart]:
    pool, read = StoredPool(folder), read_leniently(folder)
    name = pool.report.get("benchmark")
    if isinstance(name, str):
        offered = REGISTRY.offered_by(name)
        answer = f"offered by {offered}" if offered else "known to nobody here: a plain pool"
        yield NamedPart("benchmark", name, "import.json", answer)
    worlds = Counter(task.world for task in read.tasks.values() if task.world)
    for world, count in worlds.items():
        asked = _named(WORLDS, world, counted(count, "task"), allowed)
        if world == name and world in REGISTRY:  # a benchmark may bring a world of its own name
            asked = replace(asked, answer=f"offered by {REGISTRY.offered_by(world)}", refused=False)
        yield asked
    play = pool.report.get("play")
    if isinstance(play, Mapping) and play.get("team") is not None:
        yield _named(TEAMS, play["team"], "import.json: play.team", allowed)
    for metric in _metrics(folder):
        yield _named(METRICS, metric, "run.json: measure.metrics", allowed)
    yield from _functions(read.tools.values(), allowed)
    servers = Counter(
        str(told.get("server"))
        for tool in read.tools.values()
        if isinstance(told := tool.source.get("mcp"), Mapping)
    )
    for server, count in servers.items():
        answer = "reached only as your own --server says"
        yield NamedPart("MCP server", server, counted(count, "tool"), answer)
    for file in sorted(world_files()):
        if (folder / file).is_file():
            yield NamedPart("file", file, "the folder", "read as recorded answers")
    unread = sum(finding.kind == "malformed_line" for finding in read.findings)
    if unread:
        place = counted(unread, "line")
        yield NamedPart(
            "file", f"{TOOLS}, {TASKS}", place, "cannot be read; what they ask for is not told"
        )
    if (folder / SETTINGS).is_file():
        answer = "the settings of whoever works in this folder: work in another"
        yield NamedPart("file", str(SETTINGS), "the folder", answer)


def _functions(tools: Iterable[Tool], allowed: Collection[str]) -> Iterator[NamedPart]:
    named = (tool.source.get(FUNCTION) for tool in tools)
    modules = Counter(str(path).partition(":")[0] for path in named if path)
    for module, count in modules.items():
        runs = "your --allow-code lets it run"
        told = runs if module in allowed else f"simulated, but for --allow-code {module}"
        yield NamedPart("functions", module, counted(count, "tool"), told)


def _named(registry: Registry, name: Any, place: str, allowed: Collection[str]) -> NamedPart:
    try:
        registry.check_named(name, place, allowed)
    except CodeRefusedError:
        module = str(name).partition(":")[0]
        return NamedPart(
            registry.kind, name, place, f"refused, but for --allow-code {module}", True
        )
    except SealError as error:
        return NamedPart(registry.kind, str(name), place, f"refused: {error}", True)
    offered = registry.offered_by(name)
    if offered:
        return NamedPart(registry.kind, name, place, f"offered by {offered}")
    if ":" in name:
        return NamedPart(registry.kind, name, place, "your --allow-code lets it run")
    if registry is METRICS:
        return NamedPart(registry.kind, name, place, "known to nobody here; nothing runs")
    unknown = "known to nobody here: install what offers it, or no run plays it"
    return NamedPart(registry.kind, name, place, unknown, True)


def _metrics(folder: Path) -> list[Any]:
    if not (folder / "run.json").is_file():
        return []
    content = json_file(folder / "run.json")
    measure = content.get("measure") if isinstance(content, Mapping) else None
    found = measure.get("metrics") if isinstance(measure, Mapping) else None
    return found if isinstance(found, list) else []
