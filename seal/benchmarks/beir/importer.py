"""Retrieval benchmarks in BEIR's layout, and ToolRet: queries, a corpus of tools, and relevance.

Nothing but retrieval is annotated: a query is a task whose relevant tools are the documents judged
at least `min_score`. Grades stay in the goal's labels where they differ. Relevance is binary but in
ndcg, which weighs by the grades, as upstream's does.

Judged documents that the corpus lacks cannot be found, and trec_eval counts them as missed. Here
they are no relevant tools: the recall of such a query is of the documents that are there. Its task
has the tag `relevant_outside_corpus`, and their ids under that name in its metadata; a query all of
whose relevant documents are absent is left out and counted.

A document under the id of a query is the query itself (ArguAna, Quora). Unless it is judged
relevant, no ranking of that query holds it: label `own_document`. Source: beir,
`EvaluateRetrieval.evaluate(ignore_identical_ids=True)`, which leaves out a relevant one too.

What files there may be, and what becomes of a document, stands first below.

Source: Thakur et al., BEIR, 2021 (arXiv 2104.08663); Shi et al., ToolRet, 2025 (arXiv 2503.01763).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from seal.core import JSON, DataError, Goal, Task, Tool, UsageError, shortened
from seal.core.files import PACKED, lines_of
from seal.core.values import json_text
from seal.experiments.export import Writer, corpus
from seal.pools.importer import Notes
from seal.pools.reading.files import (
    LeftOut,
    Placed,
    Torn,
    expect,
    function_name,
    json_of_text,
    refuse_deep,
    tool_id,
    usable,
    utf8_text,
    wrong_source,
)
from seal.pools.reading.records import TaskIds, ToolTable
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
    judged = corpus(to)
    header = "query-id\tcorpus-id\tscore\n"
    lines = (f"{query}\t{tool}\t{grade:g}\n" for query, tool, grade in judged)
    to.text("qrels/test.tsv", "judgements", chain([header], lines))
    to.made.counts["judgements"] -= 1


# -- Queries as tasks, documents as tools.

_OUTSIDE = "relevant_outside_corpus"
_QUERY_FIELDS = frozenset(
    {"_id", "id", "query", "text", "labels", "category", "metadata", "instruction"}
)


def import_beir(
    source: Path, notes: Notes, *, split: str = "test", subset: str = "", min_score: float = 1
) -> Iterator[Tool | Task]:
    """Yield the tasks and tools of a retrieval benchmark.

    Args:
        source: The folder with corpus, queries and judgements.
        notes: Gets the counts.
        split: Whose judgements are read; without effect on labels within the queries.
        subset: Of a source that has several, such as `en` of `en-corpus` and `en-queries`.
        min_score: Least score of a relevant document; above 0.

    Raises:
        DataError: A file is missing or malformed; the text names file and place.
        MissingExtraError: A Parquet file, without the extra `experiments`.
        UsageError: `min_score` is no number above 0.
    """
    if isinstance(min_score, bool) or not isinstance(min_score, (int, float)) or not min_score > 0:
        raise UsageError(f"min_score: expected a number above 0, got {shortened(min_score)}")
    return _Import(find_files(source, split, subset), split, min_score, notes).records()


class _Import:
    """One import: what was met so far."""

    def __init__(self, files: Files, split: str, min_score: float, notes: Notes) -> None:
        self._files = files
        self._split = split if any(split_of(path) == split for path in files.judgements) else ""
        self._min_score = min_score
        self._notes = notes
        self._tools = ToolTable()
        self._by_document: dict[str, str] = {}
        self._judged: dict[str, list[Judgement]] = {}
        self._texts: set[tuple[str, str]] = set()
        self._counts: Counter[str] = Counter()
        self._ids = TaskIds(self._counts)
        self._unread: dict[str, Counter[str]] = {}

    def records(self) -> Iterator[Tool | Task]:
        for path in self._files.corpus:
            self._documents(path)
        self._judged = self._judgements()
        for path in self._files.queries:
            yield from usable(path, self._task, self._notes, rows, "malformed_query")
        if not self._counts["queries"]:
            raise DataError(f"{self._files.queries[0]} holds no query; name a folder that has some")
        self._counts["judgements_of_unknown_queries"] = sum(map(len, self._judged.values()))
        yield from self._tools
        self._report()

    def _documents(self, path: Path) -> None:
        def read(record: Any) -> tuple[str, Tool]:
            refuse_deep(record)
            document = identifier(record), tool_of_record(record, path.name)
            self._count_unread("corpus", record.keys() - DOCUMENT_FIELDS)
            return document

        for document in usable(path, read, self._notes, rows, "malformed_document"):
            self._keep(*document)

    def _keep(self, document_id: str, tool: Tool) -> None:
        """Keep a document; of several under one id the first counts."""
        self._counts["documents"] += 1
        if document_id in self._by_document:
            self._counts["repeated_document_ids"] += 1
            return
        text = tool.name, tool.description
        self._counts["documents_with_text_of_another"] += text in self._texts
        self._texts.add(text)
        self._by_document[document_id] = self._tools.add(tool)

    def _judgements(self) -> dict[str, list[Judgement]]:
        """Return the judgements of a file by query."""
        judged: dict[str, list[Judgement]] = {}

        def read(line: Line) -> Judgement:
            judgement = judgement_of(line)
            self._count_unread("judgements", line.columns.unread)
            return judgement

        reason = "malformed_judgement"
        for path in self._files.judgements:
            for judgement in usable(path, read, self._notes, judgement_lines, reason):
                self._counts["judgements"] += 1
                judged.setdefault(judgement.query, []).append(judgement)
        return judged

    def _task(self, record: Any) -> Task:
        """Return a query's task. Takes its judgements out."""
        refuse_deep(record)
        query_id, text = identifier(record), _query_text(record)
        self._counts["queries"] += 1
        self._count_unread("queries", record.keys() - _QUERY_FIELDS)
        if not self._files.judgements:
            judgements = self._labels(record, query_id)
        elif query_id in self._judged:
            judgements = self._judged.pop(query_id)
        else:
            raise LeftOut("not_judged_in_split")
        grades, absent = self._grades(judgements)
        if not grades:
            raise LeftOut(_OUTSIDE if absent else "no_relevant_tool")
        own = self._by_document.get(query_id)
        return self._made(self._ids.add(query_id, text), text, grades, absent, record, own)

    def _labels(self, record: dict[str, Any], query_id: str) -> list[Judgement]:
        """Return the labels that a query carries; without a corpus their documents are kept."""
        labels = record.get("labels")
        try:
            found = json_of_text(labels) if isinstance(labels, str) else labels
        except ValueError:
            found = None
        if not isinstance(found, list):
            raise DataError(
                f"labels: expected a list of {{id, relevance}}, got {shortened(labels)}; "
                "without labels there must be a file qrels/SPLIT.tsv"
            )
        return [self._label(label, query_id) for label in found]

    def _label(self, label: Any, query_id: str) -> Judgement:
        document_id = identifier(label)
        score = label.get("relevance", 1)
        if isinstance(score, bool) or not isinstance(score, (int, float)):
            raise DataError(f"relevance: expected a number, got {shortened(score)}")
        document = label.get("doc")
        is_new = not self._files.corpus and document_id not in self._by_document
        if is_new and isinstance(document, (str, dict)):
            self._keep(document_id, tool_of_document(document_id, None, document, "labels"))
        self._counts["judgements"] += 1
        return Judgement(query_id, document_id, score)

    def _grades(self, judgements: list[Judgement]) -> tuple[dict[str, float], list[str]]:
        """Return the relevant tools with their scores, and the ids that the corpus lacks."""
        grades: dict[str, float] = {}
        absent: dict[str, None] = {}
        documents = {judgement.document for judgement in judgements}
        self._counts["repeated_judgements"] += len(judgements) - len(documents)
        for judgement in judgements:
            tool = self._by_document.get(judgement.document)
            self._counts["judgements_of_unknown_documents"] += tool is None
            self._counts["judgements_below_min_score"] += judgement.score < self._min_score
            if judgement.score >= self._min_score:
                if tool is None:
                    absent[judgement.document] = None
                else:
                    grades[tool] = max(judgement.score, grades.get(tool, 0))
        return grades, list(absent)

    def _made(
        self,
        task_id: str,
        text: str,
        grades: dict[str, float],
        absent: list[str],
        record: dict[str, Any],
        own: str | None,
    ) -> Task:
        several = len(grades) > 1
        graded = len(set(grades.values())) > 1
        self._counts["queries_with_grades"] += graded
        self._counts["queries_with_relevant_outside_corpus"] += bool(absent)
        labels: dict[str, JSON] = {"grades": grades} if graded else {}
        if own is not None and own not in grades:
            labels["own_document"] = own
            self._counts["queries_that_are_documents"] += 1
        tags: dict[str, JSON] = {
            "multi_tool": several,
            "multi_step": several,
            _OUTSIDE: bool(absent),
        }
        if isinstance(record.get("category"), str):
            tags["group"] = record["category"]
        kept = ("metadata", "instruction")
        return Task(
            task_id,
            BENCHMARK,
            (Goal(text, relevant=tuple(grades), labels=labels),),
            split=self._split,
            tags=tags,
            metadata={name: record[name] for name in kept if record.get(name)}
            | ({_OUTSIDE: absent} if absent else {}),
        )

    def _count_unread(self, kind: str, names: Iterable[str]) -> None:
        self._unread.setdefault(kind, Counter()).update(names)

    def _report(self) -> None:
        names = (
            "documents",
            "documents_with_text_of_another",
            "duplicates",
            "judgements",
            "judgements_below_min_score",
            "judgements_of_unknown_documents",
            "judgements_of_unknown_queries",
            "queries",
            "queries_that_are_documents",
            "queries_with_grades",
            "queries_with_relevant_outside_corpus",
            "repeated_document_ids",
            "repeated_judgements",
        )
        counts: dict[str, JSON] = {name: self._counts[name] for name in names}
        counts["repeated_queries"] = self._ids.repeated
        self._notes.facts["counts"] = dict(sorted(counts.items()))
        self._notes.facts["relevance"] = "binary, but in ndcg, which weighs by the grades"
        self._notes.facts["recall"] = "of the relevant documents that the corpus has"
        self._notes.facts["ignored_files"] = [path.name for path in self._files.ignored]
        unread = {kind: dict(sorted(names.items())) for kind, names in self._unread.items()}
        if any(unread.values()):
            self._notes.facts["unread_fields"] = {k: names for k, names in unread.items() if names}
        self._notes.lacks.update(("gold_calls", "response_shapes"))
        if not any(tool.parameters.get("properties") for tool in self._tools):
            self._notes.lacks.add("parameters")


def _query_text(record: dict[str, Any]) -> str:
    text = record.get("query", record.get("text"))
    if not isinstance(text, str) or not text.strip():
        names = ", ".join(map(repr, list(record)[:10]))
        raise DataError(f"text: expected a text, got {shortened(text)}; the record has: {names}")
    return text
