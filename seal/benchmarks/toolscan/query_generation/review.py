"""Queries put before a person as a table, and the person's word taken back.

The file is CSV with a row a query that the filters let pass, in the order of the pool:

    id, kind, seed, text, calls, accept, note

`accept` says yes or no; a query that is refused leaves the pool, and no other takes its place. A
changed `text` is checked by the filters again and taken where it passes them. `note` is the
person's own; the other columns only inform. Rows that are missing are accepted as they are. Each
generation writes the file anew, with the choices that it holds.

A cell that a spreadsheet would take for a formula gets an apostrophe before it, which is taken off
again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from seal.benchmarks.toolscan.query_generation.calls import gold_calls
from seal.benchmarks.toolscan.query_generation.filters import Query, Word
from seal.core import DataError, located, shortened
from seal.core.csv_tables import CsvRows, escaped, unescaped, write_csv
from seal.core.plain import json_text, well_formed
from seal.core.text import counted

COLUMNS = ("id", "kind", "seed", "text", "calls", "accept", "note")
_YES = frozenset({"", "yes", "y", "true", "1", "x", "ok"})
_NO = frozenset({"no", "n", "false", "0"})
_NEEDED = ("id", "text", "accept")


def read_review(path: Path | None) -> dict[str, Word]:
    """Return what a person says in a file, by the query's id; nothing where there is no file yet.

    Raises:
        DataError: It is malformed; the text names the row.
    """
    if path is None or not path.exists():
        return {}
    table = CsvRows(path, "queries that a person goes through")
    lacking = [name for name in _NEEDED if name not in table.columns]
    if lacking:
        raise DataError(
            f"{path}: no column {', '.join(lacking)}; expected a first row "
            f"{','.join(COLUMNS)}, separated by commas, got {shortened(table.columns)}"
        )
    said: dict[str, Word] = {}
    for row in table:
        if isinstance(row, str):
            raise DataError(row)
        where, cells = row
        if not any(cells.values()):
            continue
        with located(where):
            own, word = _read(cells)
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
            f"the review has {counted(len(unknown), 'row')} about queries that are not made, "
            "such as "
            f"{unknown[0]!r}: it is of another pool or of other settings; name another file"
        )


def write_review(path: Path, queries: Iterable[Query], said: Mapping[str, Word]) -> None:
    """Write queries with what a person said of them, for the person to go on."""
    rows = []
    for query in queries:
        word = said.get(query.id, Word(query.text, True, ""))
        kind = query.candidate.reason or query.kind
        accept = "yes" if word.accept else "no"
        cells = (*(query.id, kind, query.seed.text, word.text), *(_calls(query), accept, word.note))
        rows.append([escaped(well_formed(cell)) for cell in cells])
    write_csv(path, COLUMNS, rows, "utf-8-sig")


def _read(row: Mapping[str, str]) -> tuple[str, Word]:
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
