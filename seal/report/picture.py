"""A figure that notebooks show. To load this chapter is to load matplotlib."""

from __future__ import annotations

from matplotlib.figure import Figure

from seal.report.figures import picture_of


class Picture(Figure):
    """A figure of its own: pyplot knows nothing of it and need not close it."""

    def _repr_png_(self) -> bytes:
        """Return the figure as a notebook shows it."""
        return picture_of(self, "png")
