"""Queries put before a person as a table, and the person's word taken back.

The file is CSV with a row a query that the filters let pass, in the order of the pool:

    id, kind, seed, text, calls, accept, note

`accept` says yes or no; a query that is refused leaves the pool, and no other takes its place. A
changed `text` is checked by the filters again and taken where it passes them. `note` is the
person's own; the other columns only inform. Rows that are missing are accepted as they are. Each
generation writes the file anew, with the choices that it holds.

A cell that a spreadsheet would take for a formula has an apostrophe before it, which is taken off
again: one that begins with =, +, -, @, a tab or a line break, after any number of apostrophes.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from seal.benchmarks.toolscan.query_generation.calls import gold_calls
from seal.benchmarks.toolscan.query_generation.filters import Query, Word
from seal.core.errors import DataError, located, shortened
from seal.core.plain import json_text, well_formed
from seal.core.records import AtomicFile

COLUMNS = ("id", "kind", "seed", "text", "calls", "accept", "note")
_YES = frozenset({"", "yes", "y", "true", "1", "x", "ok"})
_NO = frozenset({"no", "n", "false", "0"})
_NEEDED = ("id", "text", "accept")
_FORMULA = re.compile(r"'*[=+\-@\t\r\n]")
_ESCAPED = re.compile(r"'+[=+\-@\t\r\n]")


def read_review(path: Path | None) -> dict[str, Word]:
    """Return what a person says in a file, by the query's id; nothing where there is no file yet.

    Raises:
        DataError: It is malformed; the text names the row.
    """
    if path is None or not path.exists():
        return {}
    try:
        text = path.read_bytes().decode("utf-8-sig")
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: not readable as CSV in UTF-8: {error}") from error
    if not rows:
        raise DataError(f"{path}: empty; remove it, and it is written again")
    lacking = [name for name in _NEEDED if name not in rows[0]]
    if lacking:
        raise DataError(
            f"{path}: no column {', '.join(lacking)}; expected a first row "
            f"{','.join(COLUMNS)}, separated by commas, got {shortened(rows[0])}"
        )
    said: dict[str, Word] = {}
    for number, row in enumerate(rows[1:], 2):
        if not any(cell.strip() for cell in row):
            continue
        with located(f"{path}: row {number}"):
            own, word = _read(dict(zip(rows[0], row, strict=False)))
            if own in said:
                raise DataError(f"the query {own!r} stands twice")
        said[own] = word
    return said


def check_review(said: Collection[str], known: Iterable[str]) -> None:
    """Make sure that every row is about a query that is made.

    Raises:
        DataError: One is about another.
    """
    unknown = sorted(set(said) - set(known))
    if unknown:
        raise DataError(
            f"the review has {len(unknown)} rows about queries that are not made, such as "
            f"{unknown[0]!r}: it is of another pool or of other settings; name another file"
        )


def write_review(path: Path, queries: Iterable[Query], said: Mapping[str, Word]) -> None:
    """Write queries with what a person said of them, for the person to go on."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for query in queries:
        word = said.get(query.id, Word(query.text, True, ""))
        kind = query.candidate.reason or query.kind
        accept = "yes" if word.accept else "no"
        cells = (*(query.id, kind, query.seed.text, word.text), *(_calls(query), accept, word.note))
        writer.writerow([escaped(well_formed(cell)) for cell in cells])
    with AtomicFile(path) as file:
        file.write(text.getvalue().encode("utf-8-sig"))


def escaped(cell: str) -> str:
    """Return a cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if _FORMULA.match(cell) else cell


def unescaped(cell: str) -> str:
    """Return what a cell said before it was escaped."""
    return cell[1:] if _ESCAPED.match(cell) else cell


def _read(row: Mapping[str, str]) -> tuple[str, Word]:
    for name in _NEEDED:
        if name not in row:
            raise DataError(f"no cell in the column {name}; expected {len(COLUMNS)} cells")
    said = row["accept"].strip().casefold()
    if said not in _YES | _NO:
        raise DataError(f"accept: expected yes or no, got {shortened(row['accept'])}")
    text = unescaped(row["text"]).strip()
    return unescaped(row["id"]).strip(), Word(text, said in _YES, unescaped(row.get("note", "")))


def _calls(query: Query) -> str:
    """Return the gold calls as a person reads them: the first plan's."""
    if query.kind == "irrelevance":
        return "none"
    calls = query.candidate.calls or gold_calls(query.seed.plans[0])
    named = [(query.seed.tools[call.tool].name, call.arguments) for call in calls]
    return "; ".join(f"{name}({json_text(arguments)})" for name, arguments in named)
