"""Parts of a page: templates, tables, charts drawn as SVG, and addresses.

Everything that comes from data is escaped, and everything that is sent stands inline.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from markupsafe import Markup

from seal.core.files import AtomicFile
from seal.core.text import goal_name, one_line, printable
from seal.report.grids import Estimate, Grid, number, signed

if TYPE_CHECKING:
    from jinja2 import Environment


def cell(
    text: str, interval: str = "", small: str = "", *, strong: bool = False, href: str = ""
) -> Markup:
    """Return the content of a cell.

    Args:
        text: What it says.
        interval: Stands behind it; empty: none.
        small: Stands below it; empty: nothing.
        strong: Whether the text is bold.
        href: Where the text leads; empty: nowhere.
    """
    shown = Markup("<strong>{}</strong>" if strong else "{}").format(printable(text))
    if href:
        shown = Markup('<a href="{}">{}</a>').format(href, shown)
    if interval:
        shown += Markup(' <span class="interval">{}</span>').format(interval)
    return shown + (Markup("<small>{}</small>").format(printable(small)) if small else "")


class Fold(NamedTuple):
    """A part of a page that folds, such as the list that stands behind one number."""

    title: str
    items: Sequence[Markup] = ()
    total: int = 0
    """Of all items, also those that are not shown."""
    rest: str = ""
    """What has the items that are not shown."""
    anchor: str = ""
    """Id of the list in the page; empty: nothing leads to it."""
    above: Markup = Markup()
    """Stands above the items."""
    unfolded: bool = False

    @property
    def counted(self) -> Markup:
        """The number of items, which links to their list unless it is 0."""
        return cell(f"{self.total:,}", href=f"#{self.anchor}" if self.total else "")


Part = Markup | Grid | Fold | str
"""A part of a page: HTML as it is, a table, something that folds, or a line, which is a note."""


def link(text: str, href: str) -> Markup:
    """Return a text that leads to an address, in whichever direction it is written."""
    return Markup('<a href="{}" dir="auto">{}</a>').format(href, printable(text))


def estimate_cell(found: Estimate, more: str = "", lacking: str = "") -> Markup:
    """Return an estimate as a cell.

    Args:
        found: The estimate.
        more: Stands behind its counts.
        lacking: Stands below where there is no mean.
    """
    if found.mean is None:
        small = Markup("<small>{}</small>").format(lacking) if lacking else ""
        return Markup('<span class="none">n/a</span>{}').format(small)
    small = f"{found.count_text}{more}"
    return cell(found.value_text, found.interval_text, small, strong=True)


def table(grid: Grid, label: str = "", *, wrapping: bool = False, auto: bool = False) -> Markup:
    """Return a grid as a table of a page.

    Args:
        grid: The table; cells and columns that are no Markup are escaped.
        label: Its name for those who do not see it; empty: its title, else its columns.
        wrapping: Whether the heads of its columns may have several lines.
        auto: Whether its texts may be written in either direction.
    """
    label = label or grid.title or ", ".join(grid.columns)
    return render("table.html", grid=grid, label=label, wrapping=wrapping, auto=auto)


def paragraphs(parts: Iterable[Part], **look: Any) -> Markup:
    """Return parts of a page one below the other; `look` is of the tables, as of `table`."""
    return Markup("\n").join(_shown(part, look) for part in parts)


def _shown(part: Part, look: dict[str, Any]) -> Markup:
    if isinstance(part, Markup):
        return part
    if isinstance(part, Grid):
        return table(part, **look)
    if isinstance(part, Fold):
        return render("fold.html", part=part)
    return Markup('<p class="note" dir="auto">{}</p>').format(printable(part))


def parts_page(
    kind: str, title: str, parts: Iterable[Part], links: Sequence[tuple[str, str]] = (), **how: Any
) -> str:
    """Return a page of parts.

    Args:
        kind: What it is a page of, in a word.
        title: Its heading.
        parts: What it shows.
        links: Other pages, or places of this one, with their addresses.
        **how: Style and script (`inline`, `linked`).
    """
    body = paragraphs(parts, wrapping=True)
    return render("parts.html", kind=kind, title=title, links=links, body=body, **how)


def write_page(path: Path, kind: str, title: str, parts: Iterable[Part]) -> None:
    """Write a page of parts that is one file and has no script."""
    with AtomicFile(path) as file:
        file.write(parts_page(kind, title, parts, **inline(scripted=False)).encode())


def notice(text: str) -> Markup:
    """Return a line that a reader must not miss."""
    line = Markup('<p class="notice" role="note" dir="auto">{}</p>')
    return line.format(printable(text))


def task_link(
    task_id: str, lane: int | None = None, trial: int | None = None, step: int | None = None
) -> str:
    """Return the fragment that opens a task: `#task-ID`, or `#task-ID&lane=1&trial=0&step=5`.

    Args:
        task_id: Any text; it is percent-encoded.
        lane: Position in the report's lanes (floor, runs, ceiling); None: all are shown.
        trial: Trial to show; None: the first.
        step: Index of the step to show.
    """
    parts = [f"#task-{quote(printable(task_id), safe='/')}"]
    for name, value in (("lane", lane), ("trial", trial), ("step", step)):
        if value is not None:
            parts.append(f"{name}={value}")
    return "&".join(parts)


def place_text(row: Mapping[str, Any]) -> str:
    """Return which goal, of several, and which step of which chat a row is about."""
    parts = [str(row["task"])]
    parts += [f"trial {row['trial']}"] if row["trial"] else []
    parts += [goal_name(row["goal"], row["goals"])] if row.get("goals", 1) > 1 else []
    parts += [f"step {row['step']}"] if row.get("step") is not None else []
    return ", ".join(parts)


def place_link(row: Mapping[str, Any], lane: int) -> Markup:
    """Return a link to the step that a row is about, in the chat of a lane."""
    address = task_link(row["task"], lane, row["trial"], row["step"])
    return link(one_line(place_text(row), 80), address)


def render(template: str, **values: Any) -> Markup:
    """Return a template of `templates/` filled in; values that are no Markup are escaped."""
    return Markup(_environment().get_template(template).render(values))


def stream(template: str, **values: Any) -> Iterator[str]:
    """Yield a filled template in pieces, so that iterators in `values` are never held whole."""
    return _environment().get_template(template).generate(values)


def macros(template: str, **known: Any) -> Any:
    """Return the macros of a template of `templates/`, as functions that give HTML.

    Args:
        template: Its name.
        **known: What its macros may use.
    """
    return _environment().get_template(template, globals=known).module


SCRIPT = "app.js"
"""Name of the script of pages: all of `_PARTS`."""
_PARTS = ("nodes", "search", "runs", "tasks", "task", "chat", "trees", "live", "start")
"""Files of the script in their order; they share their names, and nobody else sees these."""
FILES = ("style.css", "blocks.js", SCRIPT)
"""What a page that is no single file needs beside it."""


def asset(name: str) -> Markup:
    """Return the text of a style sheet or script."""
    folder = files("seal.report").joinpath("templates")
    if name != SCRIPT:
        return Markup(folder.joinpath(name).read_text("utf-8"))
    parts = (folder.joinpath(f"{part}.js").read_text("utf-8") for part in _PARTS)
    return Markup("\n".join(['"use strict";', "(() => {", *parts, "})();", ""]))


def inline(*, scripted: bool = True) -> dict[str, Any]:
    """Return style and script for a page that is one file, and how its policy allows them.

    Args:
        scripted: Whether the page has a script.
    """
    style, script = asset("style.css"), asset(SCRIPT) if scripted else ""
    allowed = {"style": content_hash(style)}
    allowed |= {"script": content_hash(script)} if scripted else {}
    return {"style": style, "script": script, "allowed": allowed, "assets": ""}


def linked(assets: str) -> dict[str, Any]:
    """Return the same for a page whose style and script are files beside others.

    Args:
        assets: Address of their folder, with its last `/`; empty: that of the page.
    """
    allowed = {"style": "self", "script": "self", "connect": "self"}
    return {"style": "", "script": "", "allowed": allowed, "assets": assets}


def content_hash(text: str) -> str:
    """Return the source expression by which a content security policy allows an inline text."""
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("seal.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = number
    environment.filters["count"] = "{:,}".format
    environment.finalize = lambda value: printable(value) if type(value) is str else value
    return environment


# -- Charts of bars and of intervals for a page.

WIDTH = 460
"""Width of the drawing in its own units; a page scales it."""
TRACK = 380
"""Length of a bar of the largest value; the rest of the width is for the number."""
BAR = 13
GAP = 4
HEADING = 20
SPACE = 10
AXIS = 32
"""Height of the numbers along the axis and, below them, of its name."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One value."""

    label: str
    """Whose value; told by colour, and by text where colours are not seen."""
    colour: str
    """Class of the style sheet: floor, ceiling, run-0 ... run-5."""
    value: float | None
    low: float | None = None
    high: float | None = None
    band: tuple[float, float] | None = None
    """What it stands before: from floor to ceiling; None: nothing."""
    begin: float = 0.0
    """Where a bar begins."""


@dataclass(frozen=True, slots=True)
class BarGroup:
    """Bars under one heading."""

    heading: str
    bars: tuple[Bar, ...]


def forest(
    title: str, groups: Sequence[BarGroup], ends: tuple[float, float] = (0, 1), axis: str = "mean"
) -> Markup:
    """Return a figure with a point for each value, between the ends of its interval.

    Args:
        title: Caption of the figure.
        groups: Blocks from top to bottom.
        ends: Values at the left and the right end.
        axis: What stands along it.
    """
    return bar_chart(title, groups, ends[1], ends[0], axis=axis, points=True)


def bar_chart(
    title: str,
    groups: Sequence[BarGroup],
    maximum: float = 1.0,
    minimum: float = 0.0,
    *,
    axis: str = "mean",
    points: bool = False,
) -> Markup:
    """Return a figure with one block of bars for each group.

    Args:
        title: Caption of the figure.
        groups: Blocks from top to bottom.
        maximum: Value at the right end; larger ones are cut there, their number stays.
        minimum: Value at the left end.
        axis: What stands along it, in a word or two.
        points: Whether a value is a point, as in a forest plot, and no bar.
    """
    y = 0
    drawn = []
    for group in groups:
        bars = [
            _draw(bar, y + HEADING + position * (BAR + GAP), minimum, maximum)
            for position, bar in enumerate(group.bars)
        ]
        drawn.append({"heading": group.heading, "y": y + HEADING - 7, "bars": bars})
        y += HEADING + len(bars) * (BAR + GAP) + SPACE
    width = maximum - minimum
    places: dict[str, Any] = {"width": WIDTH, "height": y + AXIS, "bottom": y}
    places |= {"track": TRACK, "bar": BAR}
    places["ticks"] = [(TRACK * part / 4, f"{minimum + width * part / 4:g}") for part in range(5)]
    return render("bars.html", title=title, groups=drawn, points=points, axis=axis, **places)


def _draw(bar: Bar, y: int, minimum: float, maximum: float) -> dict[str, Any]:
    def x(value: float) -> float:
        share = (value - minimum) / (maximum - minimum) if maximum > minimum else 0.0
        return round(TRACK * min(max(share, 0.0), 1.0), 1)

    told = signed if minimum < 0 else number  # a difference has a sign
    return {
        "label": bar.label,
        "colour": bar.colour,
        "text": f"{bar.value:,}" if isinstance(bar.value, int) else told(bar.value),
        "x": x(bar.begin),
        "y": y,
        "end": None if bar.value is None else x(bar.begin + bar.value),
        "band": bar.band and tuple(map(x, bar.band)),
        "whisker": None if bar.low is None or bar.high is None else (x(bar.low), x(bar.high)),
    }
