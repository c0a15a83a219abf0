"""APIBench: requests for a model of HuggingFace, TensorFlow Hub or Torch Hub, and the hubs' APIs.

A source is upstream's data folder: `HUB_api.jsonl` documents the APIs, `HUB_SPLIT.json`, which is
JSON Lines, has the requests. An API is known by its `api_call`: of several documents for one call
the first counts. The API that a request's `api_call` names is relevant, and a call of it is gold;
what arguments the call would need is not annotated. A request whose call no document has is left
out.

Fields have other types from record to record: `api_arguments` is a list of names or of `{name,
type, description}`, a map from names to example values, a text, or null; `example_code` and
`python_environment_requirements` are texts, lists or maps. They are brought to one form here. A
record's `code` holds the instruction in one of three forms: marked ("###Instruction: ... ###Output:
..."), as JSON or a Python literal, or as a Python-like map whose texts lost their quotes.

Source: Patil et al., Gorilla, 2023 (arXiv 2305.15334), section 3. That APIBench has calls: section
4.1 of the SEAL paper.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from seal.core import JSON, DataError, Goal, Milestone, Plan, Task, Tool, check_name
from seal.core.conditions import Called
from seal.core.values import json_text
from seal.pools.importer import Notes
from seal.pools.reading.files import (
    LeftOut,
    field_of,
    function_name,
    json_lines,
    numbered,
    refuse_deep,
    tool_id,
    usable,
    wrong_source,
)
from seal.pools.reading.records import TaskIds, ToolTable
from seal.pools.reading.tool_schemas import literal, python_type

DOCUMENTS = {
    "huggingface": "huggingface_api.jsonl",
    "tensorflow": "tensorflowhub_api.jsonl",
    "torchhub": "torchhub_api.jsonl",
}
"""Hub to the file of its documents."""
SPLITS = ("eval", "train")


def import_apibench(
    source: Path, notes: Notes, *, hub: str = "all", split: str = "eval"
) -> Iterator[Tool | Task]:
    """Yield the tasks and tools of APIBench's files.

    Args:
        source: The folder with the files, or one above it.
        notes: Gets the counts.
        hub: One of `DOCUMENTS`, or "all": every hub that has documents, with what requests it has.
        split: "eval" or "train".

    Raises:
        DataError: A file is missing or malformed, or a record lacks a field.
        UnknownNameError: No such hub or split.
    """
    check_name("hub of apibench", hub, ("all", *DOCUMENTS))
    check_name("split of apibench", split, SPLITS)
    return _Import(_hubs(source, hub, split, notes), split, notes).records()


class _Hub(NamedTuple):
    """The files of a hub."""

    name: str
    documents: Path
    requests: Path | None


def _hubs(source: Path, wanted: str, split: str, notes: Notes) -> list[_Hub]:
    """Return the hubs with their files; one hub that is asked for must have both."""
    hubs, absent = [], []
    for name, documents in DOCUMENTS.items():
        if wanted in ("all", name):
            requests = f"{name}_{split}.json"
            files = {file: _file(source, file) for file in (documents, requests)}
            absent += [file for file, path in files.items() if path is None]
            if (path := files[documents]) is not None:
                hubs.append(_Hub(name, path, files[requests]))
    if not any(hub.requests for hub in hubs):
        expected = " and ".join(absent[:2])
        raise wrong_source(source, f"{expected}, in it or below", BENCHMARK)
    notes.facts["absent_files"] = absent
    return hubs


def _file(source: Path, name: str) -> Path | None:
    """Return the one file of a name at or below a source; None where there is none.

    Raises:
        DataError: There are several.
    """
    found = sorted(path for path in source.rglob(name) if path.is_file())
    if len(found) > 1:
        raise DataError(f"{source} holds {name} twice: {found[0]} and {found[1]}; name one folder")
    return found[0] if found else None


class _Import:
    """One import: what was met so far."""

    def __init__(self, hubs: list[_Hub], split: str, notes: Notes) -> None:
        self._hubs = hubs
        self._split = split
        self._notes = notes
        self._tools = ToolTable()
        self._ids = TaskIds()
        self._counts: dict[str, Counter[str]] = {hub.name: Counter() for hub in hubs}

    def records(self) -> Iterator[Tool | Task]:
        for hub in self._hubs:
            by_call = self._documents(hub)
            if hub.requests is not None:
                yield from self._requests(hub, hub.requests, by_call)
        yield from self._tools
        self._report()

    def _documents(self, hub: _Hub) -> dict[str, str]:
        """Return a hub's calls with the ids of their tools."""
        by_call: dict[str, str] = {}
        counts = self._counts[hub.name]

        def read(document: Any) -> Tool:
            refuse_deep(document)
            return tool_of_document(document, hub.name, hub.documents.name)

        for tool in usable(hub.documents, read, self._notes, json_lines, "malformed_document"):
            call = tool.source["api_call"]
            counts["documents"] += 1
            if call in by_call:
                counts["duplicate_documents"] += 1
            else:
                by_call[call] = self._tools.add(tool)
        counts["tools"] = len(by_call)
        return by_call

    def _requests(self, hub: _Hub, path: Path, by_call: dict[str, str]) -> Iterator[Task]:
        def read(record: tuple[int, Any]) -> Task:
            return self._task(*record, hub.name, by_call)

        for task in usable(path, read, self._notes, numbered(json_lines), "malformed_request"):
            self._counts[hub.name]["tasks"] += 1
            yield task

    def _task(self, number: int, record: Any, hub: str, by_call: dict[str, str]) -> Task:
        call, code = field_of(record, "api_call", str), field_of(record, "code", str)
        text = instruction_of(code)
        self._counts[hub]["requests"] += 1
        if not text:
            raise LeftOut("no_instruction")
        if call not in by_call:
            raise LeftOut("api_call_absent_from_pool")
        task_id = self._ids.add(f"{hub}/{self._split}/{number}", text)
        tool = by_call[call]
        goal = Goal(text, (Plan((Milestone(Called(tool)),)),), relevant=(tool,))
        tags: dict[str, JSON] = {"group": hub, "multi_tool": False, "multi_step": False}
        return Task(task_id, BENCHMARK, (goal,), split=self._split, tags=tags)

    def _report(self) -> None:
        names = ("documents", "duplicate_documents", "requests", "tasks", "tools")
        self._notes.facts["hubs"] = {
            hub: {name: counts[name] for name in names} for hub, counts in self._counts.items()
        }
        self._notes.facts["repeated_queries"] = self._ids.repeated
        self._notes.lacks.update(("gold_arguments", "response_shapes"))


BENCHMARK = "apibench"

_INSTRUCTION = re.compile(r"\s*#+\s*Instruction:")
_INPUT = re.compile(r"(?:(?<!#)#+\s*|\*\*)Input:")
_OUTPUT = re.compile(r"(?<!#)#+\s*Output:")
_UNQUOTED_INSTRUCTION = re.compile(r"\s*\{\s*['\"]Instruction['\"]\s*:")
_UNQUOTED_OUTPUT = re.compile(r",\s*['\"]Output['\"]\s*:")
_NO_INPUT = re.compile(r"<\s*no\s*input\s*>|\*\*", re.IGNORECASE)
_NOTHING = frozenset({"", "n/a", "none", "null", "not specified", "not provided"})
_NAME = re.compile(r"[A-Za-z_]\w*")


def instruction_of(code: str) -> str:
    """Return what a query record asks for, with its input below it where it has one.

    Empty where the text has none of the known forms.
    """
    marked = _INSTRUCTION.match(code)
    if marked:
        asked, _ = _split(_OUTPUT, code[marked.end() :])
        instruction, given = _split(_INPUT, asked)
        parts = instruction.strip(), _NO_INPUT.sub("", given).strip()
        return "\n".join(part for part in parts if part)
    value = literal(code)
    if isinstance(value, dict):
        text = value.get("Instruction", value.get("instruction"))
        return text.strip() if isinstance(text, str) else ""
    start = _UNQUOTED_INSTRUCTION.match(code)  # a map whose texts lost their quotes
    end = _UNQUOTED_OUTPUT.search(code, start.end()) if start else None
    bare = code[start.end() : end.start()].strip() if start and end else ""
    quoted = len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "'\""
    return (bare[1:-1] if quoted else bare).strip()


def _split(mark: re.Pattern[str], text: str) -> tuple[str, str]:
    """Return what stands before and after the first mark; all and nothing without one."""
    found = mark.search(text)
    return (text[: found.start()], text[found.end() :]) if found else (text, "")


def tool_of_document(document: Any, hub: str, file: str) -> Tool:
    """Return the tool that a document of a hub describes.

    No argument is required, and further ones may be given: upstream lists what its examples use.

    Raises:
        DataError: A field that names or describes the API is missing or no text.
    """
    name = field_of(document, "api_name", str).strip()
    call = field_of(document, "api_call", str)
    title = name or call
    domain = field_of(document, "domain", str)
    source: dict[str, JSON] = {
        "tool": domain,
        "api": title,
        "api_call": call,
        "framework": field_of(document, "framework", str),
        "functionality": ", ".join(lines(document.get("functionality"))),
        "requirements": lines(document.get("python_environment_requirements"), keyed=True),
        "example_code": "\n".join(lines(document.get("example_code"))),
        "performance": document.get("performance"),
        "file": file,
    }
    return Tool(
        tool_id(BENCHMARK, hub, title),
        function_name(title),
        field_of(document, "description", str),
        {
            "type": "object",
            "properties": properties(document.get("api_arguments")),
            "required": [],
            "additionalProperties": True,
        },
        domain,
        source=source,
    )


def lines(value: JSON, keyed: bool = False) -> list[str]:
    """Return texts, lists and maps of any depth as lines; "N/A" and the like as none.

    Args:
        value: A field of any type.
        keyed: Write a map's keys before its values ("torch: >=1.9"); else its values alone.
    """
    if isinstance(value, list):
        return [line for item in value for line in lines(item, keyed)]
    if isinstance(value, dict):
        return [
            f"{key}: {line}" if keyed else line
            for key, item in value.items()
            for line in lines(item, keyed)
        ]
    text = value if isinstance(value, str) else "" if value is None else json_text(value)
    return [] if text.strip().lower() in _NOTHING else [text]


def properties(arguments: JSON) -> dict[str, JSON]:
    """Return the schemas of `api_arguments`; a text that lists no names gives none."""
    if isinstance(arguments, str):
        value = literal(arguments)
        arguments = value if isinstance(value, (list, dict)) else arguments.split(",")
    if isinstance(arguments, dict):
        return {name: _example(value) for name, value in arguments.items() if _is_name(name)}
    if not isinstance(arguments, list):
        return {}
    found: dict[str, JSON] = {}
    for argument in arguments:
        if isinstance(argument, dict) and _is_name(argument.get("name")):
            found[argument["name"]] = _described(argument)
        elif isinstance(argument, str) and _is_name(argument.strip()):
            found[argument.strip()] = {}
    return found


def _is_name(name: Any) -> bool:
    return (
        isinstance(name, str) and _NAME.fullmatch(name) is not None and name.lower() not in _NOTHING
    )


def _example(value: JSON) -> dict[str, JSON]:
    return {} if isinstance(value, str) and value.lower() in _NOTHING else {"examples": [value]}


def _described(argument: Mapping[str, Any]) -> dict[str, JSON]:
    kind, text = argument.get("type"), argument.get("description")
    schema = dict(python_type(kind).schema) if isinstance(kind, str) else {}
    return {**schema, "description": text} if isinstance(text, str) and text else schema
