"""Small files in BFCL's formats, and their import."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from seal.core import Task, Tool
from seal.pools.imports import ImportReport, import_benchmark
from seal.pools.pool import load_pool


def function(name: str = "tide.height", required: Sequence[str] = (), **properties: Any) -> Any:
    """A function's document; a property may be its type alone."""
    described = {
        key: value if isinstance(value, dict) else {"type": value, "description": f"The {key}."}
        for key, value in properties.items()
    }
    parameters = {"type": "dict", "properties": described, "required": list(required)}
    return {"name": name, "description": f"Does {name}.", "parameters": parameters}


HEIGHT = function(required=["port"], port="string", day="integer", metric="boolean")
"""A function that most items here bring."""


def said(*contents: str, role: str = "user") -> list[dict[str, str]]:
    """The messages of one turn."""
    return [{"role": role, "content": content} for content in contents]


def single(item_id: str, *functions: Any, text: str = "How high is it in Oban?") -> dict[str, Any]:
    """An item of one turn."""
    return {"id": item_id, "question": [said(text)], "function": list(functions or (HEIGHT,))}


def answer(item_id: str, *truth: Any) -> dict[str, Any]:
    """A possible answer."""
    return {"id": item_id, "ground_truth": list(truth)}


class BfclShelf:
    """Writes a source's files and imports them."""

    def __init__(self, root: Path) -> None:
        self.source = root / "bfcl"
        self.out = root / "pool"
        self.source.mkdir()

    def write(self, name: str, *records: Any) -> Path:
        """Write records as JSON Lines; bytes and texts as they are."""
        path = self.source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        raw = b"".join(
            record
            if isinstance(record, bytes)
            else record.encode()
            if isinstance(record, str)
            else json.dumps(record).encode() + b"\n"
            for record in records
        )
        path.write_bytes(raw)
        return path

    def category(self, name: str, items: Sequence[Any], answers: Sequence[Any] = ()) -> Path:
        """Write a category's items, and its answers where there are any."""
        if answers:
            self.write(f"possible_answer/BFCL_v4_{name}.json", *answers)
        return self.write(f"BFCL_v4_{name}.json", *items)

    def ask(self, truth: Any, *functions: Any, name: str = "simple_python") -> Task:
        """Return the task of one single-turn item with this gold."""
        self.category(name, [single("a_0", *functions)], [answer("a_0", *truth)])
        return self.tasks()[0]

    def imported(self, source: Path | None = None, **options: Any) -> ImportReport:
        """Import the source."""
        return import_benchmark("bfcl", source or self.source, self.out, **options)

    def tasks(self, **options: Any) -> list[Task]:
        """Import the source; return its tasks."""
        self.imported(**options)
        return list(load_pool(self.out).tasks())

    def tools(self) -> dict[str, Tool]:
        """Return the tools that the last import wrote."""
        return {tool.id: tool for tool in load_pool(self.out).tools()}
