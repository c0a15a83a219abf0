"""Search a pool by words, show its tasks and tools, and count it."""

from typing import Any, Literal

from seal.cli.groups import argument, option, verb
from seal.cli.options import JSON, POOL
from seal.cli.output import field_lines, output
from seal.core import UnknownNameError


@verb("pools", name="search")
def pools_search(
    pool: str = POOL,
    words: str = argument("Words to look for.", metavar="WORDS"),
    k: int = option(5, "Number of hits to show.", "-k"),
    of: Literal["tools", "tasks"] = option("tools", "What to search."),
    json: bool = JSON,
) -> int:
    """Rank a pool's tools or tasks for some words, by BM25."""
    from dataclasses import asdict

    from seal.pools.lookup import open_pool
    from seal.report.grids import Grid

    with output(json) as result:
        hits = open_pool(pool).search(words, k, of)
        result.result({"pool": pool, "words": words, "hits": list(map(asdict, hits))})
        rows = [[hit.id, hit.text, f"{hit.score:.2f}"] for hit in hits]
        grid = Grid("", [of.removesuffix("s"), "text", "score"], rows, names=2)
        result.show(grid if rows else f"none of the {of} of {pool} has any of these words")
    return 0


@verb("pools", name="show")
def pools_show(
    pool: str = POOL,
    id: str = argument("Id of a task or tool, or its beginning or end.", metavar="ID"),
    json: bool = JSON,
) -> int:
    """Show a task with its gold tools, or a tool."""
    from seal.core.records import to_plain
    from seal.pools.lookup import open_pool
    from seal.pools.own_preview import gold_of

    with output(json) as result:
        opened = open_pool(pool)
        try:
            task = opened.task(id)
        except UnknownNameError:
            tool = opened.tool(id)
            result.result(to_plain(tool))
            told = {"tool": tool.id, "called as": tool.name, "description": tool.description}
            arguments = tool.parameters.get("properties", {})
            needed = tool.parameters.get("required", [])
            result.show(*field_lines({**told, "arguments": arguments, "required": needed}))
            return 0
        gold = [tool.id for tool in opened.tools_of(task.id)]
        result.result({**to_plain(task), "tools_of": gold})
        shown: dict[str, Any] = {"task": task.id, "tags": task.tags}
        for number, goal in enumerate(task.goals):
            answers = list(goal.answers) or "not known"
            parts = {"asks": goal.text, "gold calls": gold_of(goal), "answer": answers}
            shown |= {f"goal {number}, {part}": value for part, value in parts.items()}
        result.show(*field_lines({**shown, "gold tools": gold}))
    return 0


@verb("pools", name="stats")
def pools_stats(pool: str = POOL, json: bool = JSON) -> int:
    """Count a pool's tasks, tools, kinds of gold and types of missions."""
    from dataclasses import asdict

    from seal.pools.counts import count_missions, count_stored
    from seal.pools.lookup import open_pool

    with output(json) as result:
        opened = open_pool(pool)
        counts = asdict(count_stored(opened))
        missions = asdict(count_missions(opened.every_task() if counts["tasks"] else ()))
        told = {name: value for name, value in missions.items() if value}
        result.fields({"pool": pool, **counts, **told})
    return 0
