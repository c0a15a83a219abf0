"""MetaTool: whether a tool is needed, and which plugins, by name alone.

| set | file | a task is |
|---|---|---|
| single | all_clean_data.csv | one query text; of several labels, any one is right |
| multi | multi_tool_query_golden.json | a query that needs two plugins |
| task1 | Task1.json | is a tool needed? positive: its plugin; negative: a plan without calls |
| task2 | Task2-Subtask*.json | a choice among the plugins that the prompt lists |

The group of a task is its set, of task2 `task2_subtaskN`. The queries of single and multi have
tools to find and no gold calls. Those of task1 and task2 ask for a choice of tools: gold is a call
of each, with any arguments. Where a prompt of task2 lists none of the
right plugins, no call is right (subtask 3 took them out): their names stand in the goal's labels
and not in `relevant`. A plugin has a name and a description, no parameters.

Source: MetaTool (Huang et al., ICLR 2024), section 3, and the files of HowieHwong/MetaTool. That
its queries have no calls: section 4.1 of the SEAL paper.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from seal.core import JSON, DataError, Goal, Milestone, Plan, Task, Tool, check_name, shortened
from seal.core.conditions import Called
from seal.core.files import content_of
from seal.pools.importer import Notes
from seal.pools.reading.files import (
    LeftOut,
    Placed,
    Torn,
    expect,
    field_of,
    find,
    function_name,
    json_file,
    json_records,
    numbered,
    tool_id,
    usable,
    utf8_text,
    wrong_source,
)
from seal.pools.reading.records import TaskIds

COLUMNS = ("Query", "Tool")

_LIST = "[List of Tools with Names and Descriptions Start]\n"
_LIST_ENDS = "[List of Tools with Names and Descriptions End]"
_LISTED = re.compile(r"^\d+\. tool name: (.+?), tool description: ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Labelled:
    """One query of a set."""

    number: int
    """Position of its record in the file, from 0; of the first one where several have its text."""
    text: str
    labels: tuple[str, ...]
    """Names of the right plugins; empty: no tool is needed."""
    listed: tuple[str, ...] | None = None
    """Names of the plugins that its prompt lists; None: the set lists none."""


def single_queries(path: Path, counts: Counter[str], dropped: Counter[str]) -> Iterator[Labelled]:
    """Yield the texts of the CSV file, each once with all labels that its rows give it.

    Args:
        path: A file with the columns Query and Tool; others are ignored.
        counts: Gets rows, repeated rows and texts with several labels.
        dropped: Gets the rows that cannot be used, by reason.

    Raises:
        DataError: Not UTF-8, no such columns, or a quotation mark that does not end.
    """
    labels: dict[str, dict[str, None]] = {}
    numbers: dict[str, int] = {}
    for number, (text, label) in enumerate(_rows(path, counts, dropped)):
        if not text.strip() or not label.strip():
            dropped["empty_query" if label.strip() else "empty_label"] += 1
            continue
        if text in labels:
            counts["repeated_rows"] += 1
        labels.setdefault(text, {})[label.strip()] = None
        numbers.setdefault(text, number)
    counts["texts_with_several_labels"] += sum(len(names) > 1 for names in labels.values())
    for text, names in labels.items():
        yield Labelled(numbers[text], text, tuple(names))


def _rows(path: Path, counts: Counter[str], dropped: Counter[str]) -> Iterator[tuple[str, str]]:
    """Yield (query, tool) of each row that is as wide as the header."""
    text = utf8_text(content_of(path), str(path))
    # Not strict, a stray quotation mark would take the rows behind it into one field.
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(reader, [])
        places = _places(header, path)
        for row in filter(None, reader):
            counts["rows"] += 1
            if len(row) == len(header):
                yield row[places[0]], row[places[1]]
            else:
                dropped["row_of_another_width"] += 1
    except csv.Error as error:
        raise DataError(
            f"{path}, line {reader.line_num}: {error}; "
            "is a quotation mark not doubled or not closed? Fetch the file again"
        ) from error
    if 0 < counts["rows"] == dropped["row_of_another_width"]:
        raise DataError(
            f"{path}: no row is as wide as the header ({', '.join(header)}): "
            "a column has no values, or a name stands in the header too much"
        )


def _places(header: Sequence[str], path: Path) -> tuple[int, int]:
    missing = [name for name in COLUMNS if name not in header]
    if missing:
        raise DataError(
            f"{path}: no column {' and '.join(missing)}; "
            f"expected {', '.join(COLUMNS)}, got {', '.join(header) or 'an empty file'}"
        )
    return header.index(COLUMNS[0]), header.index(COLUMNS[1])


def record_queries(path: Path, notes: Notes, set: str) -> Iterator[Labelled]:
    """Yield the queries of a file of records, which is of one of the sets of `_READ`.

    Raises:
        DataError: Every record is malformed; the text names the first.
    """
    query = None
    for query in usable(path, lambda value: _READ[set](*value), notes, numbered(json_records)):
        yield query
    if query is None:
        raise DataError(f"{path} holds no record; fetch it again, or leave out its set")


def _query(
    number: int, record: Any, labels: tuple[str, ...], listed: tuple[str, ...] | None = None
) -> Labelled:
    text = field_of(record, "query", str)
    if not text.strip():
        raise DataError("query: expected a text, got an empty one")
    return Labelled(number, text, labels, listed)


def _multi(number: int, record: Any) -> Labelled:
    return _query(number, record, _names(record))


def _awareness(number: int, record: Any) -> Labelled:
    label = field_of(record, "label", str)
    if label not in ("positive", "negative"):
        raise DataError(f"label: expected 'positive' or 'negative', got {shortened(label)}")
    return _query(number, record, _names(record) if label == "positive" else ())


def _choice(number: int, record: Any) -> Labelled:
    _, _, after = field_of(record, "action_prompt", str).partition(_LIST)
    found, ends, _ = after.partition(_LIST_ENDS)
    listed = _LISTED.findall(found) if ends else []
    if not listed:
        raise DataError(
            "action_prompt: no list of tools found; expected lines such as "
            "'1. tool name: NAME, tool description: ...' between its start and end marks"
        )
    return _query(number, record, _names(record), tuple(dict.fromkeys(listed)))


_READ = {"multi": _multi, "task1": _awareness, "task2": _choice}
"""Set to what reads a query of it, of the record and its number: in task1, those labelled negative
need no tool; in task2, prompts list plugins."""


def _names(record: Any) -> tuple[str, ...]:
    """Return the plugins of a record's `tool`, which is one name or a list of names."""
    value = record.get("tool") if isinstance(record, dict) else None
    names = value if isinstance(value, list) else [value]
    found = [name.strip() for name in names if isinstance(name, str) and name.strip()]
    if not found or len(found) < len(names):
        raise DataError(f"tool: expected a name or a list of names, got {shortened(value)}")
    return tuple(dict.fromkeys(found))


BENCHMARK = "metatool"
POOLS = ("described", "all")

_DESCRIBED = "plugin_des.json"
_BIG = "big_tool_des.json"
_INFO = "plugin_info.json"
_MALFORMED = "malformed_plugin"


def plugins(source: Path, pool: str, notes: Notes) -> dict[str, Tool]:
    """Return the plugins by their names, sorted.

    Args:
        source: A folder with the description files.
        pool: "described": plugin_des.json; "all": with those of big_tool_des.json and
            plugin_info.json, of which the descriptions for humans are read, since plugin_des.json
            repeats these. Of equal names the first counts.
        notes: Gets the counts.

    Raises:
        UnknownNameError: No such pool.
        DataError: A file is missing or malformed; the text names file and place.
    """
    check_name("pool of metatool", pool, POOLS)
    read: Counter[str] = Counter()
    tools: dict[str, Tool] = {}
    for tool in _documents(source, pool, notes):
        read[str(tool.source["file"])] += 1
        tools.setdefault(str(tool.source["tool"]), tool)
    if not tools:
        raise DataError(f"{_DESCRIBED} in {source} describes no plugin; fetch it again")
    notes.facts["plugins"] = {
        **read,
        "distinct_names": len(tools),
        "further_documents_of_a_name": read.total() - len(tools),
        "without_description": sum(not tool.description.strip() for tool in tools.values()),
    }
    return dict(sorted(tools.items()))


def _documents(source: Path, pool: str, notes: Notes) -> Iterator[Tool]:
    for name in (_DESCRIBED, _BIG)[: 2 if pool == "all" else 1]:
        for path in find(source, [name], BENCHMARK):
            yield from _described(path, notes)
    if pool == "all":
        for path in find(source, [_INFO], BENCHMARK):
            read = partial(_informed, file=path.name)
            yield from usable(path, read, notes, reason=_MALFORMED)


def _described(path: Path, notes: Notes) -> Iterator[Tool]:
    """Yield the plugins of a map of names to descriptions."""
    content = expect(json_file(path), dict, path, "an object of descriptions")

    def described(path: Path, torn: Torn) -> Iterator[Placed]:
        yield from (Placed(str(path), name) for name in content)

    def read(name: str) -> Tool:
        return _tool(name, field_of(content, name, str), {"file": path.name})

    return usable(path, read, notes, described, _MALFORMED)


def _informed(record: Any, file: str) -> Tool:
    return _tool(
        field_of(record, "name_for_model", str),
        field_of(record, "description_for_human", str),
        {"title": field_of(record, "name_for_human", str), "file": file},
    )


def _tool(name: str, description: str, source: dict[str, JSON]) -> Tool:
    return Tool(
        tool_id(BENCHMARK, name, name),
        function_name(name),
        description,
        source={"tool": name, "api": name, **source},
    )


SETS = {
    "single": "all_clean_data.csv",
    "multi": "multi_tool_query_golden.json",
    "task1": "Task1.json",
    "task2": "Task2-Subtask*.json",
}
"""Name of a set to its files."""

_LACKS = ("categories", "gold_arguments", "parameters", "response_shapes")


def import_metatool(
    source: Path, notes: Notes, *, set: str = "single,multi", pool: str = "described"
) -> Iterator[Tool | Task]:
    """Yield the plugins and tasks of MetaTool's files.

    Args:
        source: Upstream's folder `dataset`, or one above it.
        notes: Gets the counts.
        set: Sets of tasks, separated by commas, or "all"; the default are the two for retrieval.
        pool: "described": the 199 plugins of plugin_des.json, which all queries are about; "all":
            those of plugin_info.json and big_tool_des.json besides.

    Raises:
        UnknownNameError: No such set or pool.
        DataError: A file is missing or malformed; the text names file and place.
    """
    sets = _sets(str(set))
    if source.is_file():
        raise wrong_source(source, "a folder with plugin_des.json and the queries", BENCHMARK)
    return _Import(source, notes, plugins(source, str(pool), notes)).records(sets)


def _sets(text: str) -> tuple[str, ...]:
    names = tuple(SETS) if text == "all" else tuple(part.strip() for part in text.split(","))
    for name in names:
        check_name("set of metatool", name, ("all", *SETS))
    return tuple(dict.fromkeys(names))


class _Import:
    """One import: what was met so far."""

    def __init__(self, source: Path, notes: Notes, tools: dict[str, Tool]) -> None:
        self._source = source
        self._notes = notes
        self._tools = tools
        self._counts: Counter[str] = Counter()
        self._ids = TaskIds(self._counts)
        self._groups: Counter[str] = Counter()

    def records(self, sets: tuple[str, ...]) -> Iterator[Tool | Task]:
        yield from self._tools.values()
        for name in sets:
            for path in find(self._source, [SETS[name]], BENCHMARK):
                group = path.stem.lower().replace("-", "_") if name == "task2" else name
                for query in self._queries(name, path):
                    with suppress(LeftOut):
                        yield self._task(query, group)
        self._report()

    def _queries(self, name: str, path: Path) -> Iterator[Labelled]:
        if name == "single":
            return single_queries(path, self._counts, self._notes.dropped)
        return record_queries(path, self._notes, name)

    def _task(self, query: Labelled, group: str) -> Task:
        if not self._tools.keys() >= {*query.labels, *(query.listed or ())}:
            self._notes.dropped["unknown_plugin"] += 1
            raise LeftOut
        task_id = self._ids.add(f"{group}/{query.number}", query.text)
        self._groups[group] += 1
        return Task(task_id, BENCHMARK, (self._goal(query, group),), tags=_tags(query, group))

    def _goal(self, query: Labelled, group: str) -> Goal:
        labels = tuple(self._tools[name].id for name in query.labels)
        if query.listed is not None:
            return self._choice(query, labels)
        if group == "task1":
            return Goal(query.text, (_plan(labels),), relevant=labels)
        either = group == "single" and len(labels) > 1
        return Goal(query.text, relevant=labels, any_relevant=either)

    def _choice(self, query: Labelled, labels: tuple[str, ...]) -> Goal:
        offered = tuple(self._tools[name].id for name in query.listed or ())
        right = tuple(tool for tool in labels if tool in offered)
        missing: list[JSON] = [tool for tool in labels if tool not in offered]
        self._counts["plugins_not_listed"] += len(missing)
        return Goal(
            query.text,
            (_plan(right),),
            offered=offered,
            relevant=right,
            labels={"not_listed": missing} if missing else {},
        )

    def _report(self) -> None:
        for name in ("duplicates", "repeated_rows", "texts_with_several_labels"):
            self._counts[name] += 0
        self._counts["repeated_texts"] = self._ids.repeated
        facts = self._notes.facts
        facts["counts"] = dict(sorted(self._counts.items()))
        facts["tasks_of_group"] = dict(self._groups)
        self._notes.lacks.update(_LACKS)
        if not self._groups.keys() - {"single", "multi"}:
            self._notes.lacks.add("gold_calls")


@lru_cache(maxsize=4096)
def _plan(tools: tuple[str, ...]) -> Plan:
    """Return a plan that calls the tools in any order; of no tools, one without calls."""
    return Plan(tuple(Milestone(Called(tool)) for tool in tools))


def _tags(query: Labelled, group: str) -> dict[str, JSON]:
    several = len(query.labels) > 1 and group != "single"
    tags: dict[str, JSON] = {"group": group, "multi_tool": several, "multi_step": several}
    if group == "task1":
        tags["tool_needed"] = bool(query.labels)
    return tags
