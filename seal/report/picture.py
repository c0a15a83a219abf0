"""A figure that notebooks show; nothing else imports matplotlib when it is loaded."""

from __future__ import annotations

from io import BytesIO

from matplotlib.figure import Figure

from seal.report.figure_layout import styled


class Picture(Figure):
    """A figure of its own: pyplot knows nothing of it and need not close it."""

    def _repr_png_(self) -> bytes:
        """Return the figure as a notebook shows it."""
        out = BytesIO()
        with styled():
            self.savefig(out, format="png", dpi=150, metadata={"Software": None})
        return out.getvalue()
