"""Grids that are drawn in a terminal without a word being broken, as far as they fit it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from seal.report.grids import Grid
from seal.report.printable import printable

_WORDS = re.compile(r"\[[^]\n]*\]|\S+")
"""Words that are not broken; an interval is one: `[0.250, 1.000]`."""
_PROSE = 30
"""Characters of a first line that is no figure but a text, which is read from the left."""
_COMPACT: Any = {"padding": (0, 0, 0, 1), "pad_edge": False}


def fitted_tables(grid: Grid, width: int) -> Iterator[Table]:
    """Yield a grid as tables that stand below each other.

    It is one table where its words fit side by side. Else it stands in parts, with less space
    between their columns, and each repeats the first columns. Where not even the words of two
    columns fit, rich decides.

    Args:
        grid: What is drawn.
        width: Characters of a line; a word that takes more than three quarters of it may be broken.
    """
    narrow = grid.narrow
    rows = [list(map(printable, row)) for row in grid.rows]
    title, columns = printable(grid.title), list(map(printable, grid.columns))
    grid = grid._replace(title=title, columns=columns, rows=rows)
    least = _least(grid, width)
    room = width - 1 - 3 * len(least)  # a line and two spaces for each column
    if narrow is not None and sum(map(_most, _columns(grid))) > room:
        yield from fitted_tables(narrow, width)
        return
    if sum(least) <= room:
        yield _table(grid, least, room, padding=(0, 1))
        return
    first = _first(grid, least, width)
    if sum(least) + 2 * len(least) > width:  # else one part is enough
        least[: len(first)] = first
    for number, places in enumerate(_parts(least, len(first), width)):
        title = "" if number else grid.title
        names = sum(place < grid.names for place in places)
        heads = [grid.columns[place] for place in places]
        cells = [[row[place] for place in places] for row in rows]
        needed = [least[place] for place in places]
        part = grid._replace(title=title, columns=heads, rows=cells, names=names)
        yield _table(part, needed, width - 2 * len(places), **_COMPACT)


def _first(grid: Grid, least: Sequence[int], width: int) -> list[int]:
    """Return the widths of the columns that each part repeats: the first, and names in half a line.

    They are wide enough for whole names of up to a quarter of a line.
    """
    columns = _columns(grid)[: max(1, grid.names)]
    wide = [
        max(words, min(width // 4, _most(column)))
        for words, column in zip(least, columns, strict=False)
    ]
    while len(wide) > 1 and sum(wide) + 2 * len(wide) > width // 2:
        wide.pop()
    return wide


def _parts(least: Sequence[int], repeated: int, width: int) -> Iterator[list[int]]:
    """Yield the columns of each part: those that are repeated, and others that have room."""
    shown = list(range(repeated))
    for place in range(repeated, len(least)):
        fits = sum(least[each] + 2 for each in (*shown, place)) <= width
        if len(shown) > repeated and not fits:
            yield shown
            shown = list(range(repeated))
        shown.append(place)
    yield shown


def _table(grid: Grid, least: Sequence[int], room: int, **look: Any) -> Table:
    title = Text(grid.title, style="table.title") if grid.title else None
    table = Table(title=title, title_justify="left", **look)
    widths = _shared(least, [_most(column) for column in _columns(grid)], room)
    for place, (head, *cells) in enumerate(_columns(grid)):
        left = place < grid.names or any(len(cell.partition("\n")[0]) >= _PROSE for cell in cells)
        justify: Any = "left" if left else "right"
        table.add_column(Text(head), justify=justify, overflow="fold", width=widths[place])
    for row in grid.rows:
        table.add_row(*(_text(cell, grid.colours or {}) for cell in row))
    return table


def _text(cell: str, colours: Mapping[str, str]) -> Text:
    """Return a cell whose further lines, which say more of its figure, are dim."""
    first, line, more = cell.partition("\n")
    return Text(first, style=colours.get(first, "")).append(line + more, style="dim")


def _columns(grid: Grid) -> list[tuple[str, ...]]:
    return list(zip(grid.columns, *grid.rows, strict=True))


def _least(grid: Grid, width: int) -> list[int]:
    """Return the widths of columns that break no word."""
    words = [_WORDS.findall("\n".join(column)) for column in _columns(grid)]
    return [min(3 * width // 4, max(map(cell_len, found), default=0)) for found in words]


def _most(column: Sequence[str]) -> int:
    return max(map(cell_len, "\n".join(column).splitlines()), default=0)


def _shared(least: Sequence[int], most: Sequence[int], room: int) -> Sequence[int | None]:
    """Return the widths of columns; who wants least more than its words gets it first."""
    spare = room - sum(least)
    if spare < 0:
        return [None] * len(least)
    widths = list(least)
    wanting = sorted(range(len(least)), key=lambda place: most[place] - least[place])
    for number, place in enumerate(wanting):
        more = min(most[place] - least[place], spare // (len(wanting) - number))
        widths[place] += more
        spare -= more
    return widths
