"""Files of TREC: the names of goals and tools in them, and rankings that other systems wrote."""

from __future__ import annotations

import math
import re
from pathlib import Path
from sys import intern

from seal.core.errors import DataError, UsageError
from seal.core.text import counted

_ENCODED = re.compile(r"[\s%]")
"""Characters that no word of a TREC file may have."""


def query_id(key: tuple[str, int]) -> str:
    """Return the id of a task's goal in TREC files, `task:goal`."""
    return f"{trec_word(key[0])}:{key[1]}"


def trec_word(text: str) -> str:
    """Return the text as one word: blanks and % percent-encoded, the rest as it is."""
    if _ENCODED.search(text) is None:
        return text
    from urllib.parse import quote

    return "".join(quote(c) if c.isspace() or c == "%" else c for c in text)


def read_trec_run(path: Path) -> dict[str, list[str]]:
    """Return each query's documents, best first: by score, equal scores by document, last first.

    The rank column is not read. Source: trec_eval, which orders them so.

    Args:
        path: Of a run file: query, Q0, document, rank, score, tag.

    Raises:
        UsageError: The file cannot be read.
        DataError: It holds no line, or one that is none of a run; names file and line.
    """
    scores: dict[str, dict[str, float]] = {}
    try:
        with path.open(encoding="utf-8") as lines:
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
    found[intern(document)] = score
