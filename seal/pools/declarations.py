"""What a benchmark may declare besides: a generator, a needed world, a published table."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from seal.core import JSON, DataError, UsageError, check_name, first_fault
from seal.core.registry import load_dotted
from seal.core.settings import with_field_docs
from seal.core.text import shipped_json

# -- A kind of thing that a benchmark makes: `seal.generate(KIND)`, and the flags of its command.

_FORMER = {
    "tools": "write tools as `seal new --template` shows, or import them with `seal import`",
    "milestones": "write milestones yourself, as docs/toolsandbox.md shows",
}
"""Kind that there was to what takes its place."""


@dataclass(frozen=True, kw_only=True)
class SourceFlag:
    """How a command line names what something is made of."""

    help: str = "Name of a benchmark, folder of a pool or run, or your own as module:name."
    metavar: str = "NAME|DIR"
    flag: str = ""
    """Such as `--tools`; empty: it is an argument."""
    default: str | None = None
    """None: it must be named."""


@dataclass(frozen=True, kw_only=True)
class Told:
    """What the command line tells of what was made."""

    fields: Mapping[str, JSON] = field(default_factory=dict)
    """A line each."""
    text: str
    """The lines after them."""
    failures: Sequence[str] = ()
    """What the infrastructure failed at; the first ones are told, and the exit code is 1."""


@with_field_docs
@dataclass(frozen=True, kw_only=True)
class Generator:
    """A kind of thing that `seal.generate` makes, with the command `seal generate KIND`.

    Code and classes may be given as `module:name`, so that they are imported where they are used.
    """

    make: Callable[..., Any] | str
    """(bench, out, **settings) that makes it; with a `stage` also `progress`, a function of how
    many are done and how many there are. It returns JSON, or an object with `to_json()`."""
    about: str
    """Help of its command."""
    settings: type | str | None = None
    """Dataclass whose fields are the flags: type, default, and as help the string below the field.
    A field without one has the help of a run's setting of its name. The metadata `metavar` and
    `argument` say how it is typed. Classes that it inherits all fields from are groups of flags:
    each begins its docstring with `Title: what it is about.`"""
    source: SourceFlag = SourceFlag()
    """How the command line names what it is made of."""
    stage: str = ""
    """What progress counts; empty: there is none."""
    is_slow: bool = False
    """Progress is told by lines too, where no terminal shows bars."""
    told: Callable[[Any, Any], Told] | str | None = None
    """(what was made, `out`) to what is told; None: its JSON, and how a pool is played."""


def check_kind(what: str, offered: Collection[str]) -> None:
    """Make sure that a kind of thing can be made.

    Args:
        what: The kind.
        offered: Those that installed benchmarks declare.

    Raises:
        UsageError: As `check_former`.
        UnknownNameError: There is no such kind.
    """
    if what not in offered:
        check_former(what)
    check_name("kind of generation", what, offered)


def check_former(what: str) -> None:
    """Refuse a kind that there was.

    Raises:
        UsageError: It is one; the text says what takes its place.
    """
    if what in _FORMER:
        raise UsageError(f"generate {what} is no more: {_FORMER[what]}")


def generator_of(declared: Any) -> Generator:
    """Return what a benchmark declares of a kind; a function alone is one without flags."""
    found = load_dotted(declared) if isinstance(declared, str) else declared
    if isinstance(found, Generator):
        return found
    return Generator(make=found, about=(found.__doc__ or "").partition("\n")[0])


def written(out: Any) -> str:
    """Return where a pool was written, and how it is played."""
    if not Path(out).exists():
        return f"nothing was written to {out}"
    return f"written to {out}; play it: seal run {out}"


# -- A world that tasks cannot do without.


@dataclass(frozen=True, slots=True)
class NeededWorld:
    """The world of a task whose gold is what its tools do, so that no simulator stands in for it.

    A run plays the task in a world, or as it was recorded, or leaves it out (`seal.runs.resolve`).
    """

    name: str
    """As `--environment` takes it."""
    cure: str = ""
    """What a user has to do before that; empty: nothing."""


# -- What a paper published of a benchmark: tables and figures as data, and where ours come from.

Source = Literal["run", "pool", "sweep", "retrieval"]
"""What figures are made from: a scored run, the tools and tasks of a pool or run, or the results of
`seal sweep` and `seal retrieve`."""


Rows = Mapping[str, Mapping[str, float | str]]
"""System to heading to figure, or to a text."""


def shipped_rows(package: str) -> Mapping[str, Rows]:
    """Return the figures in a pack's `published.json`: name of a table to its `rows`."""
    tables: Mapping[str, Rows]
    tables = shipped_json(package, "published.json")
    return tables


@with_field_docs
@dataclass(frozen=True, slots=True)
class PublishedTable:
    """A table or figure of a paper: its figures, and how ours are found."""

    title: str
    source: str
    """Paper, table or figure, and page."""
    rows: Rows = field(default_factory=dict)
    """System to the paper's heading of a column to its figure, or to a text that has none; empty:
    the layout alone, for the paper prints no number."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """The paper's heading of a column to our metric, or to `metric|group` as summary.json names
    groups; empty: `figures` tells it. A heading of `rows` that is left out has none."""
    scale: float = 1.0
    """What means of our metrics are multiplied by to stand beside the paper's: 100 for
    percentages. Means of a metric that is no rate (`Scale`) and not in `shares`, and what `figures`
    tells, stand as they are."""
    digits: int | None = None
    """Decimals of figures; None: as many as are published under the same heading, one of
    percentages, else by size."""
    name: str = ""
    """As `seal paper --table` takes it, such as `table-3`; empty: by the number of table or figure
    that `source` tells, else by its place among the tables."""
    paper: str = ""
    """Where several benchmarks stand in one paper, its name; `seal paper` takes it as well."""
    figures: Callable[..., Any] | str | None = None
    """(what is measured) to {row: {heading: figure}}, or where that function stands; the row of the
    whole is named by an empty text, others as in `rows`. What is measured is a
    `seal.report.lanes.Lane`, a `StoredPool`, or the content of sweep.json or results.json."""
    of: Source = "run"
    """What its figures are made from."""
    needs: Mapping[str, str] = field(default_factory=dict)
    """Heading to the flags or commands that give it, told where it is missing; of the empty text:
    those that the table as a whole needs."""
    lacks: str = ""
    """Which of the paper's figures are not at hand, where `rows` has some of them."""
    notes: Sequence[str] = ()
    """What a reader of the published figures must know, such as that a heading is derived."""
    judged: Mapping[str, str] = field(default_factory=dict)
    """Heading to who judged its published figures: `model`, or `people`; of the empty text: those
    of every heading. Ours differ by nothing that is told unless the like judged them."""
    played_by: str = ""
    """The model of all rows, where rows are no models."""
    takes_any: bool = False
    """Whether pools and runs of every benchmark stand in it."""
    drawn: Literal["", "bars", "lines", "heat"] = ""
    """What is a figure in the paper: marks by heading, lines over the rows, or a table coloured by
    figures in per cent. A page has bars for the first two, a terminal a table."""
    shares: Sequence[str] = ()
    """Metrics that may be beyond 1, and are so no rates, and yet are multiplied by `scale`: a BLEU
    whose smoothing gives identical texts more than 1."""

    @property
    def headings(self) -> list[str]:
        """The paper's headings, those of our metrics first."""
        others = (heading for figures in self.rows.values() for heading in figures)
        return list(dict.fromkeys([*self.columns, *others]))

    @classmethod
    def of_json(cls, told: JSON) -> PublishedTable:
        """Return a table as a run's record holds it; a record names no code.

        Raises:
            DataError: It is no such table.
        """
        from pydantic import ValidationError

        from seal.core.records import validator

        try:
            plain = {**told, "figures": None} if isinstance(told, dict) else told
            own: Any = cls
            table: PublishedTable = validator(own).validate_python(plain)
        except ValidationError as error:
            raise DataError(f"no table of published figures: {first_fault(error)}") from error
        return table

    def to_json(self) -> dict[str, Any]:
        """Return what a run's record holds: what is given of it, without code."""
        every = {name: getattr(self, name) for name in self.__slots__ if name != "figures"}
        return {name: dict(v) if isinstance(v, Mapping) else v for name, v in every.items() if v}
