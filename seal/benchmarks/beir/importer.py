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

What files there may be, and what becomes of a document, stands in `seal.benchmarks.beir.files`.

Source: Thakur et al., BEIR, 2021 (arXiv 2104.08663); Shi et al., ToolRet, 2025 (arXiv 2503.01763).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from seal.benchmarks.beir.files import (
    BENCHMARK,
    DOCUMENT_FIELDS,
    Files,
    Judgement,
    Line,
    find_files,
    identifier,
    judgement_lines,
    judgement_of,
    split_of,
    tool_of_document,
    tool_of_record,
)
from seal.core import JSON, DataError, Goal, Task, Tool, UsageError, shortened
from seal.pools.importer import Notes
from seal.pools.reading.files import LeftOut, json_of_text, refuse_deep, usable
from seal.pools.reading.records import TaskIds, ToolTable
from seal.pools.reading.tables import rows

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
