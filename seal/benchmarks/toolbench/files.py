"""The files of a ToolBench source and their kinds, told by their shape and not by their names.

| kind | shape |
|---|---|
| queries | array of records with `query` |
| ids | object of query ids (StableToolBench's list of solvable ones) |
| tree | object with `answer_generation`: one run, by search (`tree`) or in a chain (`trys`) |
| converted | object of `{query, available_tools, answer}` by query id: ToolEval's runs |
| responses | object with `api_list`: response shapes of one tool |
| results | verdicts and preferences of a judge; ignored |
| csv, empty, unknown | ignored |

The layout tells which run is gold: upstream's training answers lie in `answer/GROUP/`. Runs of a
model lie one folder deeper, in `answer/MODEL/GROUP/`, or elsewhere, such as in `A_GROUP_MODEL/`.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seal.pools.reading.upstream_files import parse_json

_EXAMPLE = "example"
_RESPONSES = "response_examples"
"""Upstream's folder of response shapes, which are data and no example of its files."""
_MODEL_FOLDER = re.compile(r"A_(?P<group>G\d+_[a-z]+)_(?P<model>.+)")
_SLUG = re.compile(r"[^a-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file of the source."""

    path: str
    name: str
    """Path below the source, with `/`; the source's own name where it is a file."""
    kind: str

    def read(self) -> Any:
        """Return the file's JSON.

        Raises:
            DataError: It is no JSON; the text names the place.
        """
        with Path(self.path).open("rb") as file:
            return parse_json(file.read(), self.path)

    @property
    def folders(self) -> tuple[str, str]:
        """The names of the two folders above, the outer one first; empty at the root."""
        above, folder = os.path.split(os.path.dirname(self.path))  # noqa: PTH120 (speed)
        return os.path.basename(above), folder  # noqa: PTH119


@dataclass(frozen=True, slots=True)
class RunPlace:
    """What the place of a run's file says of it."""

    recording: str | None
    """Name of the recording; None: gold."""
    group: str
    query_id: str


@dataclass(frozen=True, slots=True)
class Source:
    """The files of a source by kind, each kind sorted by name."""

    files: dict[str, list[SourceFile]]
    counts: dict[str, int]
    """Number of files of each kind, and of those in example folders, which are skipped."""


def find_files(source: Path) -> Source:
    """Return the files of a source.

    A folder below the source whose name contains "example" is skipped, for such examples repeat
    records of the data. They are read if the source itself is such a folder or lies in one.

    Raises:
        DataError: A `.json` file is no JSON; JSON Lines are told as such.
    """
    counts: Counter[str] = Counter()
    files: dict[str, list[SourceFile]] = {}
    for path, name in _walk(source.resolve()):
        kind = _kind(path, name)
        counts[kind] += 1
        files.setdefault(kind, []).append(SourceFile(path, name, kind))
    return Source(files, dict(sorted(counts.items())))


def _walk(source: Path) -> list[tuple[str, str]]:
    """Return (path, name below the source) of all data files, sorted by name."""
    if source.is_file():
        return [(str(source), source.name)]
    found = []
    for folder, _, names in os.walk(source):
        below = os.path.relpath(folder, source).replace(os.sep, "/")
        prefix = "" if below == "." else f"{below}/"
        found += [
            (f"{folder}{os.sep}{name}", f"{prefix}{name}")
            for name in names
            if name.endswith((".json", ".csv"))
        ]
    return sorted(found, key=lambda item: item[1])


def _kind(path: str, name: str) -> str:
    folders = name.split("/")[:-1]
    if any(_EXAMPLE in folder.lower() and folder != _RESPONSES for folder in folders):
        return "example"
    if name.endswith(".csv"):
        return "csv"
    with Path(path).open("rb") as file:
        return _shape(file.read(), path)


def _shape(raw: bytes, path: str) -> str:
    """Tell a file's kind by the keys that it holds; inside texts their quotes would be escaped."""
    start = raw.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if not start:
        return "empty"
    if start == b"[" and b'"query"' in raw:
        return "queries"
    if start == b"{":
        if b'"answer_generation"' in raw:
            return "tree"
        if b'"answer_details"' in raw:
            return "converted"
        if b'"api_list"' in raw:
            return "responses"
    return _shape_of_value(parse_json(raw, path))


def _shape_of_value(value: Any) -> str:
    if isinstance(value, dict) and value:
        items = value.values()
        if all(isinstance(item, int) for item in items) and all(map(str.isdigit, value)):
            return "ids"
        if all(isinstance(i, dict) and ("is_solved" in i or "round_0" in i) for i in items):
            return "results"
    return "unknown"


def group_of_queries(file: SourceFile) -> str:
    """Return the group that a query, id or converted file's name says."""
    stem = file.name.rpartition("/")[2].removesuffix(".json").removesuffix(".keyless")
    return stem.removesuffix("_query")


def place_of_run(file: SourceFile) -> RunPlace:
    """Return what the layout says of an answer tree's file (rule: this module's text)."""
    query_id = file.name.rpartition("/")[2].removesuffix(".json").partition("_")[0]
    above, folder = file.folders
    model = _MODEL_FOLDER.fullmatch(folder)
    if model:
        return RunPlace(slug(model["model"]), model["group"], query_id)
    if above == "answer":
        return RunPlace(None, folder.removesuffix("_answer"), query_id)
    return RunPlace(slug(above), folder, query_id)


def recording_of_converted(file: SourceFile) -> str:
    """Return a converted file's recording: its folder is upstream's name of the method."""
    return slug(file.folders[1])


def slug(name: str) -> str:
    """Return a folder name in lower case: letters, digits, `.`, `_`, `-`."""
    return _SLUG.sub("-", name.lower()).strip("-.") or "recorded"
