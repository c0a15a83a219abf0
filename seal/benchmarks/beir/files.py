"""Corpus, queries, judgements: read and written."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from seal.core import JSON, DataError, Tool, shortened
from seal.core.values import json_text
from seal.experiments.export import Writer, corpus
from seal.pools.reading.files import (
    PACKED,
    Placed,
    Torn,
    expect,
    function_name,
    lines_of,
    tool_id,
    utf8_text,
    wrong_source,
)
from seal.pools.reading.tables import CARDS, rows
from seal.pools.reading.tool_schemas import literal, parameters_schema

# -- Files of retrieval benchmarks: documents, which are tools, queries, and relevance.
#
# | what | file | a record |
# |---|---|---|
# | corpus | `corpus*`, or records with `documentation` or `doc` | `_id` or `id`; `title`, `text` |
# | queries | `queries*`, or records with `query` | `_id` or `id`; `text` or `query`; `labels` |
# | relevance | `qrels/SPLIT.tsv`, `.jsonl`, `.parquet` | query, document, score; TREC: `0` second |
#
# A header of judgements that names query, document and score says where they stand, in any order
# and beside other columns.
#
# The first two are JSON Lines, one JSON array, or Parquet, which may stand in folders of these
# names, by split (`test-00000-of-00002.parquet`, `test/0000.parquet`) and by subset (`en-corpus`).
# Files of other names are told by their fields, such as MTEB's `data/test-*.parquet` of judgements.
# Lines may be packed with gzip (`.jsonl.gz`, `.tsv.gz`). ToolRet has no third: its queries carry
# `labels`, a JSON text of `{id, doc, relevance}`.
#
# A document is a text with a title, or the JSON of a tool, as ToolRet has it. The tools that
# ToolRet gathers come from dozens of sources, each with its own names for the same things; the
# first known name that a document has counts.

_RECORDS = ("*.jsonl", "*.jsonl.gz", "*.json", "*.parquet")
_JUDGEMENTS = ("*.tsv", "*.tsv.gz", "*.trec", "*.qrels", "qrels*.txt", "qrels/*.txt")
_SHARD = re.compile(r"-\d+-of-\d+$")
_PART = re.compile(r"(?:(.+?)[-_])?(corpus|quer(?:ies|y)|qrels)(?:[-_.].*)?")
"""A file or folder of one kind of records, maybe of a subset: `en-corpus`."""
_SPLITS = frozenset({"train", "dev", "validation", "valid", "test"})


class Judgement(NamedTuple):
    """That a document is relevant to a query, or how much."""

    query: str
    document: str
    score: float


class Columns(NamedTuple):
    """Where a judgement's parts stand in a line, as positions; the default serves TREC's too."""

    query: int = 0
    document: int = -2
    score: int = -1
    names: tuple[str, ...] = ()
    """Of all columns, as a header has them; empty: none said."""

    @property
    def unread(self) -> list[str]:
        """The names of the columns that nothing is made of."""
        read = (self.query, self.document, self.score)
        return [name for position, name in enumerate(self.names) if position not in read]


class Line(NamedTuple):
    """A line of judgements."""

    text: str
    columns: Columns


_QUERY_COLUMNS = frozenset({"query-id", "query", "qid", "queryid", "topic", "topic-id"})
_DOCUMENT_COLUMNS = frozenset(
    {"corpus-id", "doc-id", "docid", "docno", "document", "document-id", "doc", "tool-id", "tool"}
)
_SCORE_COLUMNS = frozenset({"score", "relevance", "rel", "label", "grade", "judgement"})


class Files(NamedTuple):
    """The files of a source, each kind sorted by path."""

    corpus: list[Path]
    """Empty: the documents stand in the queries' labels."""
    queries: list[Path]
    judgements: list[Path]
    """Shards of one table; empty: the queries carry labels."""
    ignored: list[Path]
    """Data files of no known kind."""


def find_files(source: Path, split: str, subset: str = "") -> Files:
    """Return the files of a folder.

    Args:
        source: The folder; those below it are searched too.
        split: Whose judgements are wanted; a single file `qrels.*` serves any.
        subset: Of a folder with several, as `en` has `en-corpus`, `en-queries` and `en-qrels`.

    Raises:
        DataError: There are no queries, no corpus, one of them twice, several subsets and none is
            named, or judgements of other splits only.
    """
    found = {path for name in (*_JUDGEMENTS, *_RECORDS) for path in source.rglob(name)}
    data = sorted(path for path in found if path.is_file() and path.name not in CARDS)
    told = {path: _kind(source, path) for path in data}
    named = sorted({of for _, of in told.values() if of})
    if named and subset not in named and (subset or len(named) > 1):
        raise DataError(f"{source} holds the subsets {', '.join(named)}; name one: -T subset=NAME")
    wanted = {"", subset or "".join(named)}
    corpus, queries, judgements, ignored = (
        [path for path, (kind, of) in told.items() if kind == wanted_kind and of in wanted]
        for wanted_kind in ("corpus", "queries", "qrels", "")
    )
    if not queries or (judgements and not corpus):
        raise wrong_source(
            source, "a folder with corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv", "beir"
        )
    for paths in (corpus, queries):
        _refuse_twins(source, paths)
    of_split = _judgements(source, judgements, split)
    return Files(_of_split(corpus, split), _of_split(queries, split), of_split, ignored)


def _refuse_twins(source: Path, paths: list[Path]) -> None:
    """Refuse a folder of several benchmarks: their ids need not be distinct."""
    by_name: dict[str, Path] = {}
    for path in paths:
        other = by_name.setdefault(path.name, path)
        if other != path and path.suffix != ".parquet":
            raise DataError(f"{source} holds {other} and {path}: name the folder of one benchmark")


def _kind(source: Path, path: Path) -> tuple[str, str]:
    """Tell what a file of records holds, and of which subset.

    By its name or its folders', else by the fields of its first record.
    """
    for name in (_stem(path), *reversed(path.relative_to(source).parts[:-1])):
        if part := _PART.fullmatch(name):
            return part[2].replace("query", "queries"), part[1] or ""
    if any(map(path.match, _JUDGEMENTS)):
        return "qrels", ""
    try:
        first = next(rows(path), None)
    except DataError:
        return "", ""
    fields = first.value if first is not None and isinstance(first.value, dict) else {}
    if _columns("\t".join(map(str, fields))).names:
        return "qrels", ""
    if "documentation" in fields or "doc" in fields:
        return "corpus", ""
    return ("queries" if "query" in fields else ""), ""


def _stem(path: Path) -> str:
    return _SHARD.sub("", Path(path.name.removesuffix(PACKED)).stem)


def split_of(path: Path) -> str:
    """Return the split that a file is named for: of `test-00000-of-00001`, or `test/0000`, test."""
    stem = _stem(path)
    return path.parent.name if stem.isdecimal() else stem


def _of_split(paths: list[Path], split: str) -> list[Path]:
    """Return the files of a split, where there are such, and those that are of none."""
    if not any(split_of(path) == split for path in paths):
        return paths
    return [path for path in paths if split_of(path) not in _SPLITS - {split}]


def _judgements(source: Path, found: list[Path], split: str) -> list[Path]:
    of_split = [path for path in found if split_of(path) == split]
    general = [path for path in found if split_of(path) == "qrels"]
    if len({path.parent for path in of_split}) > 1 or len({path.suffix for path in of_split}) > 1:
        raise DataError(
            f"{source} holds judgements of {split!r} twice: {of_split[0]} and {of_split[-1]}; "
            "name one folder"
        )
    if found and not of_split and not general:
        splits = ", ".join(sorted(set(map(split_of, found))))
        raise DataError(f"{source} has no judgements of the split {split!r}; it has: {splits}")
    return of_split or general


def judgement_lines(path: Path, torn: Torn) -> Iterator[Placed]:
    """Yield the `Line`s of a file of judgements, without header and blank ones.

    Args:
        path: The file.
        torn: Told a line that is not UTF-8, which is passed over.
    """
    if ".jsonl" in path.suffixes or path.suffix == ".parquet":
        for place, row in rows(path, torn):
            told = row if isinstance(row, dict) else {}
            columns = _columns("\t".join(map(str, told)))
            yield Placed(place, Line("\t".join(map(str, told.values())), columns))
        return
    columns = Columns()
    for number, raw in enumerate(lines_of(path), 1):
        place = f"{path}, line {number}"
        try:
            line = utf8_text(raw, place).strip("\r\n")
        except DataError as error:
            torn(error)
            continue
        if number == 1 and _is_header(line):
            columns = _columns(line)
        elif line.strip():
            yield Placed(place, Line(line, columns))


def _columns(header: str) -> Columns:
    """Return the columns of a header; of one that names not each part once, the usual ones."""
    names = _fields(header)
    plain = [name.strip("#").lower().replace("_", "-") for name in names]
    found = [
        [position for position, name in enumerate(plain) if name in known]
        for known in (_QUERY_COLUMNS, _DOCUMENT_COLUMNS, _SCORE_COLUMNS)
    ]
    if any(len(positions) != 1 for positions in found):
        return Columns()
    (query,), (document,), (score,) = found
    return Columns(query, document, score, tuple(names))


def _fields(line: str) -> list[str]:
    return [part.strip() for part in line.split("\t")] if "\t" in line else line.split()


def _is_header(line: str) -> bool:
    named = any(word in line.lower() for word in ("id", "score", "relevance"))
    return named and _number(_fields(line)[-1]) is None


def judgement_of(line: Line) -> Judgement:
    """Return the judgement of a line: by tabs or blanks.

    Raises:
        DataError: It has not the fields of its header, without one neither three nor TREC's four,
            or its score is no number.
    """
    fields, columns = _fields(line.text), line.columns
    if columns.names and len(fields) != len(columns.names):
        raise DataError(
            f"expected the columns {', '.join(columns.names)}, got {shortened(line.text)}"
        )
    if not columns.names and len(fields) not in (3, 4):
        raise DataError(
            f"expected query, document and score, or TREC's four fields, got {shortened(line.text)}"
        )
    score = _number(fields[columns.score])
    if score is None:
        raise DataError(f"the score is no number: {shortened(fields[columns.score])}")
    return Judgement(fields[columns.query], fields[columns.document], score)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def identifier(record: Any) -> str:
    """Return a record's `_id` or `id` as a text.

    Raises:
        DataError: It has neither, or neither text nor number is in it.
    """
    expect(record, dict, what="an object with '_id'")
    value = record.get("_id", record.get("id"))
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        names = ", ".join(map(repr, list(record)[:10])) or "none"
        raise DataError(
            f"_id: expected a text or number, got {shortened(value)}; the record has: {names}"
        )
    return str(value)


BENCHMARK = "beir"

_TEXTS = ("text", "documentation", "doc")
DOCUMENT_FIELDS = frozenset({"_id", "id", "title", *_TEXTS})
"""What is read of a record of the corpus."""
_NAMES = ("name", "api_name", "func_name", "tool_name", "title")
_DESCRIPTIONS = ("description", "api_description", "func_description", "functionality", "summary")
_PARAMETERS = ("parameters", "func_parameters", "api_parameters", "input_schema")
_CATEGORIES = ("category", "category_name", "domain")


def tool_of_record(record: Any, file: str) -> Tool:
    """Return the tool that a record of the corpus describes.

    Raises:
        DataError: It has no id, or its text is neither text nor map.
    """
    document_id = identifier(record)
    key = next((name for name in _TEXTS if name in record), None)
    if key is None:
        names = ", ".join(map(repr, list(record)[:10]))
        raise DataError(f"document {document_id!r} has no field 'text'; it has: {names}")
    value = record[key]
    if not isinstance(value, (str, dict)):
        raise DataError(f"{key}: expected a text, got {shortened(value)}")
    return tool_of_document(document_id, record.get("title"), value, file)


def tool_of_document(document_id: str, title: Any, value: str | dict[str, Any], file: str) -> Tool:
    """Return the tool that a document is.

    Args:
        document_id: As the benchmark has it.
        title: Of the document; anything but a text is none.
        value: Its text, or the map that describes a tool; a text may hold such a map.
        file: Where it stands.
    """
    described = value if isinstance(value, dict) else _map_of(value)
    name = title.strip() if isinstance(title, str) else ""
    if described is None:
        described, description = {}, str(value)
    else:
        name = name or _text(described, _NAMES)
        description = _text(described, _DESCRIPTIONS) or json_text(described)
    shown = name or document_id
    return Tool(
        tool_id(BENCHMARK, name or "document", document_id),
        function_name(shown),
        description,
        _schema(described),
        _text(described, _CATEGORIES),
        source={"tool": shown, "api": shown, "id": document_id, "file": file},
    )


def _map_of(text: str) -> dict[str, Any] | None:
    """Return the tool that a text writes as JSON or as a Python literal; None for prose."""
    if not text.lstrip().startswith("{"):
        return None
    value = literal(text)
    is_tool = isinstance(value, dict) and any(key in value for key in (*_NAMES, *_DESCRIPTIONS))
    return value if is_tool else None


def _text(described: dict[str, Any], names: tuple[str, ...]) -> str:
    """Return the first of several fields that has a text."""
    values = (described.get(name) for name in names)
    return next((v.strip() for v in values if isinstance(v, str) and v.strip()), "")


def _schema(described: dict[str, Any]) -> dict[str, JSON]:
    """Return the schema of a tool's parameters; one of another form takes any arguments."""
    given = next((described[name] for name in _PARAMETERS if name in described), None)
    listed = _listed(described)
    try:
        return parameters_schema(listed if given is None else given).schema
    except DataError:
        return {"type": "object", "properties": {}, "additionalProperties": True}


def _listed(described: dict[str, Any]) -> dict[str, Any] | None:
    """Return ToolBench's two lists of parameters as one map."""
    found: dict[str, Any] = {}
    for key in ("required_parameters", "optional_parameters"):
        for parameter in described.get(key) or ():
            if isinstance(parameter, dict) and isinstance(parameter.get("name"), str):
                optional = ", optional" if key.startswith("optional") else ""
                kind = f"{parameter.get('type', '')}{optional}"
                default = parameter.get("default") if optional else None
                found[parameter["name"]] = {**parameter, "type": kind, "default": default}
    return found or None


# -- The form `beir` of `seal export`: corpus.jsonl, queries.jsonl, qrels/test.tsv.


def write_beir(to: Writer) -> None:
    """Write the tools, queries and judgements of a pool."""
    to.read_back = "SEAL reads it: `seal import beir FOLDER --out POOL`."
    judged = corpus(to, titled=True)
    header = "query-id\tcorpus-id\tscore\n"
    lines = (f"{query}\t{tool}\t{grade:g}\n" for query, tool, grade in judged)
    to.text("qrels/test.tsv", "judgements", chain([header], lines))
    to.made.counts["judgements"] -= 1
