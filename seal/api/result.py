"""What all results share: how they are shown, and how a metric is taken out of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeVar

from seal.core import DataError, UnknownKeyError, UsageError, shortened
from seal.core.settings import checked_names
from seal.report.grids import Estimate, Grid
from seal.report.table_forms import (
    Glance,
    csv_text,
    glance_html,
    glance_text,
    latex_text,
    terminal_text,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Row = TypeVar("Row")


@checked_names
class Shown(ABC):
    """A result that people read."""

    @abstractmethod
    def _glance(self) -> Glance:
        """Return the result at a glance."""

    def _tables(self) -> Iterable[Any]:
        """Return the tables and lines that the command line prints."""
        glance = self._glance()
        return (glance.grid, *glance.foot)

    def _figures(self) -> Iterable[Figure]:
        """Return the pictures of the result, the most telling one first."""
        return ()

    def __repr__(self) -> str:
        """Return at most 15 lines."""
        return glance_text(self._glance())

    def _repr_html_(self) -> str:
        """Return the table that a notebook shows."""
        return glance_html(self._glance())

    def table(self) -> str:
        """Return the tables as the command line prints them."""
        return terminal_text(self._tables())

    def latex(self) -> str:
        """Return the tables as LaTeX that fits a paper of two columns."""
        title = ". ".join(self._glance().grid.title.splitlines())
        parts = [
            part._replace(title=title) if isinstance(part, Grid) and not part.title else part
            for part in self._tables()
        ]
        return latex_text((part, "") for part in parts if isinstance(part, Grid | str))

    def csv(self) -> str:
        """Return the tables as CSV, with an empty line between each two."""
        return csv_text(part for part in self._tables() if isinstance(part, Grid))

    def plot(self) -> Figure:
        """Return the result as a figure of matplotlib, which a notebook shows.

        Raises:
            MissingExtraError: The extra `experiments` is not installed.
            UsageError: There is nothing to draw.
        """
        figure = next(iter(self._figures()), None)
        if figure is None:
            one = "of one point " if type(self)._figures is not Shown._figures else ""
            raise UsageError(f"a {type(self).__name__} {one}has no picture: print it")
        return figure


@dataclass(frozen=True, repr=False)
class Document(Shown):
    """A result that is a file of JSON."""

    content: dict[str, Any] = field(hash=False)
    """What the file holds."""


@dataclass(frozen=True, repr=False, eq=False)
class Entries(Mapping[str, Any], Document):
    """A file of JSON whose entries are taken by name, as those of a dict are."""

    def __getitem__(self, name: str) -> Any:
        """Return an entry.

        Raises:
            UnknownKeyError: There is none of that name; names the closest.
        """
        if name not in self.content:
            raise UnknownKeyError("entry", name, self.content)
        return self.content[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.content)

    def __len__(self) -> int:
        return len(self.content)


class Estimates(Mapping[str, Estimate]):
    """Metrics by name, each with its mean and interval.

    An unknown name raises `UnknownKeyError`, which names the closest and lists those there are; it
    is a KeyError too.
    """

    metrics: Mapping[str, Mapping[str, Any]]

    @property
    def _entries(self) -> Mapping[str, Mapping[str, Any]]:
        """Metric to its entry, as files have it."""
        return self.metrics

    def __getitem__(self, metric: str) -> Estimate:
        return Estimate.of(metric_in(self._entries, metric))

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def metric_in(entries: Mapping[str, Row], metric: str) -> Row:
    """Return what a metric has.

    Raises:
        UnknownKeyError: No such metric; names the closest.
    """
    if not isinstance(metric, str) or metric not in entries:
        raise UnknownKeyError("metric", metric, entries)
    return entries[metric]


def record(kind: type[Row], entry: Mapping[str, Any], **more: Any) -> Row:
    """Return an entry of a file as a dataclass; fields that the class lacks are left out.

    Raises:
        DataError: The entry is no object, or lacks a field.
    """
    if not isinstance(entry, Mapping):
        raise DataError(f"expected an object as {kind.__name__}, got {shortened(entry)}")
    known = fields(kind)  # type: ignore[arg-type]
    given = {each.name: entry[each.name] for each in known if each.name in entry} | more
    for each in known:
        needed = each.default is MISSING and each.default_factory is MISSING
        if needed and each.name not in given:
            raise DataError(
                f"{shortened(entry)}: a {kind.__name__} needs the field {each.name!r}; bring back "
                "the file that SEAL wrote, or measure again"
            )
    return kind(**given)


def only(rows: Sequence[Row], what: str, **wanted: Any) -> Row:
    """Return the one row that has the wanted attributes; those that are None do not count.

    Raises:
        UnknownKeyError: No row has such a value; names the closest.
        UsageError: Several rows have them; names what tells them apart.
    """
    found = list(rows)
    for name, value in wanted.items():
        values = {str(getattr(row, name)): getattr(row, name) for row in found}
        if value is not None:
            found = [row for row in found if str(getattr(row, name)) == str(value)]
            if not found:
                raise UnknownKeyError(name, str(value), values)
    if len(found) != 1:
        apart = [name for name in wanted if len({str(getattr(row, name)) for row in found}) > 1]
        raise UsageError(f"{len(found)} {what}: choose one by .of({'=..., '.join(apart)}=...)")
    return found[0]
