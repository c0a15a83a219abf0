"""Tables that are drawn in a terminal without a word being broken, as far as they fit it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table

from seal.report.grids import COMPACT, Grid, columns_of, drawn

_WORDS = re.compile(r"\[[^]\n]*\]|\S+")
"""Words that are not broken; an interval is one: `[0.250, 1.000]`."""


class Fitted(Table):
    """A table whose columns are as wide as their longest word, and share what room is left.

    Where its words do not fit side by side, the table has less space between them. If that is not
    enough, it stands in parts that repeat the first column. Where two columns do not fit either,
    rich decides.

    Args:
        grid: What it will hold.
        **look: Arguments of `rich.table.Table`.
    """

    def __init__(self, grid: Grid, **look: Any) -> None:
        super().__init__(**look)
        self._grid = grid
        self._look = {name: value for name, value in look.items() if name != "title"}
        columns = [(head, *cells) for head, *cells in zip(grid.columns, *grid.rows, strict=True)]
        self._least = [max(map(len, _WORDS.findall("\n".join(c))), default=0) for c in columns]
        self._most = [max(map(len, "\n".join(c).splitlines()), default=0) for c in columns]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the table, its widths set where it must be narrower than it would be."""
        spare = self.spare(options.max_width)
        parts = list(self._parts(options.max_width)) if spare < 0 else []
        if len(parts) > 1 or (parts and self.pad_edge):
            for number, part in enumerate(parts):
                title = "" if number else part.title
                yield drawn(part._replace(title=title), **self._look | COMPACT)
            return
        if spare >= 0 and sum(self._most) > spare + sum(self._least):
            for column, width in zip(self.columns, self._shared(spare), strict=True):
                column.width = width
        yield from super().__rich_console__(console, options)

    def _parts(self, width: int) -> Iterator[Grid]:
        """Yield the columns in parts of at most so many characters, each after the first column."""
        room = width - 2 - self._least[0]
        shown: list[int] = []
        for place in range(1, len(self._least)):
            if shown and sum(self._least[each] + 2 for each in (*shown, place)) > room:
                yield columns_of(self._grid, (0, *shown))
                shown = []
            shown.append(place)
        if shown:
            yield columns_of(self._grid, (0, *shown))

    def spare(self, width: int) -> int:
        """Return the characters that its words leave of a line; below 0, some must be broken."""
        _, right, _, left = self.padding
        count = len(self._least)
        frame = 1 + count + (count if self.pad_edge else count - 1) * (left + right)
        return width - frame - sum(self._least)

    def _shared(self, spare: int) -> list[int]:
        """Return the widths of columns; who wants least more gets it first."""
        widths = list(self._least)
        wanting = sorted(range(len(widths)), key=lambda place: self._most[place] - widths[place])
        for number, place in enumerate(wanting):
            more = min(self._most[place] - widths[place], spare // (len(wanting) - number))
            widths[place] += more
            spare -= more
        return widths
