"""Tables that are drawn in a terminal without a word being broken, as far as they fit it."""

from __future__ import annotations

import re
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table

from seal.report.grids import Grid

_WORDS = re.compile(r"\[[^]\n]*\]|\S+")
"""Words that are not broken; an interval is one: `[0.250, 1.000]`."""


class Fitted(Table):
    """A table whose columns are as wide as their longest word, and share what room is left.

    Where the whole table fits, or not even its words do, rich decides.

    Args:
        grid: What it will hold.
        **look: Arguments of `rich.table.Table`.
    """

    def __init__(self, grid: Grid, **look: Any) -> None:
        super().__init__(**look)
        columns = [(head, *cells) for head, *cells in zip(grid.columns, *grid.rows, strict=True)]
        self._least = [max(map(len, _WORDS.findall("\n".join(c))), default=0) for c in columns]
        self._most = [max(map(len, "\n".join(c).splitlines()), default=0) for c in columns]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the table, its widths set where it must be narrower than it would be."""
        spare = self.spare(options.max_width)
        if spare >= 0 and sum(self._most) > spare + sum(self._least):
            for column, width in zip(self.columns, self._shared(spare), strict=True):
                column.width = width
        yield from super().__rich_console__(console, options)

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
