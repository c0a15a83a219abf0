"""From descriptions to tool lists: written, checked by rule, kept as they come.

The folder that is made holds

    generation/drafts.jsonl    for each description the tool, or why there is none, and every try
    generation.json            counts
    tools.jsonl, tasks.jsonl, import.json      form `seal`: a pool, with a task for each tool
    mmtb_tools_en.jsonl                        form `mmtb`: a tool list a line, as upstream has them

A killed generation loses what was in flight, and goes on by the same command
(`seal.experiments.generation.work_folder`). Descriptions of one category make one list.

A tool's task is its description with one example's values, and the call for them. So the pool can
be searched and played as it stands. The request names what the tool does in the tool's own words,
so the tasks are easy: they try a pool, they measure no model. Missions are made by `seal generate
missions`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from seal.benchmarks.toolscan.tool_generation.descriptions import Description, read_descriptions
from seal.benchmarks.toolscan.tool_generation.grammar import GrammarWriter
from seal.benchmarks.toolscan.tool_generation.rules import Draft, Fault, faults, read_draft
from seal.benchmarks.toolscan.tool_generation.settings import ToolSettings
from seal.benchmarks.toolscan.tool_generation.writers import CutError, ModelWriter, Rejected, Writer
from seal.core import (
    JSON,
    DataError,
    Goal,
    Milestone,
    Plan,
    RequestError,
    Task,
    Tool,
    UsageError,
)
from seal.core.canonical import digest
from seal.core.conditions import Called
from seal.core.plain import json_text
from seal.core.records import AtomicFile
from seal.core.signatures import checked
from seal.core.text import counted, split_identifiers
from seal.experiments.generation.scaffold import Progress, filled, unheard, write_pool
from seal.experiments.generation.work_folder import WORK, open_journal
from seal.experiments.generation.writers import writing_model
from seal.experiments.result_files import write_json
from seal.pools.generator import Told
from seal.pools.reading.upstream_files import tool_id

BENCHMARK = "generated"
TRIES = 3
DRAFTS = "drafts.jsonl"
SCHEMA = "draft/1"
GENERATION = "generation.json"
LISTS = "mmtb_tools_en.jsonl"

_KEPT = 4000
"""Characters of a rejected text that are kept."""


@dataclass(frozen=True, slots=True)
class Made:
    """What became of one description: a line of drafts.jsonl."""

    id: str
    """Digest of the description."""
    place: str
    """File and line."""
    description: str
    category: str
    draft: dict[str, JSON] | None
    """None: dropped."""
    dropped: str
    """Rule that the last draft broke; empty: none."""
    rejected: list[dict[str, JSON]]
    """Former drafts, each its text and its faults (rule, text)."""

    @property
    def broken(self) -> list[str]:
        """The rules that former drafts broke."""
        return [str(fault["rule"]) for one in self.rejected for fault in one["faults"]]

    def tool(self, number: int, settings: Mapping[str, JSON]) -> Tool:
        """Return the tool.

        Args:
            number: Of its list.
            settings: What the tools are made by.
        """
        draft = Draft(**(self.draft or {}))
        name = draft.name
        own: dict[str, JSON] = {
            "description": self.description,
            "place": self.place,
            "tries": len(self.rejected) + 1,
            "rejections": self.broken,
        }
        source: dict[str, JSON] = {"tool": name, "api": name, "lists": [number]}
        source |= {"examples": draft.examples, "generated": {**settings, **own}}
        return replace(draft.tool(tool_id(BENCHMARK, name, name), self.category), source=source)


@checked
def generate_tools(
    descriptions: str | Path,
    out: str | Path,
    *,
    progress: Progress | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Write a tool for each one-sentence description, checked by rule.

    Args:
        descriptions: File of them (`seal.benchmarks.toolscan.tool_generation.descriptions`).
        out: Folder to make. A folder that was begun under the same settings is continued.
        progress: Called with how many tools are done, and how many there are.
        **options: Fields of `ToolSettings`.

    Returns:
        The content of generation.json.

    Raises:
        UnknownNameError: No such form.
        UsageError: A setting cannot be, or `out` holds something else.
        DataError: The descriptions are malformed, or none of them became a tool.
        ModelError: The model's server failed; what is done is kept.
    """
    given = ToolSettings(**options)
    by = writing_model(given.model, given.base_url, given.model_options, "tools")
    writer: Writer = GrammarWriter(given.seed) if by is None else ModelWriter(by, given.seed)
    file, out = Path(descriptions), Path(out)
    asked = read_descriptions(file)
    if file.resolve().is_relative_to(out.resolve()):
        raise UsageError(f"{file} lies inside {out}: choose another output folder")
    settings: dict[str, JSON] = {"by": writer.identity, "seed": given.seed, "form": given.form}
    with open_journal(out, settings, DRAFTS, Made, SCHEMA) as journal:

        def drafted(own: str, one: Description) -> Made:
            """Return what becomes of a description; no two tools have one name."""
            taken = {str(made.draft["name"]) for made in journal.made.values() if made.draft}
            taken |= {other.name for other in asked if other.name} - {one.name}
            return _made(own, one, writer, taken)

        of_id = {digest([one.text, one.name, one.category])[:16]: one for one in asked}
        wanted = {own: partial(drafted, own, one) for own, one in of_id.items()}
        return _write(out, filled(journal, wanted, progress or unheard), settings)


def tools_told(made: Mapping[str, JSON], out: Path) -> Told:
    """Return what the command line tells of tools."""
    use = f"seal import mmtb {out} --out POOL" if made["form"] == "mmtb" else f"seal lint {out}"
    return Told(fields=made, text=f"written to {out}; next: {use}")


def _made(own: str, asked: Description, writer: Writer, names: set[str]) -> Made:
    """Return a tool that meets the rules, after at most `TRIES` drafts, or why there is none."""
    rejected: list[Rejected] = []
    accepted: Draft | None = None
    while len(rejected) < TRIES and accepted is None:
        try:
            text = writer.write(asked, names, rejected)
        except CutError as error:
            rejected.append(Rejected(error.text, (Fault("truncated", f"the answer is {error}"),)))
            continue
        except RequestError as error:
            rejected.append(Rejected("", (Fault("refused", str(error)),)))
            break
        read = read_draft(text)
        found = [read] if isinstance(read, Fault) else faults(read, asked, names)
        if isinstance(read, Draft) and not found:
            accepted = read
        else:
            rejected.append(Rejected(text, tuple(found)))
    told: list[dict[str, JSON]] = [
        {"text": one.text[:_KEPT], "faults": [fault._asdict() for fault in one.faults]}
        for one in rejected
    ]
    place = Path(asked.place).name  # folders are no one's business
    draft = None if accepted is None else asdict(accepted)
    dropped = rejected[-1].faults[0].rule if draft is None else ""
    return Made(own, place, asked.text, asked.category, draft, dropped, told)


def _write(out: Path, made: Sequence[Made], settings: Mapping[str, JSON]) -> dict[str, JSON]:
    """Write what the drafts become, and return the counts."""
    found = [one for one in made if one.draft is not None]
    dropped = Counter(one.dropped for one in made if one.dropped)
    if not found:
        told = ", ".join(f"{count} {rule}" for rule, count in sorted(dropped.items()))
        raise DataError(
            f"none of {counted(len(made), 'description')} became a tool ({told}): "
            f"{out / WORK / DRAFTS} says "
            "what was wrong with each draft"
        )
    lists: dict[str, list[Made]] = {}
    for one in found:
        lists.setdefault(one.category, []).append(one)
    report: dict[str, JSON] = {
        **settings,
        "descriptions": len(made),
        "tools": len(found),
        "lists": len(lists),
        "dropped": dict(sorted(dropped.items())),
        "rejected_drafts": sum(len(one.rejected) for one in made),
        "rejections": dict(sorted(Counter(rule for one in made for rule in one.broken).items())),
        "counts": _counts(found),
    }
    if settings["form"] == "mmtb":
        with AtomicFile(out / LISTS) as file:
            for members in lists.values():
                functions = [_function(one.draft or {}) for one in members]
                file.write(orjson.dumps(functions, option=orjson.OPT_APPEND_NEWLINE))
    else:
        listed = enumerate(lists.values())
        tools = [one.tool(number, settings) for number, members in listed for one in members]
        tasks = [_task(tool, tool.source["examples"][0]) for tool in tools]
        facts = {"generation": report}
        write_pool(out, BENCHMARK, tools, tasks, dropped=report["dropped"], facts=facts)
    write_json(report, out / GENERATION)
    return report


def _function(draft: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return a tool as upstream's lists have it."""
    fields = ("name", "description", "parameters")
    return {"type": "function", "function": {name: draft[name] for name in fields}}


def _counts(made: Sequence[Made]) -> dict[str, JSON]:
    """Return how rich the parameters are."""
    counts: Counter[str] = Counter()
    deepest = 0
    for one in made:
        parameters = (one.draft or {})["parameters"]
        counts["parameters"] += len(parameters["properties"])
        counts["required"] += len(parameters["required"])
        for schema, depth in _values(parameters["properties"], 1):
            deepest = max(deepest, depth)
            counts["enums"] += "enum" in schema
            counts["defaults"] += "default" in schema
            counts["arrays"] += schema["type"] == "array"
            counts["objects"] += schema["type"] == "object"
            counts["bounds"] += any(n.startswith(("min", "max", "exclusive")) for n in schema)
    return {**dict(sorted(counts.items())), "deepest": deepest}


def _values(properties: Mapping[str, Any], depth: int) -> Iterator[tuple[Mapping[str, Any], int]]:
    """Yield each schema with its level."""
    for schema in properties.values():
        yield schema, depth
        if "items" in schema:
            yield from _values({"": schema["items"]}, depth + 1)
        yield from _values(schema.get("properties", {}), depth + 1)


def _task(tool: Tool, arguments: dict[str, JSON]) -> Task:
    """Return the task that asks for one call; the arguments are such as its schema accepts."""
    said = "; ".join(f"{_spoken(name)} {_told(value)}" for name, value in arguments.items())
    goal = Goal(
        f"{tool.description.rstrip('.')}: {said}.",
        (Plan((Milestone(Called.exact(tool.id, arguments)),)),),
        relevant=(tool.id,),
    )
    tags: dict[str, JSON] = {"multi_tool": False, "multi_step": False, "category": tool.category}
    return Task(f"try/{tool.name}", BENCHMARK, (goal,), tags=tags)


def _spoken(name: str) -> str:
    return split_identifiers(name).lower()


def _told(value: JSON) -> str:
    """Return a value as a request states it, each text and number in it as it is."""
    if isinstance(value, dict):
        return ", ".join(f"{_spoken(name)} {_told(inner)}" for name, inner in value.items())
    if isinstance(value, list):
        return " and ".join(map(_told, _flat(value)))
    return value if isinstance(value, str) else json_text(value)


def _flat(values: list[JSON]) -> Iterator[JSON]:
    for value in values:
        yield from _flat(value) if isinstance(value, list) else (value,)
