"""APIBench's documents as tools, and the instruction within a query record.

Fields have other types from record to record: `api_arguments` is a list of names or of `{name,
type, description}`, a map from names to example values, a text, or null; `example_code` and
`python_environment_requirements` are texts, lists or maps. They are brought to one form here. A
record's `code` holds the instruction in one of three forms: marked ("###Instruction: ... ###Output:
..."), as JSON or a Python literal, or as a Python-like map whose texts lost their quotes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from seal.core.plain import json_text
from seal.core.types import JSON, Tool
from seal.pools.reading.records import field, function_name, tool_id
from seal.pools.reading.types import literal, python_type

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
    return _unquoted(code)


def _split(mark: re.Pattern[str], text: str) -> tuple[str, str]:
    """Return what stands before and after the first mark; all and nothing without one."""
    found = mark.search(text)
    return (text[: found.start()], text[found.end() :]) if found else (text, "")


def _unquoted(code: str) -> str:
    """Return the instruction of a map whose texts lost their quotes."""
    start = _UNQUOTED_INSTRUCTION.match(code)
    end = _UNQUOTED_OUTPUT.search(code, start.end()) if start else None
    return _bare(code[start.end() : end.start()].strip()) if start and end else ""


def _bare(text: str) -> str:
    """Return a text without the pair of quotes around it."""
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return (text[1:-1] if quoted else text).strip()


def tool_of_document(document: Any, hub: str, file: str) -> Tool:
    """Return the tool that a document of a hub describes.

    No argument is required, and further ones may be given: upstream lists what its examples use.

    Raises:
        DataError: A field that names or describes the API is missing or no text.
    """
    name = field(document, "api_name", str).strip()
    call = field(document, "api_call", str)
    title = name or call
    domain = field(document, "domain", str)
    source: dict[str, JSON] = {
        "tool": domain,
        "api": title,
        "api_call": call,
        "framework": field(document, "framework", str),
        "functionality": ", ".join(lines(document.get("functionality"))),
        "requirements": lines(document.get("python_environment_requirements"), keyed=True),
        "example_code": "\n".join(lines(document.get("example_code"))),
        "performance": document.get("performance"),
        "file": file,
    }
    return Tool(
        tool_id(BENCHMARK, hub, title),
        function_name(title),
        field(document, "description", str),
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
