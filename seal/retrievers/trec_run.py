"""Rankings that another system wrote into a TREC run file, which are scored as ours are."""

from __future__ import annotations

import hashlib
import logging
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from io import TextIOWrapper
from pathlib import Path
from sys import intern
from typing import Any, ClassVar

import numpy as np

from seal.core import DataError, OptionError, Pool, Query, UsageError
from seal.core.files import content_of, opened
from seal.core.records import query_id, trec_word
from seal.core.text import counted
from seal.retrievers.base import Hits, by_place, check_k, in_order

_log = logging.getLogger(__name__)


class TrecRun:
    """Retrieves what a run file ranks for the query's task and goal.

    A query is called `task:goal` there, as `seal export` calls it, or a first goal by its task's
    id alone. A tool is called by its id, or by the id that the document had from which it was
    imported. Scores count down to 1: they hold the order, no measure.

    Args:
        pool: Option: `file`.

    Raises:
        OptionError: No file is named.
        UsageError: The file cannot be read.
        DataError: It is no run, ranks no query of the pool, or a tool that the pool does not have.
    """

    reads_text = False
    measures = False

    OPTIONS: ClassVar[frozenset[str]] = frozenset({"file"})

    @staticmethod
    def files(options: Mapping[str, Any]) -> list[Path]:
        """Return the run file."""
        return [Path(str(options["file"]))] if options.get("file") else []

    def __init__(self, pool: Pool) -> None:
        named = pool.options.get("file")
        if not named:
            raise OptionError("retriever trec: name the run file, --retriever trec,file=PATH")
        path = Path(str(named))
        ranked = read_trec_run(path)
        tools = _names(pool)
        unknown = {name for names in ranked.values() for name in names if name not in tools}
        if unknown:
            raise DataError(
                f"{path} ranks {min(unknown)!r}, which is no tool of the pool "
                f"({len(unknown)} such); give the ranking of these tools, and the whole pool"
            )
        self._rankings = {query: [tools[name] for name in names] for query, names in ranked.items()}
        self.identity = f"trec/{path.name}@{hashlib.sha256(content_of(path)).hexdigest()[:16]}"
        self._tell(pool, path)

    def _tell(self, pool: Pool, path: Path) -> None:
        """Say how many of the pool's goals the file does not rank, and how many others it does.

        Raises:
            DataError: It ranks none of them.
        """
        asked = [(task.id, goal) for task in pool.tasks for goal in range(len(task.goals))]
        absent = [key for key in asked if self._of(*key) is None]
        if asked and len(absent) == len(asked):
            raise DataError(
                f"{path} ranks the query {min(self._rankings)!r} and others, but none of the pool, "
                f"such as {query_id(absent[0])!r}; give the ranking of these queries"
            )
        named = {query_id(key) for key in asked} | {trec_word(task) for task, _ in asked}
        if unknown := [query for query in self._rankings if query not in named]:
            told = path, len(unknown), len(self._rankings), unknown[0]
            _log.warning("%s ranks %d of %d queries that the pool lacks, such as %s: unread", *told)
        if absent:
            told = path, len(absent), len(asked), query_id(absent[0])
            _log.warning("%s ranks nothing for %d of %d queries, such as %s: they count 0", *told)

    def retrieve(self, queries: Sequence[Query], k: int) -> list[Hits]:
        """Return for each query the first k tools of the file; none where it does not rank it.

        Raises:
            UsageError: k is less than 1.
        """
        check_k(k)
        return [by_place(self._of(q.task_id, q.goal) or (), k)[:k] for q in queries]

    def _of(self, task: str, goal: int) -> list[str] | None:
        found = self._rankings.get(query_id((task, goal)))
        return self._rankings.get(trec_word(task)) if found is None and goal == 0 else found


def _names(pool: Pool) -> Mapping[str, str]:
    """Return what a tool may be called in a run to its id; ids go first."""
    tools = in_order(pool.tools)
    upstream = [(str(tool.source.get("id") or ""), tool.id) for tool in tools]
    shared = Counter(name for name, _ in upstream)
    found = {trec_word(name): tool for name, tool in upstream if name and shared[name] == 1}
    return found | {trec_word(tool.id): tool.id for tool in tools}


def read_trec_run(path: Path) -> dict[str, list[str]]:
    """Return each query's documents, best first: by score, equal scores by document, last first.

    The rank column is not read. Scores that are one as float32 are equal. Source: trec_eval, which
    orders them so.

    Args:
        path: Of a run file: query, Q0, document, rank, score, tag.

    Raises:
        UsageError: The file cannot be read.
        DataError: It holds no line, or one that is none of a run; names file and line.
    """
    scores: dict[str, dict[str, float]] = {}
    try:
        with TextIOWrapper(opened(path), encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    _read(line, scores, f"{path}, line {number}")
    except OSError as error:
        raise UsageError(f"the TREC run {path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is no TREC run: it is not UTF-8 text") from error
    if not scores:
        raise DataError(f"{path} holds no ranking: expected lines of query, Q0, document, rank...")
    return {
        query: sorted(found, key=lambda document: (found[document], document), reverse=True)
        for query, found in scores.items()
    }


def _read(line: str, scores: dict[str, dict[str, float]], place: str) -> None:
    """Put a line's score in its place."""
    fields = line.split()
    if len(fields) != 6:
        raise DataError(
            f"{place}: expected query, Q0, document, rank, score and tag, got "
            f"{counted(len(fields), 'field')}"
        )
    query, _, document, _, text, _ = fields
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise DataError(f"{place}: the score {text!r} is no finite number")
    found = scores.setdefault(query, {})
    if document in found:
        raise DataError(f"{place}: the document {document!r} stands twice for the query {query!r}")
    with np.errstate(over="ignore"):
        found[intern(document)] = float(np.float32(score))
