"""From descriptions to tool lists: written, checked by rule, kept as they come.

The folder that is made holds

    generation/drafts.jsonl    for each description the tool, or why there is none, and every try
    generation.json            counts
    tools.jsonl, tasks.jsonl, import.json      form `seal`: a pool, with a task for each tool
    mmtb_tools_en.jsonl                        form `mmtb`: a tool list a line, as upstream has them

A killed generation loses what was in flight, and goes on by the same command
(`seal.experiments.generation.journal`). Descriptions of one category make one list.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import orjson

from seal.benchmarks.toolscan.tool_generation.descriptions import Description, read_descriptions
from seal.benchmarks.toolscan.tool_generation.rules import Draft, Fault, faults, read_draft
from seal.benchmarks.toolscan.tool_generation.trials import make_task
from seal.benchmarks.toolscan.tool_generation.writing import CutError, Rejected, Writer
from seal.core.canonical import digest
from seal.core.errors import DataError, RequestError, UnknownNameError, UsageError
from seal.core.records import AtomicFile, write_records
from seal.core.types import JSON, Tool
from seal.experiments.generation.journal import WORK, Journal, open_journal
from seal.pools.importer import REPORT, TASKS, TOOLS, ImportReport, pool_digest
from seal.pools.reading.records import tool_id

Form = Literal["seal", "mmtb"]
FORMS: tuple[Form, ...] = get_args(Form)

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
    def tries(self) -> int:
        """Drafts that were written."""
        return len(self.rejected) + (self.draft is not None)


def generate_tools(
    descriptions: Path,
    out: Path,
    writer: Writer,
    *,
    form: str = "seal",
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, JSON]:
    """Write a tool for each description, and make a folder of them.

    Args:
        descriptions: The file (`read_descriptions`).
        out: Folder to make; one that the same command began is gone on with.
        writer: Writes the drafts.
        form: seal: a pool; mmtb: a file of tool lists.
        seed: The writer's, for the record.
        progress: Told how many are done, and how many there are.

    Returns:
        The content of generation.json.

    Raises:
        UnknownNameError: No such form.
        UsageError: `out` holds something else, or another process is at work there.
        DataError: The descriptions are malformed, or none became a tool.
        ModelError: The model's server failed; what is done is kept.
    """
    if form not in FORMS:
        raise UnknownNameError("form", form, FORMS)
    asked = read_descriptions(descriptions)
    if descriptions.resolve().is_relative_to(out.resolve()):
        raise UsageError(f"{descriptions} lies inside {out}: choose another output folder")
    settings: dict[str, JSON] = {"by": writer.identity, "seed": seed, "form": form}
    with open_journal(out, settings, DRAFTS, Made, SCHEMA) as journal:
        made = list(_drafts(asked, writer, journal, progress or (lambda done, total: None)))
        return _write(out, made, settings)


def _drafts(
    asked: Sequence[Description],
    writer: Writer,
    journal: Journal[Made],
    progress: Callable[[int, int], None],
) -> Iterator[Made]:
    """Yield what became of each description; what is not written yet is."""
    wanted = {one.name for one in asked if one.name}
    names = {str(one.draft["name"]) for one in journal.made.values() if one.draft is not None}
    for number, one in enumerate(asked, 1):
        made = journal.made.get(_id(one))
        if made is None:
            made = journal.add(_make(one, writer, names | (wanted - {one.name})))
            if made.draft is not None:
                names.add(str(made.draft["name"]))
        progress(number, len(asked))
        yield made


def _make(asked: Description, writer: Writer, names: set[str]) -> Made:
    """Return a tool that meets the rules, after at most `TRIES` drafts, or why there is none."""
    rejected: list[Rejected] = []
    while len(rejected) < TRIES:
        try:
            text = writer.write(asked, names, rejected)
        except CutError as error:
            text, found = error.text, [Fault("truncated", f"the answer is {error}")]
        except RequestError as error:
            rejected.append(Rejected("", (Fault("refused", str(error)),)))
            break
        else:
            read = read_draft(text)
            found = [read] if isinstance(read, Fault) else faults(read, asked, names)
            if isinstance(read, Draft) and not found:
                return _made(asked, asdict(read), "", rejected)
        rejected.append(Rejected(text, tuple(found)))
    return _made(asked, None, rejected[-1].faults[0].rule, rejected)


def _made(
    asked: Description,
    draft: dict[str, JSON] | None,
    dropped: str,
    rejected: Sequence[Rejected],
) -> Made:
    told: list[dict[str, JSON]] = [
        {"text": one.text[:_KEPT], "faults": [fault._asdict() for fault in one.faults]}
        for one in rejected
    ]
    place = Path(asked.place).name  # folders are no one's business
    return Made(_id(asked), place, asked.text, asked.category, draft, dropped, told)


def _id(asked: Description) -> str:
    return digest([asked.text, asked.name, asked.category])[:16]


def _write(out: Path, made: Sequence[Made], settings: Mapping[str, JSON]) -> dict[str, JSON]:
    """Write what the drafts become, and return the counts."""
    found = [one for one in made if one.draft is not None]
    dropped = Counter(one.dropped for one in made if one.dropped)
    if not found:
        told = ", ".join(f"{count} {rule}" for rule, count in sorted(dropped.items()))
        raise DataError(
            f"none of {len(made)} descriptions became a tool ({told}): {out / WORK / DRAFTS} says "
            "what was wrong with each draft"
        )
    lists: dict[str, list[Made]] = {}
    for one in found:
        lists.setdefault(one.category, []).append(one)
    rejections = Counter(
        str(fault["rule"]) for one in made for reject in one.rejected for fault in reject["faults"]
    )
    report: dict[str, JSON] = {
        **settings,
        "descriptions": len(made),
        "tools": len(found),
        "lists": len(lists),
        "dropped": dict(sorted(dropped.items())),
        "rejected_drafts": sum(len(one.rejected) for one in made),
        "rejections": dict(sorted(rejections.items())),
        "counts": _counts(found),
    }
    if settings["form"] == "mmtb":
        with AtomicFile(out / LISTS) as file:
            for members in lists.values():
                functions = [_function(one) for one in members]
                file.write(orjson.dumps(functions, option=orjson.OPT_APPEND_NEWLINE))
    else:
        _write_pool(out, lists, settings, report)
    _write_json(out / GENERATION, report)
    return report


def _write_pool(
    out: Path,
    lists: Mapping[str, Sequence[Made]],
    settings: Mapping[str, JSON],
    report: dict[str, JSON],
) -> None:
    tools = [
        _tool(one, number, settings)
        for number, members in enumerate(lists.values())
        for one in members
    ]
    write_records(out / TOOLS, tools)
    tasks = [make_task(tool, tool.source["examples"][0], BENCHMARK) for tool in tools]
    write_records(out / TASKS, tasks)
    imported = ImportReport(
        BENCHMARK, len(tasks), len(tools), report["dropped"], (), pool_digest(out), {}, {}
    )
    _write_json(out / REPORT, {**imported.to_json(), "generation": report})


def _write_json(path: Path, value: Mapping[str, JSON]) -> None:
    with AtomicFile(path) as file:
        file.write(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def _tool(one: Made, number: int, settings: Mapping[str, JSON]) -> Tool:
    draft = Draft(**(one.draft or {}))
    source = {
        "tool": draft.name,
        "api": draft.name,
        "lists": [number],
        "examples": draft.examples,
        "generated": {
            **settings,
            "description": one.description,
            "place": one.place,
            "tries": one.tries,
            "rejections": [fault["rule"] for bad in one.rejected for fault in bad["faults"]],
        },
    }
    return Tool(
        tool_id(BENCHMARK, draft.name, draft.name),
        draft.name,
        draft.description,
        draft.parameters,
        one.category,
        draft.returns,
        source,
    )


def _function(one: Made) -> dict[str, JSON]:
    """Return a tool as upstream's lists have it."""
    draft = one.draft or {}
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
